"""What a plan enqueues on a device: kernels with their memory, set once for a workspace.

What a run is given, arrays of the caller and of the session, is bound anew at each run; all other
arguments stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pyopencl as cl

from staticad_schema.types import Array

from ...residence import Held, Resident, hosted
from ..base import HOST
from .buffers import Memory, seen
from .device import OpenCLDevice
from .launch import Launch
from .region import Kernel, LocalBytes, Place, Pointer, Recipe, Table, element_size

# Arrays that runs write come from a pool, and lie where some of the last ones have lain.
REMEMBERED = 8


class Built(NamedTuple):
    """The kernels of a recipe, built, with what each pointer of them points to."""

    kernels: tuple[tuple[cl.Program, str, Kernel], ...]
    places: dict[Pointer, Place]


def built(device: OpenCLDevice, recipe: Recipe, places: dict[Pointer, Place]) -> Built:
    """The kernels of a recipe.  Raises ExecutionError where one does not build."""
    kernels = []
    for kernel in recipe.kernels:
        program = device.runtime.program(kernel.source, keep=device.keeps_binaries)
        kernels.append((program, kernel.name, kernel))
    return Built(tuple(kernels), places)


class Enqueued(partial[object]):
    """The launches of one instruction: called, they are enqueued, and what the driver raises passes
    through.  Used by one run at a time."""

    launches: tuple[Launch, ...]


def enqueued(launches: Sequence[Launch]) -> Enqueued:
    """The launches as one call, which for one of them is the driver's own."""
    calls = [launch.enqueue for launch in launches if 0 not in launch.global_size]
    whole = Enqueued(*(calls[0].func, *calls[0].args) if len(calls) == 1 else (_in_turn, calls))
    whole.launches = tuple(launches)
    return whole


def _in_turn(calls: Sequence[Callable[[], object]]) -> None:
    for call in calls:
        call()


class _Use(NamedTuple):
    """An argument that is memory: its place among the arguments, and the bytes behind the start
    of the memory; size: of an element.  elements: the offset in elements."""

    launch: Launch
    position: int
    offset: int
    size: int
    elements: np.uint64


class _Given:
    """The arguments that are one memory of each run.

    address: where that was in the last run, in the host's memory; known: buffers over the places
    where it has been.  own: memory of the device for copies; copied: whether the arguments are
    that.
    """

    __slots__ = ("address", "copied", "known", "own", "uses")

    def __init__(self, uses: list[_Use]) -> None:
        self.uses = uses
        self.address = -1
        self.known: dict[int, Memory] = {}
        self.own: Memory | None = None
        self.copied = False


class Commands:
    """The launches of a plan on one device, in one workspace.

    memories: those that stay the same from run to run.  given: the others, in the order in which
    `bind` gets them.
    """

    def __init__(
        self, device: OpenCLDevice, memories: Mapping[int, Memory], given: Sequence[int]
    ) -> None:
        self._device = device
        self._memories = memories
        self._uses: dict[int, list[_Use]] = {memory: [] for memory in given}
        self._given = [_Given(uses) for uses in self._uses.values()]
        self._tables: list[Memory] = []

    def enqueued(self, item: Built) -> Enqueued:
        """The launches of an instruction.  Raises MemoryError, ExecutionError."""
        return enqueued([self._launch(*kernel, item.places) for kernel in item.kernels])

    def _launch(
        self, program: cl.Program, name: str, kernel: Kernel, places: dict[Pointer, Place]
    ) -> Launch:
        launch = Launch(
            self._device.runtime, program, name, (), kernel.global_size, kernel.local_size
        )
        position = 0
        for argument in kernel.arguments:
            if isinstance(argument, Pointer):
                size = element_size(kernel.parameters[position])
                memory, offset = places[argument]
                use = _Use(launch, position, offset, size, np.uint64(offset // size))
                known = self._memories.get(memory)
                if known is None:
                    self._uses[memory].append(use)
                else:
                    _point(use, known)
                position += 2
            elif isinstance(argument, Table):
                memory_of = self._table(argument)
                _point(_Use(launch, position, 0, 8, np.uint64(0)), memory_of)
                position += 2
            elif isinstance(argument, LocalBytes):
                launch.bind(position, cl.LocalMemory(argument.nbytes))
                position += 1
            else:
                launch.bind_number(position, argument)
                position += 1
        return launch

    def _table(self, table: Table) -> Memory:
        numbers: Array = np.array(table.values, np.int64)
        memory = self._device.filled(numbers)
        self._tables.append(memory)
        return memory

    def bind(self, *values: Held) -> None:
        """Point to the values of this run: in the host's memory where the device works in that;
        else where they are on the device, or in copies.  Raises MemoryError, ExecutionError."""
        shares = self._device.space == HOST
        for value, given in zip(values, self._given, strict=True):
            if shares:
                array = hosted(value)
                address = array.__array_interface__["data"][0]
                if given.address != address:
                    self._point(given, given.known.get(address) or self._seen(array, given))
                    given.address = address
            elif isinstance(value, Resident) and value.space == self._device.space:
                self._point(given, value.memory)
                given.copied = False
            else:
                self._copy(hosted(value), given)

    def _copy(self, array: Array, given: _Given) -> None:
        if given.own is None:
            given.own = self._device.buffers.lend(max(1, array.nbytes)).memory
        if not given.copied:
            self._point(given, given.own)
            given.copied = True
        if array.nbytes:
            self._device.staging.upload(array, given.own)

    @staticmethod
    def _point(given: _Given, memory: Memory) -> None:
        for use in given.uses:
            _point(use, memory)

    def _seen(self, array: Array, given: _Given) -> Memory:
        """The memory of an array, which is remembered by its address: for a driver the first use
        of a buffer takes ten times as long as another one.  The array itself is not held."""
        known, address = given.known, array.__array_interface__["data"][0]
        if len(known) >= REMEMBERED:
            del known[next(iter(known))]
        memory = known[address] = seen(self._device.runtime, array, address)
        return memory


def _point(use: _Use, memory: Memory) -> None:
    use.launch.bind(use.position, memory.buffer)
    offset = (memory.offset + use.offset) // use.size
    use.launch.bind_number(use.position + 1, np.uint64(offset))
