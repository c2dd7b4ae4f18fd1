"""The mark around what has a rule of its own: what it infers, and what files may say of it."""

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
RULE: Types = ((SIZE, FLOAT64),) * 4


def marked(graph: Graph, **changed: Any) -> Any:
    """x * x, with a rule over one argument that reads one number beside it."""
    x, k = source(graph, (2,)), source(graph, (2,))
    body(graph, "rule", RULE, lambda x, y, g, k: g * x * k)
    body(graph, "two", RULE, lambda x, y, g, k: (g, g))
    body(graph, "sum", RULE, lambda x, y, g, k: OPS["sum"](g, axis=(0,), keepdims=False))
    body(graph, "narrow", RULE, lambda x, y, g, k: g.astype(FLOAT32))
    attributes = {"rule": FunctionRef("rule"), "arguments": 1, "others": 1, "given": (0,)}
    return OPS["custom_rule"](x, k, x * x, **{**attributes, **changed})


def test_its_results_are_its_last_operands() -> None:
    graph = Graph()
    y = marked(graph)
    x, k = (graph.handle(v) for v in graph.nodes[-1].inputs[:2])
    assert (y.type.dtype, y.type.shape) == (FLOAT64, (2,))
    (found,) = run(graph, [y], {x: [2.0, 3.0], k: [1.0, 1.0]})
    assert found.tolist() == [4, 9]


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"arguments": 4}, ArgumentError),
        ({"others": -1}, ArgumentError),
        ({"others": 2}, ArgumentError),
        ({"given": (1,)}, ArgumentError),
        ({"given": (0, 0)}, ArgumentError),
        ({"path": 1 << 32}, ArgumentError),
        ({"others": 0}, ShapeError),
        ({"given": ()}, ShapeError),
        ({"rule": FunctionRef("two")}, ShapeError),
        ({"rule": FunctionRef("sum")}, ShapeError),
        ({"rule": FunctionRef("narrow")}, DTypeError),
    ],
)
def test_a_rule_fits_what_it_is_for(changed: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        marked(Graph(), **changed)


def test_integers_have_no_derivative() -> None:
    graph = Graph()
    x = source(graph, (2,), INT64)
    types: Types = ((SIZE, INT64), (SIZE, INT64))
    name = body(graph, "rule", types, lambda x, y: x)
    with pytest.raises(DTypeError, match="another dtype"):
        OPS["custom_rule"](x, x * x, rule=name, arguments=1, others=0, given=(0,))


def test_files_and_texts_hold_it() -> None:
    graph = Graph()
    marked(graph)
    text = to_text(graph)
    assert 'rule=&"rule"' in text
    assert to_text(from_text(text)) == text
    assert to_text(decode(encode(graph))) == text
    with pytest.raises(FormatError, match="no function 'later'"):
        from_text(text.replace('rule=&"rule"', 'rule=&"later"'))


DAMAGE: dict[str, Callable[[GraphMessage], Any]] = {
    "a rule that is not there": lambda m: setattr(
        application(m, "custom_rule")["rule"], "function", 99
    ),
    "a rule that is a number": lambda m: setattr(
        application(m, "custom_rule")["rule"], "integer", 0
    ),
    "another rule": lambda m: setattr(application(m, "custom_rule")["rule"], "function", 2),
    "arguments beyond the operands": lambda m: setattr(
        application(m, "custom_rule")["arguments"], "integer", (1 << 63) - 1
    ),
    "a negative number of others": lambda m: setattr(
        application(m, "custom_rule")["others"], "integer", -1
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
