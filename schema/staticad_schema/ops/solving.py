"""Systems of equations of any regular matrix.

`solve` is expanded into the factors of its matrix and two triangles, and so are its derivatives of
any order: what is computed with one matrix in a graph factorises it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..op import Operand, each, op
from ..types import TensorType
from .lu import lu, rows_in_order
from .matrices import expected, expected_square
from .shape import aligned
from .triangular import matrix_cotangent, matrix_tangent, solve_triangular, system


def _solve_expansion(a: Any, b: Any, *, adjoint: bool, strict: bool) -> Any:
    a = expected_square(a)
    b = expected(b, a.type.shape[-1], b.type.shape[-1])
    lower, upper, permutation, _ = lu(a)

    def unmixed(x: Any) -> Any:
        return solve_triangular(
            lower, x, lower=True, adjoint=adjoint, unit_diagonal=True, strict=False
        )

    def undone(x: Any) -> Any:
        return solve_triangular(
            upper, x, lower=False, adjoint=adjoint, unit_diagonal=False, strict=strict
        )

    if adjoint:
        return rows_in_order(unmixed(undone(b)), permutation, back=True)
    return undone(unmixed(rows_in_order(b, permutation)))


def _grad_a(a: Any, b: Any, out: Any, g: Any, *, adjoint: bool) -> Any:
    return matrix_cotangent(out, _grad_b(a, b, out, g, adjoint=adjoint), adjoint)


def _grad_b(a: Any, b: Any, out: Any, g: Any, *, adjoint: bool) -> Any:
    return solve(a, g, adjoint=not adjoint, strict=False)


def _jvp(a: Any, b: Any, out: Any, tangents: Sequence[Any], *, adjoint: bool) -> Any:
    ta, tb = tangents
    if ta is not None:
        change = matrix_tangent(out, ta, adjoint)
        tb = change if tb is None else tb + change
    return solve(a, tb, adjoint=adjoint, strict=False)


def _batch(a: Any, b: Any, batched: Sequence[bool], *, adjoint: bool, strict: bool) -> Any:
    return solve(*aligned((a, b), batched), adjoint=adjoint, strict=strict)


@op(
    expand=_solve_expansion,
    grad=each(_grad_a, _grad_b),
    jvp=_jvp,
    batch=_batch,
)
def solve(a: Operand, b: Operand, *, adjoint: bool, strict: bool) -> TensorType:
    """x in a x = b, or (adjoint) adjoint(a) x = b, of square matrices; stacks broadcast.

    strict: a singular matrix is an error; if not, x is what elimination and division give, and
    0 / 0 is 0, so that x is 0 where b is.
    """
    return system(a, b)
