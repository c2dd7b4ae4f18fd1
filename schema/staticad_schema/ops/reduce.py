"""Reductions: many elements to one.

Axes are ascending and counted from the front.  The half floats accumulate in float32; integer
sums and products stay in their dtype and wrap.  The operand is made contiguous first, so that
the order of summation is a function of the shape alone; sums over leading axes go by blocks of
rows (`blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dims import Shape
from ..errors import ShapeError
from ..op import OPS, Ints, Operand, SymbolicShape, constant, op
from ..shapes import product, shape_text
from ..types import BOOL, FLOATING, INT64, NUMERIC, REAL, Array, TensorType
from .arithmetic import multiply_no_nan
from .blocks import sum_over, summed_axes
from .checks import check_axes, check_broadcast, check_kind, check_shape
from .pointwise import pushed, scaled, select, wide
from .scan import cumulative_prod, shifted
from .shape import broadcast_to, inverse, one_axis_on, permute_dims, reshape


def reduced(x: Operand, axis: Ints, keepdims: bool) -> TensorType:
    """The type of x with axes dropped, or of size 1."""
    gone = set(check_axes(axis, x.ndim))
    if keepdims:
        return x.with_shape(1 if a in gone else size for a, size in enumerate(x.shape))
    return x.with_shape(size for a, size in enumerate(x.shape) if a not in gone)


def restored(value: Any, x: Any, axis: Ints, keepdims: bool) -> Any:
    """A reduced value with the reduced axes put back as size 1."""
    return value if keepdims else reshape(value, shape=reduced(x.type, axis, True).shape)


def _not_empty(x: Operand, axis: Ints) -> None:
    if any(x.shape[a] == 0 for a in check_axes(axis, x.ndim)):
        raise ShapeError(
            "a reduction over no elements has no identity",
            expected="reduced axes of size 1 or more",
            found=f"axes {shape_text(axis)} of {shape_text(x.shape)}",
        )


def _contiguous(function: Callable[..., Any], **more: Any) -> Callable[..., Array]:
    def meaning(x: Array, *, axis: Ints, keepdims: bool) -> Array:
        return np.asarray(function(np.asarray(x, order="C"), axis=axis, keepdims=keepdims, **more))

    return meaning


# ------------------------------------------------------------------ sums and products


def _sum(x: Array, *, axis: Ints, keepdims: bool) -> Array:
    # Over no axes NumPy would add to 0, and so lose the sign of -0.
    return sum_over(np.asarray(x, order="C"), axis, keepdims) if axis else x


def _prod(x: Array, *, axis: Ints, keepdims: bool) -> Array:
    x = np.asarray(x, order="C")
    return np.asarray(np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype)) if axis else x


def _grad_sum(x: Any, out: Any, g: Any, *, axis: Ints, keepdims: bool) -> tuple[Any]:
    return (broadcast_to(restored(g, x, axis, keepdims), shape=x.type.shape),)


@op(
    numpy=_sum,
    grad=_grad_sum,
    jvp="linear",
    batch=one_axis_on("sum"),
    widen=True,
)
def sum_(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """The sum over the given axes; 0 where there are no elements."""
    check_kind(NUMERIC, x)
    return reduced(x, axis, keepdims)


def others(x: Any, axis: Ints) -> Any:
    """For each element the product of all other elements along `axis`: exact with zeros.

    Of half floats in float32.
    """
    shape = x.type.shape
    kept = tuple(a for a in range(len(shape)) if a not in axis)
    order = kept + axis
    count = product(tuple(shape[a] for a in axis))
    # Partial products of a half float leave its range although the whole may be within it.
    row = reshape(permute_dims(wide(x), axes=order), shape=(*(shape[a] for a in kept), count))
    last = len(kept)
    before, behind = (
        shifted(cumulative_prod(row, axis=last, reverse=reverse), last, reverse, 1.0)
        for reverse in (False, True)
    )
    around = multiply_no_nan(before, behind)
    moved = reshape(around, shape=tuple(shape[a] for a in order))
    return permute_dims(moved, axes=inverse(order))


def _grad_prod(x: Any, out: Any, g: Any, *, axis: Ints, keepdims: bool) -> tuple[Any]:
    whole = scaled(others(x, axis), wide(restored(g, x, axis, keepdims)))
    return (whole.astype(x.type.dtype),)


def _jvp_prod(x: Any, out: Any, tangents: Any, *, axis: Ints, keepdims: bool) -> Any:
    terms = pushed(others(x, axis), wide(tangents[0]))
    return sum_(terms, axis=axis, keepdims=keepdims).astype(x.type.dtype)


@op(
    numpy=_prod,
    grad=_grad_prod,
    jvp=_jvp_prod,
    batch=one_axis_on("prod"),
    widen=True,
)
def prod(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """The product over the given axes; 1 where there are no elements."""
    check_kind(NUMERIC, x)
    return reduced(x, axis, keepdims)


# ------------------------------------------------------------------ extrema


def _shares(x: Any, out: Any, axis: Ints, keepdims: bool) -> Any:
    """1/k at each of the k elements that attain the extremum, 0 elsewhere."""
    attained = OPS["equal"](x, restored(out, x, axis, keepdims)).astype(x.type.dtype)
    return attained / sum_(attained, axis=axis, keepdims=True)


def _grad_extremum(x: Any, out: Any, g: Any, *, axis: Ints, keepdims: bool) -> tuple[Any]:
    return (scaled(_shares(x, out, axis, keepdims), restored(g, x, axis, keepdims)),)


def _jvp_extremum(x: Any, out: Any, tangents: Any, *, axis: Ints, keepdims: bool) -> Any:
    weighted = pushed(_shares(x, out, axis, keepdims), tangents[0])
    return sum_(weighted, axis=axis, keepdims=keepdims)


@op(
    numpy=_contiguous(np.max),
    grad=_grad_extremum,
    jvp=_jvp_extremum,
    batch=one_axis_on("max"),
    widen=True,
)
def max_(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """The largest element over the given axes; NaN if there is one."""
    check_kind(REAL, x)
    _not_empty(x, axis)
    return reduced(x, axis, keepdims)


@op(
    numpy=_contiguous(np.min),
    grad=_grad_extremum,
    jvp=_jvp_extremum,
    batch=one_axis_on("min"),
    widen=True,
)
def min_(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """The smallest element over the given axes; NaN if there is one."""
    check_kind(REAL, x)
    _not_empty(x, axis)
    return reduced(x, axis, keepdims)


def _located(x: Operand, axis: int, keepdims: bool) -> TensorType:
    check_kind(REAL, x)
    _not_empty(x, (axis,))
    return reduced(x, (axis,), keepdims).with_dtype(INT64)


@op(
    numpy=lambda x, *, axis, keepdims: np.argmax(x, axis, keepdims=keepdims),
    grad=constant,
    batch=one_axis_on("argmax"),
    widen=True,
)
def argmax(x: Operand, *, axis: int, keepdims: bool) -> TensorType:
    """The index (int64) of the first largest element along an axis; of the first NaN if any."""
    return _located(x, axis, keepdims)


@op(
    numpy=lambda x, *, axis, keepdims: np.argmin(x, axis, keepdims=keepdims),
    grad=constant,
    batch=one_axis_on("argmin"),
    widen=True,
)
def argmin(x: Operand, *, axis: int, keepdims: bool) -> TensorType:
    """The index (int64) of the first smallest element along an axis; of the first NaN if any."""
    return _located(x, axis, keepdims)


# ------------------------------------------------------------------ truth


@op(
    numpy=lambda x, *, axis, keepdims: np.any(x.astype(bool), axis=axis, keepdims=keepdims),
    grad=constant,
    batch=one_axis_on("any"),
)
def any_(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """Whether an element over the given axes is not zero; False where there are none."""
    return reduced(x, axis, keepdims).with_dtype(BOOL)


@op(
    numpy=lambda x, *, axis, keepdims: np.all(x.astype(bool), axis=axis, keepdims=keepdims),
    grad=constant,
    batch=one_axis_on("all"),
)
def all_(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """Whether all elements over the given axes are not zero; True where there are none."""
    return reduced(x, axis, keepdims).with_dtype(BOOL)


# ------------------------------------------------------------------ logsumexp


def _logsumexp(x: Array, *, axis: Ints, keepdims: bool) -> Array:
    x = np.asarray(x, order="C")
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0).astype(x.dtype)
    total = np.sum(np.exp(x - top), axis=axis, keepdims=True)
    out = np.log(total) + top
    return np.asarray(out if keepdims else np.squeeze(out, axis))


def _softmax(x: Any, out: Any, axis: Ints, keepdims: bool) -> Any:
    """The weights exp(x - out); they sum to 1.  Where out is -inf all are 0; where it is inf, the
    infinite elements share equally.

    out only keeps exp in range: what it lost by rounding is divided out again.
    """
    whole = OPS["stop_gradient"](restored(out, x, axis, keepdims))
    empty = OPS["equal"](whole, float("-inf"))
    apart = x - select(empty, whole.coerce(0.0), whole)
    weights = OPS["exp"](select(OPS["equal"](x, float("inf")), x.coerce(0.0), apart))
    total = sum_(weights, axis=axis, keepdims=True)
    return weights / select(empty, total.coerce(1.0), total)


def _jvp_logsumexp(x: Any, out: Any, tangents: Any, *, axis: Ints, keepdims: bool) -> Any:
    weighted = pushed(_softmax(x, out, axis, keepdims), tangents[0])
    return sum_(weighted, axis=axis, keepdims=keepdims)


@op(
    numpy=_logsumexp,
    grad=lambda x, out, g, *, axis, keepdims: (
        scaled(_softmax(x, out, axis, keepdims), restored(g, x, axis, keepdims)),
    ),
    jvp=_jvp_logsumexp,
    batch=one_axis_on("logsumexp"),
    widen=True,
)
def logsumexp(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """log(sum(exp(x))) over the given axes, without overflow; -inf where all elements are -inf."""
    check_kind(FLOATING, x)
    return reduced(x, axis, keepdims)


# ------------------------------------------------------------------ broadcasting undone


def _sum_to(x: Array, *, shape: tuple[int, ...]) -> Array:
    axis = summed_axes(x.shape, shape)
    if not axis:
        return x
    return np.reshape(sum_over(np.asarray(x, order="C"), axis, False), shape)


def _batch_sum_to(x: Any, batched: Sequence[bool], *, shape: Shape) -> Any:
    lead = x.type.ndim - 1 - len(shape)
    x = sum_(x, axis=tuple(range(1, 1 + lead)), keepdims=False) if lead else x
    return sum_to(x, shape=(x.type.shape[0], *shape))


@op(
    numpy=_sum_to,
    grad=lambda x, out, g: (broadcast_to(g, shape=x.type.shape),),
    jvp="linear",
    batch=_batch_sum_to,
    widen=True,
)
def sum_to(x: Operand, *, shape: SymbolicShape) -> TensorType:
    """x summed over the axes along which a tensor of `shape` was broadcast to it."""
    check_kind(NUMERIC, x)
    check_broadcast(check_shape(shape), x.shape)
    return x.with_shape(shape)
