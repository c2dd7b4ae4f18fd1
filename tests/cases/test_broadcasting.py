"""Family C: broadcasting, and H22, the gradients of where under it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import staticad as sad

from .running import build, grad, grads, value


def test_C2_a_broadcast_operand_gets_the_sum() -> None:
    seed = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    graph, (x, y), total = build(lambda x, y: x + y, (np.zeros((2, 3)), np.zeros(3)), "float64")
    with graph:
        (dy,) = sad.gradients(total, y, seed)
    with sad.Session(graph) as session:
        found = session.run(dy, {x: np.zeros((2, 3)), y: np.zeros(3)})
    np.testing.assert_array_equal(found, [5, 7, 9])


def test_C3_a_scalar_that_is_broadcast_beside_one_that_is_not() -> None:
    def f(z: Any) -> Any:
        return sad.sum(sad.exp(z) - 0.0) + sad.sum(sad.exp(z) - np.zeros(1000))

    expected = 1001 * math.e
    np.testing.assert_allclose(value(f, 1.0), expected, rtol=1e-13)
    np.testing.assert_allclose(grad(f, 1.0), expected, rtol=1e-13)
    assert round(expected, 2) == 2721.0


def test_C5_broadcast_to_sums_back() -> None:
    found = grad(lambda x: sad.sum(sad.broadcast_to(x, (4, 3))), np.ones(3))
    np.testing.assert_array_equal(found, [4, 4, 4])


def test_C8_a_size_one_axis_against_an_empty_one() -> None:
    small, empty = grads(lambda x, y: sad.sum(x * y), np.ones((1, 3)), np.ones((2, 0, 3)))
    np.testing.assert_array_equal(small, np.zeros((1, 3)))
    assert empty.shape == (2, 0, 3)


def test_H22_where_under_a_broadcasting_condition() -> None:
    chosen = np.array([[True], [False], [True]])
    x, y = np.arange(12.0).reshape(3, 4), np.array([7.0])
    weights = np.arange(1.0, 13.0).reshape(3, 4)
    dx, dy = grads(lambda x, y: sad.where(chosen, x, y) * weights, x, y)
    np.testing.assert_array_equal(dx, np.where(chosen, weights, 0))
    np.testing.assert_array_equal(dy, [weights[1].sum()])
