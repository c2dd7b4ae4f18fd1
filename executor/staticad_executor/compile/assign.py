"""Stage 7: memory.

Groups become instructions over values; values get cells, the arrays that instructions read
and write.  Computed values live in slots of one scratch arena, reused by liveness; views
share the slot of what they look at; a result takes the slot of an operand that dies with it,
where the kernel allows that; and what is handed out is written where the caller wants it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.types import TensorType

from ..devices.numpy.elementwise import Elementwise, elementwise
from ..devices.numpy.kernels import Kernel, copy_kernel, kernel
from ..devices.numpy.region import WHOLE_ELEMENTS
from .bind import Bound
from .slots import Slots

Array = np.ndarray[Any, Any]
View = Callable[[Array], Array]


class Cell(NamedTuple):
    """An array of a run.  at: the position among sources or outputs, the slot, or for a view
    the cell it looks at.  payload: a constant's array, a view's function."""

    kind: Literal["source", "output", "constant", "slot", "view"]
    type: TensorType
    at: int
    payload: Any = None


class Instruction(NamedTuple):
    """One call.  reads and writes: cells.  kernel: for a region its parts, see `Fused`."""

    nodes: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    kernel: Elementwise | Kernel | Fused
    step: int


class Fused(NamedTuple):
    """A large region: its shape, and for each node (kernel, inputs, output) as `Part` has them."""

    shape: tuple[int, ...]
    parts: tuple[tuple[Elementwise, tuple[int, ...], Any, int], ...]


@dataclass(frozen=True, eq=False)
class Assigned:
    """Instructions over cells.  slots: bytes of each slot.  live: bytes of scratch that are
    live during each instruction.  value_bytes: of all values that are computed."""

    bound: Bound
    cells: list[Cell]
    instructions: list[Instruction]
    slots: list[int]
    live: list[int]
    value_bytes: int
    kinds: list[str]  # of each step

    def text(self) -> str:
        """The instructions, each with the cells it reads and writes."""
        graph = self.bound.grouped.program.graph
        lines = []
        for item in self.instructions:
            names = "+".join(graph.nodes[i].op for i in item.nodes) or "copy"
            reads = ", ".join(self.cell_text(c) for c in item.reads)
            writes = ", ".join(self.cell_text(c) for c in item.writes)
            lines.append(f"{item.step}: {names}({reads}) -> {writes}")
        sizes = ", ".join(map(str, self.slots))
        lines.append(f"slots of {sizes or 'no'} bytes; values of {self.value_bytes} bytes")
        return "\n".join(lines) + "\n"

    def cell_text(self, index: int) -> str:
        """A cell for readers, e.g. "slot2"."""
        cell = self.cells[index]
        if cell.kind == "view":
            return f"view of {self.cell_text(cell.at)}"
        return cell.kind if cell.kind == "constant" else f"{cell.kind}{cell.at}"


def assign(bound: Bound) -> Assigned:
    """Instructions and memory for a program with concrete sizes."""
    draft = _Draft(bound)
    draft.write()
    return _place(draft)


class _Step(NamedTuple):
    """An instruction over values."""

    nodes: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    kernel: Elementwise | Kernel | Fused
    step: int


class _Draft:
    """Instructions over values, before they have memory."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.program = bound.grouped.program
        self.graph: Graph = self.program.graph
        self.types = list(bound.types)
        # For each view the value it looks at directly, and how.
        self.views: dict[int, tuple[int, View]] = {}
        # A strided stand-in without memory for each view, to ask NumPy for its layout.
        self.models: dict[int, Array] = {}
        self.copies: dict[int, int] = {}
        self.steps: list[_Step] = []
        self.kinds: list[str] = []
        self.kernels: dict[Any, Elementwise] = {}

    def write(self) -> None:
        needed = self.needed()
        nodes = self.graph.nodes
        for group in self.bound.grouped.groups:
            members = [i for i in group.nodes if needed[i]]
            if not members:
                continue
            if group.kind == "view" and self.view(members[0]):
                continue
            if group.kind == "region":
                self.kinds.append("region")
                shape: Any = self.types[nodes[members[0]].start].shape
                if not shape or math.prod(shape) <= WHOLE_ELEMENTS:
                    self.small_region(members)
                else:
                    self.large_region(members, group.outputs)
            elif nodes[members[0]].op != "group":
                self.kinds.append("kernel")
                self.kernel(members[0])

    def needed(self) -> bytearray:
        """Which nodes still have to run, now that some values are constants."""
        graph, folded = self.graph, self.bound.folded
        nodes, producers = graph.nodes, graph.producers
        needed = bytearray(len(nodes))
        for value in self.program.outputs:
            needed[producers[value]] = 1
        for index in self.program.effects:
            needed[index] = 1
        draws = self.program.draws
        for index in range(len(nodes) - 1, -1, -1):
            if not needed[index]:
                if not (draws and nodes[index].op == "random_bits"):
                    continue
                needed[index] = 1
            if index in folded:
                needed[index] = 0
                continue
            for value in nodes[index].inputs:
                needed[producers[value]] = 1
        return needed

    # -------------------------------------------------------------- views

    def view(self, index: int) -> bool:
        """Note a view; False if it cannot be one, because elements would have to move."""
        node = self.graph.nodes[index]
        source = node.inputs[0]
        look = _look(node, self.bound.node_attributes(index), self.types[node.start])
        if look is None:
            return False
        model = self.model(source)
        try:
            seen = look(model)
        except ValueError:
            return False
        self.models[node.start] = seen
        self.views[node.start] = source, look
        return True

    def model(self, value: int) -> Array:
        """An array of the value's shape and strides that must not be read."""
        found = self.models.get(value)
        if found is None:
            type_ = self.types[value]
            item = np.empty((), f"V{type_.dtype.itemsize}")
            found = as_strided(item, type_.shape, _strides(type_))  # type: ignore[arg-type]
            self.models[value] = found
        return found

    def contiguous(self, value: int) -> int:
        """The value itself, or a contiguous copy of it if it is a view that is not."""
        if value not in self.views or self.models[value].flags.c_contiguous:
            return value
        copy = self.copies.get(value)
        if copy is None:
            copy = len(self.types)
            self.types.append(self.types[value])
            self.copies[value] = copy
            self.steps.append(_Step((), (value,), (copy,), copy_kernel(), len(self.kinds) - 1))
        return copy

    def walked(self, value: int) -> int:
        """The value as an elementwise operand.  Negative strides are copied away: NumPy's
        loops may round differently when they walk backwards."""
        if value not in self.views or min(self.models[value].strides, default=0) >= 0:
            return value
        return self.contiguous(value)

    # -------------------------------------------------------------- instructions

    def small_region(self, members: Sequence[int]) -> None:
        """One instruction a node."""
        nodes, views, steps = self.graph.nodes, self.views, self.steps
        step = len(self.kinds) - 1
        scalar = not self.types[nodes[members[0]].start].shape
        for index in members:
            node = nodes[index]
            reads = node.inputs
            if views:
                reads = tuple([self.walked(v) for v in reads])
            chosen = self.elementwise(index, node, scalar)
            steps.append(_Step((index,), reads, (node.start,), chosen, step))

    def elementwise(self, index: int, node: Node, scalar: bool = False) -> Elementwise:
        types = self.types
        dtypes = tuple([types[v].dtype for v in node.inputs])
        if node.attributes:
            attributes = self.bound.node_attributes(index)
            return elementwise(node.op, attributes, dtypes, types[node.start].dtype, scalar)
        key = node.op, scalar, dtypes
        found = self.kernels.get(key)
        if found is None:
            out = types[node.start].dtype
            found = self.kernels[key] = elementwise(node.op, {}, dtypes, out, scalar)
        return found

    def large_region(self, members: Sequence[int], leaving: Sequence[int]) -> None:
        """One instruction for all nodes."""
        nodes, types = self.graph.nodes, self.types
        operands: dict[int, int] = {}
        made = {nodes[index].start for index in members}
        for index in members:
            for value in nodes[index].inputs:
                if value not in made:
                    operands.setdefault(self.walked(value), len(operands))
        position = dict(operands)
        for value, copy in self.copies.items():
            if copy in operands:
                position[value] = operands[copy]
        outputs = [v for v in leaving if v in made]
        order = {v: k for k, v in enumerate(outputs)}
        parts = []
        for index in members:
            node = nodes[index]
            parts.append((
                self.elementwise(index, node), tuple([position[v] for v in node.inputs]),
                types[node.start].dtype, order.get(node.start, -1),
            ))  # fmt: skip
            position[node.start] = len(operands) + len(parts) - 1
        shape: Any = types[nodes[members[0]].start].shape
        self.steps.append(
            _Step(tuple(members), tuple(operands), tuple(outputs), Fused(shape, tuple(parts)),
                  len(self.kinds) - 1)
        )  # fmt: skip

    def kernel(self, index: int) -> None:
        node = self.graph.nodes[index]
        chosen = kernel(
            node.op, self.bound.node_attributes(index),
            [self.types[v] for v in node.inputs],
            [self.types[v] for v in node.outputs],
        )  # fmt: skip
        reads = node.inputs
        if chosen.contiguous:
            reads = tuple([self.contiguous(v) for v in reads])
        else:
            reads = tuple([self.walked(v) for v in reads])
        self.steps.append(_Step((index,), reads, tuple(node.outputs), chosen, len(self.kinds) - 1))


def _look(node: Node, attributes: dict[str, Any], out: TensorType) -> View | None:
    """How a view is taken of an array; it raises ValueError where elements would move."""
    match node.op:
        case "reshape":
            shape: Any = out.shape
            return lambda x: x.reshape(shape, copy=False)
        case "permute_dims":
            axes = attributes["axes"]
            return lambda x: x.transpose(axes)
        case "broadcast_to":
            wide: Any = out.shape
            return lambda x: np.broadcast_to(x, wide)
        case "slice":
            index = tuple(slice(*bounds) for bounds in attributes["slices"])
            return lambda x: x[index]
        case "flip":
            turned = tuple(
                slice(None, None, -1 if axis in attributes["axis"] else 1)
                for axis in range(len(out.shape))
            )
            return lambda x: x[turned]
        case "after" | "identity" | "stop_gradient":
            return lambda x: x
    return None


def _strides(type_: TensorType) -> tuple[int, ...]:
    shape: Any = type_.shape
    step = type_.dtype.itemsize
    strides = []
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _place(draft: _Draft) -> Assigned:
    """Memory for the instructions of a draft."""
    bound, graph, types, views = draft.bound, draft.graph, draft.types, draft.views
    program = bound.grouped.program
    cells: list[Cell] = []
    cell_of: dict[int, int] = {}
    for k, source in enumerate(program.sources):
        cell_of[source.value] = len(cells)
        cells.append(Cell("source", types[source.value], k))
    computed = {v for step in draft.steps for v in step.writes}
    base = _bases(views)
    handed: list[tuple[int, int]] = []
    for k, value in enumerate(program.outputs):
        cells.append(Cell("output", types[value], k))
        if value in computed and value not in cell_of:
            cell_of[value] = len(cells) - 1
        else:
            handed.append((value, len(cells) - 1))
    last = _last_reads(draft.steps, base, handed)
    slots = Slots()
    slot_cells: dict[tuple[int, TensorType], int] = {}
    slot_of: dict[int, int] = {}
    bytes_of: dict[int, int] = {}
    instructions: list[Instruction] = []
    live: list[int] = []
    alive = value_bytes = 0

    def cell(value: int) -> int:
        looking = []
        while value not in cell_of and value in views:
            looking.append(value)
            value = views[value][0]
        if value not in cell_of:
            cell_of[value] = len(cells)
            cells.append(Cell("constant", types[value], -1, _constant(bound, graph, value)))
        at = cell_of[value]
        for view in reversed(looking):
            cells.append(Cell("view", types[view], at, views[view][1]))
            at = cell_of[view] = len(cells) - 1
        return at

    for position, step in enumerate(draft.steps):
        reads = tuple([cell_of[v] if v in cell_of else cell(v) for v in step.reads])
        dying = []
        for value in step.reads:
            root = base.get(value, value) if base else value
            if last.get(root) == position and root in slot_of and root not in dying:
                dying.append(root)
        writes = []
        for value in step.writes:
            known = cell_of.get(value)
            type_ = types[value]
            if known is None:
                size = bytes_of[value] = _nbytes(type_)
                value_bytes += size
                root = _overwritten(step, value, dying, types, base) if dying else -1
                if root >= 0:
                    dying.remove(root)
                    slot = slot_of.pop(root)
                    alive -= bytes_of[root]
                else:
                    slot = slots.take(size)
                alive += size
                slot_of[value] = slot
                key = slot, type_
                known = slot_cells.get(key)
                if known is None:
                    known = slot_cells[key] = len(cells)
                    cells.append(Cell("slot", type_, slot))
                cell_of[value] = known
            else:
                value_bytes += _nbytes(type_)
            writes.append(known)
        live.append(alive)
        for value in step.writes:
            if value not in last and value in slot_of:
                dying.append(value)
        for root in dying:
            slots.give(slot_of.pop(root))
            alive -= bytes_of[root]
        instructions.append(Instruction(step.nodes, reads, tuple(writes), step.kernel, step.step))
    for kind in draft.steps:
        if isinstance(kind.kernel, Fused):
            value_bytes += sum(
                _nbytes(types[graph.nodes[i].start])
                for i in kind.nodes
                if graph.nodes[i].start not in kind.writes
            )
    kinds = list(draft.kinds)
    for value, target in handed:
        kinds.append("copy")
        producer = graph.producers[value]
        instructions.append(
            Instruction((producer,), (cell(value),), (target,), copy_kernel(), len(kinds) - 1)
        )
        live.append(alive)
    return Assigned(bound, cells, instructions, slots.sizes, live, value_bytes, kinds)


def _bases(views: dict[int, tuple[int, View]]) -> dict[int, int]:
    """For each view the value whose memory it shares.  Views come after what they look at."""
    base: dict[int, int] = {}
    for value, (source, _) in views.items():
        base[value] = base.get(source, source)
    return base


def _last_reads(
    steps: Sequence[_Step], base: dict[int, int], handed: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """For each value that has memory the last instruction that reads it."""
    last: dict[int, int] = {}
    for position, step in enumerate(steps):
        for value in step.reads:
            last[base.get(value, value)] = position
    for value, _ in handed:
        last[base.get(value, value)] = len(steps)
    return last


def _overwritten(
    step: _Step,
    value: int,
    dying: Sequence[int],
    types: Sequence[TensorType],
    base: dict[int, int],
) -> int:
    """A dying operand in whose memory the result may be written, or -1."""
    chosen = step.kernel
    if isinstance(chosen, Kernel) or (isinstance(chosen, Elementwise) and not chosen.overlap):
        return -1
    out = types[value]
    if all(size == 1 for size in out.shape):
        # On one element NumPy takes an overlap for a risk and copies: thrice the time of a call.
        return -1
    for root in dying:
        type_ = types[root]
        if type_.shape != out.shape or type_.dtype.itemsize != out.dtype.itemsize:
            continue
        readers = [v for v in step.reads if base.get(v, v) == root]
        if any(v != root for v in readers):
            continue
        if isinstance(chosen, Fused) and not _read_before(chosen, step, root, value):
            continue
        return root
    return -1


def _read_before(fused: Fused, step: _Step, operand: int, output: int) -> bool:
    """Whether a region reads an operand for the last time no later than it writes an output."""
    if any(kernel.unguarded is not None for kernel, *_ in fused.parts):
        # A tile with a NaN is computed twice, from operands that must still be there.
        return False
    k, out = step.reads.index(operand), step.writes.index(output)
    writer = next(p for p, part in enumerate(fused.parts) if part[3] == out)
    readers = [p for p, part in enumerate(fused.parts) if k in part[1]]
    return max(readers) < writer or (max(readers) == writer and fused.parts[writer][0].overlap)


def _constant(bound: Bound, graph: Graph, value: int) -> Array:
    found = bound.constants.get(value)
    if found is not None:
        return found
    array: Array = graph.nodes[graph.producers[value]].attributes["value"]
    return array


def _nbytes(type_: TensorType) -> int:
    shape: Any = type_.shape
    size = type_.dtype.itemsize
    for n in shape:
        size *= n
    return size
