"""Quantiles, of which samplers are made: what they draw is a function of one uniform number.

Where numbers of the distribution underflow, or crowd at an end, it is their logarithm that is
found, or found from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..op import Operand, constant
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, divide, multiply, negative, reciprocal, subtract
from .comparison import less
from .error_functions import normal_hazard
from .exponential import exp
from .in_double import in_double
from .incomplete_gamma import gamma_density, gammainc
from .pointwise import same, select
from .polygamma import polygamma
from .selection import maximum

_MANY = 1e6
"""From this variance on, counts are the rounded expansion, which errs by less than 1e-5."""
_FEW = -40.0
"""Below this logarithm a gamma distribution function is a power, to the last digit."""


def _log_gamma_quantile(a: Array, u: Array) -> Array:
    from scipy import special

    # P(a, x) = x**a / gamma(a + 1), for small x.
    few = (np.log(u) + special.gammaln(a + 1)) / a
    low, high = np.minimum(u, 0.5), np.minimum(1 - u, 0.5)
    usual = np.where(u <= 0.5, special.gammaincinv(a, low), special.gammainccinv(a, high))
    found = np.where(few < _FEW, few, np.log(usual))
    inside = (u >= 0) & (u <= 1)
    found = np.where((a == 0) & (u < 1), -np.inf, found)
    found = np.where((a == np.inf) & (u > 0), np.inf, found)
    return np.where(inside & (a >= 0), found, np.nan)


def _mass(a: Any, out: Any) -> tuple[Any, Any]:
    """exp(out), not too small, and the gamma density there times it."""
    z = maximum(exp(out), out.coerce(math.exp(_FEW)))
    return z, multiply(gamma_density(add(a, 1), z), a)


def _in_a(a: Any, u: Any, out: Any) -> Any:
    z, mass = _mass(a, out)
    usual = negative(divide(gammainc(a, z, order=1), mass))
    few = divide(subtract(polygamma(add(a, 1), order=0), out), a)
    return select(less(out, _FEW), few, usual)


def _in_u(a: Any, u: Any, out: Any) -> Any:
    usual = reciprocal(_mass(a, out)[1])
    return select(less(out, _FEW), reciprocal(multiply(a, u)), usual)


@in_double(_log_gamma_quantile, (_in_a, _in_u))
def log_gamma_quantile(a: Operand, u: Operand) -> TensorType:
    """log x of the x below which a gamma distribution of shape a has the probability u.

    Its derivatives are implicit ones: those of u over those of log x (Figurnov, Mohamed and Mnih,
    "Implicit reparameterization gradients", 2018).
    """
    return same(FLOATING, a, u)


def _ndtri_exp(y: Array) -> Array:
    from scipy import special

    found: Array = special.ndtri_exp(y)
    return found


@in_double(_ndtri_exp, lambda y, out: reciprocal(normal_hazard(out)))
def ndtri_exp(y: Operand) -> TensorType:
    """The quantile of the normal distribution of a probability exp(y): the inverse of log_ndtr."""
    return same(FLOATING, y)


def _least_count(
    distribution: Callable[..., Array], u: Array, start: Array, *given: Array
) -> Array:
    """The least integer from 0 on with distribution(it, *given) >= u, looked for from `start`.

    It is bracketed by steps that double, then halved: a function of the operands alone.
    """
    high = np.maximum(np.floor(start), 0.0)
    low = high - 1
    step = np.maximum(1.0, np.spacing(high))
    open_ = np.flatnonzero(~np.isnan(high))
    reached = np.zeros(high.shape, bool)

    def at(k: Array, places: Array) -> Array:
        enough: Array = distribution(k, *(g[places] for g in given)) >= u[places]
        return enough

    while open_.size:
        enough = at(high[open_], open_)
        short = open_[~enough]
        low[short] = high[short]
        high[short] += step[short]
        step[short] *= 2
        reached[short] = True
        open_ = short
    # Where the start was enough, low may be, too.
    step = np.maximum(1.0, np.spacing(np.maximum(high, 0)))
    open_ = np.flatnonzero(~reached & (low >= 0))
    while open_.size:
        enough = at(low[open_], open_)
        more = open_[enough]
        high[more] = low[more]
        low[more] = np.maximum(low[more] - step[more], -1.0)
        step[more] *= 2
        open_ = more[low[more] >= 0]
    open_ = np.flatnonzero(high - low > 1)
    while open_.size:
        middle = np.floor(low[open_] + (high[open_] - low[open_]) / 2)
        inner = (middle > low[open_]) & (middle < high[open_])
        open_, middle = open_[inner], middle[inner]
        enough = at(middle, open_)
        high[open_] = np.where(enough, middle, high[open_])
        low[open_] = np.where(enough, low[open_], middle)
        open_ = open_[high[open_] - low[open_] > 1]
    return high


def _guess(mean: Array, variance: Array, skew: Array, excess: Array, u: Array) -> Array:
    """By the expansion of Cornish and Fisher, with the fourth cumulant.

    skew, excess: the third and fourth cumulant over the variance.  In units of a count it errs by
    some multiple of 1 / variance.
    """
    from scipy import special

    z = special.ndtri(u)
    spread = np.sqrt(variance)
    fourth = excess * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    third = skew * (z**2 - 1) / 6
    found: Array = mean + spread * z + third + fourth / np.maximum(spread, 0.5)
    return found


def _counts(
    usual: Array,
    variance: Array,
    distribution: Callable[..., Array],
    u: Array,
    start: Array,
    *given: Array,
) -> Array:
    """The counts where their parameters are `usual`, NaN elsewhere."""
    found = np.where(usual, np.maximum(np.rint(start), 0.0), np.nan)
    places = usual & (u > 0) & (u < 1) & (variance < _MANY)
    chosen = (v[places] for v in (u, start, *given))
    found[places] = _least_count(distribution, *chosen)
    found[usual & (u == 0)] = 0.0
    return found


def _poisson_quantile(rate: Array, u: Array) -> Array:
    from scipy import special

    rate, u = np.broadcast_arrays(rate, u)
    start = _guess(rate, rate, np.ones_like(u), np.ones_like(u), u)
    usual = (rate >= 0) & (rate < np.inf)
    found = _counts(usual, rate, lambda k, m: special.gammaincc(k + 1, m), u, start, rate)
    return np.where((u == 1) & usual, np.where(rate > 0, np.inf, 0.0), found)


@in_double(_poisson_quantile, constant)
def poisson_quantile(rate: Operand, u: Operand) -> TensorType:
    """The least count that a Poisson distribution does not exceed with probability u; NaN for a
    rate that is negative or infinite."""
    return same(FLOATING, rate, u)


def _binomial_distribution(k: Array, n: Array, p: Array) -> Array:
    from scipy import special

    inside = k < n
    chance: Array = special.betaincc(k + 1, np.where(inside, n - k, 1.0), p)
    return np.where(inside, chance, 1.0)


def _binomial_quantile(n: Array, p: Array, u: Array) -> Array:
    n, p, u = np.broadcast_arrays(np.floor(n), p, u)
    variance = n * p * (1 - p)
    start = np.minimum(_guess(n * p, variance, 1 - 2 * p, 1 - 6 * p * (1 - p), u), n)
    usual = (n >= 0) & (n < np.inf) & (p >= 0) & (p <= 1)
    found = _counts(usual, variance, _binomial_distribution, u, start, n, p)
    return np.where((u == 1) & usual, np.where(p > 0, n, 0.0), found)


@in_double(_binomial_quantile, constant)
def binomial_quantile(n: Operand, p: Operand, u: Operand) -> TensorType:
    """The least number of successes that n trials of probability p do not exceed with probability
    u.  n is rounded down; NaN if it is negative or infinite, and for a p that is no probability."""
    return same(FLOATING, n, p, u)
