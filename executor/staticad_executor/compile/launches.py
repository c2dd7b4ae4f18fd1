"""The calls of instructions that are not NumPy's: launches, copies, waiting.

Kernels are built when a plan is made, and get their memory when a workspace is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from staticad_schema.types import UINT8, Array, TensorType, nbytes

from ..devices.base import HOST
from ..devices.opencl.region import Place, Pointer, Recipe
from ..devices.opencl.small import merged
from ..failure import InNodeError
from ..plan import Call, picking
from ..residence import Held, Resident
from .assign import Assigned, Cell, Instruction
from .moves import End, Given, Launched, Merged, Part, Transfer, Wait
from .synchronize import parts_on, root_of

if TYPE_CHECKING:
    from ..devices.opencl.buffers import Memory
    from ..devices.opencl.commands import Built, Commands
    from ..devices.opencl.device import OpenCLDevice

ARENA = -1
FLAGS = -2
ELSEWHERE = Launched | Merged | Transfer | Given | Wait | End


def _within(
    places: Mapping[Pointer, Place], memories: dict[int, Pointer], pointer: Pointer
) -> tuple[Pointer, int]:
    """What a pointer is in a launch of many kernels: the memory, and the bytes behind its start."""
    memory, offset = places[pointer]
    return memories.setdefault(memory, Pointer("operand", len(memories))), offset


class _Placed(NamedTuple):
    """An instruction's kernels, and the cell that holds its launches."""

    cell: int
    built: Built


class Queue:
    """What a plan does on one device.

    cells: the plan's, to which this adds those that hold launches, commands, memory.
    """

    def __init__(self, device: OpenCLDevice, assigned: Assigned, cells: list[Cell]) -> None:
        device.runtime.require_alive()
        self.device = device
        self._assigned = assigned
        self._cells = cells
        self._placed: list[_Placed] = []
        self._flagged = 0
        self._constants: dict[int, Memory] = {}
        self._given: tuple[int, ...] = ()
        # Of memory in slots of a space of its own, where copies go to.
        self._slots: set[int] = set()
        self._moved: set[int] = set()
        self.commands = _new_cell(cells)
        self.flags = _new_cell(cells)
        self.found = _new_cell(cells)

    def launch(self, parts: Sequence[Part]) -> Call:
        """The call that enqueues the kernels of an instruction, as one if there are several parts.
        Raises ExecutionError."""
        from ..devices.opencl.commands import built

        recipes = [part.launched.recipe for part in parts]
        places = [self._places(part) for part in parts]
        if len(parts) == 1:
            made = built(self.device, recipes[0], places[0])
        else:
            kernels, memories = [], dict[int, Pointer]()
            for recipe, own in zip(recipes, places, strict=True):
                kernels += [(kernel, partial(_within, own, memories)) for kernel in recipe.kernels]
            kernel = merged(kernels, self.device.target)
            roots = {pointer: Place(memory, 0) for memory, pointer in memories.items()}
            made = built(self.device, Recipe((kernel,)), roots)
        cell = _new_cell(self._cells)
        self._placed.append(_Placed(cell, made))
        return operator.call, picking((cell,))

    def _places(self, part: Part) -> dict[Pointer, Place]:
        """Where the pointers of a part's kernels point."""
        kernel = part.launched
        places: dict[Pointer, Place] = {}
        for k, cell in enumerate(part.reads):
            memory, offset = self.place(cell)
            places[Pointer("operand", k)] = Place(memory, offset + kernel.offsets[k])
        for k, cell in enumerate(part.writes):
            memory, offset = self.place(cell)
            scratch = k - kernel.outputs
            pointer = Pointer("output", k) if scratch < 0 else Pointer("scratch", scratch)
            places[pointer] = Place(memory, offset)
        if kernel.flagged:
            places[Pointer("flag")] = Place(FLAGS, 4 * self._flagged)
            self._flagged += 1
        return places

    def place(self, cell: int) -> tuple[int, int]:
        """The memory of a cell, and where it begins there."""
        root, offset = root_of(self._cells, cell)
        found = self._cells[root]
        if found.kind == "slot":
            arena = self._assigned.arenas[found.space]
            if arena.nbytes <= self.device.allocation_bytes or found.space != HOST:
                return ARENA, offset + arena.offsets[found.at]
            self._slots.add(root)
        elif found.kind == "constant" and root not in self._constants:
            self._constants[root] = self.device.filled(np.ascontiguousarray(found.payload))
        return root, offset

    def give(self, item: Instruction) -> Call:
        """The call that tells the device where the values of a run are."""
        self._given = item.reads
        return _bind, picking((self.commands, *map(self._handed, item.reads)))

    def _handed(self, cell: int) -> int:
        """The cell in which a run's value is put: a source or output in another space is there."""
        found = self._cells[cell]
        sources = len(self._assigned.bound.grouped.program.sources)
        return found.at if found.kind == "source" else sources + found.at

    def moves(self, cell: int) -> int:
        """Note that copies go to a cell of this device, or come from it; the cell of its memory."""
        if self._cells[cell].kind == "output":
            return self._handed(cell)
        self._moved.add(cell)
        return cell

    def wait(self) -> Call:
        """The call that waits for the device."""
        return self.device.runtime.finish, picking(())

    def end(self, counts: Sequence[int]) -> Call:
        """The call that waits for the last time.  counts: the nodes of each instruction that has a
        flag."""
        starts = np.cumsum([0, *counts]).tolist()
        device = self.device

        def end(flags: Memory | None, found: Array | None) -> None:
            device.runtime.finish()
            if flags is None or found is None:
                return
            if device.space != HOST:
                device.staging.download(flags, found)
            if found.any():
                which = int(np.flatnonzero(found)[0])
                raise InNodeError(starts[which] + int(found[which]) - 1) from IndexError(
                    "an index is out of range"
                )

        return end, picking((self.flags, self.found))

    def fill(self, arrays: list[Any], arena: Array) -> None:
        """Make the launches of a workspace.  arena: the host's.  Raises MemoryError."""
        from ..devices.opencl.buffers import share
        from ..devices.opencl.commands import Commands

        device = self.device
        memories = dict(self._constants)
        space = self._assigned.arenas.get(device.space)
        if space is not None and space.nbytes:
            if device.space != HOST:
                memories[ARENA] = device.buffers.lend(space.nbytes).memory
            elif space.nbytes <= device.allocation_bytes:
                memories[ARENA] = share(device.runtime, arena)
        for cell in self._slots:
            memories[cell] = share(device.runtime, arrays[cell])
        for cell in self._moved:
            memory, offset = self.place(cell)
            arrays[cell] = memories[memory].part(offset, nbytes(self._cells[cell].type))
        if self._flagged:
            found = np.zeros(self._flagged, np.uint32)
            memories[FLAGS] = device.filled(found)
            arrays[self.flags], arrays[self.found] = memories[FLAGS], found
        commands = arrays[self.commands] = Commands(device, memories, self._given)
        for cell, item in self._placed:
            arrays[cell] = commands.enqueued(item)


class Queues:
    """What a plan does on devices beside NumPy."""

    def __init__(
        self, devices: Mapping[str, OpenCLDevice], assigned: Assigned, cells: list[Cell]
    ) -> None:
        self._assigned = assigned
        self._cells = cells
        self._devices = devices
        self._queues: dict[str, Queue] = {}

    def call(self, item: Instruction) -> tuple[Call, str]:
        """The call of an instruction, and how it does it, for `explain`."""
        kernel = item.kernel
        if isinstance(kernel, Transfer):
            return self._transfer(item, kernel), f"from {kernel.source} to {kernel.target}"
        if isinstance(kernel, Launched):
            part = Part(item.reads, item.writes, kernel)
            return self._queue(kernel.device).launch([part]), kernel.text
        if isinstance(kernel, Merged):
            return self._queue(kernel.device).launch(kernel.parts), kernel.text
        if isinstance(kernel, Given):
            return self._queue(kernel.device).give(item), "where the arrays of the run are"
        if isinstance(kernel, Wait):
            return self._queue(kernel.device).wait(), "until it is done"
        if isinstance(kernel, End):
            parts = parts_on(self._assigned.instructions, kernel.device)
            counts = [len(p.launched.flagged) for p in parts if p.launched.flagged]
            return self._queue(kernel.device).end(counts), "the last time"
        raise TypeError(f"{kernel!r} is NumPy's")

    def _queue(self, device: str) -> Queue:
        found = self._queues.get(device)
        if found is None:
            found = Queue(self._devices[device], self._assigned, self._cells)
            self._queues[device] = found
        return found

    def _transfer(self, item: Instruction, kernel: Transfer) -> Call:
        """The call that copies an operand from one memory space to another."""
        ends = [self._queue(space) if space != HOST else None for space in kernel]
        cells = []
        for queue, cell in zip(ends, (*item.reads, *item.writes), strict=True):
            cells.append(cell if queue is None else queue.moves(cell))
        pick = picking(tuple(cells))
        source, target = ends
        if source is None and target is not None:
            upload = target.device.staging.upload
            return (lambda a, b: upload(a, _memory(b))), pick
        if source is not None and target is None:
            download = source.device.staging.download
            return (lambda a, b: download(_memory(a), b)), pick
        if source is None or target is None:
            raise TypeError("a copy within the host's memory is NumPy's")
        send, there = source.device.staging.send, target.device.staging
        return (lambda a, b: send(_memory(a), there, _memory(b))), pick

    def fill(self, arrays: list[Any], arena: Array) -> None:
        """Make the launches of a workspace.  arena: the host's.  Raises MemoryError."""
        for queue in self._queues.values():
            queue.fill(arrays, arena)

    def lenders(self) -> tuple[Callable[[], Resident] | None, ...]:
        """For each output what gives the memory of a device that it is written to."""
        found: dict[int, Callable[[], Resident]] = {}
        for cell in self._cells:
            if cell.kind == "output" and cell.space != HOST:
                shape: Any = cell.type.shape
                lend = self._devices[cell.space].resident
                found[cell.at] = partial(lend, tuple(shape), cell.type.dtype)
        count = len(self._assigned.bound.grouped.program.outputs)
        return tuple([found.get(k) for k in range(count)])

    def on_host(self) -> tuple[int, ...]:
        """The sources that have to be arrays of the host: whoever reads them does so there."""
        found: set[int] = set()
        for item in self._assigned.instructions:
            for c in item.reads if not isinstance(item.kernel, Given) else ():
                root, _ = root_of(self._cells, c)
                if self._cells[root].kind == "source" and self._cells[root].space == HOST:
                    found.add(self._cells[root].at)
        return tuple(sorted(found))

    @property
    def translated(self) -> Callable[[Exception], Exception] | None:
        """What tells the errors of drivers in our terms; None where there are no devices."""
        if not self._queues:
            return None
        from ..devices.opencl.runtime import translated

        return translated

    @property
    def settle(self) -> Callable[[], None] | None:
        """What waits for all of them; None where there are none."""
        runtimes = [queue.device.runtime for queue in self._queues.values()]

        def settle() -> None:
            for runtime in runtimes:
                runtime.finish()

        return settle if runtimes else None


def _new_cell(cells: list[Cell]) -> int:
    """A cell that holds an object of a workspace's own."""
    cells.append(Cell("constant", TensorType(UINT8, ()), -1))
    return len(cells) - 1


def _bind(commands: Commands, *values: Held) -> None:
    commands.bind(*values)


def _memory(place: Memory | Resident) -> Memory:
    """The memory of a value, in a plan or of a run."""
    memory: Memory = place.memory if isinstance(place, Resident) else place
    return memory
