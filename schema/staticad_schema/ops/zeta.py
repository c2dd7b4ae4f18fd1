"""The zeta functions of Hurwitz and of Riemann, with their derivatives in s.

Hurwitz' is summed by the formula of Euler and Maclaurin, for s > 1.  Riemann's is that of q = 1
right of 2, its Laurent series around 1 (NIST Digital Library of Mathematical Functions, 25.2.4),
and left of that the reflection 25.4.1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import OPS, Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, multiply, multiply_no_nan, negative
from .asymptotics import BERNOULLI
from .in_double import check_order, in_double
from .pointwise import same
from .polygamma import polygamma_meaning
from .quadrature import powers

MAX_ORDER = 10
_TERMS = 12

# zeta(s) - 1 / (s - 1) in powers of s - 1: Stieltjes' constants over factorials.
_LAURENT = (
    0.5772156649015329, 0.07281584548367673, -0.00484518159643616, -0.00034230573671722433,
    9.689041939447084e-05, -6.6110318108421895e-06, -3.316240908752772e-07,
    1.0462094584479188e-07, -8.733218100273798e-09, 9.47827778276236e-11, 5.658421927608708e-11,
    -6.768689863513697e-12, 3.4921159366720317e-13, 4.4104247417577536e-15,
    -2.3997862217709992e-15, 2.1677312200726828e-16, -9.544466076366965e-18,
    -7.387676660538637e-20, 4.800850782488065e-20, -4.139956737713306e-21,
    1.9168201593991233e-22, -2.0441543122262165e-24, -4.818498501107353e-25,
    4.8118570515125666e-26, -2.560263310318815e-27, 6.927840895304667e-29, 1.628607550485587e-30,
    -3.1939375611532554e-31, 2.0991515893634255e-32, -8.33674529544144e-34,
    1.3412593772192187e-35, 9.137143891298173e-37,
)  # fmt: skip
_LEFT, _RIGHT = -0.5, 2.0
"""Between these the Laurent series has all digits."""

# Taylor coefficients in s, from the constant one on, as far as they are asked.
Jet = list[Array]


def _product(a: Jet, b: Jet) -> Jet:
    found = []
    for n in range(len(a)):
        total = a[n] * b[0]
        for k in range(n):
            total = total + a[k] * b[n - k]
        found.append(total)
    return found


def _linear(value: Array, length: int) -> Jet:
    return [value, np.ones_like(value), *[np.zeros_like(value)] * (length - 2)][:length]


def _power(base: Array, s: Array, length: int) -> Jet:
    """base**-s."""
    logarithm = -np.log(base)
    found = [np.power(base, -s)]
    for k in range(1, length):
        found.append(found[-1] * logarithm / k)
    return found


def _zeta(s: Array, q: Array, order: int) -> Array:
    from scipy import special

    if order == 0:
        # SciPy's is NaN of the largest s, of which one term is left, if any.
        found: Array = special.zeta(np.minimum(s, 1e10), q)
        return np.where((s > 1e10) & (q > 0), np.power(q, -s), found)
    s, q = np.broadcast_arrays(s, q)
    inside = (s > 1) & (q > 0) & np.isfinite(s) & np.isfinite(q)
    x, base = np.where(inside, s, 2.0), np.where(inside, q, 1.0)
    length = order + 1
    total: Jet = [np.zeros_like(x)] * length
    for _ in range(_TERMS):
        total = [a + b for a, b in zip(total, _power(base, x, length), strict=True)]
        base = base + 1
    last = _power(base, x, length)
    reciprocal = [1 / (x - 1)]
    for _ in range(1, length):
        reciprocal.append(-reciprocal[-1] * reciprocal[0])
    tail = [base * a for a in _product(last, reciprocal)]
    tail = [a + b / 2 for a, b in zip(tail, last, strict=True)]
    rising = [a / base for a in _product(last, _linear(x, length))]
    for k in range(1, len(BERNOULLI) + 1):
        factor = BERNOULLI[k - 1] / math.factorial(2 * k)
        tail = [a + factor * b for a, b in zip(tail, rising, strict=True)]
        for shift in (2 * k - 1, 2 * k):
            rising = [a / base for a in _product(rising, _linear(x + shift, length))]
    value = math.factorial(order) * (total[order] + tail[order])
    pole = np.where((s == 1) & (q > 0), (-1) ** order * np.inf, np.nan)
    far = ((s == np.inf) & (q >= 1)) | ((s > 1) & (q == np.inf))
    return np.where(inside, value, np.where(far, 0.0, pole))


def _in_q(s: Any, q: Any, out: Any, *, order: int) -> Any:
    # The derivatives in s of -s zeta(s + 1, q).
    above = add(s, 1)
    found = multiply_no_nan(s, zeta(above, q, order=order))
    if order:
        found = add(found, multiply(zeta(above, q, order=order - 1), float(order)))
    return negative(found)


def _in_s(s: Any, q: Any, out: Any, *, order: int) -> Any:
    return zeta(s, q, order=order + 1)


@in_double(lambda s, q, *, order: _zeta(s, q, order), (_in_s, _in_q))
def zeta(s: Operand, q: Operand, *, order: int = 0) -> TensorType:
    """The sum of (q + k)**-s over k from 0 on, for s > 1, or its derivative in s of an order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, s, q)


def _riemann(s: Array, order: int) -> Array:
    from scipy import special

    if order == 0:
        value = np.array(special.zeta(s))
    else:
        value = np.where(s == np.inf, 0.0, np.full_like(s, np.nan))
        far = (s > _RIGHT) & np.isfinite(s)
        value[far] = _zeta(s[far], np.ones(()), order)
    near, left = (s >= _LEFT) & (s <= _RIGHT), (s < _LEFT) & np.isfinite(s)
    value[near] = _around_one(s[near] - 1, order)
    if left.any():
        value[left] = _reflected(s[left], order)
    return value


def _around_one(x: Array, order: int) -> Array:
    """The derivative at 1 + x."""
    total = np.zeros_like(x)
    for n in reversed(range(order, len(_LAURENT))):
        total = total * x + _LAURENT[n] * math.perm(n, order)
    # Both zeros are the right side of the pole.
    pole = (-1) ** order * math.factorial(order) / np.power(x + 0.0, order + 1)
    value: Array = total + pole
    return value


def _reflected(s: Array, order: int) -> Array:
    """The derivative of 2 (2 pi)**-t gamma(t) sin(pi s / 2) zeta(t), where t = 1 - s."""
    from scipy import special

    t, length = 1 - s, order + 1
    # Over its value, which may be infinite.
    logarithm = [math.log(2 * math.pi) - polygamma_meaning(t, 0)]
    logarithm += [(-1) ** k * polygamma_meaning(t, k - 1) for k in range(2, length)]
    growth = [a / math.factorial(k) for k, a in enumerate(powers(logarithm[:order]))]
    turns = np.round(s / 2)
    offset = (s - 2 * turns) * (math.pi / 2)
    wave = [np.sin(offset), np.cos(offset)][:length]
    for _ in range(2, length):
        wave.append(-wave[-2])
    sine = [a * (math.pi / 2) ** k / math.factorial(k) for k, a in enumerate(wave)]
    ahead = [special.zeta(t)] + [_riemann(t, k) / math.factorial(k) for k in range(1, length)]
    mirrored = [(-1) ** k * a for k, a in enumerate(ahead)]
    total = _product(_product(growth, sine), mirrored)[order]
    # By the duplication formula, as gamma(t) overflows first; pi is not the nearest float.
    finite = np.minimum(t, 300.0)
    power = np.power(math.pi, -finite) * np.exp(-3.8981718325193755e-17 * finite)
    other = finite / 2 + 0.5
    # What 1 - s and the half more lost, times the derivative of the logarithm (but for 1 / t).
    lost = (1 - (t + s)) * np.log(t / (2 * math.pi))
    lost = lost + (0.5 - (other - finite / 2)) * np.log(other)
    scale = special.gamma(finite / 2) * power * special.gamma(other) * (1 + lost)
    scale = np.where(t > finite, np.inf, scale / math.sqrt(math.pi))
    sign = np.where(np.mod(turns, 2) == 0, 1.0, -1.0)
    value: Array = total * (math.factorial(order) * sign) * scale
    return np.where(total == 0, 0.0, value)


@in_double(
    lambda s, *, order: _riemann(s, order),
    lambda s, out, *, order: OPS["riemann_zeta"](s, order=order + 1),
)
def riemann_zeta(s: Operand, *, order: int = 0) -> TensorType:
    """Riemann's zeta function on the whole line, or its derivative of an order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, s)
