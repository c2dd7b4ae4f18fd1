"""Stage 7: memory.

Groups become instructions over values; values get cells, the arrays that instructions read
and write.  Computed values live in slots of one scratch arena, reused by liveness; views
share the slot of what they look at; a result takes the slot of an operand that dies with it,
where the kernel allows that; and what is handed out is written where the caller wants it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from staticad_schema.graph import Graph
from staticad_schema.types import Array, TensorType, nbytes

from ..devices.base import HOST, OpenCL
from ..devices.numpy.elementwise import Elementwise
from ..devices.numpy.kernels import Kernel, copy_kernel
from .bind import Bound
from .draft import Chosen, Draft, View
from .fuse import Fused
from .moves import Launched, Transfer
from .slots import Slots
from .write import written


class Cell(NamedTuple):
    """An array of a run.  at: the position among sources or outputs, the slot, or for a view
    the cell it looks at.  payload: a constant's array, a view's function.  space: the memory space
    in which it is.  offset: of a part of a concatenation, where it begins there, in bytes."""

    kind: Literal["source", "output", "constant", "slot", "view"]
    type: TensorType
    at: int
    payload: Any = None
    space: str = HOST
    offset: int = 0


class Instruction(NamedTuple):
    """One call.  reads and writes: cells.  values: what is written, for a copy what is copied.
    kernel: for a region its parts, see `Fused`; on another device see `Launched`."""

    nodes: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    values: tuple[int, ...]
    kernel: Chosen
    step: int


class Arena(NamedTuple):
    """The scratch of a memory space.  slots: bytes of each.  offsets: where each is; slots of
    which one is free may overlap."""

    slots: list[int]
    offsets: list[int]
    nbytes: int


@dataclass(frozen=True, eq=False)
class Assigned:
    """Instructions over cells.  arenas: of each memory space.  live: bytes of scratch that are
    live during each instruction.  kinds: of each step.  notes: what was not found."""

    bound: Bound
    cells: list[Cell]
    instructions: list[Instruction]
    arenas: dict[str, Arena]
    live: list[int]
    kinds: list[str]
    notes: tuple[str, ...]

    @property
    def arena_bytes(self) -> int:
        """The scratch of all memory spaces."""
        return sum(arena.nbytes for arena in self.arenas.values())

    @property
    def value_bytes(self) -> int:
        """The bytes of all values that are computed."""
        nodes, types = self.bound.grouped.program.graph.nodes, self.bound.types
        total = 0
        for item in self.instructions:
            if self.kinds[item.step] == "copy":
                continue
            total += sum(nbytes(self.cells[c].type) for c in item.writes)
            if isinstance(item.kernel, Fused | Launched):
                inside = {v for i in item.nodes for v in nodes[i].outputs}
                total += sum(nbytes(types[v]) for v in inside.difference(item.values))
        return total

    def text(self) -> str:
        """The instructions, each with the cells it reads and writes."""
        graph = self.bound.grouped.program.graph
        lines = []
        for item in self.instructions:
            names = "+".join(graph.nodes[i].op for i in item.nodes) or "copy"
            reads = ", ".join(self.cell_text(c) for c in item.reads)
            writes = ", ".join(self.cell_text(c) for c in item.writes)
            lines.append(f"{item.step}: {names}({reads}) -> {writes}")
        for space, arena in self.arenas.items():
            sizes = ", ".join(map(str, arena.slots))
            where = "" if space == HOST else f" on {space}"
            lines.append(f"slots{where} of {sizes or 'no'} bytes")
        lines[-1] += f"; values of {self.value_bytes} bytes"
        return "\n".join(lines) + "\n"

    def cell_text(self, index: int) -> str:
        """A cell for readers, e.g. "slot2"."""
        cell = self.cells[index]
        if cell.kind == "view":
            return f"view of {self.cell_text(cell.at)}"
        where = "" if cell.space == HOST else f"@{cell.space}"
        return (cell.kind if cell.kind == "constant" else f"{cell.kind}{cell.at}") + where


def assign(
    bound: Bound, python_scalars: bool = False, devices: Mapping[str, OpenCL] | None = None
) -> Assigned:
    """Instructions and memory for a program with concrete sizes.

    python_scalars: whether 0-d regions may compute with Python's floats.  devices: see
    `written`.
    """
    return _place(written(bound, python_scalars, True, devices))


def _place(draft: Draft) -> Assigned:
    """Memory for the instructions of a draft."""
    bound, graph, types, views = draft.bound, draft.graph, draft.types, draft.views
    program = bound.grouped.program
    cells: list[Cell] = []
    cell_of: dict[int, int] = {}
    place_of = {source.value: k for k, source in enumerate(program.sources)}
    for k, source in enumerate(program.sources):
        cell_of[source.value] = len(cells)
        cells.append(Cell("source", types[source.value], k))
    steps = draft.steps
    computed = {v for writes in steps.writes for v in writes} | draft.joined
    base = _bases(views)
    handed: list[tuple[int, int]] = []
    for k, value in enumerate(draft.results):
        cells.append(Cell("output", types[value], k, None, draft.away.get(value, HOST)))
        if value in computed and value not in cell_of:
            cell_of[value] = len(cells) - 1
        else:
            handed.append((value, len(cells) - 1))
    ends, read = _ends(steps.reads, base, handed)
    away = draft.away
    slots = {HOST: Slots()}
    slot_cells: dict[tuple[str, int, TensorType], int] = {}
    slot_of: dict[int, int] = {}
    bytes_of: dict[int, int] = {}
    instructions: list[Instruction] = []
    live: list[int] = []
    alive = 0
    originals = draft.originals

    def cell(value: int) -> int:
        looking = []
        while value not in cell_of and value in views:
            looking.append(value)
            value = views[value][0]
        if value not in cell_of:
            cell_of[value] = len(cells)
            space = away.get(value, HOST)
            if value in draft.arrived:
                at = place_of[draft.arrived[value]]
                cells.append(Cell("source", types[value], at, None, space))
            else:
                array = _constant(bound, graph, originals.get(value, value))
                cells.append(Cell("constant", types[value], -1, array, space))
        at = cell_of[value]
        for view in reversed(looking):
            space, offset = away.get(view, HOST), draft.part_at.get(view, 0)
            cells.append(Cell("view", types[view], at, views[view][1], space, offset))
            at = cell_of[view] = len(cells) - 1
        return at

    for position, (nodes, wanted, made, chosen, number) in enumerate(
        zip(steps.nodes, steps.reads, steps.writes, steps.kernels, steps.numbers, strict=True)
    ):
        reads = tuple([cell_of[v] if v in cell_of else cell(v) for v in wanted])
        dying = [root for root in ends[position] if root in slot_of] if position in ends else []
        writes = []
        for value in made:
            known = cell_of.get(value)
            if known is None:
                # A part of a concatenation is written there, where it takes no other's place.
                stored = base.get(value, value) if base else value
                if stored not in cell_of:
                    type_ = types[stored]
                    size = bytes_of[stored] = nbytes(type_)
                    space = away.get(stored, HOST) if away else HOST
                    root = -1
                    if dying and stored == value:
                        where = made.index(value)
                        near = [v for v in dying if away.get(v, HOST) == space] if away else dying
                        root = _overwritten(chosen, wanted, where, type_, near, types, base)
                    if root >= 0:
                        dying.remove(root)
                        slot = slot_of.pop(root)
                        alive -= bytes_of[root]
                    else:
                        own = slots.get(space)
                        if own is None:
                            own = slots[space] = Slots()
                        slot = own.take(size)
                    alive += size
                    slot_of[stored] = slot
                    key = space, slot, type_
                    known = slot_cells.get(key)
                    if known is None:
                        known = slot_cells[key] = len(cells)
                        cells.append(Cell("slot", type_, slot, None, space))
                    cell_of[stored] = known
                known = cell_of[value] if stored == value else cell(value)
            writes.append(known)
        live.append(alive)
        for value in made:
            if value not in read and value in slot_of:
                dying.append(value)
        for root in dying:
            slots[away.get(root, HOST)].give(slot_of.pop(root))
            alive -= bytes_of[root]
        values = made
        if originals and not originals.keys().isdisjoint(made):
            values = tuple([originals.get(v, v) for v in made])
        instructions.append(Instruction(nodes, reads, tuple(writes), values, chosen, number))
    kinds = list(draft.kinds)
    for value, target in handed:
        kinds.append("copy")
        producer = graph.producers[originals.get(value, value)]
        space = away.get(value, HOST)
        kernel = copy_kernel() if space == HOST else Transfer(space, space)
        instructions.append(
            Instruction((producer,), (cell(value),), (target,), (value,), kernel, len(kinds) - 1)
        )
        live.append(alive)
    arenas = {space: Arena(own.sizes, *own.layout()) for space, own in slots.items()}
    return Assigned(bound, cells, instructions, arenas, live, kinds, tuple(draft.notes))


def _bases(views: dict[int, tuple[int, View]]) -> dict[int, int]:
    """For each view the value whose memory it shares."""
    base: dict[int, int] = {}
    for value in views:
        looking = []
        while value in views and value not in base:
            looking.append(value)
            value = views[value][0]
        root = base.get(value, value)
        base.update(dict.fromkeys(looking, root))
    return base


def _ends(
    steps: Sequence[tuple[int, ...]], base: dict[int, int], handed: Sequence[tuple[int, int]]
) -> tuple[dict[int, list[int]], set[int]]:
    """For instructions the values whose memory they are the last to read; all that are read."""
    ends: dict[int, list[int]] = {}
    read = {base.get(value, value) for value, _ in handed}
    for position in range(len(steps) - 1, -1, -1):
        for value in steps[position]:
            root = base.get(value, value) if base else value
            if root not in read:
                read.add(root)
                ends.setdefault(position, []).append(root)
    return ends, read


def _overwritten(
    chosen: Chosen,
    reads: Sequence[int],
    where: int,
    out: TensorType,
    dying: Sequence[int],
    types: Sequence[TensorType],
    base: dict[int, int],
) -> int:
    """A dying operand in whose memory the result of this number may be written, or -1."""
    if isinstance(chosen, Kernel | Transfer):
        return -1
    if isinstance(chosen, Elementwise) and not chosen.overlap:
        return -1
    if all(size == 1 for size in out.shape):
        # On one element NumPy takes an overlap for a risk and copies: thrice the time of a call.
        return -1
    for root in dying:
        type_ = types[root]
        if type_.shape != out.shape or type_.dtype.itemsize != out.dtype.itemsize:
            continue
        readers = [v for v in reads if base.get(v, v) == root]
        if any(v != root for v in readers):
            continue
        places = [k for k, v in enumerate(reads) if v == root]
        if isinstance(chosen, Launched) and not chosen.replaces.issuperset(
            [(k, where) for k in places]
        ):
            continue
        if isinstance(chosen, Fused):
            shape: Any = out.shape
            if not all(chosen.replaces(k, where, shape) for k in places):
                continue
        return root
    return -1


def _constant(bound: Bound, graph: Graph, value: int) -> Array:
    found = bound.constants.get(value)
    if found is not None:
        return found
    array: Array = graph.nodes[graph.producers[value]].attributes["value"]
    return array
