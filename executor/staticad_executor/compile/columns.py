"""Which values of a program are computed alike, and may be one value: columns.

Starting from the writes: if all values of a column are elementwise nodes of one op, of operands
that are again such columns or one 0-d value, a flat node can take their place; another column is
a leaf, an arena of variables or a concatenation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from staticad_schema.attributes import identity
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import TensorType

from ..program import Arena, Program
from ..work import count
from .rewrites.merge import LARGE_BYTES

# Beside so many elements a call costs little, and gradients that are kept until all are there
# would cost memory.
LARGEST = 1 << 16
# Sizes of whole cache lines come first, so that most stretches of an arena are aligned.
LINE_ELEMENTS = 16


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


class Small:
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
        return 0 < count(type_) <= LARGEST

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
        return sorted(values, key=lambda v: count(types[v]) % LINE_ELEMENTS != 0)

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


def alike(node: Node) -> Any:
    """Equal for nodes that do the same to other operands."""
    own = tuple([identity(value, LARGE_BYTES) for value in node.attributes.values()])
    return node.op, node.types[0].dtype, node.device, own


class Columns:
    """The columns that updates are made of.  of: the column of each member of a flat node.
    leaves: the other columns.  barred: what has to be a leaf."""

    def __init__(self, small: Small, barred: set[tuple[int, ...]]) -> None:
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
