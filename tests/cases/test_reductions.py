"""Family B: reductions; and H14, the second order of a product."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import Array, build, grad, value


def hessian(f: Any, x: Array) -> Array:
    """The second derivatives of a scalar function of a vector."""
    graph, (point,), y = build(f, (x,), "float64")
    (slope,) = sad.gradients(y, point)
    rows = [sad.gradients(slope[k], point, unconnected="zero")[0] for k in range(len(x))]
    with sad.Session(graph) as session:
        return np.stack(session.run(rows, {point: x}))


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([2, 0, 3, 4], [0, 24, 0, 0]),
        ([0, 1, 2, 3, 4], [24, 0, 0, 0, 0]),
        ([0, 0, 3], [0, 0, 0]),
    ],
)
def test_B1_product_with_zeros(x: list[float], expected: list[float]) -> None:
    np.testing.assert_array_equal(grad(sad.prod, x), expected)


def test_B1_second_derivative_of_a_product_with_two_zeros() -> None:
    found = hessian(sad.prod, np.array([0.0, 0.0, 3.0]))
    np.testing.assert_array_equal(found, [[0, 3, 0], [3, 0, 0], [0, 0, 0]])


def test_B3_ties_of_a_maximum_share_the_gradient() -> None:
    np.testing.assert_array_equal(grad(sad.max, [0.6, 0.6, 0.3]), [0.5, 0.5, 0])
    np.testing.assert_array_equal(grad(sad.max, [1, 2, 2, 2]), [0, 1 / 3, 1 / 3, 1 / 3])
    columns = grad(lambda x: sad.max(x, axis=0), np.ones((4, 3)))
    np.testing.assert_array_equal(columns, np.full((4, 3), 0.25))


def test_B5_maximum_over_a_stack_of_the_same_tensor() -> None:
    np.testing.assert_array_equal(
        grad(lambda x: sad.max(sad.stack([x, x]), axis=0), [2.0, -1.0]), [1, 1]
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_B6_half_floats_accumulate_in_float32(dtype: str) -> None:
    total = value(sad.sum, [32000.0] * 4 + [-32000.0] * 4, dtype=dtype)
    assert total.dtype.name == dtype
    assert total == 0
    assert value(sad.mean, [100.0] * 1000, dtype=dtype) == 100


def test_B8_a_maximum_of_nothing_is_an_error() -> None:
    with pytest.raises(sad.ShapeError, match="no identity"):
        build(lambda x: sad.max(x, axis=0), (np.zeros((0, 10)),), "float64")
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 10))
        y = sad.max(x, axis=0)
    with sad.Session(graph) as session:
        assert session.run(y, {x: np.ones((1, 10))}).shape == (10,)
        with pytest.raises(sad.StaticadError, match="no identity"):
            session.run(y, {x: np.ones((0, 10))})


def test_B8_other_reductions_of_nothing() -> None:
    assert value(lambda x: sad.max(x, axis=1), np.zeros((0, 4))).shape == (0,)
    np.testing.assert_array_equal(
        value(lambda x: sad.mean(x, axis=1), np.zeros((2, 0, 4))), np.full((2, 4), np.nan)
    )
    assert value(sad.sum, np.zeros((0, 3))) == 0
    assert value(sad.prod, np.zeros((0, 3))) == 1


def test_B10_sum_over_the_last_axis() -> None:
    found = value(lambda x: sad.sum(x, axis=-1), np.ones((2, 3, 4)))
    np.testing.assert_array_equal(found, np.full((2, 3), 4))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "logsumexp"])
def test_B11_all_axes_kept(name: str) -> None:
    def f(x: Any) -> Any:
        return getattr(sad, name)(x, keepdims=True)

    x = np.ones((2, 3))
    assert value(f, x).shape == (1, 1)
    found = grad(f, x)
    assert found.shape == (2, 3)
    # Of sum and prod each element has slope 1 at ones; of the others, its share.
    np.testing.assert_allclose(found, 1.0 if name in ("sum", "prod") else 1 / 6, rtol=1e-14)


def test_B13_unsigned_differences_wrap_and_moments_promote() -> None:
    x = np.array([5, 4, 3, 2, 1], np.uint8)
    found = value(lambda x: x[1:] - x[:-1], x)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, [255] * 4)
    mean, variance = value(sad.mean, x), value(sad.var, x)
    assert (mean.dtype, variance.dtype) == (np.float32, np.float32)
    np.testing.assert_array_equal([mean, variance], [3, 2])


def test_H14_double_backprop_through_a_product() -> None:
    x = [1.0, 2.0, 3.0]
    graph, (point,), y = build(sad.prod, (x,), "float64")
    (first,) = sad.gradients(y, point)
    (second,) = sad.gradients(sad.sum(first), point)
    with sad.Session(graph) as session:
        found = session.run([first, second], {point: x})
    np.testing.assert_array_equal(found[0], [6, 3, 2])
    np.testing.assert_array_equal(found[1], [5, 4, 3])
