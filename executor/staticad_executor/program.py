"""Program: what a run computes, as pure data flow.

A program is a graph together with its sources, fetches and writes.  State has become data
flow: what a run reads is a source, what it writes is an output.  Passes take a program and
return one; they know neither variables nor feeds, only values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, Op
from staticad_schema.run_time_sizes import Needs, finders_of
from staticad_schema.text import line
from staticad_schema.types import DType

VIEWS = frozenset(name for name, op in OPS.items() if op.view and op.effect == "pure")
RANDOM = frozenset(name for name, op in OPS.items() if op.effect == "random")
# No step computes these: they are there before the run.
GIVEN = frozenset({"parameter", "constant"})
# These look at types only, and are constants before anything runs: they wait for nothing.
ASKS_SIZES = frozenset({"shape_of", "size_of"})


@dataclass(frozen=True)
class Arena:
    """Variables of one dtype whose elements are one flat value, without gaps."""

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    dtype: DType

    @property
    def size(self) -> int:
        """The number of elements."""
        return sum(map(math.prod, self.shapes))

    @cached_property
    def stretches(self) -> dict[str, tuple[int, tuple[int, ...]]]:
        """For each variable the byte at which it begins, and its shape."""
        sizes = [math.prod(shape) * self.dtype.itemsize for shape in self.shapes]
        starts = list(itertools.accumulate(sizes, initial=0))[:-1]
        return dict(zip(self.names, zip(starts, self.shapes, strict=True), strict=True))


@dataclass(frozen=True, slots=True)
class Source:
    """An input of a program: a `parameter` node that produces `value`.

    original: for a feed the value id in the graph that was compiled, for a variable its
    name, for an arena itself, for the run number "", for what is carried from segment to
    segment the value id in the whole program.
    """

    kind: Literal["feed", "variable", "arena", "run", "carried"]
    value: int
    original: int | str | Arena


@dataclass(frozen=True, eq=False)
class Program:
    """graph: the nodes, sources being `parameter` nodes.  fetches: values to return.
    writes: variables with their new values.  arenas: variables that are written as one flat
    value.  effects: indices of the nodes with effect io,
    which run in this order.  draws: whether random bits are drawn.  finds: whether sizes are
    found."""

    graph: Graph
    sources: tuple[Source, ...]
    fetches: tuple[int, ...]
    writes: tuple[tuple[str, int], ...]
    effects: tuple[int, ...]
    draws: bool
    finds: bool = False
    arenas: tuple[tuple[Arena, int], ...] = ()

    @property
    def outputs(self) -> tuple[int, ...]:
        """The values a run hands out: fetches, then writes, then arenas."""
        writes = tuple([value for _, value in self.writes])
        return self.fetches + writes + tuple([value for _, value in self.arenas])

    def text(self) -> str:
        """One line a node, then the outputs."""
        lines = [line(self.graph, index) for index in range(len(self.graph.nodes))]
        lines += [f"fetch %{value}" for value in self.fetches]
        lines += [f"write {name!r} %{value}" for name, value in self.writes]
        for arena, value in self.arenas:
            lines.append(f"write {', '.join(map(repr, arena.names))} %{value}")
        return "\n".join(lines) + "\n"


class WorkingGraph(Graph):
    """A graph between passes: nobody looks its nodes up by name, and which of them find sizes
    was checked before."""

    def check_sizes(self, definition: Op, attributes: Mapping[str, Any]) -> None:
        """Nothing: passes keep or rename what was right."""

    def append_trusted(self, node: Node) -> None:
        """Add a node whose types and wiring are known to be right."""
        types = node.types
        if len(types) == 1:
            self.types.append(types[0])
            self.producers.append(len(self.nodes))
        else:
            self.types += types
            self.producers += [len(self.nodes)] * len(types)
        self.nodes.append(node)


def empty_like(graph: Graph) -> Graph:
    """A graph without nodes that shares the sites and functions of another."""
    copy = WorkingGraph(graph.seed)
    copy.sites = graph.sites
    copy.functions = graph.functions
    return copy


def roots(program: Program) -> list[int]:
    """Indices of the nodes that must stay whatever happens to others."""
    graph = program.graph
    nodes = [graph.producers[value] for value in program.outputs]
    nodes += program.effects
    nodes += [graph.producers[source.value] for source in program.sources]
    return nodes


def pruned(program: Program) -> Program:
    """The program without nodes that nothing needs; itself if there are none.

    Random nodes stay: that they draw is part of what the run does.
    """
    graph = program.graph
    nodes, producers = graph.nodes, graph.producers
    live = bytearray(len(nodes))
    for index in roots(program):
        live[index] = 1
    if program.draws:
        for index, node in enumerate(nodes):
            if node.op in RANDOM:
                live[index] = 1
    sizes = Needs(finders_of(nodes)) if program.finds else None
    for index in range(len(nodes) - 1, -1, -1):
        if live[index]:
            node = nodes[index]
            for value in node.inputs:
                live[producers[value]] = 1
            for index_before in node.after:
                live[index_before] = 1
            if sizes is not None:
                for finder in sizes.of(node):
                    live[finder] = 1
    if all(live):
        return program
    copy = empty_like(graph)
    values = [-1] * len(graph.types)
    indices = list(itertools.accumulate(live, initial=0))
    for node in itertools.compress(nodes, live):
        start = len(copy.types)
        copy.append_trusted(
            node.moved(
                tuple([values[v] for v in node.inputs]),
                start,
                tuple([indices[i] for i in node.after]) if node.after else (),
            )
        )
        for k in range(len(node.types)):
            values[node.start + k] = start + k
    return rewired(program, copy, values, indices)


def rewired(
    program: Program, graph: Graph, values: Sequence[int], indices: Sequence[int]
) -> Program:
    """The program over another graph, given where its values and nodes went."""
    return replace(
        program,
        graph=graph,
        sources=tuple(replace(s, value=values[s.value]) for s in program.sources),
        fetches=tuple(values[v] for v in program.fetches),
        writes=tuple((name, values[v]) for name, v in program.writes),
        arenas=tuple((arena, values[v]) for arena, v in program.arenas),
        effects=tuple(indices[i] for i in program.effects),
    )
