"""The regularised incomplete beta function, with derivatives in all three operands.

As in `incomplete_gamma`, a derivative in `a` or `b` is an integral over one side of x of the
density times a polynomial of log t and log(1 - t), on each side after a step up of the
parameter that would leave a singularity there: I_x(a, b) = I_x(a + 1, b) + x**a (1 - x)**b /
(a beta(a, b)), and the mirror image.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..op import Operand
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, divide, multiply, multiply_no_nan, negative, subtract
from .asymptotics import HALF_LOG_TAU, LARGE, deviance, stirling_error
from .comparison import equal, greater_equal, logical_and, logical_or
from .gamma import betaln_meaning
from .in_double import check_order, in_double
from .pointwise import same, select
from .polygamma import polygamma_meaning, step_meaning
from .quadrature import half_line

MAX_ORDER = 6


class Place(NamedTuple):
    """Parameters, and a number x with y = 1 - x, which may be the more exact of the two."""

    a: Array
    b: Array
    x: Array
    y: Array

    def mirrored(self) -> Place:
        return Place(self.b, self.a, self.y, self.x)


def _logarithm(x: Array, y: Array) -> Array:
    """log(x)."""
    found: Array = np.where(x > 0.5, np.log1p(-y), np.log(x))
    return found


def _binomial(p: Place) -> Array:
    """x**a y**b gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1))."""
    a, b = np.maximum(p.a, LARGE), np.maximum(p.b, LARGE)
    n = a + b
    rest = stirling_error(n) - stirling_error(a) - stirling_error(b)
    exponent = rest - deviance(a, n * p.x) - deviance(b, n * p.y) - HALF_LOG_TAU
    large = np.exp(exponent) * np.sqrt(n / a / b)
    log_x, log_y = _logarithm(p.x, p.y), _logarithm(p.y, p.x)
    with_a = np.where(p.a == 0, 0.0, p.a * log_x)
    with_b = np.where(p.b == 0, 0.0, p.b * log_y)
    plain = np.exp(with_a + with_b - betaln_meaning(p.a + 1, p.b + 1)) / (p.a + p.b + 1)
    found: Array = np.where((p.a >= LARGE) & (p.b >= LARGE), large, plain)
    return found


def _cumulants(a: Array, b: Array, m: int, n: int) -> dict[tuple[int, int], Array]:
    """Derivatives in a and b of log(gamma(a + b + 1) / (gamma(a + 1) gamma(b + 1)))."""
    found = {}
    for i in range(m + 1):
        for j in range(n + 1):
            if i and j:
                found[i, j] = polygamma_meaning(a + b + 1, i + j - 1)
            elif i:
                found[i, j] = step_meaning(a + 1, b, i - 1)
            elif j:
                found[i, j] = step_meaning(b + 1, a, j - 1)
    return found


def _powers(c: dict[tuple[int, int], Array], m: int, n: int) -> dict[tuple[int, int], Array]:
    """The derivatives of exp(f) over itself, of the derivatives of f in two variables."""
    found: dict[tuple[int, int], Array] = {(0, 0): np.ones(())}
    for i in range(m + 1):
        for j in range(n + 1):
            if i == j == 0:
                continue
            # One derivative in one variable gives the first factor, the others are Leibniz'.
            rest = (i - 1, j) if i else (i, j - 1)
            total: Array = np.zeros(())
            for s in range(rest[0] + 1):
                for t in range(rest[1] + 1):
                    times = math.comb(rest[0], s) * math.comb(rest[1], t)
                    step = (s + 1, t) if i else (s, t + 1)
                    total = total + times * c[step] * found[rest[0] - s, rest[1] - t]
            found[i, j] = total
    return found


def _leibniz(
    f: dict[tuple[int, int], Array], y: dict[tuple[int, int], Array], m: int, n: int
) -> Array:
    total: Array = np.zeros(())
    for (i, j), value in f.items():
        if i <= m and j <= n:
            total = total + math.comb(m, i) * math.comb(n, j) * value * y[m - i, n - j]
    return total


def _inverse_sum(a: Array, b: Array, k: int) -> Array:
    """The k-th derivative of 1 / (a + b)."""
    found: Array = (-1) ** k * math.factorial(k) / (a + b) ** (k + 1)
    return found


def _share(a: Array, b: Array, m: int, n: int) -> dict[tuple[int, int], Array]:
    """The derivatives of b / (a + b)."""
    found: dict[tuple[int, int], Array] = {}
    for i in range(m + 1):
        for j in range(n + 1):
            k = i + j
            of_b = b * _inverse_sum(a, b, k) + (j * _inverse_sum(a, b, k - 1) if j else 0.0)
            if not j:
                found[i, j] = of_b
                continue
            # The same of 1 - a / (a + b), where the terms above would cancel.
            of_a = -a * _inverse_sum(a, b, k) - (i * _inverse_sum(a, b, k - 1) if i else 0.0)
            found[i, j] = np.where(a < b, of_a, of_b) if i else of_a
    return found


def _harmonic(a: Array, b: Array, m: int, n: int) -> dict[tuple[int, int], Array]:
    """The derivatives of a b / (a + b)."""
    found = {}
    for i in range(m + 1):
        for j in range(n + 1):
            value = a * b * _inverse_sum(a, b, i + j)
            if i:
                value = value + i * b * _inverse_sum(a, b, i + j - 1)
            if j:
                value = value + j * a * _inverse_sum(a, b, i + j - 1)
            if i and j:
                value = value + i * j * _inverse_sum(a, b, i + j - 2)
            found[i, j] = value
    return found


def _with_logarithms(
    c: dict[tuple[int, int], Array], log_x: Array, log_y: Array
) -> dict[tuple[int, int], Array]:
    found = dict(c)
    if (1, 0) in c:
        found[1, 0] = c[1, 0] + log_x
    if (0, 1) in c:
        found[0, 1] = c[0, 1] + log_y
    return found


def _density(a: Array, b: Array, x: Array, in_a: int, in_b: int) -> Array:
    """The derivative of x**(a - 1) (1 - x)**(b - 1) / beta(a, b)."""
    a, b, x = np.broadcast_arrays(a, b, x)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    found = np.where(x == 0, _edge(a, b, in_a, in_b), np.nan)
    found = np.where(x == 1, _edge(b, a, in_b, in_a), found)
    found = np.where((a >= 0) & (b >= 0), found, np.nan)
    p = Place(a[inside], b[inside], x[inside], 1 - x[inside])
    c = _with_logarithms(
        _cumulants(p.a, p.b, in_a, in_b), _logarithm(p.x, p.y), _logarithm(p.y, p.x)
    )
    y = _powers(c, in_a, in_b)
    factor = _leibniz(_harmonic(p.a, p.b, in_a, in_b), y, in_a, in_b)
    found[inside] = _binomial(p) / p.x / p.y * factor
    return found


def _edge(a: Array, b: Array, in_a: int, in_b: int) -> Array:
    """The derivative of the density at x = 0: of x**(a - 1) log(x)**in_a gamma(a + b) / gamma(b),
    which is also divided by gamma(a)."""
    none = 0.0 if in_a == 0 else -np.inf * (-1) ** in_a
    if in_a:
        one: Array | float = np.inf * (-1) ** in_a
        few = one
    elif in_b:
        # The quotient of gammas grows ever slower in b, in a straight line for a = 1.
        one, few = float(in_b == 1), -np.inf * (-1) ** in_b
    else:
        one, few = b, np.inf
    found: Array = np.where(a > 1, 0.0, np.where(a == 1, one, np.where(a == 0, none, few)))
    return found


def _density_in_x(a: Any, b: Any, x: Any, out: Any, *, in_a: int, in_b: int) -> Any:
    # At an end, where the density is 0 and a quotient infinite, by that of a parameter less.
    start = logical_and(equal(x, 0), greater_equal(a, 1))
    end = logical_and(equal(x, 1), greater_equal(b, 1))
    at = select(logical_or(start, end), x, x.coerce(0.0))
    none, rest = x.coerce(0.0), subtract(1, x)
    rise = select(start, none, divide(subtract(a, 1), x))
    fall = select(end, none, divide(subtract(b, 1), rest))
    found = multiply_no_nan(subtract(rise, fall), out)
    if in_a:
        below = multiply(beta_density(a, b, x, in_a=in_a - 1, in_b=in_b), float(in_a))
        found = add(found, select(start, none, divide(below, x)))
    if in_b:
        below = multiply(beta_density(a, b, x, in_a=in_a, in_b=in_b - 1), float(in_b))
        found = subtract(found, select(end, none, divide(below, rest)))
    orders = {"in_a": in_a, "in_b": in_b}
    found = add(found, select(start, _times_sum(a, b, subtract(a, 1), b, at, **orders), none))
    return subtract(found, select(end, _times_sum(a, b, a, subtract(b, 1), at, **orders), none))


def _times_sum(a: Any, b: Any, c: Any, d: Any, x: Any, *, in_a: int, in_b: int) -> Any:
    """The derivative of a + b - 1 times the density of c and d, which move with a and b."""
    factor = subtract(add(a, b), 1)
    found = multiply(factor, beta_density(c, d, x, in_a=in_a, in_b=in_b))
    if in_a:
        below = beta_density(c, d, x, in_a=in_a - 1, in_b=in_b)
        found = add(found, multiply(below, float(in_a)))
    if in_b:
        below = beta_density(c, d, x, in_a=in_a, in_b=in_b - 1)
        found = add(found, multiply(below, float(in_b)))
    return found


def _density_in_a(a: Any, b: Any, x: Any, out: Any, *, in_a: int, in_b: int) -> Any:
    return beta_density(a, b, x, in_a=in_a + 1, in_b=in_b)


def _density_in_b(a: Any, b: Any, x: Any, out: Any, *, in_a: int, in_b: int) -> Any:
    return beta_density(a, b, x, in_a=in_a, in_b=in_b + 1)


@in_double(
    lambda a, b, x, *, in_a, in_b: _density(a, b, x, in_a, in_b),
    (_density_in_a, _density_in_b, _density_in_x),
)
def beta_density(a: Operand, b: Operand, x: Operand, *, in_a: int = 0, in_b: int = 0) -> TensorType:
    """x**(a - 1) (1 - x)**(b - 1) / beta(a, b), or its derivative in a and b of these orders."""
    check_order(in_a + in_b, MAX_ORDER, max(-in_a, -in_b, 0))
    return same(FLOATING, a, b, x)


def _left(p: Place, m: int, n: int) -> Array:
    """The derivative of I_x(a, b), from what lies left of x."""
    c = _cumulants(p.a, p.b, m, n)
    keys = list(c)
    log_x, log_y = _logarithm(p.x, p.y), _logarithm(p.y, p.x)

    def integrand(u: Array, a: Array, b: Array, x: Array, y: Array, *given: Array) -> Array:
        # t = x exp(-u)
        log_x, log_y, *values = given
        rise = np.log1p(-x / y * np.expm1(-u))
        here = _with_logarithms(dict(zip(keys, values, strict=True)), log_x - u, log_y + rise)
        k = _powers(here, m, n)
        factor = b * k[m, n] + (n * k[m, n - 1] if n else 0.0)
        phase = np.exp((b - 1) * rise - (a + 1) * u)
        return np.where(phase > 0, phase * factor, 0.0)

    odds = p.x / p.y
    slope = np.where(p.b > 1, p.a + 1 - (p.b - 1) * odds, p.a + 1)
    bend = np.maximum(p.b - 1, 0) * odds / p.y
    scale = 2 / (slope + np.sqrt(np.square(slope) + 2 * bend))
    integral = half_line(integrand, scale, *p, log_x, log_y, *(c[key] for key in keys))
    k = _powers(_with_logarithms(c, log_x, log_y), m, n)
    step = _leibniz(_share(p.a, p.b, m, n), k, m, n)
    return _binomial(p) * (odds * integral + step)


# Below this a power of x may lose digits before it is divided by the beta function.
_LOW, _TINY = -650.0, 1e-150


def _tail(a: Array, b: Array, x: Array, found: Array) -> Array:
    """What was found, or where x**a y**b leaves the range of floats and the quotient by the beta
    function does not, DLMF 8.17.8 in logarithms: a factor times the sum of (a+b)_n / (a+1)_n x**n,
    whose ratios are below 1 so far in the tail."""
    if not (found < _TINY).any():
        return found
    power = a * np.log(x) + b * np.log1p(-x)
    low = (power < _LOW) & (found < _TINY) & (x > 0) & np.isfinite(power)
    low &= (a > 0) & (b > 0) & (x * (a + b) < 0.95 * (a + 1))
    if not low.any():
        return found
    a, b, x = (np.broadcast_to(v, low.shape)[low] for v in (a, b, x))
    term, total, n = np.ones_like(x), np.ones_like(x), 0
    while n < 2000 and (term > 1e-17 * total).any():
        term = term * (x * (a + b + n) / (a + 1 + n))
        total = total + term
        n += 1
    factor = power[low] - np.log(a) - betaln_meaning(a, b)
    replaced = np.array(found)
    replaced[low] = np.exp(factor + np.log(total))
    return replaced


def _betainc(a: Array, b: Array, x: Array, in_a: int, in_b: int) -> Array:
    from scipy import special

    if not in_a and not in_b:
        found: Array = _tail(a, b, x, special.betainc(a, b, x))
        return found
    a, b, x = np.broadcast_arrays(a, b, x)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1) & np.isfinite(a) & np.isfinite(b)
    value = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), 0.0, np.nan)
    p = Place(a[inside], b[inside], x[inside], 1 - x[inside])
    # Where the first derivative's integrand, after the step, has one sign left of x.
    if in_a >= in_b:
        left = _logarithm(p.x, p.y) < -step_meaning(p.a + 1, p.b)
    else:
        left = _logarithm(p.y, p.x) >= -step_meaning(p.b + 1, p.a)
    parts = np.empty(p.x.shape)
    for chosen, place, m, n, sign in (
        (left, p, in_a, in_b, 1.0),
        (~left, p.mirrored(), in_b, in_a, -1.0),
    ):
        if chosen.any():
            parts[chosen] = sign * _left(Place(*(v[chosen] for v in place)), m, n)
    value[inside] = parts
    return value


def _in_x(a: Any, b: Any, x: Any, out: Any, *, in_a: int, in_b: int) -> Any:
    return beta_density(a, b, x, in_a=in_a, in_b=in_b)


def _in_a(a: Any, b: Any, x: Any, out: Any, *, in_a: int, in_b: int) -> Any:
    return betainc(a, b, x, in_a=in_a + 1, in_b=in_b)


def _in_b(a: Any, b: Any, x: Any, out: Any, *, in_a: int, in_b: int) -> Any:
    return betainc(a, b, x, in_a=in_a, in_b=in_b + 1)


@in_double(lambda a, b, x, *, in_a, in_b: _betainc(a, b, x, in_a, in_b), (_in_a, _in_b, _in_x))
def betainc(a: Operand, b: Operand, x: Operand, *, in_a: int = 0, in_b: int = 0) -> TensorType:
    """The integral of the beta density of shapes a and b from 0 to x, or its derivative in a and b
    of these orders."""
    check_order(in_a + in_b, MAX_ORDER, max(-in_a, -in_b, 0))
    return same(FLOATING, a, b, x)


def _betaincc(a: Array, b: Array, x: Array) -> Array:
    from scipy import special

    found: Array = special.betaincc(a, b, x)
    return found


@in_double(
    _betaincc,
    (
        lambda a, b, x, out: negative(betainc(a, b, x, in_a=1)),
        lambda a, b, x, out: negative(betainc(a, b, x, in_b=1)),
        lambda a, b, x, out: negative(beta_density(a, b, x)),
    ),
)
def betaincc(a: Operand, b: Operand, x: Operand) -> TensorType:
    """The integral of the beta density of shapes a and b from x to 1: 1 - betainc(a, b, x)."""
    return same(FLOATING, a, b, x)
