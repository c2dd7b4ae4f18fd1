"""Reductions where there is nothing to reduce, and their derivatives at special points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients
from staticad_schema import dims
from staticad_schema.errors import DTypeError, ExecutionError, PlanError, ShapeError
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.types import BOOL, FLOAT32, FLOAT64, Array, TensorType
from tests.ops.arrays import real
from tests.ops.running import Applied
from tests.ops.samples import Sample

INF, NAN = float("inf"), float("nan")
FIRST = {"axis": (0,), "keepdims": False}


def _slope(name: str, x: Array, shape: dims.Shape | None = None) -> Array:
    graph, out = _applied(name, x, shape)
    (dx,) = gradients(out, graph.inputs)
    return graph.run([dx], [x])[0]


def _applied(name: str, x: Array, shape: dims.Shape | None = None) -> tuple[Applied, Any]:
    types = None if shape is None else (TensorType(x.dtype, shape),)
    graph = Applied(OPS[name], Sample((x,), FIRST), types)
    return graph, graph.outputs[0]


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("shape", [(0,), (0, 10), (0, 0)])
def test_an_extremum_of_nothing_is_an_error_when_built(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="no identity"):
        OPS[name].infer(TensorType(FLOAT32, shape), **FIRST)


@pytest.mark.parametrize("name", ["max", "min"])
def test_an_extremum_of_nothing_is_an_error_when_sizes_are_bound(name: str) -> None:
    graph, out = _applied(name, np.zeros(1), (dims.symbol("n"),))
    with pytest.raises((ShapeError, PlanError, ExecutionError), match="no identity"):
        graph.run([out], [np.zeros(0)])
    assert graph.run([out], [np.ones(1)])[0] == 1


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_the_place_of_an_extremum_of_nothing_is_an_error(name: str) -> None:
    with pytest.raises(ShapeError, match="no identity"):
        OPS[name].infer(TensorType(FLOAT32, (2, 0)), axis=1, keepdims=False)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "sum_to"])
def test_bool_is_no_number(name: str) -> None:
    attributes: dict[str, Any] = {"shape": ()} if name == "sum_to" else FIRST
    with pytest.raises(DTypeError, match="bool"):
        OPS[name].infer(TensorType(BOOL, (2,)), **attributes)


@pytest.mark.parametrize("axis", [(1, 0), (0, 0), (-1,), (2,)])
def test_axes_must_be_normalised(axis: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError):
        OPS["sum"].infer(TensorType(FLOAT32, (2, 3)), axis=axis, keepdims=False)


@pytest.mark.parametrize("shape", [(2,), (3, 3), (1, 2, 3)])
def test_sum_to_a_shape_that_did_not_broadcast_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ShapeError, match="broadcast"):
        OPS["sum_to"].infer(TensorType(FLOAT32, (2, 3)), shape=shape)


@pytest.mark.parametrize("size", [1, 3])
def test_sum_to_a_size_that_turns_out_to_be_one_or_not(size: int) -> None:
    graph = Graph()

    def source(*shape: dims.Size) -> Any:
        return graph.handle(
            graph.append(OPS["placeholder"], (), {"dtype": FLOAT64, "shape": shape}).start
        )

    x, y = source(2, 3), source(dims.symbol("n"))
    product = OPS["multiply"](x, y)
    (dy,) = gradients(product, y)
    assert dy.type == y.type
    applied = Applied.__new__(Applied)
    applied.graph, applied.inputs = graph, [x, y]
    found = applied.run([dy], [np.arange(6.0).reshape(2, 3), np.ones(size)])[0]
    np.testing.assert_array_equal(found, [15.0] if size == 1 else [3.0, 5.0, 7.0])


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("max", real(0.6, 0.6, 0.3), real(0.5, 0.5, 0)),
        ("max", real(1, 2, 2, 2), real(0, 1 / 3, 1 / 3, 1 / 3)),
        ("min", real(1, 1, 2), real(0.5, 0.5, 0)),
        ("max", real(1, NAN, 2), real(NAN, NAN, NAN)),
        ("max", real(-INF, -INF), real(0.5, 0.5)),
        ("logsumexp", real(-INF, -INF), real(0, 0)),
        ("logsumexp", real(-INF, 0), real(0, 1)),
        ("logsumexp", real(1000, 1000), real(0.5, 0.5)),
        ("prod", real(2, 0, 3, 4), real(0, 24, 0, 0)),
        ("prod", real(0, 0, 3), real(0, 0, 0)),
        ("prod", np.zeros((0,)), np.zeros((0,))),
    ],
)
@pytest.mark.parametrize("symbolic", [False, True])
def test_gradients_at_special_points(name: str, x: Array, expected: Array, symbolic: bool) -> None:
    shape = (dims.symbol("n"),) if symbolic else None
    np.testing.assert_array_equal(_slope(name, x, shape), expected)


def test_the_gradient_of_a_half_float_product_does_not_overflow_inside() -> None:
    # 300 * 300 leaves float16, 300 * 300 / 1000 does not.
    x = real(300, 300, 0.001, dtype="float16")
    np.testing.assert_allclose(_slope("prod", x).astype(np.float64), [0.3, 0.3, INF], rtol=2e-3)


@pytest.mark.parametrize("symbolic", [False, True])
def test_the_hessian_of_a_product_is_exact_with_zeros(symbolic: bool) -> None:
    x = real(0, 0, 3)
    graph, out = _applied("prod", x, (dims.symbol("n"),) if symbolic else None)
    (dx,) = gradients(out, graph.inputs)
    rows = []
    for k in range(3):
        part = OPS["slice"](dx, slices=((k, k + 1, 1),))
        (row,) = gradients(part, graph.inputs)
        rows.append(graph.run([row], [x])[0])
    np.testing.assert_array_equal(rows, [[0, 3, 0], [3, 0, 0], [0, 0, 0]])


def test_an_all_masked_row_stays_finite_to_second_order() -> None:
    x = real(-INF, -INF)
    graph, out = _applied("logsumexp", x)
    (dx,) = gradients(out, graph.inputs)
    (ddx,) = gradients(dx, graph.inputs)
    np.testing.assert_array_equal(graph.run([ddx], [x])[0], [0, 0])
