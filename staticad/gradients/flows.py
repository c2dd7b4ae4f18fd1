"""Which results of nodes depend on which operands, where nodes have bodies."""

from __future__ import annotations

from collections.abc import Iterable

from staticad_schema.graph import Graph
from staticad_schema.node import Node


def reached(graph: Graph, nodes: Iterable[Node], values: Iterable[int]) -> set[int]:
    """The values, and those that the nodes, in their order, compute of them."""
    found = set(values)
    for node in nodes:
        hit = {k for k in computed_from(node) if node.inputs[k] in found}
        if hit:
            found.update(node.start + k for k in results_of(graph, node, hit))
    return found


def computed_from(node: Node) -> range:
    """The positions of the operands that a node's results are computed from."""
    count = len(node.inputs)
    if node.op == "hold":
        # For its second operand it only waits.
        return range(1)
    # What prints or checks is its last operand.
    return range(count - 1, count) if node.definition.effect == "io" else range(count)


def results_of(graph: Graph, node: Node, hit: set[int]) -> Iterable[int]:
    """The positions of a node's results that depend on the operands at these positions."""
    attributes, everything = node.attributes, range(len(node.types))
    if node.op == "switch":
        if 0 in hit:
            return everything
        inner = {k - 1 for k in hit}
        return set().union(*(_through(graph, name, inner) for name in attributes["functions"]))
    if node.op not in ("scan", "while_loop"):
        return everything
    carried = attributes["carried"]
    moved = set(hit)
    while True:
        behind = _through(graph, attributes["body"], moved)
        new = {k for k in behind if k < carried} - moved
        if not new:
            break
        moved |= new
    if node.op == "while_loop":
        if _through(graph, attributes["condition"], moved):
            return everything
        return {k for k in moved if k < carried}
    return behind | {k for k in moved if k < carried}


def _through(graph: Graph, name: str, hit: set[int]) -> set[int]:
    """The positions of a body's outputs that depend on its inputs at these positions."""
    function = graph.function(name)
    given = [v for k, v in enumerate(function.inputs) if k in hit]
    found = reached(graph, function.body.nodes, given)
    return {k for k, v in enumerate(function.outputs) if v in found}
