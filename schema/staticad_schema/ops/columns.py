"""Windows copied into the columns of a matrix, in parts that stay in the cache.

Parts depend on shapes only, and with them the order of every sum.  `x` is padded here; its axes
are batch, channels, and the spatial ones.  Views of windows have batch, channels, the kernel's
axes, the windows'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..op import Ints
from ..types import Array
from .runs import SHORT
from .windows import extent, windows_of

BLOCK = 1 << 18
"""Elements of the columns that are made at a time."""

SLAB = 1 << 23
"""Elements of the columns of one image, which else is worked through in slabs of its rows."""

FEW_IMAGES = 32
"""Images along which copies run, at least."""


def slabs(counts: Ints, depth: int) -> list[slice]:
    """Windows along the first axis whose columns fit into memory together, for one image."""
    rows = max(1, SLAB // (depth * math.prod(counts[1:])))
    return [slice(k, min(k + rows, counts[0])) for k in range(0, counts[0], rows)]


def seen(x: Array, some: slice, kernel: int, stride: int, dilation: int) -> Array:
    """What windows along the first axis see of x."""
    return x[:, :, some.start * stride : (some.stop - 1) * stride + extent(kernel, dilation)]


def blocks(view: Array) -> Iterator[tuple[slice, Array]]:
    """For a part of the batch at a time, its windows in memory of their own."""
    size = min(len(view), max(1, BLOCK // math.prod(view.shape[1:])))
    columns = np.empty((size, *view.shape[1:]), view.dtype)
    for first in range(0, len(view), size):
        some = slice(first, min(first + size, len(view)))
        part = columns[: some.stop - first]
        np.copyto(part, view[some])
        yield some, part


class Joined:
    """Columns of a part of the batch as one matrix, where those of single images would be too
    small.  The images come before the windows, or behind them if there are few windows: then
    copies run along the images."""

    def __init__(self, x: Array, kernel: Ints, strides: Ints, dilation: Ints, counts: Ints) -> None:
        self._few = math.prod(counts) < SHORT
        if self._few:
            x = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
        self._view = windows_of(x, kernel, strides, dilation, counts)
        least = FEW_IMAGES if self._few else 1
        size = max(least, BLOCK // math.prod(self._view.shape[1:]))
        self._size = min(len(x), size)
        self._place = self._view.ndim - 1 if self._few else 1 + len(kernel)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """For a part of the batch at a time, columns (channels, *kernel, all of the rest)."""
        for first in range(0, len(self._view), self._size):
            some = slice(first, min(first + self._size, len(self._view)))
            yield some, np.ascontiguousarray(np.moveaxis(self._view[some], 0, self._place))

    def apart(self, x: Array) -> Array:
        """A view of what belongs to a part of the batch, (images, groups, channels, windows),
        with the axes in the order of the columns: groups, channels, then the rest."""
        return x.transpose(1, 2, 3, 0) if self._few else x.transpose(1, 2, 0, 3)
