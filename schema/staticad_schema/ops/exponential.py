"""Elementwise exponentials, logarithms and roots."""

from __future__ import annotations

import math

import numpy as np

from ..op import Operand
from ..types import INEXACT, Array, TensorType
from .arithmetic import add, divide, reciprocal
from .pointwise import pointwise, same


@pointwise(numpy=np.exp, expr="exp({x})", d=lambda x, out: out)
def exp(x: Operand) -> TensorType:
    """e to the power of x."""
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
