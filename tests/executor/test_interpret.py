"""Naive evaluation, and that plans equal it, bodies and their random numbers included."""

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import Observation, interpret
from staticad_executor.selection import select
from staticad_schema.op import OPS

F32 = np.float32


def naive(
    graph: sad.Graph, fetch: Any, feeds: dict[Any, Any] | None = None, run_number: int = 0
) -> Any:
    given = {handle.id: np.asarray(value, F32) for handle, value in (feeds or {}).items()}
    return interpret(graph, [fetch.id], [], given, {}, run_number).values[0]


def test_a_body_is_evaluated_with_sizes_of_its_own() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.placeholder("float32", ("m",), name="y")
        mean = graph.define("mean", lambda v: sad.mean(v) + 0 * v, ("float32", ("n",)))
        # Its n is m here.
        z = mean(y) + sad.sum(mean(x))
    expected = np.full(4, 2.5 + 2 * 3, F32)
    feeds = {x: np.array([1, 5], F32), y: np.arange(1, 5, dtype=F32)}
    np.testing.assert_allclose(naive(graph, z, feeds), expected)
    np.testing.assert_allclose(sad.Session(graph).run(z, feeds), expected)


def test_calls_of_a_body_draw_numbers_of_their_own() -> None:
    with sad.Graph(seed=4) as graph:
        x = sad.placeholder("float32", (6,), name="x")
        inner = graph.define("inner", lambda v: v + sad.random.uniform((6,)), ("float32", (6,)))

        def twice(v: Any) -> Any:
            return v.graph.call("inner", v.graph.call("inner", v))

        outer = graph.define("outer", twice, ("float32", (6,)))
        values: Any = [outer(x), outer(x), inner(x)]
    session = sad.Session(graph)
    feed = {x: np.zeros(6)}
    first = session.run(values, feed)
    assert len({a.tobytes() for a in first}) == 3
    assert session.snapshot().run_number == 1
    for value, result in zip(values, first, strict=True):
        np.testing.assert_array_equal(naive(graph, value, feed), result)
    np.testing.assert_array_equal(
        session.run(values[1], feed, step=5), naive(graph, values[1], feed, 5)
    )


def test_bodies_are_watched_and_name_their_caller() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (2,), name="x")
        log = graph.define("log", lambda v: sad.log(v, name="inside"), ("float32", (2,)))
        y = log(x)
    with (
        sad.Session(graph, check_numerics=True) as session,
        pytest.raises(sad.ExecutionError, match="NaN is born here") as info,
    ):
        session.run(y, {x: [1, -1]})
    text = str(info.value)
    assert "log 'call_1/inside'" in text
    assert "test_interpret.py" in text


def test_observers_see_every_node_in_order() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        y = sad.exp(x) * 2
        unused = sad.log(x)
    seen: list[Observation] = []
    (value,) = interpret(
        graph, [y.id], [], {x.id: np.array(0, F32)}, {}, 0, observe=seen.append
    ).values
    assert value == 2
    assert [o.graph.nodes[o.node_index].op for o in seen] == ["exp", "constant", "multiply"]
    assert unused.node_index not in {o.node_index for o in seen}


def test_selection_is_cut_at_feeds() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name="x")
        v = sad.variable(F32(1), name="v")
        write = v.assign(x)
        y = sad.after(v * 2, write)
    whole = select(graph, [y.id], [], ())
    assert (whole.reads, whole.writes) == (("v",), ("v",))
    assert whole.missing == (x.node_index,)
    cut = select(graph, [y.id], [], {write.id})
    assert (cut.reads, cut.writes, cut.missing) == (("v",), (), ())


def test_the_run_number_is_a_value() -> None:
    with sad.Graph(seed=0) as graph:
        draw = sad.random.uniform((3,))
    number = graph.handle(graph.append(OPS["run_number"]).start)
    session = sad.Session(graph)
    assert session.run(number) == 0
    assert session.run([number, draw])[0] == 0
    assert session.run(number) == 1
    assert session.run(number, step=7) == 7


def test_an_error_of_a_meaning_names_node_operands_and_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        i = sad.placeholder("int64", (2,), name="i")
        y = sad.take(x, i, axis=0, name="taken")
    for session in (sad.Session(graph), sad.Session(graph, check_numerics=True)):
        assert session.run(y, {x: [1, 2], i: [1, -2]}).tolist() == [2, 1]
        with pytest.raises(sad.StaticadError) as info:
            session.run(y, {x: [1, 2], i: [0, 2]})
        text = str(info.value)
        assert "'taken'" in text
        assert "test_interpret.py" in text


def test_sizes_that_meet_only_at_run_time_name_the_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.placeholder("float32", ("m",), name="y")
        z = sad.add(x, y, name="total")
    for session in (sad.Session(graph), sad.Session(graph, check_numerics=True)):
        assert session.run(z, {x: [1, 2], y: [1]}).tolist() == [2, 3]
        with pytest.raises(sad.ShapeError) as info:
            session.run(z, {x: [1, 2], y: [1, 2, 3]})
        text = str(info.value)
        assert "'total'" in text
        assert "(2,) and (3,)" in text
        assert "test_interpret.py" in text
