"""What a node depends on beyond its operands, and what it expands to: calls are both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.calls import inline
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS


def dependencies(graph: Graph, node: Node) -> tuple[int, ...]:
    """The values that a node's outputs are a function of: its operands, and the variables that
    a called body reads."""
    if node.op != "call":
        return node.inputs
    seen: set[str] = set()
    waiting: list[str] = [node.attributes["function"]]
    read: dict[int, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            function = graph.function(name)
            waiting += function.calls
            for variable in function.reads:
                read[graph.nodes[graph.variable_specs[variable].node].start] = None
    return (*node.inputs, *read)


def expanded(graph: Graph, node: Node, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a node written in other ops, appended to its graph."""
    attributes = graph.resolved(node.attributes)
    if node.op == "call":
        called = graph.producers[node.start]
        return inline(graph, inputs, attributes["function"], attributes["path"], called)
    return OPS[node.op].expansion(inputs, attributes)
