"""Statistics along axes against NumPy's: values, gradients, corners, dtypes, symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import NAMES, Array

from ..cases.running import build, grad, grads, value

INF, NAN = np.inf, np.nan
Function = Callable[..., Any]
METHODS = ["linear", "lower", "higher", "midpoint", "nearest"]
HALVES = ["float16", "bfloat16"]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def check_slope(f: Function, *operands: Array) -> None:
    """First and second derivatives along random directions, by differences."""
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", x.shape) for x in operands]
        y = f(*xs)
        weights = sad.constant(normal(*y.shape, seed=1))
        first = sad.gradients(y, xs, weights)
        direction = [sad.constant(normal(*x.shape, seed=2)) for x in operands]
        second = sad.gradients(first, xs, direction, unconnected="zero")
        total = sad.sum(y * weights)
    along = [normal(*x.shape, seed=3) for x in operands]
    h = 1e-5
    with sad.Session(graph) as session:

        def at(step: float, fetch: Any) -> Any:
            feeds = {x: o + step * v for x, o, v in zip(xs, operands, along, strict=True)}
            return session.run(fetch, feeds)

        slopes, curves = at(0.0, first), at(0.0, second)
        expected = (at(h, total) - at(-h, total)) / (2 * h)
        found = sum(np.sum(s * v) for s, v in zip(slopes, along, strict=True))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)

        def turned(step: float) -> Any:
            return sum(
                np.sum(s * normal(*x.shape, seed=2))
                for s, x in zip(at(step, first), operands, strict=True)
            )

        expected = (turned(h) - turned(-h)) / (2 * h)
        found = sum(np.sum(c * v) for c, v in zip(curves, along, strict=True))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


# ------------------------------------------------------------------ spread


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1])
@pytest.mark.parametrize("correction", [0, 1, 0.5])
def test_var_and_std(name: str, axis: Any, correction: float) -> None:
    x = normal(3, 4, 5)
    f, reference = getattr(sad, name), getattr(np, name)
    found = value(lambda x: f(x, axis=axis, correction=correction, keepdims=True), x)
    expected = reference(x, axis=axis, ddof=correction, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    check_slope(lambda x: f(x, axis=axis, correction=correction), x)


@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64", "complex128"])
@pytest.mark.parametrize("constant", [0.1, 0.3, 1e-3, 7.7, 1e4])
def test_std_of_equal_elements_has_derivatives_of_0(dtype: str, constant: float) -> None:
    # Sums of 0.1 are not exact: the mean is not an element.
    x = np.full((2, 7), constant).astype(NAMES[dtype])
    graph, (point,), y = build(lambda x: sad.std(x, axis=1, correction=1), (x,), dtype)
    (first,) = sad.gradients(sad.sum(y), point)
    direction = graph.constant(normal(2, 7).astype(NAMES[dtype]))
    (second,) = sad.gradients(first, point, direction)
    with sad.Session(graph) as session:
        found = session.run([y, first, second], {point: x})
    for array in found:
        np.testing.assert_array_equal(array, np.zeros_like(array))


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_std_neither_over_nor_underflows(scale: float) -> None:
    x = normal(6)
    np.testing.assert_allclose(value(sad.std, scale * x), scale * np.std(x), rtol=1e-13)
    np.testing.assert_allclose(grad(sad.std, scale * x), grad(sad.std, x), rtol=1e-12)


@pytest.mark.parametrize("name", ["var", "std"])
def test_spread_of_few_elements(name: str) -> None:
    f = getattr(sad, name)
    assert value(f, [3.0]) == 0
    assert grad(f, [3.0]).tolist() == [0]
    assert np.isnan(value(lambda x: f(x, correction=1), [3.0]))
    assert np.isnan(value(f, np.zeros(0)))
    assert np.isnan(value(f, [1.0, NAN]))
    assert np.isnan(value(f, [1.0, INF]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "int64"])
def test_spread_of_integers_is_float32(dtype: str) -> None:
    x = np.array([1, 0, 1, 1], dtype)
    for f, reference in ((sad.var, np.var), (sad.std, np.std), (sad.median, np.median)):
        if dtype == "bool" and f is sad.median:
            continue
        found = value(f, x)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, reference(x.astype(float)), rtol=1e-6)


def test_count_nonzero_and_ptp() -> None:
    x = np.array([[0.0, NAN, -0.0], [1, 2, 0]])
    found = value(lambda x: sad.count_nonzero(x, axis=1, keepdims=True), x)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, [[1], [2]])
    np.testing.assert_array_equal(value(lambda x: sad.ptp(x, axis=1), x), [NAN, 2])
    np.testing.assert_array_equal(grad(sad.ptp, [1.0, 5.0, 5.0]), [-1, 0.5, 0.5])


def test_average() -> None:
    x, w, v = normal(3, 4), np.abs(normal(3, 4, seed=1)), np.abs(normal(4))
    for axis in (None, 0, 1):
        found = value(lambda x, w, axis=axis: sad.average(x, axis=axis, weights=w), x, w)
        np.testing.assert_allclose(found, np.average(x, axis, w), rtol=1e-13)
    found = value(lambda x, v: sad.average(x, axis=1, weights=v, keepdims=True), x, v)
    np.testing.assert_allclose(found, np.average(x, 1, v, keepdims=True), rtol=1e-13)
    np.testing.assert_allclose(value(sad.average, x), np.mean(x))
    check_slope(lambda x, w: sad.average(x, axis=0, weights=w), x, w)
    check_slope(lambda x, v: sad.average(x, axis=1, weights=v), x, v)


# ------------------------------------------------------------------ correlation


@pytest.mark.parametrize("rowvar", [True, False])
@pytest.mark.parametrize("correction", [0, 1])
@pytest.mark.parametrize("weighted", ["", "f", "a", "fa"])
def test_cov(rowvar: bool, correction: int, weighted: str) -> None:
    x = normal(3, 5) if rowvar else normal(5, 3)
    often = np.array([1, 2, 1, 3, 1]) if "f" in weighted else None
    much = np.abs(normal(5)) if "a" in weighted else None

    def f(x: Any) -> Any:
        return sad.cov(x, rowvar=rowvar, correction=correction, fweights=often, aweights=much)

    expected = np.cov(x, rowvar=rowvar, ddof=correction, fweights=often, aweights=much)
    np.testing.assert_allclose(value(f, x), expected, rtol=1e-12)
    check_slope(f, x)


def test_cov_and_corrcoef_of_other_shapes() -> None:
    x, y = normal(6), normal(6, seed=1)
    for f, reference in ((sad.cov, np.cov), (sad.corrcoef, np.corrcoef)):
        np.testing.assert_allclose(value(f, x), reference(x), rtol=1e-12)
        np.testing.assert_allclose(value(f, x, y), reference(x, y), rtol=1e-12)
        found = value(f, normal(2, 6), x)
        np.testing.assert_allclose(found, reference(normal(2, 6), x), rtol=1e-12)
    z = normal(2, 5) + 1j * normal(2, 5, seed=1)
    np.testing.assert_allclose(value(sad.cov, z), np.cov(z), rtol=1e-12)
    np.testing.assert_allclose(value(sad.corrcoef, z), np.corrcoef(z), rtol=1e-12)
    check_slope(sad.corrcoef, normal(3, 5))
    large = normal(2, 6) * 1e200
    np.testing.assert_allclose(value(sad.corrcoef, large), np.corrcoef(normal(2, 6)), rtol=1e-12)


# ------------------------------------------------------------------ quantiles


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1])
@pytest.mark.parametrize("q", [0.3, [0.0, 0.25, 0.5, 0.77, 1.0], [[0.1], [0.9]]])
def test_quantile(method: Any, axis: Any, q: Any) -> None:
    x = normal(3, 4, 5)
    for keepdims in (False, True):
        found = value(
            lambda x, keepdims=keepdims: sad.quantile(
                x, q, axis=axis, method=method, keepdims=keepdims
            ),
            x,
        )
        expected = np.quantile(x, q, axis=axis, method=method, keepdims=keepdims)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    check_slope(lambda x: sad.quantile(x, q, axis=axis, method=method), x)
    found = value(lambda x: sad.percentile(x, np.multiply(q, 100), axis=axis), x)
    np.testing.assert_allclose(found, np.percentile(x, np.multiply(q, 100), axis=axis), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_of_symbolic_sizes_and_of_shares_that_are_fed(method: Any) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("a", "b"))
        q = sad.placeholder("float64", ("k",))
        y = sad.quantile(x, q, axis=0, method=method)
        z = sad.quantile(x, [0.25, 0.5], axis=1, method=method)
        m = sad.median(x)
        slope = sad.gradients(m, x)[0]
    with sad.Session(graph) as session:
        for shape in ((4, 3), (1, 5), (2, 2)):
            a, shares = normal(*shape), np.array([0.0, 0.5, 0.9, 1.0])
            found = session.run([y, z, m, slope], {x: a, q: shares})
            np.testing.assert_allclose(found[0], np.quantile(a, shares, axis=0, method=method))
            expected = np.quantile(a, [0.25, 0.5], axis=1, method=method)
            np.testing.assert_allclose(found[1], expected)
            np.testing.assert_allclose(found[2], np.median(a))
            assert np.sum(found[3]) == 1
        for wrong in (-0.1, 1.1, NAN):
            with pytest.raises(sad.StaticadError):
                session.run(y, {x: normal(4, 3), q: [wrong]})


def test_a_quantile_is_differentiable_in_its_share() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0])
    _, dq = grads(lambda x, q: sad.quantile(x, q), x, 0.5)
    np.testing.assert_allclose(dq, 3 * (4.0 - 2.0))


@pytest.mark.parametrize("dtype", [*HALVES, "float32", "float64"])
def test_the_gradient_of_a_median_goes_to_the_middle(dtype: str) -> None:
    f = lambda x: sad.median(x, axis=1)  # noqa: E731
    found = grad(f, [[3.0, 1.0, 2.0, 10.0], [5.0, 5.0, 5.0, 5.0]], dtype)
    np.testing.assert_array_equal(found, [[0.5, 0, 0.5, 0], [0, 0.5, 0.5, 0]])
    np.testing.assert_array_equal(grad(sad.median, [3.0, 1.0, 2.0], dtype), [0, 0, 1])


def test_quantiles_at_special_values() -> None:
    f = lambda x: sad.median(x, axis=1)  # noqa: E731
    x = np.array([[NAN, 1, 2], [INF, 1, 2], [-INF, INF, INF], [1, 1, -INF]])
    np.testing.assert_array_equal(value(f, x), [NAN, 2, INF, 1])
    x = np.array(
        [[INF, INF], [-INF, 1], [1, INF], [-INF, INF], [1e308, -1e308], [1.7e308, 1.7e308]]
    )
    found = value(f, x)
    np.testing.assert_array_equal(found, [INF, -INF, INF, NAN, 0, 1.7e308])
    q = value(lambda x: sad.quantile(x, [0.0, 0.25, 1.0], axis=1), x[:3]).T
    np.testing.assert_array_equal(q, [[INF] * 3, [-INF, -INF, 1], [1, INF, INF]])


# ------------------------------------------------------------------ NaN left out


@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd", "nanmedian"]
)
@pytest.mark.parametrize("axis", [None, 0, (0, 1), -1])
def test_without_nan(name: str, axis: Any) -> None:
    x = normal(3, 4, 5)
    x[1:][np.abs(x[1:]) < 0.4] = NAN
    f = lambda x: getattr(sad, name)(x, axis=axis)  # noqa: E731
    expected = getattr(np, name)(x, axis=axis)
    np.testing.assert_allclose(value(f, x), expected, rtol=1e-12)
    found = grad(f, x)
    np.testing.assert_array_equal(found[np.isnan(x)], 0)
    h, v = 1e-6, normal(*x.shape, seed=1)
    slope = (np.sum(value(f, x + h * v)) - np.sum(value(f, x - h * v))) / (2 * h)
    np.testing.assert_allclose(np.nansum(found * v), slope, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_nanquantile(method: Any) -> None:
    x = normal(4, 6)
    x[np.abs(x) < 0.5] = NAN
    q = [0.0, 0.3, 0.5, 1.0]
    for axis in (None, 0, 1):
        found = value(lambda x, axis=axis: sad.nanquantile(x, q, axis=axis, method=method), x)
        np.testing.assert_allclose(found, np.nanquantile(x, q, axis=axis, method=method))
        found = value(lambda x, axis=axis: sad.nanpercentile(x, 30, axis=axis, method=method), x)
        np.testing.assert_allclose(found, np.nanpercentile(x, 30, axis=axis, method=method))


def test_of_nothing_but_nan() -> None:
    x = np.full((2, 3), NAN)
    for name in ("nanmean", "nanmax", "nanmin", "nanvar", "nanstd", "nanmedian"):
        found = value(lambda x, name=name: getattr(sad, name)(x, axis=1), x)
        np.testing.assert_array_equal(found, [NAN, NAN], err_msg=name)
    assert value(sad.nansum, x) == 0
    assert value(sad.nanprod, x) == 1
    assert value(sad.nansum, np.array([1, 2], np.int8)).dtype == np.int64
    assert value(sad.nanmax, np.array([1, 2], np.int8)) == 2
    z = np.array([1 + 1j, complex(NAN, 1), 2.0])
    np.testing.assert_array_equal(value(sad.nansum, z), 3 + 1j)
