"""Ops that take parts of a tensor along its axes, or put parts in place.

Bounds and widths in attributes may hold symbolic sizes; the number of elements that a slice
has is computed so that it is right for every binding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dims import Shape, Size
from ..errors import ArgumentError, ShapeError
from ..op import Operand, Slices, SymbolicShape, Widths, each, op
from ..shapes import shape_text
from ..types import INTEGER, NUMERIC, Array, DType, TensorType
from .checks import agree, check_axes, check_equal_shapes, check_kind, check_shape, same_dtype
from .shape import batch_size, with_batch, zeros


def slice_extent(start: Size | None, stop: Size | None, step: int, size: Size) -> tuple[Size, Size]:
    """(first index, number of elements) of a Python slice of an axis of `size`.

    Exact for every binding of symbols, as `slice.indices` is; simple where that is possible,
    so that x[1:] and x[:-1] are known to be of equal size.
    """
    given = (size, 0 if start is None else start, 0 if stop is None else stop)
    if all(type(s) is int for s in given):
        taken = slice(start, stop, step).indices(size)
        return taken[0], len(range(*taken))
    if step > 0:
        first = _clamp(0 if start is None else start, size, 0, size)
        last = _clamp(size if stop is None else stop, size, 0, size)
        gap = last - first
        if stop is None and start is not None:
            # n - min(k, n) is max(n - k, 0), and n - max(n - k, 0) is min(n, k).
            if dims.nonnegative(start):
                gap = dims.maximum(size - start, 0)
            elif dims.nonnegative(-1 - start):
                gap = dims.minimum(size, -start)
    else:
        first = _clamp(size - 1 if start is None else start, size, -1, size - 1, start is None)
        last = _clamp(-1 if stop is None else stop, size, -1, size - 1, stop is None)
        gap = first - last
    return first, dims.maximum(dims.ceildiv(gap, abs(step)), 0)


def _clamp(index: Size, size: Size, low: int, high: Size, counted: bool = False) -> Size:
    """A slice's bound within low to high; below zero it counts from the end.

    `counted`: the bound is a position already, and -1 means before the first element.
    """
    if counted or (index == size == high):
        return index
    if dims.nonnegative(index):
        return dims.minimum(index, high)
    if dims.nonnegative(-1 - index):
        return dims.maximum(index + size, low)
    # Of unknown sign: 1 where the index is negative, in min and max.
    negative = -dims.minimum(dims.maximum(index, -1), 0)
    return dims.maximum(dims.minimum(index + negative * size, high), low)


def _grad_concat(xs: Sequence[Any], out: Any, g: Any, *, axis: int) -> tuple[Any, ...]:
    parts = []
    start: Size = 0
    for x in xs:
        stop = start + x.type.shape[axis]
        bounds: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * x.type.ndim
        bounds[axis] = (start, stop, 1)
        parts.append(slice_(g, slices=tuple(bounds)))
        start = stop
    return tuple(parts)


def _batch_concat(xs: Sequence[Any], batched: Sequence[bool], *, axis: int) -> Any:
    size = batch_size(xs, batched)
    parts = [with_batch(x, b, size) for x, b in zip(xs, batched, strict=True)]
    return concat(*parts, axis=axis + 1)


@op(
    numpy=lambda *xs, axis: np.concatenate(xs, axis),
    grad=_grad_concat,
    jvp="linear",
    batch=_batch_concat,
)
def concat(*xs: Operand, axis: int) -> TensorType:
    """The operands one after the other along an existing axis."""
    if not xs:
        raise ArgumentError("nothing to concatenate", expected="at least one tensor", found="none")
    same_dtype(xs)
    first = xs[0]
    check_axes((axis,), first.ndim)
    shape = list(first.shape)
    for k, x in enumerate(xs[1:], start=1):
        if x.ndim != first.ndim:
            raise ShapeError(
                "operands differ in rank",
                expected=f"rank {first.ndim}, as operand 0 has",
                found=f"rank {x.ndim}, operand {k}: {shape_text(x.shape)}",
            )
        for a, size in enumerate(x.shape):
            if a != axis:
                shape[a] = agree(shape[a], size, f"operands 0 and {k} on axis {a}")
    shape[axis] = dims.total(x.shape[axis] for x in xs)
    return first.with_shape(shape)


def _extents(shape: Shape, slices: Slices) -> list[tuple[Size, Size]]:
    """(first index, number of elements) of each axis.  Raises ShapeError, ArgumentError."""
    if len(slices) != len(shape):
        raise ShapeError(
            "not one slice an axis",
            expected=f"{len(shape)} slices, for {shape_text(shape)}",
            found=f"{len(slices)}",
        )
    for start, stop, step in slices:
        if step == 0:
            raise ArgumentError(
                "a slice's step is zero",
                expected="a step other than 0",
                found=f"{start}:{stop}:{step}",
            )
    return [slice_extent(*bounds, size) for bounds, size in zip(slices, shape, strict=True)]


def _index(slices: Slices) -> tuple[slice, ...]:
    return tuple(slice(*bounds) for bounds in slices)


def _grad_slice(x: Any, out: Any, g: Any, *, slices: Slices) -> tuple[Any]:
    shape = x.type.shape
    if all(step == 1 for _, _, step in slices):
        widths = tuple(
            (first, size - first - length)
            for (first, length), size in zip(_extents(shape, slices), shape, strict=True)
        )
        return (pad(g, widths=widths, value=0.0),)
    return (slice_set(zeros(g, shape), g, slices=slices),)


def _batch_slice(x: Any, batched: Sequence[bool], *, slices: Slices) -> Any:
    return slice_(x, slices=((None, None, 1), *slices))


@op(
    numpy=lambda x, *, slices: x[_index(slices)],
    grad=_grad_slice,
    jvp="linear",
    batch=_batch_slice,
    view=True,
)
def slice_(x: Operand, *, slices: Slices) -> TensorType:
    """The elements at (start, stop, step) of each axis, meant as Python means a slice.

    start and stop may be None, negative, out of range or symbolic; step is an int, not 0.
    """
    return x.with_shape(length for _, length in _extents(x.shape, slices))


def _assign_slice(x: Array, updates: Array, *, slices: Slices) -> Array:
    out = np.array(x)
    out[_index(slices)] = updates
    return out


def _unwritten(x: Any, updates: Any, out: Any, g: Any, *, slices: Slices) -> Any:
    return slice_set(g, zeros(g, updates.type.shape), slices=slices)


def _batch_slice_set(x: Any, updates: Any, batched: Sequence[bool], *, slices: Slices) -> Any:
    size = batch_size((x, updates), batched)
    return slice_set(
        with_batch(x, batched[0], size),
        with_batch(updates, batched[1], size),
        slices=((None, None, 1), *slices),
    )


@op(
    numpy=_assign_slice,
    grad=each(
        _unwritten,
        lambda x, updates, out, g, *, slices: slice_(g, slices=slices),
    ),
    jvp="linear",
    batch=_batch_slice_set,
)
def slice_set(x: Operand, updates: Operand, *, slices: Slices) -> TensorType:
    """x with `updates` in place of what `slice` of it gives; they have the same shape."""
    same_dtype((x, updates))
    shape = tuple(length for _, length in _extents(x.shape, slices))
    check_equal_shapes(updates.shape, shape, "updates")
    return x


def _of_part(slices: Slices, rank: int, k: int) -> Slices:
    return slices[k * rank : (k + 1) * rank]


def _place(*parts: Array, slices: Slices, shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape, parts[0].dtype)
    for k, part in enumerate(parts):
        out[_index(_of_part(slices, len(shape), k))] += part
    return out


def _grad_place(
    parts: Sequence[Any], out: Any, g: Any, *, slices: Slices, shape: Shape
) -> tuple[Any, ...]:
    rank = len(shape)
    return tuple(slice_(g, slices=_of_part(slices, rank, k)) for k in range(len(parts)))


def _jvp_place(
    parts: Sequence[Any], out: Any, tangents: Sequence[Any], *, slices: Slices, shape: Shape
) -> Any:
    moving = [k for k, t in enumerate(tangents) if t is not None]
    places = [triple for k in moving for triple in _of_part(slices, len(shape), k)]
    return place(*(tangents[k] for k in moving), slices=tuple(places), shape=shape)


def _batch_place(
    parts: Sequence[Any], batched: Sequence[bool], *, slices: Slices, shape: Shape
) -> Any:
    size = batch_size(parts, batched)
    stacked = [with_batch(x, b, size) for x, b in zip(parts, batched, strict=True)]
    places = [
        triple
        for k in range(len(parts))
        for triple in ((None, None, 1), *_of_part(slices, len(shape), k))
    ]
    return place(*stacked, slices=tuple(places), shape=(size, *shape))


@op(numpy=_place, grad=_grad_place, jvp=_jvp_place, batch=_batch_place, widen=True)
def place(*parts: Operand, slices: Slices, shape: SymbolicShape) -> TensorType:
    """The sum of the parts, each in its place among zeros of that shape.

    slices: those of the first part, one for each axis, then those of the next.  It is what a
    value's cotangent is of which many slices are used.
    """
    if not parts:
        raise ArgumentError("nothing to place", expected="at least one tensor", found="none")
    same_dtype(parts)
    check_kind(NUMERIC, *parts)
    check_shape(shape)
    rank = len(shape)
    if len(slices) != rank * len(parts):
        raise ShapeError(
            "not one slice for each part and axis",
            expected=f"{rank * len(parts)} slices: of {len(parts)} parts, rank {rank}",
            found=f"{len(slices)}",
        )
    for k, part in enumerate(parts):
        extents = _extents(shape, _of_part(slices, rank, k))
        check_equal_shapes(part.shape, tuple(n for _, n in extents), f"part {k}")
    return parts[0].with_shape(shape)


def _pad(x: Array, *, widths: Sequence[tuple[int, int]], value: float) -> Array:
    shape = [size + low + high for size, (low, high) in zip(x.shape, widths, strict=True)]
    out = np.full(shape, value, x.dtype)
    out[tuple(slice(low, low + n) for n, (low, _) in zip(x.shape, widths, strict=True))] = x
    return out


def _jvp_pad(x: Any, out: Any, tangents: Sequence[Any], *, widths: Widths) -> Any:
    return pad(tangents[0], widths=widths, value=0.0)


def _batch_pad(x: Any, batched: Sequence[bool], *, widths: Widths, value: float) -> Any:
    return pad(x, widths=((0, 0), *widths), value=value)


def _unpad(g: Any, x: Any, widths: Widths) -> Any:
    return slice_(
        g,
        slices=tuple(
            (low, low + size, 1) for size, (low, _) in zip(x.type.shape, widths, strict=True)
        ),
    )


@op(
    numpy=_pad,
    grad=lambda x, out, g, *, widths: (_unpad(g, x, widths),),
    jvp=_jvp_pad,
    batch=_batch_pad,
)
def pad(x: Operand, *, widths: Widths, value: float) -> TensorType:
    """x with (low, high) elements of `value` before and behind it on each axis."""
    if len(widths) != x.ndim:
        raise ShapeError(
            "not one pair of widths an axis",
            expected=f"{x.ndim} pairs, for {shape_text(x.shape)}",
            found=str(len(widths)),
        )
    for pair in widths:
        check_shape(pair)
    _check_fill(value, x.dtype, x.kind)
    return x.with_shape(
        size + low + high for size, (low, high) in zip(x.shape, widths, strict=True)
    )


def _check_fill(value: float, dtype: DType, kind: str) -> None:
    limits = np.iinfo(dtype) if kind in INTEGER else None
    low, high = (limits.min, limits.max) if limits else (0, 1)
    if (limits or kind == "bool") and not (
        math.isfinite(value) and value == int(value) and low <= value <= high
    ):
        raise ArgumentError(
            f"the value does not fit {dtype.name}",
            expected=f"an integer from {low} to {high}",
            found=str(value),
        )
