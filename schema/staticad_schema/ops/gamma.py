"""The gamma function, its logarithm, and the beta function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import multiply, negative
from .asymptotics import HALF_LOG_TAU, LARGE, stirling_error
from .comparison import equal, isinf, logical_and, logical_not, logical_or
from .in_double import in_double
from .pointwise import same, select
from .polygamma import polygamma, polygamma_step


def _gammaln(x: Array) -> Array:
    from scipy import special

    found: Array = np.where(np.isinf(x), np.inf, special.gammaln(x))
    return found


@in_double(_gammaln, lambda x, out: polygamma(x, order=0))
def gammaln(x: Operand) -> TensorType:
    """log(abs(gamma(x))); inf at 0, at negative integers and at infinities."""
    return same(FLOATING, x)


def _gamma(x: Array) -> Array:
    from scipy import special

    found: Array = special.gamma(x)
    return found


def _gamma_slope(x: Any, out: Any) -> Any:
    return multiply(out, polygamma(x, order=0))


@in_double(_gamma, _gamma_slope)
def gamma(x: Operand) -> TensorType:
    """The gamma function; infinite at 0, with its sign, NaN at negative integers."""
    return same(FLOATING, x)


def betaln_meaning(a: Array, b: Array) -> Array:
    """log(abs(beta(a, b)))."""
    from scipy import special

    a, b = np.broadcast_arrays(a, b)
    p, q = np.minimum(a, b), np.maximum(a, b)
    usual = (p > 0) & np.isfinite(q) & (q >= LARGE)
    few, many = np.where(usual, p, 1.0), np.where(usual, q, LARGE)
    both = few + many
    rest = stirling_error(many) - stirling_error(both)
    # The large one's logarithm of gamma cancels that of the sum.
    tail = (many - 0.5) * -np.log1p(few / many)
    one = special.gammaln(few) + rest + few - few * np.log(both) + tail
    large = np.maximum(few, LARGE)
    two = (
        HALF_LOG_TAU
        - 0.5 * np.log(many)
        + (stirling_error(large) + rest)
        + (few - 0.5) * -np.log1p(many / few)
        + many * -np.log1p(few / many)
    )
    found: Array = np.where(few >= LARGE, two, one)
    return np.where(usual, found, special.betaln(a, b))


def _betaln_slope(a: Any, b: Any, out: Any) -> Any:
    return negative(polygamma_step(a, b, order=0))


@in_double(betaln_meaning, (_betaln_slope, lambda a, b, out: _betaln_slope(b, a, out)))
def betaln(a: Operand, b: Operand) -> TensorType:
    """log(abs(beta(a, b)))."""
    return same(FLOATING, a, b)


def _beta(a: Array, b: Array) -> Array:
    from scipy import special

    direct: Array = special.beta(a, b)
    usual = (a > 0) & (b > 0) & (np.maximum(a, b) >= LARGE)
    return np.where(usual, np.exp(betaln_meaning(a, b)), direct)


def _beta_slope(a: Any, b: Any, out: Any) -> Any:
    # 0 times an infinite rate, where a parameter is infinite.
    flat = logical_and(equal(out, 0), logical_or(isinf(a), isinf(b)))
    return select(logical_not(flat), multiply(out, _betaln_slope(a, b, out)))


@in_double(_beta, (_beta_slope, lambda a, b, out: _beta_slope(b, a, out)))
def beta(a: Operand, b: Operand) -> TensorType:
    """gamma(a) gamma(b) / gamma(a + b)."""
    return same(FLOATING, a, b)
