"""Snapshots are immutable; new values lie in one arena a dtype, in order of creation."""

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.pool import BlockPool
from staticad_executor.residence import hosted
from staticad_executor.state import ALIGNMENT, Layout, Snapshot, Written, fits
from staticad_schema.declarations import VariableSpec
from staticad_schema.dims import symbol
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, FLOAT64, INT64, TensorType

F32 = np.float32


def test_a_snapshot_is_read_only_and_grows_by_copies() -> None:
    empty = Snapshot()
    one = empty.with_arrays({"v": np.zeros(3)})
    two = one.after_run(Written({"v": np.ones(3)}, {}), drew=True)
    assert dict(empty.arrays) == {}
    assert one.arrays["v"].tolist() == [0, 0, 0]
    assert two.arrays["v"].tolist() == [1, 1, 1]
    assert (one.run_number, one.step, two.run_number, two.step) == (0, 0, 1, 1)
    assert two.after_run(Written({}, {}), drew=False) == two
    with pytest.raises(ValueError, match="read-only"):
        two.arrays["v"][0] = 5
    with pytest.raises(TypeError):
        two.arrays["w"] = np.zeros(3)  # type: ignore[index]
    copy = two.copy()
    assert not np.shares_memory(copy.arrays["v"], two.arrays["v"])


def test_an_arena_holds_one_dtype_in_order_of_creation() -> None:
    pool = BlockPool()
    names = ["b", "a", "count", "c"]
    types = [
        TensorType(FLOAT32, (500, 3)),
        TensorType(FLOAT32, (7,)),
        TensorType(INT64, ()),
        TensorType(FLOAT32, (0, 4)),
    ]
    layout = Layout(names, types, {"a": 0, "b": 1, "count": 2, "c": 3})
    arrays = [hosted(array) for array in layout.allocate(pool)]
    assert [(a.dtype, a.shape) for a in arrays] == [(t.dtype, t.shape) for t in types]
    b, a, count, c = arrays
    assert b.ctypes.data - a.ctypes.data == ALIGNMENT
    assert all(x.flags.c_contiguous and x.flags.writeable for x in arrays)
    for i, x in enumerate(arrays):
        x[...] = i
    for i, x in enumerate(arrays):
        assert (x == i).all()
    again = layout.allocate(pool)
    assert not np.shares_memory(hosted(again[0]), b)
    assert c.size == 0
    assert count == 2


def test_types_fit_where_known_sizes_agree() -> None:
    n = symbol("n")
    declared = TensorType(FLOAT32, (n, 3))
    assert fits(declared, TensorType(FLOAT32, (5, 3)))
    assert fits(declared, TensorType(FLOAT32, (5, symbol("m"))))
    assert not fits(declared, TensorType(FLOAT32, (5, 4)))
    assert not fits(declared, TensorType(FLOAT32, (5,)))
    assert not fits(declared, TensorType(FLOAT64, (5, 3)))


def test_old_values_return_to_the_pool() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(5000, F32), name="v")
        grown = sad.group(v.assign_add(1))
    session = sad.Session(graph)
    session.run(grown)
    in_use = session.memory_in_use()
    for _ in range(10):
        session.run(grown)
    assert session.memory_in_use() == in_use
    assert session.trim() > 0


def test_initial_values_do_not_depend_on_who_asks_first() -> None:
    values = []
    for order in (["a", "b"], ["b", "a"]):
        with sad.Graph(seed=9) as graph:
            sad.variable(sad.random.normal((4,)), name="a")
            sad.variable(sad.random.normal((4,)), name="b")
        session = sad.Session(graph)
        # Runs that drew do not count for them either.
        values.append({name: session.variables[name].tolist() for name in order})
    assert values[0] == values[1]


def declare(graph: Graph, name: str, initial: int | None = None) -> int:
    """A scalar variable, by default its own initial value, as no builder makes it."""
    attributes = {"variable": name, "dtype": FLOAT32, "shape": ()}
    node = graph.append(OPS["variable"], (), attributes, name=name)
    value = node.start if initial is None else initial
    graph.add_variable(VariableSpec(name, node.types[0], value, True, len(graph.nodes) - 1))
    return node.start


def test_initial_values_that_cannot_be_computed_are_errors() -> None:
    graph = Graph()
    x = graph.append(OPS["placeholder"], (), {"dtype": FLOAT32, "shape": ()}, name="x").start
    declare(graph, "fed", x)
    a = declare(graph, "a")
    declare(graph, "b", a)
    session = sad.Session(graph)
    with pytest.raises(sad.PlanError, match="'x'"):
        session.variables["fed"]
    for name in "ab":
        with pytest.raises(sad.PlanError, match="initialised by each other"):
            session.variables[name]
    session.variables["a"] = 3
    # What a is now is not what b begins with.
    with pytest.raises(sad.PlanError, match="initialised by each other"):
        session.variables["b"]


def test_initial_values_do_not_depend_on_what_others_have_become() -> None:
    with sad.Graph(seed=9) as graph:
        a = sad.variable(np.float32(1), name="a")
        sad.variable(a * 10, name="b")
        grow = a.assign_add(1.0)
    session, other = sad.Session(graph), sad.Session(graph)
    session.run(grow)
    other.variables["a"] = 7
    for each in (session, other, sad.Session(graph)):
        assert each.variables["b"] == 10
    assert session.variables["a"] == 2
    assert other.variables["a"] == 7


def test_counters_go_round() -> None:
    with sad.Graph(seed=9) as graph:
        v = sad.variable(np.float32(1), name="v")
        step = v.assign(sad.random.uniform(()))
    session = sad.Session(graph)
    last = (1 << 64) - 1
    session.restore(Snapshot(session.snapshot().arrays, last, last))
    session.run(step)
    held = session.snapshot()
    assert (held.run_number, held.step) == (0, 0)
    assert session.run(step) == sad.Session(graph).run(step)


def test_keys_of_variables() -> None:
    with sad.Graph() as graph:
        v = sad.variable(1.0, name="v")
        done = sad.group(v.assign(2.0), name="done")
    variables = sad.Session(graph).variables
    assert variables[v] == variables["v"] == 1
    wrong: list[tuple[Any, str]] = [
        (3, "names no variable"), (done, "names no variable"), ("w", "'w'"),
    ]  # fmt: skip
    for key, words in wrong:
        with pytest.raises(sad.PlanError, match=words):
            variables[key]
        with pytest.raises(sad.PlanError, match=words):
            variables[key] = 1
        assert key not in variables
