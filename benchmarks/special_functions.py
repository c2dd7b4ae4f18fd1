"""The special functions in mpmath and in SciPy, and the domains over which they are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from scipy import special

import staticad as sad

Range = tuple[float, float]


class Function(NamedTuple):
    """An op with attributes, or a name of COMPOSED; mpmath's and SciPy's function, and boxes that
    make up the domain."""

    op: str
    attributes: dict[str, Any]
    exact: Callable[..., Any]
    scipy: Callable[..., Any] | None
    boxes: tuple[tuple[Range, ...], ...]


def _of(
    op: str, exact: Any, scipy: Any, *boxes: Range | tuple[Range, ...], **attributes: Any
) -> Function:
    several = tuple(b if isinstance(b[0], tuple) else (b,) for b in boxes)
    return Function(op, attributes, exact, scipy, several)


def _erfcx(x: Any) -> Any:
    if x > 1e4:
        # The asymptotic series: the product of the factors would need millions of digits.
        total, term = mp.mpf(0), mp.mpf(1)
        for k in range(12):
            total += term
            term *= -(2 * k + 1) / (2 * x * x)
        return total / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def _root(f: Any, slope: Any, start: Any) -> Any:
    """Newton's iteration from a value of float64."""
    x = mp.mpf(float(start))
    for _ in range(3):
        x -= f(x) / slope(x)
    return x


def _erfcinv(x: Any) -> Any:
    start = special.erfcinv(float(x))
    # In logarithms, which are straight where erfc is steep.
    return _root(
        lambda t: mp.log(mp.erfc(t)) - mp.log(x),
        lambda t: -2 / mp.sqrt(mp.pi) * mp.exp(-t * t) / mp.erfc(t),
        start,
    )


def _erfinv(x: Any) -> Any:
    start = special.erfinv(float(x))
    return _root(lambda t: mp.erf(t) - x, lambda t: 2 / mp.sqrt(mp.pi) * mp.exp(-t * t), start)


def _ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def _hazard(x: Any) -> Any:
    return mp.npdf(x) / _ndtr(x)


def _ndtri(p: Any) -> Any:
    start = special.ndtri(float(p))
    return _root(lambda t: mp.log(_ndtr(t)) - mp.log(p), _hazard, start)


def _log_ndtr(x: Any) -> Any:
    return mp.log1p(-_ndtr(-x)) if x > 0 else mp.log(_ndtr(x))


def _psi(order: int) -> Callable[[Any], Any]:
    def exact(x: Any) -> Any:
        if order == 0 or x > 0:
            return mp.psi(order, x)
        c = mp.cot(mp.pi * x)
        terms = {1: -(1 + c**2), 2: 2 * c * (1 + c**2), 3: -2 * (1 + c**2) * (1 + 3 * c**2)}
        return (-1) ** order * mp.psi(order, 1 - x) - mp.pi ** (order + 1) * terms[order]

    return exact


def _difference(x: Any, h: Any) -> Any:
    with mp.extradps(30):
        return mp.digamma(x + h) - mp.digamma(x)


def _betaln(a: Any, b: Any) -> Any:
    with mp.extradps(30):
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def _lower(a: Any, x: Any) -> Any:
    """gammainc, from the side that has the digits."""
    if x > a + 1:
        return 1 - mp.gammainc(a, x, mp.inf, regularized=True)
    # Abramowitz and Stegun, 6.5.29: all terms are positive.
    total = term = 1 / a
    k = a
    while term > total * mp.eps:
        k += 1
        term *= x / k
        total += term
    return total * mp.exp(a * mp.log(x) - x - mp.loggamma(a))


def _upper(a: Any, x: Any) -> Any:
    if x <= a + 1:
        with mp.extradps(30):
            return 1 - _lower(a, x)
    return mp.gammainc(a, x, mp.inf, regularized=True)


def _gamma_density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def _slope(f: Any) -> Any:
    """The derivative in the first operand, by a difference in more digits."""

    def exact(a: Any, *rest: Any) -> Any:
        with mp.extradps(25):
            h = a * mp.mpf(10) ** -18
            return (f(a + h, *rest) - f(a - h, *rest)) / (2 * h)

    return exact


def _betainc(a: Any, b: Any, x: Any) -> Any:
    if x * (a + b) > a:
        # From the smaller side; its own digits are what a difference in the shapes needs.
        return 1 - _beta_side(b, a, 1 - x)
    return _beta_side(a, b, x)


def _beta_side(a: Any, b: Any, x: Any) -> Any:
    total = term = mp.mpf(1)
    k = 0
    while abs(term) > abs(total) * mp.eps:
        term *= (a + b + k) * x / (a + 1 + k)
        total += term
        k += 1
    scale = a * mp.log(x) + b * mp.log(1 - x)
    logs = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp(scale - logs) * total / a


def _gammainc_in_a(times: int) -> Callable[[Any, Any], Any]:
    """Derivatives of the smaller side, whose digits are all its own."""
    left: Any = _lower
    right: Any = lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)  # noqa: E731
    for _ in range(times):
        left, right = _slope(left), _slope(right)
    return lambda a, x: left(a, x) if x <= a + 1 else -right(a, x)


def _betainc_in_a(a: Any, b: Any, x: Any) -> Any:
    if x * (a + b) <= a:
        return _slope(_beta_side)(a, b, x)
    return -_slope(lambda a, b, x: _beta_side(b, a, x))(a, b, 1 - x)


def _betainc_in_b(a: Any, b: Any, x: Any) -> Any:
    return -_betainc_in_a(b, a, 1 - x)


def _betaincc(a: Any, b: Any, x: Any) -> Any:
    return _betainc(b, a, 1 - x)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    logs = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return mp.exp((a - 1) * mp.log(x) + (b - 1) * mp.log(1 - x) - logs)


def _expi(x: Any) -> Any:
    return mp.ei(x)


def _scaled_i(n: int, order: int) -> Callable[[Any], Any]:
    """exp(-x) I_n(x) for positive x, or its derivative."""

    def exact(x: Any) -> Any:
        with mp.extradps(20):
            value = mp.besseli(n, x)
            if order:
                value = (mp.besseli(n - 1, x) + mp.besseli(n + 1, x)) / 2 - value
            return value * mp.exp(-x)

    return exact


def _scaled_k(n: int, order: int) -> Callable[[Any], Any]:
    """exp(x) K_n(x), or its derivative."""

    def exact(x: Any) -> Any:
        with mp.extradps(20):
            value = mp.besselk(n, x)
            if order:
                value = value - (mp.besselk(n - 1, x) + mp.besselk(n + 1, x)) / 2
            return value * mp.exp(x)

    return exact


def _rel_entr(x: Any, y: Any) -> Any:
    return x * mp.log(x / y)


def _kl_div(x: Any, y: Any) -> Any:
    with mp.extradps(30):
        return x * mp.log(x / y) - x + y


def _zeta(order: int) -> Callable[[Any, Any], Any]:
    """mpmath's has a number of digits behind the point, not of the result."""

    def exact(s: Any, q: Any) -> Any:
        with mp.extradps(int(float(s) * max(0.0, float(mp.log10(q)))) + 10):
            return mp.zeta(s, q, order)

    return exact


def _riemann_slope(s: Any) -> Any:
    if s < 30:
        return _slope(mp.zeta)(s)
    # A difference would have none of the digits.
    return -sum(mp.log(k) * mp.mpf(k) ** -s for k in range(2, 60))


def _logsumexp(*x: Any) -> Any:
    top = max(x)
    return top + mp.log(sum(mp.exp(t - top) for t in x))


def _stacked(f: Callable[..., Any], stack: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: f(stack(x), axis=0)


def _first(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: f(*x)[0]


COMPOSED: dict[str, Callable[..., Any]] = {
    "ndtr": sad.special.ndtr,
    "entr": sad.special.entr,
    "logsumexp of 3": _stacked(sad.special.logsumexp, sad.stack),
    "softmax of 3": _first(_stacked(sad.special.softmax, sad.stack)),
}
"""Functions that are several ops, or are of several numbers."""

_SHAPES = ((0.01, 1e3), (0.01, 1e3))
_BOX_GAMMA = (
    ((0.01, 5.0), (1e-3, 20.0)),
    ((5.0, 300.0), (1.0, 500.0)),
    ((1e3, 1.1e3), (900.0, 1.2e3)),
)
_BOX_BETA = (
    ((0.05, 5.0), (0.05, 5.0), (0.01, 0.99)),
    ((1.0, 100.0), (1.0, 100.0), (0.1, 0.9)),
    ((50.0, 300.0), (0.2, 3.0), (0.7, 0.999)),
)

_BOX_ZETA = ((-256.0, -1.0), (-2.0, 3.0), (2.0, 1000.0))

FUNCTIONS: dict[str, Function] = {
    "erf": _of("erf", mp.erf, special.erf, (-6.0, 6.0), (1e-300, 1.0)),
    "erfc": _of("erfc", mp.erfc, special.erfc, (-6.0, 26.0)),
    "erfcx": _of("erfcx", _erfcx, special.erfcx, (-26.0, 50.0), (1.0, 1e10)),
    "erfcx'": _of("erfcx", _slope(_erfcx), None, (-25.0, 50.0), (1.0, 1e3), order=1),
    "erfinv": _of("erfinv", _erfinv, special.erfinv, (-0.9999, 0.9999), (1e-300, 0.1)),
    "erfcinv": _of("erfcinv", _erfcinv, special.erfcinv, (1e-300, 1.0), (1.0, 1.9999)),
    "log_ndtr": _of("log_ndtr", _log_ndtr, special.log_ndtr, (-50.0, 10.0), (-1e4, -1.0)),
    "log_ndtr'": _of("normal_hazard", _hazard, None, (-50.0, 30.0)),
    "ndtr": _of("ndtr", _ndtr, special.ndtr, (-37.0, 8.0)),
    "ndtri": _of("ndtri", _ndtri, special.ndtri, (1e-300, 0.5), (0.01, 0.9999)),
    "gammaln": _of(
        "gammaln", lambda x: mp.loggamma(x).real, special.gammaln,
        (1e-10, 1.0), (1.0, 200.0), (10.0, 1e10), (-50.0, 0.0),
    ),
    "gamma": _of("gamma", mp.gamma, special.gamma, (1e-10, 10.0), (0.1, 170.0), (-50.0, 0.0)),
    "digamma": _of(
        "polygamma", mp.digamma, special.digamma, (1e-10, 1.0), (0.5, 1e10), (-50.0, 0.0), order=0
    ),
    "polygamma(1)": _of(
        "polygamma", _psi(1), lambda x: special.polygamma(1, x),
        (1e-10, 1.0), (0.5, 1e10), (-50.0, 0.0), order=1,
    ),
    "polygamma(2)": _of(
        "polygamma", _psi(2), lambda x: special.polygamma(2, x),
        (1e-10, 1.0), (0.5, 1e10), (-50.0, 0.0), order=2,
    ),
    "polygamma(3)": _of(
        "polygamma", _psi(3), lambda x: special.polygamma(3, x),
        (1e-10, 1.0), (0.5, 1e10), (-50.0, 0.0), order=3,
    ),
    "digamma(x + h) - digamma(x)": _of(
        "polygamma_step", _difference, lambda x, h: special.digamma(x + h) - special.digamma(x),
        ((1e-3, 1e6), (1e-6, 1e6)), order=0,
    ),
    "betaln": _of("betaln", _betaln, special.betaln, ((1e-3, 1e6), (1e-3, 1e6))),
    "beta": _of(
        "beta", mp.beta, special.beta,
        ((1e-3, 200.0), (1e-3, 200.0)), ((1.0, 1e5), (0.1, 10.0)),
    ),
    "gammainc": _of("gammainc", _lower, special.gammainc, *_BOX_GAMMA),
    "gammaincc": _of("gammaincc", _upper, special.gammaincc, *_BOX_GAMMA),
    "gammainc by x": _of("gamma_density", _gamma_density, None, *_BOX_GAMMA),
    "gammainc by a": _of("gammainc", _gammainc_in_a(1), None, *_BOX_GAMMA, order=1),
    "gammainc by a twice": _of(
        "gammainc", _gammainc_in_a(2), None, _BOX_GAMMA[0], order=2
    ),
    "betainc": _of("betainc", _betainc, special.betainc, *_BOX_BETA),
    "betaincc": _of("betaincc", _betaincc, special.betaincc, *_BOX_BETA),
    "betainc by x": _of("beta_density", _beta_density, None, *_BOX_BETA),
    "betainc by a": _of("betainc", _betainc_in_a, None, *_BOX_BETA, in_a=1),
    "betainc by b": _of(
        "betainc",
        _betainc_in_b,
        None, *_BOX_BETA, in_b=1,
    ),
    **{
        f"{name}": _of(
            op, lambda x, f=f, n=n: f(n, x), getattr(special, name), *boxes, n=n
        )
        for name, op, f, n, boxes in (
            ("i0", "iv", mp.besseli, 0, ((-700.0, 700.0), (1e-10, 1.0))),
            ("i1", "iv", mp.besseli, 1, ((-700.0, 700.0), (1e-10, 1.0))),
            ("j0", "jv", mp.besselj, 0, ((-50.0, 50.0), (1e-10, 1.0), (10.0, 1e4))),
            ("j1", "jv", mp.besselj, 1, ((-50.0, 50.0), (1e-10, 1.0), (10.0, 1e4))),
            ("k0", "kv", mp.besselk, 0, ((1e-10, 1.0), (0.1, 600.0))),
            ("k1", "kv", mp.besselk, 1, ((1e-10, 1.0), (0.1, 600.0))),
        )
    },
    "jv(2)": _of(
        "jv", lambda x: mp.besselj(2, x), lambda x: special.jv(2, x), (1e-5, 50.0), (10.0, 1e3), n=2
    ),
    "jv(7)": _of(
        "jv", lambda x: mp.besselj(7, x), lambda x: special.jv(7, x), (1e-5, 50.0), (10.0, 1e3), n=7
    ),
    "iv(3)": _of("iv", lambda x: mp.besseli(3, x), lambda x: special.iv(3, x), (1e-5, 600.0), n=3),
    "kn(3)": _of("kv", lambda x: mp.besselk(3, x), lambda x: special.kn(3, x), (1e-5, 600.0), n=3),
    **{
        f"{name}{mark}": _of(
            op, f(n, len(mark)), None if mark else getattr(special, name), *boxes,
            n=n, order=len(mark),
        )
        for name, op, f, n, boxes in (
            ("i0e", "ive", _scaled_i, 0, ((1e-10, 10.0), (1.0, 1e4))),
            ("i1e", "ive", _scaled_i, 1, ((1e-10, 10.0), (1.0, 1e4))),
            ("k0e", "kve", _scaled_k, 0, ((1e-10, 10.0), (1.0, 1e4))),
            ("k1e", "kve", _scaled_k, 1, ((1e-10, 10.0), (1.0, 1e4))),
        )
        for mark in ("", "'")
    },
    "zeta of one": _of("riemann_zeta", mp.zeta, special.zeta, *_BOX_ZETA, order=0),
    "zeta of one'": _of("riemann_zeta", _riemann_slope, None, *_BOX_ZETA, order=1),
    "zeta": _of("zeta", _zeta(0), special.zeta, ((1.01, 60.0), (1e-3, 1e3))),
    "zeta by s": _of("zeta", _zeta(1), None, ((1.01, 60.0), (1e-3, 1e3)), order=1),
    "expi": _of("expi", _expi, special.expi, (-700.0, 50.0), (1e-10, 1.0), (1.0, 700.0)),
    "exp1": _of("exp1", mp.e1, special.exp1, (1e-10, 1.0), (0.1, 700.0)),
    "exprel": _of(
        "exprel", lambda x: mp.expm1(x) / x, special.exprel, (-50.0, 50.0), (1e-10, 1.0)
    ),
    "exprel'": _of(
        "exprel", _slope(lambda x: mp.expm1(x) / x), None, (-50.0, 50.0), (1e-10, 1.0), order=1
    ),
    "xlogy": _of("xlogy", lambda x, y: x * mp.log(y), special.xlogy, _SHAPES),
    "xlog1py": _of(
        "xlog1py", lambda x, y: x * mp.log1p(y), special.xlog1py,
        ((0.01, 1e3), (-0.999, 10.0)),
    ),
    "expit": _of("sigmoid", lambda x: 1 / (1 + mp.exp(-x)), special.expit, (-700.0, 40.0)),
    "logit": _of(
        "logit", lambda x: mp.log(x / (1 - x)), special.logit, (1e-300, 0.5), (0.01, 0.999)
    ),
    "log_expit": _of(
        "log_sigmoid", lambda x: -mp.log1p(mp.exp(-x)), special.log_expit, (-700.0, 700.0)
    ),
    "entr": _of("entr", lambda x: -x * mp.log(x), special.entr, (1e-280, 1.0), (0.01, 1e3)),
    "rel_entr": _of("rel_entr", _rel_entr, special.rel_entr, _SHAPES, ((0.99, 1.01), (0.99, 1.01))),
    "kl_div": _of("kl_div", _kl_div, special.kl_div, _SHAPES, ((0.99, 1.01), (0.99, 1.01))),
    "logsumexp of 3": _of(
        "logsumexp of 3", _logsumexp, _stacked(special.logsumexp, np.stack),
        ((-700.0, 700.0),) * 3, ((-5.0, 5.0),) * 3,
    ),
    "softmax of 3": _of(
        "softmax of 3", lambda *x: mp.exp(x[0] - _logsumexp(*x)),
        _first(_stacked(special.softmax, np.stack)), ((-300.0, 300.0),) * 3, ((-5.0, 5.0),) * 3,
    ),
}  # fmt: skip
