"""Variables that are updated alike are updated together: an exact rewrite.

An optimizer does the same for each variable, so that most of what it costs are calls.  Here
small variables of one dtype become stretches of arenas, and nodes that do the same to each
become one node over the whole.  Starting from the writes: if all values of a column are
elementwise nodes of one op, of operands that are again such columns or one 0-d value, a flat
node takes their place; another column is an arena of variables, or a concatenation.  No bit
changes, because an elementwise op does not look at other elements.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from staticad_schema.attributes import identity
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import TensorType

from ..program import Arena, Program, Source, empty_like, pruned
from .rewrites.merge import LARGE_BYTES

# Beside so many elements a call costs little, and gradients that are kept until all are there
# would cost memory.
LARGEST = 1 << 16
# Sizes of whole cache lines come first, so that most stretches of an arena are aligned.
LINE_ELEMENTS = 16
# So many columns may turn out to be needed before they can be computed; then nothing is flat.
ATTEMPTS = 8


@dataclass(eq=False)
class Column:
    """Values that are one flat value: one of each member.

    operands: of the flat node that computes it, columns or 0-d values; none for a leaf.
    arena: the variables that a leaf consists of, if they are there as one.  missing: members
    that are not computed yet.
    """

    values: tuple[int, ...]
    operands: tuple[Column | int, ...] = ()
    arena: Arena | None = None
    missing: int = field(default=0)


class EarlyError(Exception):
    """A member is needed before the column can be computed."""

    def __init__(self, column: Column) -> None:
        super().__init__()
        self.column = column


def flat_updates(program: Program) -> tuple[Program, int]:
    """The program with updates of small variables made flat, and the number of updates."""
    small = _Small(program)
    families = small.families()
    barred: set[tuple[int, ...]] = set()
    for _ in range(ATTEMPTS if families else 0):
        columns = _Columns(small, barred)
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


class _Small:
    """Which values are small, and which updates are alike."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        self.elementwise = {name for name, op in OPS.items() if op.elementwise}
        self.variables = {s.value: str(s.original) for s in program.sources if s.kind == "variable"}

    def fits(self, type_: TensorType) -> bool:
        """Whether a value of this type may be a member."""
        if not type_.shape or not type_.is_static:
            return False
        return 0 < elements(type_) <= LARGEST

    def operation(self, value: int) -> Node | None:
        """The elementwise node of a small value, of operands of its shape and of 0-d ones."""
        types, node = self.graph.types, self.graph.nodes[self.graph.producers[value]]
        if node.op not in self.elementwise or node.after or not self.fits(node.types[0]):
            return None
        shape = node.types[0].shape
        fitting = all(not types[v].shape or types[v].shape == shape for v in node.inputs)
        return node if fitting and any(types[v].shape for v in node.inputs) else None

    def families(self) -> list[list[int]]:
        """Written values that are computed alike, the longest computations first."""
        writes = [(n, v) for n, v in self.program.writes if self.fits(self.graph.types[v])]
        if len(writes) < 2:
            return []
        kinds, depth = self._kinds()
        found: dict[int, dict[int, None]] = {}
        for _, value in writes:
            if value in kinds and value not in self.variables:
                found.setdefault(kinds[value], {})[value] = None
        ordered = sorted(found, key=lambda kind: -depth[kind])
        return [self._aligned(list(found[kind])) for kind in ordered if len(found[kind]) > 1]

    def _aligned(self, values: list[int]) -> list[int]:
        types = self.graph.types
        return sorted(values, key=lambda v: elements(types[v]) % LINE_ELEMENTS != 0)

    def _kinds(self) -> tuple[dict[int, int], list[int]]:
        """For each small value that depends on a variable, element by element, a number which is
        the same for values that are computed alike; and the depth of the computation."""
        graph = self.graph
        types = graph.types
        numbers: dict[Any, int] = {}
        depth: list[int] = []
        kinds: dict[int, int] = {}

        def enter(value: int, key: Any, above: int) -> None:
            number = kinds[value] = numbers.setdefault(key, len(numbers))
            if number == len(depth):
                depth.append(above + 1)

        for value in self.variables:
            if self.fits(types[value]):
                enter(value, types[value].dtype, 0)
        for node in graph.nodes:
            if node.op not in self.elementwise or not any(v in kinds for v in node.inputs):
                continue
            if self.operation(node.start) is None:
                continue
            parts = []
            for v in node.inputs:
                leaf = types[v].dtype if types[v].shape else ("0-d", v)
                parts.append(kinds.get(v, leaf))
            above = max(depth[kinds[v]] for v in node.inputs if v in kinds)
            enter(node.start, (alike(node), *parts), above)
        return kinds, depth


def elements(type_: TensorType) -> int:
    """The number of elements of a static type."""
    shape: Any = type_.shape
    return math.prod(shape)


def alike(node: Node) -> Any:
    """Equal for nodes that do the same to other operands."""
    own = tuple([identity(value, LARGE_BYTES) for value in node.attributes.values()])
    return node.op, node.types[0].dtype, node.device, own


class _Columns:
    """The columns that updates are made of.  of: the column of each member of a flat node.
    leaves: the other columns.  barred: what has to be a leaf."""

    def __init__(self, small: _Small, barred: set[tuple[int, ...]]) -> None:
        self.small = small
        self.barred = barred
        self.known: dict[tuple[int, ...], Column] = {}
        self.of: dict[int, Column] = {}
        self.leaves: list[Column] = []
        self.written: list[tuple[Arena, Column]] = []

    def add(self, values: Sequence[int]) -> None:
        """The column of these values, without those that are members already."""
        rest = tuple(v for v in values if v not in self.of)
        if len(rest) < 2:
            return
        stack = [self._column(rest)]
        while stack:
            column = stack.pop()
            operands = self._operands(column.values)
            if operands is None:
                self.leaves.append(column)
                continue
            self.of.update(dict.fromkeys(column.values, column))
            column.missing = len(column.values)
            made: list[Column | int] = []
            for operand in operands:
                if isinstance(operand, int):
                    made.append(operand)
                    continue
                new = operand not in self.known
                made.append(self._column(operand))
                if new:
                    stack.append(self.known[operand])
            column.operands = tuple(made)

    def _column(self, values: tuple[int, ...]) -> Column:
        found = self.known.get(values)
        if found is None:
            found = self.known[values] = Column(values)
        return found

    def _operands(self, values: tuple[int, ...]) -> list[int | tuple[int, ...]] | None:
        """The operands of one flat node that computes these values; None if there is none."""
        if values in self.barred or len(set(values)) < len(values):
            return None
        if any(v in self.of for v in values):
            return None
        nodes = [self.small.operation(v) for v in values]
        first = nodes[0]
        if first is None:
            return None
        key = alike(first)
        if any(node is None or alike(node) != key for node in nodes):
            return None
        types = self.small.graph.types
        found: list[int | tuple[int, ...]] = []
        for column in zip(*[node.inputs for node in nodes if node is not None], strict=True):
            if all(types[v].shape for v in column):
                found.append(column)
            elif len(set(column)) == 1:
                found.append(column[0])
            else:
                return None
        return found

    def find_arenas(self) -> None:
        """Which columns are variables that are read, or written, as one."""
        writes: dict[int, str] = {}
        for name, value in self.small.program.writes:
            writes.setdefault(value, name)
        seen: set[int] = set()
        for column in self.of.values():
            if id(column) not in seen and all(v in writes for v in column.values):
                names = tuple(writes[v] for v in column.values)
                self.written.append((self._arena(names, column), column))
            seen.add(id(column))
        known = {arena.names: arena for arena, _ in self.written}
        for column in self.leaves:
            names = tuple(self.small.variables.get(v, "") for v in column.values)
            column.arena = known.pop(names, None)

    def _arena(self, names: tuple[str, ...], column: Column) -> Arena:
        types = self.small.graph.types
        shapes: Any = tuple(types[v].shape for v in column.values)
        return Arena(names, shapes, types[column.values[0]].dtype)


class _Emission:
    """The program with flat nodes, under construction."""

    def __init__(self, columns: _Columns) -> None:
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
        return elements(self.graph.types[value])

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
