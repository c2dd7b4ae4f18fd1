"""Linear equations with the same symmetric matrix on both sides of what is looked for.

In its eigenvectors their solutions are quotients by sums, or differences, of its eigenvalues.
Rules of derivatives have such quotients, by the values of a factorisation, and take the matrix in
place of the values: it is diagonal, but its changes may mix equal values, which those of values do
not.  So second derivatives are right where a function does not tell equal values apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..op import OPS, Operand, op
from ..types import Array, TensorType
from .checks import check_equal_shapes, same_dtype
from .control import stop_gradient
from .matrices import (
    adjoint,
    adjoint_of,
    check_square,
    factorized,
    hermitian,
    hermitian_part,
    on_diagonal,
)
from .pointwise import select

# ------------------------------------------------------------------ for rules


def with_values(b: Any, w: Any) -> Any:
    """The diagonal matrix of w, which b is but for rounding, that changes as b does."""
    shape = w.type.shape
    row = OPS["reshape"](w, shape=(*shape[:-1], 1, shape[-1])).astype(b.type.dtype)
    b = hermitian(b)
    return b + stop_gradient(select(on_diagonal(b), row) - b)


# ------------------------------------------------------------------ for meanings


def spectrum(a: Array) -> tuple[Array, Array | None]:
    """Eigenvalues and vectors of symmetric matrices; of diagonal ones those in place, and None."""
    x = hermitian_part(a)
    diagonal = np.diagonal(x, 0, -2, -1)
    if np.count_nonzero(x) == np.count_nonzero(diagonal) and np.isfinite(diagonal).all():
        return diagonal.real, None
    w, v = factorized(np.linalg.eigh, x, "the search for eigenvalues")
    return w, v


def largest(x: Array, axis: int | tuple[int, ...]) -> Array:
    """The largest modulus along axes, 0 of none."""
    found: Array = np.max(np.abs(x), axis, keepdims=True, initial=0)
    return found


def nonzero(w: Array, x: Array) -> Array:
    """Sums or differences x of eigenvalues w, with 0 in place of what is rounding.

    LAPACK tells n equal values apart by up to about 2 eps sqrt(n) of the largest ones.
    """
    size = np.sqrt(w.shape[-1]) * largest(w, -1)[..., None]
    return np.where(np.abs(x) <= 8 * np.finfo(w.dtype).eps * size, 0, x)


def divided(v: Array | None, c: Array, by: Array) -> Array:
    """c with its elements, in the basis v, divided by numbers; those over 0 count as 0."""
    inner = c if v is None else adjoint_of(v) @ c @ v
    inner = np.where(by == 0, 0, inner / np.where(by == 0, 1, by))
    found: Array = inner if v is None else v @ inner @ adjoint_of(v)
    return found


def equation(x: Operand, c: Operand) -> TensorType:
    """The type of both sides of an equation between matrices of one stack."""
    check_square(x)
    same_dtype((x, c))
    check_equal_shapes(c.shape, x.shape, "a right-hand side")
    return x


def batch_equation(name: str) -> Callable[..., Any]:
    """The batch rule of the named equation."""

    def rule(x: Any, c: Any, batched: Sequence[bool]) -> Any:
        size = (x, c)[batched.index(True)].type.shape[0]
        both = [
            y if mapped else OPS["broadcast_to"](y, shape=(size, *y.type.shape))
            for y, mapped in zip((x, c), batched, strict=True)
        ]
        return OPS[name](*both)

    return rule


# ------------------------------------------------------------------ definitions


def _lyapunov(x: Array, c: Array) -> Array:
    w, v = spectrum(x)
    return divided(v, c, nonzero(w, w[..., :, None] + w[..., None, :]))


def _grad_lyapunov(x: Any, c: Any, out: Any, g: Any) -> tuple[Any, Any]:
    gc = lyapunov(x, g)
    back = adjoint(out)
    return -hermitian(gc @ back + back @ gc), gc


def _jvp_lyapunov(x: Any, c: Any, out: Any, tangents: Sequence[Any]) -> Any:
    tx, tc = tangents
    if tx is not None:
        tx = hermitian(tx)
        change = -(tx @ out + out @ tx)
        tc = change if tc is None else tc + change
    return lyapunov(x, tc)


@op(
    numpy=_lyapunov,
    grad=_grad_lyapunov,
    jvp=_jvp_lyapunov,
    batch=batch_equation("lyapunov"),
)
def lyapunov(x: Operand, c: Operand) -> TensorType:
    """y in x y + y x = c, of symmetric (Hermitian) x.

    What two eigenvalues with a sum of 0 leave open is 0.
    """
    return equation(x, c)


def _commutator_inverse(x: Array, c: Array) -> Array:
    w, v = spectrum(x)
    return divided(v, c, nonzero(w, w[..., None, :] - w[..., :, None]))


def _commutator(a: Any, b: Any) -> Any:
    return a @ b - b @ a


def _left_open(x: Any, c: Any) -> Any:
    """The part of c that the equation says nothing of: what stands between equal eigenvalues."""
    return c - _commutator(commutator_inverse(x, c), x)


def _grad_commutator(x: Any, c: Any, out: Any, g: Any) -> tuple[Any, Any]:
    # As the tangents below, read backwards.
    x = hermitian(x)
    gc = commutator_inverse(x, g)
    back = adjoint(out)
    turn = _commutator(_left_open(x, g), back) - _commutator(gc, adjoint(_left_open(x, c)))
    return hermitian(_commutator(gc, back) + commutator_inverse(x, turn)), gc


def _jvp_commutator(x: Any, c: Any, out: Any, tangents: Sequence[Any]) -> Any:
    tx, tc = tangents
    if tx is None:
        return commutator_inverse(x, tc)
    x, tx = hermitian(x), hermitian(tx)
    # What is between equal eigenvalues turns as the eigenvectors do: in c, and the 0 in y.
    turn = commutator_inverse(x, tx)
    change = _commutator(tx, out) - _commutator(turn, _left_open(x, c))
    tc = change if tc is None else tc + change
    return commutator_inverse(x, tc) + _left_open(x, _commutator(turn, out))


@op(
    numpy=_commutator_inverse,
    grad=_grad_commutator,
    jvp=_jvp_commutator,
    batch=batch_equation("commutator_inverse"),
)
def commutator_inverse(x: Operand, c: Operand) -> TensorType:
    """y in y x - x y = c, of symmetric (Hermitian) x.

    What two equal eigenvalues leave open is 0.
    """
    return equation(x, c)
