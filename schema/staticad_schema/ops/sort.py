"""Orders along an axis, and places in what is ordered.

Equal elements stay in their order, also where larger ones come first; -0 and 0 are equal; NaN
comes last either way.  Values are those that the indices name, so their derivative is a
scatter, and that of a scatter a `take_along_axis`: closed to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Size
from ..errors import ArgumentError, ShapeError
from ..op import Operand, constant, op
from ..shapes import same_shape, shape_text
from ..types import FLOAT32, INT32, INT64, REAL, Array, TensorType
from .checks import check_axes, check_kind, same_dtype
from .shape import batch_size, one_axis_on, with_batch
from .take import scatter_along, take_along_axis

_ORDERED = REAL | {"bool"}
# Keys that leave room for an index in 64 bits, and from how many on that is worth it.
_PACKED = {FLOAT32, INT32}
_LARGE = 1 << 12
_HIGHEST = np.int32(2**31 - 1)


def _keys(x: Array, descending: bool) -> Array:
    """Numbers that ascend where x is to descend, of which NaN is still the last."""
    if not descending:
        return x
    keys: Array = np.negative(x) if x.dtype.kind == "f" else np.invert(x)
    return keys


def taken_grad(x: Any, out: Sequence[Any], g: Sequence[Any], *, axis: int) -> tuple[Any]:
    """The cotangent of x where the outputs are its elements at indices along an axis, and these."""
    return (scatter_along(g[0], out[1], x.type.shape[axis], axis),)


def taken_jvp(
    x: Any, out: Sequence[Any], tangents: Sequence[Any], *, axis: int
) -> tuple[Any, None]:
    """The tangents of such outputs."""
    return take_along_axis(tangents[0], out[1], axis=axis), None


def _stable_order(keys: Array, axis: int) -> Array:
    """The indices at which `keys` ascend, the first of equals first."""
    if keys.dtype not in _PACKED or keys.size < _LARGE:
        order: Array = np.argsort(keys, axis, kind="stable")
        return order
    # Two to three times as fast: integers of the key above the index, which are all different.
    bits: Array = keys
    if keys.dtype == FLOAT32:
        # + 0 makes zeros of -0; of negative numbers the larger bits are the lower number.
        bits = (keys + np.float32(0)).view(np.int32)
        bits = np.where(np.isnan(keys), _HIGHEST, bits ^ ((bits >> 31) & _HIGHEST))
    both = bits.astype(np.int64) << 32
    size = keys.shape[axis]
    both |= np.arange(size).reshape(*(1,) * axis, size, *(1,) * (keys.ndim - 1 - axis))
    both.sort(axis)
    both &= 0xFFFFFFFF
    return both


def _sort(x: Array, *, axis: int, descending: bool) -> tuple[Array, Array]:
    order = _stable_order(_keys(x, descending), axis)
    return np.take_along_axis(x, order, axis), order


@op(
    numpy=_sort,
    grad=taken_grad,
    jvp=taken_jvp,
    batch=one_axis_on("sort"),
    widen=True,
)
def sort(x: Operand, *, axis: int, descending: bool) -> tuple[TensorType, TensorType]:
    """The elements along an axis in ascending or descending order, and where each one was.

    Stable, NaN last, in both directions.
    """
    check_axes((axis,), x.ndim)
    check_kind(_ORDERED, x)
    return x, x.with_dtype(INT64)


# From this share of the axis on, sorting it whole takes no longer.
_PART = 8


def _first(keys: Array, k: int) -> Array:
    """The indices of the k first elements of the stable order along the last axis, ascending."""
    border = np.partition(keys, k - 1, -1)[..., k - 1 : k]
    # Nothing is behind a NaN.
    chosen = (keys <= border) | np.isnan(border)
    if np.count_nonzero(chosen) > border.size * k:
        # Of the border's equals as many as are missing.
        level = (keys == border) | (np.isnan(border) & np.isnan(keys))
        before = chosen & ~level
        missing = k - np.count_nonzero(before, -1, keepdims=True)
        chosen = before | (level & (np.cumsum(level, -1) <= missing))
    columns: Array = np.flatnonzero(chosen) % keys.shape[-1]
    return columns.reshape(*keys.shape[:-1], k)


def _top_k(x: Array, *, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    if not 0 < k <= x.shape[axis] // _PART:
        values, order = _sort(x, axis=axis, descending=largest)
        front = (slice(None),) * axis + (slice(k),)
        return values[front], order[front]
    rows = np.moveaxis(x, axis, -1)
    keys = _keys(rows, largest)
    first = _first(keys, k)
    inner = np.argsort(np.take_along_axis(keys, first, -1), -1, kind="stable")
    indices = np.take_along_axis(first, inner, -1)
    values = np.take_along_axis(rows, indices, -1)
    return np.moveaxis(values, -1, axis), np.moveaxis(indices, -1, axis)


@op(
    numpy=_top_k,
    grad=taken_grad,
    jvp=taken_jvp,
    batch=one_axis_on("top_k"),
    widen=True,
)
def top_k(x: Operand, *, k: int, axis: int, largest: bool = True) -> tuple[TensorType, TensorType]:
    """The k largest elements along an axis, in descending order, and where they are; or the
    smallest in ascending order.  The first k of the stable order: NaN only if there are no others.
    """
    check_axes((axis,), x.ndim)
    check_kind(_ORDERED, x)
    size = x.shape[axis]
    if k < 0 or (isinstance(size, int) and k > size):
        raise ArgumentError(
            f"not a number of elements along axis {axis}", expected=f"0 to {size}", found=str(k)
        )
    values = x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))
    return values, values.with_dtype(INT64)


def _is_before(a: Array, b: Array) -> Array:
    """Whether a comes before b, NaN after all numbers."""
    if a.dtype.kind != "f":
        return np.less(a, b)
    before: Array = np.less(a, b) | (np.isnan(b) & ~np.isnan(a))
    return before


def _searchsorted(sorted: Array, values: Array, *, right: bool) -> Array:
    if sorted.ndim == 1:
        return np.asarray(np.searchsorted(sorted, values, "right" if right else "left"))
    lead, size = sorted.shape[:-1], sorted.shape[-1]
    shape = values.shape
    wanted = values.reshape(*lead, -1) if values.size else np.empty((*lead, 0), values.dtype)
    low = np.zeros(wanted.shape, np.int64)
    high = np.full(wanted.shape, size)
    # Bisection, of all rows at once.
    for _ in range(size.bit_length()):
        middle = (low + high) // 2
        found = np.take_along_axis(sorted, np.minimum(middle, size - 1), -1)
        later = ~_is_before(wanted, found) if right else _is_before(found, wanted)
        later &= low < high
        low = np.where(later, middle + 1, low)
        high = np.where(later, high, middle)
    return low.reshape(shape)


def _batch_searchsorted(sorted: Any, values: Any, batched: Sequence[bool], *, right: bool) -> Any:
    if batched[0]:
        size = batch_size((sorted, values), batched)
        values = with_batch(values, batched[1], size)
    elif sorted.type.ndim > 1:
        size = batch_size((sorted, values), batched)
        sorted = with_batch(sorted, False, size)
    return searchsorted(sorted, values, right=right)


@op(
    numpy=_searchsorted,
    grad=constant,
    batch=_batch_searchsorted,
    widen=True,
)
def searchsorted(sorted: Operand, values: Operand, *, right: bool) -> TensorType:
    """Where each value would be inserted to keep the last axis of `sorted` ascending.

    Before its equals, or (right) behind them.  Leading axes of `sorted` are those of the values.
    """
    same_dtype((sorted, values))
    check_kind(_ORDERED, sorted, values)
    lead: tuple[Size, ...] = sorted.shape[:-1]
    if not sorted.ndim or same_shape(values.shape[: len(lead)], lead) is False:
        raise ShapeError(
            "what is searched does not fit the values",
            expected="a vector, or as many vectors as the leading axes of the values have",
            found=f"{shape_text(sorted.shape)} for values {shape_text(values.shape)}",
        )
    return values.with_dtype(INT64)
