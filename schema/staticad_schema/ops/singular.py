"""Singular values and vectors, and what they serve for: inverses of matrices of any shape.

Pairs of vectors are found up to a factor: a sign, or of complex ones a phase, which is LAPACK's;
columns of a null space up to a rotation.  What is computed from them must not depend on it.  As
of eigenvectors (see `spectral`), terms over the difference of equal values have a limit that is
taken as 0, and so has a term over a value that is 0.  Quotients are by s[j] - s[i] and s[j] + s[i]
themselves: their product, a difference of squares, would leave the range of the dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .. import dims
from ..dims import Size
from ..errors import DTypeError
from ..op import Operand, each, op
from ..types import REAL_OF, Array, TensorType
from .checks import check_broadcast
from .commutators import commutator_inverse, lyapunov, with_values
from .matrices import (
    adjoint,
    adjoint_of,
    check_matrix,
    columns,
    factorized,
    identity_like,
    on_diagonal,
)
from .pointwise import select, total
from .shape import aligned, broadcast_to
from .slicing import concat
from .spectral import (
    as_row,
    real_diagonal,
    scaled_columns,
)

_SEARCH = "the search for singular values"

# ------------------------------------------------------------------ for rules


def completed_cotangent(q: Any, g: Any, size: Size) -> Any:
    """The cotangent of the first `size` columns of unitary matrices, from that of all.

    The others span what the first do not; they turn no more than they must:
    d others = - first adjoint(d first) others.
    """
    first, others = columns(q, None, size), columns(q, size, None)
    back = adjoint(columns(g, size, None)) @ first
    return columns(g, None, size) - others @ back


def completed_tangent(q: Any, first: Any, size: Size) -> Any:
    """The tangent of unitary matrices, from that of their first `size` columns."""
    others = columns(q, size, None)
    back = adjoint(first) @ others
    return concat(first, -(columns(q, None, size) @ back), axis=q.type.ndim - 1)


class _Parts:
    """u, v and the matrix of s, with as many columns as there are values."""

    def __init__(self, a: Any, out: Sequence[Any]) -> None:
        self.rows, self.columns = a.type.shape[-2:]
        self.size = dims.minimum(self.rows, self.columns)
        self.whole = (out[0], adjoint(out[2]))
        self.u, self.v = map(self._first, self.whole)
        self.a, self.s = a, out[1]

    @cached_property
    def values(self) -> Any:
        """The diagonal matrix of s, as a function of a."""
        return with_values(adjoint(self.u) @ self.a @ self.v, self.s)

    def _first(self, x: Any) -> Any:
        return x if x.type.shape[-1] == self.size else columns(x, None, self.size)

    def cotangents(self, gu: Any, gvh: Any) -> tuple[Any, Any]:
        """Those of u and v, from those of what may be wider."""
        found = []
        for whole, g in zip(self.whole, (gu, None if gvh is None else adjoint(gvh)), strict=True):
            wider = g is not None and whole.type.shape[-1] != self.size
            found.append(completed_cotangent(whole, g, self.size) if wider else g)
        return found[0], found[1]

    def over_values(self, x: Any) -> Any:
        """x[i, j] / s[j]; 0 over 0."""
        twice = broadcast_to(2.0 * identity_like(self.values), shape=self.values.type.shape)
        return x @ lyapunov(self.values, twice)

    def halves(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Half of x[i, j] / (s[j] - s[i]), and half of y[i, j] / (s[j] + s[i])."""
        return commutator_inverse(self.values, x) * 0.5, lyapunov(self.values, y) * 0.5


def _outside(q: Any, x: Any) -> Any:
    """The part of the columns of x that the orthonormal columns of q do not span."""
    return x - q @ (adjoint(q) @ x)


# ------------------------------------------------------------------ definitions


def _svd(a: Array, *, full: bool) -> tuple[Array, ...]:
    def compute(x: Array) -> Sequence[Array]:
        return np.linalg.svd(x, full_matrices=full)

    return factorized(compute, a, _SEARCH)


def _grad_svd(a: Any, out: Sequence[Any], g: Sequence[Any]) -> tuple[Any]:
    parts = _Parts(a, out)
    u, v = parts.u, parts.v
    gs = g[1]
    gu, gv = parts.cotangents(g[0], g[2])
    if gu is None and gv is None:
        return (scaled_columns(u, gs) @ adjoint(v),)
    turned = [None if x is None else adjoint(y) @ x for x, y in ((gu, u), (gv, v))]
    left, right = (None if x is None else x - adjoint(x) for x in turned)
    both = total([left, right])
    apart = left if right is None else -right if left is None else left - right
    inner = total(parts.halves(both, apart))
    if gs is not None:
        inner = inner + select(on_diagonal(inner), as_row(gs).astype(inner.type.dtype))
    terms = [u @ inner @ adjoint(v)]
    if gu is not None and parts.rows != parts.size:
        terms.append(parts.over_values(_outside(u, gu)) @ adjoint(v))
    if gv is not None and parts.columns != parts.size:
        terms.append(u @ adjoint(parts.over_values(_outside(v, gv))))
    return (total(terms),)


def _jvp_svd(a: Any, out: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any, Any]:
    t = tangents[0]
    parts = _Parts(a, out)
    u, v = parts.u, parts.v
    inner = adjoint(u) @ t @ v
    over_gaps, over_sums = parts.halves(inner + adjoint(inner), inner - adjoint(inner))
    du, dv = u @ (over_gaps + over_sums), v @ (over_gaps - over_sums)
    if parts.rows != parts.size:
        du = du + parts.over_values(_outside(u, t @ v))
    if parts.columns != parts.size:
        dv = dv + parts.over_values(_outside(v, adjoint(t) @ u))
    turned = [
        completed_tangent(whole, x, parts.size) if whole.type.shape[-1] != parts.size else x
        for whole, x in zip(parts.whole, (du, dv), strict=True)
    ]
    return turned[0], real_diagonal(inner), adjoint(turned[1])


def _batch_svd(a: Any, batched: Sequence[bool], *, full: bool) -> Any:
    return svd(a, full=full)


@op(
    numpy=_svd,
    grad=_grad_svd,
    jvp=_jvp_svd,
    batch=_batch_svd,
)
def svd(a: Operand, *, full: bool) -> tuple[TensorType, TensorType, TensorType]:
    """u, s and vh in a = u diag(s) vh: orthonormal columns, values in descending order,
    orthonormal rows.

    full: u and vh are square, with columns and rows that a null space leaves free.
    """
    check_matrix(a)
    *lead, m, n = a.shape
    size = dims.minimum(m, n)
    values = TensorType(REAL_OF.get(a.dtype, a.dtype), (*lead, size))
    left = a.with_shape((*lead, m, m if full else size))
    return left, values, a.with_shape((*lead, n if full else size, n))


def _svdvals(a: Array) -> Array:
    def values(x: Array) -> tuple[Array]:
        return (np.linalg.svd(x, compute_uv=False),)

    return factorized(values, a, _SEARCH)[0]


def _grad_svdvals(a: Any, out: Any, g: Any) -> tuple[Any]:
    return _grad_svd(a, svd(a, full=False), (None, g, None))


def _jvp_svdvals(a: Any, out: Any, tangents: Sequence[Any]) -> Any:
    u, _, vh = svd(a, full=False)
    return real_diagonal(adjoint(u) @ tangents[0] @ adjoint(vh))


def _batch_svdvals(a: Any, batched: Sequence[bool]) -> Any:
    return svdvals(a)


@op(
    numpy=_svdvals,
    grad=_grad_svdvals,
    jvp=_jvp_svdvals,
    batch=_batch_svdvals,
)
def svdvals(a: Operand) -> TensorType:
    """The singular values of matrices in descending order, without the vectors."""
    check_matrix(a)
    *lead, m, n = a.shape
    return TensorType(REAL_OF.get(a.dtype, a.dtype), (*lead, dims.minimum(m, n)))


# ------------------------------------------------------------------ inverses


def _pinv(a: Array, rtol: Array) -> Array:
    u, s, vh = _svd(a, full=False)
    border = rtol[..., 0] * np.max(s, -1, keepdims=True, initial=0)
    # What is neither above nor below is NaN, and is to stay so.
    kept = np.where(s <= border, np.inf, s)
    found: Array = (adjoint_of(vh) * (1 / kept)[..., None, :]) @ adjoint_of(u)
    return found


def _grad_pinv(a: Any, rtol: Any, out: Any, g: Any) -> Any:
    # Golub and Pereyra (1973), "The differentiation of pseudo-inverses", theorem 4.3.
    back, h = adjoint(out), adjoint(g)
    beyond_columns = (h - a @ (out @ h)) @ (out @ back)
    beyond_rows = (back @ out) @ (h - (h @ out) @ a)
    return beyond_columns + beyond_rows - back @ g @ back


def _jvp_pinv(a: Any, rtol: Any, out: Any, tangents: Sequence[Any]) -> Any:
    t = tangents[0]
    back, h = adjoint(out), adjoint(t)
    beyond_columns = (out @ back) @ (h - (h @ a) @ out)
    beyond_rows = (h - out @ (a @ h)) @ (back @ out)
    return beyond_columns + beyond_rows - out @ t @ out


def _batch_pinv(a: Any, rtol: Any, batched: Sequence[bool]) -> Any:
    a, rtol = aligned((a, rtol), batched)
    if not batched[0]:
        lead = rtol.type.shape[:1]
        a = broadcast_to(a, shape=(*lead, *a.type.shape))
    return pinv(a, rtol)


@op(
    numpy=_pinv,
    grad=each(_grad_pinv, None),
    jvp=_jvp_pinv,
    batch=_batch_pinv,
)
def pinv(a: Operand, rtol: Operand) -> TensorType:
    """The Moore-Penrose inverses of matrices, of rank as many as there are singular values above
    rtol times the largest one.

    rtol: a real number for each matrix, of shape (..., 1, 1), broadcast to the stack.  Derivatives
    are those of matrices that keep their rank.
    """
    check_matrix(a)
    check_broadcast(rtol.shape, (*a.shape[:-2], 1, 1))
    if rtol.dtype != REAL_OF.get(a.dtype, a.dtype):
        raise DTypeError(
            "a tolerance of another dtype",
            expected=REAL_OF.get(a.dtype, a.dtype).name,
            found=str(rtol),
        )
    *lead, m, n = a.shape
    return a.with_shape((*lead, n, m))
