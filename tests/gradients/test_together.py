"""Cotangents that many products give one matrix are one product, and right to any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.gradients.together import MANY


def recurrence(
    steps: int, rows: Any, width: int = 5, dtype: str = "float64"
) -> tuple[sad.Graph, Any, Any, Any]:
    """h <- tanh(h w), so often; graph, loss, w, first h."""
    with sad.Graph() as graph:
        w = sad.placeholder(dtype, (width, width), name="w")
        start = h = sad.placeholder(dtype, (rows, width), name="h")
        for _ in range(steps):
            h = sad.sin(h @ w)
        loss = sad.sum(sad.real(h * sad.conj(h)))
    return graph, loss, w, start


def count(graph: sad.Graph, op: str) -> int:
    return sum(node.op == op for node in graph.nodes)


@pytest.mark.parametrize(("steps", "rows"), [(1, 3), (2, 1), (9, 2), (MANY, "n"), (3, "n")])
def test_gradients_of_what_is_multiplied_often(steps: int, rows: Any) -> None:
    _, loss, w, start = recurrence(steps, rows)
    rng = np.random.default_rng(0)
    feeds = {w: 0.2 * rng.normal(size=(5, 5)), start: rng.normal(size=(2, 5))}
    if rows == 1:
        feeds[start] = feeds[start][:1]
    if rows == 3:
        feeds[start] = rng.normal(size=(3, 5))
    sad.check_gradients(loss, [w, start], feeds, order=2, rtol=1e-7)


@pytest.mark.parametrize(
    ("steps", "rows", "width", "one"),
    [(12, 2, 64, True), (12, 512, 8, False), (MANY, "n", 8, True), (MANY - 1, "n", 8, False)],
)
def test_one_product_where_it_costs_less(steps: int, rows: Any, width: int, one: bool) -> None:
    graph, loss, w, _ = recurrence(steps, rows, width)
    sad.gradients(loss, w)
    # Forwards one product a step, backwards one but for the first, and those of w.
    assert count(graph, "matmul") == steps + (steps - 1) + (1 if one else steps)
    assert count(graph, "concat") == (2 if one else 0)


def test_stacks_and_other_uses_join() -> None:
    rng = np.random.default_rng(1)
    with sad.Graph():
        w = sad.placeholder("float64", (6, 6), name="w")
        a = sad.placeholder("float64", (2, 3, 6), name="a")
        b = sad.placeholder("float64", (1, 6), name="b")
        parts = [sad.sin(a @ w), sad.sin(b @ w), sad.cos(b @ w), w @ w, sad.sin(w[:2])]
        loss = sad.add(sad.sum(parts[0]), sad.sum(parts[1] * parts[2]))
        loss = loss + sad.sum(parts[3]) + sad.sum(parts[4])
    feeds = {w: rng.normal(size=(6, 6)), a: rng.normal(size=(2, 3, 6)), b: rng.normal(size=(1, 6))}
    sad.check_gradients(loss, [w, a, b], feeds, order=2, rtol=1e-7)


def test_complex_matrices() -> None:
    rng = np.random.default_rng(2)
    _, loss, w, start = recurrence(9, 2, dtype="complex128")
    weights, first = (
        rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in ((5, 5), (2, 5))
    )
    sad.check_gradients(loss, [w, start], {w: 0.2 * weights, start: first}, rtol=1e-7)


def test_equal_to_the_sum_of_products() -> None:
    rng = np.random.default_rng(3)
    graph, loss, w, start = recurrence(12, 4, 16)
    (dw,) = sad.gradients(loss, w)
    assert count(graph, "concat") == 2
    feeds = {w: 0.3 * rng.normal(size=(16, 16)), start: rng.normal(size=(4, 16))}
    hs, h = [], feeds[start]
    for _ in range(12):
        hs.append(h)
        h = np.sin(h @ feeds[w])
    g, expected = 2 * h, np.zeros((16, 16))
    for h in reversed(hs):
        g = g * np.cos(h @ feeds[w])
        expected += h.T @ g
        g = g @ feeds[w].T
    with sad.Session(graph) as session:
        np.testing.assert_allclose(session.run(dw, feeds), expected, rtol=1e-12, atol=1e-14)
