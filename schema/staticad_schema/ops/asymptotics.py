"""Remainders of Stirling's formula and deviances: what is left where large terms cancel.

All are functions of float64 arrays.  Densities are written with them as in C. Loader, "Fast and
Accurate Computation of Binomial Probabilities" (2000).
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array

# B_2k for k = 1, 2, ...
BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798,
    -174611 / 330, 854513 / 138, -236364091 / 2730,
)  # fmt: skip
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
LARGE = 10.0
"""From here on the series of Stirling's formula have all digits."""


def stirling_error(a: Array) -> Array:
    """log(gamma(a)) - ((a - 1/2) log(a) - a + log(2 pi) / 2), for a >= LARGE."""
    square = 1 / np.square(a)
    total = np.zeros_like(a)
    for k in reversed(range(1, 10)):
        total = total * square + BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    return total / a


def deviance(x: Array, mean: Array) -> Array:
    """x log(x / mean) + mean - x, not negative; 0 where they are equal, however large."""
    x, mean = np.broadcast_arrays(x, mean)
    apart = (x - mean) / (x + mean)
    square = np.square(apart)
    series = np.zeros_like(square)
    for k in reversed(range(1, 10)):
        series = (series + 1 / (2 * k + 1)) * square
    near = (x - mean) * apart + 2 * x * apart * series
    logs = log_ratio(x, mean)
    far = np.where(x == 0, mean, x * logs + (mean - x))
    found: Array = np.where(np.abs(apart) < 0.1, near, far)
    return found


def log_ratio(x: Array, y: Array) -> Array:
    """log(x / y) for x and y that are not negative."""
    ratio = x / y
    close = np.abs(ratio - 1) < 0.5
    apart = np.log1p(np.where(close, (x - y) / y, 0.0))
    # A quotient that leaves the range is a difference of logarithms, which is large then.
    plain = (ratio > 1e-300) & (ratio < 1e300)
    wide: Array = np.where(plain, np.log(ratio), np.log(x) - np.log(y))
    found: Array = np.where(close, apart, wide)
    return found


def expm1_rest(u: Array) -> Array:
    """exp(u) - 1 - u."""
    small = np.abs(u) < 0.5
    z = np.where(small, u, 0.0)
    series = np.zeros_like(z)
    for k in reversed(range(2, 17)):
        series = (series + 1 / math.factorial(k)) * z
    found: Array = np.where(small, series * z, np.expm1(u) - u)
    return found


def log_minus_digamma(x: Array, a: Array) -> Array:
    """log(x) - digamma(a + 1), for a of at least 0."""
    from scipy import special

    large = np.maximum(a, LARGE)
    square = 1 / np.square(large)
    rest = np.zeros_like(large)
    for k in reversed(range(1, 10)):
        rest = (rest + BERNOULLI[k - 1] / (2 * k)) * square
    found: Array = np.where(
        a >= LARGE,
        log_ratio(x, large) - 0.5 / large + rest,
        np.log(x) - special.digamma(np.minimum(a, LARGE) + 1),
    )
    return found
