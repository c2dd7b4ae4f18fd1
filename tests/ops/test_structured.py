"""Choices and loops: what they infer, what they mean, and what files may say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from staticad_schema import decode, encode, from_text, to_text
from staticad_schema.batching import batched
from staticad_schema.calls import inner_path
from staticad_schema.dims import symbol
from staticad_schema.errors import (
    ArgumentError,
    DTypeError,
    ExecutionError,
    FormatError,
    ShapeError,
)
from staticad_schema.graph import Function, Graph
from staticad_schema.graph_pb2 import File
from staticad_schema.graph_pb2 import Graph as GraphMessage
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.types import BOOL, FLOAT32, FLOAT64, INT64, UINT32, TensorType
from tests.schema.test_hostile import framed

from .running import meaning
from .test_control import parameter, run, source

Types = tuple[tuple[tuple[Any, ...], Any], ...]


def body(graph: Graph, name: str, types: Types, build: Callable[..., Any]) -> FunctionRef:
    """A body of the graph's table."""
    inside = Graph()
    inside.functions = graph.functions
    inputs = [parameter(inside, k, shape, dtype) for k, (shape, dtype) in enumerate(types)]
    outputs = build(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    made = Function(name, inside, tuple(i.id for i in inputs), tuple(o.id for o in outputs))
    graph.add_function(made)
    return FunctionRef(name)


def bits(x: Any) -> Any:
    """Random bits in the body that x is in."""
    number = x.graph.append(OPS["run_number"]).start
    attributes = {"key": 5, "path": 3, "shape": (), "dtype": UINT32}
    return x.graph.handle(x.graph.append(OPS["random_bits"], [number], attributes).start)


# ---------------------------------------------------------------- switch

VECTOR: Types = (((symbol("n"),), FLOAT64),)


def choice(graph: Graph, index: Any, x: Any) -> Any:
    functions = (
        body(graph, "double", VECTOR, lambda a: a * 2.0),
        body(graph, "negate", VECTOR, lambda a: -a),
        body(graph, "square", VECTOR, lambda a: a * a),
    )
    return OPS["switch"](index, x, functions=functions)


@pytest.mark.parametrize("rows", [3, symbol("rows")])
@pytest.mark.parametrize(("index", "factor"), [(-7, 2), (0, 2), (1, -1), (2, 3), (9, 3)])
def test_switch_gives_what_one_branch_gives(rows: Any, index: int, factor: float) -> None:
    graph = Graph()
    which, x = source(graph, (), INT64), source(graph, (rows,))
    y = choice(graph, which, x)
    assert y.type == TensorType(FLOAT64, (rows,))
    (found,) = run(graph, [y], {which: index, x: [3.0, 3.0, 3.0]})
    assert (found == factor * 3.0).all()


@pytest.mark.parametrize("chosen", [False, True])
def test_a_bool_chooses_the_second_of_two(chosen: bool) -> None:
    graph = Graph()
    which, x = source(graph, (), BOOL), source(graph, (2,))
    functions = tuple(
        body(graph, name, VECTOR, lambda a, k=k: a * k) for name, k in (("no", 2.0), ("yes", 3.0))
    )
    y = OPS["switch"](which, x, functions=functions)
    (found,) = run(graph, [y], {which: chosen, x: [1.0, 1.0]})
    assert (found == (3.0 if chosen else 2.0)).all()


def test_only_the_branch_that_is_taken_runs() -> None:
    graph = Graph()
    which, x = source(graph, (), INT64), source(graph, (2,))

    def fail(a: Any) -> Any:
        return OPS["check"](a.graph.constant(np.array(False)), a, message="taken")

    functions = (
        body(graph, "fails", VECTOR, fail),
        body(graph, "works", VECTOR, lambda a: a + 1.0),
    )
    y = OPS["switch"](which, x, functions=functions)
    (found,) = run(graph, [y], {which: 1, x: [1.0, 1.0]})
    assert (found == 2.0).all()
    with pytest.raises(ExecutionError, match="taken"):
        run(graph, [y], {which: 0, x: [1.0, 1.0]})


def test_branches_give_one_type() -> None:
    graph = Graph()
    which, x = source(graph, (), INT64), source(graph, (3,))
    same = body(graph, "same", VECTOR, lambda a: a)
    for name, other in (
        ("sum", lambda a: OPS["sum"](a, axis=(0,), keepdims=False)),
        ("narrow", lambda a: a.astype(FLOAT32)),
        ("two", lambda a: (a, a)),
    ):
        wrong = body(graph, name, VECTOR, other)
        with pytest.raises(ShapeError, match="different types") as caught:
            OPS["switch"](which, x, functions=(same, wrong))
        assert "'same': float64[3]" in str(caught.value.expected)
        assert name in str(caught.value.found)


@pytest.mark.parametrize(("shape", "dtype"), [((1,), INT64), ((), FLOAT64)])
def test_a_choice_is_a_scalar(shape: tuple[int, ...], dtype: Any) -> None:
    graph = Graph()
    with pytest.raises(DTypeError, match="no scalar"):
        choice(graph, source(graph, shape, dtype), source(graph, (3,)))


@pytest.mark.parametrize("dtype", [BOOL, INT64])
def test_the_number_of_branches_fits(dtype: Any) -> None:
    graph = Graph()
    with pytest.raises(ArgumentError, match="number of branches"):
        OPS["switch"](source(graph, (), dtype), source(graph, (3,)), functions=())


# ---------------------------------------------------------------- while

COUNTED: Types = (((2,), FLOAT64), ((), INT64), ((), INT64))


def powers(graph: Graph, x: Any, count: Any) -> Any:
    """x times 2, `count` times; how often; the number of iterations."""
    zero = graph.handle(graph.scalar(0, INT64))
    return OPS["while_loop"](
        x, zero, count, carried=2,
        condition=body(graph, "less", COUNTED, lambda a, k, n: k < n),
        body=body(graph, "grow", COUNTED, lambda a, k, n: (a * 2.0, k + 1)),
    )  # fmt: skip


@pytest.mark.parametrize("count", [-1, 0, 1, 7])
def test_a_loop_goes_on_while_its_condition_holds(count: int) -> None:
    graph = Graph()
    x, n = source(graph, (2,)), source(graph, (), INT64)
    a, k, trips = powers(graph, x, n)
    assert trips.type == TensorType(INT64, ())
    found = run(graph, [a, k, trips], {x: [1.0, 3.0], n: count})
    times = max(count, 0)
    assert (found[0] == np.array([1.0, 3.0]) * 2.0**times).all()
    assert found[1] == found[2] == times


def test_the_types_of_a_carry_do_not_change() -> None:
    graph = Graph()
    x = source(graph, (2,))
    types: Types = (((2,), FLOAT64),)
    condition = body(graph, "ever", types, lambda a: OPS["all"](a < 1.0, axis=(0,), keepdims=False))
    for name, step, error, found in (
        ("narrow", lambda a: a.astype(FLOAT32), DTypeError, "float32[2]"),
        ("sum", lambda a: OPS["sum"](a, axis=(0,), keepdims=True), ShapeError, "float64[1]"),
    ):
        wrong = body(graph, name, types, step)
        with pytest.raises(error, match="changes the type") as caught:
            OPS["while_loop"](x, condition=condition, body=wrong, carried=1)
        assert caught.value.expected == "float64[2], as it begins"
        assert caught.value.found == found
    two = body(graph, "two", types, lambda a: (a, a))
    with pytest.raises(ShapeError, match="next carry"):
        OPS["while_loop"](x, condition=condition, body=two, carried=1)
    with pytest.raises(DTypeError, match="single truth value"):
        OPS["while_loop"](
            x, condition=body(graph, "many", types, lambda a: a < 1.0), carried=1,
            body=body(graph, "half", types, lambda a: a / 2.0),
        )  # fmt: skip


@pytest.mark.parametrize("carried", [-1, 2, 1 << 40])
def test_a_carry_is_among_the_operands(carried: int) -> None:
    graph = Graph()
    types: Types = (((), FLOAT64),)
    with pytest.raises(ArgumentError, match="carried is out of range"):
        OPS["while_loop"](
            source(graph, ()), carried=carried,
            condition=body(graph, "less", types, lambda a: a < 1.0),
            body=body(graph, "half", types, lambda a: a / 2.0),
        )  # fmt: skip


# ---------------------------------------------------------------- scan

STEP: Types = (((2,), FLOAT64), ((2,), FLOAT64), ((), FLOAT64))


def sums(graph: Graph, begin: Any, xs: Any, scale: Any, length: Any, **more: Any) -> Any:
    step = body(graph, "step", STEP, lambda c, x, s: (c + x * s, c))
    attributes = {"body": step, "carried": 1, "sequences": 1, "length": length, **more}
    return OPS["scan"](begin, xs, scale, **attributes)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 5])
@pytest.mark.parametrize("symbolic", [False, True])
def test_a_scan_carries_and_stacks(length: int, reverse: bool, symbolic: bool) -> None:
    graph = Graph()
    size: Any = symbol("n") if symbolic else length
    begin, xs, scale = source(graph, (2,)), source(graph, (size, 2)), source(graph, ())
    last, before = sums(graph, begin, xs, scale, size, reverse=reverse)
    assert before.type == TensorType(FLOAT64, (size, 2))
    rows = np.arange(2.0 * length).reshape(length, 2)
    found = run(graph, [last, before], {begin: [1.0, 2.0], xs: rows, scale: 3.0})
    carry, stacked = np.array([1.0, 2.0]), np.empty((length, 2))
    for k in range(length)[:: -1 if reverse else 1]:
        stacked[k] = carry
        carry = carry + rows[k] * 3.0
    assert (found[0] == carry).all()
    assert (found[1] == stacked).all()


def test_a_scan_checks_its_operands() -> None:
    graph = Graph()
    begin, scale = source(graph, (2,)), source(graph, ())
    with pytest.raises(ShapeError, match="another length"):
        sums(graph, begin, source(graph, (3, 2)), scale, 4)
    graph = Graph()
    with pytest.raises(ArgumentError, match="length is negative"):
        sums(graph, source(graph, (2,)), source(graph, (3, 2)), source(graph, ()), -1)
    with pytest.raises(ArgumentError, match="sequences is out of range"):
        OPS["scan"](source(graph, (2,)), body=FunctionRef("step"), carried=1, sequences=1, length=1)
    none = body(graph, "none", (((), FLOAT64),), lambda a: ())
    with pytest.raises(ShapeError, match="next carry"):
        OPS["scan"](source(graph, ()), body=none, carried=1, sequences=0, length=1)
    wide = body(
        graph, "wide", (((2,), FLOAT64),), lambda a: OPS["sum"](a, axis=(0,), keepdims=True)
    )
    with pytest.raises(ShapeError, match="changes the type"):
        OPS["scan"](source(graph, (2,)), body=wide, carried=1, sequences=0, length=1)


# ---------------------------------------------------------------- random numbers, nesting


def test_what_is_random_in_a_loop_is_told_apart_by_path_and_iteration() -> None:
    graph = Graph()
    x = source(graph, ())
    draw = body(graph, "draw", (((), FLOAT64),), lambda a: (a, bits(a)))
    attributes = {"body": draw, "carried": 1, "sequences": 0, "length": 3, "path": 7}
    drawn = OPS["scan"](x, **attributes)[1]
    backwards = OPS["scan"](x, **attributes, reverse=True)[1]
    other = OPS["scan"](x, **{**attributes, "path": 8})[1]
    found = run(graph, [drawn, backwards, other], {x: 0.0}, number=4)
    for k in range(3):
        path = inner_path(inner_path(7, k), 3)
        given = {"key": 5, "path": path, "shape": (), "dtype": UINT32}
        (expected,) = meaning(OPS["random_bits"], [np.array(4, np.uint64)], given)
        assert found[0][k] == expected
    assert (found[0] == found[1]).all()
    assert not (found[0] == found[2]).any()


def test_a_path_that_is_computed_draws_the_same() -> None:
    given = {"key": 9, "shape": (3,), "dtype": UINT32}
    number, path = np.array(2, np.uint64), np.array(11, np.uint32)
    (inner,) = meaning(OPS["path_within"], [path], {"path": 5})
    assert int(inner) == inner_path(11, 5)
    (found,) = meaning(OPS["random_bits_at"], [number, inner], given)
    (expected,) = meaning(OPS["random_bits"], [number], {**given, "path": int(inner)})
    assert (found == expected).all()


def test_loops_stand_in_loops_and_branches_without_recursion() -> None:
    graph, depth = Graph(), 300
    types: Types = (((), FLOAT64),)
    body(graph, "f0", types, lambda a: a + 1.0)
    for k in range(depth):
        inner = {"body": FunctionRef(f"f{k}"), "carried": 1, "sequences": 0, "length": 1}
        body(graph, f"f{k + 1}", types, lambda a, inner=inner: OPS["scan"](a, **inner))
    x = source(graph, ())
    last = {"body": FunctionRef(f"f{depth}"), "carried": 1, "sequences": 0, "length": 2}
    (found,) = run(graph, [OPS["scan"](x, **last)], {x: 1.0})
    assert found == 3.0


def test_a_batch_of_choices_is_unrolled() -> None:
    graph = Graph()
    which, x = source(graph, (3,), INT64), source(graph, (3, 2))
    functions = (
        body(graph, "double", VECTOR, lambda a: a * 2.0),
        body(graph, "negate", VECTOR, lambda a: -a),
    )
    y = batched(OPS["switch"], [which, x], (True, True), {"functions": functions})
    (found,) = run(graph, [y], {which: [0, 1, 0], x: np.ones((3, 2))})
    assert (found == np.array([[2.0], [-1.0], [2.0]])).all()


# ---------------------------------------------------------------- files


def loops() -> Graph:
    graph = Graph()
    which, x, n = source(graph, (), INT64), source(graph, (2,)), source(graph, (), INT64)
    choice(graph, which, x)
    powers(graph, x, n)
    sums(graph, x, source(graph, (symbol("rows"), 2)), source(graph, ()), symbol("rows"))
    return graph


def test_loops_survive_files_and_text() -> None:
    graph = loops()
    for again in (decode(encode(graph)), from_text(to_text(graph))):
        assert to_text(again) == to_text(graph)
        assert encode(again) == encode(graph)
    assert 'functions=(&"double", &"negate", &"square")' in to_text(graph)


def application(message: GraphMessage, op: str) -> dict[str, Any]:
    """The values of the attributes of an op, by name."""
    names = list(message.strings)
    (found,) = [a for a in message.applications if names[a.op] == op]
    return {names[a.name]: a.value for a in found.attributes}


DAMAGE: dict[str, Callable[[GraphMessage], Any]] = {
    "a branch that is not there": lambda m: setattr(
        application(m, "switch")["functions"].list.values[0], "function", 99
    ),
    "a branch that is a number": lambda m: setattr(
        application(m, "switch")["functions"].list.values[0], "integer", 0
    ),
    "no branches": lambda m: application(m, "switch")["functions"].list.ClearField("values"),
    "a carry beyond the operands": lambda m: setattr(
        application(m, "while_loop")["carried"], "integer", 1 << 40
    ),
    "a condition that is a step": lambda m: setattr(
        application(m, "while_loop")["condition"], "function", 4
    ),
    "a negative carry": lambda m: setattr(application(m, "scan")["carried"], "integer", -1),
    "a length that is none": lambda m: setattr(application(m, "scan")["length"], "integer", -1),
    "another length": lambda m: setattr(application(m, "scan")["length"], "integer", 7),
    "a huge number of sequences": lambda m: setattr(
        application(m, "scan")["sequences"], "integer", (1 << 63) - 1
    ),
    "a path of 33 bits": lambda m: setattr(application(m, "scan")["path"], "integer", 1 << 32),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files_are_refused(damage: str) -> None:
    file = File.FromString(encode(loops()))
    message = GraphMessage.FromString(file.graph)
    DAMAGE[damage](message)
    with pytest.raises(FormatError):
        decode(framed(message.SerializeToString(), file.node_count))


def test_a_body_has_only_bodies_before_it() -> None:
    text = to_text(loops())
    with pytest.raises(FormatError, match="no function 'later'"):
        from_text(text.replace('&"grow"', '&"later"'))
