"""What a node depends on beyond its operands, and what it expands to.

A loop of unknown length is, for its derivatives, a scan of the length that it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.calls import inline
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, OPS, FunctionRef
from staticad_schema.types import INT64

from .derived import appended, state_of


def dependencies(graph: Graph, node: Node) -> tuple[int, ...]:
    """The values that a node's outputs are a function of: its operands, and the variables that
    its bodies read.  What has a rule is a function of the arguments of that,
    and what solves an equation of what else stands in it."""
    if node.op == "custom_rule":
        return node.inputs[: node.attributes["arguments"]]
    if node.op == "implicit":
        return node.inputs[: -node.attributes["solutions"]]
    return (*node.inputs, *state_of(graph, node)) if node.op in CALLERS else node.inputs


def expanded(graph: Graph, node: Node, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a node written in other ops, appended to its graph."""
    attributes = graph.resolved(node.attributes)
    if node.op == "call":
        called = graph.producers[node.start]
        return unfolded(graph, attributes["function"].name, inputs, attributes["path"], called)
    if node.op == "while_loop":
        return while_expansion(graph, node, inputs)
    return OPS[node.op].expansion(inputs, attributes)


def unfolded(
    graph: Graph, name: str, inputs: Sequence[Any], path: int, caller: int | None = None
) -> tuple[Any, ...]:
    """The outputs of a body, by copies of its nodes.

    In a body, where a copy would draw other random numbers than a call does, by a choice of one
    branch.  caller: the node that is the call.
    """
    if graph.body_name and _draws(graph, name):
        operands = [graph.scalar(0, INT64), *(x.id for x in inputs)]
        functions = (FunctionRef(name),)
        return tuple(appended(graph, "switch", operands, functions=functions, path=path))
    return inline(graph, inputs, graph.function(name), path, caller)


def _draws(graph: Graph, name: str) -> bool:
    """Whether a body, or one in it, draws random numbers."""
    waiting, seen = [name], {name}
    while waiting:
        body = graph.function(waiting.pop()).body
        for node in body.nodes:
            if node.definition.effect == "random":
                return True
            new = [inner for inner in node.calls if inner not in seen]
            seen.update(new)
            waiting += new
    return False


def while_expansion(graph: Graph, node: Node, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """A loop as a scan of as many iterations as it had, and how many these were."""
    trips = graph.handle(node.outputs[-1])
    counts = OPS["reshape"](trips, shape=(1,))
    with graph.lock:
        length = graph.new_size("iterations")
        OPS["repeated_positions"](counts, total=length)
    attributes = node.attributes
    made = appended(
        graph, "scan", [x.id for x in inputs], body=attributes["body"],
        carried=attributes["carried"], sequences=0, length=length, path=attributes["path"],
    )  # fmt: skip
    return (*made, trips)
