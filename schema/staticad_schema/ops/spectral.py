"""Eigenvalues and eigenvectors.

Vectors are found up to a factor: a sign, or of complex ones a phase, which is LAPACK's.  What is
computed from them must not depend on it; their derivatives are those of vectors that do not turn
their phase.  The derivative of a vector has a term for each other value, over the difference of
the two.  There is none for values that are equal, or as near as rounding: the limit is taken as 0.
So no derivative is NaN, and those of functions that do not tell equal values apart are right; of
symmetric matrices to any order, since the quotients are solutions of equations (`commutators`).

Half floats have too few digits for differences of values: callers compute in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..op import OPS, Operand, op
from ..types import COMPLEX_OF, REAL_OF, Array, TensorType
from .commutators import commutator_inverse, with_values
from .matrices import (
    adjoint,
    check_square,
    diagonal_of,
    factorized,
    hermitian,
    hermitian_part,
    on_diagonal,
)
from .norm import norm
from .pointwise import conjugated, select
from .reduce import sum_
from .shape import reshape
from .solving import solve

# ------------------------------------------------------------------ shared with singular values


def as_row(w: Any) -> Any:
    """Vectors as matrices of one row: a factor for each column of a matrix."""
    shape = w.type.shape
    return reshape(w, shape=(*shape[:-1], 1, shape[-1]))


def as_column(w: Any) -> Any:
    """Vectors as matrices of one column."""
    return reshape(w, shape=(*w.type.shape, 1))


def scaled_columns(v: Any, d: Any) -> Any:
    """v with each column times a number of d."""
    return v * as_row(d).astype(v.type.dtype)


def with_diagonal(x: Any, d: Any) -> Any:
    """Square matrices with the vectors d in place of their diagonals."""
    return OPS["where"](on_diagonal(x), as_row(d).astype(x.type.dtype), x)


def real_diagonal(x: Any) -> Any:
    """The real parts of the diagonals of square matrices."""
    found = diagonal_of(x)
    return OPS["real"](found) if found.type.kind == "complex" else found


def inverse_where(chosen: Any, x: Any) -> Any:
    """1 / x where chosen, else 0, with all its derivatives."""
    return select(chosen, 1 / select(chosen, x, 1.0))


def inverse_gaps(w: Any) -> Any:
    """1 / (w[j] - w[i]) as element i, j; 0 where the two are equal to rounding.

    LAPACK tells n equal values apart by up to about 2 eps sqrt(n) of the largest ones.
    """
    real = REAL_OF.get(w.type.dtype, w.type.dtype)
    gaps = as_row(w) - as_column(w)
    size = norm(w, axis=(w.type.ndim - 1,), keepdims=True)
    border = as_column(size) * float(8 * np.finfo(real).eps)
    return inverse_where(OPS["greater"](abs(gaps), border), gaps)


# ------------------------------------------------------------------ of symmetric matrices


def _values(a: Any, w: Any, v: Any) -> Any:
    """The diagonal matrix of eigenvalues, as a function of a."""
    return with_values(adjoint(v) @ hermitian(a) @ v, w)


def _eigh(a: Array) -> tuple[Array, Array]:
    w, v = factorized(np.linalg.eigh, hermitian_part(a), "the search for eigenvalues")
    return w, v


def _grad_eigh(a: Any, out: Sequence[Any], g: Sequence[Any]) -> tuple[Any]:
    w, v = out
    gw, gv = g
    if gv is None:
        return (hermitian(scaled_columns(v, gw) @ adjoint(v)),)
    turned = adjoint(v) @ gv
    inner = commutator_inverse(_values(a, w, v), (turned - adjoint(turned)) * 0.5)
    if gw is not None:
        inner = with_diagonal(inner, gw)
    return (hermitian(v @ inner @ adjoint(v)),)


def _jvp_eigh(a: Any, out: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    w, v = out
    inner = adjoint(v) @ hermitian(tangents[0]) @ v
    return real_diagonal(inner), v @ commutator_inverse(_values(a, w, v), inner)


def _batch_eigh(a: Any, batched: Sequence[bool]) -> Any:
    return eigh(a)


@op(
    numpy=_eigh,
    grad=_grad_eigh,
    jvp=_jvp_eigh,
    batch=_batch_eigh,
)
def eigh(a: Operand) -> tuple[TensorType, TensorType]:
    """The eigenvalues of symmetric (Hermitian) matrices, ascending, and eigenvectors as columns.

    Of other matrices, those of (a + adjoint(a)) / 2.
    """
    size = check_square(a)
    values = TensorType(REAL_OF.get(a.dtype, a.dtype), (*a.shape[:-2], size))
    return values, a.with_shape((*a.shape[:-2], size, size))


def _eigvalsh(a: Array) -> Array:
    def values(x: Array) -> tuple[Array]:
        return (np.linalg.eigvalsh(x),)

    return factorized(values, hermitian_part(a), "the search for eigenvalues")[0]


def _grad_eigvalsh(a: Any, out: Any, g: Any) -> tuple[Any]:
    return _grad_eigh(a, eigh(a), (g, None))


def _jvp_eigvalsh(a: Any, out: Any, tangents: Sequence[Any]) -> Any:
    _, v = eigh(a)
    along = conjugated(v) * (hermitian(tangents[0]) @ v)
    along = OPS["real"](along) if along.type.kind == "complex" else along
    return sum_(along, axis=(along.type.ndim - 2,), keepdims=False)


def _batch_eigvalsh(a: Any, batched: Sequence[bool]) -> Any:
    return eigvalsh(a)


@op(
    numpy=_eigvalsh,
    grad=_grad_eigvalsh,
    jvp=_jvp_eigvalsh,
    batch=_batch_eigvalsh,
)
def eigvalsh(a: Operand) -> TensorType:
    """The eigenvalues of symmetric (Hermitian) matrices, ascending, without the vectors."""
    return TensorType(REAL_OF.get(a.dtype, a.dtype), (*a.shape[:-2], check_square(a)))


# ------------------------------------------------------------------ of any square matrix


def _eig(a: Array) -> tuple[Array, Array]:
    w, v = factorized(np.linalg.eig, a, "the search for eigenvalues")
    return w, v


def _between(x: Any, w: Any, of_adjoint: bool) -> Any:
    """x[i, j] / (w[j] - w[i]), or over the conjugate, of complex values."""
    inverse = inverse_gaps(w)
    return x * (conjugated(inverse) if of_adjoint else inverse)


def _across(v: Any, change: Any) -> Any:
    """The part of a change of unit columns that is orthogonal to each of them."""
    return change - scaled_columns(v, diagonal_of(adjoint(v) @ change))


def _grad_eig(a: Any, out: Sequence[Any], g: Sequence[Any]) -> tuple[Any]:
    w, v = out
    gw, gv = g
    back = adjoint(v)
    if gv is None:
        inner = as_column(gw) * back
    else:
        mixed = _between(back @ _across(v, gv), w, True)
        inner = (mixed if gw is None else with_diagonal(mixed, gw)) @ back
    found = solve(v, inner, adjoint=True, strict=False)
    return (found if a.type.kind == "complex" else OPS["real"](found),)


def _jvp_eig(a: Any, out: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    w, v = out
    inner = solve(v, tangents[0].astype(v.type.dtype) @ v, adjoint=False, strict=False)
    return diagonal_of(inner), _across(v, v @ _between(inner, w, False))


def _batch_eig(a: Any, batched: Sequence[bool]) -> Any:
    return eig(a)


@op(
    numpy=_eig,
    grad=_grad_eig,
    jvp=_jvp_eig,
    batch=_batch_eig,
)
def eig(a: Operand) -> tuple[TensorType, TensorType]:
    """The eigenvalues of square matrices and eigenvectors as columns of length 1, all complex.

    In LAPACK's order.  Without as many independent vectors as columns there are no derivatives.
    """
    size = check_square(a)
    dtype = COMPLEX_OF.get(a.dtype, a.dtype)
    lead = a.shape[:-2]
    return TensorType(dtype, (*lead, size)), TensorType(dtype, (*lead, size, size))
