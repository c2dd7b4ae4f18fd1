"""Orthonormal columns that span those of a matrix.

The signs of the columns are LAPACK's, and the diagonal of the triangle is real.  Derivatives exist
where the first columns of the matrix, as many as there are rows, are independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dims
from ..op import OPS, Operand, op
from ..types import Array, TensorType
from .matrices import (
    adjoint,
    check_matrix,
    columns,
    factorized,
    identity_like,
    lower_part,
    on_diagonal,
    padded,
    rows,
    upper_part,
)
from .pointwise import select, total
from .singular import completed_cotangent, completed_tangent
from .slicing import concat
from .triangular import over_upper, unused


def _qr(a: Array, *, complete: bool) -> tuple[Array, ...]:
    mode: Any = "complete" if complete else "reduced"
    return factorized(lambda x: np.linalg.qr(x, mode), a, "the factorisation")


def _real_diagonal(x: Any) -> Any:
    """Square matrices with real diagonals, and nothing beside them."""
    real = OPS["real"](x).astype(x.type.dtype) if x.type.kind == "complex" else x
    return select(on_diagonal(x), real)


class _Parts:
    """The factors of m by n matrices, cut at k = min(m, n): q and r of the first k columns."""

    def __init__(self, a: Any, out: Sequence[Any]) -> None:
        self.a, (self.whole, whole_r) = a, out
        m, n = a.type.shape[-2:]
        self.size = dims.minimum(m, n)
        self.completed = self.whole.type.shape[-1] != self.size
        self.wide = n != self.size
        self.q = columns(self.whole, None, self.size) if self.completed else self.whole
        top = rows(whole_r, None, self.size) if self.completed else whole_r
        self.r = self.first(top)
        self.below = whole_r.type.shape[-2] - self.size

    def without(self, unused: Any) -> None:
        """Put an identity in place of the triangles that are not used."""
        self.r = OPS["where"](unused, identity_like(self.r), self.r)

    def first(self, x: Any) -> Any:
        """The columns of a matrix like a that the triangle belongs to."""
        return columns(x, None, self.size) if self.wide else x

    def rest(self, x: Any) -> Any:
        """The other columns."""
        return columns(x, self.size, None)


def _grad_qr(a: Any, out: Sequence[Any], g: Sequence[Any]) -> tuple[Any]:
    # With C = adjoint(q) da inverse(r), of the first columns: d r = T r of T, the upper part of
    # C + adjoint(C) with half its diagonal, and d q = da inverse(r) - q T.  The other columns of r
    # are adjoint(q) times those of a.
    parts = _Parts(a, out)
    skipped = unused(parts.r, g)
    parts.without(skipped)
    q, (gq, gr) = parts.q, g
    if gq is not None and parts.completed:
        gq = completed_cotangent(parts.whole, gq, parts.size)
    rest = None
    if gr is not None:
        gr = rows(gr, None, parts.size) if parts.completed else gr
        if parts.wide:
            others = parts.rest(gr)
            rest = q @ others
            gq = total([gq, parts.rest(a) @ adjoint(others)])
        gr = parts.first(gr)
    inner = total(
        [
            None if gr is None else gr @ adjoint(parts.r),
            None if gq is None else -(adjoint(q) @ gq),
        ]
    )
    above = upper_part(inner, 1)
    mixed = total([gq, q @ (above + adjoint(above) + _real_diagonal(inner))])
    found = select(~skipped, over_upper(mixed, parts.r, True))
    if not parts.wide:
        return (found,)
    if rest is None:
        return (padded(found, right=parts.a.type.shape[-1] - parts.size),)
    return (concat(found, rest, axis=found.type.ndim - 1),)


def _jvp_qr(a: Any, out: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    parts = _Parts(a, out)
    q, r = parts.q, parts.r
    change = over_upper(parts.first(tangents[0]), r, False)
    inner = adjoint(q) @ change
    above = upper_part(inner, 1) + adjoint(lower_part(inner, -1)) + _real_diagonal(inner)
    dq, dr = change - q @ above, above @ r
    if parts.wide:
        others = adjoint(dq) @ parts.rest(a) + adjoint(q) @ parts.rest(tangents[0])
        dr = concat(dr, others, axis=dr.type.ndim - 1)
    if parts.completed:
        dq, dr = completed_tangent(parts.whole, dq, parts.size), padded(dr, below=parts.below)
    return dq, dr


def _batch_qr(a: Any, batched: Sequence[bool], *, complete: bool) -> Any:
    return qr(a, complete=complete)


@op(
    numpy=_qr,
    grad=_grad_qr,
    jvp=_jvp_qr,
    batch=_batch_qr,
)
def qr(a: Operand, *, complete: bool) -> tuple[TensorType, TensorType]:
    """q with orthonormal columns and r, an upper triangle, in a = q r.

    complete: q is square.  Derivatives of the columns that this adds are those of columns that
    turn no more than they must.
    """
    check_matrix(a)
    *lead, m, n = a.shape
    size = m if complete else dims.minimum(m, n)
    return a.with_shape((*lead, m, size)), a.with_shape((*lead, size, n))
