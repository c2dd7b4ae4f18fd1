"""Systems of equations whose matrix is a triangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..op import OPS, Operand, each, op
from ..shapes import broadcast_shapes
from ..types import Array, TensorType
from .checks import agree, same_dtype
from .contract import matmul_no_nan
from .lapack import first_zero, substituted
from .matrices import (
    adjoint,
    check_matrix,
    check_square,
    lower_part,
    on_diagonal,
    singular,
    upper_part,
)
from .shape import aligned


def system(a: Operand, b: Operand) -> TensorType:
    """The type of x in a x = b: stacks of square matrices, and of as many rows.

    Raises DTypeError, ShapeError.
    """
    same_dtype((a, b))
    check_matrix(b, "the right-hand side")
    agree(check_square(a, "the matrix"), b.shape[-2], "the matrix and the right-hand side")
    return b.with_shape((*broadcast_shapes((a.shape[:-2], b.shape[:-2])), *b.shape[-2:]))


def matrix_cotangent(x: Any, g: Any, of_adjoint: bool) -> Any:
    """The cotangent of a in a x = b (or adjoint(a) x = b), from that of b.

    Where x is 0 it is 0, also where that of b is not finite, because a has no inverse.
    """
    found = matmul_no_nan(x, adjoint(g), value=True)
    return -(found if of_adjoint else adjoint(found))


def matrix_tangent(x: Any, t: Any, of_adjoint: bool) -> Any:
    """What a tangent of a adds to that of b."""
    return -((adjoint(t) if of_adjoint else t) @ x)


def over_upper(x: Any, upper: Any, of_adjoint: bool) -> Any:
    """x inverse(upper), or x inverse(adjoint(upper)), of square upper triangles."""
    # The system of the adjoints, which reads the same triangle.
    found = solve_triangular(
        upper, adjoint(x), lower=False, adjoint=not of_adjoint, unit_diagonal=False, strict=False
    )
    return adjoint(found)


def unused(triangle: Any, g: Sequence[Any]) -> Any:
    """Which square triangles of a stack have a 0 on the diagonal and no cotangent of their factors;
    bools [..., 1, 1].

    A rule that divides by the triangle takes no part in them, to any order: 0 times the infinite
    would be NaN in the derivatives of the rule.
    """

    def over(reduction: str, x: Any) -> Any:
        return OPS[reduction](x, axis=(x.type.ndim - 2, x.type.ndim - 1), keepdims=True)

    def zero(x: Any) -> Any:
        return OPS["equal"](x, x.coerce(0.0))

    found = over("any", on_diagonal(triangle) & zero(triangle))
    for x in g:
        if x is not None:
            found = found & over("all", zero(x))
    return found


def _solve_triangular(
    a: Array, b: Array, *, lower: bool, adjoint: bool, unit_diagonal: bool, strict: bool
) -> Array:
    if strict and not unit_diagonal and (zero := first_zero(a)) is not None:
        raise singular(a.shape[:-2], *zero)
    return substituted(a, b, lower, adjoint, unit_diagonal)


def _triangle(x: Any, lower: bool, unit_diagonal: bool) -> Any:
    """The part of a cotangent, or tangent, that belongs to the elements that are read."""
    return lower_part(x, -unit_diagonal) if lower else upper_part(x, int(unit_diagonal))


def _grad_a(
    a: Any,
    b: Any,
    out: Any,
    g: Any,
    *,
    lower: bool,
    adjoint: bool,
    unit_diagonal: bool,
) -> Any:
    back = _grad_b(a, b, out, g, lower=lower, adjoint=adjoint, unit_diagonal=unit_diagonal)
    return _triangle(matrix_cotangent(out, back, adjoint), lower, unit_diagonal)


def _grad_b(
    a: Any,
    b: Any,
    out: Any,
    g: Any,
    *,
    lower: bool,
    adjoint: bool,
    unit_diagonal: bool,
) -> Any:
    return solve_triangular(
        a, g, lower=lower, adjoint=not adjoint, unit_diagonal=unit_diagonal, strict=False
    )


def _jvp(
    a: Any,
    b: Any,
    out: Any,
    tangents: Sequence[Any],
    *,
    lower: bool,
    adjoint: bool,
    unit_diagonal: bool,
) -> Any:
    ta, tb = tangents
    if ta is not None:
        change = matrix_tangent(out, _triangle(ta, lower, unit_diagonal), adjoint)
        tb = change if tb is None else tb + change
    return solve_triangular(
        a, tb, lower=lower, adjoint=adjoint, unit_diagonal=unit_diagonal, strict=False
    )


def _batch(a: Any, b: Any, batched: Sequence[bool], **attributes: bool) -> Any:
    return solve_triangular(*aligned((a, b), batched), **attributes)


@op(
    numpy=_solve_triangular,
    grad=each(_grad_a, _grad_b),
    jvp=_jvp,
    batch=_batch,
)
def solve_triangular(
    a: Operand, b: Operand, *, lower: bool, adjoint: bool, unit_diagonal: bool, strict: bool
) -> TensorType:
    """x in a x = b, or (adjoint) adjoint(a) x = b, of a triangular matrix a; stacks broadcast.

    Only the lower (or upper) triangle of a is read, and if unit_diagonal its diagonal counts as
    ones.  strict: a 0 on the diagonal is an error; if not, x is what division gives, and 0 / 0
    is 0.
    """
    return system(a, b)
