"""Ops that read at positions along one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Dim, Shape, Size
from ..errors import ShapeError
from ..op import Operand, constant, op
from ..shapes import broadcast_shapes
from ..types import Array, DType, TensorType
from .checks import check_axes, check_shape
from .index import along, check_indices, gather, in_range, scatter_add
from .shape import batch_size, moved_axis, permute_dims, with_batch, zeros


def _take(x: Array, indices: Array, *, axis: int) -> Array:
    return np.take(x, in_range(indices, x.shape[axis], axis), axis)


def _grad_take(x: Any, indices: Any, out: Any, g: Any, *, axis: int) -> tuple[Any, None]:
    depth = indices.type.ndim
    order = (
        *range(axis, axis + depth),
        *range(axis),
        *range(axis + depth, g.type.ndim),
    )
    rows = permute_dims(g, axes=order) if axis and depth else g
    return scatter_add(zeros(g, x.type.shape), rows, indices, axes=(axis,)), None


def _jvp_take(x: Any, indices: Any, out: Any, tangents: Sequence[Any], *, axis: int) -> Any:
    return take(tangents[0], indices, axis=axis)


def _batch_take(x: Any, indices: Any, batched: Sequence[bool], *, axis: int) -> Any:
    if not batched[1]:
        return take(x, indices, axis=axis + 1)
    if not batched[0]:
        return moved_axis(take(x, indices, axis=axis), axis, 0)
    depth = indices.type.ndim
    lead = along(x, x.type.shape[0], 0, depth)
    found = gather(x, lead, indices, axes=(0, axis + 1))
    # The axes of the indices come first: those behind the batch axis belong at `axis`.
    order = (0, *range(depth, depth + axis), *range(1, depth))
    return permute_dims(found, axes=(*order, *range(depth + axis, found.type.ndim)))


@op(
    numpy=_take,
    grad=_grad_take,
    jvp=_jvp_take,
    batch=_batch_take,
)
def take(x: Operand, indices: Operand, *, axis: int) -> TensorType:
    """The slices of x at integer positions along one axis.

    The shape of x with that axis replaced by the axes of the indices.
    """
    check_axes((axis,), x.ndim)
    return x.with_shape(x.shape[:axis] + check_indices((indices,)) + x.shape[axis + 1 :])


def _take_along_axis(x: Array, indices: Array, *, axis: int) -> Array:
    return np.take_along_axis(x, in_range(indices, x.shape[axis], axis), axis)


def _whole(shape: Shape, size: Size, axis: int) -> Shape:
    return (*shape[:axis], size, *shape[axis + 1 :])


def scatter_along(g: Any, indices: Any, size: Size, axis: int) -> Any:
    """g added to zeros at the indices along an axis of that size: `take_along_axis` transposed."""
    shape = g.type.shape
    places = [along(g, s, a, len(shape)) for a, s in enumerate(shape)]
    places[axis] = indices
    start = zeros(g, _whole(shape, size, axis))
    return scatter_add(start, g, *places, axes=tuple(range(len(shape))))


def _grad_along(x: Any, indices: Any, out: Any, g: Any, *, axis: int) -> tuple[Any, None]:
    return scatter_along(g, indices, x.type.shape[axis], axis), None


def _jvp_along(x: Any, indices: Any, out: Any, tangents: Sequence[Any], *, axis: int) -> Any:
    return take_along_axis(tangents[0], indices, axis=axis)


def _batch_along(x: Any, indices: Any, batched: Sequence[bool], *, axis: int) -> Any:
    size = batch_size((x, indices), batched)
    x, indices = (with_batch(v, b, size) for v, b in zip((x, indices), batched, strict=True))
    return take_along_axis(x, indices, axis=axis + 1)


@op(
    numpy=_take_along_axis,
    grad=_grad_along,
    jvp=_jvp_along,
    batch=_batch_along,
)
def take_along_axis(x: Operand, indices: Operand, *, axis: int) -> TensorType:
    """Along one axis the elements that the indices name, one by one; other axes broadcast."""
    check_axes((axis,), x.ndim)
    check_indices((indices,))
    if indices.ndim != x.ndim:
        raise ShapeError(
            "indices of another rank", expected=f"rank {x.ndim}", found=f"rank {indices.ndim}"
        )
    chosen = indices.shape[axis]
    shape = broadcast_shapes((_whole(x.shape, 1, axis), _whole(indices.shape, 1, axis)))
    return x.with_shape(_whole(shape, chosen, axis))


def _one_hot(indices: Array, *, depth: int, dtype: DType) -> Array:
    return np.equal(indices[..., None], np.arange(depth)).astype(dtype)


def _batch_one_hot(indices: Any, batched: Sequence[bool], *, depth: int | Dim, dtype: DType) -> Any:
    return one_hot(indices, depth=depth, dtype=dtype)


@op(
    numpy=_one_hot,
    grad=constant,
    batch=_batch_one_hot,
)
def one_hot(indices: Operand, *, depth: int | Dim, dtype: DType) -> TensorType:
    """1 at each index along a new last axis of size `depth`, 0 elsewhere.

    An index outside of 0 to depth - 1 gives zeros, as in most libraries of this kind.
    """
    check_indices((indices,))
    check_shape((depth,))
    return TensorType(dtype, (*indices.shape, depth))
