"""Variables that are updated alike are updated together: an exact rewrite.

An optimizer does the same for each variable, so that most of what it costs are calls.  Here
small variables of one dtype become stretches of arenas, and nodes that do the same to each
become one node over the whole, see `columns`.  No bit changes, because an elementwise op does not
look at other elements.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from staticad_schema.node import Node
from staticad_schema.types import TensorType

from ..program import Arena, Program, Source, empty_like, pruned
from ..work import count
from .columns import Column, Columns, Small

# So many columns may turn out to be needed before they can be computed; then nothing is flat.
ATTEMPTS = 8


class EarlyError(Exception):
    """A member is needed before the column can be computed."""

    def __init__(self, column: Column) -> None:
        super().__init__()
        self.column = column


def flat_updates(program: Program) -> tuple[Program, int]:
    """The program with updates of small variables made flat, and the number of updates."""
    small = Small(program)
    families = small.families()
    barred: set[tuple[int, ...]] = set()
    for _ in range(ATTEMPTS if families else 0):
        columns = Columns(small, barred)
        for values in families:
            columns.add(values)
        if not any(column.operands for column in columns.of.values()):
            break
        columns.find_arenas()
        try:
            made = _Emission(columns).run()
        except EarlyError as error:
            barred.add(error.column.values)
            continue
        return pruned(made), sum(len(arena.names) for arena, _ in made.arenas)
    return program, 0


class _Emission:
    """The program with flat nodes, under construction."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.program = columns.small.program
        self.graph = self.program.graph
        self.out = empty_like(self.graph)
        self.values: dict[int, int] = {}
        self.flat: dict[Column, int] = {}
        self.starts: dict[Column, dict[int, int]] = {}
        self.indices: list[int] = []
        self.sources: list[Source] = []
        self.arena_of = {v: c for c in columns.leaves if c.arena is not None for v in c.values}

    def run(self) -> Program:
        """Raises EarlyError."""
        given = {source.value: source for source in self.program.sources}
        for node in self.graph.nodes:
            column = self.columns.of.get(node.start) if node.types else None
            if column is not None:
                column.missing -= 1
                if not column.missing:
                    self.compute(column)
            elif node.start in given and node.op == "parameter":
                self.parameter(node, given[node.start])
            else:
                self.copy(node)
            self.indices.append(len(self.out.nodes) - 1)
        arenas = {id(column): arena for arena, column in self.columns.written}
        single = [
            (name, value)
            for name, value in self.program.writes
            if not self.whole(arenas, name, value)
        ]
        return replace(
            self.program,
            fetches=tuple([self.value(v) for v in self.program.fetches]),
            writes=tuple([(name, self.value(v)) for name, v in single]),
            arenas=tuple([(arena, self.flat[column]) for arena, column in self.columns.written]),
            graph=self.out,
            sources=tuple(self.sources),
            effects=tuple([self.indices[i] for i in self.program.effects]),
        )

    def whole(self, arenas: dict[int, Arena], name: str, value: int) -> bool:
        """Whether a variable is written with its arena."""
        column = self.columns.of.get(value)
        arena = arenas.get(id(column)) if column is not None else None
        return arena is not None and name in arena.names

    def parameter(self, node: Node, source: Source) -> None:
        column = self.arena_of.get(node.start)
        if column is None:
            self.append(node, (), {**node.attributes, "index": len(self.sources)}, node.types[0])
            self.values[node.start] = len(self.out.types) - 1
            self.sources.append(replace(source, value=self.values[node.start]))
        elif column not in self.flat:
            arena = column.arena
            assert arena is not None
            type_ = TensorType(arena.dtype, (arena.size,))
            attributes = {"index": len(self.sources), "dtype": arena.dtype, "shape": type_.shape}
            self.flat[column] = self.append(node, (), attributes, type_)
            self.sources.append(Source("arena", self.flat[column], arena))

    def copy(self, node: Node) -> None:
        inputs = tuple([self.value(v) for v in node.inputs])
        after = tuple([self.index(i) for i in node.after])
        start = len(self.out.types)
        self.out.append_trusted(node.moved(inputs, start, after))
        for k in range(len(node.types)):
            self.values[node.start + k] = start + k

    def index(self, index: int) -> int:
        """Where a node is now."""
        node = self.graph.nodes[index]
        column = self.columns.of.get(node.start) if node.types else None
        if column is None:
            return self.indices[index]
        if column not in self.flat:
            raise EarlyError(column)
        return self.out.producers[self.flat[column]]

    def value(self, value: int) -> int:
        """Where a value is now; of a column, a view of its stretch."""
        found = self.values.get(value)
        if found is not None:
            return found
        column = self.columns.of.get(value) or self.arena_of[value]
        if column not in self.flat:
            raise EarlyError(column)
        if column not in self.starts:
            ends = itertools.accumulate(map(self.size, column.values), initial=0)
            self.starts[column] = dict(zip(column.values, ends, strict=False))
        start, size = self.starts[column][value], self.size(value)
        type_ = self.graph.types[value]
        node = self.graph.nodes[self.graph.producers[value]]
        found = self.append(
            node, (self.flat[column],), {"slices": ((start, start + size, 1),)},
            TensorType(type_.dtype, (size,)), "slice",
        )  # fmt: skip
        if len(type_.shape) > 1:
            found = self.append(node, (found,), {"shape": type_.shape}, type_, "reshape")
        self.values[value] = found
        return found

    def size(self, value: int) -> int:
        """The number of elements of a member."""
        return count(self.graph.types[value])

    def compute(self, column: Column) -> None:
        """The flat node of a column."""
        inputs = [self.value(x) if isinstance(x, int) else self.joined(x) for x in column.operands]
        first = self.graph.nodes[self.graph.producers[column.values[0]]]
        type_ = TensorType(first.types[0].dtype, (sum(map(self.size, column.values)),))
        self.flat[column] = self.append(first, tuple(inputs), first.attributes, type_)

    def joined(self, column: Column) -> int:
        """The flat value of an operand; of a leaf that is no arena, a concatenation."""
        found = self.flat.get(column)
        if found is not None:
            return found
        if column.operands:
            raise EarlyError(column)
        members = []
        for v in column.values:
            node = self.graph.nodes[self.graph.producers[v]]
            type_ = self.graph.types[v]
            value, size = self.value(v), self.size(v)
            if len(type_.shape) > 1:
                line = TensorType(type_.dtype, (size,))
                value = self.append(node, (value,), {"shape": (size,)}, line, "reshape")
            members.append(value)
        first = self.graph.nodes[self.graph.producers[column.values[0]]]
        dtype = self.graph.types[column.values[0]].dtype
        type_ = TensorType(dtype, (sum(map(self.size, column.values)),))
        found = self.append(first, tuple(members), {"axis": 0}, type_, "concat")
        self.flat[column] = found
        return found

    def append(
        self, like: Node, inputs: tuple[int, ...], attributes: Any, type_: TensorType, op: str = ""
    ) -> int:
        """The output of a new node, of the line and name of `like`."""
        start = len(self.out.types)
        self.out.append_trusted(
            Node(
                op or like.op, inputs, attributes, (type_,), start, (), like.name, like.scope,
                like.device, like.site, like.forward_site,
            )
        )  # fmt: skip
        return start
