"""What is known by an equation: what it infers, and what files may say of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from staticad_schema import decode, encode, from_text, to_text
from staticad_schema.dims import symbol
from staticad_schema.errors import ArgumentError, DTypeError, FormatError, ShapeError
from staticad_schema.graph import Graph
from staticad_schema.graph_pb2 import File
from staticad_schema.graph_pb2 import Graph as GraphMessage
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.types import FLOAT32, FLOAT64, INT64
from tests.schema.test_hostile import framed

from .test_control import run, source
from .test_structured import Types, application, body

SIZE = (symbol("n"),)
PAIR: Types = ((SIZE, FLOAT64),) * 2


def marked(graph: Graph, **changed: Any) -> Any:
    """The root of a number."""
    a, x = source(graph, (2,)), source(graph, (2,))
    body(graph, "square", PAIR, lambda x, a: x * x - a)
    body(graph, "two", PAIR, lambda x, a: (x, a))
    body(graph, "sum", PAIR, lambda x, a: OPS["sum"](x, axis=(0,), keepdims=False))
    body(graph, "narrow", PAIR, lambda x, a: x.astype(FLOAT32))
    attributes = {
        "residual": FunctionRef("square"), "solutions": 1, "method": "gmres", "rtol": 1e-10,
        "iterations": 10,
    }  # fmt: skip
    return OPS["implicit"](a, x, **{**attributes, **changed})


def test_its_results_are_its_last_operands() -> None:
    graph = Graph()
    y = marked(graph)
    a, x = (graph.handle(v) for v in graph.nodes[-1].inputs)
    assert (y.type.dtype, y.type.shape) == (FLOAT64, (2,))
    (found,) = run(graph, [y], {a: [4.0, 9.0], x: [2.0, 3.0]})
    assert found.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"solutions": 0}, ArgumentError),
        ({"solutions": 3}, ArgumentError),
        ({"method": "lu"}, ArgumentError),
        ({"rtol": float("nan")}, ArgumentError),
        ({"rtol": -1.0}, ArgumentError),
        ({"iterations": 0}, ArgumentError),
        ({"path": 1 << 32}, ArgumentError),
        ({"residual": FunctionRef("two")}, ShapeError),
        ({"residual": FunctionRef("sum")}, ShapeError),
        ({"residual": FunctionRef("narrow")}, ShapeError),
        ({"solutions": 2}, ShapeError),
    ],
)
def test_a_residual_fits_what_it_is_for(changed: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        marked(Graph(), **changed)


def test_integers_solve_nothing() -> None:
    graph = Graph()
    x = source(graph, (2,), INT64)
    types: Types = ((SIZE, INT64),)
    name = body(graph, "residual", types, lambda x: x)
    with pytest.raises(DTypeError, match="one floating dtype"):
        OPS["implicit"](x, residual=name, solutions=1, method="cg", rtol=0.0, iterations=1)


def test_files_and_texts_hold_it() -> None:
    graph = Graph()
    marked(graph)
    text = to_text(graph)
    assert 'residual=&"square"' in text
    assert to_text(from_text(text)) == text
    assert to_text(decode(encode(graph))) == text
    with pytest.raises(FormatError, match="no function 'later'"):
        from_text(text.replace('residual=&"square"', 'residual=&"later"'))


DAMAGE: dict[str, Callable[[GraphMessage], Any]] = {
    "a residual that is not there": lambda m: setattr(
        application(m, "implicit")["residual"], "function", 99
    ),
    "another residual": lambda m: setattr(application(m, "implicit")["residual"], "function", 2),
    "more solutions than operands": lambda m: setattr(
        application(m, "implicit")["solutions"], "integer", (1 << 63) - 1
    ),
    "a negative number of solutions": lambda m: setattr(
        application(m, "implicit")["solutions"], "integer", -1
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_refused(damage: str) -> None:
    graph = Graph()
    marked(graph)
    file = File.FromString(encode(graph))
    message = GraphMessage.FromString(file.graph)
    DAMAGE[damage](message)
    with pytest.raises(FormatError):
        decode(framed(message.SerializeToString(), file.node_count))
