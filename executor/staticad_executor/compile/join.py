"""Scans over the same operands as one.

A derivative has the scan that it is of run again, with more to be stacked.  Where both run, one
does: if their bodies carry the same values, the iterations are the same, and what each stacks can
be stacked by one.  A joint scan may hold scans that can be joined in turn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

from staticad_schema.attributes import identity
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import FunctionRef

from ..program import Program, empty_like, pruned, rewired
from .lowered import Lowered, acts, lowered, lowered_bodies
from .rewrites.merge import node_key


def join(program: Program) -> Program:
    """The program, and the bodies in it, with scans joined; itself if there are none."""
    table = program.graph.functions
    if not table:
        return program
    program = _joined(program)
    waiting = [program.graph]
    reached: set[str] = set()
    while waiting:
        graph = waiting.pop()
        for name in [name for node in graph.nodes for name in node.calls]:
            if name not in reached:
                reached.add(name)
                body = table[name]
                assert isinstance(body, Lowered)
                own = _joined(body.program)
                if own is not body.program:
                    table[name] = _over(body, own)
                waiting.append(own.graph)
    for body in lowered_bodies(program.graph):
        if body.name not in reached:
            del table[body.name]
    return program


def _over(body: Lowered, program: Program, name: str | None = None) -> Lowered:
    """The body with another program."""
    return lowered(name or body.name, program, body.draws, body.acts)


def _joined(program: Program) -> Program:
    graph = program.graph
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for index, node in enumerate(graph.nodes):
        if node.op == "scan" and not acts(graph, node):
            others = {k: v for k, v in node.attributes.items() if k != "body"}
            key = node.inputs, node.after, node.device, identity(tuple(others.items()))
            groups[key].append(index)
    # For each scan that leaves the first one of its kind; for that one what it becomes.
    leaves: dict[int, int] = {}
    becomes: dict[int, Node] = {}
    places: dict[int, list[int]] = {}
    for same in groups.values():
        first = same[0]
        for index in same[1:]:
            one = becomes.get(first, graph.nodes[first])
            other = graph.nodes[index]
            made = _together(graph, one, other)
            if made is None:
                continue
            becomes[first], places[index] = made
            leaves[index] = first
    if not leaves:
        return program
    out = empty_like(graph)
    values: list[int] = []
    indices: list[int] = []
    begins: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        if index in leaves:
            start = begins[leaves[index]]
            values += [start + k for k in places[index]]
            indices.append(indices[leaves[index]])
            continue
        start = begins[index] = len(out.types)
        inputs = tuple([values[v] for v in node.inputs])
        after = tuple([indices[i] for i in node.after])
        indices.append(len(out.nodes))
        out.append_trusted(becomes.get(index, node).moved(inputs, start, after))
        # What a scan gave before it still gives first.
        values += range(start, start + len(node.types))
    return pruned(rewired(program, out, values, indices))


def _together(graph: Graph, one: Node, other: Node) -> tuple[Node, list[int]] | None:
    """A scan that gives what both do, and where it gives what the other one did; None if their
    iterations are not known to be the same."""
    carried = one.attributes["carried"]
    a, b = (graph.functions[node.attributes["body"]] for node in (one, other))
    assert isinstance(a, Lowered)
    assert isinstance(b, Lowered)
    if len(a.inputs) != len(b.inputs) or a.program.finds or b.program.finds:
        return None
    program, of_b = _both(a, b)
    outputs = list(program.fetches)
    if of_b[:carried] != outputs[:carried]:
        return None
    types = list(one.types)
    places = list(range(carried))
    for k, value in enumerate(of_b[carried:], carried):
        if value not in outputs[carried:]:
            outputs.append(value)
            types.append(other.types[k])
        places.append(outputs.index(value, carried))
    name = a.name
    while name in graph.functions:
        name += "+"
    graph.functions[name] = _over(a, replace(program, fetches=tuple(outputs)), name)
    attributes = {**one.attributes, "body": FunctionRef(name)}
    return one._replace(attributes=attributes, types=tuple(types)), places


def _both(a: Lowered, b: Lowered) -> tuple[Program, list[int]]:
    """A program that computes what both bodies do, each value once, and gives what the first one
    gives; and the outputs of the second one in it."""
    out = empty_like(a.program.graph)
    out.adopt_sites(a.program.graph)
    known: dict[Hashable, int] = {}
    values = _entered(out, a.program, known, None)
    inputs = [values[v] for v in a.inputs]
    rest = _entered(out, b.program, known, inputs)
    program = replace(
        a.program, graph=out,
        sources=tuple(replace(s, value=values[s.value]) for s in a.program.sources),
        fetches=tuple(values[v] for v in a.outputs),
        draws=a.program.draws or b.program.draws,
    )  # fmt: skip
    return program, [rest[v] for v in b.outputs]


def _entered(
    out: Graph, program: Program, known: dict[Hashable, int], inputs: Sequence[int] | None
) -> list[int]:
    """Where each value of a program is in `out`, in which its nodes are entered."""
    graph = program.graph
    values = [-1] * len(graph.types)
    if inputs is not None:
        for source, value in zip(program.sources, inputs, strict=True):
            values[source.value] = value
    for node in graph.nodes:
        if node.op == "parameter" and values[node.start] >= 0:
            continue
        start = len(out.types)
        own = node.moved(tuple([values[v] for v in node.inputs]), start)
        key = node_key(own) if node.op != "parameter" else None
        found = known.get(key) if key is not None else None
        if found is None:
            site = out.intern_site(graph.sites[node.site])
            forward = out.intern_site(graph.sites[node.forward_site])
            out.append_trusted(own._replace(site=site, forward_site=forward))
            found = start
            if key is not None:
                known[key] = found
        for k, v in enumerate(node.outputs):
            values[v] = found + k
    return values
