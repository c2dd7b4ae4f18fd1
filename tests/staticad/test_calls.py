"""sad.function: one body for each signature, entered by every call."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad


def test_one_body_for_each_signature() -> None:
    traces: list[Any] = []

    @sad.function
    def double(x: Any, by: float = 2.0) -> Any:
        traces.append((x.type, by))
        return x * by

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        n = sad.placeholder("float64", ("n",), name="n")
        ys = [
            double(x),
            double(double(x)),
            double(x + 1),
            double(n),
            double(x, 3.0),
            double(x, by=3.0),
        ]
    assert [by for _, by in traces] == [2.0, 2.0, 3.0, 3.0]
    assert len(graph.functions) == 4
    assert sum(node.op == "call" for node in graph.nodes) == 7
    with sad.Session(graph) as session:
        found = session.run(ys, {x: [1.0, 2.0, 3.0], n: [1.0]})
    assert [float(y[0]) for y in found] == [2.0, 4.0, 4.0, 2.0, 3.0, 3.0]
    with sad.Graph():
        double(sad.ones(2))
    assert len(traces) == 5


def test_nests_go_in_and_come_out() -> None:
    @sad.function
    def f(tree: Any, *, mode: str) -> Any:
        assert mode == "sum"
        return {"s": tree["a"] + tree["b"][0], "t": (tree["a"],)}

    with sad.Graph() as graph:
        made = f({"a": np.ones(2), "b": [sad.constant(2.0, dtype="float64")]}, mode="sum")
    found = sad.Session(graph).run(made)
    np.testing.assert_array_equal(found["s"], [3.0, 3.0])
    np.testing.assert_array_equal(found["t"][0], [1.0, 1.0])


def test_captured_tensors_variables_and_derivatives() -> None:
    with sad.Graph() as graph:
        w = sad.variable(np.array([1.0, 2.0]), name="w")
        k = sad.placeholder("float64", (), name="k")

        @sad.function
        def layer(x: Any) -> Any:
            return sad.tanh(w * x) * k

        x = sad.placeholder("float64", (2,), name="x")
        y = sad.sum(layer(layer(x)))
        plain = sad.sum(sad.tanh(w * (sad.tanh(w * x) * k)) * k)
        pairs = [
            [*sad.gradients(v, [x, w, k]), sad.hvp(v, x, [1.0, 0.5]), sad.jvp(v, w)[0]]
            for v in (y, plain)
        ]
    with sad.Session(graph) as session:
        found, expected = session.run(pairs, {x: [0.3, -0.7], k: 1.5})
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_each_call_draws_numbers_of_its_own() -> None:
    @sad.function
    def noisy(x: Any) -> Any:
        return x + sad.random.normal((4,))

    with sad.Graph(seed=0) as graph:
        pair = [noisy(sad.zeros(4)), noisy(sad.zeros(4))]
    one, other = sad.Session(graph).run(pair)
    assert not np.array_equal(one, other)


def test_what_is_shared_draws_other_numbers_for_each_that_calls_it(tmp_path: Path) -> None:
    """One noisy layer in two functions, two choices, two loops and by itself: 12 numbers."""

    @sad.function
    def noise(x: Any) -> Any:
        return x + sad.random.uniform((), dtype="float64")

    with sad.Graph(seed=3) as graph:
        x = sad.placeholder("float64", (), name="x")
        drawn = [noise(x), noise(x)]
        drawn += [sad.function(lambda v, k=k: noise(v) + 0.0 * k)(x) for k in range(2)]
        drawn += [sad.cond(x < 1, noise, lambda v: v, x) for _ in range(2)]
        loops = [sad.scan(lambda c, _: (c, noise(c)), x, length=3)[1] for _ in range(2)]
        y = sad.concat([sad.stack(drawn), *loops], name="y")
        (dy,) = sad.gradients(sad.sum(y * y), x)
    graph.save(tmp_path / "noise.sad")
    with sad.Session(graph) as session, sad.Session(sad.load(tmp_path / "noise.sad")) as other:
        numbers, slope = session.run([y, dy], {x: 0.0})
        assert np.unique(numbers).size == 12
        np.testing.assert_array_equal(other.run("y", {"x": 0.0}), numbers)
    np.testing.assert_allclose(slope, 2 * np.sum(numbers), rtol=1e-14)


def test_what_is_around_a_body_is_a_part_of_its_signature() -> None:
    @sad.function
    def waved(x: Any, sign: float = 0.0) -> Any:
        return sad.sin(x) * float(np.copysign(1.0, sign))

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        plain, negative = waved(x), waved(x, -0.0)
        with sad.override_gradients({"sin": lambda x, y, g: g * 10.0}):
            steep = waved(x)
        with sad.device("numpy"):
            placed = waved(x)
        assert waved(x, 0.0).node.attributes["function"] != plain.node.attributes["function"]
        slopes = [sad.gradients(y, x)[0] for y in (plain, negative, steep, placed)]
    # With the body of the rule.
    assert len(graph.functions) == 6
    assert sad.Session(graph).run(slopes, {x: 0.0}) == [1, -1, 10, 1]


def test_graphs_are_built_in_threads_at_a_time() -> None:
    """In each of them the function is traced while it is in the others."""
    together = threading.Barrier(3)

    @sad.function
    def step(x: Any) -> Any:
        together.wait(10)
        return x * 2.0

    def build(_: int) -> int:
        with sad.Graph() as graph:
            step(sad.placeholder("float64", ()))
        return len(graph.functions)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(build, range(3))) == [1, 1, 1]


def test_in_bodies_and_of_bodies(tmp_path: Path) -> None:
    @sad.function
    def square(x: Any) -> Any:
        return x * x

    @sad.function
    def fourth(x: Any) -> Any:
        return square(square(x))

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        inside = sad.map(lambda v: fourth(v) + square(v), x)
        outside = fourth(x)
        chosen = sad.cond(x[0] > 0, lambda: square(x), lambda: x)
        mapped = sad.grad(lambda v: sad.sum(fourth(v)))(x)
        matrix = sad.jacobian(fourth(x), x)
        for k, y in enumerate((inside, outside, chosen, mapped, matrix)):
            sad.identity(y, name=f"y{k}")
    graph.save(tmp_path / "calls.sad")
    at = np.array([1.0, 2.0, 3.0])
    for given in (graph, sad.load(tmp_path / "calls.sad")):
        with sad.Session(given) as session:
            found = session.run([f"y{k}" for k in range(5)], {"x": at})
        for y, expected in zip(
            found, (at**4 + at**2, at**4, at**2, 4 * at**3, np.diag(4 * at**3)), strict=True
        ):
            np.testing.assert_allclose(y, expected, rtol=1e-14)


def test_a_body_traced_inside_another_is_not_used_outside() -> None:
    @sad.function
    def shifted(x: Any) -> Any:
        return x + inner[-1]

    inner: list[Any] = []

    def body(v: Any) -> Any:
        inner.append(v * 2.0)
        return shifted(v)

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (2,), name="x")
        mapped = sad.map(body, x)
        inner.append(x[0])
        outside = shifted(x[1])
    with sad.Session(graph) as session:
        found, other = session.run([mapped, outside], {x: [1.0, 5.0]})
    np.testing.assert_array_equal(found, [3.0, 15.0])
    assert other == 6.0


def test_a_thousand_calls_are_one_body() -> None:
    @sad.function
    def step(x: Any) -> Any:
        return sad.sin(x) + x * 0.5

    with sad.Graph() as graph:
        x = y = sad.placeholder("float64", (), name="x")
        for _ in range(1000):
            y = step(y)
    assert len(graph.functions) == 1
    assert len(graph.nodes) == 1001
    value = 0.3
    for _ in range(1000):
        value = np.sin(value) + value * 0.5
    assert float(sad.Session(graph).run(y, {x: 0.3})) == pytest.approx(value, rel=1e-12)


def test_what_is_refused() -> None:
    @sad.function
    def itself(x: Any) -> Any:
        return itself(x)

    @sad.function
    def nothing(x: Any) -> Any:
        return None

    @sad.function
    def anything(x: Any, other: Any) -> Any:
        return x

    with sad.Graph():
        x = sad.ones(2)
        with pytest.raises(sad.UsageError, match="calls itself"):
            itself(x)
        with pytest.raises(sad.UsageError, match="returns what is no tensor"):
            nothing(x)
        with pytest.raises(sad.UsageError, match="cannot be a part of a signature"):
            anything(x, {1, 2})
        with pytest.raises(sad.UsageError, match="f is no function"):
            sad.function(3)  # type: ignore[arg-type]
        assert anything(x, None).shape == (2,)
