"""Mistakes in calling a session: what was asked, expected and found, and the line to change."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts

F = "float32"
# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"


RUNNING: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "missing feed": (ValueError, "x", lambda s: s.run("y")),
    "unknown fetch": (KeyError, "did you mean 'y'", lambda s: s.run("y2", {"x": [1.0]})),
    "unknown feed": (KeyError, "X", lambda s: s.run("y", {"X": [1.0]})),
    "fetch of None": (TypeError, "None", lambda s: s.run(["y", None], {"x": [1.0]})),
    "fetch of another graph": (
        ValueError,
        "graph",
        lambda s: s.run(sad.Graph().placeholder(F, ()), {"x": [1.0]}),
    ),
    "feed of another rank": (ValueError, "rank", lambda s: s.run("y", {"x": 1.0})),
    "feed of text": (TypeError, "x", lambda s: s.run("y", {"x": "text"})),
    "floats for integers": (ValueError, "astype", lambda s: s.run("z", {"i": np.ones(2)})),
    "feeds that are no dict": (TypeError, "write {x: value}", lambda s: s.run("y", np.ones(2))),
    "an array of no elements as feeds": (TypeError, "mapping", lambda s: s.run("y", np.ones(0))),
    "another case": (KeyError, "did you mean 'x'", lambda s: s.run("y", {"X": [1.0]})),
    "a name without its scope": (KeyError, "'layer/h'", lambda s: s.run("h", {"x": [1.0]})),
    "fetch of a signature": (
        KeyError,
        "a signature; the names of its outputs in the graph: 'y'",
        lambda s: s.run("serve", {"x": [1.0]}),
    ),
    "callable of one tensor": (TypeError, "such as", lambda s: s.callable("y", s.graph["x"])),
    "too few values": (ValueError, "wrong number", lambda s: s.callable("y", ["x"])()),
    "a value of text": (TypeError, "feed 'x'", lambda s: s.callable("y", ["x"])("text")),
    "run after close": (ValueError, "closed", lambda s: (s.close(), s.run("y", {"x": [1.0]}))),
    "no such device": (ValueError, "'numpy'", lambda s: sad.Session(s.graph, device="cuda")),
    "session of no graph": (TypeError, "a Graph", lambda s: sad.Session(ANY)),
    "no such variable": (KeyError, "no variable", lambda s: s.variables["w"]),
    "sizes not given": (ValueError, "sizes={'n'", lambda s: s.memory("y")),
    "explain of no name": (KeyError, "no node", lambda s: s.explain("loss")),
    "profile without feeds": (ValueError, "not fed", lambda s: s.profile("y")),
    "step below 0": (ValueError, "number of a run", lambda s: s.run("y", {"x": [1.0]}, step=-1)),
}


@pytest.mark.parametrize("name", RUNNING)
def test_a_mistake_while_running(name: str) -> None:
    kind, text, mistake = RUNNING[name]
    graph = sad.Graph()
    x = graph.placeholder(F, ("n",), "x")
    y = sad.exp(x, name="y")
    sad.exp(x, name="y1")
    with sad.scope("layer"):
        sad.negative(x, name="h")
    graph.signature("serve", {"x": x}, {"y": y})
    sad.negative(graph.placeholder("int32", ("n",), "i"), name="z")
    with sad.Session(graph) as session, pytest.raises(kind) as caught:
        mistake(session)
    assert text in str(caught.value)
    # At a placeholder's declaration, or at the call.
    check_parts(caught.value, mistake, test_a_mistake_while_running)


def test_operands_are_named_with_their_lines_at_build_and_at_run() -> None:
    graph = sad.Graph()
    x = graph.placeholder(F, ("n", 3), "x")
    w = graph.placeholder(F, (4, 2), "w")
    with pytest.raises(sad.ShapeError) as built:
        x @ w
    y = x + graph.placeholder(F, ("m", 3), "z")
    with sad.Session(graph) as session, pytest.raises(sad.ShapeError) as run:
        session.run(y, {"x": np.ones((2, 3)), "z": np.ones((4, 3))})
    for error, first, second in (
        (built.value, "'x' float32[n, 3]", "'w' float32[4, 2]"),
        (run.value, "'x' float32[2, 3]", "'z' float32[4, 3]"),
    ):
        here = r"\(tests/staticad/test_mistakes_running.py:\d+, in test_operands\w+\)"
        pattern = rf"  operands: {re.escape(first)} {here}\n {{12}}{re.escape(second)} {here}\n"
        assert re.search(pattern, str(error)), str(error)
