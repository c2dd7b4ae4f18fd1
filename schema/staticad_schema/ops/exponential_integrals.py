"""Exponential integrals, and the relative exponential with its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import divide, multiply, negative, reciprocal, subtract
from .exponential import exp
from .in_double import check_order, in_double
from .pointwise import same

MAX_ORDER = 20
_NODES = 48
_FAR = 700.0
"""From here on a power nears the end of the range."""


def _power_over(x: Array) -> Array:
    """exp(x) / x, also where the power overflows and the quotient does not."""
    far = np.clip(x, _FAR, 2000.0)
    half = np.exp(far / 2)
    found: Array = np.where(x > _FAR, half * (half / far), np.exp(np.minimum(x, _FAR)) / x)
    return found


def _expi(x: Array, order: int) -> Array:
    from scipy import special

    quotient = _power_over(x)
    if order:
        return quotient
    # Where SciPy's overflows too early the asymptotic series (Abramowitz and Stegun, 5.1.51).
    inverse = 1 / np.maximum(x, _FAR)
    series = np.ones_like(inverse)
    for k in reversed(range(1, 10)):
        series = 1 + series * k * inverse
    return np.where(x > _FAR, quotient * series, special.expi(x))


def _expi_slope(x: Any, out: Any, *, order: int) -> Any:
    if order == 0:
        return expi(x, order=1)
    # In one product: where x is tiny the terms of its derivative would overflow.
    return multiply(out, subtract(1, reciprocal(x)))


@in_double(lambda x, *, order: _expi(x, order), _expi_slope)
def expi(x: Operand, *, order: int = 0) -> TensorType:
    """The integral of exp(t) / t from -inf to x, its principal value right of 0; -inf at 0; or its
    derivative of order 1."""
    check_order(order, 1)
    return same(FLOATING, x)


def _exp1(x: Array) -> Array:
    from scipy import special

    found: Array = special.exp1(x)
    return found


@in_double(_exp1, lambda x, out: negative(divide(exp(negative(x)), x)))
def exp1(x: Operand) -> TensorType:
    """The integral of exp(-t) / t from x to infinity; inf at 0, NaN below."""
    return same(FLOATING, x)


def _exprel(x: Array, order: int) -> Array:
    """The integral of t**order exp(x t) over t from 0 to 1."""
    from scipy import special

    if order == 0:
        found: Array = np.where(x > _FAR, _power_over(x), special.exprel(x))
        return found
    # Positive terms near 0; beyond, the recurrence by parts loses nothing.
    reach = 10.0 + order
    near = np.clip(x, -reach, reach)[..., None]
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = (nodes + 1) / 2
    inside: Array = (np.exp(near * places) * places**order) @ (weights / 2)
    if not (np.abs(x) > reach).any():
        return np.where(np.isnan(x), x, inside)
    # Of a positive x over the power, which may be infinite.
    power = np.where(x > 0, 1.0, np.exp(np.minimum(x, 0.0)))
    beyond = np.where(x > 0, -np.expm1(-np.abs(x)) / x, special.exprel(np.minimum(x, 0.0)))
    for k in range(1, order + 1):
        beyond = (power - k * beyond) / x
    half = np.exp(np.maximum(x, 0.0) / 2)
    beyond = np.where(np.isinf(x), np.maximum(x, 0.0), half * (half * beyond))
    return np.where(np.abs(x) > reach, beyond, np.where(np.isnan(x), x, inside))


def _exprel_slope(x: Any, out: Any, *, order: int) -> Any:
    return exprel(x, order=order + 1)


@in_double(lambda x, *, order: _exprel(x, order), _exprel_slope)
def exprel(x: Operand, *, order: int = 0) -> TensorType:
    """(exp(x) - 1) / x, 1 at 0, or its derivative of an order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, x)
