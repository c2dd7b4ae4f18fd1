"""Parts of a graph that are computed again for derivatives: what they hold, and their copies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, FINDERS, OPS

from .calls import dependencies

Leaves = Callable[[Graph, Node], tuple[int, ...]]
"""The values that a node's outputs are taken as a function of."""


class Region(NamedTuple):
    """nodes: indices, ascending, of what is computed again.  leaves: the values from outside
    that it is computed from.  start: the node that marks where it begins."""

    nodes: tuple[int, ...]
    leaves: tuple[int, ...]
    start: int


def region(graph: Graph, end: Node) -> Region | None:
    """The part of a graph that ends with this `recompute_end`; None if its start is not there."""
    nodes, producers = graph.nodes, graph.producers
    start = producers[end.inputs[0]]
    if nodes[start].op != "recompute_start":
        return None
    first = nodes[start].start
    members: set[int] = set()
    leaves: dict[int, None] = {}
    waiting = list(end.inputs[1:])
    while waiting:
        value = waiting.pop()
        index = producers[value]
        if index == start:
            leaves[nodes[start].inputs[value - first]] = None
        elif index < start or not _repeatable(graph, nodes[index]):
            leaves[value] = None
        elif index not in members:
            members.add(index)
            waiting += nodes[index].inputs
            if nodes[index].op in CALLERS:
                leaves |= dict.fromkeys(_read(graph, nodes[index]))
    return Region(tuple(sorted(members)), tuple(leaves), start)


def _read(graph: Graph, call: Node) -> tuple[int, ...]:
    """The variables that the bodies of a node read."""
    return dependencies(graph, call)[len(call.inputs) :]


def _repeatable(graph: Graph, node: Node) -> bool:
    """Whether a node may stand in a graph a second time, without acting twice."""
    if node.op in CALLERS:
        return not any(_acts(graph, name) for name in node.calls)
    if node.op in ("constant", "parameter") or node.op in FINDERS:
        return False
    # What acts and hands on an operand is replaced by that.
    return OPS[node.op].effect in ("pure", "random") or (
        OPS[node.op].effect == "io" and bool(node.types)
    )


def _acts(graph: Graph, name: str) -> bool:
    """Whether a body, or one that it calls, acts on the world outside."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        function = graph.function(waiting.pop())
        if function.name not in seen:
            seen.add(function.name)
            waiting += function.calls
            if any(OPS[node.op].effect == "io" for node in function.body.nodes):
                return True
    return False


def leaves_for(xs: Collection[int], stops: Collection[int]) -> Leaves:
    """What nodes depend on, for derivatives with respect to xs: regions are skipped, except
    those within which an x, or a stop, lies."""
    found: dict[int, tuple[int, ...]] = {}

    def leaves(graph: Graph, node: Node) -> tuple[int, ...]:
        if node.op != "recompute_end":
            return dependencies(graph, node)
        known = found.get(node.start)
        if known is None:
            part = region(graph, node)
            inside = set() if part is None else {part.start, *part.nodes}
            if part is None or any(graph.producers[v] in inside for v in (*xs, *stops)):
                known = node.inputs
            else:
                known = part.leaves
            found[node.start] = known
        return known

    return leaves


def repeated(graph: Graph, end: Node, tokens: Sequence[Any]) -> list[Any]:
    """The results of a region, computed again, once the tokens are there."""
    part = region(graph, end)
    assert part is not None
    nodes, start = graph.nodes, graph.nodes[part.start]
    values: dict[int, int] = {}
    for leaf in part.leaves:
        held = graph.handle(leaf)
        if nodes[graph.producers[leaf]].op != "constant":
            for token in tokens:
                held = OPS["hold"](held, token)
        values[leaf] = held.id
    values |= {
        out: values[x] for out, x in zip(start.outputs, start.inputs, strict=True) if x in values
    }
    copies: dict[int, int] = {}
    for index in part.nodes:
        node = nodes[index]
        op, inputs, attributes = node.op, [values[v] for v in node.inputs], node.attributes
        after = [copies.get(i, i) for i in node.after]
        if OPS[op].effect == "io":
            # print and check are their last operand, and act once.
            op, inputs, attributes, after = "after", inputs[-1:], {}, [index]
        made = graph.append(
            OPS[op], inputs, attributes, after=after, device=node.device, site=node.site
        )
        copies[index] = len(graph.nodes) - 1
        values.update(zip(node.outputs, made.outputs, strict=True))
    return [graph.handle(values[v]) for v in end.inputs[1:]]
