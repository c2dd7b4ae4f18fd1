"""The triangular factor of a positive definite matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ExecutionError
from ..op import Operand, op
from ..types import Array, TensorType
from .matrices import (
    adjoint,
    at_or_below,
    check_square,
    hermitian,
    hermitian_part,
    lower_part,
    on_diagonal,
    place_text,
)
from .pointwise import select
from .triangular import solve_triangular


def _cholesky(a: Array) -> Array:
    part = hermitian_part(a)
    try:
        return np.linalg.cholesky(part)
    except np.linalg.LinAlgError:
        raise _not_positive(part) from None


def _not_positive(a: Array) -> ExecutionError:
    """The error for a stack of which NumPy says that a matrix has no factor."""
    stack, size = a.shape[:-2], a.shape[-1]
    found = "one that has no factor"
    for index, matrix in enumerate(a.reshape(math.prod(stack), size, size)):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            least = "an infinite element"
            if np.isfinite(matrix).all():
                least = f"the eigenvalue {np.linalg.eigvalsh(matrix)[0]:.3g}"
            found = f"{least} of {place_text(stack, index)}"
            break
    return ExecutionError(
        "a matrix that is not positive definite",
        expected="matrices whose eigenvalues are positive",
        found=found,
    )


def _halved(x: Any) -> Any:
    """The lower triangle, with half the diagonal."""
    return select(at_or_below(x, -1), x, select(on_diagonal(x), x * 0.5))


def _solved(factor: Any, x: Any, of_adjoint: bool) -> Any:
    return solve_triangular(
        factor, x, lower=True, adjoint=of_adjoint, unit_diagonal=False, strict=False
    )


def _grad_cholesky(a: Any, out: Any, g: Any) -> tuple[Any]:
    # Murray, "Differentiation of the Cholesky decomposition" (2016), with both triangles of a.
    inner = hermitian(_halved(adjoint(out) @ lower_part(g)))
    return (adjoint(_solved(out, adjoint(_solved(out, inner, True)), True)),)


def _jvp_cholesky(a: Any, out: Any, tangents: Sequence[Any]) -> Any:
    inner = adjoint(_solved(out, adjoint(_solved(out, hermitian(tangents[0]), False)), False))
    return out @ _halved(inner)


def _batch_cholesky(a: Any, batched: Sequence[bool]) -> Any:
    return cholesky(a)


@op(
    numpy=_cholesky,
    grad=_grad_cholesky,
    jvp=_jvp_cholesky,
    batch=_batch_cholesky,
)
def cholesky(a: Operand) -> TensorType:
    """The lower triangular factor l with l adjoint(l) = a, of each matrix of a stack.

    It is that of (a + adjoint(a)) / 2, so that the derivative is symmetric.  A matrix that is not
    positive definite is an error; NaN makes NaN.
    """
    check_square(a)
    return a
