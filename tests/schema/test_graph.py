"""Appending nodes, finding them, order, sites, functions."""

from collections.abc import Iterator

import numpy as np
import pytest

from staticad_schema import (
    OPS,
    ArgumentError,
    DTypeError,
    Function,
    FunctionRef,
    Graph,
    GraphError,
    Handle,
    Op,
    ShapeError,
    Site,
    TensorType,
    UnknownNameError,
    VariableSpec,
    decode,
    encode,
    from_text,
    symbol,
    to_text,
)
from staticad_schema.op import constant, op
from staticad_schema.types import BFLOAT16, FLOAT32, FLOAT64, INT64
from tests.schema.samples import add, assert_same_graph, placeholder


@pytest.fixture
def halves() -> Iterator[Op]:
    """An op of two outputs, registered for one test."""

    @op(numpy=lambda x: (x, x), grad=constant, batch="elementwise")
    def test_halves(x: TensorType) -> tuple[TensorType, TensorType]:
        """x twice."""
        return x, x.with_dtype(FLOAT64)

    yield test_halves
    del OPS["test_halves"]


def test_append_infers_and_numbers() -> None:
    graph = Graph()
    x = placeholder(graph, symbol("n"), 2)
    node = graph.append(OPS["sum"], (x,), {"axis": (1,), "keepdims": False}, name="total")
    assert (node.op, node.inputs, node.start, node.name) == ("sum", (0,), 1, "total")
    assert graph.types[1] == TensorType(FLOAT32, (symbol("n"),))
    assert graph.producers == [0, 1]
    assert node.definition is OPS["sum"]


def test_several_outputs_and_none(halves: Op) -> None:
    graph = Graph()
    x = placeholder(graph, 2)
    node = graph.append(halves, (x,), name="h")
    effect = graph.append(OPS["group"], (), after=(1,))
    y = add(graph, "negative", node.start + 1)
    assert list(node.outputs) == [1, 2]
    assert list(effect.outputs) == []
    assert graph.types[y].dtype == FLOAT64
    assert graph.producers == [0, 1, 1, 3]
    assert (graph.value_name(1), graph.value_name(2)) == ("h:0", "h:1")
    assert (graph.value("h"), graph.value("h:1")) == (1, 2)
    with pytest.raises(UnknownNameError, match="no output 2"):
        graph.value("h:2")
    assert_same_graph(graph, decode(encode(graph)))
    assert_same_graph(graph, from_text(to_text(graph)))


def test_handles_of_several_outputs(halves: Op) -> None:
    graph = Graph()
    first, second = halves(graph.handle(placeholder(graph, 2)))
    assert (first.id, second.id, second.type.dtype) == (1, 2, FLOAT64)


def test_a_failed_append_adds_nothing_and_names_the_line() -> None:
    graph = Graph()
    x = placeholder(graph, 2, 3)
    site = graph.intern_site(Site("model.py", 7, "build"))
    with pytest.raises(ShapeError) as caught:
        graph.append(OPS["matmul"], (x, x), {}, name="scores", site=site)
    assert len(graph.nodes) == 1
    message = str(caught.value)
    assert message.startswith("matmul 'scores':")
    assert "model.py:7, in build" in message
    assert "(2, 3)" in message


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "words"),
    [
        ("negative", 2, {}, "wrong number of operands"),
        ("negative", 1, {"axis": 0}, "unknown attribute 'axis'"),
        ("sum", 1, {"axis": (0,)}, "attribute 'keepdims' is missing"),
        ("sum", 1, {"axis": (0,), "keepdims": False, "axes": 1}, "unknown attribute 'axes'"),
    ],
)
def test_wrong_signatures(
    name: str, inputs: int, attributes: dict[str, object], words: str
) -> None:
    graph = Graph()
    x = placeholder(graph, 2)
    with pytest.raises(ArgumentError, match=words):
        graph.append(OPS[name], (x,) * inputs, attributes)


def test_names_are_found() -> None:
    graph = Graph()
    x = placeholder(graph, name="x:0")
    unnamed = add(graph, "negative", x)
    assert graph.value("x:0") == x
    assert graph.node_name(1) == "negative_1"
    assert graph.value("negative_1") == unnamed
    assert graph.value("negative_1:0") == unnamed
    for wrong in ("negative_2", "negative_01", "negative_" + "9" * 30, "negative_²", "x", ""):
        with pytest.raises(UnknownNameError):
            graph.value(wrong)
    with pytest.raises(UnknownNameError, match="did you mean 'x:0'"):
        graph.find("x:1")


def test_weak_scalars_are_shared_by_dtype_and_bits() -> None:
    graph = Graph()
    values = [
        graph.scalar(0.0, FLOAT32),
        graph.scalar(-0.0, FLOAT32),
        graph.scalar(0.0, FLOAT64),
        graph.scalar(0.0, BFLOAT16),
        graph.scalar(0, INT64),
    ]
    assert len(set(values)) == len(values)
    assert graph.scalar(0.0, FLOAT32) == values[0]
    assert graph.scalar(False, INT64) == values[-1]


def test_L4_constants_are_native_copies() -> None:
    graph = Graph()
    source = np.array([1.5, -2], ">f4")
    handle = graph.constant(source)
    source[:] = 0
    held = handle.node.attributes["value"]
    assert held.dtype == FLOAT32
    assert held.dtype.isnative
    assert held.tolist() == [1.5, -2]
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 1
    with pytest.raises(DTypeError):
        graph.constant(np.array(["a"]))


def test_handles_compute_and_promote() -> None:
    graph = Graph()
    x = graph.handle(placeholder(graph, 2))
    y = graph.constant(np.array([1.0, 2.0]))
    assert (x + y).type == TensorType(FLOAT64, (2,))
    assert (2 * x).type == (x / 2.5).type == (-x).type == x.type
    assert (x < 1).type.kind == "bool"
    assert (x @ x).type == TensorType(FLOAT32, ())
    assert isinstance(x**2, Handle)
    with pytest.raises(TypeError):
        x + "a"


def test_two_graphs_do_not_mix() -> None:
    one, two = Graph(), Graph()
    x, y = (g.handle(placeholder(g, 2, name="x")) for g in (one, two))
    with pytest.raises(GraphError, match="two graphs"):
        x + y


def test_sites_are_interned() -> None:
    graph = Graph()
    site = Site("model.py", 7, "build")
    assert graph.intern_site(site) == graph.intern_site(Site(*site)) == 1
    assert graph.site(1) == site
    assert graph.site(0) is None


def test_derived_nodes_have_one_site_and_the_forward_one() -> None:
    graph = Graph()
    user, forward_site = (graph.intern_site(Site("m.py", line, "f")) for line in (1, 2))
    x = placeholder(graph)
    with graph.derived_from(user) as forward:
        forward(forward_site)
        add(graph, "negative", x)
    add(graph, "negative", x)
    assert [(n.site, n.forward_site) for n in graph.nodes] == [(0, 0), (1, 2), (0, 0)]


def test_functions() -> None:
    graph, body = Graph(), Graph()
    p = add(body, "parameter", index=0, dtype=FLOAT32, shape=(symbol("n"), 3))
    function = Function("f", body, (p,), (add(body, "sum", p, axis=(0,), keepdims=False),))
    graph.add_function(function)
    assert function.input_types == (TensorType(FLOAT32, (symbol("n"), 3)),)
    assert function.output_types == (TensorType(FLOAT32, (3,)),)
    with pytest.raises(GraphError, match="'f' exists"):
        graph.add_function(function)
    x = placeholder(graph, 7, 3)
    node = graph.append(OPS["call"], (x,), {"function": FunctionRef("f")})
    assert node.types == (TensorType(FLOAT32, (3,)),)
    with pytest.raises(UnknownNameError, match="no function 'g'"):
        graph.append(OPS["call"], (x,), {"function": FunctionRef("g")})


def test_a_body_does_not_write() -> None:
    graph, body = Graph(), Graph()
    value = add(body, "assign", body.constant(np.zeros(2)).id, variable="w")
    with pytest.raises(GraphError, match="writes a variable"):
        graph.add_function(Function("f", body, (), (value,)))


def test_a_body_declares_no_state_and_takes_no_feeds() -> None:
    graph, body = Graph(), Graph()
    value = placeholder(body)
    with pytest.raises(GraphError, match="has a placeholder"):
        graph.add_function(Function("f", body, (), (value,)))
    body = Graph()
    start = body.constant(np.zeros(2, np.float32))
    node = body.append(OPS["variable"], (), {"variable": "w", "dtype": FLOAT32, "shape": (2,)})
    body.add_variable(VariableSpec("w", start.type, start.id, True, 1))
    with pytest.raises(GraphError, match="declares a variable"):
        graph.add_function(Function("f", body, (), (node.start,)))
    assert not graph.functions


def test_a_copy_grows_apart() -> None:
    graph = Graph(seed=3)
    x = placeholder(graph, name="x")
    twin = graph.copy()
    assert_same_graph(graph, twin)
    add(twin, "negative", x)
    assert (len(graph.nodes), len(twin.nodes)) == (1, 2)
    assert twin.value("x") == x
