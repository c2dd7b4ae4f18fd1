"""Derivatives of `switch`: a choice among the derivatives of the branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS

from .cone import is_inexact
from .derived import appended, copied, extracted, variables_read
from .fit import broadcast, filled
from .walks import Pull, Push


def switch_cotangents(
    graph: Graph,
    node: Node,
    leaves: Sequence[int],
    gs: Sequence[Any],
    needed: Sequence[bool],
    pull: Pull,
) -> list[Any]:
    """The cotangents of a choice: each branch is computed again with its derivative."""
    given = [k for k, g in enumerate(gs) if g is not None]
    wanted = [k for k, asked in enumerate(needed) if asked and k]
    reads = variables_read(graph, node)
    functions = []
    for name in node.calls:
        copy, outputs = copied(graph, name, reads)
        # The index is no operand of a branch.
        sources = [copy.inputs[k - 1] for k in wanted]
        cotangents: dict[int, Any] = {}
        for k in given:
            g = copy.handle(copy.parameter(gs[k].type))
            earlier = cotangents.get(outputs[k])
            cotangents[outputs[k]] = g if earlier is None else OPS["add"](earlier, g)
        found = pull(copy, cotangents, sources)
        results = [found[v] if v in found else filled(copy, 0.0, copy.types[v]) for v in sources]
        functions.append(
            extracted(graph, f"{name}/vjp", copy, copy.inputs, [r.id for r in results])
        )
    operands = [*leaves, *(gs[k].id for k in given)]
    made = appended(
        graph, "switch", operands, functions=tuple(functions), path=node.attributes["path"]
    )
    cotangents_of: list[Any] = [None] * len(leaves)
    for k, g in zip(wanted, made, strict=True):
        cotangents_of[k] = g
    return cotangents_of


def switch_tangents(
    graph: Graph, node: Node, leaves: Sequence[int], given: Sequence[Any], push: Push
) -> list[Any]:
    """The tangents of the outputs of a choice."""
    moved = [k for k, t in enumerate(given) if t is not None]
    outs = [k for k, v in enumerate(node.outputs) if is_inexact(graph, v)]
    reads = variables_read(graph, node)
    functions = []
    for name in node.calls:
        copy, outputs = copied(graph, name, reads)
        tangents = {
            copy.inputs[k - 1]: copy.handle(copy.parameter(graph.types[leaves[k]])) for k in moved
        }
        found = push(copy, tangents, [outputs[k] for k in outs])
        results = [
            broadcast(found[outputs[k]], copy.types[outputs[k]])
            if outputs[k] in found
            else filled(copy, 0.0, copy.types[outputs[k]])
            for k in outs
        ]
        functions.append(
            extracted(graph, f"{name}/jvp", copy, copy.inputs, [r.id for r in results])
        )
    operands = [*leaves, *(broadcast(given[k], graph.types[leaves[k]]).id for k in moved)]
    made = appended(
        graph, "switch", operands, functions=tuple(functions), path=node.attributes["path"]
    )
    tangents_of: list[Any] = [None] * len(node.types)
    for k, t in zip(outs, made, strict=True):
        tangents_of[k] = t
    return tangents_of
