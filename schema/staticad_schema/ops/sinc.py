"""The normalised sinc and its derivatives, each with its digits on the whole line.

The quotients of the product rule cancel near 0, more with each derivative, so the derivatives
are one family: n of them is an attribute, and differentiating adds one to it.
"""

from __future__ import annotations

import math
from itertools import count
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..op import Operand, each, op
from ..types import FLOATING, Array, TensorType
from . import elementwise as e
from .pointwise import pushed, same, scaled

MAX_ORDER = 50


def _series(square: Any, order: int, reach: float) -> Any:
    """What z**(order % 2) is multiplied by to give the derivative where |z| < reach.

    The derivative of sin(z) / z is the integral of t**order cos(z t + order pi/2) over t from
    0 to 1, taken term by term.
    """
    odd = order % 2
    terms = next(k for k in count(1) if reach ** (2 * k) / math.factorial(2 * k) < 2.0**-60)
    total: Any = None
    for k in reversed(range(terms)):
        power = 2 * k + odd
        sign = -1 if (k + (order + 1) // 2) % 2 else 1
        term = sign / (math.factorial(power) * (power + order + 1))
        total = term if total is None else total * square + term
    return total


def _derivative(f: Any, x: Any, order: int) -> Any:
    """The derivative, with f's functions: NumPy's of arrays, or ops of handles."""
    z = x * math.pi
    whole = f.round(x)
    # sin(pi x) from the distance to the nearest integer, which is exact.
    turn, half = (x - whole) * math.pi, whole * 0.5
    odd = f.round(half) != half
    sine = f.sin(turn)
    sine = f.where(odd, -sine, sine)
    far = sine / z
    if order == 0:
        return f.where(x == 0, x + 1.0, far)
    cosine = f.cos(turn)
    cosine = f.where(odd, -cosine, cosine)
    ahead = (sine, cosine, -sine, -cosine)
    for k in range(1, order + 1):
        far = (ahead[k % 4] - far * float(k)) / z
    # Up to here the recurrence loses digits, and from here on the series.
    reach = 2.0 + 0.6 * order
    near = _series(z * z, order, reach)
    if order % 2:
        near = near * z
    return f.where(abs(z) < reach, near, far) * math.pi**order


def _sinc(x: Array, *, order: int) -> Array:
    result: Array = _derivative(np, x, order)
    return result


def _sinc_grad(x: Any, out: Any, g: Any, *, order: int) -> Any:
    return scaled(sinc(x, order=order + 1), g)


def _sinc_jvp(x: Any, out: Any, tangents: tuple[Any], *, order: int) -> Any:
    return pushed(sinc(x, order=order + 1), tangents[0])


@op(
    numpy=_sinc,
    expand=lambda x, *, order: _derivative(e, x, order),
    grad=each(_sinc_grad),
    jvp=_sinc_jvp,
    batch="elementwise",
    elementwise=True,
    widen=True,
)
def sinc(x: Operand, *, order: int = 0) -> TensorType:
    """sin(pi x) / (pi x), 1 at 0 and exactly 0 at other integers; or its derivative of an order."""
    if not 0 <= order <= MAX_ORDER:
        raise ArgumentError(
            "not an order of a derivative", expected=f"0 to {MAX_ORDER}", found=str(order)
        )
    return same(FLOATING, x)
