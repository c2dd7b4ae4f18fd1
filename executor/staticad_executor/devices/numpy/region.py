"""Large regions: a chain of elementwise kernels, run tile by tile.

Values that do not leave the region live in registers: arrays of a tile's size, few enough to
stay in the second-level cache.  A tile is a short list of calls `f(*pick(cells))`.  How a
region is cut never changes a bit, because no elementwise kernel looks at another element.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from staticad_schema.errors import CancelledError
from staticad_schema.types import Array

from .tilecode import Part, SpoiledError, compile_tile, unguarded
from .tiles import Shape, Tiling, contiguous, tiling, trim
from .workers import together

# Measured on two cores: calls on fewer elements lose to the cost of a call, and two threads
# on fewer lose to handing over the interpreter's lock.
TILE_ELEMENTS = 1 << 15
THREADED_ELEMENTS = 1 << 16
# A region of fewer elements is not cut, nor given to several threads.
WHOLE_ELEMENTS = 1 << 14
PARALLEL_ELEMENTS = 1 << 17
# So many tiles are listed when a plan is made; of more, each is found when it is its turn, so
# that planning takes no longer for more elements.
LISTED_TILES = 1 << 12

Index = tuple[bool, list[tuple[Any, ...] | None]]
"""Of a tile, whether it is full, and its index in each operand."""


class Region:
    """A compiled region, shared by all runs.

    Called with a `Registers` and the arrays of its operands and outputs, all of which have
    the shapes and strides it was compiled for.  early: for each output whether its memory is
    nobody else's, so that it may hold other values before its own.
    """

    def __init__(
        self,
        shape: Shape,
        operands: Sequence[tuple[Shape, Shape]],
        parts: Sequence[Part],
        threads: int,
        early: Sequence[bool],
    ) -> None:
        outputs = len(early)
        count = len(operands) + outputs
        total = math.prod(shape)
        self.threads = threads if threads > 1 and total >= PARALLEL_ELEMENTS else 1
        itemsizes = [part.dtype.itemsize for part in parts if part.output >= 0]
        trims = [trim(*layout) for layout in operands]
        layouts = [_trimmed(layout, index) for layout, index in zip(operands, trims, strict=True)]
        layouts += [(shape, contiguous(shape, itemsize)) for itemsize in itemsizes]
        elements = TILE_ELEMENTS if self.threads == 1 else THREADED_ELEMENTS
        self.cut: Tiling = tiling(shape, layouts, elements)
        self.trims = [*trims, *[None] * outputs]
        self.moving = [k for k, own in enumerate(self.cut.operands) if own is not None]
        self.still = [k for k, own in enumerate(self.cut.operands) if own is None]
        self.count = self.cut.tiles
        listed = self.count <= LISTED_TILES
        self.listed = [_index(self.cut, k) for k in range(self.count)] if listed else None
        self.calls, self.registers, targets = compile_tile(parts, len(operands), early)
        self.hopeful = unguarded(parts, self.calls, len(operands), targets)
        self.cells = count + len(self.registers)

    @property
    def scratch_bytes(self) -> int:
        """The bytes of registers that one thread needs."""
        return sum(_rounded(math.prod(self.cut.full) * d.itemsize) for d in self.registers)

    def text(self) -> str:
        """The tiles, for `explain`."""
        shape = "x".join(map(str, self.cut.full))
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{self.count} tiles of {shape}, {len(self.registers)} registers{threads}"

    def lease(self, memory: Sequence[Array], token: list[threading.Event | None]) -> Registers:
        """Registers in the given scratch memory, one array of bytes a thread."""
        return Registers(self, memory, token)

    def __call__(self, registers: Registers, *arrays: Array) -> None:
        reshaped: list[Array] = list(arrays)
        for k in self.moving:
            index, own = self.trims[k], self.cut.operands[k]
            array = arrays[k] if index is None else arrays[k][index]
            assert own is not None
            reshaped[k] = array.reshape(own)
        if self.threads == 1:
            self.run(registers, 0, reshaped, 0, self.count)
            return
        share = -(-self.count // self.threads)
        together(
            [
                partial(self.run_quietly, registers, t, reshaped, t * share, (t + 1) * share)
                for t in range(self.threads)
            ]
        )

    def run_quietly(
        self, registers: Registers, thread: int, arrays: Sequence[Array], start: int, stop: int
    ) -> None:
        """`run` in any thread, each of which has an error state of its own."""
        with np.errstate(all="ignore"):
            self.run(registers, thread, arrays, start, stop)

    def run(
        self, registers: Registers, thread: int, arrays: Sequence[Array], start: int, stop: int
    ) -> None:
        """The tiles from `start` to `stop`."""
        full, rest = registers.cells[thread]
        for cells in (full, rest):
            for k in self.still:
                cells[k] = arrays[k]
        hopeful, moving, cancel = self.hopeful, self.moving, registers.token[0]
        try:
            for is_full, index in self.tiles(start, stop):
                cells = full if is_full else rest
                for k in moving:
                    cells[k] = arrays[k][index[k]]
                try:
                    for function, pick in hopeful:
                        function(*pick(cells))
                except SpoiledError:
                    for function, pick in self.calls:
                        function(*pick(cells))
                if cancel is not None and cancel.is_set():
                    raise CancelledError("the run was cancelled", asked="run")
        finally:
            for cells in (full, rest):
                cells[: len(arrays)] = [None] * len(arrays)

    def tiles(self, start: int, stop: int) -> Iterable[Index]:
        """The indices of the tiles from `start` to `stop`."""
        if self.listed is not None:
            return self.listed[start:stop]
        return (_index(self.cut, k) for k in range(start, min(stop, self.count)))


class Registers:
    """A region's registers for one run at a time: lists of cells, for full and last tiles."""

    def __init__(
        self, region: Region, memory: Sequence[Array], token: list[threading.Event | None]
    ) -> None:
        self.token = token
        self.cells = [
            (_cells(region, scratch, region.cut.full), _cells(region, scratch, region.cut.rest))
            for scratch in memory[: region.threads]
        ]


def _cells(region: Region, scratch: Array, shape: Shape | None) -> list[Any]:
    cells: list[Any] = [None] * region.cells
    if shape is None:
        return cells
    at = 0
    first = region.cells - len(region.registers)
    for k, dtype in enumerate(region.registers):
        cells[first + k] = np.ndarray(shape, dtype, scratch, at)
        at += _rounded(math.prod(region.cut.full) * dtype.itemsize)
    return cells


def _index(cut: Tiling, number: int) -> Index:
    """The tile of that number."""
    loop, start, stop = cut.tile(number)
    axis = cut.axis
    index: list[tuple[Any, ...] | None] = []
    for own in cut.operands:
        if own is None:
            index.append(None)
            continue
        outer = tuple(i if own[a] > 1 else 0 for a, i in enumerate(loop))
        index.append((*outer, slice(start, stop) if own[axis] > 1 else slice(None)))
    return stop - start == cut.full[0], index


def _trimmed(layout: tuple[Shape, Shape], index: tuple[slice, ...] | None) -> tuple[Shape, Shape]:
    if index is None:
        return layout
    shape = tuple(1 if i.stop == 1 else size for i, size in zip(index, layout[0], strict=True))
    return shape, layout[1]


def _rounded(nbytes: int) -> int:
    """Up to whole cache lines, and off the distance at which lines of all registers collide."""
    return (nbytes + 63) // 64 * 64 + 128
