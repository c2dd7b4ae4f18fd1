"""Calls in calls: to any depth, in order, and no more of them than a machine can hold."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor import selection
from staticad_executor.failure import LONG_NAME
from staticad_executor.interpret import interpret
from staticad_schema.errors import ExecutionError

from .planning import Compiled

both_engines = pytest.mark.parametrize("checked", [False, True], ids=["plan", "interpreter"])


def tower(height: int, calls: int) -> tuple[sad.Graph, Any, Any]:
    """A body that adds 1, and bodies over it that each call the one below so many times."""
    graph = sad.Graph(seed=0)
    below = graph.define("f0", lambda x: x + 1, ("float64", ()))
    for k in range(1, height):

        def body(x: Any, below: Any = below) -> Any:
            for _ in range(calls):
                x = below(x)
            return x

        below = graph.define(f"f{k}", body, ("float64", ()))
    with graph:
        x = sad.placeholder("float64", (), name="x")
        y = below(x)
    return graph, x, y


@both_engines
def test_calls_are_entered_to_any_depth(checked: bool) -> None:
    height = 4 * sys.getrecursionlimit()
    graph, x, y = tower(height, 1)
    with sad.Session(graph, check_numerics=checked) as session:
        assert session.run(y, {x: 1}) == 2
        if not checked:
            assert len(session.explain(y)) < 1000
            assert session.memory(y).peak_bytes == 16


@both_engines
def test_calls_of_calls_run_as_often_as_they_say(checked: bool) -> None:
    graph, x, y = tower(12, 2)
    with sad.Session(graph, check_numerics=checked) as session:
        assert session.run(y, {x: 1}) == 1 + 2**11


@both_engines
@pytest.mark.parametrize("height", [40, 3000])
def test_more_calls_than_memory_holds_are_refused_at_once(checked: bool, height: int) -> None:
    graph, x, y = tower(height, 2)
    session = sad.Session(graph, check_numerics=checked)
    with pytest.raises(sad.PlanError, match="stand for too many nodes") as info:
        session.run(y, {x: 1})
    text = str(info.value)
    assert f"of 'f{height - 1}'" in text
    assert "at most 1,048,576 nodes" in text
    assert "test_calls.py" in text
    # Feeding the call leaves nothing to call.
    assert session.run(y, {y: 3}) == 3


@both_engines
def test_a_node_far_inside_has_a_name_to_be_read(checked: bool) -> None:
    graph = sad.Graph()
    below = graph.define("f0", lambda x: sad.take(x, 7, axis=0), ("float64", ("n",)))
    for k in range(1, 100):
        below = graph.define(f"f{k}", lambda x, below=below: below(x), ("float64", ("n",)))
    with graph:
        x = sad.placeholder("float64", ("n",), name="x")
        y = below(x)
    with (
        sad.Session(graph, check_numerics=checked) as session,
        pytest.raises(sad.ExecutionError) as info,
    ):
        session.run(y, {x: [1.0]})
    name = str(info.value).split("'")[1]
    assert name.startswith("call_1/call_1/")
    assert "/…/" in name
    assert len(name) < LONG_NAME + 50


@both_engines
def test_what_is_ordered_behind_a_call_waits_for_its_checks(checked: bool) -> None:
    graph = sad.Graph()
    with graph:
        x = sad.placeholder("float64", (), name="x")
        i = sad.placeholder("int64", (), name="i")
        guarded = graph.define(
            "guarded",
            lambda v: (sad.assert_(v > 0, "not positive", v), v * 2),  # noqa: PT009
            ("float64", ()),
        )
        _, double = guarded(x)
        # The index comes after the call, also by the output that needs no check.
        y = sad.constant(np.arange(3.0))[sad.after(i, double)]
    with sad.Session(graph, check_numerics=checked) as session:
        assert session.run(y, {x: 1, i: 2}) == 2
        with pytest.raises(sad.ExecutionError, match="not positive"):
            session.run(y, {x: -1, i: 10})


def test_dependencies_go_through_calls_and_joints_into_the_plan() -> None:
    graph = sad.Graph()
    with graph:
        x = sad.placeholder("float64", (), name="x")
        noisy = graph.define(
            "noisy", lambda v: sad.stack([sad.print_(v + k) for k in range(6)]), ("float64", ())
        )
        plain = graph.define("plain", lambda v: v * 3, ("float64", (6,)))
        printed = plain(noisy(x)) + 1
        y = sad.after(x, printed, name="y")
    program = Compiled(graph, [y], {x: np.array(1.0)}, rewrites=()).structure.program
    nodes = program.graph.nodes
    prints = {k for k, node in enumerate(nodes) if node.op == "print"}
    (last,) = (k for k, node in enumerate(nodes) if node.name == "y")
    behind: set[int] = set()
    stack = [last]
    while stack:
        node = nodes[stack.pop()]
        before = [*node.after, *(program.graph.producers[v] for v in node.inputs)]
        stack += [k for k in before if k not in behind]
        behind |= set(before)
    assert len(prints) == 6
    assert prints <= behind


@both_engines
def test_effects_of_a_call_happen_once_also_where_it_is_differentiated(
    checked: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = sad.Graph()
    with graph:
        x = sad.placeholder("float64", (), name="x")
        inner = graph.define("inner", lambda v: sad.print_(v * v, "square"), ("float64", ()))

        def body(v: Any) -> Any:
            positive = sad.assert_(v > 0, "not positive")  # noqa: PT009
            return sad.after(inner(v) * v, positive)

        y = graph.define("outer", body, ("float64", ()))(x)
        (dy,) = sad.gradients(y, x)
        (ddy,) = sad.gradients(dy, x)
        (along,) = sad.jvp(y, x)
    with sad.Session(graph, check_numerics=checked) as session:
        for fetches, values in (
            ([y], [8]), ([dy], [12]), ([y, dy, ddy, along], [8, 12, 12, 12]),
        ):  # fmt: skip
            assert session.run(fetches, {x: 2}) == values
            assert capsys.readouterr().out == "square 4.\n"
            with pytest.raises(sad.ExecutionError, match="not positive"):
                session.run(fetches, {x: -2})
            capsys.readouterr()


def test_deep_calls_are_differentiated() -> None:
    graph, x, y = tower(2 * sys.getrecursionlimit(), 1)
    (dy,) = sad.gradients(y, x)
    (along,) = sad.jvp(y, x)
    with sad.Session(graph) as session:
        assert session.run([dy, along], {x: 1}) == [1, 1]


def test_derivatives_of_more_calls_than_memory_holds_are_refused_at_once() -> None:
    graph, x, y = tower(40, 2)
    count = len(graph.nodes)
    for differentiate in (sad.gradients, sad.jvp):
        with pytest.raises(sad.GraphError, match="stands for too many nodes") as info:
            differentiate(y, x)
        assert "'f39'" in str(info.value)
        assert "test_calls.py" in str(info.value)
        # But for the seed nothing was built.
        assert len(graph.nodes) <= count + 1


@both_engines
def test_a_differentiated_body_draws_what_the_call_drew(checked: bool) -> None:
    graph = sad.Graph(seed=3)
    with graph:
        x = sad.placeholder("float64", (50,), name="x")
        inner = graph.define(
            "inner", lambda v: v * sad.random.normal((50,), dtype="float64"), ("float64", (50,))
        )
        y = graph.define("outer", lambda v: inner(inner(v)), ("float64", (50,)))(x)
        (dy,) = sad.gradients(y, x)
    with sad.Session(graph, check_numerics=checked) as session:
        value, slope = session.run([y, dy], {x: np.ones(50)})
        np.testing.assert_array_equal(value, slope)
        assert len(set(value)) == 50


def large(x: Any) -> Any:
    for k in range(20):
        x = sad.sin(x) * 1.01 + 0.01 * k
    return x + sad.random.normal(x.shape, dtype=x.dtype)


@pytest.mark.parametrize("entered", [False, True])
def test_large_bodies_that_are_called_often_are_planned_once(
    entered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call draws numbers of its own, reads variables and checks, as a copy of it does."""
    monkeypatch.setattr(selection, "COPIED", 0 if entered else 1 << 20)
    with sad.Graph(seed=4) as graph:
        x = sad.placeholder("float64", ("n",), name="x")
        w = sad.variable(np.array(2.0), name="w")

        def body(a: Any) -> Any:
            return sad.assert_(a < 1e6, "small", large(a)) * w.read()  # noqa: PT009

        call = graph.define("large", body, x)
        y = call(call(call(x)))
        (dx,) = sad.gradients(sad.sum(y), x)
    assert len(graph.functions) == 1
    session = sad.Session(graph, device="numpy")
    plan = session.explain(y, {"n": 3})
    assert plan.count("bodies 'large'") == (3 if entered else 0)
    naive = interpret(graph, [y.id, dx.id], (), {x.id: np.arange(3.0)}, {"w": np.array(2.0)}, 0)
    for found, expected in zip(
        session.run([y, dx], {x: np.arange(3.0)}), naive.values, strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ExecutionError, match="small"):
        session.run(y, {x: np.full(3, 1e7)})


def test_ten_thousand_calls_are_saved_loaded_and_run(tmp_path: Path) -> None:
    with sad.Graph(seed=1) as graph:
        x = sad.placeholder("float32", (4,), name="x")
        small = graph.define("small", lambda a: sad.sin(a) * 1.5, x)
        call = graph.define("large", lambda a: large(a) * 0.5, x)
        y = x
        for k in range(10_000):
            y = small(y) if k % 2 else call(y)
        sad.multiply(y, 1.0, name="y")
    graph.save(tmp_path / "calls.sad")
    loaded = sad.load(tmp_path / "calls.sad")
    feeds = {"x": np.ones(4, np.float32)}
    found = [sad.Session(g, device="numpy").run("y", feeds) for g in (graph, loaded)]
    np.testing.assert_array_equal(*found)
