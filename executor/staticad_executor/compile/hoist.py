"""What follows from variables and constants alone, as a program of its own.

Between two commits it is the same in every run.  What takes no time, views and the like, stays
where it is used, and so does what would take much memory to keep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from staticad_schema.attributes import is_symbolic
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, FINDERS, OPS
from staticad_schema.types import nbytes

from ..program import GIVEN, VIEWS, Program, Source, empty_like
from ..work import operations

# Values that take fewer operations are computed in each run: carrying one costs as much.
WORTHWHILE = 1 << 12
# The bytes that are kept for one program at most.
MOST_BYTES = 1 << 26


@dataclass(frozen=True, eq=False)
class Parts:
    """first: from variables to the `carried` values of the whole program.  rest: from the other
    sources and these to the outputs."""

    first: Program
    rest: Program
    carried: tuple[int, ...]


def hoist(program: Program) -> Parts | None:
    """The two parts of a program; None where nothing is worth being kept from run to run.

    Nothing is if nothing but variables is given: such a run is not repeated.
    """
    if all(source.kind == "variable" for source in program.sources) or program.finds:
        return None
    fixed, cost = _fixed(program)
    inside, carried = _needed(program, fixed, cost)
    if not carried:
        return None
    own = [
        index for index in range(len(program.graph.nodes)) if not fixed[index] or index in inside
    ]
    first = _cone(program, carried)
    given = {source.value: source for source in program.sources}
    return Parts(
        replace(
            _copied(program, first, given, (), tuple(carried)),
            writes=(), effects=(), draws=False,
        ),
        _copied(program, own, given, tuple(carried), program.fetches),
        tuple(carried),
    )  # fmt: skip


def _fixed(program: Program) -> tuple[bytearray, list[int]]:
    """Which nodes follow from variables that the program does not write, and constants; and about
    how many operations it takes to compute each of them from these."""
    graph = program.graph
    producers = graph.producers
    written = {name for name, _ in program.writes}
    variables = {
        producers[s.value]
        for s in program.sources
        if s.kind == "variable" and s.original not in written
    }
    fixed = bytearray(len(graph.nodes))
    cost = [0] * len(graph.nodes)
    for index, node in enumerate(graph.nodes):
        if node.op == "parameter":
            fixed[index] = index in variables and node.types[0].is_static
            continue
        above = [producers[v] for v in node.inputs]
        if not all(fixed[p] for p in above) or not _may_move(node):
            continue
        fixed[index] = 1
        total = sum(cost[p] for p in set(above))
        if node.op not in VIEWS and node.op not in GIVEN:
            total += operations(node.op, [graph.types[v] for v in node.inputs], node.types)
        cost[index] = total
    return fixed, cost


def _may_move(node: Node) -> bool:
    return (
        OPS[node.op].effect == "pure"
        and not node.after
        and node.op not in FINDERS | CALLERS
        and len(node.types) > 0
        and all(t.is_static for t in node.types)
        and not any(map(is_symbolic, node.attributes.values()))
    )


def _needed(program: Program, fixed: bytearray, cost: list[int]) -> tuple[set[int], list[int]]:
    """Of the fixed nodes those that the rest computes itself, and the values that it is given."""
    graph = program.graph
    waiting = list(program.outputs)
    for index, node in enumerate(graph.nodes):
        if not fixed[index]:
            waiting += node.inputs
    inside: set[int] = set()
    carried: set[int] = set()
    total = 0
    while waiting:
        value = waiting.pop()
        index = graph.producers[value]
        if not fixed[index] or index in inside or value in carried:
            continue
        node = graph.nodes[index]
        if node.op not in VIEWS and node.op not in GIVEN and cost[index] >= WORTHWHILE:
            size = nbytes(node.types[value - node.start])
            if total + size <= MOST_BYTES:
                total += size
                carried.add(value)
                continue
        inside.add(index)
        waiting += node.inputs
    return inside, sorted(carried)


def _cone(program: Program, values: list[int]) -> list[int]:
    """The nodes that values are computed by, ascending."""
    graph = program.graph
    waiting = [graph.producers[v] for v in values]
    found: set[int] = set()
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting += [graph.producers[v] for v in graph.nodes[index].inputs]
    return sorted(found)


def _copied(
    program: Program,
    members: list[int],
    given: dict[int, Source],
    carried: tuple[int, ...],
    fetches: tuple[int, ...],
) -> Program:
    """The program of these nodes, behind sources: those among them, and what is carried."""
    graph, out = program.graph, empty_like(program.graph)
    values: dict[int, int] = {}
    sources: list[Source] = []
    inside = set(members)
    behind = [v for v in given if graph.producers[v] in inside]
    for position, value in enumerate((*behind, *carried)):
        type_, node = graph.types[value], graph.nodes[graph.producers[value]]
        start = values[value] = len(out.types)
        own = given.get(value)
        sources.append(
            Source("carried", start, value) if own is None else replace(own, value=start)
        )
        attributes = {"index": position, "dtype": type_.dtype, "shape": type_.shape}
        out.append_trusted(
            Node(
                "parameter", (), attributes, (type_,), start, (), graph.value_name(value), "",
                None, node.site, node.forward_site,
            )
        )  # fmt: skip
    places: dict[int, int] = {}
    for index in members:
        node = graph.nodes[index]
        if node.op == "parameter":
            continue
        start = len(out.types)
        places[index] = len(out.nodes)
        for k, value in enumerate(node.outputs):
            values.setdefault(value, start + k)
        out.append_trusted(
            node.moved(
                tuple([values[v] for v in node.inputs]),
                start,
                tuple([places[i] for i in node.after if i in places]) if node.after else (),
            )
        )
    return replace(
        program,
        graph=out,
        sources=tuple(sources),
        fetches=tuple(values[v] for v in fetches),
        writes=tuple((name, values[v]) for name, v in program.writes if v in values),
        effects=tuple(places[i] for i in program.effects if i in inside),
    )
