"""Derivatives where a formula that is right on paper loses digits, overflows or changes sides:
branch cuts, ends of domains, tails, and the narrow range of half floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import BFLOAT16

from ..cases.running import derivatives, grad, value

inf = np.inf
HALVES = [np.dtype(np.float16), BFLOAT16]

BEYOND_ONE = [complex(re, im) for re in (-2.5, -1.5, 1.5, 2.5) for im in (0.0, -0.0)]
BEYOND_I = [complex(re, im) for im in (-2.5, -1.5, 1.5, 2.5) for re in (0.0, -0.0)]
BELOW_ZERO = [complex(-1.5, im) for im in (0.0, -0.0)]
BELOW_MINUS_ONE = [complex(-1.5, im) for im in (0.0, -0.0)]


def along_cut(name: str, points: list[complex], step: complex) -> tuple[Any, Any]:
    """(tangent, difference quotient) in the direction of a cut, on the side of the points."""
    with sad.Graph() as graph:
        z = sad.placeholder("complex128", (len(points),))
        w = getattr(sad, name)(z)
        (t,) = sad.jvp(w, z, sad.constant(np.full(len(points), step, np.complex128)))
    h = 1e-5
    with sad.Session(graph) as session:
        found = session.run(t, {z: points})
        ahead = session.run(w, {z: _moved(points, h * step)})
        behind = session.run(w, {z: _moved(points, -h * step)})
    return found, (ahead - behind) / (2 * h)


def _moved(points: list[complex], step: complex) -> list[complex]:
    """The points moved along an axis, the zero of the other part with its sign."""
    # Adding a zero would lose the sign of another.
    if step.real:
        return [complex(p.real + step.real, p.imag) for p in points]
    return [complex(p.real, p.imag + step.imag) for p in points]


@pytest.mark.parametrize(
    ("name", "points", "step"),
    [
        ("asin", BEYOND_ONE, 1.0),
        ("acos", BEYOND_ONE, 1.0),
        ("atanh", BEYOND_ONE, 1.0),
        ("acosh", [*BEYOND_ONE, 0.5 + 0j, complex(0.5, -0.0)], 1.0),
        ("asinh", BEYOND_I, 1j),
        ("atan", BEYOND_I, 1j),
        ("sqrt", BELOW_ZERO, 1.0),
        ("log", BELOW_ZERO, 1.0),
        ("log1p", BELOW_MINUS_ONE, 1.0),
    ],
)
def test_on_a_branch_cut_the_derivative_is_that_of_the_values_side(
    name: str, points: list[complex], step: complex
) -> None:
    found, expected = along_cut(name, points, step)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_log1p_of_small_complex_numbers_has_its_digits() -> None:
    points = np.array([1e-20 + 0j, 3e-9 + 4e-9j, -1e-5 + 1e-3j, -2 + 1e-9j, 1e200 - 1j])
    with mp.workdps(50):
        exact = [complex(mp.log(1 + mp.mpc(z))) for z in points]
    np.testing.assert_allclose(value(sad.log1p, points), exact, rtol=1e-15)
    single = points[:4].astype(np.complex64)
    np.testing.assert_allclose(value(sad.log1p, single), exact[:4], rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "at", "second"),
    [
        (sad.acosh, 1.0, -inf),
        (sad.atanh, 1.0, inf),
        (sad.atanh, -1.0, -inf),
        (sad.sqrt, 0.0, -inf),
        (sad.asin, 1.0, inf),
        (sad.asin, -1.0, -inf),
    ],
)
def test_second_derivatives_at_the_end_of_a_domain(f: Any, at: float, second: float) -> None:
    assert derivatives(f, at, 2) == [inf, second]
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ())
        (t,) = sad.jvp(f(x), x)
        (tt,) = sad.jvp(t, x)
    with sad.Session(graph) as session:
        assert session.run(tt, {x: at}) == second


def test_the_curvature_of_the_arc_sine_keeps_its_digits_everywhere() -> None:
    points = [1e-300, 1e-9, 0.3, 1 - 1e-9]
    for f, sign in ((sad.asin, 1), (sad.acos, -1)):
        found = [derivatives(f, at, 3)[1] for at in points]
        with mp.workdps(50):
            exact = [float(sign * mp.mpf(x) / mp.sqrt(1 - mp.mpf(x) ** 2) ** 3) for x in points]
        np.testing.assert_allclose(found, exact, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_curvature_of_entropy_neither_over_nor_underflows(dtype: str) -> None:
    points = np.array([1e-30, 1e-3, 1.0, 1e30], dtype)
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (4,))
        (slope,) = sad.gradients(sad.xlogy(x, x), x)
        (curve,) = sad.gradients(slope, x)
    with sad.Session(graph) as session:
        first, second = session.run([slope, curve], {x: points})
    np.testing.assert_allclose(first, np.log(points) + 1, rtol=1e-6)
    np.testing.assert_allclose(second, 1 / points, rtol=1e-6)


# ---------------------------------------------------------------- gelu


def _normal_gelu(x: Any) -> Any:
    return x * mp.ncdf(x)


def _tanh_gelu(x: Any) -> Any:
    return x / 2 * (1 + mp.tanh(mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3)))


@pytest.mark.parametrize(("approximate", "exact"), [(False, _normal_gelu), (True, _tanh_gelu)])
def test_gelu_keeps_its_digits_to_second_order(
    approximate: bool, exact: Callable[..., Any]
) -> None:
    points = [-15.0, -9.0, -5.0, -1.0, -1e-9, 0.0, 1e-3, 0.5, 3.0, 8.0, 16.0]
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (len(points),))
        y = sad.nn.gelu(x, approximate=approximate)
        (slope,) = sad.gradients(y, x)
        (curve,) = sad.gradients(slope, x)
        (tangent,) = sad.jvp(y, x)
    with sad.Session(graph) as session:
        found = session.run([y, slope, curve, tangent], {x: points})
    with mp.workdps(400):
        for order in (0, 1, 2):
            wanted = [float(mp.diff(exact, mp.mpf(p), order)) for p in points]
            np.testing.assert_allclose(found[order], wanted, rtol=1e-11)
    np.testing.assert_allclose(found[3], found[1], rtol=1e-11)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_is_x_or_zero_far_out(approximate: bool, dtype: str) -> None:
    points = np.array([-inf, -6e4, -50.0, 50.0, 6e4, inf]).astype(
        BFLOAT16 if dtype == "bfloat16" else dtype
    )
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (6,))
        y = sad.nn.gelu(x, approximate=approximate)
        (slope,) = sad.gradients(y, x)
        (curve,) = sad.gradients(slope, x)
        (tangent,) = sad.jvp(y, x)
    with sad.Session(graph) as session:
        found = session.run([y, slope, curve, tangent], {x: points})
    np.testing.assert_array_equal(found[0], np.where(points < 0, 0, points))
    np.testing.assert_array_equal(found[1], [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(found[2], np.zeros(6))
    np.testing.assert_array_equal(found[3], [0, 0, 0, 1, 1, 1])


# ---------------------------------------------------------------- half floats


@pytest.mark.parametrize("dtype", HALVES)
def test_std_is_in_range_where_the_variance_is_not(dtype: Any) -> None:
    x = np.array([3000.0, -3000.0, 3000.0, -3000.0]).astype(dtype)
    assert value(lambda x: sad.std(x), x) == np.array(3000.0).astype(dtype)
    np.testing.assert_array_equal(grad(lambda x: sad.std(x), x), [0.25, -0.25, 0.25, -0.25])


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ["std", "var"])
def test_statistics_of_half_floats_are_rounded_once(name: str, dtype: Any) -> None:
    f = getattr(sad, name)
    x = np.random.default_rng(3).normal(size=(50, 7)).astype(dtype)
    found = value(lambda x: f(x, axis=1, correction=1), x)
    exact = value(lambda x: f(x, axis=1, correction=1), x.astype(np.float32))
    np.testing.assert_array_equal(found, exact.astype(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_layer_norm_of_half_floats_sums_wide(dtype: Any) -> None:
    rng = np.random.default_rng(4)
    # The seeds add up to more than the largest float16, their mean is small.
    x, seed = rng.normal(size=(2, 2048)), rng.uniform(60, 70, size=(2, 2048))

    def slope(as_dtype: Any) -> Any:
        weights = seed.astype(dtype).astype(as_dtype)
        return grad(lambda x: sad.nn.layer_norm(x) * weights, x.astype(dtype).astype(as_dtype))

    exact = slope(np.float64)
    found = slope(dtype).astype(np.float64)
    digits = 2.0**-10 if dtype == np.float16 else 2.0**-7
    np.testing.assert_allclose(found, exact, rtol=0, atol=16 * digits * np.abs(exact).max())
