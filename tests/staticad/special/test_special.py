"""sad.special: SciPy's values, gradients by differences, dtypes, sizes, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

import staticad as sad
from tests.staticad.running import apply, run

RNG = np.random.default_rng(5)
inf, nan = np.inf, np.nan

# Where each function is tried, one range an operand.
RANGES: dict[str, tuple[tuple[float, float], ...]] = {
    **dict.fromkeys(
        ("digamma", "gamma", "gammaln", "exp1", "expi", "k0", "k0e", "k1", "k1e", "entr"),
        ((0.3, 6.0),),
    ),
    **dict.fromkeys(
        ("erf", "erfc", "erfcx", "exprel", "expit", "log_expit", "i0", "i0e", "i1", "i1e", "j0",
         "j1", "log_ndtr", "ndtr", "sinc"),
        ((-3.0, 3.0),),
    ),
    **dict.fromkeys(("erfcinv", "logit", "ndtri"), ((0.05, 0.95),)),
    "erfinv": ((-0.95, 0.95),),
    **dict.fromkeys(
        ("beta", "betaln", "gammainc", "gammaincc", "kl_div", "rel_entr", "xlogy", "xlog1py"),
        ((0.3, 6.0), (0.3, 6.0)),
    ),
    "zeta": ((1.5, 6.0), (0.3, 6.0)),
    **dict.fromkeys(("betainc", "betaincc"), ((0.3, 6.0), (0.3, 6.0), (0.1, 0.9))),
}  # fmt: skip
OF_ORDER = {
    "iv": special.iv, "jv": special.jv, "kn": lambda n, x: special.kv(n, x),
    "polygamma": special.polygamma,
}  # fmt: skip
OTHERS = {"logsumexp", "softmax", "log_softmax"}


def operands(name: str, shape: tuple[int, ...] = (3, 4)) -> list[Any]:
    return [RNG.uniform(*limits, shape) for limits in RANGES[name]]


def test_every_function_is_tried() -> None:
    assert {*RANGES, *OF_ORDER, *OTHERS} == set(sad.special.__all__)


@pytest.mark.parametrize("name", RANGES)
def test_values_are_those_of_scipy(name: str) -> None:
    arrays = operands(name)
    expected = getattr(special, name)(*arrays)
    for symbolic in (False, True):
        found = apply(getattr(sad.special, name), *arrays, symbolic=symbolic)
        np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-15)
    found = apply(getattr(sad.special, name), *(a.astype(np.float32) for a in arrays))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=1e-6)
    half = apply(getattr(sad.special, name), *(a.astype(np.float16) for a in arrays))
    assert half.dtype == np.float16
    empty = apply(getattr(sad.special, name), *(a[:0] for a in arrays))
    assert empty.shape == (0, 4)


@pytest.mark.parametrize("name", OF_ORDER)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_values_of_integer_order_are_those_of_scipy(name: str, n: int) -> None:
    x = RNG.uniform(0.3, 6.0, (3, 4))
    found = apply(lambda x: getattr(sad.special, name)(n, x), x)
    np.testing.assert_allclose(found, OF_ORDER[name](n, x), rtol=2e-13, atol=1e-15)
    if name != "polygamma":
        found = apply(lambda x: getattr(sad.special, name)(-n, x, name="y"), x)
        np.testing.assert_allclose(found, OF_ORDER[name](-n, x), rtol=2e-13, atol=1e-15)


@pytest.mark.parametrize("name", RANGES)
def test_gradients_agree_with_differences_to_second_order(name: str) -> None:
    arrays = operands(name, (3,))
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", (3,)) for _ in arrays]
        y = getattr(sad.special, name)(*xs)
        dxs = sad.gradients(sad.sum(y), xs)
    feeds = dict(zip(xs, arrays, strict=True))
    sad.check_gradients(y, xs, feeds, rtol=1e-6)
    for dx in dxs:
        sad.check_gradients(dx, xs, feeds, rtol=1e-6)
    assert np.isfinite(run(graph, dxs, feeds)).all()


def test_functions_of_negative_numbers_left_of_poles() -> None:
    x = np.array([-0.5, -1.5, -3.25, -10.1])
    for n in range(5):
        found = apply(lambda x, n=n: sad.special.polygamma(n, x), x)
        step = 1e-5
        ahead, behind = (
            apply(lambda x, n=n: sad.special.polygamma(n, x), x + h) for h in (step, -step)
        )
        above = apply(lambda x, n=n: sad.special.polygamma(n + 1, x), x)
        np.testing.assert_allclose((ahead - behind) / (2 * step), above, rtol=1e-5, atol=1e-4)
        assert np.isfinite(found).all()


def test_riemann_zeta_is_continued_and_that_of_hurwitz_is_not() -> None:
    s = np.array([-260.3, -17.0, -4.0, -1e-300, 0.0, 0.25, 1.0, 1.5, 40.0, inf])
    np.testing.assert_allclose(apply(sad.special.zeta, s), special.zeta(s), rtol=1e-13)
    # Extrema between zeros, where nothing but the function's own error is left.
    extrema = {
        -2.717262829204574: 0.009159890119903463,
        -51.59334723399108: 2.0197622951408367e25,
        -127.69428889952921: 1.5347990439469607e112,
        -255.74491961472407: 1.9162693359484945e301,
    }
    for at, value in extrema.items():
        np.testing.assert_allclose(apply(sad.special.zeta, np.array([at])), value, rtol=3e-15)
    assert apply(sad.special.zeta, np.arange(-2.0, -60.0, -2.0)).tolist() == [0.0] * 29
    for q in (1.0, 0.3):
        found = apply(lambda s, q=q: sad.special.zeta(s, q), s)
        np.testing.assert_array_equal(found, special.zeta(s, q))
    points = np.array([-20.4, -2.0, -0.6, -0.4, 0.0, 0.7, 1.9, 2.1])
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (8,))
        y = sad.special.zeta(x)
        (dx,) = sad.gradients(sad.sum(y), x)
        (ddx,) = sad.gradients(sad.sum(dx), x)
    for z in (y, dx, ddx):
        sad.check_gradients(z, [x], {x: points}, rtol=1e-6)
    assert np.isfinite(run(graph, [dx, ddx], {x: points})).all()


@pytest.mark.parametrize("name", RANGES)
def test_cotangents_of_zero_stay_zero_at_poles(name: str) -> None:
    """Wherever the other side of a where is taken."""
    points = np.array([0.0, -0.0, 1.0, -1.0, 2.0, inf, -inf, nan])
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", (8,)) for _ in RANGES[name]]
        y = sad.where(xs[0] != xs[0], 0.0, 1.0) * 0.0
        z = sad.where(sad.constant(np.zeros(8, bool)), getattr(sad.special, name)(*xs), y)
        dxs = sad.gradients(sad.sum(z), xs)
        ddxs = sad.gradients([sad.sum(d) for d in dxs], xs, unconnected="zero")
    for value in run(graph, [*dxs, *ddxs], dict.fromkeys(xs, points)):
        np.testing.assert_array_equal(value, np.zeros(8))


def test_integers_and_lists_become_float32() -> None:
    with sad.Graph() as graph:
        ys = [
            sad.special.gammaln(5), sad.special.gammaln([1, 2]), sad.special.xlogy(2, [3, 4]),
            sad.special.polygamma(1, sad.placeholder("int32", (), name="n")),
            sad.special.ndtr(0), sad.special.entr(1), sad.special.zeta(2),
            sad.special.softmax([1, 1]), sad.special.logsumexp([0, 0], b=[1, 3]),
        ]  # fmt: skip
    values = run(graph, ys, {"n": 2})
    assert all(v.dtype == np.float32 for v in values)
    assert values[0] == np.float32(special.gammaln(5))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1), ()])
def test_softmax_over_any_axes(name: str, axis: Any) -> None:
    x = RNG.normal(size=(2, 3, 4)) * 100
    for symbolic in (False, True):
        found = apply(lambda x: getattr(sad.special, name)(x, axis), x, symbolic=symbolic)
        if axis == ():
            assert (found == (1.0 if name == "softmax" else 0.0)).all()
        else:
            np.testing.assert_allclose(found, getattr(special, name)(x, axis), rtol=1e-12)


def test_logsumexp_with_weights() -> None:
    a, b = RNG.normal(size=(2, 5)), RNG.uniform(-0.2, 1.0, (2, 5))
    b[0, 1] = 0.0
    for axis in (None, 1, (0,), (0, 1)):
        for keepdims in (False, True):
            expected = special.logsumexp(a, axis, b, keepdims)
            for symbolic in (False, True):
                found = apply(
                    lambda a, b, x=axis, k=keepdims: sad.special.logsumexp(a, x, b, k),
                    a, b, symbolic=symbolic,
                )  # fmt: skip
                np.testing.assert_allclose(found, expected, rtol=1e-12)
    with sad.Graph():
        xs = [sad.placeholder("float64", (2, 5)) for _ in range(2)]
        y = sad.special.logsumexp(xs[0], 1, xs[1])
        sad.check_gradients(y, xs, dict(zip(xs, (a, b), strict=True)))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1000.0, 999.0], [1.0, 0.0], 1000.0),
        ([0.0, 1e4], [1.0, 0.0], 0.0),
        ([0.0, inf], [1.0, 0.0], 0.0),
        ([0.0, inf], [1.0, 1.0], inf),
        ([-inf, -inf], [1.0, 2.0], -inf),
        ([0.0, 0.0], [1.0, -1.0], -inf),
        ([0.0, 0.0], [1.0, -2.0], nan),
        ([], [], -inf),
    ],
)
def test_logsumexp_at_the_edges(a: Any, b: Any, expected: float) -> None:
    given = np.array(a), np.array(b)
    assert np.array_equal(
        apply(lambda a, b: sad.special.logsumexp(a, b=b), *given), expected, equal_nan=True
    )


def test_slopes_at_the_ends_of_domains() -> None:
    def slope(f: Callable[..., Any], x: float) -> float:
        with sad.Graph() as graph:
            at = sad.placeholder("float64", ())
            (d,) = sad.gradients(f(at), at)
        return float(run(graph, d, {at: x}))

    s = sad.special
    assert slope(s.erfinv, 1.0) == slope(s.erfinv, -1.0) == inf
    assert slope(s.erfcinv, 0.0) == slope(s.erfcinv, 2.0) == -inf
    assert slope(s.ndtri, 0.0) == slope(s.ndtri, 1.0) == inf
    assert slope(s.entr, 0.0) == inf
    assert slope(s.entr, -1.0) == 0
    assert slope(s.gammaln, 0.0) == -inf
    assert slope(s.log_ndtr, -1e10) == pytest.approx(1e10, 1e-15)
    assert slope(lambda x: sad.gradients(s.log_ndtr(x), x)[0], -1e6) == pytest.approx(-1, 1e-11)
    assert slope(s.k0, 0.0) == -inf
    assert slope(s.i1e, 0.0) == pytest.approx(0.5, 1e-15)
    assert slope(s.i0e, 0.0) == 0
    assert slope(s.exprel, 0.0) == 0.5
    assert slope(s.erfcx, 1e8) == pytest.approx(-1 / np.sqrt(np.pi) / 1e16, 1e-14)
    assert slope(s.i0e, 1e8) == pytest.approx(-0.5 / np.sqrt(2 * np.pi) / 1e12, 1e-7)


def test_what_is_saved_computes_the_same(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float64", ("n",), name="a")
        y = sad.special.gammainc(a, 2.0) * sad.special.polygamma(2, a) + sad.special.jv(3, a)
        (da,) = sad.gradients(sad.sum(y), a)
        graph.signature("main", inputs={"a": a}, outputs={"y": y, "da": da})
    graph.save(tmp_path / "special.sad")
    loaded = sad.load(tmp_path / "special.sad")
    feed = RNG.uniform(0.5, 5.0, 7)
    here = run(graph, [y, da], {a: feed})
    assert np.array_equal(run(loaded, [y.name, da.name], {"a": feed}), here)
