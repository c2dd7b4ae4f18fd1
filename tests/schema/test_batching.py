"""Batching: unrolled ops, alignment of ranks, and what cannot be batched.

That each op's rule equals a loop over examples is tested with the ops.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from staticad_schema import dims
from staticad_schema.batching import batched
from staticad_schema.errors import GraphError
from staticad_schema.op import OPS, Op, op, undefined
from staticad_schema.types import TensorType
from tests.ops.arrays import normal
from tests.ops.running import Applied
from tests.ops.samples import Sample


@pytest.fixture
def split() -> Iterator[Op]:
    """An op without a batch rule and with two outputs."""

    @op(
        numpy=lambda x, y: (x + y, x - y),
        grad=undefined("it is not needed"),
        batch="map",
        name="test_split",
    )
    def definition(x: TensorType, y: TensorType) -> tuple[TensorType, TensorType]:
        """Sum and difference."""
        return x, x

    yield definition
    del OPS["test_split"]


def _graph(*arrays: np.ndarray) -> Applied:
    graph = Applied(OPS["identity"], Sample((arrays[0],)))
    graph.inputs.extend(graph.source(TensorType(a.dtype, a.shape)) for a in arrays[1:])
    return graph


def test_an_op_without_a_rule_is_unrolled(split: Op) -> None:
    x, y = normal(3, 2), normal(2, seed=1)
    graph = _graph(x, y)
    outs = batched(split, graph.inputs, (True, False))
    total, difference = graph.run(outs, (x, y))
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(difference, x - y)


def test_what_is_unrolled_needs_a_known_size(split: Op) -> None:
    graph = _graph(normal(2))
    x = graph.source(TensorType(np.dtype("float64"), (dims.symbol("n"),)))
    with pytest.raises(GraphError, match="known batch size"):
        batched(split, (x, x), (True, True))


def test_examples_of_lower_rank_broadcast_behind_the_batch_axis() -> None:
    x, y = normal(3), normal(2, 3)
    graph = _graph(x, y)
    out = batched(OPS["add"], graph.inputs, (True, False))
    found = graph.run([out], (x, y))[0]
    np.testing.assert_array_equal(found, [value + y for value in x])


def test_a_batch_axis_is_needed() -> None:
    graph = _graph(normal(2))
    with pytest.raises(GraphError, match="no operand has a batch axis"):
        batched(OPS["abs"], graph.inputs, (False,))


def test_side_effects_are_refused() -> None:
    graph = _graph(normal(2))
    with pytest.raises(GraphError, match="side effect"):
        batched(OPS["print"], graph.inputs, (True,), {"message": "", "summarize": 3})
