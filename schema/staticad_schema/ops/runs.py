"""Windows copied into the columns of a matrix along runs of memory, part by part.

A part is some images of a batch, or some rows of windows of one, so small that its columns stay
in the second-level cache of one thread.  Its images are copied with their padding, and apart by
the phases of the strides, so that neighbouring windows begin at neighbouring elements: a row of
the columns is then one run of memory an image.  Windows that wrap around an edge are among them,
and are not wanted.  Parts depend on shapes only, and with them the order of every sum.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..op import Ints
from ..types import Array

Spread = Callable[[Callable[[Iterator[int]], None], int], None]
"""spread(work, count) lets work take all of range(count), in one thread or in several at once."""


def in_turn(work: Callable[[Iterator[int]], None], count: int) -> None:
    """All in this thread."""
    work(iter(range(count)))


BLOCK = 1 << 17
"""Elements of the columns of a part: half of a second-level cache of 1 MB in float32.  A fourth of
it takes 1.3 times as long, for the cost of calls."""

WASTE = 1.5
"""Columns that no window needs, to those that one does, are worth their products up to this."""

SHORT = 64
"""Windows of an image that are enough for copies along them."""

PHASES = 9
"""Phases of the strides, all axes together, that are worth their copies up to this."""

SMALL = 1 << 19
"""Multiplications of a product that a BLAS does in the thread that asks for it; those of larger
ones it spreads over its own threads, which ours would wait for."""

SMALL_VECTOR = 1 << 13
"""As SMALL, where one side is a vector."""

VECTOR = 16
"""Columns of a product are a multiple of this many, so that registers are full."""

FAST = 64
"""Columns of a product are best so many: 112 GFLOP/s where others have 80 to 104."""

NARROW = 16
"""Columns of a product at least, at 80 % of a core's speed; what is deeper goes to the threads of
the BLAS, in larger parts, one after the other."""

DEEP_WIDTH = 512
"""Columns of a part then, about."""

LARGEST = 1 << 23
"""Elements of the columns of a part at most, unless it has one row of windows."""

WIDTH = 256
"""Columns of a part at least, about, if there are products enough to do with each."""


class Phase(NamedTuple):
    """Places of the kernel along an axis that see the same elements, every stride-th one.

    kernel: the places.  shift, step: of the first, and between them, in such elements.  source:
    the elements.  start: the place of the first of them, behind zeros.
    """

    kernel: slice
    shift: int
    step: int
    source: slice
    start: int


class Axis(NamedTuple):
    """pitch: how many windows apart the same axis begins again.  reach: the largest shift.  full:
    whether the windows see no zero."""

    phases: tuple[Phase, ...]
    pitch: int
    reach: int
    full: bool


def _axis(size: int, kernel: int, count: int, stride: int, low: int, dilation: int) -> Axis:
    common = math.gcd(stride, dilation)
    period, step = stride // common, dilation // common
    phases = []
    pitch, farthest, full = count, 0, True
    for first in range(min(period, kernel)):
        shift, rest = divmod(first * dilation, stride)
        last = shift + (len(range(first, kernel, period)) - 1) * step
        start = max(0, -((rest - low) // stride))
        begin = start * stride + rest - low
        length = min(len(range(begin, size, stride)), count + last - start)
        if length > 0:
            # What is seen behind the end may be the zeros before the next beginning.
            pitch = max(pitch, start + length, count + last - start)
        length = max(length, 0)
        farthest, full = max(farthest, last), full and length == count + last
        source = slice(begin, begin + length * stride, stride)
        phases.append(Phase(slice(first, None, period), shift, step, source, start))
    return Axis(tuple(phases), pitch, farthest, full)


class Part(NamedTuple):
    """images, and rows of windows of each; number: of the rows, among all parts of an image."""

    first: int
    stop: int
    rows: slice
    number: int


class Runs:
    """How a batch is cut into parts, for one choice of shapes.

    run: the columns of an image of a part.  width: those of a part.  depth: the rows of a group.
    """

    def __init__(
        self, shape: Ints, kernel: Ints, strides: Ints, lows: Ints, dilation: Ints, counts: Ints,
        groups: int, direct: bool, deep: bool,
    ) -> None:  # fmt: skip
        self.shape, self.kernel, self.counts, self.groups = shape, kernel, counts, groups
        self.direct, self.deep = direct, deep
        self.lines = shape[1] * math.prod(kernel)
        self.depth = self.lines // groups
        given = tuple(zip(shape[2:], kernel, counts, strides, lows, dilation, strict=True))
        axes = [_axis(*axis) for axis in given]
        pitches = [axis.pitch for axis in axes]
        self.steps = tuple(math.prod(pitches[a + 1 :]) for a in range(len(axes)))
        self.pitch = math.prod(pitches)
        self.axes, self._first = axes, given[0]
        self.combinations = math.prod(len(axis.phases) for axis in axes)
        self.run = self.run_of(counts[0])
        whole = self.lines * self.run
        rows, images = counts[0], 1
        block = max(BLOCK, min((DEEP_WIDTH if deep else WIDTH) * self.lines, LARGEST))
        if whole > block * 5 // 4:
            rows = evenly(rows, max(1, block // (self.lines * self.steps[0])))
        else:
            images = evenly(shape[0], max(1, block // whole))
        self.images, self.rows = images, rows
        self.slabs = -(-counts[0] // rows)
        self.count = -(-shape[0] // images) * self.slabs
        self.width = images * self.run_of(rows)
        reach = sum(axis.reach * step for axis, step in zip(axes, self.steps, strict=True))
        self.length = staggered((images - 1) * self.pitch + self.run_of(rows) + reach)

    def outer(self, number: int) -> Axis:
        """The first axis for the windows of some rows: as if it were cropped."""
        size, kernel, count, stride, low, dilation = self._first
        y = number * self.rows
        return _axis(size, kernel, min(self.rows, count - y), stride, low - y * stride, dilation)

    def run_of(self, rows: int) -> int:
        """The windows from the first to the last of some rows, those between lines included."""
        counts = (rows, *self.counts[1:])
        return sum((n - 1) * step for n, step in zip(counts, self.steps, strict=True)) + 1

    def text(self) -> str:
        """What to call it in `explain`."""
        return f"{self.count} parts of {self.lines}x{self.width}"

    def spread(self, work: Callable[[Iterator[int]], None], count: int, spread: Spread) -> None:
        """Threads of the BLAS and ours would wait for each other."""
        (in_turn if self.deep else spread)(work, count)

    def part(self, k: int) -> Part:
        """The part of that number."""
        image, number = divmod(k, self.slabs)
        first = image * self.images
        stop = min(first + self.images, self.shape[0])
        y = number * self.rows
        return Part(first, stop, slice(y, min(y + self.rows, self.counts[0])), number)

    def block(self, rows: int, depth: int) -> int:
        """The width of the blocks of columns that are multiplied by a matrix of small products
        each; what does not fill one at the end is another."""
        most = self.width if self.deep else small(rows, depth)
        if most >= self.width:
            return self.width
        # With one row it is no product of matrices, which takes the longer the less it is.
        return most // VECTOR * VECTOR if rows == 1 else min(FAST, most // VECTOR * VECTOR)

    def stretches(self, rows: int, others: int) -> tuple[int, int]:
        """(number, width) of the blocks of columns of which rows * others small sums of products
        are taken: as few as possible."""
        most = self.width if self.deep else small(rows, others)
        number = -(-self.width // most)
        width = -(-self.width // number // VECTOR) * VECTOR
        return -(-self.width // width), width


def small(rows: int, others: int) -> int:
    """How many columns leave a product to one thread."""
    return (SMALL_VECTOR if 1 in (rows, others) else SMALL) // (rows * others)


def tall(outputs: int, depth: int) -> int:
    """How many rows a product with columns of that depth has: so many that it is as wide as is
    fast, but no fewer than 8."""
    return divided(outputs, min(32, max(8, SMALL // (depth * FAST))))


def divided(rows: int, most: int) -> int:
    """The largest divisor up to `most`, if it is of about that size; else all of the rows."""
    found = next(n for n in range(min(rows, most), 0, -1) if rows % n == 0)
    return found if 4 * found >= most else rows


def evenly(count: int, most: int) -> int:
    """At most so many at a time, in parts of one size as far as possible."""
    return -(-count // -(-count // most)) if count else 1


def staggered(length: int) -> int:
    """A length at which the beginnings of rows do not collide in a cache."""
    vectors = -(-length // VECTOR)
    return (vectors + 1 - vectors % 2) * VECTOR


@lru_cache(maxsize=256)
def runs_of(
    shape: Ints, kernel: Ints, strides: Ints, padding: tuple[tuple[int, int], ...],
    dilation: Ints, counts: Ints, groups: int, deep: bool,
) -> Runs | None:  # fmt: skip
    """How to work along runs, where that is a way: windows enough, of few phases, that are most
    of those on a run."""
    if math.prod(counts) < SHORT:
        return None
    phases = [
        min(s // math.gcd(s, d), k) for s, d, k in zip(strides, dilation, kernel, strict=True)
    ]
    if math.prod(phases) > PHASES:
        return None
    lows = tuple(low for low, _ in padding)
    direct = max(strides) == 1 and not any(map(any, padding))
    found = Runs(shape, kernel, strides, lows, dilation, counts, groups, direct, deep)
    return found if found.run <= WASTE * math.prod(counts) else None


class Grid:
    """The wanted columns of the matrix of a part, (rows of the matrix, any number)."""

    def __init__(self, runs: Runs, matrix: Array) -> None:
        self._runs, self._matrix = runs, matrix
        self._views: dict[tuple[int, int], Array] = {}

    def of(self, part: Part) -> Array:
        """A view (images, rows of the matrix, *windows)."""
        key = part.stop - part.first, part.rows.stop - part.rows.start
        view = self._views.get(key)
        if view is None:
            lead, step = self._matrix.strides
            images, rows = key
            shape = (images, len(self._matrix), rows, *self._runs.counts[1:])
            steps = [n * step for n in self._runs.steps]
            strides = (self._runs.run_of(rows) * step, lead, *steps)
            view = self._views[key] = as_strided(self._matrix, shape, strides)
        return view


Copies = tuple[Any, Array, Array, Array]
"""What is taken of x, where it goes, what windows see of that, and their lines of the matrix."""

KEPT = 64
"""Parts of which the views are kept."""


class Columns:
    """The memory in which one thread makes the columns of parts.

    matrix: the columns, (lines, stride); behind those of a part they hold anything finite.
    """

    def __init__(self, runs: Runs, dtype: np.dtype[Any], stride: int) -> None:
        self.runs = runs
        self.matrix = np.zeros((runs.lines, stride), dtype)
        shape = (runs.combinations, runs.shape[1], runs.length)
        self._padded = np.zeros((0,) if runs.direct else shape, dtype)
        self._views: dict[tuple[int, int], tuple[bool, list[Copies]]] = {}

    def make(self, x: Array, part: Part) -> None:
        """Copy the windows of a part of x, which is contiguous, into the matrix."""
        runs = self.runs
        if runs.direct:
            self._from(x, part)
            return
        images = part.stop - part.first
        key = images, part.number
        views = self._views.get(key)
        if views is None:
            if len(self._views) >= KEPT:
                self._views.clear()
            views = self._views[key] = self._prepared(images, part.number)
        of_part = x[part.first : part.stop].swapaxes(0, 1)
        full, copies = views
        if not full:
            # Where another part had its elements.
            self._padded.fill(0)
        for source, inside, seen, lines in copies:
            np.copyto(inside, of_part[source])
            np.copyto(lines, seen)

    def _prepared(self, images: int, number: int) -> tuple[bool, list[Copies]]:
        """Whether no zeros have to be written, and the copies for each combination of phases."""
        runs, item = self.runs, self._padded.itemsize
        rows = len(range(number * runs.rows, runs.counts[0]))
        run = runs.run_of(min(rows, runs.rows))
        axes = [runs.outer(number), *runs.axes[1:]]
        lead = self._padded.strides[1]
        found = []
        for k, phases in enumerate(itertools.product(*(axis.phases for axis in axes))):
            base = self._padded[k]
            steps = [step * item for step in runs.steps]
            sizes = [len(range(p.source.start, p.source.stop, p.source.step)) for p in phases]
            places = [len(range(n)[p.kernel]) for n, p in zip(runs.kernel, phases, strict=True)]
            starts = sum(p.start * step for p, step in zip(phases, steps, strict=True))
            inside = np.ndarray(
                (len(base), images, *sizes), base.dtype, base, starts if min(sizes) else 0,
                (lead, runs.pitch * item, *steps),
            )  # fmt: skip
            shifts = sum(p.shift * step for p, step in zip(phases, steps, strict=True))
            apart = [p.step * step for p, step in zip(phases, steps, strict=True)]
            seen = np.ndarray(
                (len(base), *places, images, run), base.dtype, base, shifts,
                (lead, *apart, runs.pitch * item, item),
            )  # fmt: skip
            taken = (slice(None), slice(None), *(p.source for p in phases))
            kernel = (slice(None), *(p.kernel for p in phases))
            found.append((taken, inside, seen, self._lines(images, run)[kernel]))
        return runs.slabs == 1 or axes[0].full, found

    def _lines(self, images: int, run: int) -> Array:
        """The matrix with axes for channels, the kernel, images, windows."""
        shape = (self.runs.shape[1], *self.runs.kernel, images, run)
        used = self.matrix[:, : images * run]
        return used.reshape(shape, copy=False)

    def _from(self, x: Array, part: Part) -> None:
        """x itself is as if padded: there is no padding, nor a stride."""
        runs, (own, lead, *strides) = self.runs, x.strides
        rows = part.rows.stop - part.rows.start
        run, images = runs.run_of(rows), part.stop - part.first
        steps = [axis.phases[0].step for axis in runs.axes]
        seen = np.ndarray(
            (x.shape[1], *runs.kernel, images, run), x.dtype, x,
            part.first * own + part.rows.start * strides[0],
            (lead, *(d * s for d, s in zip(steps, strides, strict=True)), own, x.itemsize),
        )  # fmt: skip
        np.copyto(self._lines(images, run), seen)
