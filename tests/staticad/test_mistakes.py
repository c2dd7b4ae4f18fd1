"""Mistakes: what was asked, what was expected, what was found, and the line that did it.

Each mistake is a lambda, so that its lines are known.
"""

from __future__ import annotations

import operator
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.mistakes import check_parts, places_of

Build = Callable[[sad.Graph], Any]
F = "float32"
# What a type checker would refuse is a mistake all the same.
ANY: Any = b"?"
ROOT = Path(__file__).parents[2]
PATH = os.pathsep.join(str(ROOT / folder) for folder in ("schema", "executor"))


def vector(graph: sad.Graph, size: Any = 3, dtype: str = F, name: str | None = None) -> sad.Tensor:
    return graph.placeholder(dtype, (size,), name)


def as_any(x: Any) -> Any:
    return x


def improbable(graph: sad.Graph) -> sad.Tensor:
    with graph:
        return sad.random.bernoulli((2,), 1.5)


MISTAKES: dict[str, tuple[type[Exception], str, Build]] = {
    # dtypes
    "unknown dtype": (TypeError, "did you mean 'float32'", lambda g: g.placeholder("flot32", ())),
    "dtype of text": (
        TypeError,
        "not a supported dtype",
        lambda g: g.placeholder(np.dtype("U3"), ()),
    ),
    "constant of text": (TypeError, "not a constant", lambda g: g.constant("hello")),
    "ragged list": (TypeError, "equal lengths", lambda g: g.constant([[1], [1, 2]])),
    "array of objects": (TypeError, "do not hold", lambda g: g.constant(np.array([None]))),
    "no common integer": (
        TypeError,
        "cast",
        lambda g: vector(g, 3, "int64") + vector(g, 3, "uint64"),
    ),
    "exp of integers": (TypeError, "does not admit", lambda g: sad.exp(vector(g, 3, "int32"))),
    "sum of text": (TypeError, "not an operand", lambda g: vector(g) + "1"),
    "sum with None": (TypeError, "not an operand", lambda g: vector(g) * None),
    "integer too large": (ValueError, "does not fit int8", lambda g: vector(g, 3, "int8") + 300),
    "integer to a negative power": (
        ValueError,
        "negative power",
        lambda g: vector(g, 3, "int32") ** -1,
    ),
    "condition that is no bool": (
        TypeError,
        "compare it",
        lambda g: sad.where(vector(g), 1.0, 2.0),
    ),
    "positions of floats": (
        TypeError,
        "cast it to int64",
        lambda g: sad.take(vector(g), vector(g)),
    ),
    "float index": (TypeError, "an integer dtype", lambda g: vector(g)[vector(g)]),
    "complex to real": (TypeError, "real, imag", lambda g: vector(g, 3, "complex64").astype(F)),
    "labels of bools": (
        TypeError,
        "neither integers",
        lambda g: sad.nn.cross_entropy(g.placeholder(F, (2, 3)), vector(g, 2, "bool")),
    ),
    # shapes, ranks, axes
    "unknown rank": (ValueError, "rank must be known", lambda g: g.placeholder(F, None)),
    "negative size": (ValueError, "negative", lambda g: g.placeholder(F, (-3,))),
    "size of text and number": (TypeError, "not a size", lambda g: g.placeholder(F, (1.5,))),
    "no such axis": (ValueError, "no axis 2", lambda g: sad.sum(vector(g), axis=2)),
    "axis twice": (
        ValueError,
        "given twice",
        lambda g: sad.sum(g.placeholder(F, (2, 2)), axis=(0, -2)),
    ),
    "axis of text": (TypeError, "not an integer", lambda g: sad.mean(vector(g), axis=ANY)),
    "transpose of a vector": (ValueError, "only a matrix", lambda g: vector(g).T),
    "mT of a vector": (ValueError, "two axes", lambda g: vector(g).mT),
    "axes that are no order": (
        ValueError,
        "order of the axes",
        lambda g: sad.permute_dims(vector(g), (0, 0)),
    ),
    "two sizes of -1": (ValueError, "more than one size", lambda g: vector(g).reshape(-1, -1)),
    "too many indices": (ValueError, "too many indices", lambda g: vector(g)[0, 0]),
    "two ellipses": (ValueError, "more than one ellipsis", lambda g: vector(g)[..., ...]),
    "slice of step 0": (ValueError, "other than 0", lambda g: vector(g)[::0]),
    "mask of another size": (ValueError, "a mask of", lambda g: vector(g)[vector(g, 4) > 0]),
    "text as index": (TypeError, "not an index", lambda g: vector(g)["a"]),
    "matmul of a scalar": (ValueError, "matmul", lambda g: g.placeholder(F, ()) @ vector(g)),
    "parts of unknown number": (
        ValueError,
        "number of parts",
        lambda g: sad.unstack(vector(g, "n")),
    ),
    "nothing to join": (ValueError, "nothing to join", lambda g: sad.concat([])),
    "concat of a tensor": (TypeError, "not a sequence", lambda g: sad.concat(as_any(vector(g)))),
    # names
    "placeholder twice": (
        ValueError,
        "taken",
        lambda g: [g.placeholder(F, (), "x") for _ in range(2)],
    ),
    "name that is no text": (TypeError, "a name is a text", lambda g: g.placeholder(F, (), ANY)),
    "unknown name": (
        KeyError,
        "did you mean 'images'",
        lambda g: (vector(g, name="images"), g["image"]),
    ),
    "number as name": (TypeError, "found by name", lambda g: g[ANY]),
    "empty scope": (ValueError, "a name is empty", lambda g: sad.scope("").__enter__()),
    "unknown function": (KeyError, "no function", lambda g: g.call("f", vector(g))),
    "function twice": (
        sad.GraphError,
        "exists",
        lambda g: [g.define("f", lambda a: a, (F, ())) for _ in range(2)],
    ),
    # graphs
    "placeholder without a graph": (
        sad.GraphError,
        "with sad.Graph",
        lambda g: sad.placeholder(F, ()),
    ),
    "constant without a graph": (sad.GraphError, "no graph is being built", lambda g: sad.exp(1.0)),
    "two graphs": (sad.GraphError, "two graphs", lambda g: vector(g) + vector(sad.Graph())),
    "two graphs in a function": (
        sad.GraphError,
        "two graphs",
        lambda g: sad.atan2(vector(g), vector(sad.Graph())),
    ),
    "initial value behind a write": (
        sad.GraphError,
        "initial value writes a variable",
        lambda g: g.variable(sad.after(g.constant(1.0), sad.group(g.variable(1.0).assign(2.0)))),
    ),
    "effect of another graph": (
        sad.GraphError,
        "another graph",
        lambda g: sad.after(vector(g), vector(sad.Graph())),
    ),
    "effect that is none": (
        TypeError,
        "not something that runs",
        lambda g: sad.group(vector(g), 3),
    ),
    "seed of text": (TypeError, "a seed is an integer", lambda g: sad.Graph(seed=ANY)),
    "body that returns nothing": (
        TypeError,
        "a body returns tensors",
        lambda g: g.define("f", lambda a: None, (F, ())),
    ),
    # no data
    "bool": (TypeError, "use where", lambda g: bool(vector(g) > 0)),
    "iteration": (TypeError, "unstack", lambda g: list(vector(g))),
    "in": (TypeError, "use any", lambda g: 3 in vector(g)),
    "length": (TypeError, "symbolic", lambda g: len(vector(g, "n"))),
    "float()": (TypeError, "astype", lambda g: float(g.placeholder(F, ()))),
    "range": (TypeError, "Python index", lambda g: operator.index(g.placeholder("int64", ()))),
    "NumPy array": (TypeError, "session.run", lambda g: np.asarray(vector(g))),
    "assignment to an element": (TypeError, "use x.at", lambda g: vector(g).__setitem__(0, 1)),
    # variables
    "initial value of a placeholder": (
        sad.GraphError,
        "needs no feed",
        lambda g: g.variable(vector(g) + 1),
    ),
    "initial value of another shape": (
        ValueError,
        "shape",
        lambda g: g.variable(np.zeros(3), shape=(2,)),
    ),
    "assignment of another dtype": (
        TypeError,
        "another dtype",
        lambda g: g.variable(1.0).assign(g.constant(np.zeros(()))),
    ),
    "assignment of another shape": (
        ValueError,
        "does not fit",
        lambda g: g.variable(np.zeros(3, F)).assign(np.ones(4, F)),
    ),
    "assignment of another rank": (
        ValueError,
        "does not fit",
        lambda g: g.variable(np.zeros(3, F), shape=("n",)).assign(np.ones((2, 2), F)),
    ),
    "initial value that writes": (
        sad.GraphError,
        "writes a variable",
        lambda g: g.variable(g.variable(1.0).assign(2.0)),
    ),
    "assertion of a number": (
        TypeError,
        "compare it",
        lambda g: sad.assert_(vector(g), "no"),  # noqa: PT009
    ),
    "variable made in a body": (
        sad.GraphError,
        "a body declares a variable",
        lambda g: g.define("f", lambda a: a + sad.variable(1.0, name="v"), (F, ())),
    ),
    "placeholder in a body": (
        sad.GraphError,
        "a body has a placeholder",
        lambda g: g.define("f", lambda a: a + sad.placeholder(F, (), name="p"), (F, ())),
    ),
    "write in a body": (
        sad.GraphError,
        "a body writes",
        lambda g: (v := g.variable(1.0), g.define("f", lambda a: (v.assign(2.0), a)[1], (F, ()))),
    ),
    # derivatives and training
    "integer gradient": (
        ValueError,
        "not differentiable",
        lambda g: sad.gradients(sad.sum(x := vector(g, 3, "int32")), [x]),
    ),
    "unconnected": (ValueError, "depend", lambda g: sad.gradients(sad.sum(vector(g)), [vector(g)])),
    "minimize a vector": (
        ValueError,
        "only a scalar",
        lambda g: sad.optimizers.SGD(0.1).minimize(vector(g)),
    ),
    "minimize nothing": (
        ValueError,
        "no trainable",
        lambda g: sad.optimizers.SGD(0.1).minimize(sad.sum(vector(g))),
    ),
    "momentum above 1": (
        ValueError,
        "out of range",
        lambda g: sad.optimizers.SGD(0.1, momentum=1.5),
    ),
    "learning rate of text": (TypeError, "learning rate", lambda g: sad.optimizers.Adam(ANY)),
    # arguments
    "dropout of everything": (
        ValueError,
        "rate is out of range",
        lambda g: sad.nn.dropout(vector(g), 1.0),
    ),
    "no such reduction": (
        ValueError,
        "not a reduction",
        lambda g: sad.nn.cross_entropy(g.placeholder(F, (2, 3)), [0, 1], reduction=ANY),
    ),
    "probability above 1": (
        ValueError,
        "p is out of range",
        improbable,
    ),
    "message that is no text": (TypeError, "message", lambda g: sad.print_(vector(g), ANY)),
    "schedule out of order": (
        ValueError,
        "ascending",
        lambda g: sad.optimizers.schedules.piecewise([3, 1], [1, 2, 3]),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_while_building(name: str) -> None:
    kind, text, mistake = MISTAKES[name]
    graph = sad.Graph()
    with pytest.raises(kind) as caught:
        mistake(graph)
    assert isinstance(caught.value, sad.StaticadError)
    assert text in str(caught.value)
    check_parts(caught.value, mistake)


# The same mistake where sizes are known, where they are bound, and in another process.
# Each function is given tensors of the shapes behind it, which do not go together.
SYMBOLIC: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "add": (lambda a, b: a + b, [(3,), (4,)]),
    "add to a named size": (lambda a, b: a * b, [(2, 3), (3, 2)]),
    "comparison": (lambda a, b: sad.where(a > b, a, b), [(3,), (5,)]),
    "where": (lambda a, b: sad.where(a > 0, a, b), [(3,), (4,)]),
    "matmul": (lambda a, b: a @ b, [(2, 3), (2, 3)]),
    "matmul of batches": (lambda a, b: sad.matmul(a, b), [(2, 3, 3), (4, 3, 3)]),
    "matmul of vectors": (lambda a, b: a @ b, [(3,), (4,)]),
    "concat": (lambda a, b: sad.concat([a, b], axis=0), [(2, 3), (2, 4)]),
    "stack": (lambda a, b: sad.stack([a, b]), [(2, 3), (2, 4)]),
    "reshape": (lambda a: sad.reshape(a, (2, 2)), [(5,)]),
    "reshape with -1": (lambda a: sad.reshape(a, (2, -1)), [(5,)]),
    "broadcast_to": (lambda a: sad.broadcast_to(a, (2, 4)), [(3,)]),
    "squeeze": (lambda a: sad.squeeze(a, 0), [(2, 3)]),
    "index out of bounds": (lambda a: a[3], [(3,)]),
    "negative index out of bounds": (lambda a: a[-4], [(3,)]),
    "array index out of bounds": (lambda a: a[[0, 5]], [(3,)]),
    "max over nothing": (lambda a: sad.max(a, axis=1), [(2, 0)]),
    "argmax over nothing": (lambda a: sad.argmax(a, axis=1), [(2, 0)]),
    "set of another shape": (lambda a, b: a.at[1:].set(b), [(4,), (2,)]),
    "add at another shape": (lambda a, b: a.at[[0, 1]].add(b), [(4,), (3,)]),
    "maximum": (lambda a, b: sad.maximum(a, b), [(3,), (4,)]),
    "dense labels": (lambda a, b: sad.nn.cross_entropy(a, b), [(2, 3), (2, 4)]),
    "labels": (lambda a, b: sad.nn.cross_entropy(a, b.astype("int32")), [(2, 3), (4,)]),
    "layer_norm": (lambda a, b: sad.nn.layer_norm(a, b), [(2, 3), (4,)]),
    "take_along_axis": (
        lambda a, b: sad.take_along_axis(a, b.astype("int64"), axis=1),
        [(2, 3), (4, 3)],
    ),
    "clip": (lambda a, b: sad.clip(a, max=b), [(3,), (4,)]),
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_mistake_of_sizes_while_building(name: str) -> None:
    function, shapes = SYMBOLIC[name]
    graph = sad.Graph()
    with pytest.raises(sad.StaticadError) as caught:
        function(*(graph.placeholder(F, shape) for shape in shapes))
    check_parts(caught.value, function)


def symbolic_graph(name: str) -> sad.Graph:
    function, shapes = SYMBOLIC[name]
    graph = sad.Graph()
    xs = [graph.placeholder(F, (None,) * len(s), f"x{k}") for k, s in enumerate(shapes)]
    sad.identity(function(*xs), name="y")
    return graph


@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_mistake_of_sizes_when_they_are_bound(name: str) -> None:
    function, shapes = SYMBOLIC[name]
    feeds = {f"x{k}": np.zeros(shape, F) for k, shape in enumerate(shapes)}
    with (
        sad.Session(symbolic_graph(name)) as session,
        pytest.raises(sad.StaticadError) as caught,
    ):
        session.run("y", feeds)
    check_parts(caught.value, function)


@pytest.mark.parametrize("name", SYMBOLIC)
def test_a_mistake_of_sizes_in_another_process(name: str, tmp_path: Path) -> None:
    function, shapes = SYMBOLIC[name]
    symbolic_graph(name).save(tmp_path / "a.sad")
    feeds = []
    for k, shape in enumerate(shapes):
        np.save(tmp_path / f"x{k}.npy", np.zeros(shape, F))
        feeds += ["--feed", f"x{k}={tmp_path / f'x{k}.npy'}"]
    command = [sys.executable, "-m", "staticad_executor", "run", str(tmp_path / "a.sad")]
    done = subprocess.run(
        [*command, *feeds, "--fetch", "y"],
        # The builder cannot be imported there.
        env={**os.environ, "PYTHONPATH": PATH},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    for part in ("error: ", "expected: ", "found:    ", "at:       "):
        assert part in done.stderr
    found = re.search(r"at: +tests/staticad/test_mistakes\.py:(\d+), in ", done.stderr)
    assert found is not None, done.stderr
    assert int(found[1]) in {line for _, line in places_of(function.__code__)}


def test_a_gradient_node_gives_the_forward_line_too() -> None:
    graph = sad.Graph()
    x = graph.placeholder(F, ("n",), "x")

    def forward() -> sad.Tensor:
        return sad.sum(sad.sqrt(x))

    def backward(y: sad.Tensor) -> Any:
        return sad.gradients(y, [x])

    gradient = backward(forward())
    with (
        sad.Session(graph, check_numerics=True) as session,
        pytest.raises(sad.ExecutionError) as caught,
    ):
        session.run(gradient, {x: np.zeros(2)})
    check_parts(caught.value, backward)
    assert caught.value.forward_site is not None
    assert caught.value.forward_site.line in {line for _, line in places_of(forward.__code__)}
    assert f"forward:  {caught.value.forward_site}" in str(caught.value)
