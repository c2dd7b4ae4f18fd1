"""Elementwise exponentials, logarithms and roots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, INEXACT, Array, TensorType
from .arithmetic import add, divide, multiply, reciprocal
from .pointwise import pointwise, same


@pointwise(numpy=np.exp, expr="exp({x})", d=lambda x, out: out)
def exp(x: Operand) -> TensorType:
    """e to the power of x."""
    return same(INEXACT, x)


@pointwise(numpy=np.exp2, expr="exp2({x})", d=lambda x, out: multiply(out, math.log(2)))
def exp2(x: Operand) -> TensorType:
    """2 to the power of x."""
    return same(INEXACT, x)


# Not out + 1, which loses every digit for large negative x.
@pointwise(numpy=np.expm1, expr="expm1({x})", d=lambda x, out: exp(x))
def expm1(x: Operand) -> TensorType:
    """exp(x) - 1, accurate near 0."""
    return same(INEXACT, x)


@pointwise(numpy=np.log, expr="log({x})", d=lambda x, out: reciprocal(x))
def log(x: Operand) -> TensorType:
    """The natural logarithm; -inf at 0, NaN below."""
    return same(INEXACT, x)


def _log1p(x: Array) -> Array:
    if x.dtype.kind != "c":
        return np.log1p(x)
    from scipy import special

    # NumPy's complex log1p has no digits near 0.
    result: Array = special.log1p(x.astype(np.complex128)).astype(x.dtype)
    return result


@pointwise(numpy=_log1p, expr="log1p({x})", d=lambda x, out: reciprocal(add(x, 1)))
def log1p(x: Operand) -> TensorType:
    """log(1 + x), accurate near 0."""
    return same(INEXACT, x)


@pointwise(numpy=np.log2, expr="log2({x})", d=lambda x, out: divide(1 / math.log(2), x))
def log2(x: Operand) -> TensorType:
    """The logarithm to base 2."""
    return same(INEXACT, x)


@pointwise(numpy=np.log10, expr="log10({x})", d=lambda x, out: divide(1 / math.log(10), x))
def log10(x: Operand) -> TensorType:
    """The logarithm to base 10."""
    return same(INEXACT, x)


@pointwise(numpy=np.sqrt, expr="sqrt({x})", d=lambda x, out: divide(0.5, out))
def sqrt(x: Operand) -> TensorType:
    """The square root; its derivative at 0 is +inf."""
    return same(INEXACT, x)


def _rsqrt(x: Array) -> Array:
    result: Array = np.reciprocal(np.sqrt(x))
    return result


@pointwise(
    numpy=_rsqrt,
    expr="(1 / sqrt({x}))",
    # A quotient: the cube of out overflows where it does not.
    d=lambda x, out: multiply(divide(out, x), -0.5),
)
def rsqrt(x: Operand) -> TensorType:
    """1 / sqrt(x); infinite at 0."""
    return same(INEXACT, x)


def _cbrt_slope(x: Any, out: Any) -> Any:
    # Of the root's reciprocal, whose derivatives at 0 are infinite, of the side's sign.
    inverse = reciprocal(out)
    return multiply(inverse, divide(inverse, 3.0))


@pointwise(numpy=np.cbrt, expr="cbrt({x})", d=_cbrt_slope)
def cbrt(x: Operand) -> TensorType:
    """The real cube root, negative for negative x; its derivative at 0 is +inf."""
    return same(FLOATING, x)
