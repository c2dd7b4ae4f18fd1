"""Ops that find sizes: their meanings, and that they say so where they are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from staticad_schema import dims
from staticad_schema.batching import batched
from staticad_schema.errors import ExecutionError, GraphError, ShapeError
from staticad_schema.graph import Graph
from staticad_schema.op import FINDERS, OPS, Constant
from staticad_schema.types import KINDS, NAMES

from .running import meaning

N = dims.symbol("n")
UNIQUE = {"count": N, "equal_nan": False}


def test_the_ops_that_find_sizes() -> None:
    assert {"nonzero", "repeated_positions", "unique"} == FINDERS
    assert all(isinstance(OPS[name].grad, Constant) for name in FINDERS)


@pytest.mark.parametrize("dtype", NAMES)
def test_nonzero_of_every_dtype(dtype: str) -> None:
    x = np.array([[0, 1, 0], [1, 0, 1]], NAMES[dtype])
    rows, columns = meaning(OPS["nonzero"], (x,), {"count": N})
    assert rows.tolist() == [0, 1, 1]
    assert columns.tolist() == [1, 0, 2]
    assert rows.dtype == columns.dtype == np.int64


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_nan_is_not_zero_and_minus_zero_is(dtype: str) -> None:
    x = np.array([-0.0, np.nan, 0.0, np.inf], NAMES[dtype])
    (found,) = meaning(OPS["nonzero"], (x,), {"count": N})
    assert found.tolist() == [1, 3]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (0, 2, 2)])
def test_nonzero_of_small_sizes(shape: tuple[int, ...]) -> None:
    found = meaning(OPS["nonzero"], (np.ones(shape, bool),), {"count": N})
    assert len(found) == len(shape)
    assert all(len(axis) == np.prod(shape) for axis in found)


def test_nonzero_of_a_scalar_is_refused() -> None:
    with pytest.raises(ShapeError, match="a scalar has no positions"):
        meaning(OPS["nonzero"], (np.ones((), bool),), {"count": N})


@pytest.mark.parametrize("dtype", [d for d in NAMES if KINDS[NAMES[d]] in ("int", "uint")])
def test_repeated_positions(dtype: str) -> None:
    counts = np.array([2, 0, 1, 3], NAMES[dtype])
    (found,) = meaning(OPS["repeated_positions"], (counts,), {"total": N})
    assert found.tolist() == [0, 0, 2, 3, 3, 3]
    (found,) = meaning(OPS["repeated_positions"], (counts[:0],), {"total": N})
    assert found.tolist() == []


def test_counts_are_not_negative_and_a_vector() -> None:
    with pytest.raises(ExecutionError, match="negative"):
        meaning(OPS["repeated_positions"], (np.array([1, -1]),), {"total": N})
    with pytest.raises(ShapeError, match="no vector"):
        meaning(OPS["repeated_positions"], (np.ones((2, 2), np.int64),), {"total": N})
    with pytest.raises(GraphError, match="dtype"):
        meaning(OPS["repeated_positions"], (np.ones(2),), {"total": N})


@pytest.mark.parametrize("dtype", NAMES)
def test_unique_of_every_dtype(dtype: str) -> None:
    x = np.array([[1, 0, 1], [0, 0, 1]], NAMES[dtype])
    first, inverse, counts = meaning(OPS["unique"], (x,), UNIQUE)
    assert first.tolist() == [1, 0]
    assert inverse.tolist() == [[1, 0, 1], [0, 0, 1]]
    assert counts.tolist() == [3, 3]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_unique_keeps_nans_apart_and_zeros_together(dtype: Any) -> None:
    x = np.array([np.nan, 2, -0.0, np.nan, 0.0, -np.inf], dtype)
    first, inverse, counts = meaning(OPS["unique"], (x,), UNIQUE)
    assert first.tolist() == [5, 2, 1, 0, 3]
    assert inverse.tolist() == [3, 2, 1, 4, 1, 0]
    assert counts.tolist() == [1, 2, 1, 1, 1]
    first, inverse, counts = meaning(OPS["unique"], (x,), {"count": N, "equal_nan": True})
    assert first.tolist() == [5, 2, 1, 0]
    assert inverse.tolist() == [3, 2, 1, 3, 1, 0]
    assert counts.tolist() == [1, 2, 1, 2]


def test_unique_of_a_scalar_and_of_nothing() -> None:
    first, inverse, counts = meaning(OPS["unique"], (np.array(3.0),), UNIQUE)
    assert (first.tolist(), inverse.tolist(), counts.tolist()) == ([0], 0, [1])
    first, inverse, counts = meaning(OPS["unique"], (np.zeros((0, 2)),), UNIQUE)
    assert (first.shape, inverse.shape, counts.shape) == ((0,), (0, 2), (0,))


@pytest.mark.parametrize("name", sorted(FINDERS))
def test_mapping_over_a_batch_axis_is_refused(name: str) -> None:
    graph = Graph()
    attributes = {"dtype": np.dtype(np.int64), "shape": (3, 4)}
    x = graph.handle(graph.append(OPS["placeholder"], (), attributes).start)
    (size,) = OPS[name].run_time_sizes
    others = {"equal_nan": True} if name == "unique" else {}
    with pytest.raises(GraphError, match="a result of another size"):
        batched(OPS[name], (x,), (True,), {size: N, **others})
