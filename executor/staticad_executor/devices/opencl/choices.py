"""How a matrix product is cut up: what a work-item computes, and what is copied before.

A choice never changes the order in which a sum is computed, except that dots sum by lanes: which
of the forms it is, and into how many parts a long sum is cut, follows from shapes and layouts
alone, and tiles from those, the device, and a file of timings if one is named.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from .contraction import Contraction
from .target import WIDEST, Target
from .tuning import Tile, Tiling, tuned

CHUNK = 256
"""Terms of a sum that are added up before that sum is added to a total; of dots, eight times as
many, since each lane has its own."""

# Elements of the right from which on it is copied although it lies in the right order: then a
# chunk of it in place does not stay in a cache.
_LARGE = 1 << 17
# Rows for which that pays; for which it pays where it lies in another order, or is widened.
_MANY, _SOME = 128, 8
# Terms of which dots are made, and until when those of more rows are.
_SHORT, _ROWS_OF_DOTS = 16, 48
# Elements of a result up to which long sums are cut into parts, and their chunks that make one.
_FEW, _CHUNKS, _PARTS = 4096, 4, 16


class Choice(NamedTuple):
    """form: "rows" multiplies elements of the left with vectors of the right along its rows,
    "dots" vectors of both along the sum.  packs_right, packs_left: whether a side is copied
    first, in the order in which it is read.  parts: into how many a sum is cut."""

    form: Literal["rows", "dots"]
    tile: Tile
    packs_right: bool = False
    packs_left: bool = False
    parts: int = 1

    @property
    def columns(self) -> int:
        """The columns of a tile."""
        return self.tile.vectors * (1 if self.form == "dots" else self.tile.lanes)

    @property
    def chunk(self) -> int:
        """Terms whose sum is added to a total."""
        return CHUNK * (8 if self.form == "dots" else 1)

    def part_length(self, depth: int) -> int:
        """Terms of a part of the sum."""
        chunks = -(-depth // self.chunk)
        return -(-chunks // self.parts) * self.chunk

    def __str__(self) -> str:
        tile = self.tile
        unit = "dots" if self.form == "dots" else "columns"
        words = [f"tiles of {tile.rows} by {self.columns} {unit}, vectors of {tile.lanes}"]
        for packs, name in ((self.packs_left, "left"), (self.packs_right, "right")):
            if packs:
                words.append(f"{name} side copied into panels")
        if self.parts > 1:
            words.append(f"sum in {self.parts} parts")
        return ", ".join(words)


PLAIN = Choice("rows", Tile(1, 1, 1, 1, 1))
"""An element a work-item."""


def chosen(c: Contraction, target: Target) -> Choice:
    """The tiles of a product whose work-items do not work together."""
    if target.many_items:
        return PLAIN
    most = vector_lanes(c, target)
    packs = not target.alone and c.depth > 0
    straight = c.left.inner == 1 == c.right.inner
    few = c.rows < _ROWS_OF_DOTS or c.columns * c.depth < _LARGE or not packs
    if straight and c.depth >= _SHORT and c.right.outer != 1 and few:
        return _dots(c, most, packs, tuned(target))
    widened = c.wide.itemsize != c.dtype.itemsize
    right = c.rows >= _SOME and (c.right.outer != 1 or widened)
    large = c.columns * c.depth >= _LARGE or 2 * c.columns <= most
    right |= c.rows >= _MANY and large
    left = c.rows >= _SOME and c.columns >= 2 * most
    left &= widened or 1 not in (c.left.inner, c.left.outer)
    left |= c.left.inner != 1 and c.columns >= _MANY and c.rows * c.depth >= _LARGE
    return _rows(c, most, packs, packs and right, packs and left, tuned(target))


def vector_lanes(c: Contraction, target: Target) -> int:
    """The lanes of explicit vectors."""
    return max(1, min(WIDEST, target.explicit_bytes // c.wide.itemsize))


def _rows(
    c: Contraction, most: int, packs: bool, right: bool, left: bool, tiling: Tiling | None
) -> Choice:
    best = Tile(6, 2, most, 8, 4 if most * c.wide.itemsize <= 32 else 2)
    if tiling is not None:
        best = tiling.rows.get(c.wide.name, best)
    lanes = best.lanes
    while lanes > 1 and lanes > c.columns and not right:
        lanes //= 2
    rows = _count(c.rows, best.rows)
    sums = best.rows * best.vectors
    vectors = best.vectors if rows > best.rows // 2 else min(8, sums // rows)
    vectors = _count(-(-c.columns // lanes) if right else c.columns // lanes, vectors)
    tile = Tile(rows, vectors, lanes, best.high, best.wide)
    return Choice("rows", tile, right, left, parts_of(c, CHUNK) if packs else 1)


def _dots(c: Contraction, most: int, packs: bool, tiling: Tiling | None) -> Choice:
    best = Tile(4, 3, most, 8, 8)
    if tiling is not None:
        best = tiling.dots.get(c.wide.name, best)
    lanes = best.lanes
    while lanes > c.depth:
        lanes //= 2
    rows = _count(c.rows, best.rows)
    vectors = best.vectors if rows > best.rows // 2 else min(8, best.rows * best.vectors // rows)
    tile = Tile(rows, _count(c.columns, vectors), lanes, best.high, best.wide)
    return Choice("dots", tile, parts=parts_of(c, 8 * CHUNK) if packs else 1)


def _count(size: int, most: int) -> int:
    """How many of so many rows or vectors a tile takes: of the larger counts that which leaves the
    least over."""
    if size <= most:
        return max(1, size)
    options = range(most, most // 2, -1)
    return min(options, key=lambda n: (-(-size // n) * n, -n)) if size < 4 * most else most


def parts_of(c: Contraction, chunk: int) -> int:
    """Into how many parts a sum is cut, where there is little else to share."""
    if c.matrices * c.rows * c.columns > _FEW:
        return 1
    return max(1, min(_PARTS, -(-c.depth // chunk) // _CHUNKS))
