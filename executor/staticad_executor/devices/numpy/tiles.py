"""How a region is cut into tiles that stay in cache.

Axes that all operands walk through alike are merged; then the leading axes become loops and
one axis is cut, so that a tile has about the wanted number of elements and is contiguous in
every contiguous operand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Shape = tuple[int, ...]


def contiguous(shape: Shape, itemsize: int) -> Shape:
    """The strides in bytes of an array in C order."""
    strides = []
    for size in reversed(shape):
        strides.append(itemsize)
        itemsize *= size
    return tuple(reversed(strides))


class Tiling(NamedTuple):
    """shape: the merged axes.  operands: each operand's shape over them, with 1 where it is
    broadcast.  axis: the one that is cut, those before it being loops.
    full, rest: the tile's shape, and that of the last one of the cut axis (None if it is
    full).

    Tiles are counted, not listed: an array may have any number of them."""

    shape: Shape
    operands: tuple[Shape, ...]
    axis: int
    full: Shape
    rest: Shape | None

    @property
    def tiles(self) -> int:
        """How many tiles there are."""
        return math.prod(self.shape[: self.axis]) * -(-self.shape[self.axis] // self.full[0])

    def tile(self, number: int) -> tuple[Shape, int, int]:
        """The tile of that number: loop indices, start and stop of the cut axis."""
        size, step = self.shape[self.axis], self.full[0]
        number, k = divmod(number, -(-size // step))
        loop: list[int] = []
        for outer in reversed(self.shape[: self.axis]):
            number, index = divmod(number, outer)
            loop.insert(0, index)
        return tuple(loop), k * step, min((k + 1) * step, size)

    def span(self, number: int) -> tuple[int, int]:
        """Where the tile of that number begins and ends among all elements."""
        size, step = self.shape[self.axis], self.full[0]
        inner = math.prod(self.full[1:])
        number, k = divmod(number, -(-size // step))
        return (number * size + k * step) * inner, (
            number * size + min((k + 1) * step, size)
        ) * inner


def tiling(
    shape: Shape, layouts: Sequence[tuple[Shape, Shape]], elements: int, block: int = 1
) -> Tiling:
    """The tiles of a region of `shape`, not empty, whose operands have these (shape, strides).

    elements: how many a tile has, about.  block: of all elements, in blocks of so many, a tile has
    whole ones, but for the last block.  No operand repeats itself along an axis by a stride of 0
    (see `trim`).
    """
    strides = [_aligned(shape, *layout) for layout in layouts]
    merged: list[int] = []
    walks: list[list[int]] = [[] for _ in layouts]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if merged and all(
            walk[-1] == stride[axis] * size for walk, stride in zip(walks, strides, strict=True)
        ):
            merged[-1] *= size
            for walk, stride in zip(walks, strides, strict=True):
                walk[-1] = stride[axis]
            continue
        merged.append(size)
        for walk, stride in zip(walks, strides, strict=True):
            walk.append(stride[axis])
    if not merged:
        merged = [1]
        for walk in walks:
            walk.append(0)
    operands = tuple(
        tuple(size if step else 1 for size, step in zip(merged, walk, strict=True))
        for walk in walks
    )
    cut = len(merged) - 1
    inner = 1
    while cut > 0 and inner * merged[cut] <= elements // 2:
        inner *= merged[cut]
        cut -= 1
    while cut > 0 and merged[cut] * inner % block:
        inner *= merged[cut]
        cut -= 1
    unit = block // math.gcd(block, inner)
    step = max(1, min(merged[cut], max(unit, elements // inner // unit * unit)))
    # Tiles of one size: 5 + 5 instead of 8 + 2.
    count = -(-merged[cut] // step)
    step = min(merged[cut], -(-merged[cut] // count // unit) * unit)
    tail = tuple(merged[cut + 1 :])
    last = merged[cut] - (-(-merged[cut] // step) - 1) * step
    return Tiling(
        tuple(merged), operands, cut, (step, *tail), (last, *tail) if last != step else None
    )


def _aligned(shape: Shape, own: Shape, strides: Shape) -> list[int]:
    """An operand's strides along the region's axes, 0 where it is broadcast."""
    lead = len(shape) - len(own)
    return [0] * lead + [0 if s == 1 else t for s, t in zip(own, strides, strict=True)]


def trim(shape: Shape, strides: Shape) -> tuple[slice, ...] | None:
    """The index that leaves one element where an array repeats itself; None if it does not."""
    if not any(size > 1 and step == 0 for size, step in zip(shape, strides, strict=True)):
        return None
    return tuple(
        slice(0, 1) if size > 1 and step == 0 else slice(None)
        for size, step in zip(shape, strides, strict=True)
    )
