"""Bessel functions of integer order: J, and the modified I and K, plain and scaled.

Derivatives of plain ones are sums of neighbours.  Those of scaled ones would be differences of
nearly equal numbers, and are a family by the order of the derivative, from the integrals
of Abramowitz and Stegun, 9.6.19 and 9.6.24, whose integrands keep their sign.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, multiply, negative, subtract
from .in_double import check_order, in_double
from .pointwise import same

MAX_N = 1000
MAX_ORDER = 20
_PLACES = 64


def _near_zero(x: Array, n: int, sign: float, value: Array) -> Array:
    """The value, but of tiny numbers two terms of the series, the second of this sign: SciPy's of
    order 2 and more loses digits there, all of them for I, and is NaN of subnormal numbers."""
    tiny = np.clip(x, -1e-5, 1e-5)
    leading = np.power(tiny / 2, n) / math.factorial(n) if n <= 170 else 0.0 * tiny
    series = leading * (1 + sign * np.square(tiny / 2) / (n + 1))
    return np.where(np.abs(x) < 1e-5, series, value)


def _jv(x: Array, n: int) -> Array:
    from scipy import special

    size = np.abs(x)
    value: Array = np.array((special.j0, special.j1)[n](size) if n < 2 else special.jv(n, size))
    far = (size > max(25, n)) & np.isfinite(size)
    if n < 2:
        # j0 and j1 round the phase; jv does not.
        value[far] = special.jv(n, size[far])
    else:
        value = _near_zero(size, n, -1.0, value)
        # Before its asymptotic series jv rounds the phase, too; upwards the recurrence is stable.
        between = far & (size < 25 + n**2)
        value[between] = _recurrence(size[between], n)
    value = np.where(np.isinf(x), 0.0, value)
    return np.where(x < 0, -value, value) if n % 2 else value


def _recurrence(x: Array, n: int) -> Array:
    """J_n by J_0 and J_1, for x > n."""
    from scipy import special

    before, here = special.jv(0, x), special.jv(1, x)
    for k in range(1, n):
        before, here = here, 2 * k / x * here - before
    found: Array = here
    return found


def _jv_slope(x: Any, out: Any, *, n: int) -> Any:
    if n == 0:
        return negative(jv(x, n=1))
    return multiply(subtract(jv(x, n=n - 1), jv(x, n=n + 1)), 0.5)


@in_double(lambda x, *, n: _jv(x, n), _jv_slope)
def jv(x: Operand, *, n: int) -> TensorType:
    """The Bessel function of the first kind of order n."""
    check_order(n, MAX_N)
    return same(FLOATING, x)


def _iv(x: Array, n: int) -> Array:
    from scipy import special

    size = np.abs(x)
    value: Array = (special.i0, special.i1)[n](size) if n < 2 else special.iv(n, size)
    # Finite further than exp, which SciPy's is a multiple of.
    half = np.exp(np.clip(size, 700.0, 2000.0) / 2)
    # SciPy's is NaN of what is so large that a phase there would have no digit.
    scaled = special.ive(n, np.minimum(size, 1e4))
    value = np.where(size > 700, half * (half * scaled), value)
    value = np.where(np.isinf(size), np.inf, value)
    if n > 1:
        value = _near_zero(size, n, 1.0, value)
    return np.copysign(value, x) if n % 2 else value


def _iv_slope(x: Any, out: Any, *, n: int) -> Any:
    if n == 0:
        return iv(x, n=1)
    return multiply(add(iv(x, n=n - 1), iv(x, n=n + 1)), 0.5)


@in_double(lambda x, *, n: _iv(x, n), _iv_slope)
def iv(x: Operand, *, n: int) -> TensorType:
    """The modified Bessel function of the first kind of order n."""
    check_order(n, MAX_N)
    return same(FLOATING, x)


def _ive(x: Array, n: int, order: int) -> Array:
    """The derivative of exp(-abs(x)) iv(x)."""
    from scipy import special

    size = np.abs(x)
    if order:
        value = _ive_derivative(size, n, order)
    else:
        value = (special.i0e, special.i1e)[n](size) if n < 2 else special.ive(n, size)
        value = np.where(np.isinf(size), 0.0, value)
    signed: Array = value * np.sign(x) if (n + order) % 2 else value
    return signed


def _ive_derivative(x: Array, n: int, order: int) -> Array:
    # The trapezoidal rule: of a period, or of what rises above rounding, it is exact.
    x = x[..., None]
    reach = 45.0 / np.maximum(x, 1e-300)
    half = math.pi
    width = np.where(reach < 1, 2 * np.arcsin(np.sqrt(np.minimum(reach, 2.0) / 2)), half)
    angle = width * (np.arange(_PLACES + 1) / _PLACES)
    fall = -2 * np.square(np.sin(angle / 2))
    values = fall**order * np.exp(x * fall) * np.cos(n * angle)
    values[..., 0] /= 2
    values[..., -1] /= 2
    found: Array = values.sum(-1) * (width[..., 0] / (_PLACES * math.pi))
    return np.where(np.isinf(x[..., 0]), 0.0, found)


def _ive_slope(x: Any, out: Any, *, n: int, order: int) -> Any:
    return ive(x, n=n, order=order + 1)


@in_double(lambda x, *, n, order: _ive(x, n, order), _ive_slope)
def ive(x: Operand, *, n: int, order: int = 0) -> TensorType:
    """exp(-abs(x)) iv(x), or its derivative of an order; at the kink the mean of both sides."""
    check_order(n, 1)
    check_order(order, MAX_ORDER)
    return same(FLOATING, x)


def _upwards(zero: Array, one: Array, x: Array, n: int) -> list[Array]:
    """K_0 ... K_n of the first two: all terms of the recurrence are positive."""
    found = [zero, one]
    for k in range(1, n):
        found.append(found[-2] + 2 * k / x * found[-1])
    return found


def _to_zero(x: Array, zero: Array, one: Array) -> tuple[Array, Array]:
    """K_0 and K_1, also of the smallest numbers, of which SciPy's are infinite and NaN."""
    tiny = (x > 0) & (x < 1e-300)
    logarithm = math.log(2) - np.euler_gamma - np.log(x)
    return np.where(tiny, logarithm, zero), np.where(tiny, 1 / x, one)


def _kv(x: Array, n: int) -> Array:
    from scipy import special

    # Both zeros are the end of the positive numbers.
    x = x + 0.0
    return _upwards(*_to_zero(x, special.k0(x), special.k1(x)), x, n)[n]


def _kv_slope(x: Any, out: Any, *, n: int) -> Any:
    if n == 0:
        return negative(kv(x, n=1))
    return multiply(add(kv(x, n=n - 1), kv(x, n=n + 1)), -0.5)


@in_double(lambda x, *, n: _kv(x, n), _kv_slope)
def kv(x: Operand, *, n: int) -> TensorType:
    """The modified Bessel function of the second kind of order n; inf at 0, NaN below."""
    check_order(n, MAX_N)
    return same(FLOATING, x)


def _kve(x: Array, n: int, order: int) -> Array:
    """The derivative of exp(x) kv(x)."""
    from scipy import special

    zero, one = _to_zero(x, special.k0e(x), special.k1e(x))
    if order == 0:
        value: Array = one if n else zero
        return value
    near = _kve_near(_upwards(zero, one, x, n + order), n, order)
    far = np.where(x > 1, x, 1.0)[..., None]
    width = 2 * np.arcsinh(np.sqrt(22.5 / far))
    places = width * (np.arange(_PLACES + 1) / _PLACES)
    rise = -2 * np.square(np.sinh(places / 2))
    values = rise**order * np.exp(far * rise) * np.cosh(n * places)
    values[..., 0] /= 2
    integral: Array = values.sum(-1) * (width[..., 0] / _PLACES)
    found = np.where(x > 1, integral, near)
    return np.where(x == 0, (-1) ** order * np.inf, np.where(x == np.inf, 0.0, found))


def _kve_near(neighbours: list[Array], n: int, order: int) -> Array:
    """By Leibniz' rule, of exp(x) K: where x is small the highest neighbour exceeds all others."""
    total = np.zeros_like(neighbours[0])
    highest = neighbours[-1]
    for j in range(order + 1):
        inner = np.zeros_like(total)
        for i in range(j + 1):
            inner = inner + math.comb(j, i) * neighbours[abs(n - j + 2 * i)]
        total = total + math.comb(order, j) * (-0.5) ** j * inner
    return np.where(np.isinf(highest), (-1) ** order * highest, total)


def _kve_slope(x: Any, out: Any, *, n: int, order: int) -> Any:
    return kve(x, n=n, order=order + 1)


@in_double(lambda x, *, n, order: _kve(x, n, order), _kve_slope)
def kve(x: Operand, *, n: int, order: int = 0) -> TensorType:
    """exp(x) kv(x), or its derivative of an order."""
    check_order(n, 1)
    check_order(order, MAX_ORDER)
    return same(FLOATING, x)
