"""Functions given by samples or coefficients, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

from ..cases.running import grad, grads, value
from .test_statistics import check_slope


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_diff(n: int, axis: int) -> None:
    x = normal(4, 3)
    np.testing.assert_allclose(
        value(lambda x: sad.diff(x, n=n, axis=axis), x), np.diff(x, n, axis), rtol=1e-12
    )
    check_slope(lambda x: sad.diff(x, n=n, axis=axis), x)


def test_differences_end_where_there_are_no_elements_left() -> None:
    x = normal(3)
    assert value(lambda x: sad.diff(x, n=3), x).shape == (0,)
    assert value(lambda x: sad.diff(x, n=10**9), x).shape == (0,)


def test_diff_with_more_before_and_behind() -> None:
    x, before, behind = normal(4, 3), normal(4, 2), normal(4, 1)
    for n in (0, 1, 2):

        def f(x: Any, before: Any, behind: Any, n: int = n) -> Any:
            return sad.diff(x, n=n, prepend=before, append=behind)

        found = value(f, x, before, behind)
        expected = np.diff(x, n, prepend=before, append=behind) if n else None
        if expected is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(
        value(lambda x: sad.diff(x, axis=0, prepend=0, append=2.5), x),
        np.diff(x, axis=0, prepend=0, append=2.5),
    )
    check_slope(lambda x, b: sad.diff(x, prepend=b), x, before)
    flags = np.array([True, True, False])
    np.testing.assert_array_equal(value(sad.diff, flags), [False, True])


def test_diff_of_symbolic_sizes() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n",))
        y = sad.diff(x, n=2)
        (slope,) = sad.gradients(sad.sum(y**2), x)
    with sad.Session(graph) as session:
        for size in (5, 2, 1, 0):
            a = normal(size)
            found, gradient = session.run([y, slope], {x: a})
            np.testing.assert_allclose(found, np.diff(a, 2))
            assert gradient.shape == (size,)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_trapezoid(axis: int) -> None:
    y, x = normal(3, 4, 5), np.cumsum(np.abs(normal(3, 4, 5, seed=1)), axis)
    line = np.cumsum(np.abs(normal(y.shape[axis])))
    for places in (x, line):
        found = value(lambda y, x: sad.trapezoid(y, x, axis=axis), y, places)
        np.testing.assert_allclose(found, np.trapezoid(y, places, axis=axis), rtol=1e-12)
        check_slope(lambda y, x: sad.trapezoid(y, x, axis=axis), y, places)
    found = value(lambda y: sad.trapezoid(y, dx=0.5, axis=axis), y)
    np.testing.assert_allclose(found, np.trapezoid(y, dx=0.5, axis=axis), rtol=1e-12)


@pytest.mark.parametrize("ends", [{}, {"left": -7.0}, {"right": 9.0}, {"left": -7.0, "right": 9.0}])
@pytest.mark.parametrize("points", [1, 2, 5])
@pytest.mark.parametrize("symbolic", [False, True])
def test_interp(ends: Any, points: int, symbolic: bool) -> None:
    xs, ys = np.cumsum(np.abs(normal(points)) + 0.1), normal(points, seed=1)
    inner = np.linspace(xs[0] - 1, xs[-1] + 1, 23)
    x = np.concatenate([inner, xs, [-np.inf, np.inf, np.nan]])
    with sad.Graph() as graph:
        size = "n" if symbolic else points
        a, b = sad.placeholder("float64", (size,)), sad.placeholder("float64", (size,))
        at = sad.placeholder("float64", x.shape)
        y = sad.interp(at, a, b, **ends)
    with sad.Session(graph) as session:
        found = session.run(y, {at: x, a: xs, b: ys})
    expected = np.interp(x, xs, ys, **ends)
    # NumPy loses NaN where there is one point.
    expected[-1] = np.nan
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_slopes_of_interp() -> None:
    xs, ys = np.array([0.0, 1.0, 3.0]), np.array([1.0, 3.0, -1.0])
    x = np.array([[-1.0, 0.0], [0.5, 1.0], [2.0, 3.0], [4.0, 2.5]])
    dx, dxs, dys = grads(sad.interp, x, xs, ys)
    np.testing.assert_allclose(dx, [[0, 2], [2, -2], [-2, 0], [0, -2]])
    assert (dxs.shape, dys.shape) == ((3,), (3,))
    np.testing.assert_allclose(np.sum(dys), x.size)
    check_slope(sad.interp, np.array([0.3, 0.6, 1.7, 2.2]), xs, ys)


def test_interp_over_points_at_one_place() -> None:
    xs, ys = np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 5.0, 6.0])
    found = value(sad.interp, np.array([0.5, 1.0, 1.5]), xs, ys)
    np.testing.assert_allclose(found, [0.5, 5.0, 5.5])


@pytest.mark.parametrize("size", [0, 1, 4])
def test_polyval(size: int) -> None:
    p, x = normal(size), normal(2, 3)
    np.testing.assert_allclose(value(sad.polyval, p, x), np.polyval(p, x), rtol=1e-12)
    if size > 1:
        check_slope(sad.polyval, p, x)


@pytest.mark.parametrize("increasing", [False, True])
@pytest.mark.parametrize("n", [None, 0, 1, 2, 5])
def test_vander(increasing: bool, n: int | None) -> None:
    x = normal(3)
    found = value(lambda x: sad.vander(x, n, increasing=increasing), x)
    np.testing.assert_allclose(found, np.vander(x, n, increasing), rtol=1e-12)
    assert found.shape == np.vander(x, n, increasing).shape
    if n is None or n > 1:
        check_slope(lambda x: sad.vander(x, n, increasing=increasing), x)
        # At 0 no power is infinite.
        assert np.isfinite(grad(lambda x: sad.vander(x, n), np.zeros(3))).all()
