"""Samplers: their distributions at fixed seeds, their gradients against differences with the same
bits, and what they do not depend on."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

import staticad as sad
from staticad.building import build
from tests.staticad.running import run

random = sad.random
COUNT = 20_000
inf = np.inf
Array = np.ndarray[Any, Any]

CONTINUOUS: dict[str, tuple[Callable[..., Any], tuple[float, ...], Any]] = {
    "exponential": (random.exponential, (2.0,), stats.expon(scale=2)),
    "weibull": (random.weibull, (1.7, 2.0), stats.weibull_min(1.7, scale=2)),
    "laplace": (random.laplace, (1.0, 2.0), stats.laplace(1, 2)),
    "logistic": (random.logistic, (1.0, 2.0), stats.logistic(1, 2)),
    "gumbel": (random.gumbel, (1.0, 2.0), stats.gumbel_r(1, 2)),
    "cauchy": (random.cauchy, (1.0, 2.0), stats.cauchy(1, 2)),
    "lognormal": (random.lognormal, (1.0, 0.5), stats.lognorm(0.5, scale=math.e)),
    "truncated_normal": (
        random.truncated_normal,
        (-1.0, 2.0, 1.0, 0.5),
        stats.truncnorm(-1, 2, 1, 0.5),
    ),
    "a right tail": (random.truncated_normal, (30.0, inf), stats.truncnorm(30, inf)),
    "a left tail": (random.truncated_normal, (-inf, -6.0), stats.truncnorm(-inf, -6)),
    "no truncation": (random.truncated_normal, (-inf, inf), stats.norm()),
    "gamma": (random.gamma, (3.0, 2.0), stats.gamma(3, scale=2)),
    "gamma of a small shape": (random.gamma, (0.1,), stats.gamma(0.1)),
    "gamma of a large shape": (random.gamma, (1e5,), stats.gamma(1e5)),
    "loggamma": (random.loggamma, (0.3,), stats.loggamma(0.3)),
    "beta": (random.beta, (0.3, 2.0), stats.beta(0.3, 2)),
    "chisquare": (random.chisquare, (3.0,), stats.chi2(3)),
    "student_t": (random.student_t, (3.0, 1.0, 2.0), stats.t(3, 1, 2)),
}
COUNTS: dict[str, tuple[Callable[..., Any], tuple[float, ...], Any]] = {
    "poisson": (random.poisson, (3.7,), stats.poisson(3.7)),
    "poisson of a small rate": (random.poisson, (0.01,), stats.poisson(0.01)),
    "poisson of a large rate": (random.poisson, (1e4,), stats.poisson(1e4)),
    "binomial": (random.binomial, (10, 0.3), stats.binom(10, 0.3)),
    "binomial of many": (random.binomial, (1000, 0.999), stats.binom(1000, 0.999)),
    "geometric": (random.geometric, (0.3,), stats.geom(0.3)),
}


def draw(function: Callable[..., Any], *parameters: Any, shape: Any = (COUNT,), **rest: Any) -> Any:
    with sad.Graph(seed=3) as graph:
        y = function(shape, *parameters, **rest)
    return run(graph, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_by_kolmogorov_and_smirnov(name: str, dtype: str) -> None:
    function, parameters, expected = CONTINUOUS[name]
    found = draw(function, *parameters, dtype=dtype)
    assert found.dtype == dtype
    if name == "gamma of a large shape" and dtype == "float32":
        # Many numbers are equal in so few digits.
        found = found + np.random.default_rng(0).uniform(-0.5, 0.5, COUNT) * np.spacing(found)
    assert stats.kstest(found.astype(np.float64), expected.cdf).pvalue > 1e-3
    # Neighbours are independent, by ranks, which have moments.
    assert abs(stats.spearmanr(found[:-1], found[1:]).statistic) < 5 / math.sqrt(COUNT)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "name", sorted(CONTINUOUS.keys() - {"lognormal", "gamma of a large shape"})
)
def test_half_floats_are_float64_rounded(name: str, dtype: str) -> None:
    function, parameters, _ = CONTINUOUS[name]
    found, wide = (draw(function, *parameters, shape=(500,), dtype=d) for d in (dtype, "float64"))
    assert found.dtype.name == dtype
    near = np.abs(found.astype(np.float64) - wide) <= 0.02 * (1 + np.abs(wide))
    assert (near | (np.abs(wide) > 6e4)).all()


@pytest.mark.parametrize("name", COUNTS)
def test_by_chi_square(name: str) -> None:
    function, parameters, expected = COUNTS[name]
    found = draw(function, *parameters)
    assert found.dtype == np.int64
    edges = np.unique(expected.ppf(np.linspace(0.02, 0.98, 25)))
    bins = np.searchsorted(edges, found)
    chances = np.diff([0.0, *expected.cdf(edges), 1.0])
    enough = chances * COUNT > 5
    counts = np.bincount(bins, minlength=len(chances))
    observed = [*counts[enough], counts[~enough].sum()]
    wanted = [*(chances[enough] * COUNT), chances[~enough].sum() * COUNT]
    keep = np.array(wanted) > 0
    assert stats.chisquare(np.array(observed)[keep], np.array(wanted)[keep]).pvalue > 1e-3


def test_counts_are_quantiles() -> None:
    rng = np.random.default_rng(0)
    u = (np.floor(rng.random(2000) * 2**52) + 0.5) * 2.0**-52
    with sad.Graph() as graph:
        p = sad.placeholder("float64", ("n",), name="u")
        rates = [0.0, 1e-3, 2.0, 9.5, 300.0, 1e6, 1e7]
        ys = [build("poisson_quantile", (sad.constant(np.full(2000, m)), p)) for m in rates]
        trials = [(1.0, 0.5), (50.0, 0.02), (1e4, 0.7), (1e8, 0.3)]
        zs = [
            build("binomial_quantile", (*(sad.constant(np.full(2000, v)) for v in pair), p))
            for pair in trials
        ]
    found = run(graph, [ys, zs], {p: u})
    for m, k in zip(rates, found[0], strict=True):
        np.testing.assert_array_equal(k, stats.poisson.ppf(u, m) if m else 0 * u)
    for (n, q), k in zip(trials, found[1], strict=True):
        np.testing.assert_array_equal(k, stats.binom.ppf(u, n, q))


def test_log_gamma_quantiles_and_derivatives_by_mpmath() -> None:
    a = np.array([1e-3, 0.012, 0.3, 3.0, 40.0, 0.5])
    u = np.array([0.99, 0.2, 1e-10, 0.8, 1 - 1e-12, 0.999])
    with sad.Graph() as graph:
        x, p = sad.constant(a), sad.constant(u)
        y = build("log_gamma_quantile", (x, p))
        (first,) = sad.gradients(y, x)
        (second,) = sad.gradients(first, x)
    found = np.array(run(graph, [y, first, second]))
    with mpmath.workdps(60):
        for k, start in enumerate(found[0]):

            def quantile(shape: Any, k: int = k, start: float = start) -> Any:
                def missing(v: Any) -> Any:
                    return mpmath.gammainc(shape, 0, mpmath.exp(v), regularized=True) - u[k]

                return mpmath.findroot(missing, (start, start * (1 + 1e-6)), tol=1e-90)

            h = mpmath.mpf("1e-12") * a[k]
            low, middle, high = (quantile(a[k] + i * h) for i in (-1, 0, 1))
            wanted = [middle, (high - low) / (2 * h), (high - 2 * middle + low) / h**2]
            for got, expected in zip(found[:, k], wanted, strict=True):
                assert abs(got - expected) <= 2e-13 * abs(expected), (a[k], u[k])


GRADIENTS: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    name: (function, parameters)
    for name, (function, parameters, _) in CONTINUOUS.items()
    if name not in ("no truncation", "gamma of a small shape", "gamma of a large shape")
} | {"normal": (random.normal, (0.5, 2.0)), "uniform": (random.uniform, (0.5, 2.0))}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_quantiles(name: str) -> None:
    function, parameters = GRADIENTS[name]
    with sad.Graph(seed=0):
        xs = [sad.constant(np.array(v)) for v in parameters]
        y = function((4,), *xs, dtype="float64")
        chosen = [x for x, v in zip(xs, parameters, strict=True) if math.isfinite(v)]
    sad.check_gradients(y, chosen, order=2, run=0)


def test_gradients_of_vectors() -> None:
    with sad.Graph(seed=0):
        alpha = sad.constant(np.array([[0.4, 2.0, 3.0]]))
        d = random.dirichlet((2,), alpha, dtype="float64")
        mean = sad.constant(np.array([1.0, -1.0]))
        cov = sad.constant(np.array([[2.0, 0.5], [0.5, 1.0]]))
        m = random.multivariate_normal((3,), mean, cov, dtype="float64")
    sad.check_gradients(d, [alpha], order=2, run=0)
    sad.check_gradients(m, [mean, cov], order=2, run=0)


@pytest.mark.parametrize("bounds", [(1.0, inf), (-inf, 1.0), (-inf, inf)])
def test_infinite_bounds_have_no_slope_to_second_order(bounds: tuple[float, float]) -> None:
    with sad.Graph(seed=0) as graph:
        low, high = ends = [sad.placeholder("float64", (), name=n) for n in ("low", "high")]
        y = sad.sum(random.truncated_normal((5,), low, high, dtype="float64") ** 2)
        first = sad.gradients(y, ends)
        second = [sad.gradients(d, ends) for d in first]
    slopes, curves = run(graph, [first, second], dict(zip(ends, bounds, strict=True)))
    assert np.isfinite(curves).all()
    endless = np.isinf(bounds)
    np.testing.assert_array_equal(np.asarray(slopes)[endless], 0)
    np.testing.assert_array_equal(np.asarray(curves)[endless], 0)


def test_narrow_bounds() -> None:
    with sad.Graph(seed=0) as graph:
        y = random.truncated_normal((100,), 0.5, 0.5 + 1e-12, dtype="float64")
    value = run(graph, y)
    assert ((value >= 0.5) & (value <= 0.5 + 1e-12)).all()
    assert len(np.unique(value)) > 50


def test_gradients_of_means() -> None:
    """The mean of pathwise gradients is the derivative of the mean."""
    with sad.Graph(seed=0) as graph:
        a, b = sad.constant(np.array(0.3)), sad.constant(np.array(2.0))
        means = [
            sad.mean(random.gamma((COUNT,), a, b, "float64")),
            sad.mean(random.beta((COUNT,), a, b, "float64")),
            sad.mean(random.gamma((COUNT,), a, 1.0, "float64") ** 2),
        ]
        gs = [sad.gradients(mean, [a, b], unconnected="zero") for mean in means]
    found = np.array(run(graph, gs))
    total = 2.3
    wanted = [[2, 0.3], [2 / total**2, -0.3 / total**2], [2 * 0.3 + 1, 0]]
    np.testing.assert_allclose(found, wanted, rtol=0.05, atol=1e-12)


def test_dirichlet_of_small_weights() -> None:
    found = draw(random.dirichlet, [1e-4, 1e-4, 2e-4], shape=(4000,))
    assert found.shape == (4000, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)
    # Nearly all of the weight is in one of them.
    share = (found > 0.5).mean(axis=0)
    np.testing.assert_allclose(share, [0.25, 0.25, 0.5], atol=0.03)
    usual = draw(random.dirichlet, [0.3, 2.0, 1.0])
    for k, (p, q) in enumerate([(0.3, 3.0), (2.0, 1.3), (1.0, 2.3)]):
        assert stats.kstest(usual[:, k], stats.beta(p, q).cdf).pvalue > 1e-3


def test_vectors_of_normal_numbers() -> None:
    cov = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, -0.9], [-0.9, 1.0]]])
    found = draw(random.multivariate_normal, [1.0, -1.0], cov, shape=(COUNT, 2), dtype="float64")
    assert found.shape == (COUNT, 2, 2)
    for k, c in enumerate(cov):
        white = np.linalg.solve(np.linalg.cholesky(c), (found[:, k] - [1.0, -1.0]).T)
        assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3
        np.testing.assert_allclose(np.cov(found[:, k].T), c, atol=0.06)
    one = draw(random.multivariate_normal, 0.0, np.eye(3), shape=())
    assert one.shape == (3,)


def test_classes_by_chi_square() -> None:
    p = np.array([[0.1, 0.0, 0.6, 0.3], [0.25, 0.25, 0.25, 0.25]])
    with sad.Graph(seed=3) as graph:
        logits = sad.log(sad.constant(p))
        y = random.categorical(logits, (COUNT, 2))
        z = random.categorical(sad.matrix_transpose(logits), axis=0, dtype="uint8")
    found, few = run(graph, [y, z])
    assert few.shape == (2,)
    assert few.dtype == np.uint8
    for k, row in enumerate(p):
        counts = np.bincount(found[:, k], minlength=4)
        assert counts[row == 0].sum() == 0
        assert stats.chisquare(counts[row > 0], row[row > 0] * COUNT).pvalue > 1e-3


def test_orders_by_chi_square() -> None:
    with sad.Graph(seed=3) as graph:
        ys = [random.permutation(3) for _ in range(50)]
    session = sad.Session(graph)
    found = np.array([session.run(ys) for _ in range(40)]).reshape(-1, 3)
    assert (np.sort(found) == [0, 1, 2]).all()
    counts = np.unique(found @ [9, 3, 1], return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-3


def test_permutations_keep_slices_together() -> None:
    values = np.arange(12.0).reshape(3, 4)
    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float64", ("n", "m"), name="x")
        y = random.permutation(x, axis=1)
        order = random.permutation(x.shape[1])
        (g,) = sad.gradients(sad.sum(y * np.arange(12.0).reshape(3, 4)), x)
    found, numbers, gradient = run(graph, [y, order, g], {x: values})
    places = [values[0].tolist().index(v) for v in found[0]]
    np.testing.assert_array_equal(found, values[:, places])
    np.testing.assert_array_equal(gradient[:, places], values)
    assert sorted(numbers.tolist()) == [0, 1, 2, 3]


def test_choices() -> None:
    p = [0.5, 0.0, 0.2, 0.3]
    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float64", ("n", 4), name="x")
        again = random.choice(4, (COUNT,), p=p)
        even = random.choice(x.shape[0], (COUNT,))
        rows = random.choice(x, (2, 5), axis=1)
        three = [random.choice(4, (3,), replace=False, p=p) for _ in range(200)]
        distinct = random.choice(x, (2, 2), replace=False)
    values = np.arange(24.0).reshape(6, 4)
    found, equal, columns, chosen, few = run(
        graph, [again, even, rows, three, distinct], {x: values}
    )
    counts = np.bincount(found, minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], np.array([0.5, 0.2, 0.3]) * COUNT).pvalue > 1e-3
    assert stats.chisquare(np.bincount(equal, minlength=6)).pvalue > 1e-3
    assert columns.shape == (6, 2, 5)
    assert (columns // 4 == np.arange(6)[:, None, None]).all()
    assert all(sorted(v.tolist()) == [0, 2, 3] for v in chosen)
    firsts = np.bincount([v[0] for v in chosen], minlength=4)
    assert stats.chisquare(firsts[[0, 2, 3]], [100, 40, 60]).pvalue > 1e-3
    assert few.shape == (2, 2, 4)
    assert len(np.unique(few[..., 0])) == 4


def sampled() -> list[Any]:
    made = [
        function((5,), *parameters, name=f"{name} numbers".replace(" ", "_"))
        for name, (function, parameters, _) in (CONTINUOUS | COUNTS).items()
    ]
    return [
        *made,
        random.dirichlet((3,), [0.5, 1.0], name="dirichlet"),
        random.multivariate_normal((3,), 0.0, np.eye(2), name="vectors"),
        random.categorical([0.0, 1.0], (5,), name="classes"),
        random.permutation(5, name="order"),
        random.choice(5, (3,), name="choice"),
        random.choice(5, (3,), replace=False, p=[1, 1, 1, 1, 1], name="without"),
        random.rademacher((5,), name="signs"),
    ]


def test_the_same_numbers_in_any_graph_plan_and_file(tmp_path: Path) -> None:
    with sad.Graph(seed=5) as graph:
        made = sampled()
    with sad.Graph(seed=5) as other:
        random.normal((3,))
        again = sampled()
    names = [m.name for m in made]
    assert names == [m.name for m in again]
    session = sad.Session(graph)
    first, second = session.run(names), session.run(names)
    pinned = session.run(names, step=0)
    graph.save(tmp_path / "a.sad")
    loaded = sad.Session(sad.load(tmp_path / "a.sad")).run(names)
    elsewhere = run(other, names)
    alone = [sad.Session(graph).run(name, step=0) for name in names]
    for name, a, *same in zip(names, first, pinned, loaded, elsewhere, alone, strict=True):
        for b in same:
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes(), name
    differ = [a.tobytes() != b.tobytes() for a, b in zip(first, second, strict=True)]
    assert sum(differ) > 0.7 * len(differ)


def test_two_draws_of_one_result_are_independent() -> None:
    with sad.Graph(seed=0) as graph:
        x = random.beta((COUNT,), 2.0, 2.0, name="x")
        t = random.student_t((COUNT,), 5.0, name="t")
    beta, student = run(graph, [x, t])
    # Of equal bits the beta numbers would all be a half.
    assert np.std(beta) > 0.2
    assert abs(stats.spearmanr(beta, student).statistic) < 5 / math.sqrt(COUNT)


def test_symbolic_sizes_and_parameters_of_runs() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        ys = [
            random.gamma((2, x.shape[0]), x),
            random.truncated_normal(x.shape, -x, x),
            random.poisson(x.shape, x),
            random.exponential(x.shape, -x),
            random.categorical(x, (x.shape[0],)),
        ]
    found = run(graph, ys, {x: np.array([1.0, 2.0, 0.5], np.float32)})
    assert [v.shape for v in found] == [(2, 3), (3,), (3,), (3,), (3,)]
    assert np.isnan(found[3]).all()
    assert [v.shape for v in run(graph, ys[:4], {x: np.zeros(0, np.float32)})] == [
        (2, 0), (0,), (0,), (0,)
    ]  # fmt: skip
    bad = {x: np.array([-1.0, 2.0], np.float32)}
    assert np.isnan(run(graph, ys[0], bad)[:, 0]).all()
    assert np.isnan(run(graph, ys[1], bad)[0])
    with pytest.raises(sad.ExecutionError, match="a rate"):
        run(graph, ys[2], bad)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_no_sizes_and_one(name: str) -> None:
    function, parameters, _ = CONTINUOUS[name]
    assert draw(function, *parameters, shape=(3, 0)).shape == (3, 0)
    assert draw(function, *parameters, shape=()).shape == ()
    assert draw(function, *parameters, shape=7).shape == (7,)
