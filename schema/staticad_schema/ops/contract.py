"""Contractions: sums of products over a shared axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..dims import Shape
from ..errors import ShapeError
from ..op import Operand, each, op
from ..shapes import broadcast_shapes, product, shape_text
from ..types import FLOAT32, FLOAT64, INEXACT, NUMERIC, Array, TensorType
from .checks import agree, check_kind, same_dtype
from .pointwise import conjugated
from .shape import aligned, permute_dims, reshape


def swapped(x: Any) -> Any:
    """The transposes of a stack of matrices."""
    ndim = x.type.ndim
    return permute_dims(x, axes=(*range(ndim - 2), ndim - 1, ndim - 2))


def _row(x: Any) -> Any:
    """A vector as a matrix of one row; a stack of matrices as it is."""
    return reshape(x, shape=(1, *x.type.shape)) if x.type.ndim == 1 else x


def _column(x: Any) -> Any:
    """A vector as a matrix of one column; a stack of matrices as it is."""
    return reshape(x, shape=(*x.type.shape, 1)) if x.type.ndim == 1 else x


def _matrices(a: Any, b: Any, g: Any) -> tuple[Any, Any, Any]:
    """Operands and cotangent as (stacks of) matrices."""
    shape = g.type.shape
    if b.type.ndim == 1:
        shape = (*shape, 1)
    if a.type.ndim == 1:
        shape = (*shape[:-1], 1, shape[-1])
    return _row(a), _column(b), reshape(g, shape=shape)


def flattened(x: Any) -> Any:
    """A stack of matrices as one tall matrix; a matrix as it is."""
    shape = x.type.shape
    if len(shape) == 2:
        return x
    return reshape(x, shape=(product(shape[:-1]), shape[-1]))


def _grad_left(a: Any, b: Any, out: Any, g: Any) -> Any:
    _, right, cotangent = _matrices(a, b, g)
    return matmul(cotangent, swapped(conjugated(right)))


def _grad_right(a: Any, b: Any, out: Any, g: Any) -> Any:
    left, right, cotangent = _matrices(a, b, g)
    if right.type.ndim == 2 < left.type.ndim:
        # One product over all matrices of the stack, instead of a sum of one each.
        left, cotangent = flattened(left), flattened(cotangent)
    found = matmul(swapped(conjugated(left)), cotangent)
    return found if b.type.ndim > 1 else reshape(found, shape=found.type.shape[:-1])


def _batch_matmul(a: Any, b: Any, batched: Sequence[bool]) -> Any:
    ranks = [x.type.ndim - is_batched for x, is_batched in zip((a, b), batched, strict=True)]
    stacked = max(*ranks, 2)
    left = _aligned(a, batched[0], 0 if ranks[0] > 1 else 1, stacked)
    right = _aligned(b, batched[1], 0 if ranks[1] > 1 else 2, stacked)
    found = matmul(left, right)
    shape = found.type.shape
    if ranks[1] == 1:
        shape = shape[:-1]
    if ranks[0] == 1:
        shape = (*shape[: stacked - 1], *shape[stacked:])
    return reshape(found, shape=shape)


def _aligned(x: Any, batched: bool, vector_as: int, rank: int) -> Any:
    """x as stacked matrices, of `rank` behind its batch axis; vector_as 1 is a row, 2 a column."""
    lead, rest = (x.type.shape[:1], x.type.shape[1:]) if batched else ((), x.type.shape)
    if vector_as:
        rest = (1, *rest) if vector_as == 1 else (*rest, 1)
    if batched:
        rest = (1,) * (rank - len(rest)) + rest
    return reshape(x, shape=(*lead, *rest))


BY_DOT = frozenset({FLOAT32, FLOAT64})
"""The dtypes of which `dot` and `matmul` call the same functions of BLAS."""


def matmul_into(a: Array, b: Array, out: Array | None) -> Array:
    """a @ b, in `out` if it is given, which is contiguous.

    Two matrices go to BLAS by `dot`, which costs half a microsecond less than `matmul` does.  A
    stack of matrices times one matrix is the product of one tall matrix: that is what BLAS is
    fastest at, up to four times as fast where b is a transpose.

    The bits follow from the elements, whichever values share memory: NumPy would compute half of
    a product of a matrix with its own transpose, in another order than that with the transpose of
    an equal one.
    """
    a, b = _in_lines(a), _in_lines(b)
    if np.may_share_memory(a, b):
        b = b.copy(order="K")
    if b.ndim == 2 == a.ndim and a.dtype in BY_DOT:
        product: Array = np.dot(a, b) if out is None else np.dot(a, b, out)
        return product
    if not b.ndim == 2 < a.ndim:
        found: Array = np.matmul(a, b) if out is None else np.matmul(a, b, out)
        return found
    shape = (*a.shape[:-1], b.shape[1])
    if out is None:
        out = np.empty(shape, np.result_type(a, b))
    rows = math.prod(a.shape[:-1])
    tall = np.asarray(a, order="C").reshape(rows, a.shape[-1])
    np.matmul(tall, b, out.reshape(rows, b.shape[1]))
    return out


def _in_lines(x: Array) -> Array:
    """x, or a copy of it if neither the rows nor the columns of its matrices lie in one piece: of
    these `matmul` makes no copies, but takes slow loops that add in another order."""
    size, strides, shape = x.itemsize, x.strides, x.shape
    if x.ndim < 2:
        return x if strides == (size,) else x.copy()
    if strides[-1] == size and strides[-2] >= shape[-1] * size:
        return x
    if strides[-2] == size and strides[-1] >= shape[-2] * size:
        return x
    return x.copy()


@op(
    numpy=lambda a, b: matmul_into(a, b, None),
    grad=each(_grad_left, _grad_right),
    jvp="multilinear",
    batch=_batch_matmul,
    widen=True,
)
def matmul(a: Operand, b: Operand) -> TensorType:
    """The matrix product, as the array API means it.

    Stacks of matrices broadcast over their leading axes; a 1-d operand is a row on the left,
    a column on the right, and its axis of size 1 is dropped from the result.
    """
    dtype = same_dtype((a, b))
    check_kind(NUMERIC, a, b)
    if not (a.shape and b.shape):
        raise ShapeError(
            "a 0-d operand",
            expected="operands of rank 1 or more; multiply is for scalars",
            found=f"{shape_text(a.shape)} @ {shape_text(b.shape)}",
        )
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if dims.same_size(a.shape[-1], inner) is False:
        raise ShapeError(
            "the contracted axes differ in size",
            expected=f"size {a.shape[-1]}, the last axis of a",
            found=f"size {inner} in {shape_text(a.shape)} @ {shape_text(b.shape)}",
            hint=_transposed_hint(a.shape, b.shape),
        )
    stack = broadcast_shapes((a.shape[:-2], b.shape[:-2]))
    rows = a.shape[-2:-1] if a.ndim > 1 else ()
    columns = b.shape[-1:] if b.ndim > 1 else ()
    return TensorType(dtype, stack + rows + columns)


def _transposed_hint(a: Shape, b: Shape) -> str | None:
    if len(b) > 1 and dims.same_size(a[-1], b[-1]):
        return "b looks transposed"
    inner = b[-2] if len(b) > 1 else b[0]
    if len(a) > 1 and dims.same_size(a[-2], inner):
        return "a looks transposed"
    if len(a) > 1 and len(b) > 1 and dims.same_size(a[-2], b[-1]):
        return "a and b look transposed, or swapped"
    return None


# ------------------------------------------------------------------ matmul_transposed

# Of few rows BLAS spends its time with bringing a transposed matrix into its own order, which it
# need not where that is the left one: up to twice the time of the product.
_FEW_ROWS, _VERY_FEW_ROWS = 64, 32
_LARGE_MATRIX, _LARGE_PRODUCT = 1 << 18, 400_000


def turns(rows: int, size: int) -> bool:
    """Whether the product of so many rows with the transpose of a matrix of so many elements is
    computed as the transpose of another one."""
    few = rows <= _VERY_FEW_ROWS or (rows <= _FEW_ROWS and size >= _LARGE_MATRIX)
    return few and rows > 1 and rows * size >= _LARGE_PRODUCT


def transposed_into(a: Array, b: Array, out: Array | None) -> Array:
    """a @ transpose(b), in `out` if it is given, which is contiguous.

    The sizes alone decide how: of few rows it is the transpose of b @ transpose(a).
    """
    columns, inner = b.shape
    rows = math.prod(a.shape[:-1])
    if out is None:
        out = np.empty((*a.shape[:-1], columns), np.result_type(a, b))
    tall = a if a.ndim == 2 else np.asarray(a, order="C").reshape(rows, inner)
    target = out if a.ndim == 2 else out.reshape(rows, columns)
    if turns(rows, b.size):
        np.copyto(target, matmul_into(b, tall.T, None).T)
    else:
        matmul_into(tall, b.T, target)
    return out


@op(
    numpy=lambda a, b: transposed_into(a, b, None),
    grad="expand",
    batch=lambda a, b, batched: _batch_matmul(a, swapped(b), batched),
    expand=lambda a, b: matmul(a, swapped(b)),
    widen=True,
)
def matmul_transposed(a: Operand, b: Operand) -> TensorType:
    """a @ transpose(b) for a matrix b: products of rows with rows; a has any leading axes."""
    check_kind(NUMERIC, a, b)
    same_dtype((a, b))
    if b.ndim != 2 or a.ndim < 2:
        raise ShapeError(
            "not products of matrices",
            expected="b of rank 2, a of rank 2 or more",
            found=f"{a}, {b}",
        )
    agree(a.shape[-1], b.shape[-1], "the contracted axes")
    return a.with_shape((*a.shape[:-1], b.shape[0]))


# ------------------------------------------------------------------ matmul_no_nan


def multiplied(a: Array, b: Array, *, value: bool) -> Array:
    """a @ b, in which (value) a 0 of a adds nothing, whatever it meets in b."""
    finite = np.isfinite(b)
    if not value or finite.all():
        return matmul_into(a, b, None)
    # What is not finite is added row by row of b: few are expected.
    rows = np.flatnonzero(~finite.all(axis=(*range(b.ndim - 2), b.ndim - 1)))
    others, rest = a, np.where(finite, b, b.dtype.type(0))
    apart = np.where(finite, b.dtype.type(0), b)
    if not np.isfinite(a[..., rows]).all():
        # What is not finite on both sides is no product with the zeros in its place.
        others, rest, apart = np.array(a), np.array(b), b
        others[..., rows], rest[..., rows, :] = 0, 0
    result = matmul_into(others, rest, None)
    for k in rows:
        left, right = a[..., k : k + 1], apart[..., k : k + 1, :]
        result = result + np.where(left == 0, left.dtype.type(0), left * right)
    return np.asarray(result)


def _no_nan_left(a: Any, b: Any, out: Any, g: Any) -> Any:
    return matmul_no_nan(g, swapped(conjugated(b)), value=True)


def _no_nan_right(a: Any, b: Any, out: Any, g: Any) -> Any:
    return swapped(matmul_no_nan(swapped(g), conjugated(a), value=True))


def _batch_no_nan(a: Any, b: Any, batched: Sequence[bool], *, value: bool) -> Any:
    return matmul_no_nan(*aligned((a, b), batched), value=value)


@op(
    numpy=multiplied,
    grad=each(_no_nan_left, _no_nan_right),
    jvp="multilinear",
    batch=_batch_no_nan,
    widen=True,
)
def matmul_no_nan(a: Operand, b: Operand, *, value: bool) -> TensorType:
    """The product of (stacks of) matrices, through which a cotangent of 0 stays 0.

    value: a 0 of a adds nothing to the product itself either, even times NaN.
    """
    check_kind(INEXACT, a, b)
    same_dtype((a, b))
    if min(a.ndim, b.ndim) < 2:
        raise ShapeError(
            "an operand has no two axes", expected="a and b of rank 2 or more", found=f"{a}, {b}"
        )
    agree(a.shape[-1], b.shape[-2], "the contracted axes")
    return a.with_shape((*broadcast_shapes((a.shape[:-2], b.shape[:-2])), a.shape[-2], b.shape[-1]))
