"""Moments of gradients: squares, and the bias of averages that begin with 0."""

from __future__ import annotations

import math
from typing import Any

from ..operands import result
from ..ops.elementwise import conj, expm1, square


def squared(g: Any) -> Any:
    """The square of the absolute value, in g's dtype."""
    return result(g * conj(g)) if g.type.kind == "complex" else square(g)


def averaged(average: Any, new: Any, keep: float) -> Any:
    """`keep` of the average, and what is missing to 1 of the new value."""
    return average * keep + new * (1.0 - keep)


def correction(t: Any, beta: float) -> Any:
    """1 - beta**t, which loses no digits while t is small; t is at least 1."""
    return -expm1(t * (math.log(beta) if beta else -math.inf))
