"""Kernels of convolution and pooling: what their meanings run, into memory that is given, with
parts that threads share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from staticad_schema.ops import correlation, pools, transposed
from staticad_schema.types import TensorType

Function = Callable[..., Any]
Way = Callable[[Any, Any, dict[str, Any]], str]


class Spatial(NamedTuple):
    """function: of operands and outputs, contiguous, and of `spread` if it has parts to share.
    algorithm: what to call it in `explain`."""

    function: Function
    algorithm: str
    has_parts: bool


def spatial_kernel(
    op: str, attributes: Mapping[str, Any], operands: Sequence[TensorType],
    outputs: Sequence[TensorType],
) -> Spatial | None:  # fmt: skip
    """The kernel of an op over spatial axes; None for another op."""
    found = _FUNCTIONS.get(op)
    if found is None:
        return None
    function, way, has_parts = found
    # Arrays are given with the shapes that an attribute says for the types.
    given = {k: v for k, v in attributes.items() if k != "shape"}
    return Spatial(partial(function, **given), way(operands, outputs, given), has_parts)


def _conv(operands: Any, outputs: Any, given: dict[str, Any]) -> str:
    x, w = operands
    return correlation.conv_way(x.shape, w.shape, outputs[0].shape, **given)[0]


def _conv_input(operands: Any, outputs: Any, given: dict[str, Any]) -> str:
    g, w = operands
    return transposed.input_way(g.shape, w.shape, outputs[0].shape, **given)


def _conv_weights(operands: Any, outputs: Any, given: dict[str, Any]) -> str:
    x, g = operands
    return correlation.weights_way(x.shape, g.shape, outputs[0].shape, **given)[0]


def _always(name: str) -> Way:
    return lambda operands, outputs, given: name


_FUNCTIONS: dict[str, tuple[Function, Way, bool]] = {
    "conv": (correlation.conv, _conv, True),
    "conv_input": (transposed.conv_input, _conv_input, True),
    "conv_weights": (correlation.conv_weights, _conv_weights, True),
    "max_pool": (pools.max_pool, _always("place by place"), True),
    "unpool": (pools.unpool, _always("sums at places"), True),
    "window_sum": (pools.window_sum, _always("axis by axis"), True),
    "window_spread": (pools.window_spread, _always("axis by axis"), True),
}
