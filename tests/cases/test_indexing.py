"""Family D: indexing, gathering, scattering; and H15, their second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import build, grad, grads, value


def test_D2_points_read_twice() -> None:
    rows, columns = np.array([1, 1, 0]), np.array([1, 1, 0])
    found = grad(lambda x: x[rows, columns], np.zeros((2, 2)))
    np.testing.assert_array_equal(found, [[1, 0], [0, 2]])


def test_D4_a_strided_slice_of_nothing() -> None:
    assert value(lambda x: x[5:5:2], np.ones(5)).shape == (0,)
    np.testing.assert_array_equal(grad(lambda x: sad.sum(x[5:5:2]), np.ones(5)), np.zeros(5))


def test_D5_negative_steps() -> None:
    def f(x: Any) -> Any:
        return sad.sum(x[::-1] * np.array([10.0, 20.0, 30.0]))

    assert value(f, [1.0, 2.0, 3.0]) == 100
    np.testing.assert_array_equal(grad(f, [1.0, 2.0, 3.0]), [30, 20, 10])
    x = np.arange(5.0)
    np.testing.assert_array_equal(value(lambda x: x[-1:-4:-2], x), x[-1:-4:-2])
    np.testing.assert_array_equal(grad(lambda x: x[-1:-4:-2], x), [0, 0, 1, 0, 1])


def test_D9_take_of_a_transposed_tensor_equals_a_slice() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    weights = np.arange(12.0).reshape(3, 4)

    def taken(x: Any) -> Any:
        turned = sad.permute_dims(x, (2, 0, 1))
        picked = sad.take(sad.tanh(turned), np.array([1]), axis=1)
        return sad.permute_dims(picked, (1, 2, 0))[0] * weights

    def sliced(x: Any) -> Any:
        return sad.tanh(x)[1] * weights

    np.testing.assert_array_equal(value(taken, x), value(sliced, x))
    np.testing.assert_array_equal(grad(taken, x), grad(sliced, x))


def test_D10_integer_indices_carry_no_gradient() -> None:
    table = np.array([10.0, 20.0, 30.0])
    graph, (x,), y = build(
        lambda x: sad.take(sad.constant(table), sad.cast(x, "int64"), axis=0),
        ([0.2, 2.7],),
        "float64",
    )
    with pytest.raises(sad.GradientError, match=r"only through cast .*, whose result is int64"):
        sad.gradients(y, x)
    (zero,) = sad.gradients(y, x, unconnected="zero")
    with sad.Session(graph) as session:
        np.testing.assert_array_equal(session.run(zero, {x: [0.2, 2.7]}), [0, 0])
    graph, (index,), y = build(
        lambda i: sad.take(sad.constant(table), i, axis=0), (np.array([1]),), "float64"
    )
    with pytest.raises(sad.GradientError, match="int64"):
        sad.gradients(y, index)


def test_D12_assignment_with_a_step_that_does_not_divide() -> None:
    t, v = np.zeros((2, 5)), np.ones((2, 3))

    def f(t: Any, v: Any) -> Any:
        return t.at[:, ::2].set(v)

    np.testing.assert_array_equal(value(f, t, v), [[1, 0, 1, 0, 1]] * 2)
    dt, dv = grads(f, t, v)
    np.testing.assert_array_equal(dt, [[0, 1, 0, 1, 0]] * 2)
    np.testing.assert_array_equal(dv, np.ones((2, 3)))


def test_D14_rows_of_a_variable_are_replaced() -> None:
    with sad.Graph(seed=0) as graph:
        v = sad.variable(np.zeros((6, 2)), name="v")
        update = v.assign(v.at[np.array([0, 2])].set(np.ones((2, 2))))
    with sad.Session(graph) as session:
        session.run(update)
        found = session.variables["v"]
    expected = np.zeros((6, 2))
    expected[[0, 2]] = 1
    np.testing.assert_array_equal(found, expected)


def test_H15_second_order_of_a_selection_with_duplicates() -> None:
    index = np.array([0, 2, 0])
    x = np.array([1.0, 2.0, 3.0])
    graph, (point,), y = build(lambda x: sad.sum(x[index] ** 2), (x,), "float64")
    (slope,) = sad.gradients(y, point)
    rows = [sad.gradients(slope[k], point, unconnected="zero")[0] for k in range(3)]
    with sad.Session(graph) as session:
        first, *second = session.run([slope, *rows], {point: x})
    np.testing.assert_array_equal(first, [4, 0, 6])
    np.testing.assert_array_equal(second, np.diag([4, 0, 2]))
