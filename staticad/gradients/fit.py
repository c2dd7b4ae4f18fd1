"""Bringing cotangents and tangents to the type they must have."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.types import TensorType


def filled(graph: Graph, value: complex, type_: TensorType) -> Any:
    """A value of the given type, every element `value`."""
    scalar = graph.handle(graph.scalar(value, type_.dtype))
    return broadcast(scalar, type_)


def broadcast(x: Any, type_: TensorType) -> Any:
    """x broadcast to the shape of `type_`; x itself if it has it."""
    if x.type.shape == type_.shape:
        return x
    return OPS["broadcast_to"](x, shape=type_.shape)


def to_operand(g: Any, operand: TensorType, op: str) -> Any:
    """A cotangent that a rule returned, summed (or broadcast) to its operand's shape.

    Raises GradientError if the rule of `op` changed the dtype: that is a fault of the rule.
    """
    found = g.type
    if found.dtype != operand.dtype:
        raise GradientError(
            f"the gradient rule of {op} changed the dtype",
            expected=operand.dtype.name,
            found=found.dtype.name,
        )
    if found.shape == operand.shape:
        return g
    common = broadcast_shapes((found.shape, operand.shape))
    if common != found.shape:
        g = OPS["broadcast_to"](g, shape=common)
    if common != operand.shape:
        g = OPS["sum_to"](g, shape=operand.shape)
    return g
