"""Triangular factors of stacks of matrices, and systems with them: numerical code without types.

LAPACK and BLAS take one matrix at a time.  Where there are many small ones, elimination runs on
all of them at once instead; which it is follows from the shape alone.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..types import Array
from .matrices import adjoint_of

# Up to these sizes of matrices a large stack is faster taken at once.
_ELIMINATION, _SUBSTITUTION = 10, 32

_LETTER = {"f4": "s", "f8": "d", "c8": "c", "c16": "z"}


def _routine(module: Any, name: str, dtype: np.dtype[Any]) -> Any:
    return getattr(module, _LETTER[f"{dtype.kind}{dtype.itemsize}"] + name)


# ------------------------------------------------------------------ P A = L U


class Factors(NamedTuple):
    """a[permutation] = lower @ upper, of each matrix of a stack.  parity: 1 or -1, of the
    permutation."""

    lower: Array
    upper: Array
    permutation: Array
    parity: Array


def factors(a: Array) -> Factors:
    """Gaussian elimination with partial pivoting; a pivot of 0 is left where there is no other."""
    *stack, rows, columns = a.shape
    inner = min(rows, columns)
    flat = a.reshape(math.prod(stack), rows, columns)
    if inner <= _ELIMINATION and len(flat) >= 8 * inner:
        packed, permutation, parity = _eliminated(flat)
    else:
        packed, permutation, parity = _by_lapack(flat)
    lower = np.tril(packed[..., :inner], -1)
    diagonal = np.arange(inner)
    lower[..., diagonal, diagonal] = 1
    upper = np.triu(packed[..., :inner, :])
    return Factors(
        lower.reshape(*stack, rows, inner),
        upper.reshape(*stack, inner, columns),
        permutation.reshape(*stack, rows),
        parity.reshape(tuple(stack)),
    )


def _by_lapack(flat: Array) -> tuple[Array, Array, Array]:
    from scipy.linalg import lapack

    getrf = _routine(lapack, "getrf", flat.dtype)
    count, rows, _ = flat.shape
    packed = np.empty_like(flat, order="C")
    permutation = np.empty((count, rows), np.int64)
    parity = np.empty(count, np.int64)
    for k, matrix in enumerate(flat):
        order = list(range(rows))
        swaps = 0
        if matrix.size:
            packed[k], pivots, _ = getrf(matrix)
            for i, pivot in enumerate(pivots.tolist()):
                if i != pivot:
                    order[i], order[pivot] = order[pivot], order[i]
                    swaps += 1
        permutation[k] = order
        parity[k] = 1 - 2 * (swaps % 2)
    return packed, permutation, parity


def _eliminated(flat: Array) -> tuple[Array, Array, Array]:
    """The same, column by column of all matrices at once."""
    count, rows, columns = flat.shape
    packed = flat.copy()
    each = np.arange(count)
    permutation = np.tile(np.arange(rows), (count, 1))
    parity = np.ones(count, np.int64)
    for j in range(min(rows, columns)):
        pivot = j + np.argmax(_size(packed[:, j:, j]), 1)
        for array in (packed, permutation):
            array[each, pivot], array[:, j] = array[:, j].copy(), array[each, pivot]
        parity = np.where(pivot == j, parity, -parity)
        top = packed[:, j, j, None]
        packed[:, j + 1 :, j] /= np.where(top == 0, top.dtype.type(1), top)
        packed[:, j + 1 :, j + 1 :] -= packed[:, j + 1 :, j, None] * packed[:, j, None, j + 1 :]
    return packed, permutation, parity


def _size(x: Array) -> Array:
    """What LAPACK compares pivots by."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


# ------------------------------------------------------------------ triangular systems


def substituted(a: Array, b: Array, lower: bool, adjoint: bool, unit_diagonal: bool) -> Array:
    """x with a x = b, or adjoint(a) x = b, of triangular a; the stacks broadcast.

    Only that triangle of a is read.  Where a has a 0 on the diagonal, x is what division gives,
    but 0 / 0 is 0.
    """
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    size, columns = b.shape[-2:]
    count = math.prod(lead)
    if not count or not size or not columns:
        return np.zeros((*lead, size, columns), b.dtype)
    if a.ndim > 2 and math.prod(a.shape[:-2]) == 1:
        a = a.reshape(size, size)
    if a.ndim == 2 and count > 1:
        # One system of many right-hand sides.
        wide = np.moveaxis(np.broadcast_to(b, (*lead, size, columns)), -2, 0)
        found = substituted(a, wide.reshape(size, -1), lower, adjoint, unit_diagonal)
        return np.moveaxis(found.reshape(size, *lead, columns), 0, -2)
    flat = np.broadcast_to(a, (*lead, size, size)).reshape(count, size, size)
    out = np.array(np.broadcast_to(b, (*lead, size, columns)), order="C")
    x = out.reshape(count, size, columns)
    if size <= _SUBSTITUTION and count >= 4 * size:
        _substitute(flat, x, lower, adjoint, unit_diagonal)
        return out
    broken = np.zeros(count, bool)
    if not unit_diagonal:
        broken = np.any(np.diagonal(flat, 0, 1, 2) == 0, axis=1)
    from scipy.linalg import blas

    trsm = _routine(blas, "trsm", out.dtype)
    conjugate = 0 if not adjoint else 2
    for k in np.flatnonzero(~broken):
        # Of the transposes, which are what BLAS takes rows for.
        matrix = np.asarray(flat[k], order="C").T
        trsm(1.0, matrix, x[k].T, 1, not lower, conjugate, unit_diagonal, overwrite_b=1)
    if broken.any():
        some = x[broken]
        _substitute(flat[broken], some, lower, adjoint, unit_diagonal)
        x[broken] = some
    return out


def _substitute(a: Array, x: Array, lower: bool, adjoint: bool, unit_diagonal: bool) -> None:
    """The same in place of x, row by row of all systems at once."""
    if adjoint:
        a, lower = adjoint_of(a), not lower
    size = a.shape[-1]
    for i in range(size) if lower else reversed(range(size)):
        known = slice(0, i) if lower else slice(i + 1, size)
        row = x[:, i, :]
        row -= np.matmul(a[:, i, None, known], x[:, known, :])[:, 0, :]
        if not unit_diagonal:
            pivot = a[:, i, i, None]
            np.divide(row, pivot, out=row, where=(row != 0) | (pivot != 0))


def first_zero(a: Array) -> tuple[int, int] | None:
    """Which matrix of a stack has a 0 on its diagonal first, and in which row; None if none."""
    diagonal = np.diagonal(a, 0, -2, -1)
    zeros = np.flatnonzero(diagonal == 0)
    if not len(zeros):
        return None
    index, row = divmod(int(zeros[0]), diagonal.shape[-1])
    return index, row
