"""digamma and its derivatives, on the whole line, and their differences.

Abramowitz and Stegun, 6.4: recurrence 6.4.6, reflection 6.4.7, asymptotic series 6.4.11.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import OPS, Operand
from ..types import FLOATING, Array, TensorType
from .asymptotics import BERNOULLI
from .in_double import check_order, in_double
from .pointwise import same

MAX_ORDER = 30


def polygamma_meaning(x: Array, order: int) -> Array:
    """The derivative of digamma of an order, digamma itself for 0."""
    from scipy import special

    if order == 0:
        found: Array = special.digamma(x)
        return found
    sign = -1.0 if order % 2 == 0 else 1.0
    right = np.abs(np.where(x > 0, x, 1 - x))
    value = sign * _right(right, order)
    if not (x <= 0).any():
        return value
    mirrored = (-1) ** order * value - math.pi * _cotangent(x, order)
    pole = (x == np.floor(x)) | np.isinf(x)
    return np.where(x > 0, value, np.where(pole & (x <= 0), sign * np.inf, mirrored))


def _right(x: Array, order: int) -> Array:
    """The modulus for positive x."""
    from scipy import special

    near: Array = special.zeta(order + 1, np.minimum(x, 1e3)) * math.factorial(order)
    if not (x > 1e3).any():
        return near
    far = np.maximum(x, 1e3)
    series = 1 + order / (2 * far)
    term = np.ones_like(far)
    for k in range(1, 7):
        term = term * (order + 2 * k - 2) * (order + 2 * k - 1) / np.square(far)
        series = series + term * BERNOULLI[k - 1] / math.factorial(2 * k)
    power = 1 / far
    for k in range(1, order):
        power = power * (k / far)
    return np.where(x > 1e3, power * series, near)


def _cotangent(x: Array, order: int) -> Array:
    """The derivative of cot(pi x) of an order of at least 1."""
    # cot' = -pi (1 + cot**2): a polynomial in cot whose terms all have one sign.
    coefficients = np.polynomial.Polynomial([0.0, 1.0])
    outer = np.polynomial.Polynomial([-1.0, 0.0, -1.0])
    for _ in range(order):
        coefficients = outer * coefficients.deriv()
    offset = x - np.round(x)
    # cot near a half integer by the distance from it, which is exact.
    size = np.abs(offset)
    cot = np.where(size > 0.25, np.tan(math.pi * (0.5 - size)), 1 / np.tan(math.pi * size))
    # Its powers may be infinite, but not the number that 0 is multiplied by.
    return math.pi**order * coefficients(np.copysign(np.minimum(cot, 1e300), offset))


@in_double(
    lambda x, *, order: polygamma_meaning(x, order),
    lambda x, out, *, order: OPS["polygamma"](x, order=order + 1),
)
def polygamma(x: Operand, *, order: int) -> TensorType:
    """The derivative of digamma of an order, 0 for digamma itself, also left of 0.

    At 0 and at negative integers: what it is on their right, but NaN for digamma left of 0.
    """
    check_order(order, MAX_ORDER)
    return same(FLOATING, x)


def step_meaning(x: Array, h: Array, order: int = 0) -> Array:
    """polygamma of x + h less that of x, for positive x and x + h without cancellation."""
    x, h = np.broadcast_arrays(x, h)
    plain = ~((x > 0) & (x + h > 0) & np.isfinite(x + h))
    a, b = np.where(plain, 1.0, x), np.where(plain, 1.0, h)
    sign = -1.0 if order % 2 == 0 else 1.0
    total = np.zeros_like(a)

    def change(power: int) -> Array:
        """(a + b)**-power - a**-power."""
        found: Array = np.power(a, -float(power)) * np.expm1(-power * np.log1p(b / a))
        return found

    # Up to where the asymptotic series has all digits.
    for _ in range(12 + order):
        total = total + math.factorial(order) * change(order + 1)
        a = a + 1
    if order == 0:
        total = total - np.log1p(b / a)
    else:
        total = total + math.factorial(order - 1) * change(order)
    total = total + math.factorial(order) / 2 * change(order + 1)
    for k in range(1, 10):
        factor = math.factorial(order + 2 * k - 1) / math.factorial(2 * k)
        total = total + BERNOULLI[k - 1] * factor * change(order + 2 * k)
    total = sign * total + 0.0
    if not plain.any():
        return total
    other = polygamma_meaning(x + h, order) - polygamma_meaning(x, order)
    # A finite step far out.
    other = np.where((x == np.inf) & np.isfinite(h), 0.0, other)
    return np.where(plain, other, total)


def _grown(x: Any, h: Any, out: Any, *, order: int) -> Any:
    return OPS["polygamma"](OPS["add"](x, h), order=order + 1)


@in_double(
    lambda x, h, *, order: step_meaning(x, h, order),
    (lambda x, h, out, *, order: OPS["polygamma_step"](x, h, order=order + 1), _grown),
)
def polygamma_step(x: Operand, h: Operand, *, order: int) -> TensorType:
    """polygamma of an order of x + h less that of x, with its digits where h is small beside x."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, x, h)
