"""Kernels of convolution and pooling: what their meanings run, into memory that is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from staticad_schema.ops import correlation, pools
from staticad_schema.types import TensorType

Function = Callable[..., Any]
Maker = Callable[[Mapping[str, Any], Sequence[TensorType]], Function]


def _into(function: Function) -> Maker:
    """Arrays are given with the shapes that an attribute says for the types."""

    def make(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
        return partial(function, **{k: v for k, v in attributes.items() if k != "shape"})

    return make


MAKERS: dict[str, Maker] = {
    "conv": _into(correlation.conv),
    "conv_input": _into(correlation.conv_input),
    "conv_weights": _into(correlation.conv_weights),
    "max_pool": _into(pools.max_pool),
    "unpool": _into(pools.unpool),
    "window_sum": _into(pools.window_sum),
    "window_spread": _into(pools.window_spread),
}
"""For each op what makes its kernel; operands have to be contiguous."""
