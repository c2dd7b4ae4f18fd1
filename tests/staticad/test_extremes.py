"""Derivatives far out, close in and at no number: lengths, angles and norms that over- or
underflow, second derivatives at NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array

nn, inf, nan = sad.nn, np.inf, np.nan


def gradient_and_hessian(
    function: Callable[..., Any], *columns: Any, dtype: str = "float64"
) -> list[tuple[Array, Array]]:
    """(gradients, second derivatives) of a function of each of its elements: in reverse over
    reverse, forwards over reverse, and forwards over forwards."""
    arrays = [np.array(column, dtype) for column in columns]
    with sad.Graph() as graph:
        xs = [sad.placeholder(dtype, array.shape) for array in arrays]
        y = function(*xs)
        gs = sad.gradients(y, xs)
        ones = [
            [sad.ones_like(x) if i == k else sad.zeros_like(x) for i, x in enumerate(xs)]
            for k in range(len(xs))
        ]
        ts = [sad.jvp([y], xs, t)[0] for t in ones]
        second = [
            [h for g in gs for h in sad.gradients(g, xs, unconnected="zero")],
            [sad.jvp([g], xs, t)[0] for g in gs for t in ones],
            [sad.jvp([t], xs, u)[0] for t in ts for u in ones],
        ]
    with sad.Session(graph) as session:
        first, forwards, found = session.run([gs, ts, second], dict(zip(xs, arrays, strict=True)))
    gradients = [first, first, forwards]
    return [(np.array(g), np.array(h)) for g, h in zip(gradients, found, strict=True)]


# Points, gradient, and second derivatives by rows.
HYPOT: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, ...]]] = {
    "overflow": ((1.5e308, 1.5e308), (0.5**0.5, 0.5**0.5), (0, 0, 0, 0)),
    "overflow aside": ((1.2e308, -1.6e308), (0.6, -0.8), (0, 0, 0, 0)),
    "infinite": ((inf, 1.0), (1, 0), (0, 0, 0, 0)),
    "infinite below": ((2.0, -inf), (0, -1), (0, 0, 0, 0)),
    "both infinite": ((inf, -inf), (0.5**0.5, -(0.5**0.5)), (0, 0, 0, 0)),
    "smallest": ((5e-324, 0.0), (1, 0), (0, 0, 0, inf)),
    "subnormal": ((3e-310, 4e-310), (0.6, 0.8), (inf, -inf, -inf, inf)),
    "origin": ((0.0, 0.0), (0, 0), (0, 0, 0, 0)),
    "large": ((3e200, 4e200), (0.6, 0.8), (1.28e-201, -0.96e-201, -0.96e-201, 0.72e-201)),
    "small": ((3e-200, 4e-200), (0.6, 0.8), (1.28e199, -0.96e199, -0.96e199, 0.72e199)),
}
ATAN2: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, ...]]] = {
    "infinite": ((inf, 1.0), (0, 0), (0, 0, 0, 0)),
    "infinite aside": ((2.0, -inf), (0, 0), (0, 0, 0, 0)),
    "both infinite": ((inf, inf), (0, 0), (0, 0, 0, 0)),
    "overflow": ((1.5e308, 1.5e308), (0, 0), (0, 0, 0, 0)),
    "smallest": ((5e-324, 0.0), (0, -inf), (0, inf, inf, 0)),
    "diagonal": ((1e-310, 1e-310), (inf, -inf), (-inf, 0, 0, inf)),
    "origin": ((0.0, 0.0), (0, 0), (0, 0, 0, 0)),
    "small": ((3e-100, 4e-100), (0.16e100, -0.12e100),
              (-0.0384e200, -0.0112e200, -0.0112e200, 0.0384e200)),
    "flat": ((1e-100, 1e100), (1e-100, -1e-300), (0, -1e-200, -1e-200, 0)),
}  # fmt: skip


@pytest.mark.parametrize("function", [sad.hypot, sad.atan2])
def test_derivatives_in_the_plane(function: Any) -> None:
    points = HYPOT if function is sad.hypot else ATAN2
    columns = zip(*(point for point, _, _ in points.values()), strict=True)
    for first, second in gradient_and_hessian(function, *columns):
        for k, (name, (_, gradient, hessian)) in enumerate(points.items()):
            np.testing.assert_allclose(first[:, k], gradient, rtol=1e-12, atol=1e-307, err_msg=name)
            np.testing.assert_allclose(second[:, k], hessian, rtol=1e-12, atol=1e-305, err_msg=name)


def test_third_derivatives_of_angles_are_those_of_powers() -> None:
    with sad.Graph() as graph:
        y, x = sad.placeholder("float64", (2,)), sad.placeholder("float64", (2,))
        g: Any = sad.atan2(y, x)
        for variable in (y, x, x):
            (g,) = sad.gradients(g, variable)
    ys, xs = np.array([3.0, -1.0]), np.array([4.0, 0.5])
    # d/dy of the angle is Re 1/z.
    exact = np.real(2 / (xs + 1j * ys) ** 3)
    found = sad.Session(graph).run(g, {y: ys, x: xs})
    np.testing.assert_allclose(found, exact, rtol=1e-13)


@pytest.mark.parametrize(
    ("function", "slope", "dtype", "points"),
    [
        (sad.atan, lambda x: -2 * x / (1 + x * x) ** 2, "float64", [0.5, -3.0, 1e10, 1e100, 1e105]),
        (sad.atan, lambda x: -2 * x / (1 + x * x) ** 2, "float32", [0.5, 3e4, 1e10, 1e12]),
        (nn.softsign, lambda x: -2 / (1 + x) ** 3, "float64", [0.5, 1e10, 1e100, 1e102]),
        (nn.softsign, lambda x: -2 / (1 + x) ** 3, "float32", [0.5, 1e10, 1e12]),
        (sad.asinh, lambda x: -x / (1 + x * x) ** 1.5, "float64", [0.5, 1e10, 1e100, 1e150]),
    ],
)
def test_second_derivatives_far_out(
    function: Any, slope: Any, dtype: str, points: list[float]
) -> None:
    exact = np.array([float(slope(mp.mpf(float(np.array(x, dtype))))) for x in points])
    for _, second in gradient_and_hessian(function, points, dtype=dtype):
        np.testing.assert_allclose(second[0], exact, rtol=1e-5 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize(
    "function",
    [nn.silu, nn.gelu, nn.mish, nn.elu, nn.softplus, nn.log_sigmoid, nn.softsign, nn.tanh_shrink,
     lambda x: nn.gelu(x, approximate=True)],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_second_derivatives_at_nan_are_nan(function: Any, dtype: str) -> None:
    points = [nan, 1.0, inf, -inf]
    for first, second in gradient_and_hessian(function, points, dtype=dtype):
        for found in (first[0].astype(float), second[0].astype(float)):
            np.testing.assert_array_equal(np.isnan(found), [True, False, False, False])


def norm_and_slopes(function: Callable[[Any], Any], x: Array) -> tuple[Array, Array, Array]:
    """The norm, its gradient, and the product of its Hessian with ones."""
    with sad.Graph() as graph:
        given = sad.placeholder(x.dtype, x.shape)
        y = function(given)
        (g,) = sad.gradients(y, given)
        h = sad.jvp([g], [given], [sad.ones_like(given)])[0]
    value, slope, second = sad.Session(graph).run([y, g, h], {given: x})
    return value, slope, second


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_direction_of_a_norm_that_overflows(dtype: str) -> None:
    top = float(np.finfo(dtype).max)
    x = np.array([0.5 * top, -0.5 * top, 0.5 * top, 0.5 * top, 0.5 * top, 0], dtype)
    if x.dtype.kind == "c":
        x = np.array([complex(0.6 * top, -0.8 * top), complex(0, top)], dtype)
    value, slope, second = norm_and_slopes(lambda v: sad.linalg.vector_norm(v), x)
    right = (x / top) / np.linalg.norm(x / top)
    assert value == inf
    np.testing.assert_allclose(slope, right, rtol=1e-6)
    np.testing.assert_allclose(second, 0, atol=1e-30)


@pytest.mark.parametrize("order", [1.5, 2, 3, inf])
def test_infinite_elements_take_the_gradient_of_a_norm(order: float) -> None:
    rows = np.array([[inf, 1, 2], [-inf, 0, 3], [inf, -inf, 1], [nan, inf, 1], [3, 4, 0.0]])
    value, slope, _ = norm_and_slopes(lambda v: sad.linalg.vector_norm(v, ord=order, axis=1), rows)
    share = 0.5 if np.isinf(order) else 2 ** (1 / order - 1)
    np.testing.assert_array_equal(value[:4], [inf, inf, inf, nan])
    right = np.array([[1, 0, 0], [-1, 0, 0], [share, -share, 0]])
    np.testing.assert_allclose(slope[:3], right, rtol=1e-15)
    np.testing.assert_allclose(value[4], np.linalg.norm(rows[4], order), rtol=1e-15)
    assert np.isfinite(slope[4]).all()


def test_the_norm_of_subnormal_numbers() -> None:
    x = np.array([3e-320, 4e-320, 0.0])
    value, slope, _ = norm_and_slopes(sad.linalg.vector_norm, x)
    assert value == 5e-320
    np.testing.assert_allclose(slope, [0.6, 0.8, 0], rtol=1e-3)


# ------------------------------------------------------------------ of few variables


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("function", [sad.cov, sad.corrcoef])
def test_one_variable_and_no_observations(function: Any, symbolic: bool) -> None:
    def found(x: Array, *more: Array) -> Array:
        with sad.Graph() as graph:
            arrays = [x, *more]
            xs = [
                sad.placeholder("float64", ("n", "m")[: a.ndim] if symbolic else a.shape)
                for a in arrays
            ]
            y = function(*xs)
        array: Array = sad.Session(graph).run(y, dict(zip(xs, arrays, strict=True)))
        assert y.ndim == array.ndim
        return array

    line = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(found(line), 1.0, strict=True, rtol=1e-15)
    np.testing.assert_allclose(found(line[None]), [[1.0]], strict=True, rtol=1e-15)
    np.testing.assert_allclose(found(line, -line), [[1, -1], [-1, 1]], rtol=1e-15)
    np.testing.assert_array_equal(found(np.zeros(0)), nan)
    for count in (1, 2):
        expected = np.full((count, count), nan)
        np.testing.assert_array_equal(found(np.zeros((count, 0))), expected, strict=True)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("function", [sad.median, sad.nanmedian])
@pytest.mark.parametrize(
    ("shape", "axis"), [((0,), 0), ((0, 0), 0), ((0, 0), None), ((0, 3), 0), ((3, 0), 1)]
)
def test_a_median_of_nothing(
    function: Any, shape: tuple[int, ...], axis: int | None, symbolic: bool
) -> None:
    def median() -> None:
        with sad.Graph() as graph:
            x = sad.placeholder("float64", ("n", "m")[: len(shape)] if symbolic else shape)
            y = function(x, axis=axis)
        sad.Session(graph).run(y, {x: np.zeros(shape)})

    with pytest.raises(sad.ShapeError):
        median()
