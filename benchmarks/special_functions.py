"""The special functions in mpmath and in SciPy, and the domains over which they are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from scipy import special

import staticad as sad

from . import special_exact as exact

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


def _stacked(f: Callable[..., Any], stack: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: f(stack(x), axis=0)


def _first(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: f(*x)[0]


COMPOSED: dict[str, Callable[..., Any]] = {
    "ndtr": sad.special.ndtr,
    "logsumexp of 3": _stacked(sad.special.logsumexp, sad.stack),
    "softmax of 3": _first(_stacked(sad.special.softmax, sad.stack)),
}
"""Functions that are several ops, or are of several numbers."""

_SHAPES = ((1e-140, 1e140), (1e-140, 1e140))
_EVEN = ((0.99, 1.01), (0.99, 1.01))
# Where a distribution is: x of the size of a, and shares of the size of the ratio of shapes.
_BOX_GAMMA = (
    ((1e-5, 1e5), (1e-5, 1e5)),
    ((0.01, 5.0), (1e-3, 20.0)),
    ((5.0, 300.0), (1.0, 500.0)),
    ((1e3, 1.1e3), (900.0, 1.2e3)),
    ((9e4, 1e5), (9e4, 1e5)),
)
_BOX_BETA = (
    ((1e-3, 1e4), (1e-3, 1e4), (1e-5, 0.999)),
    ((1e-3, 1e4), (1e-3, 1e4), (0.01, 0.99)),
    ((0.05, 5.0), (0.05, 5.0), (0.01, 0.99)),
    ((1.0, 100.0), (1.0, 100.0), (0.1, 0.9)),
    ((50.0, 300.0), (0.2, 3.0), (0.7, 0.999)),
    ((8e3, 1e4), (8e3, 1e4), (0.45, 0.55)),
)
_BOX_PSI = ((-50.0, 0.0), (-1e4, -50.0))
_BOX_ZETA = ((-256.0, -1.0), (-2.0, 3.0), (2.0, 1000.0))
_BOX_HURWITZ = (
    ((1.0001, 60.0), (1e-3, 1e3)),
    ((1.01, 35.0), (1e-5, 1e8)),
    ((30.0, 1000.0), (0.5, 2.0)),
)

FUNCTIONS: dict[str, Function] = {
    "erf": _of("erf", mp.erf, special.erf, (-30.0, 30.0), (1e-300, 1.0)),
    "erfc": _of("erfc", mp.erfc, special.erfc, (-1e300, -1.0), (1e-300, 1.0), (-6.0, 26.5)),
    "erfcx": _of("erfcx", exact.erfcx, special.erfcx, (-26.6, 50.0), (1e-300, 1.0), (1.0, 1e300)),
    "erfcx'": _of(
        "erfcx", exact.erfcx_slope, None, (-26.4, 50.0), (1e-300, 1.0), (1.0, 1e100), order=1
    ),
    "erfinv": _of("erfinv", exact.erfinv, special.erfinv, (-1.0, 1.0), (1e-300, 0.1), (0.9, 1.0)),
    "erfcinv": _of("erfcinv", exact.erfcinv, special.erfcinv, (1e-300, 1.0), (1.0, 2.0)),
    "erfcinv'": _of(
        "erfcinv", exact.erfcinv_slope, None, (1e-285, 1.0), (1.0, 2.0), order=1
    ),
    "log_ndtr": _of(
        "log_ndtr", exact.log_ndtr, special.log_ndtr, (-50.0, 10.0), (-1e150, -1.0), (1.0, 36.0)
    ),
    "log_ndtr'": _of("normal_hazard", exact.hazard, None, (-50.0, 36.0), (-1e150, -1.0)),
    "ndtr": _of("ndtr", exact.ndtr, special.ndtr, (-36.2, 38.0)),
    "ndtri": _of("ndtri", exact.ndtri, special.ndtri, (1e-300, 0.5), (0.01, 1.0)),
    "ndtri'": _of("ndtri", exact.ndtri_slope, None, (1e-285, 0.5), (0.01, 1.0), order=1),
    "gammaln": _of(
        "gammaln", lambda x: mp.loggamma(x).real, special.gammaln,
        (1e-300, 1.0), (1.0, 200.0), (10.0, 1e300), (-50.0, 0.0), (-1e5, -50.0),
    ),
    "gamma": _of(
        "gamma", mp.gamma, special.gamma, (1e-300, 10.0), (0.1, 171.6), (-50.0, 0.0),
        (-160.0, -50.0),
    ),
    "digamma": _of(
        "polygamma", mp.digamma, special.digamma, (1e-290, 1.0), (0.5, 1e300), *_BOX_PSI, order=0
    ),
    **{
        f"polygamma({n})": _of(
            "polygamma", exact.psi(n), lambda x, n=n: special.polygamma(n, x),
            (10.0 ** (-280 // (n + 1)), 1.0), (0.5, 10.0 ** (280 // n)), *_BOX_PSI, order=n,
        )
        for n in (1, 2, 3, 5, 10)
    },
    "digamma(x + h) - digamma(x)": _of(
        "polygamma_step", exact.difference,
        lambda x, h: special.digamma(x + h) - special.digamma(x),
        ((1e-3, 1e6), (1e-6, 1e6)), ((1e-10, 1e10), (1e-10, 1e10)), order=0,
    ),
    "betaln": _of(
        "betaln", exact.betaln, special.betaln,
        ((1e-3, 1e6), (1e-3, 1e6)), ((1e-300, 1e300), (1e-300, 1e300)),
    ),
    "beta": _of(
        "beta", mp.beta, special.beta,
        ((1e-3, 200.0), (1e-3, 200.0)), ((1.0, 1e5), (0.1, 10.0)), ((1e-100, 1e5), (1e-100, 1e5)),
    ),
    "gammainc": _of("gammainc", exact.lower, special.gammainc, *_BOX_GAMMA),
    "gammaincc": _of("gammaincc", exact.upper, special.gammaincc, *_BOX_GAMMA),
    "gammainc by x": _of("gamma_density", exact.gamma_density, None, *_BOX_GAMMA),
    "gammainc by a": _of("gammainc", exact.gammainc_in_a(1), None, *_BOX_GAMMA[:4], order=1),
    "gammainc by a twice": _of("gammainc", exact.gammainc_in_a(2), None, *_BOX_GAMMA[:4], order=2),
    "betainc": _of("betainc", exact.betainc, special.betainc, *_BOX_BETA),
    "betaincc": _of("betaincc", exact.betaincc, special.betaincc, *_BOX_BETA),
    "betainc by x": _of("beta_density", exact.beta_density, None, *_BOX_BETA),
    "betainc by a": _of("betainc", exact.betainc_in_a, None, *_BOX_BETA[:5], in_a=1),
    "betainc by b": _of("betainc", exact.betainc_in_b, None, *_BOX_BETA[:5], in_b=1),
    **{
        name: _of(op, lambda x, f=f, n=n: f(n, x), getattr(special, name), *boxes, n=n)
        for name, op, f, n, boxes in (
            ("i0", "iv", mp.besseli, 0, ((-713.0, 713.0), (1e-300, 1.0))),
            ("i1", "iv", mp.besseli, 1, ((-713.0, 713.0), (1e-289, 1.0))),
            ("j0", "jv", mp.besselj, 0, ((-50.0, 50.0), (1e-300, 1.0), (10.0, 1e8))),
            ("j1", "jv", mp.besselj, 1, ((-50.0, 50.0), (1e-289, 1.0), (10.0, 1e8))),
            ("k0", "kv", exact.kn, 0, ((1e-300, 1.0), (0.1, 660.0))),
            ("k1", "kv", exact.kn, 1, ((1e-300, 1.0), (0.1, 660.0))),
        )
    },
    **{
        f"{name}({n})": _of(
            op, lambda x, f=f, n=n: f(n, x), lambda x, f=g, n=n: f(n, x), *boxes, n=n
        )
        for name, op, f, g, n, boxes in (
            ("jv", "jv", mp.besselj, special.jv, 2, ((1e-140, 1.0), (-50.0, 50.0), (10.0, 1e4))),
            ("jv", "jv", mp.besselj, special.jv, 7, ((1e-40, 1.0), (-50.0, 50.0), (10.0, 1e4))),
            ("jv", "jv", mp.besselj, special.jv, 50, ((1e-4, 1.0), (1.0, 150.0), (10.0, 1e4))),
            ("iv", "iv", mp.besseli, special.iv, 3, ((1e-90, 1.0), (0.1, 713.0))),
            ("iv", "iv", mp.besseli, special.iv, 50, ((1e-4, 1.0), (0.1, 713.0))),
            ("kn", "kv", exact.kn, special.kn, 3, ((1e-90, 1.0), (0.1, 660.0))),
            ("kn", "kv", exact.kn, special.kn, 50, ((1e-4, 1.0), (0.1, 660.0))),
        )
    },
    **{
        f"{name}{mark}": _of(
            op, f(n, len(mark)), None if mark else getattr(special, name),
            slopes if mark else (1e-300, 10.0), (1.0, 1e150 if mark else 1e300),
            n=n, order=len(mark),
        )
        for name, op, f, n, slopes in (
            ("i0e", "ive", exact.scaled_i, 0, (1e-300, 10.0)),
            ("i1e", "ive", exact.scaled_i, 1, (1e-300, 10.0)),
            ("k0e", "kve", exact.scaled_k, 0, (1e-300, 10.0)),
            ("k1e", "kve", exact.scaled_k, 1, (1e-150, 10.0)),
        )
        for mark in ("", "'")
    },
    "zeta of one": _of("riemann_zeta", mp.zeta, special.zeta, *_BOX_ZETA, order=0),
    "zeta of one'": _of("riemann_zeta", exact.riemann_slope, None, *_BOX_ZETA, order=1),
    "zeta": _of("zeta", exact.zeta(0), special.zeta, *_BOX_HURWITZ),
    "zeta by s": _of("zeta", exact.zeta(1), None, *_BOX_HURWITZ, order=1),
    "expi": _of(
        "expi", mp.ei, special.expi, (-660.0, 50.0), (-1.0, -1e-300), (1e-300, 1.0), (1.0, 713.0)
    ),
    "exp1": _of("exp1", mp.e1, special.exp1, (1e-300, 1.0), (0.1, 660.0)),
    "exprel": _of(
        "exprel", exact.exprel, special.exprel, (-1e280, -1.0), (-50.0, 713.0), (1e-300, 1.0)
    ),
    "exprel'": _of(
        "exprel", exact.exprel_slope, None, (-1e140, -1.0), (-50.0, 713.0), (1e-300, 1.0), order=1
    ),
    "xlogy": _of(
        "xlogy", lambda x, y: x * mp.log(y), special.xlogy,
        ((1e-140, 1e140), (1e-300, 1e300)), ((0.1, 10.0), (0.9, 1.1)),
    ),
    "xlog1py": _of(
        "xlog1py", lambda x, y: x * mp.log1p(y), special.xlog1py,
        ((1e-140, 1e140), (1e-140, 1e300)), ((0.01, 1e3), (-1.0, 10.0)),
    ),
    "expit": _of(
        "sigmoid", lambda x: 1 / (1 + mp.exp(-x)), special.expit, (-660.0, 40.0), (1e-300, 1.0)
    ),
    "logit": _of(
        "logit", lambda x: mp.log(x / (1 - x)), special.logit, (1e-300, 0.5), (0.0, 1.0), (0.9, 1.0)
    ),
    "log_expit": _of(
        "log_sigmoid", lambda x: -mp.log1p(mp.exp(-x)), special.log_expit,
        (-1e300, -1.0), (-700.0, 660.0),
    ),
    "entr": _of("entr", lambda x: -x * mp.log(x), special.entr, (1e-280, 1.0), (0.01, 1e300)),
    "rel_entr": _of("rel_entr", exact.rel_entr, special.rel_entr, _SHAPES, _EVEN),
    "kl_div": _of("kl_div", exact.kl_div, special.kl_div, _SHAPES, _EVEN),
    "logsumexp of 3": _of(
        "logsumexp of 3", exact.logsumexp, _stacked(special.logsumexp, np.stack),
        ((-1e300, 1e300),) * 3, ((-700.0, 700.0),) * 3, ((-5.0, 5.0),) * 3,
    ),
    "softmax of 3": _of(
        "softmax of 3", lambda *x: mp.exp(x[0] - exact.logsumexp(*x)),
        _first(_stacked(special.softmax, np.stack)), ((-300.0, 300.0),) * 3, ((-5.0, 5.0),) * 3,
    ),
}  # fmt: skip
