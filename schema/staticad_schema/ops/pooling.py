"""Pooling over spatial axes: the largest element of each window, and sums of windows.

Batch and channels come first, then the spatial axes, of any number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Shape
from ..errors import ArgumentError, DTypeError, ShapeError
from ..op import Ints, Operand, SymbolicShape, Widths, op
from ..shapes import product, same_shape, shape_text
from ..types import INT64, NUMERIC, REAL, Array, TensorType
from . import pools
from .checks import check_equal_shapes, check_kind, check_shape
from .shape import batch_size, folded, reshape, with_batch
from .take import take_along_axis
from .windows import check_spatial, extent, misses, window_counts

# ------------------------------------------------------------------ maxima


def _max_pool(x: Array, **attributes: Any) -> tuple[Array, Array]:
    values = np.empty((*x.shape[:2], *_counts(x.shape[2:], **attributes)), x.dtype)
    indices = np.empty(values.shape, np.int64)
    pools.max_pool(x, values, indices, **attributes)
    return values, indices


def _counts(sizes: Shape, window: Ints, strides: Ints, padding: Widths, dilation: Ints) -> Any:
    return window_counts(sizes, window, strides, padding, dilation)


def gathered(x: Any, indices: Any) -> Any:
    """The elements of x at indices into its spatial axes, which count as one."""
    shape = indices.type.shape
    flat = reshape(x, shape=(*x.type.shape[:2], product(x.type.shape[2:])))
    places = reshape(indices, shape=(*shape[:2], product(shape[2:])))
    return reshape(take_along_axis(flat, places, axis=2), shape=shape)


def _grad_max_pool(x: Any, out: tuple[Any, Any], g: tuple[Any, Any]) -> tuple[Any]:
    return (None if g[0] is None else unpool(g[0], out[1], shape=x.type.shape[2:]),)


def _batch_max_pool(x: Any, batched: Sequence[bool], **attributes: Any) -> tuple[Any, ...]:
    lead = x.type.shape[:2]
    outputs = max_pool(folded(x), **attributes)
    return tuple(reshape(y, shape=(*lead, *y.type.shape[1:])) for y in outputs)


@op(
    numpy=_max_pool,
    grad=_grad_max_pool,
    jvp=lambda x, out, tangents: (gathered(tangents[0], out[1]), None),
    batch=_batch_max_pool,
    widen=True,
)
def max_pool(
    x: Operand, *, window: Ints, strides: Ints, padding: Widths, dilation: Ints
) -> tuple[TensorType, TensorType]:
    """The largest element of each window, and its place in x, the spatial axes counted as one.

    Of equal elements the first counts, and takes all of the gradient; NaN is larger than any
    number; padding is never chosen, and no window may lie in it.
    """
    check_kind(REAL, x)
    sizes = check_spatial(x, window, strides, padding, dilation)
    counts = window_counts(sizes, window, strides, padding, dilation)
    for size, count, k, stride, (low, high), step in zip(
        sizes, counts, window, strides, padding, dilation, strict=True
    ):
        reach = extent(k, step)
        if isinstance(size, int) and isinstance(count, int) and isinstance(low, int):
            outside = misses(size, count, k, stride, low, step)
        else:
            # The last window ends less than a stride before the padding does.
            ahead, behind = isinstance(low, int), isinstance(high, int)
            outside = (ahead and low >= reach) or (behind and high >= reach + stride - 1)
        if outside:
            raise ArgumentError(
                "a window would lie in the padding",
                expected=f"padding below {reach}, what a window reaches over, and elements in each",
                found=f"padding {low}, {high}",
            )
    values = x.with_shape((*x.shape[:2], *counts))
    return values, values.with_dtype(INT64)


def _unpool(g: Array, indices: Array, *, shape: Ints) -> Array:
    out = np.empty((*g.shape[:2], *shape), g.dtype)
    pools.unpool(g, indices, out)
    return out


def _jvp_unpool(g: Any, indices: Any, out: Any, tangents: Sequence[Any], *, shape: Shape) -> Any:
    return unpool(tangents[0], indices, shape=shape)


def _batch_unpool(g: Any, indices: Any, batched: Sequence[bool], *, shape: Shape) -> Any:
    size = batch_size((g, indices), batched)
    g, indices = with_batch(g, batched[0], size), with_batch(indices, batched[1], size)
    found = unpool(folded(g), folded(indices), shape=shape)
    return reshape(found, shape=(*g.type.shape[:2], *found.type.shape[1:]))


@op(
    numpy=_unpool,
    grad=lambda g, indices, out, change: (gathered(change, indices), None),
    jvp=_jvp_unpool,
    batch=_batch_unpool,
    widen=True,
)
def unpool(g: Operand, indices: Operand, *, shape: SymbolicShape) -> TensorType:
    """Zeros of spatial sizes `shape` with the elements of g added at their indices.

    indices: int64, of the shape of g; each counts all spatial axes as one, as those of max_pool.
    """
    check_kind(NUMERIC, g)
    if indices.dtype != INT64:
        raise DTypeError("indices of another dtype", expected="int64", found=indices.dtype.name)
    if g.ndim < 3:
        raise ShapeError("there is no spatial axis", expected="rank 3 or more", found=str(g))
    check_equal_shapes(indices.shape, g.shape, "indices")
    return g.with_shape((*g.shape[:2], *check_shape(shape)))


# ------------------------------------------------------------------ sums


def _window_sum(x: Array, **attributes: Any) -> Array:
    out = np.empty((*x.shape[:2], *_counts(x.shape[2:], **attributes)), x.dtype)
    pools.window_sum(x, out, **attributes)
    return out


def _window_spread(g: Array, *, shape: Ints, **attributes: Any) -> Array:
    out = np.empty((*g.shape[:2], *shape), g.dtype)
    pools.window_spread(g, out, **attributes)
    return out


def _grad_window_sum(x: Any, out: Any, g: Any, **attributes: Any) -> tuple[Any]:
    return (window_spread(g, shape=x.type.shape[2:], **attributes),)


def _batch_window_sum(x: Any, batched: Sequence[bool], **attributes: Any) -> Any:
    found = window_sum(folded(x), **attributes)
    return reshape(found, shape=(*x.type.shape[:2], *found.type.shape[1:]))


def _batch_window_spread(g: Any, batched: Sequence[bool], **attributes: Any) -> Any:
    found = window_spread(folded(g), **attributes)
    return reshape(found, shape=(*g.type.shape[:2], *found.type.shape[1:]))


@op(
    numpy=_window_sum,
    grad=_grad_window_sum,
    jvp="linear",
    batch=_batch_window_sum,
    widen=True,
)
def window_sum(
    x: Operand, *, window: Ints, strides: Ints, padding: Widths, dilation: Ints
) -> TensorType:
    """The sum of each window over the spatial axes; padding counts as 0."""
    check_kind(NUMERIC, x)
    sizes = check_spatial(x, window, strides, padding, dilation)
    counts = window_counts(sizes, window, strides, padding, dilation)
    return x.with_shape((*x.shape[:2], *counts))


@op(
    numpy=_window_spread,
    grad=lambda g, out, change, *, shape, **rest: (window_sum(change, **rest),),
    jvp="linear",
    batch=_batch_window_spread,
    widen=True,
)
def window_spread(
    g: Operand,
    *,
    shape: SymbolicShape,
    window: Ints,
    strides: Ints,
    padding: Widths,
    dilation: Ints,
) -> TensorType:
    """The transpose of window_sum: for spatial sizes `shape`, at each element the sum of g over
    the windows that contain it."""
    check_kind(NUMERIC, g)
    check_spatial(g, window, strides, padding, dilation)
    counts = window_counts(check_shape(shape), window, strides, padding, dilation)
    if same_shape(g.shape[2:], counts) is False:
        raise ShapeError(
            "not as many windows as there are",
            expected=f"{shape_text(counts)}, over {shape_text(shape)}",
            found=shape_text(g.shape[2:]),
        )
    return g.with_shape((*g.shape[:2], *shape))
