"""Large regions: a chain of kernels, run tile by tile.

A tile is a run of rows: of single elements where all nodes are elementwise and of one shape,
else of what reductions over the trailing axes take.  Where rows are summed, a tile has whole
blocks of them, and sums these.  Values that do not leave the region live in
registers: arrays of a tile's size, few enough to stay in the second-level cache.  A tile is a
short list of calls `f(*pick(cells))`.  How a region is cut never changes a bit, because no
kernel looks at another row, and NumPy reduces each row of a contiguous array by itself.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.errors import CancelledError
from staticad_schema.types import Array, DType

from ...failure import InNodeError
from .cost import PARALLEL_SECONDS
from .tilecode import Code, Part, SpoiledError, TileCode
from .tiles import Shape, Tiling, contiguous, tiling, trim
from .workers import together

# The cost table.  Measured on two cores with 1 MB of second-level cache each, by processor time
# of whole plans (chains of 13 to 70 ufuncs on float32, softmax and layer norm with gradients):
# tiles of 8k elements take 1.3 to 1.7 times the time of tiles of 64k, of 16k 1.1 to 1.3 times,
# of 32k up to 1.1 times, of 128k the same, though their registers have left that cache.  Two
# threads hand over the interpreter's lock around every call: on tiles of 64k they take up to 1.3
# times the time of tiles of 128k, where most calls are on one number a row.
TILE_ELEMENTS = 1 << 16
# A region of fewer elements is not cut, nor given to several threads.
WHOLE_ELEMENTS = 1 << 14
# Longer rows are not computed from the first node to the last one by one.
LONG_ROW = 1 << 16
# So many tiles are listed when a plan is made; of more, each is found when it is its turn, so
# that planning takes no longer for more elements.
LISTED_TILES = 1 << 12

Index = tuple[bool, list[tuple[Any, ...]]]
"""Of a tile, whether it is full, and its index in each array that is cut."""


class Layout(NamedTuple):
    """shape, strides: of an array.  lead: how many axes of size 1 stand before them, so that it
    has as many axes as the nodes that it is an operand of."""

    shape: Shape
    strides: Shape
    lead: int

    @property
    def padded(self) -> Shape:
        """The shape with these axes."""
        return (1,) * self.lead + self.shape

    @property
    def padding(self) -> tuple[Any, ...]:
        """The index that brings an array to its padded shape, with one element where it repeats."""
        seen = trim(self.shape, self.strides) or (slice(None),) * len(self.shape)
        return (None,) * self.lead + seen

    @property
    def trimmed(self) -> tuple[Shape, Shape]:
        """Shape and strides of that."""
        shape = [
            1 if step == 0 else size for size, step in zip(self.shape, self.strides, strict=True)
        ]
        return (1,) * self.lead + tuple(shape), (0,) * self.lead + self.strides


class Region:
    """A compiled region, shared by all runs.

    Called with a `Registers` and the arrays of its operands and outputs, all of which have
    the shapes and strides it was compiled for.
    """

    def __init__(
        self,
        rows: Shape,
        operands: Sequence[Layout],
        parts: Sequence[Part],
        threads: int,
        code: TileCode,
    ) -> None:
        """rows: the sizes of the axes that are cut.  operands: their layouts.  code: of the parts,
        whatever the sizes of the rows are."""
        results = [result for part in parts for result in part.results]
        leaving = sorted((r for r in results if r.output >= 0), key=lambda r: r.output)
        layouts = dict(enumerate(operands))
        # Sums of blocks of rows, and how many rows a block has.
        self.blocks: list[tuple[int, int]] = []
        for k, result in enumerate(leaving, start=len(operands)):
            shape = (*rows, *result.tail)
            if result.block:
                self.blocks.append((k, result.block))
            else:
                layouts[k] = Layout(shape, contiguous(shape, result.dtype.itemsize), 0)
        width = max(1, *[math.prod(r.tail) for r in results if not r.block])
        width = max(width, *[math.prod(layout.padded[len(rows) :]) for layout in operands], 1)
        total = math.prod(rows) * width
        seconds = math.prod(rows) * sum(map(_nanoseconds, parts)) * 1e-9
        self.threads = threads if seconds >= PARALLEL_SECONDS else 1
        elements = TILE_ELEMENTS
        if self.threads > 1:
            elements = max(elements, min(2 * elements, total // self.threads))
        trimmed = [layout.trimmed for layout in layouts.values()]
        rank = len(rows)
        self.cut: Tiling = tiling(
            rows, [(shape[:rank], strides[:rank]) for shape, strides in trimmed],
            max(1, elements // width), max([block for _, block in self.blocks], default=1),
        )  # fmt: skip
        # How each array is brought into the shape that tiles are cut out of.
        self.views: list[tuple[int, tuple[Any, ...], Shape]] = []
        self.moving: list[int] = []
        self.still: list[int] = []
        walked: list[Shape] = []
        for (k, layout), (shape, _), own in zip(
            layouts.items(), trimmed, self.cut.operands, strict=True
        ):
            stays = all(size == 1 for size in own[: self.cut.axis + 1])
            if stays:
                self.still.append(k)
            else:
                self.moving.append(k)
                walked.append(own)
            if layout.shape:
                kept = own[self.cut.axis :] if stays else own
                self.views.append((k, layout.padding, (*kept, *shape[rank:])))
        self.count = self.cut.tiles
        self.moving += [k for k, _ in self.blocks]
        self.index = partial(_index, self.cut, walked, [block for _, block in self.blocks])
        self.listed = None
        if self.count <= LISTED_TILES:
            self.listed = [self.index(k) for k in range(self.count)]
        self.code = code
        self.arrays = len(operands) + len(leaving)

    @property
    def scratch_bytes(self) -> int:
        """The bytes of registers that one thread needs."""
        return sum(self.register_bytes(*register) for register in self.code.registers)

    def register_bytes(self, dtype: DType, tail: Shape) -> int:
        """The bytes of a register, in whole cache lines, and off the distance at which lines of
        all registers collide."""
        nbytes = math.prod(self.cut.full) * math.prod(tail) * dtype.itemsize
        return (nbytes + 63) // 64 * 64 + 128

    def text(self) -> str:
        """The tiles, for `explain`."""
        shape = "x".join(map(str, self.cut.full))
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        registers = len(self.code.registers)
        return f"{self.count} tiles of {shape}, {registers} registers{threads}"

    def lease(self, memory: Sequence[Array], token: list[threading.Event | None]) -> Registers:
        """Registers in the given scratch memory, one array of bytes a thread."""
        return Registers(self, memory, token)

    def __call__(self, registers: Registers, *arrays: Array) -> None:
        seen: list[Array] = list(arrays)
        for k, index, shape in self.views:
            seen[k] = arrays[k][index].reshape(shape)
        # Threads take the next tile from one iterator, in C, so that none waits for another that
        # has to share its core.
        tiles = iter(self.tiles())
        if self.threads == 1:
            self.run(registers, 0, seen, tiles)
            return
        together(
            [partial(self.run_quietly, registers, t, seen, tiles) for t in range(self.threads)]
        )

    def run_quietly(
        self, registers: Registers, thread: int, arrays: Sequence[Array], tiles: Iterable[Index]
    ) -> None:
        """`run` in any thread, each of which has an error state of its own."""
        with np.errstate(all="ignore"):
            self.run(registers, thread, arrays, tiles)

    def run(
        self, registers: Registers, thread: int, arrays: Sequence[Array], tiles: Iterable[Index]
    ) -> None:
        """These tiles, or what others leave of them."""
        full, rest = registers.cells[thread]
        for cells in (full, rest):
            for k in self.still:
                cells[k] = arrays[k]
        moving = [(k, arrays[k]) for k in self.moving]
        hopeful, guarded, cancel = self.code.hopeful, self.code.guarded, registers.token[0]
        try:
            for is_full, index in tiles:
                cells = full if is_full else rest
                for (k, array), at in zip(moving, index, strict=True):
                    cells[k] = array[at]
                try:
                    _perform(hopeful, cells)
                except SpoiledError:
                    _perform(guarded, cells)
                if cancel is not None and cancel.is_set():
                    raise CancelledError("the run was cancelled", asked="run")
        except BaseException:
            # No thread begins another tile.
            deque(tiles, maxlen=0)
            raise
        finally:
            for cells in (full, rest):
                cells[: len(arrays)] = [None] * len(arrays)

    def tiles(self) -> Iterable[Index]:
        """The indices of all tiles."""
        if self.listed is not None:
            return self.listed
        return map(self.index, range(self.count))


def _nanoseconds(part: Part) -> float:
    """What a part takes for a row."""
    words = (math.prod(r.tail) * r.dtype.itemsize / 4 / (r.block or 1) for r in part.results)
    return part.kernel.cost * max(words)


def _perform(code: Code, cells: list[Any]) -> None:
    calls: Any = iter(code.calls)
    try:
        for function, pick in calls:
            function(*pick(cells))
    except SpoiledError:
        raise
    except Exception as error:
        # The iterator knows how far it came.
        raise InNodeError(code.nodes[~calls.__length_hint__()]) from error


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


def _cells(region: Region, scratch: Array, rows: Shape | None) -> list[Any]:
    registers = region.code.registers
    cells: list[Any] = [None] * (region.arrays + len(registers))
    if rows is None:
        return cells
    at = 0
    for k, (dtype, tail) in enumerate(registers, start=region.arrays):
        cells[k] = np.ndarray((*rows, *tail), dtype, scratch, at)
        at += region.register_bytes(dtype, tail)
    return cells


def _index(cut: Tiling, operands: Sequence[Shape], blocks: Sequence[int], number: int) -> Index:
    """The tile of that number, of these operands and then of sums of blocks of so many rows."""
    loop, start, stop = cut.tile(number)
    axis = cut.axis
    index: list[tuple[Any, ...]] = []
    for own in operands:
        outer = tuple(i if own[a] > 1 else 0 for a, i in enumerate(loop))
        index.append((*outer, slice(start, stop) if own[axis] > 1 else slice(None)))
    if blocks:
        first, last = cut.span(number)
        index += [(slice(first // block, -(-last // block)),) for block in blocks]
    return stop - start == cut.full[0], index
