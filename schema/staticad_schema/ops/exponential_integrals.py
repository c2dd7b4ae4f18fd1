"""Exponential integrals, and the relative exponential with its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import divide, negative
from .exponential import exp
from .in_double import check_order, in_double
from .pointwise import same

MAX_ORDER = 20
_NODES = 48


def _expi(x: Array) -> Array:
    from scipy import special

    found: Array = special.expi(x)
    return found


@in_double(_expi, lambda x, out: divide(exp(x), x))
def expi(x: Operand) -> TensorType:
    """The integral of exp(t) / t from -inf to x, its principal value right of 0; -inf at 0."""
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
        found: Array = special.exprel(x)
        return found
    # Positive terms near 0; beyond, the recurrence by parts loses nothing.
    reach = 10.0 + order
    near = np.clip(x, -reach, reach)[..., None]
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    places = (nodes + 1) / 2
    inside: Array = (np.exp(near * places) * places**order) @ (weights / 2)
    if not (np.abs(x) > reach).any():
        return np.where(np.isnan(x), x, inside)
    power = np.exp(x)
    beyond = special.exprel(x)
    for k in range(1, order + 1):
        beyond = (power - k * beyond) / x
    beyond = np.where(np.isinf(x), np.maximum(x, 0.0), beyond)
    return np.where(np.abs(x) > reach, beyond, np.where(np.isnan(x), x, inside))


def _exprel_slope(x: Any, out: Any, *, order: int) -> Any:
    return exprel(x, order=order + 1)


@in_double(lambda x, *, order: _exprel(x, order), _exprel_slope)
def exprel(x: Operand, *, order: int = 0) -> TensorType:
    """(exp(x) - 1) / x, 1 at 0, or its derivative of an order."""
    check_order(order, MAX_ORDER)
    return same(FLOATING, x)
