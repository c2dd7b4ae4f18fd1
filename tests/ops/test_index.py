"""Positions that do not exist, repeated positions, and mistakes with indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients
from staticad_schema.errors import ArgumentError, DTypeError, ExecutionError, ShapeError
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, INT64, Array, TensorType
from tests.ops.arrays import real
from tests.ops.running import Applied
from tests.ops.samples import Sample


@pytest.mark.parametrize("index", [3, -4])
@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("take", {"axis": 0}),
        ("take_along_axis", {"axis": 0}),
        ("gather", {"axes": (0,)}),
        ("scatter_set", {"axes": (0,)}),
        ("scatter_add", {"axes": (0,)}),
    ],
)
def test_an_index_out_of_range_is_an_error(
    name: str, attributes: dict[str, Any], index: int
) -> None:
    x, indices = np.zeros(3), np.array([0, index])
    arrays = (x, np.zeros(2), indices) if name.startswith("scatter") else (x, indices)
    graph = Applied(OPS[name], Sample(arrays, attributes))
    with pytest.raises(ExecutionError, match="out of range") as caught:
        graph.run(graph.outputs, arrays)
    assert caught.value.expected == "indices from -3 to 2 on axis 0"
    assert caught.value.found == str(index)


def test_there_is_no_index_on_an_empty_axis() -> None:
    graph = Applied(OPS["take"], Sample((np.zeros(0), np.array([0])), {"axis": 0}))
    with pytest.raises(ExecutionError, match="axis 0 has size 0"):
        graph.run(graph.outputs, (np.zeros(0), np.array([0])))


def test_the_last_update_in_row_major_order_stays_however_the_indices_lie_in_memory() -> None:
    indices = np.asfortranarray(np.zeros((2, 3), np.int64))
    updates = np.arange(6.0).reshape(2, 3)
    found = OPS["scatter_set"].numpy
    assert found is not None
    assert found(np.zeros(1), updates, indices, axes=(0,)) == [5.0]


def _scatter_gradients(updates: Array, indices: Array) -> tuple[Array, Array]:
    x = real(1, 2, 3)
    arrays = (x, updates, indices)
    graph = Applied(OPS["scatter_set"], Sample(arrays, {"axes": (0,)}))
    weights = graph.graph.constant(real(10, 20, 30))
    found = gradients(OPS["multiply"](graph.outputs[0], weights), graph.inputs[:2])
    dx, du = graph.run(found, arrays)
    return dx, du


def test_a_cotangent_goes_to_the_last_writer_only() -> None:
    dx, du = _scatter_gradients(real(7, 8, 9), np.array([1, 0, 1]))
    np.testing.assert_array_equal(dx, [0, 0, 30])
    np.testing.assert_array_equal(du, [0, 10, 20])


def test_negative_and_positive_indices_of_one_place_are_the_same_place() -> None:
    dx, du = _scatter_gradients(real(7, 8), np.array([2, -1]))
    np.testing.assert_array_equal(dx, [10, 20, 0])
    np.testing.assert_array_equal(du, [0, 30])


@pytest.mark.parametrize(
    ("name", "shapes", "attributes", "error", "message"),
    [
        ("take", [(3,), (2,)], {"axis": 1}, ShapeError, "no axis 1"),
        ("take", [(3,), (2,)], {"axis": -1}, ShapeError, "counted from the front"),
        ("take_along_axis", [(3, 2), (2,)], {"axis": 0}, ShapeError, "rank 2"),
        ("take_along_axis", [(3, 2), (4, 3)], {"axis": 0}, ShapeError, "broadcast"),
        ("gather", [(3, 3), (2,)], {"axes": (0, 1)}, ArgumentError, "2 for axes"),
        ("gather", [(3, 3), (2,), (3,)], {"axes": (0, 1)}, ShapeError, "broadcast"),
        ("gather", [(3, 3), (2,), (2,)], {"axes": (0, 0)}, ShapeError, "distinct"),
        ("gather", [(3, 3)], {"axes": ()}, ArgumentError, "at least one"),
    ],
)
def test_mistakes_are_named(
    name: str,
    shapes: list[tuple[int, ...]],
    attributes: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    x, *indices = shapes
    operands = [TensorType(FLOAT32, x), *(TensorType(INT64, i) for i in indices)]
    with pytest.raises(error, match=message):
        OPS[name].infer(*operands, **attributes)


def test_updates_of_another_shape_are_refused() -> None:
    x, updates = TensorType(FLOAT32, (3, 2)), TensorType(FLOAT32, (4, 3))
    with pytest.raises(ShapeError, match=r"updates.*\n.*\(4, 2\)"):
        OPS["scatter_add"].infer(x, updates, TensorType(INT64, (4,)), axes=(0,))


@pytest.mark.parametrize("name", ["gather", "scatter_set", "scatter_add"])
def test_operands_that_are_missing_are_noticed(name: str) -> None:
    with pytest.raises(ArgumentError, match="wrong number of operands"):
        Graph().append(OPS[name], (), {"axes": (0,)})


def test_indices_are_integers() -> None:
    x = TensorType(FLOAT32, (3,))
    with pytest.raises(DTypeError, match="integer"):
        OPS["take"].infer(x, x, axis=0)
    with pytest.raises(DTypeError, match="where"):
        OPS["take"].infer(x, TensorType(np.dtype(bool), (3,)), axis=0)
