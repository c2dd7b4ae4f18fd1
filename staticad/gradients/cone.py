"""The part of a graph that a derivative passes through.

Between `ys` and `xs` lie the nodes that some y depends on and that can depend on some x.
Since operands always have smaller ids than results, ancestors of the ys older than the
oldest x need not be looked at: the walk costs what the part costs, not what the graph does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, Constant, Op, PerOperand
from staticad_schema.types import INEXACT, KINDS

from .calls import dependencies
from .regions import Leaves


@dataclass(frozen=True)
class Cone:
    """nodes: indices in ascending order, of the nodes visited; active: values through which
    an infinitesimal change of some x reaches its consumers."""

    nodes: tuple[int, ...]
    active: frozenset[int]


def is_inexact(graph: Graph, value: int) -> bool:
    """Whether a value is floating or complex."""
    return KINDS[graph.types[value].dtype] in INEXACT


def passes(definition: Op, operand: int) -> bool:
    """Whether an op's derivative for the operand of that position is not zero by rule."""
    grad = definition.grad
    if isinstance(grad, Constant):
        return False
    if isinstance(grad, PerOperand):
        return grad.rules[operand] is not None
    return True


def lets_through(node: Node, operand: int) -> bool:
    """Whether a node's derivative for the operand of that position is not zero by rule, be it the
    op's or the user's."""
    if node.op == "custom_rule" and not node.attributes["forward"]:
        return operand in node.attributes["given"]
    return passes(OPS[node.op], operand)


def no_derivative(graph: Graph, node: Node, why: str, asked: str) -> GradientError:
    """The error for a path through an op without a derivative."""
    return GradientError(
        f"{node.op} has no derivative: {why}",
        asked=f"{asked} of {graph.value_name(node.start)!r}",
        expected="a path of differentiable ops",
        found=node.op,
        site=graph.site(node.site),
        forward_site=graph.site(node.forward_site),
        hint="stop_gradient cuts the path",
    )


def ancestors(
    graph: Graph,
    ys: Iterable[int],
    oldest: int,
    halted: Collection[int] = (),
    leaves: Leaves = dependencies,
) -> list[int]:
    """Indices, ascending, of the nodes with an output of id `oldest` or more that ys depend on,
    not through values that are halted."""
    producers, nodes = graph.producers, graph.nodes
    stack = [y for y in ys if y >= oldest]
    seen: set[int] = set()
    while stack:
        index = producers[stack.pop()]
        if index not in seen:
            seen.add(index)
            node = nodes[index]
            if halted and all(v in halted for v in node.outputs):
                continue
            # For its second operand a node only waits.
            inputs = node.inputs[:1] if node.op == "hold" else leaves(graph, node)
            for i in inputs:
                if i >= oldest:
                    stack.append(i)
    return sorted(seen)


def cone(
    graph: Graph,
    ys: Collection[int],
    xs: Collection[int],
    stops: Collection[int] = (),
    leaves: Leaves = dependencies,
) -> Cone:
    """The nodes between ys and xs, and which values carry a derivative.

    A value in `stops` is taken as independent of what it was computed from.  leaves: what nodes
    depend on.
    """
    if not xs or not ys:
        return Cone((), frozenset())
    active, halted = set(xs), frozenset(stops)
    visited = ancestors(graph, ys, min(xs), halted, leaves)
    nodes = graph.nodes
    for index in visited:
        node = nodes[index]
        if _carries(graph, node, active, leaves):
            for out in node.outputs:
                if out not in halted and is_inexact(graph, out):
                    active.add(out)
    return Cone(tuple(visited), frozenset(active))


def _carries(graph: Graph, node: Node, active: set[int], leaves: Leaves) -> bool:
    return any(i in active and lets_through(node, k) for k, i in enumerate(leaves(graph, node)))
