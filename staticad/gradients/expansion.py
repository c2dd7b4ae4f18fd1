"""Nodes whose derivative follows from the same written in other ops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.graph import Graph, Node
from staticad_schema.op import Op


def expand_node(graph: Graph, definition: Op, node: Node, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a node's expansion, appended to its graph."""
    return definition.expansion(inputs, graph.resolved(node.attributes))
