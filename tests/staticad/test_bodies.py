"""Bodies: functions in the graph's table, that read variables and draw random numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad

TYPE = ("float64", (3,))


def built() -> sad.Graph:
    """z = f(g(x)) with g(a) = 2 f(a) and f(a) = a v² + u, where u is drawn anew at each call."""
    graph = sad.Graph(seed=1)
    with graph:
        x = sad.placeholder("float64", (3,), name="x")
        v = sad.variable(np.array([1.0, 2.0, 3.0]), name="v")
        f = graph.define("f", lambda a: a * v.read() ** 2 + noise(), TYPE)
        g = graph.define("g", lambda a: 2.0 * a.graph.call("f", a), TYPE)
        y = sad.identity(g(x), name="y")
        z = sad.identity(f(y), name="z")
        graph.signature("run", {"x": x}, {"y": y, "z": z}, [v.assign_add([1.0, 1.0, 1.0])])
    return graph


def noise() -> sad.Tensor:
    return sad.random.uniform((3,), dtype="float64")


def values(graph: sad.Graph, fetches: Any, **options: Any) -> list[np.ndarray[Any, Any]]:
    with sad.Session(graph, **options) as session:
        result: list[np.ndarray[Any, Any]] = session.run(fetches, {"x": [1.0, 2.0, 3.0]}, step=5)
    return result


def test_a_body_reads_variables_and_draws_numbers_of_its_own(tmp_path: Path) -> None:
    graph = built()
    y, z = values(graph, ["y", "z"])
    v, x = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    first, second = y / 2 - x * v**2, z - y * v**2
    for drawn in (first, second):
        assert ((drawn >= 0) & (drawn < 1)).all()
    assert not np.isclose(first, second).any()
    graph.save(tmp_path / "bodies.sad")
    loaded = sad.load(tmp_path / "bodies.sad")
    assert list(loaded.functions) == ["f", "g"]
    for other, options in ((loaded, {}), (loaded, {"check_numerics": True})):
        found = values(other, ["y", "z"], **options)
        assert [a.tobytes() for a in found] == [y.tobytes(), z.tobytes()]
    # What is loaded can be called.
    with loaded:
        again = loaded.call("g", loaded["x"])
    assert not np.array_equal(values(loaded, again), y)


def test_a_body_reads_the_start_of_the_run() -> None:
    graph = built()
    write = graph.signatures["run"].effects[0]
    with sad.Session(graph) as session:
        one, _ = session.run(["y", graph.effect(write)], {"x": [1.0, 2.0, 3.0]}, step=5)
        two = session.run("y", {"x": [1.0, 2.0, 3.0]}, step=5)
    np.testing.assert_allclose((two - one) / 2, [1 * (4 - 1), 2 * (9 - 4), 3 * (16 - 9)])


def test_gradients_reach_the_variables_that_bodies_read() -> None:
    graph = built()
    x, v, z = graph["x"], graph.variables["v"], graph["z"]
    dx, dv = sad.gradients(z, [x, v])
    (alone,) = sad.gradients(z, v)
    (pushed,) = sad.jvp(z, [x, v], [np.ones(3), np.ones(3)])
    y = graph["y"]
    found = values(graph, [dx, dv, alone, pushed, y])
    state, fed = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    slope = 2 * state * found[4] + state**2 * 4 * state * fed
    np.testing.assert_allclose(found[0], 2 * state**4)
    np.testing.assert_allclose(found[1], slope)
    np.testing.assert_allclose(found[2], slope)
    np.testing.assert_allclose(found[3], found[0] + found[1])
    assert sad.explain_gradient(z, v).connected
    assert "v" in sad.explain_gradient(z, v).path[0]
    sad.check_gradients(z, [x, v], {x: fed}, order=2, run=0)


def test_randomness_in_a_body_is_found_by_the_check() -> None:
    graph = built()
    with pytest.raises(sad.GradientError, match=r"random numbers.*\n.*\n.*call '") as caught:
        sad.check_gradients(graph["z"], graph["x"], {"x": np.ones(3)})
    assert caught.value.site is not None


def test_what_a_body_cannot_reach_is_told_what_to_do() -> None:
    graph = sad.Graph()
    v = graph.variable(np.ones(3), name="v")
    x = graph.placeholder("float64", (3,), name="x")
    with pytest.raises(sad.GraphError, match="in a body, read it by"):
        graph.define("f", lambda a: a * v, TYPE)
    with pytest.raises(sad.GraphError, match="as an argument"):
        graph.define("f", lambda a: a * x, TYPE)
    with pytest.raises(sad.GraphError, match="another graph"):
        graph.define("f", lambda a: a * v.read(after=[x]), TYPE)
    assert not graph.functions


def test_a_body_without_arguments_is_differentiated_through_what_it_reads() -> None:
    graph = sad.Graph()
    v = graph.variable(np.ones(3), name="v")
    f = graph.define("f", lambda: v.read() * 2)
    y = f()
    (dy,) = sad.gradients(y, v)
    with sad.Session(graph) as session:
        np.testing.assert_array_equal(session.run(y), [2, 2, 2])
        np.testing.assert_array_equal(session.run(dy), [2, 2, 2])


@pytest.mark.parametrize("watched", [False, True])
def test_what_is_fed_for_a_variable_is_what_bodies_read(watched: bool) -> None:
    graph = sad.Graph()
    v = graph.variable(np.ones(3), name="v")
    y = graph.define("f", lambda a: a * v.read(), TYPE)(np.array([1.0, 2.0, 3.0]))
    with sad.Session(graph, check_numerics=watched) as session:
        np.testing.assert_array_equal(session.run(y, {v: [4.0, 5.0, 6.0]}), [4, 10, 18])
        np.testing.assert_array_equal(session.run(y), [1, 2, 3])
