"""The factors of Gaussian elimination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dims
from ..op import OPS, Operand, op
from ..types import INT64, TensorType
from .lapack import factors
from .matrices import (
    adjoint,
    check_matrix,
    columns,
    identity_like,
    lower_part,
    padded,
    rows,
    upper_part,
)
from .pointwise import select, total
from .shape import reshape
from .sort import sort
from .take import take_along_axis
from .triangular import over_upper, solve_triangular, unused


def rows_in_order(x: Any, permutation: Any, back: bool = False) -> Any:
    """x[permutation], or x with its rows back where the permutation took them from."""
    if back:
        permutation = sort(permutation, axis=permutation.type.ndim - 1, descending=False)[1]
    indices = reshape(permutation, shape=(*permutation.type.shape, 1))
    missing = x.type.ndim - indices.type.ndim
    if missing:
        # Of operands of which one has more leading axes.
        high, low = (x, indices) if missing > 0 else (indices, x)
        low = reshape(low, shape=(*(1,) * abs(missing), *low.type.shape))
        x, indices = (high, low) if missing > 0 else (low, high)
    return take_along_axis(x, indices, axis=x.type.ndim - 2)


def _unmixed(lower: Any, x: Any, of_adjoint: bool) -> Any:
    """inverse(lower) x, or that of its adjoint, of a square triangle with ones on the diagonal."""
    return solve_triangular(
        lower, x, lower=True, adjoint=of_adjoint, unit_diagonal=True, strict=False
    )


class _Parts:
    """The factors of m by n matrices, cut at the smaller size k: one of `below` and the columns
    of `upper` behind k is empty."""

    def __init__(self, a: Any, out: Sequence[Any]) -> None:
        lower, self.upper, self.permutation, _ = out
        self.rows, self.columns = a.type.shape[-2:]
        self.inner = dims.minimum(self.rows, self.columns)
        self.tall = self.rows != self.inner
        self.lower = rows(lower, None, self.inner) if self.tall else lower
        self.below = rows(lower, self.inner, None) if self.tall else None
        self.square = self.left(self.upper)

    def left(self, x: Any) -> Any:
        return columns(x, None, self.inner) if self.columns != self.inner else x

    def wide(self, x: Any) -> Any:
        """x, of k columns, as one of n."""
        if self.columns == self.inner:
            return x
        return padded(x, right=self.columns - self.inner)


def _grad_lu(a: Any, out: Sequence[Any], g: Sequence[Any]) -> tuple[Any]:
    # With F = inverse(lower) da, of the first k rows and columns:
    #   d lower = lower tril(F inverse(upper), -1),  d upper = F - tril(F inverse(upper), -1) upper
    parts = _Parts(a, out)
    of_lower, of_upper = g[0], g[1]
    skipped = unused(parts.square, (of_lower, of_upper))
    parts.square = OPS["where"](skipped, identity_like(parts.square), parts.square)
    mixed, below = [], None
    if of_lower is not None:
        first = rows(of_lower, None, parts.inner) if parts.tall else of_lower
        mixed.append(adjoint(parts.lower) @ lower_part(first, -1))
    if of_upper is not None:
        of_upper = upper_part(of_upper)
        mixed.append(-(of_upper @ adjoint(parts.upper)))
    inner = lower_part(total(mixed), -1)
    if parts.tall and of_lower is not None:
        last = rows(of_lower, parts.inner, None)
        inner = inner - upper_part(adjoint(parts.below) @ last)
        below = parts.wide(over_upper(last, parts.square, True))
    change = parts.wide(over_upper(inner, parts.square, True))
    found = _unmixed(parts.lower, total([change, of_upper]), True)
    if parts.tall:
        rest = parts.rows - parts.inner
        found = padded(found, below=rest)
        if below is not None:
            found = found + padded(below, above=parts.inner)
    return (rows_in_order(select(~skipped, found), parts.permutation, back=True),)


def _jvp_lu(a: Any, out: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any, None, None]:
    parts = _Parts(a, out)
    moved = rows_in_order(tangents[0], parts.permutation)
    first = rows(moved, None, parts.inner) if parts.tall else moved
    solved = _unmixed(parts.lower, first, False)
    mixed = over_upper(parts.left(solved), parts.square, False)
    strict = lower_part(mixed, -1)
    lower = parts.lower @ strict
    upper = upper_part(solved - strict @ parts.upper)
    if parts.tall:
        rest = parts.rows - parts.inner
        last = parts.left(rows(moved, parts.inner, None))
        below = over_upper(last, parts.square, False) - parts.below @ upper_part(mixed)
        lower = padded(lower, below=rest) + padded(below, above=parts.inner)
    return lower, upper, None, None


def _batch_lu(a: Any, batched: Sequence[bool]) -> Any:
    return lu(a)


@op(
    numpy=lambda a: tuple(factors(a)),
    grad=_grad_lu,
    jvp=_jvp_lu,
    batch=_batch_lu,
)
def lu(a: Operand) -> tuple[TensorType, TensorType, TensorType, TensorType]:
    """lower, upper and permutation with a[permutation] = lower @ upper, of each matrix of a stack,
    and whether the permutation is even (1) or odd (-1).

    Each pivot is the largest element that is left in its column; lower has ones on the diagonal.
    """
    *stack, m, n = check_matrix(a).shape
    inner = dims.minimum(m, n)
    return (
        a.with_shape((*stack, m, inner)),
        a.with_shape((*stack, inner, n)),
        TensorType(INT64, (*stack, m)),
        TensorType(INT64, tuple(stack)),
    )
