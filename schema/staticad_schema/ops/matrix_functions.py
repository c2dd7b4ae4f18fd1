"""Functions of square matrices: the exponential, and of positive matrices root and logarithm.

The derivative of exp(a) along e is a block of the exponential of a matrix of twice the size, so
that `expm` is closed under differentiation.  The root and the logarithm are inverse to functions
that are smooth at equal eigenvalues: their derivatives solve equations with those of the square
and of the exponential, and need no difference of eigenvalues.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Size
from ..errors import ExecutionError
from ..op import OPS, Operand, op
from ..types import Array, TensorType
from .commutators import batch_equation, divided, equation, largest, lyapunov, spectrum
from .control import stop_gradient
from .matrices import (
    adjoint,
    adjoint_of,
    check_square,
    columns,
    factorized,
    hermitian,
    hermitian_part,
    place_text,
    rows,
)
from .norm import norm
from .pointwise import select
from .shape import zeros
from .slicing import concat

# ------------------------------------------------------------------ the exponential


def _blocks(a: Any, e: Any) -> Any:
    """[[a, e], [0, a]]."""
    axis = a.type.ndim - 1
    top = concat(a, e, axis=axis)
    return concat(top, concat(zeros(a, a.type.shape), a, axis=axis), axis=axis - 1)


def _upper_right(x: Any, size: Size) -> Any:
    return rows(columns(x, size, None), None, size)


def _unit(e: Any) -> tuple[Any, Any]:
    """e in units of its length, or of 1, and the unit.

    What is linear in e may take the unit for a constant.
    """
    axes = (e.type.ndim - 2, e.type.ndim - 1)
    length = norm(e, axis=axes, keepdims=True)
    usable = OPS["logical_and"](OPS["isfinite"](length), OPS["greater"](length, 0))
    unit = stop_gradient(select(usable, length, 1.0)).astype(e.type.dtype)
    return e / unit, unit


def _along(a: Any, e: Any) -> Any:
    """The derivative of exp(a) along e (Najfeld and Havel, 1995, theorem 2.1)."""
    # A long e would make the exponential lose digits of a.
    e, unit = _unit(e)
    return _upper_right(expm(_blocks(a, e)), a.type.shape[-1]) * unit


def _along_both(a: Any, e: Any, f: Any) -> Any:
    """The second derivative of exp(a), along e and f."""
    (e, first), (f, second) = _unit(e), _unit(f)
    wide = _along(_blocks(a, e), _blocks(f, zeros(f, f.type.shape)))
    return _upper_right(wide, a.type.shape[-1]) * first * second


def _expm(a: Array) -> Array:
    # SciPy's import would take half a second.
    from scipy import linalg

    def compute(x: Array) -> tuple[Array]:
        return (linalg.expm(x),)

    return factorized(compute, a, "the exponential")[0]


def _grad_expm(a: Any, out: Any, g: Any) -> tuple[Any]:
    return (_along(adjoint(a), g),)


def _jvp_expm(a: Any, out: Any, tangents: Sequence[Any]) -> Any:
    return _along(a, tangents[0])


def _batch_expm(a: Any, batched: Sequence[bool]) -> Any:
    return expm(a)


@op(
    numpy=_expm,
    grad=_grad_expm,
    jvp=_jvp_expm,
    batch=_batch_expm,
)
def expm(a: Operand) -> TensorType:
    """The exponentials of square matrices: the sum of a**k / k!."""
    size = check_square(a)
    return a.with_shape((*a.shape[:-2], size, size))


# ------------------------------------------------------------------ in the basis of eigenvectors


def _first(wrong: Array) -> int | None:
    """The index of the first matrix of a stack of which something is wrong."""
    found = np.flatnonzero(wrong.reshape(wrong.size))
    return int(found[0]) if len(found) else None


def _positive_spectrum(a: Array, strictly: bool) -> tuple[Array, Array]:
    """Eigenvalues, those below 0 by rounding as 0, and vectors of positive (semi)definite matrices.

    Raises ExecutionError for matrices that are not.
    """
    eps = np.finfo(a.dtype).eps
    apart = largest(a - adjoint_of(a), (-2, -1)) > np.sqrt(eps) * largest(a, (-2, -1))
    if (index := _first(apart[..., 0, 0] if a.size else np.zeros(0))) is not None:
        raise ExecutionError(
            "a matrix that is not its own adjoint",
            expected="symmetric (or Hermitian) matrices",
            found=place_text(a.shape[:-2], index),
        )
    w, v = spectrum(a)
    low = w <= 0 if strictly else w < -8 * a.shape[-1] * eps * largest(w, -1)
    if (index := _first(np.any(low, -1))) is not None:
        least = np.min(w, -1).reshape(-1)[index]
        raise ExecutionError(
            f"not positive {'' if strictly else 'semi'}definite",
            expected="eigenvalues " + ("above 0" if strictly else "of at least 0"),
            found=f"{least:.6g} in {place_text(a.shape[:-2], index)}",
        )
    if v is None:
        v = np.eye(a.shape[-1], dtype=a.dtype)
    return np.maximum(w, 0), v


def _composed(w: Array, v: Array) -> Array:
    """The matrices with these eigenvalues and vectors."""
    return hermitian_part((v * w[..., None, :]) @ adjoint_of(v))


# ------------------------------------------------------------------ the root


def _sqrtm(a: Array) -> Array:
    w, v = _positive_spectrum(a, False)
    return _composed(np.sqrt(w), v)


def _grad_sqrtm(a: Any, out: Any, g: Any) -> tuple[Any]:
    return (hermitian(lyapunov(out, g)),)


def _jvp_sqrtm(a: Any, out: Any, tangents: Sequence[Any]) -> Any:
    return lyapunov(out, hermitian(tangents[0]))


def _batch_sqrtm(a: Any, batched: Sequence[bool]) -> Any:
    return sqrtm(a)


@op(
    numpy=_sqrtm,
    grad=_grad_sqrtm,
    jvp=_jvp_sqrtm,
    batch=_batch_sqrtm,
)
def sqrtm(a: Operand) -> TensorType:
    """The positive square roots of symmetric (Hermitian) positive semidefinite matrices.

    The infinite slope between eigenvalues of 0 counts as 0.
    """
    check_square(a)
    return a


# ------------------------------------------------------------------ the logarithm


def _logm(a: Array) -> Array:
    w, v = _positive_spectrum(a, True)
    return _composed(np.log(w), v)


def _grad_logm(a: Any, out: Any, g: Any) -> tuple[Any]:
    return (hermitian(expm_inverse_slope(out, g)),)


def _jvp_logm(a: Any, out: Any, tangents: Sequence[Any]) -> Any:
    return expm_inverse_slope(out, hermitian(tangents[0]))


def _batch_logm(a: Any, batched: Sequence[bool]) -> Any:
    return logm(a)


@op(
    numpy=_logm,
    grad=_grad_logm,
    jvp=_jvp_logm,
    batch=_batch_logm,
)
def logm(a: Operand) -> TensorType:
    """The logarithms of symmetric (Hermitian) positive definite matrices."""
    check_square(a)
    return a


def _expm_inverse_slope(x: Array, c: Array) -> Array:
    w, v = spectrum(x)
    left, right = w[..., :, None], w[..., None, :]
    # (exp(left) - exp(right)) / (left - right)
    gap = (left - right) / 2
    ratio = np.where(gap == 0, 1, np.sinh(gap) / np.where(gap == 0, 1, gap))
    return divided(v, c, np.exp((left + right) / 2) * ratio)


def _grad_expm_inverse_slope(x: Any, c: Any, out: Any, g: Any) -> tuple[Any, Any]:
    gc = expm_inverse_slope(x, g)
    return -hermitian(_along_both(hermitian(x), adjoint(out), gc)), gc


def _jvp_expm_inverse_slope(x: Any, c: Any, out: Any, tangents: Sequence[Any]) -> Any:
    tx, tc = tangents
    if tx is not None:
        change = -_along_both(hermitian(x), hermitian(tx), out)
        tc = change if tc is None else tc + change
    return expm_inverse_slope(x, tc)


@op(
    numpy=_expm_inverse_slope,
    grad=_grad_expm_inverse_slope,
    jvp=_jvp_expm_inverse_slope,
    batch=batch_equation("expm_inverse_slope"),
)
def expm_inverse_slope(x: Operand, c: Operand) -> TensorType:
    """The e along which exp(x), of symmetric (Hermitian) x, has the derivative c.

    So it is the derivative of the logarithm of exp(x) along c.
    """
    return equation(x, c)
