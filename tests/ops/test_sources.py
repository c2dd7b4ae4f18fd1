"""Sources and writes: what they declare, and what they give in a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients
from staticad_executor.interpret import interpret
from staticad_schema.declarations import VariableSpec
from staticad_schema.dims import symbol
from staticad_schema.errors import DTypeError, GradientError, GraphError, PlanError
from staticad_schema.evaluate import evaluate
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, FLOAT64, INT64, UINT64, TensorType

DECLARING: dict[str, dict[str, Any]] = {
    "placeholder": {},
    "parameter": {"index": 0},
    "variable": {"variable": "v"},
    "read_variable": {"variable": "v"},
}


@pytest.mark.parametrize("name", sorted(DECLARING))
def test_sources_have_the_declared_type(name: str) -> None:
    shape = (symbol("batch"), 0, 3)
    found = OPS[name].infer(**DECLARING[name], dtype=FLOAT32, shape=shape)
    assert found == TensorType(FLOAT32, shape)


@pytest.mark.parametrize("name", sorted(DECLARING))
@pytest.mark.parametrize(
    ("dtype", "shape", "part"),
    [
        (np.dtype("U3"), (), "a dtype that graphs do not hold"),
        (np.dtype(">f4"), (), "a dtype that graphs do not hold"),
        (FLOAT32, (2, -1), "not a size"),
        (FLOAT32, (2.0,), "not a size"),
        (FLOAT32, (True,), "not a size"),
    ],
)
def test_declarations_are_checked(name: str, dtype: Any, shape: Any, part: str) -> None:
    with pytest.raises(GraphError, match=part):
        OPS[name].infer(**DECLARING[name], dtype=dtype, shape=shape)


@pytest.mark.parametrize("name", ["placeholder", "parameter"])
def test_what_is_fed_has_no_value_of_its_own(name: str) -> None:
    attributes = {**DECLARING[name], "dtype": FLOAT32, "shape": ()}
    with pytest.raises(PlanError, match="not fed"):
        evaluate(OPS[name], (), attributes, (TensorType(FLOAT32, ()),))


def test_iota_counts_integers_and_floats_only() -> None:
    with pytest.raises(DTypeError, match="real dtype"):
        OPS["iota"].infer(shape=(2,), axis=0, dtype=np.dtype(np.complex64))
    with pytest.raises(GraphError, match="axis"):
        OPS["iota"].infer(shape=(2,), axis=1, dtype=INT64)
    with pytest.raises(GraphError, match="axis"):
        OPS["iota"].infer(shape=(2,), axis=-1, dtype=INT64)


def state_graph() -> tuple[Graph, Any]:
    """A graph with a variable v of float64[2], and the handle of its value at the start."""
    graph = Graph()
    initial = graph.constant(np.array([1.0, 2.0]))
    attributes = {"variable": "v", "dtype": FLOAT64, "shape": (2,)}
    node = graph.append(OPS["variable"], (), attributes)
    spec = VariableSpec("v", node.types[0], initial.id, True, len(graph.nodes) - 1)
    graph.add_variable(spec)
    return graph, graph.handle(node.start)


def test_writes_give_the_new_value_and_reads_the_old() -> None:
    graph, v = state_graph()
    x = graph.constant(np.array([10.0, 20.0]))
    added = OPS["assign_add"](x, variable="v")
    taken = OPS["assign_sub"](v * 0.5, variable="v")
    behind = graph.append(
        OPS["read_variable"],
        (),
        {"variable": "v", "dtype": FLOAT64, "shape": (2,)},
        after=[taken.node_index],
    )
    result = interpret(
        graph, [v.id, added.id, taken.id, behind.start], (), {}, {"v": np.array([1.0, 2.0])}, 0
    )
    start, first, second, last = result.values
    assert (start == [1.0, 2.0]).all()
    assert (first == [11.0, 22.0]).all()
    # Writes apply in creation order; their operands see the start of the run.
    assert (second == [10.5, 21.0]).all()
    assert (last == second).all()
    assert (result.writes["v"] == second).all()


def test_run_number_is_that_of_the_run() -> None:
    graph = Graph()
    node = graph.append(OPS["run_number"])
    assert node.types == (TensorType(UINT64, ()),)
    assert interpret(graph, [node.start], (), {}, {}, 2**63 + 1).values[0] == 2**63 + 1


def test_assign_hands_its_cotangent_on() -> None:
    graph, v = state_graph()
    y = OPS["assign"](v * v, variable="v")
    (dv,) = gradients(y, v)
    result = interpret(graph, [dv.id], (), {}, {"v": np.array([1.0, 2.0])}, 0)
    assert (result.values[0] == [2.0, 4.0]).all()


@pytest.mark.parametrize("name", ["assign_add", "assign_sub"])
def test_updates_have_no_derivative(name: str) -> None:
    _, v = state_graph()
    with pytest.raises(GradientError, match="old value"):
        gradients(OPS[name](v * v, variable="v"), v)


@pytest.mark.parametrize("name", ["assign_add", "assign_sub"])
def test_only_numbers_are_added_to_variables(name: str) -> None:
    graph = Graph()
    x = graph.constant(np.array([True]))
    with pytest.raises(DTypeError, match="admit"):
        OPS[name](x, variable="v")
