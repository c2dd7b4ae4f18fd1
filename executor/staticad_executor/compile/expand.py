"""Nodes that no device claims, in terms of other ops."""

from __future__ import annotations

from collections.abc import Collection

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS

from ..program import Program, empty_like, rewired


def expand(program: Program, claimed: Collection[str]) -> Program:
    """The program with every node expanded that can be and is not claimed; itself if none is.

    What an expansion consists of is expanded too.
    """
    expandable = {name for name, op in OPS.items() if op.expand is not None and name not in claimed}
    while any(node.op in expandable for node in program.graph.nodes):
        program = _expanded_once(program, expandable)
    return program


def _expanded_once(program: Program, expandable: Collection[str]) -> Program:
    graph, out = program.graph, empty_like(program.graph)
    values: list[int] = []
    indices: list[int] = []
    for node in graph.nodes:
        inputs = tuple([values[v] for v in node.inputs])
        if node.op not in expandable:
            after = tuple([indices[i] for i in node.after]) if node.after else ()
            indices.append(len(out.nodes))
            start = len(out.types)
            out.append_trusted(node.moved(inputs, start, after))
            values.extend(range(start, start + len(node.types)))
            continue
        results = _expansion(program, node, inputs, out)
        values.extend(results)
        indices.append(out.producers[results[-1]])
    return rewired(program, out, values, indices)


def _expansion(program: Program, node: Node, inputs: tuple[int, ...], out: Graph) -> list[int]:
    """The values that take the place of a node's outputs, appended to `out`."""
    definition = OPS[node.op]
    first = len(out.nodes)
    with out.derived_from(node.site) as forward:
        forward(node.forward_site)
        operands = [out.handle(v) for v in inputs]
        handles = definition.expansion(operands, out.resolved(node.attributes))
    for index in range(first, len(out.nodes)):
        made = out.nodes[index]
        out.nodes[index] = made._replace(name=node.name, scope=node.scope, device=node.device)
    return [handle.id for handle in handles]
