"""Family D: sorting and what it shares with the extrema of prefixes, to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import build

RANKS = np.array([1.0, 2.0, 3.0])


def _ordered(x: Any, way: str) -> Any:
    """x in ascending order along its last axis, found in several ways."""
    if way == "sort":
        return sad.sort(x)
    if way == "descending":
        return sad.flip(sad.sort(x, descending=True), axis=-1)
    if way == "indices":
        return sad.take_along_axis(x, sad.argsort(x), axis=-1)
    return sad.top_k(x, 3, largest=False)[0]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_D7_second_order_of_extrema_so_far(name: str, reverse: bool) -> None:
    # Negated and turned around they are one: 1, 1, 3, 3, with the latest index of each.
    sign = 1.0 if name == "cummax" else -1.0
    x = sign * np.array([1.0, 1.0, 3.0, 2.0])
    weights = np.arange(1.0, 5.0)
    if reverse:
        x, weights = x[::-1].copy(), weights[::-1].copy()
    f = getattr(sad, name)
    graph, (given,), y = build(
        lambda x: sad.sum(weights * f(x, reverse=reverse)[0] ** 2), (x,), "float64"
    )
    (g,) = sad.gradients(y, given)
    rows = [sad.gradients(g[k], given)[0] for k in range(4)]
    with sad.Session(graph) as session:
        value, slope, hessian = session.run([y, g, rows], {given: x})
    assert value == 1 + 2 + 27 + 36
    order = slice(None, None, -1) if reverse else slice(None)
    assert slope.tolist() == (sign * np.array([2.0, 4.0, 42.0, 0.0]))[order].tolist()
    np.testing.assert_array_equal(np.array(hessian), np.diag(np.array([2.0, 4, 14, 0])[order]))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("way", ["sort", "descending", "indices", "top_k"])
def test_D7_second_order_of_sorting(way: str, dtype: str) -> None:
    # A batch of two: the second row has a tie, whose first element comes first.
    x = np.array([[3.0, 1.0, 2.0], [5.0, 2.0, 2.0]], dtype)
    graph, (given,), y = build(
        lambda x: sad.sum(RANKS.astype(dtype) * _ordered(x, way) ** 2), (x,), dtype
    )
    (g,) = sad.gradients(y, given)
    rows = [sad.gradients(g[0, k], given)[0] for k in range(3)]
    (forward,) = sad.jvp(g, given)
    with sad.Session(graph) as session:
        value, slope, hessian, along = session.run([y, g, rows, forward], {given: x})
    tie = [30, 4, 8] if way != "descending" else [30, 8, 4]
    assert value == 36 + 4 + 8 + 75
    assert slope.tolist() == [[18, 2, 8], tie]
    np.testing.assert_array_equal(np.array(hessian)[:, 0], np.diag([6, 2, 4]))
    np.testing.assert_array_equal(np.array(hessian)[:, 1], np.zeros((3, 3)))
    assert along[0].tolist() == [6, 2, 4]
