"""Ops that read or write at positions given by integer tensors.

Negative indices count from the end; others out of range fail when they are met.  `gather` and
the scatters are the general pair, through which those of one axis (`take`) are differentiated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dims import Shape, Size
from ..errors import ArgumentError, DTypeError, ExecutionError, ShapeError
from ..op import OPS, Ints, Operand, op
from ..shapes import broadcast_shapes, normalize_axis, product, shape_text
from ..types import BOOL, INT64, INTEGER, Array, TensorType
from .checks import check_equal_shapes, same_dtype
from .shape import batch_size, moved_axis, reshape, with_batch, zeros

# ------------------------------------------------------------------ positions


def in_range(indices: Array, size: int, axis: int) -> Array:
    """The indices counted from the front.  Raises ExecutionError if one is out of range."""
    # Most often all are as they have to be, which two passes tell.
    if indices.size and indices.min() >= 0 and indices.max() < size:
        return indices.astype(np.int64, copy=False)
    # Before they are int64, which the largest of uint64 are not.
    outside = (indices < -size) | (indices >= size)
    if outside.any():
        raise ExecutionError(
            "an index is out of range",
            expected=f"indices from {-size} to {size - 1} on axis {axis}"
            if size
            else f"no index: axis {axis} has size 0",
            found=str(indices[outside].flat[0]),
        )
    indices = indices.astype(np.int64, copy=False)
    return np.where(indices < 0, indices + size, indices)


def along(like: Any, size: Size, axis: int, ndim: int) -> Any:
    """0, 1, ... along one axis of a tensor of rank `ndim`, size 1 on the others."""
    shape = (1,) * axis + (size,) + (1,) * (ndim - 1 - axis)
    return like.apply(OPS["iota"], (), {"shape": shape, "axis": axis, "dtype": INT64})


def check_indices(indices: Sequence[Operand]) -> Shape:
    """The shape to which the indices broadcast.  Raises DTypeError, ShapeError."""
    for k, index in enumerate(indices):
        if index.kind not in INTEGER:
            raise DTypeError(
                "indices are not integers",
                expected="an integer dtype",
                found=index.dtype.name + (f", index {k}" if k else ""),
                hint="a bool mask is for where" if index.kind == "bool" else None,
            )
    return broadcast_shapes(i.shape for i in indices)


def check_indexed(x: Operand, indices: Sequence[Operand], axes: Ints) -> Shape:
    """The shape of what the indices select."""
    if len(indices) != len(axes) or not axes:
        raise ArgumentError(
            "not one index tensor an axis",
            expected=f"{len(axes) or 'at least one'} for axes {shape_text(axes)}",
            found=str(len(indices)),
        )
    for axis in axes:
        normalize_axis(axis, x.ndim)
    if min(axes) < 0 or len(set(axes)) != len(axes):
        raise ShapeError(
            "not distinct axes counted from the front",
            expected=f"distinct axes from 0 to {x.ndim - 1}",
            found=shape_text(axes),
        )
    rest = tuple(size for a, size in enumerate(x.shape) if a not in axes)
    return check_indices(indices) + rest


# ------------------------------------------------------------------ gather and scatter


def _front(x: Array, indices: Sequence[Array], axes: Ints) -> tuple[Array, tuple[Array, ...]]:
    """A view of x with the indexed axes first, and the checked indices."""
    places = tuple(in_range(i, x.shape[a], a) for i, a in zip(indices, axes, strict=True))
    return np.moveaxis(x, axes, range(len(axes))), places


def _gather(x: Array, *indices: Array, axes: Ints) -> Array:
    front, places = _front(x, indices, axes)
    return np.asarray(front[places])


def _grad_gather(operands: Sequence[Any], out: Any, g: Any, *, axes: Ints) -> tuple[Any, ...]:
    x, *indices = operands
    spread = scatter_add(zeros(g, x.type.shape), g, *indices, axes=axes)
    return (spread, *(None for _ in indices))


def _jvp_gather(operands: Sequence[Any], out: Any, tangents: Sequence[Any], *, axes: Ints) -> Any:
    return gather(tangents[0], *operands[1:], axes=axes)


def _aligned(indices: Sequence[Any], batched: Sequence[bool]) -> list[Any]:
    """The indices with one rank: batched ones behind their batch axis, others behind a 1."""
    rank = max(i.type.ndim - b for i, b in zip(indices, batched, strict=True))
    aligned = []
    for index, is_batched in zip(indices, batched, strict=True):
        shape = index.type.shape if is_batched else (1, *index.type.shape)
        ones = (1,) * (rank + 1 - len(shape))
        aligned.append(reshape(index, shape=(shape[0], *ones, *shape[1:])))
    return aligned


def _batched_indices(
    x: Any, indices: Sequence[Any], batched: Sequence[bool], axes: Ints
) -> tuple[list[Any], Ints]:
    """Index tensors and axes with which gather and scatters see the batch axis of x.

    Where no index has a batch axis that of x is simply not indexed.
    """
    moved = tuple(a + 1 for a in axes)
    if not any(batched):
        return list(indices), moved
    aligned = _aligned(indices, batched)
    return [along(x, x.type.shape[0], 0, aligned[0].type.ndim), *aligned], (0, *moved)


def _batch_gather(operands: Sequence[Any], batched: Sequence[bool], *, axes: Ints) -> Any:
    (x, *indices), (x_batched, *index_batched) = operands, batched
    if not x_batched:
        # A batch of indices into one x is one gather with larger indices.
        return gather(x, *_aligned(indices, index_batched), axes=axes)
    indices, moved = _batched_indices(x, indices, index_batched, axes)
    found = gather(x, *indices, axes=moved)
    if any(index_batched):
        return found
    return moved_axis(found, len(broadcast_shapes(i.type.shape for i in indices)), 0)


@op(
    numpy=_gather,
    grad=_grad_gather,
    jvp=_jvp_gather,
    batch=_batch_gather,
)
def gather(x: Operand, *indices: Operand, axes: Ints) -> TensorType:
    """x at the positions that broadcast integer tensors name on `axes`, one tensor an axis.

    The result has the axes of the indices first, then the axes of x that are not indexed.
    """
    return x.with_shape(check_indexed(x, indices, axes))


def row_numbers(shape: Sequence[int], indices: Sequence[Array], axes: Ints) -> Array:
    """The flat positions on the indexed axes of a tensor of that shape, in row-major order.

    Flat, because NumPy may visit broadcast indices in the order of their memory.
    """
    rows = np.zeros((), np.int64)
    for index, axis in zip(indices, axes, strict=True):
        rows = rows * shape[axis] + in_range(index, shape[axis], axis)
    return rows.reshape(-1)


def rows_of(x: Array, indices: Sequence[Array], axes: Ints) -> tuple[Array, Array]:
    """A copy of x with the indexed axes first, and the flat positions on them."""
    front = np.moveaxis(x, axes, range(len(axes)))
    return np.array(front, order="C"), row_numbers(x.shape, indices, axes)


def table_of(front: Array, axes: Ints) -> Array:
    """A view of what has the indexed axes first, with these as rows and the others as columns."""
    depth = len(axes)
    return front.reshape(math.prod(front.shape[:depth]), math.prod(front.shape[depth:]))


def _scatter_set(x: Array, updates: Array, *indices: Array, axes: Ints) -> Array:
    out, rows = rows_of(x, indices, axes)
    table = table_of(out, axes)
    table[rows] = updates.reshape(len(rows), table.shape[1])
    return np.moveaxis(out, range(len(axes)), axes)


def _last_writers(x: Any, indices: Sequence[Any], axes: Ints, like: Any) -> Any:
    """Where an update is the one that stays: it is the last to be written to its place."""
    shape = broadcast_shapes(i.type.shape for i in indices)
    count = product(shape)
    number = reshape(along(x, count, 0, 1), shape=shape)
    sizes = tuple(x.type.shape[a] for a in axes)
    own = tuple(range(len(axes)))
    winners = scatter_set(zeros(number, sizes), number, *indices, axes=own)
    stays = OPS["equal"](gather(winners, *indices, axes=own), number)
    return reshape(stays, shape=(*shape, *(1,) * (like.type.ndim - len(shape))))


def _grad_scatter_set(operands: Sequence[Any], out: Any, g: Any, *, axes: Ints) -> tuple[Any, ...]:
    x, updates, *indices = operands
    untouched = scatter_set(g, zeros(g, updates.type.shape), *indices, axes=axes)
    read = gather(g, *indices, axes=axes)
    stays = _last_writers(x, indices, axes, read)
    kept = OPS["where"](stays, read, read.coerce(0.0))
    return (untouched, kept, *(None for _ in indices))


def tangent_of(tangent: Any, primal: Any) -> Any:
    """The tangent, zeros if there is none."""
    return zeros(primal, primal.type.shape) if tangent is None else tangent


def _jvp_scatter_set(
    operands: Sequence[Any], out: Any, tangents: Sequence[Any], *, axes: Ints
) -> Any:
    pushed = (tangent_of(t, o) for t, o in zip(tangents[:2], operands[:2], strict=True))
    return scatter_set(*pushed, *operands[2:], axes=axes)


def batch_scatter(name: str) -> Callable[..., Any]:
    """The batch rule of the named scatter: the same with larger indices or updates."""

    def rule(operands: Sequence[Any], batched: Sequence[bool], *, axes: Ints, **more: Any) -> Any:
        x, updates, *indices = operands
        size = batch_size(operands, batched)
        x, updates = with_batch(x, batched[0], size), with_batch(updates, batched[1], size)
        wider, moved = _batched_indices(x, indices, batched[2:], axes)
        if not any(batched[2:]):
            rank = len(broadcast_shapes(i.type.shape for i in indices))
            updates = moved_axis(updates, 0, rank)
        return OPS[name](x, updates, *wider, axes=moved, **more)

    return rule


@op(
    numpy=_scatter_set,
    grad=_grad_scatter_set,
    jvp=_jvp_scatter_set,
    batch=batch_scatter("scatter_set"),
)
def scatter_set(x: Operand, updates: Operand, *indices: Operand, axes: Ints) -> TensorType:
    """x with `updates` in place of what `gather` of it gives.

    Updates are written in row-major order, so the last one for a place stays.
    """
    same_dtype((x, updates))
    check_equal_shapes(updates.shape, check_indexed(x, indices, axes), "updates")
    return x


def combined(ufunc: Any, out: Array, rows: Array, updates: Array, axes: Ints) -> Array:
    """`out` with the updates combined with their places one by one, in row-major order."""
    # On single elements a ufunc's `at` is several times as fast as on whole rows.
    width = math.prod(out.shape[len(axes) :])
    places = rows if width == 1 else (rows[:, None] * width + np.arange(width)).reshape(-1)
    ufunc.at(out.reshape(-1), places, updates.reshape(-1))
    return np.moveaxis(out, range(len(axes)), axes)


def _scatter_add(x: Array, updates: Array, *indices: Array, axes: Ints) -> Array:
    out, rows = rows_of(x, indices, axes)
    return combined(np.add, out, rows, updates, axes)


def _grad_scatter_add(operands: Sequence[Any], out: Any, g: Any, *, axes: Ints) -> tuple[Any, ...]:
    _, _, *indices = operands
    return (g, gather(g, *indices, axes=axes), *(None for _ in indices))


def _jvp_scatter_add(
    operands: Sequence[Any], out: Any, tangents: Sequence[Any], *, axes: Ints
) -> Any:
    pushed = (tangent_of(t, o) for t, o in zip(tangents[:2], operands[:2], strict=True))
    return scatter_add(*pushed, *operands[2:], axes=axes)


@op(
    numpy=_scatter_add,
    grad=_grad_scatter_add,
    jvp=_jvp_scatter_add,
    batch=batch_scatter("scatter_add"),
    widen=True,
)
def scatter_add(x: Operand, updates: Operand, *indices: Operand, axes: Ints) -> TensorType:
    """x with `updates` added at the places that `gather` of it reads; repeated places add up."""
    if same_dtype((x, updates)) == BOOL:
        raise DTypeError("bool does not add", expected="a numeric dtype", found="bool")
    check_equal_shapes(updates.shape, check_indexed(x, indices, axes), "updates")
    return x
