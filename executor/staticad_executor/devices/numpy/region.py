"""Large regions: a chain of elementwise kernels, run tile by tile.

Values that do not leave the region live in registers: arrays of a tile's size, few enough to
stay in the second-level cache.  A tile is a short list of calls `f(*pick(cells))`.  How a
region is cut never changes a bit, because no elementwise kernel looks at another element.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.errors import CancelledError
from staticad_schema.types import DType

from .elementwise import Elementwise
from .tiles import Shape, Tiling, tiling, trim

Array = np.ndarray[Any, Any]
Call = tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]]]

# Measured on two cores: calls on fewer elements lose to the cost of a call, and two threads
# on fewer lose to handing over the interpreter's lock.
TILE_ELEMENTS = 1 << 15
THREADED_ELEMENTS = 1 << 16
# A region of fewer elements is not cut, nor given to several threads.
WHOLE_ELEMENTS = 1 << 14
PARALLEL_ELEMENTS = 1 << 17


class Part(NamedTuple):
    """One node of a region.  inputs: positions of operands (below the number of operands) or
    results of earlier parts (after them).  output: which of the region's outputs it is, or -1."""

    kernel: Elementwise
    inputs: tuple[int, ...]
    dtype: DType
    output: int


class Region:
    """A compiled region, shared by all runs.

    Called with a `Registers` and the arrays of its operands and outputs, all of which have
    the shapes and strides it was compiled for.
    """

    def __init__(
        self,
        shape: Shape,
        operands: Sequence[tuple[Shape, Shape]],
        outputs: int,
        parts: Sequence[Part],
        threads: int,
    ) -> None:
        count = len(operands) + outputs
        total = int(np.prod(shape))
        self.threads = threads if threads > 1 and total >= PARALLEL_ELEMENTS else 1
        itemsizes = [part.dtype.itemsize for part in parts if part.output >= 0]
        trims = [trim(*layout) for layout in operands]
        layouts = [_trimmed(layout, index) for layout, index in zip(operands, trims, strict=True)]
        layouts += [(shape, _contiguous(shape, itemsize)) for itemsize in itemsizes]
        elements = TILE_ELEMENTS if self.threads == 1 else THREADED_ELEMENTS
        self.cut: Tiling = tiling(shape, layouts, elements)
        self.trims = [*trims, *[None] * outputs]
        self.moving = [k for k, own in enumerate(self.cut.operands) if own is not None]
        self.still = [k for k, own in enumerate(self.cut.operands) if own is None]
        self.indices = _indices(self.cut)
        self.calls, self.registers, targets = _compile(parts, len(operands), count)
        self.hopeful = _hopeful(parts, self.calls, len(operands), targets)
        self.cells = count + len(self.registers)

    @property
    def scratch_bytes(self) -> int:
        """The bytes of registers that one thread needs."""
        return sum(_rounded(_size(self.cut.full) * d.itemsize) for d in self.registers)

    def text(self) -> str:
        """The tiles, for `explain`."""
        shape = "x".join(map(str, self.cut.full))
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        return f"{len(self.cut.tiles)} tiles of {shape}, {len(self.registers)} registers{threads}"

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
            self.run(registers, 0, reshaped, 0, len(self.cut.tiles))
            return
        share = -(-len(self.cut.tiles) // self.threads)
        jobs = [
            registers.executor.submit(
                self.run_quietly, registers, t, reshaped, t * share, (t + 1) * share
            )
            for t in range(1, self.threads)
        ]
        try:
            self.run(registers, 0, reshaped, 0, share)
        finally:
            for job in jobs:
                job.result()

    def run_quietly(
        self, registers: Registers, thread: int, arrays: Sequence[Array], start: int, stop: int
    ) -> None:
        """`run` in a thread of the pool, which has an error state of its own."""
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
        for is_full, index in self.indices[start:stop]:
            cells = full if is_full else rest
            for k in moving:
                cells[k] = arrays[k][index[k]]
            try:
                for function, pick in hopeful:
                    function(*pick(cells))
            except _SpoiledError:
                for function, pick in self.calls:
                    function(*pick(cells))
            if cancel is not None and cancel.is_set():
                raise CancelledError("the run was cancelled", asked="run")
        for cells in (full, rest):
            cells[: len(arrays)] = [None] * len(arrays)


class Registers:
    """A region's registers for one run at a time: lists of cells, for full and last tiles."""

    def __init__(
        self, region: Region, memory: Sequence[Array], token: list[threading.Event | None]
    ) -> None:
        self.token = token
        self.executor: ThreadPoolExecutor = _pool(region.threads)
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
        at += _rounded(_size(region.cut.full) * dtype.itemsize)
    return cells


_POOLS: dict[int, ThreadPoolExecutor] = {}
_POOLS_LOCK = threading.Lock()


def _pool(threads: int) -> ThreadPoolExecutor:
    """The workers that all plans share; threads start when they first have something to do."""
    with _POOLS_LOCK:
        if threads not in _POOLS:
            _POOLS[threads] = ThreadPoolExecutor(max(1, threads - 1), "staticad")
        return _POOLS[threads]


def _indices(cut: Tiling) -> list[tuple[bool, list[tuple[Any, ...] | None]]]:
    """For each tile whether it is full, and the index into each operand."""
    result: list[tuple[bool, list[tuple[Any, ...] | None]]] = []
    for loop, start, stop in cut.tiles:
        axis = len(loop)
        index: list[tuple[Any, ...] | None] = []
        for own in cut.operands:
            if own is None:
                index.append(None)
                continue
            outer = tuple(i if own[a] > 1 else 0 for a, i in enumerate(loop))
            index.append((*outer, slice(start, stop) if own[axis] > 1 else slice(None)))
        result.append((stop - start == cut.full[0], index))
    return result


class _SpoiledError(Exception):
    """A tile has a NaN that may come from a product with zero."""


def _require_no_nan(array: Array) -> None:
    # Any NaN makes the sum of squares NaN, at a fraction of the cost of `isnan`.
    square = np.vdot(array, array)
    if square != square:
        raise _SpoiledError


def _hopeful(
    parts: Sequence[Part], calls: Sequence[Call], operands: int, targets: Sequence[int]
) -> list[Call]:
    """The calls of a tile with guarded products left unguarded.

    NaN spreads: where none of the values that products flow into last is NaN, no product was,
    and nothing needed correction.  So only those last values are looked at; if one is NaN,
    the tile is computed again with the guards.
    """
    tainted = bytearray(operands + len(parts))
    flows_on = bytearray(operands + len(parts))
    for k, part in enumerate(parts, start=operands):
        if part.kernel.unguarded is not None:
            tainted[k] = 1
        if part.kernel.spreads_nan:
            for value in part.inputs:
                if tainted[value]:
                    tainted[k] = flows_on[value] = 1
    result: list[Call] = []
    for k, part in enumerate(parts, start=operands):
        function, pick = calls[k - operands]
        result.append((part.kernel.unguarded or function, pick))
        if tainted[k] and not flows_on[k]:
            target = targets[k - operands]
            result.append((_require_no_nan, operator.itemgetter(slice(target, target + 1))))
    return result


def _compile(
    parts: Sequence[Part], operands: int, count: int
) -> tuple[list[Call], list[DType], list[int]]:
    """The calls of one tile, the dtypes of the registers they use, and where each writes."""
    last = [-1] * (operands + len(parts))
    for position, part in enumerate(parts):
        for k in part.inputs:
            last[k] = position
    cell = list(range(operands)) + [-1] * len(parts)
    registers: list[DType] = []
    free: dict[int, list[int]] = {}
    calls: list[Call] = []
    for position, part in enumerate(parts):
        size = part.dtype.itemsize
        dying = sorted(
            {k for k in part.inputs if k >= operands and last[k] == position
             and parts[k - operands].output < 0}
        )  # fmt: skip
        reusable = [k for k in dying if parts[k - operands].dtype.itemsize == size]
        target = -1
        if part.output >= 0:
            target = operands + part.output
        elif part.kernel.overlap and reusable:
            # Same size but perhaps another dtype: then another register in the same place.
            same = [k for k in reusable if parts[k - operands].dtype == part.dtype]
            if same:
                target = cell[same[0]]
                dying.remove(same[0])
        if target < 0:
            slots = free.get(_key(part.dtype), [])
            if slots:
                target = slots.pop()
            else:
                target = count + len(registers)
                registers.append(part.dtype)
        cell[operands + position] = target
        for k in dying:
            free.setdefault(_key(parts[k - operands].dtype), []).append(cell[k])
        if last[operands + position] < 0 and part.output < 0:
            free.setdefault(_key(part.dtype), []).append(target)
        picks = [cell[k] for k in part.inputs]
        calls.append((part.kernel.function, operator.itemgetter(*picks, target)))
    return calls, registers, cell[operands:]


def _key(dtype: DType) -> int:
    return dtype.num


def _trimmed(layout: tuple[Shape, Shape], index: tuple[slice, ...] | None) -> tuple[Shape, Shape]:
    if index is None:
        return layout
    shape = tuple(1 if i.stop == 1 else size for i, size in zip(index, layout[0], strict=True))
    return shape, layout[1]


def _contiguous(shape: Shape, itemsize: int) -> Shape:
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= size
    return tuple(reversed(strides))


def _size(shape: Shape) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _rounded(nbytes: int) -> int:
    """Up to whole cache lines, and off the distance at which lines of all registers collide."""
    return (nbytes + 63) // 64 * 64 + 128
