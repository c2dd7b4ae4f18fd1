"""recompute: the same derivatives from less memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad

from ..mistakes import check_parts

F32 = np.float32
checked = sad.assert_
Block = Callable[..., Any]


def block(hidden: Any) -> Any:
    """A residual block that makes variables and draws random numbers."""
    wide = sad.nn.dropout(sad.nn.gelu(sad.nn.dense(hidden, 256)), 0.1)
    return hidden + sad.nn.dense(wide, 64)


def plain(function: Block) -> Block:
    return function


def network(mark: Callable[[Block], Block], depth: int = 6) -> tuple[Any, Any, list[Any]]:
    """x, and the loss and its gradients."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 64), name="x")
        hidden: Any = x
        for k in range(depth):
            with sad.scope(f"block{k}"):
                hidden = mark(block)(hidden)
        loss = sad.mean(sad.square(hidden), name="loss")
        variables = list(graph.variables.values())
        return graph, x, [loss, *sad.gradients(loss, [x, *variables])]


DATA = np.random.default_rng(0).standard_normal((256, 64)).astype(F32)


def test_gradients_have_the_same_bits_and_take_less_memory() -> None:
    results, memory = [], []
    for mark in (plain, sad.recompute):
        graph, x, fetches = network(mark)
        session = sad.Session(graph, threads=1)
        results.append(session.run(fetches, {x: DATA}))
        memory.append(session.memory(fetches, {"n": 4096}).scratch_bytes)
    for kept, again in zip(*results, strict=True):
        assert kept.tobytes() == again.tobytes()
    assert memory[1] < 0.5 * memory[0]


def test_values_take_no_memory_of_their_own() -> None:
    graphs = [network(mark) for mark in (plain, sad.recompute)]
    steps = [sad.Session(g).explain([f[0]], {"n": 8}) for g, _, f in graphs]
    # Without derivatives nothing is left of the marks.
    assert steps[0].partition("steps")[2] == steps[1].partition("steps")[2]


def test_random_numbers_are_those_of_the_forward_pass() -> None:
    with sad.Graph(seed=1) as graph:
        x = sad.placeholder("float64", (1000,), name="x")
        y = sad.recompute(lambda x: sad.exp(sad.nn.dropout(x, 0.5)))(x)
        (dx,) = sad.gradients(sad.sum(y), [x])
    session = sad.Session(graph)
    for _ in range(3):
        value, slope = session.run([y, dx], {x: np.ones(1000)})
        dropped = value == 1
        assert 400 < dropped.sum() < 600
        np.testing.assert_array_equal(slope == 0, dropped)
    assert sum(n.op == "random_bits" for n in graph.nodes) == 2


def test_what_is_captured_is_differentiated() -> None:
    def build(mark: Callable[[Block], Block]) -> tuple[Any, list[Any]]:
        with sad.Graph(seed=0) as graph:
            x = sad.placeholder("float64", (3, 4), name="x")
            w = sad.variable(np.arange(20.0).reshape(4, 5) / 10, name="w")
            scale = sad.exp(x[:, :1])

            def function(x: Any, *, sign: int, offset: Any) -> Any:
                hidden = sad.tanh(sign * x @ w + offset) * scale
                return {"sum": sad.sum(hidden), "all": sad.sin(hidden)}

            made = mark(function)(x, sign=-1, offset=sad.sum(x))
            loss = made["sum"] + sad.sum(made["all"] ** 2)
            return graph, [loss, *sad.gradients(loss, [x, w, scale])]

    feeds = {"x": np.linspace(-1, 1, 12).reshape(3, 4)}
    kept, again = (sad.Session(g).run(f, feeds) for g, f in map(build, (plain, sad.recompute)))
    for a, b in zip(kept, again, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-13)


@pytest.mark.parametrize("order", [2, 3])
def test_derivatives_of_any_order(order: int) -> None:
    found = []
    for mark in (plain, sad.recompute):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", (4,), name="x")
            inner = mark(lambda x: sad.tanh(x) * x)
            y: Any = sad.sum(mark(lambda x, inner=inner: sad.sin(inner(x)) ** 2)(x))
            for _ in range(order):
                y = sad.sum(sad.gradients(y, x)[0])
        found.append(sad.Session(graph).run(y, {x: np.linspace(0.2, 1.5, 4)}))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-13)


def test_nested_parts_take_less_still() -> None:
    def build(outer: Callable[[Block], Block], inner: Callable[[Block], Block]) -> tuple[int, Any]:
        with sad.Graph(seed=0) as graph:
            x = sad.placeholder("float64", ("n", 64), name="x")

            def step(hidden: Any) -> Any:
                for k in range(4):
                    hidden = sad.tanh(hidden) * sad.sin(hidden + k)
                    hidden = hidden - sad.mean(hidden, axis=0)
                return hidden

            def part(hidden: Any) -> Any:
                for _ in range(4):
                    hidden = inner(step)(hidden)
                return hidden

            hidden: Any = x
            for _ in range(4):
                hidden = outer(part)(hidden)
            (dx,) = sad.gradients(sad.sum(hidden), [x])
        session = sad.Session(graph)
        value = session.run(dx, {x: np.ones((512, 64)) * np.linspace(0, 1, 64)})
        return session.memory(dx, {"n": 512}).scratch_bytes, value

    most, expected = build(plain, plain)
    less, once = build(sad.recompute, plain)
    least, twice = build(sad.recompute, sad.recompute)
    assert once.tobytes() == twice.tobytes() == expected.tobytes()
    assert least < 0.7 * less < 0.5 * most


def test_a_saved_graph_recomputes_where_it_runs(tmp_path: Path) -> None:
    graph, x, fetches = network(sad.recompute)
    outputs = {f"y{k}": f for k, f in enumerate(fetches)}
    graph.signature("gradients", inputs={"x": x}, outputs=outputs)
    graph.save(tmp_path / "net.sad")
    np.save(tmp_path / "x.npy", DATA)
    code = f"""
import sys
import numpy as np
from staticad_executor import Session
from staticad_schema.codec import load
graph = load({str(tmp_path / "net.sad")!r})
made = graph.signatures["gradients"]
outputs = [graph.handle(v) for v in made.outputs.values()]
session = Session(graph)
values = session.run(outputs, {{"x": np.load({str(tmp_path / "x.npy")!r})}}, step=1)
np.savez({str(tmp_path / "out.npz")!r}, *values)
print(session.memory(outputs, {{"n": 256}}).scratch_bytes)
assert "staticad" not in sys.modules
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        check=True, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    session = sad.Session(graph)
    assert int(run.stdout) == session.memory(fetches, {"n": 256}).scratch_bytes
    with np.load(tmp_path / "out.npz") as stored:
        for k, expected in enumerate(session.run(fetches, {x: DATA}, step=1)):
            assert stored[f"arr_{k}"].tobytes() == expected.tobytes()
    again = sad.load(tmp_path / "net.sad")
    (dx,) = sad.gradients(again["loss"], [again["x"]])
    found = sad.Session(again).run(dx, {"x": DATA}, step=1)
    assert found.tobytes() == session.run(fetches[1], {x: DATA}, step=1).tobytes()


def test_effects_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    def function(x: Any) -> Any:
        y = sad.print_(sad.sin(x), "seen")
        return sad.exp(checked(y > -2, "in range", y) * x)

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        (dx,) = sad.gradients(sad.sum(sad.recompute(function)(x)), [x])
        (direct,) = sad.gradients(sad.sum(sad.exp(sad.sin(x) * x)), [x])
    session = sad.Session(graph)
    found, expected = session.run([dx, direct], {x: [0.1, 0.2, 0.3]})
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert capsys.readouterr().out.count("seen") == 1


def test_with_respect_to_a_value_inside() -> None:
    inside: list[Any] = []

    def function(x: Any) -> Any:
        inside.append(sad.sin(x))
        return inside[0] * inside[0]

    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        y = sad.recompute(function)(x)
        slopes = sad.gradients(y + inside[0], [x, inside[0]])
        stopped = sad.gradients(y, x, stop_gradients=inside, unconnected="zero")[0]
    found = sad.Session(graph).run([*slopes, stopped], {x: 0.5})
    sine, cosine = np.sin(0.5), np.cos(0.5)
    np.testing.assert_allclose(found, [(2 * sine + 1) * cosine, 2 * sine + 1, 0], rtol=1e-14)


def test_forward_mode_goes_through() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        y = sad.recompute(lambda x: (sad.sin(x), x * 2))(x)
        tangents = sad.jvp(list(y), x)
    np.testing.assert_allclose(sad.Session(graph).run(tangents, {x: 0.5}), [np.cos(0.5), 2])


def test_several_results_of_which_some_have_no_derivative() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (3,), name="x")
        y, where, same = sad.recompute(lambda x: [sad.exp(x), sad.argmax(x), x])(x)
        (dx,) = sad.gradients(sad.sum(y * same), [x])
    values = np.array([0.1, 0.7, 0.3])
    found = sad.Session(graph).run([dx, where], {x: values})
    np.testing.assert_allclose(found[0], np.exp(values) * (1 + values), rtol=1e-14)
    assert found[1] == 1


def test_without_arguments_in_a_graph() -> None:
    with sad.Graph() as graph:
        w = sad.variable(2.0, name="w")
        y = sad.recompute(lambda: sad.exp(w * w))()
        (dw,) = sad.gradients(y, [w])
    assert sad.Session(graph).run(dw) == pytest.approx(4 * np.exp(4.0), rel=1e-6)


def test_in_a_body_and_with_calls_and_found_sizes() -> None:
    with sad.Graph(seed=2) as graph:
        cube = graph.define("cube", lambda x: x * x * x, ("float64", ("n",)))

        def function(x: Any) -> Any:
            positive = x[x > 0]
            return sad.sum(cube(sad.sin(positive))) + sad.sum(sad.nn.dropout(x, 0.5) ** 2)

        body = graph.define("body", sad.recompute(function), ("float64", ("m",)))
        x = sad.placeholder("float64", ("m",), name="x")
        results = [body(x), sad.recompute(function)(x)]
        slopes = [sad.gradients(y, x)[0] for y in results]
    values = np.array([0.5, -1.0, 0.25, 2.0])
    for slope, value in zip(slopes, results, strict=True):
        session = sad.Session(graph)
        found = session.run(slope, {x: values}, step=3)
        for k in range(4):
            near = [values + s * 1e-6 * np.eye(4)[k] for s in (1, -1)]
            high, low = (session.run(value, {x: v}, step=3) for v in near)
            assert found[k] == pytest.approx((high - low) / 2e-6, rel=1e-6)


def test_many_parts_are_differentiated_in_linear_time_and_size() -> None:
    sizes = []
    for depth in (20, 40):
        with sad.Graph() as graph:
            x = sad.placeholder("float32", (), name="x")
            hidden: Any = x
            for _ in range(depth):
                hidden = sad.recompute(lambda h: sad.sin(sad.exp(h)))(hidden)
            sad.gradients(hidden, x)
        sizes.append(len(graph.nodes))
    assert sizes[1] < 2.1 * sizes[0]


def test_a_training_step_under_a_budget_too() -> None:
    graph, x, fetches = network(sad.recompute)
    data = np.tile(DATA, (8, 1))
    free = sad.Session(graph, "numpy")
    need = free.memory(fetches, {"n": len(data)})
    tight = sad.Session(graph, "numpy", memory_budget=need.peak_bytes - need.scratch_bytes // 20)
    for a, b in zip(free.run(fetches, {x: data}), tight.run(fetches, {x: data}), strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: 3.0, "found:    3.0, a float"),
        (lambda x: [], "returns no tensors"),
        (lambda x: (x, None), "found:    None, a NoneType"),
    ],
)
def test_functions_return_tensors(function: Any, words: str) -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
    with pytest.raises(sad.UsageError) as raised:
        sad.recompute(function)(x)
    check_parts(raised.value, test_functions_return_tensors)
    assert words in str(raised.value)


def test_what_is_no_function() -> None:
    with pytest.raises(sad.UsageError, match="not a function"):
        sad.recompute(3)  # type: ignore[arg-type]
    with pytest.raises(sad.GraphError, match="no graph is being built here"):
        sad.recompute(lambda: 1)()
