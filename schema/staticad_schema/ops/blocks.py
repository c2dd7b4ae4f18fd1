"""Sums over leading axes, in an order that work in tiles can keep.

A sum over leading axes adds up rows.  Blocks of rows are summed first, then what these are
summed to: how many rows a block has follows from the shape alone, so whoever has whole blocks of
rows at hand can sum them.  In a block of short rows several lie side by side and are
summed as one wide row, which is added up by halves at the end.  So an element passes fewer
additions than in a sum row by row, and errors are smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..types import Array
from .runs import Spread, in_turn

BLOCK = 1 << 16
"""Elements of a block, about: a tile of a region has as many or more, and of fewer the sums of
blocks cost more than they save."""

WIDE = 1 << 10
"""Elements of a wide row at most: NumPy's loops over shorter ones cost up to 40 times as much."""

FEW = 1 << 12
"""So few elements are summed row by row."""

LONG = 1 << 13
"""Rows that are longer are summed one by one, unless they are summed to less: of a block of them
the sum would be hardly smaller than the block."""

_AT_ONCE = 8
"""Blocks that one thread sums by one call."""


class Block(NamedTuple):
    """How rows are summed to one.

    row: the shape of a row.  axes: those of it that are summed too.  wide: how many rows lie side
    by side.  high: how many of these wide rows a block has.
    """

    row: tuple[int, ...]
    axes: tuple[int, ...]
    wide: int
    high: int

    @property
    def size(self) -> int:
        """How many rows a block has; the last one may have fewer."""
        return self.wide * self.high

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of the sum of a block."""
        if self.wide > 1:
            return (self.wide * math.prod(self.row),)
        return tuple([size for a, size in enumerate(self.row) if a not in self.axes])

    @property
    def width(self) -> int:
        """How many elements the sum of a block has."""
        return math.prod(self.kept)


class Blocks(NamedTuple):
    """How a sum over leading axes is divided: its rows, and a block of them."""

    rows: int
    block: Block

    @property
    def number(self) -> int:
        """How many blocks there are."""
        return -(-self.rows // self.block.size)


@lru_cache(maxsize=4096)
def blocks(shape: tuple[int, ...], axis: tuple[int, ...]) -> Blocks | None:
    """How a sum over these ascending axes of an array of this shape is divided; None if it is
    left to NumPy: not over leading axes, of everything, of few elements."""
    sizes = [(size, a in axis) for a, size in enumerate(shape) if size != 1]
    lead = next((k for k, (_, gone) in enumerate(sizes) if not gone), 0)
    row = tuple([size for size, _ in sizes[lead:]])
    rows, length = math.prod([size for size, _ in sizes[:lead]]), math.prod(row)
    axes = tuple([k for k, (_, gone) in enumerate(sizes[lead:]) if gone])
    if not lead or rows * length <= FEW or (length > LONG and not axes):
        return None
    wide = 1
    while not axes and 2 * wide * length <= WIDE and rows % (2 * wide) == 0:
        wide *= 2
    high = 1 << max(1, BLOCK // (wide * length)).bit_length() - 1
    made = Blocks(rows, Block(row, axes, wide, high))
    return made if made.number > 1 or wide > 1 else None


def summed_axes(have: tuple[int, ...], want: tuple[int, ...]) -> tuple[int, ...]:
    """The axes over which `sum_to` sums an array of the one shape to get the other."""
    lead = len(have) - len(want)
    spread = [lead + a for a, size in enumerate(want) if size == 1 != have[lead + a]]
    return (*range(lead), *spread)


def block_sums(block: Block, x: Array, out: Array) -> None:
    """The sums of the blocks of x: contiguous rows, all blocks of which are whole but the last
    one of all.  out: (blocks, width)."""
    inner = block.row if block.wide == 1 else (block.wide * math.prod(block.row),)
    rows = x.reshape(-1, *inner, copy=False)
    high = block.high
    whole = len(rows) // high
    axes = tuple([1 + a for a in block.axes])
    out = out.reshape(-1, *block.kept, copy=False)
    add: Any = np.add.reduce
    if whole:
        stacked = rows[: whole * high].reshape(whole, high, *inner, copy=False)
        add(stacked, (1, *[1 + a for a in axes]), x.dtype, out[:whole])
    if whole < len(out):
        add(rows[whole * high :], (0, *axes), x.dtype, out[whole])


def total(block: Block, sums: Array, out: Array) -> None:
    """The sum of the sums of blocks."""
    add: Any = np.add.reduce
    flat = out.reshape(-1, copy=False)
    if block.wide == 1:
        add(sums, 0, sums.dtype, flat)
        return
    line = add(sums, 0, sums.dtype) if len(sums) > 1 else sums[0]
    half = len(line) // 2
    while half > len(flat):
        np.add(line[:half], line[half:], line[:half])
        line, half = line[:half], half // 2
    np.add(line[:half], line[half:], flat)


def leading_sum(x: Array, out: Array, parts: Blocks, spread: Spread = in_turn) -> None:
    """The sum of a contiguous array, into a contiguous one.  spread: who sums blocks."""
    block = parts.block
    sums = np.empty((parts.number, block.width), x.dtype)
    rows = x.reshape(parts.rows, *block.row, copy=False)
    size = block.size

    def work(numbers: Iterator[int]) -> None:
        for k in numbers:
            first, last = k * _AT_ONCE, (k + 1) * _AT_ONCE
            block_sums(block, rows[first * size : last * size], sums[first:last])

    spread(work, -(-parts.number // _AT_ONCE))
    total(block, sums, out)


def sum_over(x: Array, axis: Sequence[int], keepdims: bool) -> Array:
    """The sum of a contiguous array over ascending axes, in its own dtype."""
    axis = tuple(axis)
    parts = blocks(x.shape, axis)
    if parts is None:
        return np.asarray(np.sum(x, axis=axis, dtype=x.dtype, keepdims=keepdims))
    shape = [
        1 if a in axis else size for a, size in enumerate(x.shape) if keepdims or a not in axis
    ]
    out = np.empty(shape, x.dtype)
    leading_sum(x, out, parts)
    return out
