"""Ops that see the same elements in another shape, and ops that ask for sizes.

Shapes in attributes may hold symbolic sizes.  What cannot be decided then is accepted, and
decided when sizes are bound and inference runs again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dims import Shape, Size
from ..errors import ShapeError
from ..op import OPS, Ints, Operand, SymbolicShape, constant, op
from ..shapes import product, shape_text
from ..types import INT64, Array, DType, TensorType
from .checks import check_axes, check_broadcast, check_equal_shapes, check_shape

# ------------------------------------------------------------------ for batch rules


def batch_size(operands: Sequence[Any], batched: Sequence[bool]) -> Size:
    """The size of the leading axis that the batched operands share."""
    size: Size = operands[batched.index(True)].type.shape[0]
    return size


def with_batch(x: Any, batched: bool, size: Size) -> Any:
    """The operand with a leading batch axis: itself, or repeated."""
    return x if batched else broadcast_to(x, shape=(size, *x.type.shape))


def aligned(operands: Sequence[Any], batched: Sequence[bool]) -> list[Any]:
    """The operands with axes of size 1 behind the batch axis, so that examples broadcast."""
    rank = max(x.type.ndim - b for x, b in zip(operands, batched, strict=True))
    out = []
    for x, is_batched in zip(operands, batched, strict=True):
        missing = rank + 1 - x.type.ndim
        if is_batched and missing:
            size, *rest = x.type.shape
            x = reshape(x, shape=(size, *(1,) * missing, *rest))
        out.append(x)
    return out


def one_axis_on(name: str) -> Callable[..., Any]:
    """The batch rule of the named op of one operand: the same along axes one further on."""

    def rule(x: Any, batched: Sequence[bool], *, axis: int | Ints, **more: Any) -> Any:
        moved = axis + 1 if isinstance(axis, int) else tuple(a + 1 for a in axis)
        return OPS[name](x, axis=moved, **more)

    return rule


def folded(x: Any) -> Any:
    """The operand with its first two axes as one."""
    size, count, *rest = x.type.shape
    return reshape(x, shape=(size * count, *rest))


def moved_axis(x: Any, source: int, destination: int) -> Any:
    """The operand with one axis moved, both counted from the front."""
    axes = [a for a in range(x.type.ndim) if a != source]
    axes.insert(destination, source)
    return x if source == destination else permute_dims(x, axes=tuple(axes))


def zeros(like: Any, shape: Shape) -> Any:
    """Zeros of the dtype of `like`, in its graph."""
    # False is the one scalar that is weak against every dtype, bool included.
    return broadcast_to(like.coerce(False), shape=shape)


# ------------------------------------------------------------------ definitions


def _grad_reshape(x: Any, out: Any, g: Any) -> tuple[Any]:
    return (reshape(g, shape=x.type.shape),)


def _batch_reshape(x: Any, batched: Sequence[bool], *, shape: Shape) -> Any:
    return reshape(x, shape=(x.type.shape[0], *shape))


@op(
    numpy=lambda x, *, shape: np.reshape(x, shape),
    grad=_grad_reshape,
    jvp="linear",
    batch=_batch_reshape,
    view=True,
)
def reshape(x: Operand, *, shape: SymbolicShape) -> TensorType:
    """The same elements, in row-major order, in another shape of as many elements."""
    have, want = product(x.shape), product(check_shape(shape))
    if dims.same_size(have, want) is False:
        raise ShapeError(
            "the number of elements changes",
            expected=f"a shape of {have} elements, as {shape_text(x.shape)} has",
            found=f"{shape_text(shape)}, which has {want}",
        )
    return x.with_shape(shape)


def inverse(axes: Ints) -> Ints:
    """The order of axes that undoes another."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _grad_permute(x: Any, out: Any, g: Any, *, axes: Ints) -> tuple[Any]:
    return (permute_dims(g, axes=inverse(axes)),)


def _batch_permute(x: Any, batched: Sequence[bool], *, axes: Ints) -> Any:
    return permute_dims(x, axes=(0, *(a + 1 for a in axes)))


@op(
    numpy=lambda x, *, axes: np.transpose(x, axes),
    grad=_grad_permute,
    jvp="linear",
    batch=_batch_permute,
    view=True,
)
def permute_dims(x: Operand, *, axes: Ints) -> TensorType:
    """The axes in another order: axis k of the result is axis axes[k] of x."""
    if sorted(axes) != list(range(x.ndim)):
        raise ShapeError(
            "not an order of the axes",
            expected=f"each of the axes 0 to {x.ndim - 1} once" if x.ndim else "no axis",
            found=shape_text(axes),
        )
    return x.with_shape(x.shape[a] for a in axes)


def _batch_broadcast(x: Any, batched: Sequence[bool], *, shape: Shape) -> Any:
    size, *rest = x.type.shape
    ones = (1,) * (len(shape) - len(rest))
    return broadcast_to(reshape(x, shape=(size, *ones, *rest)), shape=(size, *shape))


@op(
    numpy=lambda x, *, shape: np.broadcast_to(x, shape),
    grad=lambda x, out, g: (g,),
    jvp="linear",
    batch=_batch_broadcast,
    view=True,
)
def broadcast_to(x: Operand, *, shape: SymbolicShape) -> TensorType:
    """x repeated along axes of size 1 and along new leading axes."""
    check_broadcast(x.shape, check_shape(shape))
    return x.with_shape(shape)


def _grad_expect(x: Any, out: Any, g: Any) -> tuple[Any]:
    return (expect_shape(g, shape=x.type.shape),)


def _batch_expect(x: Any, batched: Sequence[bool], *, shape: Shape) -> Any:
    return expect_shape(x, shape=(x.type.shape[0], *shape))


def _expect(x: Array, *, shape: tuple[int, ...]) -> Array:
    return x


@op(
    numpy=_expect,
    grad=_grad_expect,
    jvp="linear",
    batch=_batch_expect,
    view=True,
)
def expect_shape(x: Operand, *, shape: SymbolicShape) -> TensorType:
    """x, which has the shape: that is checked when sizes are bound, and used before that."""
    check_equal_shapes(x.shape, check_shape(shape), "a tensor")
    return x.with_shape(shape)


def _grad_flip(x: Any, out: Any, g: Any, *, axis: Ints) -> tuple[Any]:
    return (flip(g, axis=axis),)


@op(
    numpy=lambda x, *, axis: np.flip(x, axis),
    grad=_grad_flip,
    jvp="linear",
    batch=one_axis_on("flip"),
    view=True,
)
def flip(x: Operand, *, axis: Ints) -> TensorType:
    """The elements in reverse order along the given axes."""
    check_axes(axis, x.ndim)
    return x


def _batch_shape_of(x: Any, batched: Sequence[bool]) -> Any:
    example = OPS["slice"](shape_of(x), slices=((1, None, 1),))
    return with_batch(example, False, x.type.shape[0])


@op(
    numpy=lambda x: np.array(x.shape, np.int64),
    grad=constant,
    batch=_batch_shape_of,
)
def shape_of(x: Operand) -> TensorType:
    """The sizes of the axes as int64."""
    return TensorType(INT64, (x.ndim,))


def _batch_size_of(x: Any, batched: Sequence[bool], *, axis: Ints, dtype: DType) -> Any:
    example = size_of(x, axis=tuple(a + 1 for a in axis), dtype=dtype)
    return with_batch(example, False, x.type.shape[0])


@op(
    numpy=lambda x, *, axis, dtype: np.array(math.prod(x.shape[a] for a in axis), dtype),
    grad=constant,
    batch=_batch_size_of,
)
def size_of(x: Operand, *, axis: Ints, dtype: DType) -> TensorType:
    """The product of the sizes of the given axes, a 0-d number of `dtype`."""
    check_axes(axis, x.ndim)
    return TensorType(dtype, ())
