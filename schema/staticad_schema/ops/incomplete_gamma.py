"""The regularised incomplete gamma functions, with derivatives in both operands.

A derivative in `a` is an integral of the density times a polynomial of log t - digamma.  It is
taken over that side of x where the first derivative's integrand has one sign, on the left
after the step P(a, x) = P(a + 1, x) + exp(-x) x**a / gamma(a + 1), so that small `a` leave no
singularity.  gamma(a + 1) stands for gamma(a) throughout: at 0 it has no pole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, divide, multiply, multiply_no_nan, negative, subtract
from .asymptotics import (
    HALF_LOG_TAU,
    LARGE,
    deviance,
    expm1_rest,
    log_minus_digamma,
    stirling_error,
)
from .comparison import equal, greater_equal, logical_and
from .in_double import check_order, in_double
from .pointwise import same, select
from .polygamma import polygamma_meaning
from .quadrature import half_line, powers

MAX_ORDER = 8


def _poisson(a: Array, x: Array) -> Array:
    """exp(-x) x**a / gamma(a + 1)."""
    from scipy import special

    small = np.minimum(a, LARGE)
    # In two equal factors: the power may overflow where the exponential vanishes.
    part = np.power(np.minimum(x, 1e4), small / 2) * np.exp(-x / 2)
    power = np.where(x > 500, np.square(part), np.power(x, small) * np.exp(-x))
    direct = power / special.gamma(small + 1)
    large = np.maximum(a, LARGE)
    stirling = np.exp(-stirling_error(large) - deviance(large, x) - HALF_LOG_TAU) / np.sqrt(large)
    found: Array = np.where(a >= LARGE, stirling, direct)
    return found


def _cumulants(a: Array, first: Array, order: int) -> list[Array]:
    """Derivatives in a of log(t**a / gamma(a + 1)), of which `first` is the first."""
    return [first, *(-polygamma_meaning(a + 1, k) for k in range(1, order))][:order]


def _density(a: Array, x: Array, order: int) -> Array:
    """The derivative in a of x**(a - 1) exp(-x) / gamma(a)."""
    from scipy import special

    if order == 0:
        # Without the factor a: below 1 the power is large where the function is.
        small = np.minimum(a, LARGE)
        direct = np.power(x, small - 1) * np.exp(-x) / special.gamma(small)
        weight = _poisson(a, x)
        by_weight = np.where(weight == 0, 0.0, weight * (a / x))
        # Its own reciprocal is 0 of the smallest a.
        far = (a >= LARGE) | (x > 500) | (a < 1e-300)
        value: Array = np.where(a == 0, 0.0, np.where(far, by_weight, direct))
    else:
        y = powers(_cumulants(a, log_minus_digamma(x, a), order))
        value = _poisson(a, x) / x * (a * y[order] + order * y[order - 1])
        # Of x**(a - 1) log(x)**order, which loses a factor where 1 / gamma(a) is 0.
        value = np.where(x == 0, (-1) ** order * np.where(a == 0, -np.inf, np.inf), value)
    # An infinite shape has all that there is infinitely far out.
    value = np.where(np.isinf(x) | ((x == 0) & (a > 1)) | np.isinf(a), 0.0, value)
    outside = (a < 0) | (x < 0) | (np.isinf(a) & np.isinf(x)) | np.isnan(a + x)
    return np.where(outside, np.nan, value)


def _density_in_x(a: Any, x: Any, out: Any, *, order: int) -> Any:
    # Adding 0 makes 0 of -0, whose other side has no density.
    x = add(x, 0.0)
    rise = multiply_no_nan(divide(subtract(a, 1), x), out)
    if order:
        below = gamma_density(a, x, order=order - 1)
        rise = add(rise, divide(multiply(below, float(order)), x))
    # At 0, where the density is 0 and the quotient infinite, by the density of a - 1.
    start = logical_and(equal(x, 0), greater_equal(a, 1))
    edge = gamma_density(subtract(a, 1), select(start, x, x.coerce(0.0)), order=order)
    return subtract(select(start, edge, rise), out)


def _density_in_a(a: Any, x: Any, out: Any, *, order: int) -> Any:
    return gamma_density(a, x, order=order + 1)


@in_double(lambda a, x, *, order: _density(a, x, order), (_density_in_a, _density_in_x))
def gamma_density(a: Operand, x: Operand, *, order: int = 0) -> TensorType:
    """x**(a - 1) exp(-x) / gamma(a), or its derivative in a of an order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, a, x)


def _left(a: Array, x: Array, order: int) -> Array:
    """The derivative of P(a, x) in a, where log x < digamma(a + 1)."""
    start = log_minus_digamma(x, a)
    weight = _poisson(a, x)
    rest = _cumulants(a, start, order)[1:]

    def integrand(u: Array, a: Array, x: Array, start: Array, *rest: Array) -> Array:
        # t = x exp(-u)
        phase: Array = np.exp((x - a - 1) * u - x * expm1_rest(-u))
        return phase * powers([start - u, *rest])[order]

    slope, bend = a + 1 - x, x
    scale = 2 / (slope + np.sqrt(np.square(slope) + 2 * bend))
    integral = half_line(integrand, scale, a, x, start, *rest)
    found: Array = weight * (x * integral + powers([start, *rest])[order])
    return found


def _right(a: Array, x: Array, order: int) -> Array:
    """The derivative of -Q(a, x) in a, where log x >= digamma(a + 1)."""
    start = log_minus_digamma(x, a)
    rest = _cumulants(a, start, order)[1:]

    def integrand(u: Array, a: Array, x: Array, start: Array, *rest: Array) -> Array:
        # t = x exp(u)
        y = powers([start + u, *rest])
        phase = np.exp((a - x) * u - x * expm1_rest(u))
        return np.where(phase > 0, phase * (a * y[order] + order * y[order - 1]), 0.0)

    slope, bend = x - a, x
    scale = 2 / (slope + np.sqrt(np.square(slope) + 2 * bend))
    weight = _poisson(a, x)
    integral = half_line(integrand, scale, a, x, start, *rest)
    found: Array = np.where(weight == 0, 0.0, -weight * integral)
    return found


def _gammainc(a: Array, x: Array, order: int) -> Array:
    from scipy import special

    if order == 0:
        found: Array = special.gammainc(a, x)
        return found
    a, x = np.broadcast_arrays(a, x)
    inside = (a >= 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    flat = ((x == 0) & (a > 0)) | ((x == np.inf) & (a >= 0)) | ((a == np.inf) & (x >= 0))
    value = np.where(flat & ~(np.isinf(a) & np.isinf(x)), 0.0, np.nan)
    left = inside & (log_minus_digamma(x, a) < 0)
    right = inside & ~left
    value[left] = _left(a[left], x[left], order)
    value[right] = _right(a[right], x[right], order)
    return value


def _in_x(a: Any, x: Any, out: Any, *, order: int) -> Any:
    return gamma_density(a, x, order=order)


def _in_a(a: Any, x: Any, out: Any, *, order: int) -> Any:
    return gammainc(a, x, order=order + 1)


@in_double(lambda a, x, *, order: _gammainc(a, x, order), (_in_a, _in_x))
def gammainc(a: Operand, x: Operand, *, order: int = 0) -> TensorType:
    """The integral of the gamma density of shape a from 0 to x, or its derivative in a of an
    order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, a, x)


def _gammaincc(a: Array, x: Array) -> Array:
    from scipy import special

    found: Array = special.gammaincc(a, x)
    return found


@in_double(
    _gammaincc,
    (
        lambda a, x, out: negative(gammainc(a, x, order=1)),
        lambda a, x, out: negative(gamma_density(a, x)),
    ),
)
def gammaincc(a: Operand, x: Operand) -> TensorType:
    """The integral of the gamma density of shape a from x to infinity: 1 - gammainc(a, x)."""
    return same(FLOATING, a, x)
