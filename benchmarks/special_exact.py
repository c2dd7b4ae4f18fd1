"""The special functions in mpmath, each by a formula that has the digits of the working precision.

What their accuracy is measured against; nothing here knows what it is compared with, but for the
starts of Newton's iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
from scipy import special


def erfcx(x: Any) -> Any:
    """exp(x**2) erfc(x)."""
    if x > 1e4:
        # The asymptotic series: the product of the factors would need millions of digits.
        total, term = mp.mpf(0), mp.mpf(1)
        for k in range(12):
            total += term
            term *= -(2 * k + 1) / (2 * x * x)
        return total / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_slope(x: Any) -> Any:
    """The derivative of erfcx."""
    if x > 1:
        return slope(erfcx)(x)
    # A difference would have no digits of tiny numbers.
    return 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi)


def root(f: Any, slope: Any, start: Any) -> Any:
    """Newton's iteration from a value of float64."""
    x = mp.mpf(float(start))
    for _ in range(3):
        x -= f(x) / slope(x)
    return x


def erfcinv(x: Any) -> Any:
    """The inverse of erfc."""
    start = special.erfcinv(float(x))
    # In logarithms, which are straight where erfc is steep.
    return root(
        lambda t: mp.log(mp.erfc(t)) - mp.log(x),
        lambda t: -2 / mp.sqrt(mp.pi) * mp.exp(-t * t) / mp.erfc(t),
        start,
    )


def erfcinv_slope(x: Any) -> Any:
    """Its derivative."""
    return -mp.sqrt(mp.pi) / 2 * mp.exp(erfcinv(x) ** 2)


def erfinv(x: Any) -> Any:
    """The inverse of erf."""
    start = special.erfinv(float(x))
    return root(lambda t: mp.erf(t) - x, lambda t: 2 / mp.sqrt(mp.pi) * mp.exp(-t * t), start)


def ndtr(x: Any) -> Any:
    """The normal distribution function."""
    return mp.erfc(-x / mp.sqrt(2)) / 2


def hazard(x: Any) -> Any:
    """The derivative of log_ndtr."""
    return mp.npdf(x) / ndtr(x)


def ndtri(p: Any) -> Any:
    """The inverse of ndtr."""
    start = special.ndtri(float(p))
    return root(lambda t: mp.log(ndtr(t)) - mp.log(p), hazard, start)


def ndtri_slope(p: Any) -> Any:
    """Its derivative."""
    return 1 / mp.npdf(ndtri(p))


def log_ndtr(x: Any) -> Any:
    """log(ndtr(x))."""
    return mp.log1p(-ndtr(-x)) if x > 0 else mp.log(ndtr(x))


def psi(order: int) -> Callable[[Any], Any]:
    """polygamma of an order."""

    def exact(x: Any) -> Any:
        if order == 0 or x > 0:
            return mp.psi(order, x)
        # Abramowitz and Stegun, 6.4.7; the derivatives of cot are polynomials in it.
        c = mp.cot(mp.pi * x)
        coefficients = [mp.mpf(0), mp.mpf(1)]
        for _ in range(order):
            turned = [k * a for k, a in enumerate(coefficients)][1:]
            coefficients = [-a - b for a, b in zip([*turned, 0, 0], [0, 0, *turned], strict=True)]
        term = mp.mpf(0)
        for a in reversed(coefficients):
            term = term * c + a
        return (-1) ** order * mp.psi(order, 1 - x) - mp.pi ** (order + 1) * term

    return exact


def difference(x: Any, h: Any) -> Any:
    """digamma(x + h) - digamma(x)."""
    with mp.extradps(30):
        return mp.digamma(x + h) - mp.digamma(x)


def betaln(a: Any, b: Any) -> Any:
    """log(beta(a, b)) of positive numbers."""
    with mp.extradps(30 + max(0, int(mp.log10(max(a, b))))):
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def lower(a: Any, x: Any) -> Any:
    """gammainc, from the side that has the digits."""
    if x > a + 1:
        return 1 - _beyond(a, x)
    # Abramowitz and Stegun, 6.5.29: all terms are positive.
    total = term = 1 / a
    k = a
    while term > total * mp.eps:
        k += 1
        term *= x / k
        total += term
    return total * mp.exp(a * mp.log(x) - x - mp.loggamma(a))


def upper(a: Any, x: Any) -> Any:
    """gammaincc."""
    if x <= a + 1:
        with mp.extradps(30):
            return 1 - lower(a, x)
    return _beyond(a, x)


def _beyond(a: Any, x: Any) -> Any:
    """gammaincc for x > a + 1, by the continued fraction 8.9.2 of the Digital Library of
    Mathematical Functions."""
    odd = x + 1 - a
    upper, lower = odd, mp.mpf(0)
    total, k, factor = odd, 0, mp.mpf(0)
    while abs(factor - 1) > mp.eps:
        k += 1
        odd += 2
        term = -k * (k - a)
        lower = 1 / (odd + term * lower)
        upper = odd + term / upper
        factor = upper * lower
        total *= factor
    return mp.exp(a * mp.log(x) - x - mp.loggamma(a)) / total


def gamma_density(a: Any, x: Any) -> Any:
    """The density of the gamma distribution."""
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def slope(f: Any) -> Any:
    """The derivative in the first operand, by a difference in more digits."""

    def exact(a: Any, *rest: Any) -> Any:
        with mp.extradps(25):
            h = a * mp.mpf(10) ** -18
            return (f(a + h, *rest) - f(a - h, *rest)) / (2 * h)

    return exact


def betainc(a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function."""
    if x * (a + b) > a:
        # From the smaller side; its own digits are what a difference in the shapes needs.
        return 1 - beta_side(b, a, 1 - x)
    return beta_side(a, b, x)


def beta_side(a: Any, b: Any, x: Any) -> Any:
    """By the continued fraction 8.17.22 of the Digital Library of Mathematical Functions, after
    W. Lentz."""
    upper, lower = mp.mpf(1), mp.mpf(0)
    total = mp.mpf(1)
    k, factor = 0, mp.mpf(0)
    while abs(factor - 1) > mp.eps:
        k += 1
        m = k // 2
        if k % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + term * lower)
        upper = 1 + term / upper
        factor = upper * lower
        total *= factor
    scale = a * mp.log(x) + b * mp.log(1 - x)
    logs = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp(scale - logs) / a / total


def gammainc_in_a(times: int) -> Callable[[Any, Any], Any]:
    """Derivatives of the smaller side, whose digits are all its own."""
    left: Any = lower
    right: Any = _beyond
    for _ in range(times):
        left, right = slope(left), slope(right)
    return lambda a, x: left(a, x) if x <= a + 1 else -right(a, x)


def betainc_in_a(a: Any, b: Any, x: Any) -> Any:
    """Its derivative in a."""
    if x * (a + b) <= a:
        return slope(beta_side)(a, b, x)
    return -slope(lambda a, b, x: beta_side(b, a, x))(a, b, 1 - x)


def betainc_in_b(a: Any, b: Any, x: Any) -> Any:
    """Its derivative in b."""
    return -betainc_in_a(b, a, 1 - x)


def betaincc(a: Any, b: Any, x: Any) -> Any:
    """Its complement."""
    return betainc(b, a, 1 - x)


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """The density of the beta distribution."""
    logs = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - logs)


def scaled_i(n: int, order: int) -> Callable[[Any], Any]:
    """exp(-x) I_n(x) for positive x, or its derivative."""

    def exact(x: Any) -> Any:
        with mp.extradps(20 + max(0, int(mp.log10(x)))):
            value = mp.besseli(n, x)
            if order:
                value = (mp.besseli(abs(n - 1), x) + mp.besseli(n + 1, x)) / 2 - value
            return value * mp.exp(-x)

    return exact


def kn(n: int, x: Any) -> Any:
    """The Bessel function K of order n, by the recurrence, whose terms are positive."""
    before, here = _first_k(x)
    for k in range(1, n):
        before, here = here, before + 2 * k / x * here
    return here if n else before


def _first_k(x: Any) -> tuple[Any, Any]:
    """K of the orders 0 and 1: Abramowitz and Stegun, 9.7.2, or 9.6.13 and the Wronskian 9.6.15,
    which is faster than mpmath's limits of other orders."""
    if x > 1.2 * mp.mp.dps + 10:
        scale = mp.sqrt(mp.pi / (2 * x)) * mp.exp(-x)
        return scale * _k_series(0, x), scale * _k_series(1, x)
    with mp.extradps(int(0.9 * x) + 10):
        term = even = odd = mp.mpf(1)
        rest = harmonic = mp.mpf(0)
        k = 0
        while term > even * mp.eps * mp.mpf(10) ** -5:
            k += 1
            term *= x * x / (4 * k * k)
            harmonic += mp.mpf(1) / k
            even += term
            odd += term / (k + 1)
            rest += term * harmonic
        zero = rest - (mp.log(x / 2) + mp.euler) * even
        return zero, (1 / x - odd * x / 2 * zero) / even


def _k_series(n: int, x: Any) -> Any:
    total = term = mp.mpf(1)
    k = 0
    while abs(term) > mp.eps:
        k += 1
        term *= (4 * n * n - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
    return total


def scaled_k(n: int, order: int) -> Callable[[Any], Any]:
    """exp(x) K_n(x), or its derivative."""

    def exact(x: Any) -> Any:
        with mp.extradps(20 + max(0, int(mp.log10(x)))):
            value = kn(n, x)
            if order:
                value = value - (kn(abs(n - 1), x) + kn(n + 1, x)) / 2
            return value * mp.exp(x)

    return exact


def rel_entr(x: Any, y: Any) -> Any:
    """x log(x / y)."""
    return x * mp.log(x / y)


def kl_div(x: Any, y: Any) -> Any:
    """x log(x / y) - x + y."""
    with mp.extradps(30):
        return x * mp.log(x / y) - x + y


def zeta(order: int) -> Callable[[Any, Any], Any]:
    """mpmath's has a number of digits behind the point, not of the result."""

    def exact(s: Any, q: Any) -> Any:
        with mp.extradps(int(float(s) * max(0.0, float(mp.log10(q)))) + 10):
            return mp.zeta(s, q, order)

    return exact


def riemann_slope(s: Any) -> Any:
    """The derivative of Riemann's zeta function."""
    if s < 30:
        return slope(mp.zeta)(s)
    # A difference would have none of the digits.
    return -sum(mp.log(k) * mp.mpf(k) ** -s for k in range(2, 60))


def logsumexp(*x: Any) -> Any:
    """log(sum(exp(x)))."""
    top = max(x)
    return top + mp.log(sum(mp.exp(t - top) for t in x))


def exprel(x: Any) -> Any:
    """(exp(x) - 1) / x."""
    with mp.extradps(10):
        return mp.expm1(x) / x


def exprel_slope(x: Any) -> Any:
    """Its derivative."""
    if abs(x) > 0.1:
        return slope(exprel)(x)
    return sum(k * x ** (k - 1) / mp.factorial(k + 1) for k in range(1, 40))
