"""Log densities: as SciPy has them, -inf outside of the support, with gradients of both orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

import staticad as sad
from tests.staticad.running import run

logpdf = sad.random.logpdf
inf, nan = np.inf, np.nan

LINE = [-inf, -30.0, -1.5, 0.0, 0.3, 2.0, 40.0, inf, nan]
HALF = [-inf, -1.5, 0.0, 1e-300, 0.3, 1.0, 2.0, 40.0, inf, nan]
UNIT = [-1.5, 0.0, 1e-300, 0.3, 0.9, 1.0, 1.1, nan]
COUNTS = [-1.0, 0.0, 1.0, 2.0, 2.5, 7.0, 11.0, inf, nan]

Case = tuple[Callable[..., Any], list[float], tuple[float, ...], Callable[..., Any]]
CASES: dict[str, Case] = {
    "normal": (logpdf.normal, LINE, (0.3, 1.7), lambda x, *p: stats.norm.logpdf(x, *p)),
    "lognormal": (
        logpdf.lognormal,
        HALF,
        (0.3, 1.7),
        lambda x, m, s: stats.lognorm.logpdf(x, s, scale=np.exp(m)),
    ),
    "laplace": (logpdf.laplace, LINE, (0.1, 1.7), lambda x, *p: stats.laplace.logpdf(x, *p)),
    "logistic": (logpdf.logistic, LINE, (0.1, 1.7), lambda x, *p: stats.logistic.logpdf(x, *p)),
    "gumbel": (logpdf.gumbel, LINE, (0.1, 1.7), lambda x, *p: stats.gumbel_r.logpdf(x, *p)),
    "cauchy": (logpdf.cauchy, LINE, (0.1, 1.7), lambda x, *p: stats.cauchy.logpdf(x, *p)),
    "student_t": (
        logpdf.student_t,
        LINE,
        (2.5, 0.1, 1.7),
        lambda x, *p: stats.t.logpdf(x, *p),
    ),
    "uniform": (
        logpdf.uniform,
        LINE,
        (-1.0, 2.5),
        lambda x, a, b: stats.uniform.logpdf(x, a, b - a),
    ),
    "exponential": (
        logpdf.exponential,
        HALF,
        (1.7,),
        lambda x, s: stats.expon.logpdf(x, scale=s),
    ),
    "gamma": (
        logpdf.gamma,
        HALF,
        (2.3, 1.7),
        lambda x, a, s: stats.gamma.logpdf(x, a, scale=s),
    ),
    "gamma below 1": (
        logpdf.gamma,
        HALF,
        (0.3, 1.7),
        lambda x, a, s: stats.gamma.logpdf(x, a, scale=s),
    ),
    "weibull": (
        logpdf.weibull,
        HALF,
        (2.3, 1.7),
        lambda x, a, s: stats.weibull_min.logpdf(x, a, scale=s),
    ),
    "chisquare": (logpdf.chisquare, HALF, (2.6,), lambda x, d: stats.chi2.logpdf(x, d)),
    "beta": (logpdf.beta, UNIT, (2.3, 1.7), lambda x, *p: stats.beta.logpdf(x, *p)),
    "beta below 1": (logpdf.beta, UNIT, (0.3, 0.7), lambda x, *p: stats.beta.logpdf(x, *p)),
    "truncated_normal": (
        logpdf.truncated_normal,
        LINE,
        (-1.1, 2.3, 0.3, 1.7),
        lambda x, *p: stats.truncnorm.logpdf(x, *p),
    ),
    "truncated_normal of a tail": (
        logpdf.truncated_normal,
        [19.9, 20.5, 21.0, nan],
        (20.0, inf, 0.0, 1.0),
        lambda x, *p: stats.truncnorm.logpdf(x, *p),
    ),
    "bernoulli": (logpdf.bernoulli, COUNTS, (0.3,), lambda x, p: stats.bernoulli.logpmf(x, p)),
    "binomial": (logpdf.binomial, COUNTS, (8.0, 0.3), lambda x, *p: stats.binom.logpmf(x, *p)),
    "poisson": (logpdf.poisson, COUNTS, (3.7,), lambda x, m: stats.poisson.logpmf(x, m)),
    "geometric": (logpdf.geometric, COUNTS, (0.3,), lambda x, p: stats.geom.logpmf(x, p)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_as_scipy_has_them(name: str, dtype: str) -> None:
    function, points, parameters, expected = CASES[name]
    at = np.array(points, dtype)
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, ("n",), name="x")
        y = function(x, *parameters)
    found = run(graph, y, {x: at})
    assert found.dtype == dtype
    with np.errstate(all="ignore"):
        wanted = np.asarray(expected(at.astype(np.float64), *parameters))
    # SciPy says NaN of some infinities, and -inf of some NaN.
    wanted = np.where(np.isinf(at), -inf, np.where(np.isnan(at), nan, wanted))
    rtol = 2e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", [n for n in CASES if "tail" not in n])
def test_gradients_of_both_orders(name: str) -> None:
    function, points, parameters, _ = CASES[name]
    if points is COUNTS:
        at = [0.0, 1.0] if name == "bernoulli" else [1.0, 2.0, 7.0]
    else:
        at = [0.3, 0.6] if points is UNIT else [0.3, 0.9, 1.1]
    with sad.Graph():
        xs = [sad.constant(np.array(v)) for v in (at, *parameters)]
        y = function(*xs)
    # Counts are no real numbers.
    first = {"binomial": 2}.get(name, int(points is COUNTS))
    sad.check_gradients(y, xs[first:], order=2)


@pytest.mark.parametrize("name", CASES)
def test_outside_of_the_support_gradients_are_0(name: str) -> None:
    function, points, parameters, _ = CASES[name]
    with sad.Graph() as graph:
        x = sad.constant(np.array(points))
        ps = [sad.constant(np.array(p)) for p in parameters]
        y = function(x, *ps)
        spread = [sad.broadcast_to(p, x.shape) for p in ps]
        y = function(x, *spread)
        gradients = sad.gradients(sad.sum(y), [x, *spread], unconnected="zero")
    value, found = run(graph, [y, gradients])
    outside = np.isneginf(value) & np.isfinite(points)
    # The ends belong to the support, also where the density is 0.
    if points is not COUNTS:
        outside &= ~np.isin(points, [0.0, 1.0])
    for g in found:
        assert (g[outside] == 0).all(), (name, g)


def test_parameters_of_a_run_make_nan() -> None:
    for name, (function, points, parameters, _) in CASES.items():
        if name in ("uniform", "truncated_normal", "truncated_normal of a tail"):
            continue
        with sad.Graph() as graph:
            last = sad.placeholder("float64", (), name="last")
            y = function(np.array(points), *parameters[:-1], last)
        assert np.isnan(run(graph, y, {last: -1.0})).all(), name
    with sad.Graph() as graph:
        high = sad.placeholder("float64", (), name="high")
        ys = [logpdf.uniform([1.0, 9.0], 2.0, high), logpdf.truncated_normal([0.5], 2.0, high)]
    for found in run(graph, ys, {high: 1.0}):
        assert np.isnan(found).all()


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize(
    ("function", "shape", "slope"),
    [
        (logpdf.gamma, 3.0, inf),
        (logpdf.gamma, 1.0, -0.5),
        (logpdf.gamma, 0.5, -inf),
        (logpdf.weibull, 3.0, inf),
        (logpdf.weibull, 1.0, -0.5),
        (logpdf.weibull, 0.5, -inf),
    ],
)
def test_slopes_at_the_edge_of_the_support(
    function: Any, shape: float, slope: float, zero: float
) -> None:
    with sad.Graph() as graph:
        x, a, scale = (sad.placeholder("float64", ()) for _ in range(3))
        found = sad.gradients(function(x, a, scale), [x, scale])
    # What is left of the formula's slope in the scale has a limit.
    values = run(graph, found, {x: zero, a: shape, scale: 2.0})
    np.testing.assert_allclose(values, [slope, -shape / 2.0])


def test_ratios_that_underflow() -> None:
    with sad.Graph() as graph:
        x = sad.constant(np.array([1e-200]))
        found = [f(x, 1.5, np.array([1e200])) for f in (logpdf.gamma, logpdf.weibull)]
    log_x, log_scale = np.log(1e-200), np.log(1e200)
    right = 0.5 * (log_x - log_scale) - log_scale
    gamma, weibull = run(graph, found)
    np.testing.assert_allclose(gamma, right - np.log(np.sqrt(np.pi) / 2), rtol=1e-14)
    np.testing.assert_allclose(weibull, right + np.log(1.5), rtol=1e-14)


def test_second_derivatives_in_infinite_bounds() -> None:
    with sad.Graph() as graph:
        low, high = (sad.placeholder("float64", (), name=name) for name in ("low", "high"))
        y = logpdf.truncated_normal(np.array(2.0), low, high)
        second = [sad.gradients(d, [low, high]) for d in sad.gradients(y, [low, high])]
    # The logarithm of the mass above 1 has the derivative -m, m that of the mass; m' = m (m - 1).
    m = float(stats.norm.pdf(1) / stats.norm.sf(1))
    found = run(graph, second, {low: 1.0, high: inf})
    np.testing.assert_allclose(found, [[m * (m - 1), 0.0], [0.0, 0.0]], rtol=1e-12)
    mirrored = run(graph, second, {low: -inf, high: 3.0})
    m = float(stats.norm.pdf(3) / stats.norm.cdf(3))
    np.testing.assert_allclose(mirrored, [[0.0, 0.0], [0.0, m * (m + 3)]], rtol=1e-12)


def test_classes() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 4, 5))
    classes = np.array([[0, 1, 3, 0, 4], [2, 0, 0, 1, -1], [3, 3, 3, 3, 3]])
    with sad.Graph() as graph:
        scores = sad.placeholder("float64", ("n", "k", "m"), name="scores")
        y = logpdf.categorical(classes, scores, axis=1)
        (g,) = sad.gradients(sad.sum(sad.where(sad.isinf(y), 0, y)), scores)
    value, gradient = run(graph, [y, g], {scores: logits})
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    inside = (classes >= 0) & (classes < 4)
    picked = np.take_along_axis(log_p, np.where(inside, classes, 0)[:, None], 1)[:, 0]
    np.testing.assert_allclose(value, np.where(inside, picked, -inf), rtol=1e-14)
    chosen = np.moveaxis(np.eye(4)[np.where(inside, classes, 0)], -1, 1)
    expected = np.where(inside[:, None], chosen - np.exp(log_p), 0)
    np.testing.assert_allclose(gradient, expected, atol=1e-14)


def test_vectors() -> None:
    rng = np.random.default_rng(0)
    alpha = np.array([0.4, 2.0, 3.0])
    x = rng.dirichlet(alpha, 4)
    a = rng.normal(size=(2, 3, 3))
    cov = a @ a.mT + np.eye(3)
    mean, points = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    with sad.Graph() as graph:
        d = logpdf.dirichlet(np.concatenate([x, [[-0.5, 0.5, 1.0]]]), alpha)
        given = [sad.constant(v) for v in (points, mean, cov)]
        m = logpdf.multivariate_normal(*given)
        (dx, dcov) = sad.gradients(m, [given[0], given[2]])
    values = run(graph, [d, m, dx, dcov])
    expected = [*(stats.dirichlet.logpdf(v, alpha) for v in x), -inf]
    np.testing.assert_allclose(values[0], expected, rtol=1e-12)
    normals = [stats.multivariate_normal(*p) for p in zip(mean, cov, strict=True)]
    wanted = [n.logpdf(v) for n, v in zip(normals, points, strict=True)]
    np.testing.assert_allclose(values[1], wanted, rtol=1e-12)
    inverse = np.linalg.inv(cov)
    u = (inverse @ (points - mean)[..., None])[..., 0]
    np.testing.assert_allclose(values[2], -u, rtol=1e-10)
    closed = (u[..., None] * u[..., None, :] - inverse) / 2
    np.testing.assert_allclose(values[3], closed, rtol=1e-10, atol=1e-12)
