"""Nodes whose derivative follows from the same written in other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.graph import Graph, Node
from staticad_schema.op import Op


def expand_node(graph: Graph, definition: Op, node: Node, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a node's expansion, appended to its graph."""
    assert definition.expand is not None  # the registry refuses grad="expand" without it
    result = definition.call_rule(definition.expand, inputs, graph.resolved(node.attributes))
    return result if isinstance(result, tuple) else (result,)
