"""Terms of relative entropies, with their digits where two distributions are nearly equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, divide, negative, reciprocal, subtract
from .asymptotics import deviance
from .asymptotics import log_ratio as log_ratio_meaning
from .comparison import greater, greater_equal, logical_and
from .in_double import in_double
from .pointwise import same, select


@in_double(
    log_ratio_meaning,
    (lambda x, y, out: reciprocal(x), lambda x, y, out: negative(reciprocal(y))),
)
def log_ratio(x: Operand, y: Operand) -> TensorType:
    """log(x / y) of numbers that are not negative."""
    return same(FLOATING, x, y)


def _terms(x: Array, y: Array, inside: Array, at_zero: Array) -> Array:
    """inside where x and y are positive, at_zero where x is 0 and y is not negative, else inf."""
    found: Array = np.where(
        (x > 0) & (y > 0), inside, np.where((x == 0) & (y >= 0), at_zero, np.inf)
    )
    return np.where(np.isnan(x) | np.isnan(y), np.nan, found)


def _rel_entr(x: Array, y: Array) -> Array:
    return _terms(x, y, x * log_ratio_meaning(x, y), np.zeros(()))


def _kl_div(x: Array, y: Array) -> Array:
    return _terms(x, y, deviance(x, y), y)


def _known(x: Any, y: Any, slope: Any) -> Any:
    """A slope where the value is a smooth function; elsewhere it is infinite, and the slope 0."""
    return select(logical_and(greater_equal(x, 0), greater(y, 0)), slope)


@in_double(
    _rel_entr,
    (
        lambda x, y, out: _known(x, y, add(log_ratio(x, y), 1)),
        lambda x, y, out: _known(x, y, negative(divide(x, y))),
    ),
)
def rel_entr(x: Operand, y: Operand) -> TensorType:
    """x log(x / y); 0 where x is 0 and y is not negative, else inf unless both are positive."""
    return same(FLOATING, x, y)


@in_double(
    _kl_div,
    (
        lambda x, y, out: _known(x, y, log_ratio(x, y)),
        lambda x, y, out: _known(x, y, divide(subtract(y, x), y)),
    ),
)
def kl_div(x: Operand, y: Operand) -> TensorType:
    """x log(x / y) - x + y; y where x is 0 and y is not negative, else inf unless both are
    positive."""
    return same(FLOATING, x, y)
