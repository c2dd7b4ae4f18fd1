"""Ops that order, observe, check and call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients, jvp
from staticad_executor.interpret import interpret
from staticad_schema.batching import batched
from staticad_schema.calls import inner_path
from staticad_schema.dims import symbol
from staticad_schema.errors import DTypeError, ExecutionError, GraphError, ShapeError
from staticad_schema.graph import Function, Graph
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.types import BOOL, FLOAT64, INT64, UINT32, Array, TensorType

from .running import Applied, meaning
from .samples import Sample


def source(graph: Graph, shape: tuple[Any, ...], dtype: Any = FLOAT64) -> Any:
    attributes = {"dtype": dtype, "shape": shape}
    return graph.handle(graph.append(OPS["placeholder"], (), attributes).start)


def parameter(graph: Graph, index: int, shape: tuple[Any, ...], dtype: Any = FLOAT64) -> Any:
    attributes = {"index": index, "dtype": dtype, "shape": shape}
    return graph.handle(graph.append(OPS["parameter"], (), attributes).start)


def run(graph: Graph, fetches: list[Any], feeds: dict[Any, Any], number: int = 0) -> list[Array]:
    given = {x.id: np.asarray(a, x.type.dtype) for x, a in feeds.items()}
    return interpret(graph, [f.id for f in fetches], (), given, {}, number).values


# ---------------------------------------------------------------- print, check, group


def test_print_prints_and_hands_on(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(3.0)
    (result,) = meaning(OPS["print"], [x], {"message": "x is", "summarize": 10})
    assert result is x
    assert capsys.readouterr().out == "x is [0. 1. 2.]\n"
    meaning(OPS["print"], [np.arange(100)], {"message": "", "summarize": 10})
    assert capsys.readouterr().out == "[ 0  1  2 ... 97 98 99]\n"


def test_check_hands_on_what_it_guards() -> None:
    x = np.arange(3.0)
    (result,) = meaning(OPS["check"], [np.array([True, True]), x], {"message": "no"})
    assert result is x
    assert meaning(OPS["check_only"], [np.array(True)], {"message": "no"}) == ()


@pytest.mark.parametrize("name", ["check", "check_only"])
def test_check_fails_with_its_message(name: str) -> None:
    condition = np.array([True, False, False])
    arrays = [condition, np.ones(1)][: len(OPS[name].inputs)]
    with pytest.raises(ExecutionError, match="x must be positive") as caught:
        meaning(OPS[name], arrays, {"message": "x must be positive"})
    assert caught.value.found == "false in 2 of 3 elements"


@pytest.mark.parametrize("name", ["check", "check_only"])
def test_check_wants_a_bool(name: str) -> None:
    operands = [TensorType(FLOAT64, ()), TensorType(FLOAT64, ())][: len(OPS[name].inputs)]
    with pytest.raises(DTypeError, match="no bool"):
        OPS[name].infer(*operands, message="")


def test_group_has_no_output() -> None:
    assert Applied(OPS["group"], Sample()).outputs == []
    assert meaning(OPS["group"], [], {}) == ()


@pytest.mark.parametrize(
    ("name", "attributes"),
    [("print", {"message": "", "summarize": 3}), ("check", {"message": ""})],
)
def test_derivatives_pass_through_observers(name: str, attributes: dict[str, Any]) -> None:
    graph = Graph()
    x, g, t = (source(graph, (2,)) for _ in range(3))
    operands = [graph.constant(np.array(True)), x] if name == "check" else [x]
    y = OPS[name](*operands, **attributes)
    (dx,) = gradients(y, x, g)
    (dy,) = jvp(y, x, t)
    assert (dx.id, dy.id) == (g.id, t.id)


def test_check_maps_over_a_batch_of_conditions() -> None:
    # Mapping an effect is refused, but the rule itself must be right for what inlines it.
    graph = Graph()
    c, x = source(graph, (3,), BOOL), source(graph, (2,))
    with pytest.raises(GraphError, match="side effect"):
        batched(OPS["check"], [c, x], (True, False), {"message": ""})
    rule: Any = OPS["check"].batch
    result = rule(c, x, (True, False), message="")
    (found,) = run(graph, [result], {c: [True, True, True], x: [1.0, 2.0]})
    assert (found == [[1.0, 2.0]] * 3).all()


# ---------------------------------------------------------------- call


def squares(graph: Graph) -> FunctionRef:
    """A body on float64[n, 2]: x * x, and its sum over n as float64[2]."""
    body = Graph()
    x = parameter(body, 0, (symbol("n"), 2))
    y = x * x
    z = OPS["sum"](y, axis=(0,), keepdims=False)
    graph.add_function(Function("squares", body, (x.id,), (y.id, z.id)))
    return FunctionRef("squares")


def call(graph: Graph, *arguments: Any, **attributes: Any) -> Any:
    return graph.apply(OPS["call"], arguments, attributes)


@pytest.mark.parametrize("rows", [3, symbol("rows")])
def test_call_gives_the_outputs_of_the_body(rows: Any) -> None:
    graph = Graph()
    x = source(graph, (rows, 2))
    y, z = call(graph, x, function=squares(graph))
    assert y.type == TensorType(FLOAT64, (rows, 2))
    assert z.type == TensorType(FLOAT64, (2,))
    values = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = run(graph, [y, z], {x: values})
    assert (found[0] == values**2).all()
    assert (found[1] == (values**2).sum(0)).all()


def test_call_is_differentiated_through_its_body() -> None:
    graph = Graph()
    x = source(graph, (symbol("rows"), 2))
    t = source(graph, (symbol("rows"), 2))
    _, z = call(graph, x, function=squares(graph))
    (dx,) = gradients(z, x)
    (ddx,) = gradients(dx, x)
    (dz,) = jvp(z, x, t)
    values, tangent = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    found = run(graph, [dx, ddx, dz], {x: values, t: tangent})
    assert (found[0] == 2 * values).all()
    assert (found[1] == 2.0).all()
    assert (found[2] == (2 * values * tangent).sum(0)).all()


@pytest.mark.parametrize(
    ("shape", "dtype", "error", "part"),
    [
        ((3, 4), FLOAT64, ShapeError, "does not fit"),
        ((3,), FLOAT64, ShapeError, "does not fit"),
        ((3, 2), INT64, DTypeError, "another dtype"),
    ],
)
def test_call_checks_its_arguments(
    shape: tuple[int, ...], dtype: Any, error: type[GraphError], part: str
) -> None:
    graph = Graph()
    function = squares(graph)
    with pytest.raises(error, match=part) as caught:
        call(graph, source(graph, shape, dtype), function=function)
    assert caught.value.expected == "float64[n, 2]"


def test_call_checks_the_number_of_arguments() -> None:
    graph = Graph()
    x = source(graph, (3, 2))
    with pytest.raises(ShapeError, match="number of arguments"):
        call(graph, x, x, function=squares(graph))


def test_sizes_of_one_symbol_must_agree() -> None:
    graph, body = Graph(), Graph()
    x, y = (parameter(body, i, (symbol("n"),)) for i in (0, 1))
    z = x + y
    graph.add_function(Function("sum", body, (x.id, y.id), (z.id,)))
    with pytest.raises(ShapeError, match="argument 1"):
        call(graph, source(graph, (3,)), source(graph, (1,)), function=FunctionRef("sum"))


def test_calls_with_other_paths_draw_other_numbers() -> None:
    graph, body = Graph(), Graph()
    x = parameter(body, 0, ())
    number = body.append(OPS["run_number"]).start
    attributes = {"key": 5, "path": 0, "shape": (4,), "dtype": UINT32}
    bits = body.append(OPS["random_bits"], [number], attributes).start
    graph.add_function(Function("draw", body, (x.id,), (bits,)))
    x = source(graph, ())
    draws = [call(graph, x, function=FunctionRef("draw"), path=p) for p in (0, 1, 1)]
    inlined = OPS["call"].expand
    assert inlined is not None
    draws.append(inlined(x, function=graph.function("draw"), path=1))
    a, b, c, d = run(graph, draws, {x: 0.0}, number=3)
    assert not (a == b).any()
    assert (b == c).all()
    assert (c == d).all()
    given = {**attributes, "path": inner_path(1, 0)}
    (expected,) = meaning(OPS["random_bits"], [np.array(3, np.uint64)], given)
    assert (b == expected).all()


def test_a_body_may_call_another() -> None:
    graph = Graph()
    inner = squares(graph)
    outer = Graph()
    outer.functions = graph.functions
    x = parameter(outer, 0, (symbol("m"), 2))
    _, z = call(outer, x, function=inner)
    graph.add_function(Function("outer", outer, (x.id,), (z.id,)))
    x = source(graph, (2, 2))
    z = call(graph, x, function=FunctionRef("outer"))
    (dx,) = gradients(z, x)
    found = run(graph, [z, dx], {x: [[1.0, 2.0], [3.0, 4.0]]})
    assert (found[0] == [10.0, 20.0]).all()
    assert (found[1] == [[2.0, 4.0], [6.0, 8.0]]).all()
