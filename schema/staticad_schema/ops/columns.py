"""Convolution of arrays: windows copied into the columns of a matrix, and one matrix product.

What is written here is the meaning of the ops and the NumPy device's kernels alike: functions
of the operands that write into an array.  The batch is worked through in blocks whose columns
stay in the cache; blocks, and with them the order of every sum, depend on shapes only.

Shapes: x (batch, channels, *sizes), w (outputs, channels / groups, *kernel),
g (batch, outputs, *counts).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..op import Ints
from ..types import Array
from .windows import extent, padded, pitches, shares, windows_of

Pairs = Sequence[tuple[int, int]]

BLOCK = 1 << 18
"""Elements of the columns that are made at a time."""

WASTE = 1.2
"""Columns that no window needs, to those that one does, are worth faster copies up to this."""

WIDER = 1.5
"""How many more columns gathering what reaches an element may have than spreading what leaves one.
"""


def conv(
    x: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
    """out = the cross-correlation of x with w."""
    kernel, counts = w.shape[2:], out.shape[2:]
    if not out.size:
        return
    if not w.size:
        out.fill(0)
        return
    depth, width = math.prod(w.shape[1:]), math.prod(counts)
    left = np.ascontiguousarray(w).reshape(groups, -1, depth)
    result = out.reshape(len(x), groups, -1, width)
    if math.prod(kernel) == 1 and width == math.prod(x.shape[2:]) and not any(map(any, padding)):
        np.matmul(left, np.ascontiguousarray(x).reshape(len(x), groups, depth, width), result)
        return
    x = padded(x, padding)
    # Windows that begin at all elements between the first and the last one: each row of the
    # columns is then one run of memory.  Those that wrap around an edge are left out again.
    run = sum((n - 1) * p for n, p in zip(counts, pitches(x.shape[2:]), strict=True)) + 1
    if max(strides) == 1 and width < run <= WASTE * width:
        _conv_runs(x, left, result, kernel, dilation, counts, run)
        return
    for some, columns in _blocks(x, kernel, strides, dilation, counts, groups):
        np.matmul(left, columns, result[some])


def _conv_runs(
    x: Array, left: Array, result: Array, kernel: Ints, dilation: Ints, counts: Ints, run: int
) -> None:
    groups, outputs, depth = left.shape
    steps = x.strides[2:]
    view = as_strided(
        x,
        (*x.shape[:2], *kernel, run),
        (*x.strides[:2], *(s * d for s, d in zip(steps, dilation, strict=True)), x.itemsize),
        writeable=False,
    )
    grid = (counts[0], *x.shape[3:])
    size = min(len(x), max(1, BLOCK // (groups * depth * run)))
    columns = np.empty((size, *view.shape[1:]), x.dtype)
    products = np.empty((size, groups, outputs, math.prod(grid)), x.dtype)
    kept: Any = (..., *(slice(n) for n in counts))
    inside = products.reshape(size, groups, outputs, *grid)[kept]
    target = result.reshape(*result.shape[:3], *counts)
    for first in range(0, len(x), size):
        count = min(size, len(x) - first)
        np.copyto(columns[:count], view[first : first + count])
        matrix = columns[:count].reshape(count, groups, depth, run)
        np.matmul(left, matrix, products[:count, ..., :run])
        target[first : first + count] = inside[:count]


def _blocks(
    x: Array, kernel: Ints, strides: Ints, dilation: Ints, counts: Ints, groups: int
) -> Iterator[tuple[slice, Array]]:
    """For a part of the batch at a time, the columns (part, groups, depth, windows)."""
    view = windows_of(x, kernel, strides, dilation, counts)
    size = min(len(x), max(1, BLOCK // math.prod(view.shape[1:])))
    columns = np.empty((size, *view.shape[1:]), x.dtype)
    for first in range(0, len(x), size):
        count = min(size, len(x) - first)
        np.copyto(columns[:count], view[first : first + count])
        matrix = columns[:count].reshape(count, groups, -1, math.prod(counts))
        yield slice(first, first + count), matrix


def conv_input(
    g: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
    """out = the transpose, in x, of `conv`, applied to g."""
    if not out.size:
        return
    if not (g.size and w.size):
        out.fill(0)
        return
    kernel = w.shape[2:]
    parts = w.reshape(groups, -1, *w.shape[1:])
    depth, width = math.prod(w.shape[1:]), math.prod(g.shape[2:])
    gathered = g.shape[1] * math.prod(kernel) * math.prod(out.shape[2:])
    if max(strides) == 1 and gathered <= WIDER * groups * depth * width:
        # What reaches an element comes from a window of g, through the kernel mirrored.
        turned = np.flip(parts.swapaxes(1, 2), tuple(range(3, parts.ndim)))
        turned = turned.reshape(-1, parts.shape[1], *kernel)
        reach = [extent(k, d) - 1 for k, d in zip(kernel, dilation, strict=True)]
        moved = [(r - low, r - high) for r, (low, high) in zip(reach, padding, strict=True)]
        conv(g, turned, out, strides, moved, dilation, groups)
        return
    counts, sizes = g.shape[2:], out.shape[2:]
    left = np.ascontiguousarray(parts).reshape(groups, -1, depth).swapaxes(1, 2)
    right = np.ascontiguousarray(g).reshape(len(g), groups, -1, width)
    pairs = [shares(n, *pair) for n, pair in zip(sizes, padding, strict=True)]
    inside: Any = (..., *(kept for kept, _ in pairs))
    source: Any = (..., *(kept for _, kept in pairs))
    if any(kept.stop - kept.start < n for (_, kept), n in zip(pairs, sizes, strict=True)):
        out.fill(0)
    size = min(len(g), max(1, BLOCK // (groups * depth * width)))
    columns = np.empty((size, groups, depth, width), g.dtype)
    whole = [n + low + high for n, (low, high) in zip(sizes, padding, strict=True)]
    sums = np.empty((size, out.shape[1], *whole), g.dtype)
    for first in range(0, len(g), size):
        count = min(size, len(g) - first)
        np.matmul(left, right[first : first + count], columns[:count])
        spread(
            columns[:count].reshape(count, -1, *kernel, *counts), sums[:count], strides, dilation
        )
        out[first : first + count][source] = sums[:count][inside]


def spread(columns: Array, out: Array, strides: Ints, dilation: Ints) -> None:
    """out = the sums, at each element, of the places of all windows that lie on it.

    columns: leading axes, then the kernel's, then the windows'.
    """
    rank = len(strides)
    kernel, counts = columns.shape[-2 * rank : -rank], columns.shape[-rank:]
    out.fill(0)
    for place in itertools.product(*map(range, kernel)):
        reached = tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(place, dilation, counts, strides, strict=True)
        )
        where: Any = (..., *reached)
        source: Any = (..., *place, *(slice(None),) * rank)
        out[where] += columns[source]


def conv_weights(
    x: Array, g: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
    """out = the transpose, in w, of `conv`, applied to g."""
    if not out.size:
        return
    if not g.size:
        out.fill(0)
        return
    kernel, counts = out.shape[2:], g.shape[2:]
    depth, width = math.prod(out.shape[1:]), math.prod(counts)
    right = np.ascontiguousarray(g).reshape(len(g), groups, -1, width).swapaxes(2, 3)
    # The products are made transposed, (depth, outputs): BLAS is faster at tall ones.
    total = np.zeros((groups, depth, right.shape[3]), out.dtype)
    for some, columns in _blocks(padded(x, padding), kernel, strides, dilation, counts, groups):
        total += np.matmul(columns, right[some]).sum(axis=0, dtype=out.dtype)
    np.copyto(out.reshape(groups, -1, depth), total.swapaxes(1, 2))
