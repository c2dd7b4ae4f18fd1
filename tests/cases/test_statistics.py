"""A16, A18 and family B, extended to dtypes, axes, batches and second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import NAMES
from tests.tolerance import units

from .running import Array, build, grad, value

FLOATS = ["float16", "bfloat16", "float32", "float64"]
dtypes = pytest.mark.parametrize("dtype", FLOATS)
Function = Callable[[Any], Any]


def slope_and_curve(f: Function, x: Array) -> tuple[Array, Array]:
    """The gradient of the sum of f, and that of its sum; also by tangents."""
    graph, (point,), y = build(f, (x,), x.dtype.name)
    with graph:
        (slope,) = sad.gradients(y, point, sad.ones_like(y))
        (curve,) = sad.gradients(slope, point, sad.ones_like(point), unconnected="zero")
        (pushed,) = sad.jvp(slope, point, sad.ones_like(point))
    with sad.Session(graph) as session:
        first, second, forward = session.run([slope, curve, pushed], {point: x})
    np.testing.assert_allclose(second, forward, rtol=1e-5)
    return first, second


NORMS: dict[str, Function] = {
    "norm": lambda n: n,
    "square": lambda n: n**2,
    "gaussian": lambda n: sad.exp(-(n**2)),
}


@pytest.mark.parametrize("of", NORMS)
@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
def test_A16_norms_at_zero_have_gradient_zero(of: str, dtype: str) -> None:
    for shape, axis in (((3,), None), ((2, 3), 1), ((2, 3, 2), (0, 2)), ((1,), 0), ((), None)):
        x = np.zeros(shape, NAMES[dtype])

        def f(x: Any, axis: Any = axis) -> Any:
            return NORMS[of](sad.linalg.vector_norm(x, axis=axis))

        found = value(f, x)
        np.testing.assert_array_equal(found, np.full_like(found, of == "gaussian"))
        slope, curve = slope_and_curve(f, x)
        np.testing.assert_array_equal(slope, x)
        np.testing.assert_array_equal(curve, x)


def test_A16_rows_of_zeros_leave_other_rows_alone() -> None:
    x = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    slope, _ = slope_and_curve(lambda x: sad.linalg.vector_norm(x, axis=1), x)
    np.testing.assert_allclose(slope, x / 5, rtol=1e-15)
    slope, curve = slope_and_curve(lambda x: sad.linalg.vector_norm(x, axis=1) ** 2, x)
    np.testing.assert_allclose(slope, 2 * x, rtol=1e-15)
    np.testing.assert_allclose(curve[1], [2, 2], rtol=1e-14)
    # Where the curvature at 0 matters, it is that of the squares.
    _, curve = slope_and_curve(lambda x: sad.vecdot(x, x), x)
    np.testing.assert_array_equal(curve, np.full((3, 2), 2.0))


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "complex128"])
def test_A18_std_of_one_element(dtype: str) -> None:
    for shape, axis in (((1,), None), ((4, 1), 1), ((3, 1, 2), 1), ((), None)):
        x = np.full(shape, 0.1).astype(NAMES[dtype])

        def f(x: Any, axis: Any = axis) -> Any:
            return sad.std(x, axis=axis)

        np.testing.assert_array_equal(value(f, x), np.zeros_like(value(f, x)))
        slope, curve = slope_and_curve(f, x)
        np.testing.assert_array_equal(slope, np.zeros_like(x))
        np.testing.assert_array_equal(curve, np.zeros_like(x))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_B1_products_with_zeros_in_batches_to_second_order(dtype: str, axis: Any) -> None:
    x = np.array([[2, 0, 3, 4], [0, 0, 3, 1], [1, 2, 3, 5], [0, 0, 0, 2]], dtype)
    slope, curve = slope_and_curve(lambda x: sad.prod(x, axis=axis), x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    moved = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(-1, 4 ** len(axes))
    first, second = np.zeros_like(moved), np.zeros_like(moved)
    n = moved.shape[1]
    for i in range(n):
        first[:, i] = np.prod(np.delete(moved, i, 1), axis=1)
        for j in set(range(n)) - {i}:
            second[:, i] += np.prod(np.delete(moved, [i, j], 1), axis=1)
    back = (0, 1) if axis != 0 else (1, 0)
    np.testing.assert_allclose(slope, first.reshape(4, 4).transpose(back), rtol=1e-6)
    np.testing.assert_allclose(curve, second.reshape(4, 4).transpose(back), rtol=1e-6)


def test_B1_third_derivative_of_a_product_with_zeros() -> None:
    x = np.array([0.0, 0.0, 0.0, 7.0])
    graph, (point,), y = build(sad.prod, (x,), "float64")
    for k in range(3):
        (slope,) = sad.gradients(y, point)
        y = slope[k]
    (last,) = sad.gradients(y, point)
    with sad.Session(graph) as session:
        np.testing.assert_array_equal(session.run(last, {point: x}), [0, 0, 0, 1])
        np.testing.assert_array_equal(session.run(y, {point: x}), 7)


@dtypes
@pytest.mark.parametrize("name", ["max", "min"])
def test_B3_ties_share_along_every_axis_and_have_no_curvature(name: str, dtype: str) -> None:
    x = np.zeros((2, 3, 4), NAMES[dtype])
    shares: list[tuple[Any, int]] = [(0, 2), ((1, 2), 12), (None, 24), (2, 4)]
    for axis, share in shares:

        def f(x: Any, axis: Any = axis) -> Any:
            return getattr(sad, name)(x, axis=axis)

        slope, curve = slope_and_curve(f, x)
        expected = np.full(x.shape, 1 / share).astype(x.dtype)
        np.testing.assert_array_equal(slope, expected)
        np.testing.assert_array_equal(curve, np.zeros_like(x))


@dtypes
@pytest.mark.parametrize("count", [2, 3, 4])
def test_B5_extrema_over_stacks_of_one_tensor(count: int, dtype: str) -> None:
    x = np.array([2.0, -1.0]).astype(NAMES[dtype])
    for f in (sad.max, sad.min, sad.median):
        found = grad(lambda x, f=f: f(sad.stack([x] * count), axis=0), x)
        np.testing.assert_allclose(found.astype(float), [1, 1], rtol=units(NAMES[dtype]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["mean", "var", "std", "norm", "average", "cov", "nanmean"])
def test_B6_statistics_of_half_floats_do_not_overflow_inside(name: str, dtype: str) -> None:
    functions: dict[str, Function] = {
        "norm": lambda x: sad.linalg.vector_norm(x / 100),
        "average": lambda x: sad.average(x, weights=np.full(1000, 1.0, np.float16)),
    }
    f = functions.get(name) or getattr(sad, name)
    x = (100 * np.sign(np.arange(1000) % 2 - 0.25)).astype(NAMES[dtype])
    found = value(f, x)
    exact = value(f, x.astype(np.float64))
    np.testing.assert_allclose(found.astype(float), exact, rtol=units(NAMES[dtype]))
    assert np.isfinite(grad(f, x).astype(float)).all()


def test_B8_statistics_of_nothing() -> None:
    x = np.zeros((2, 0, 4))
    for name in ("mean", "var", "std", "nanmean"):
        found = value(lambda x, name=name: getattr(sad, name)(x, axis=1), x)
        np.testing.assert_array_equal(found, np.full((2, 4), np.nan), err_msg=name)
    for name in ("count_nonzero", "nansum"):
        found = value(lambda x, name=name: getattr(sad, name)(x, axis=1), x)
        np.testing.assert_array_equal(found, np.zeros((2, 4)), err_msg=name)
    np.testing.assert_array_equal(
        value(lambda x: sad.linalg.vector_norm(x, axis=1), x), np.zeros((2, 4))
    )
    for name in ("median", "ptp", "nanmax"):
        with pytest.raises(sad.ShapeError):
            build(lambda x, name=name: getattr(sad, name)(x, axis=1), (x,), "float64")
        assert value(lambda x, name=name: getattr(sad, name)(x, axis=2), x).shape == (2, 0)


REDUCTIONS = [
    "sum", "prod", "max", "min", "mean", "var", "std", "logsumexp", "median", "ptp", "nansum",
    "nanmean", "nanmax", "nanvar", "nanmedian",
]  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
def test_B11_keepdims_of_every_reduction(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4))
    for axis, shape in (
        (None, (1, 1, 1)),
        (1, (2, 1, 4)),
        ((0, 2), (1, 3, 1)),
        ((0, 1, 2), (1, 1, 1)),
        ((), (2, 3, 4)),
    ):
        kept = lambda x, axis=axis: getattr(sad, name)(x, axis=axis, keepdims=True)  # noqa: E731
        plain = lambda x, axis=axis: getattr(sad, name)(x, axis=axis)  # noqa: E731
        assert value(kept, x).shape == shape
        np.testing.assert_array_equal(value(kept, x).reshape(-1), value(plain, x).reshape(-1))
        np.testing.assert_array_equal(grad(kept, x), grad(plain, x))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int64"])
def test_B13_differences_wrap_and_moments_promote(dtype: str) -> None:
    x = np.array([[5, 4, 3], [2, 100, 1]], dtype)
    for n in (0, 1, 2):
        for axis in (0, 1):
            found = value(lambda x, n=n, axis=axis: sad.diff(x, n=n, axis=axis), x)
            expected = np.diff(x, n, axis)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
    for name in ("mean", "var", "std", "median", "average"):
        found = value(getattr(sad, name), x)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, getattr(np, name)(x), rtol=1e-6)
