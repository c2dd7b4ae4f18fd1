"""The Hurwitz zeta function and its derivatives, by the formula of Euler and Maclaurin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, multiply, negative
from .asymptotics import BERNOULLI
from .in_double import check_order, in_double
from .pointwise import same

MAX_ORDER = 10
_TERMS = 12

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
        found: Array = special.zeta(s, q)
        return np.where((s == np.inf) & (q > 0), _limit(q), found)
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


def _limit(q: Array) -> Array:
    found: Array = np.where(q < 1, np.inf, np.where(q == 1, 1.0, 0.0))
    return found


def _in_q(s: Any, q: Any, out: Any, *, order: int) -> Any:
    # The derivatives in s of -s zeta(s + 1, q).
    above = add(s, 1)
    found = multiply(s, zeta(above, q, order=order))
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
