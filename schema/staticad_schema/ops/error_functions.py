"""The scaled and inverse error functions, the normal distribution and its quantiles.

erfcx and its derivatives are multiples of repeated integrals of erfc (Abramowitz and Stegun, 7.2),
one family: the order of the derivative is an attribute, so that no order is a difference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import (
    add,
    divide,
    multiply,
    multiply_no_nan,
    negative,
    reciprocal,
    square,
    subtract,
)
from .comparison import less
from .exponential import exp
from .in_double import check_order, in_double
from .pointwise import same, select
from .selection import maximum

MAX_ORDER = 20
_FRACTION = 200
"""Steps of the continued fraction: enough from 1 on."""


def erfcx_meaning(x: Array, order: int = 0) -> Array:
    """The derivative of exp(x**2) erfc(x) of an order."""
    from scipy import special

    value: Array = special.erfcx(x)
    if order == 0:
        return value
    # y'' = 2 x y' + 2 y and so on: what erfcx is, is the smallest solution for positive x.
    before, here = value, 2 * x * value - 2 / math.sqrt(math.pi)
    for k in range(1, order):
        before, here = here, 2 * x * here + 2 * k * before
    right = x > 1
    if not right.any():
        return here
    far = np.where(right, x, 2.0)
    # Ratios of one order to the order before it, from a distant one down.
    ratio = 1 / (far + np.sqrt(np.square(far) + 2 * (_FRACTION + order)))
    ratios = []
    for k in reversed(range(1, _FRACTION + order)):
        ratio = 0.5 / (far + (k + 1) * ratio)
        if k <= order:
            ratios.append(ratio)
    product = value
    for k, r in enumerate(reversed(ratios), 1):
        product = product * (-2 * k * r)
    return np.where(right, product, here)


def _erfcx_slope(x: Any, out: Any, *, order: int) -> Any:
    return erfcx(x, order=order + 1)


@in_double(lambda x, *, order: erfcx_meaning(x, order), _erfcx_slope)
def erfcx(x: Operand, *, order: int = 0) -> TensorType:
    """exp(x**2) erfc(x), or its derivative of an order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, x)


def _erfinv(x: Array) -> Array:
    from scipy import special

    found: Array = np.where(x == 0, x, special.erfinv(x))
    return found


@in_double(_erfinv, lambda x, out: multiply(exp(square(out)), math.sqrt(math.pi) / 2))
def erfinv(x: Operand) -> TensorType:
    """The inverse of erf; infinite at -1 and 1, NaN beyond."""
    return same(FLOATING, x)


def _erfcinv(x: Array, order: int) -> Array:
    from scipy import special

    value: Array = special.erfcinv(x)
    if order == 0:
        return value
    # exp(value**2) has few digits where the value is large, and is erfcx(value) over x.
    steep = -math.sqrt(math.pi) / 2 * special.erfcx(value) / x
    return np.where(x == 0, -np.inf, steep)


def _erfcinv_slope(x: Any, out: Any, *, order: int) -> Any:
    if order == 0:
        return erfcinv(x, order=1)
    # By the differential equation, in one product: terms of its derivative would overflow.
    return multiply(multiply(multiply(erfcinv(x, order=0), 2.0), out), out)


@in_double(lambda x, *, order: _erfcinv(x, order), _erfcinv_slope)
def erfcinv(x: Operand, *, order: int = 0) -> TensorType:
    """The inverse of erfc, with its digits near 0; infinite at 0 and 2, NaN beyond; or its
    derivative of order 1."""
    check_order(order, 1)
    return same(FLOATING, x)


def _hazard(x: Array) -> Array:
    from scipy import special

    found: Array = math.sqrt(2 / math.pi) / special.erfcx(x * -math.sqrt(0.5))
    return found


def _hazard_slope(x: Any, out: Any) -> Any:
    # -out (x + out), whose sum cancels on the left.
    z = multiply(maximum(negative(x), 0.0), math.sqrt(0.5))
    left = multiply(divide(erfcx(z, order=1), erfcx(z)), -math.sqrt(0.5))
    slope = negative(multiply_no_nan(select(less(x, 0), left, add(x, out)), out))
    # Far left, where the parts leave the range, by the asymptotic series.
    return select(less(x, -1e6), subtract(reciprocal(square(x)), 1.0), slope)


@in_double(_hazard, _hazard_slope)
def normal_hazard(x: Operand) -> TensorType:
    """The normal density over the normal distribution function: the derivative of log_ndtr."""
    return same(FLOATING, x)


def _log_ndtr(x: Array) -> Array:
    from scipy import special

    found: Array = special.log_ndtr(x)
    return found


@in_double(_log_ndtr, lambda x, out: normal_hazard(x))
def log_ndtr(x: Operand) -> TensorType:
    """The logarithm of the normal distribution function."""
    return same(FLOATING, x)


def _ndtri(x: Array, order: int) -> Array:
    from scipy import special

    value: Array = special.ndtri(x)
    if order == 0:
        return value
    return np.where(x == 0, np.inf, 1 / (_hazard(value) * x))


def _ndtri_slope(x: Any, out: Any, *, order: int) -> Any:
    if order == 0:
        return ndtri(x, order=1)
    # As that of erfcinv.
    return multiply(multiply(ndtri(x, order=0), out), out)


@in_double(lambda x, *, order: _ndtri(x, order), _ndtri_slope)
def ndtri(x: Operand, *, order: int = 0) -> TensorType:
    """The quantile of the normal distribution; infinite at 0 and 1, NaN beyond; or its derivative
    of order 1."""
    check_order(order, 1)
    return same(FLOATING, x)
