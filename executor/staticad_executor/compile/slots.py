"""Slots: pieces of the scratch arena, reused while a plan is made."""

from __future__ import annotations

import bisect

from ..pool import PAGE

LINE = 64
SCALAR = 16
# Values of so many bytes get the part of the arena that fits best, wherever it begins; smaller
# ones, of which there may be very many, a slot of about their size.
LARGE = 1 << 14
# Values of so many bytes begin on pages.
PAGED = 1 << 16
END = 1 << 62


class Slots:
    """sizes: the bytes of each slot, multiples of a cache line, or `SCALAR`.  offsets: where
    large ones are in the arena.

    A large request takes the smallest hole that holds it.  A small one takes the free slot that
    fits best, but none more than `WASTE` times as large; where there is none, a smaller free slot
    grows, which costs only the difference.
    """

    WASTE = 4

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.offsets: dict[int, int] = {}
        self._large: dict[tuple[int, int], int] = {}
        # Unused parts of the arena as (start, stop), ascending; they do not touch.
        self._holes: list[tuple[int, int]] = [(0, END)]
        self._top = 0
        self._free: dict[int, list[int]] = {}
        self._known: list[int] = []  # the sizes in `_free`, ascending

    def take(self, nbytes: int) -> int:
        """A slot of at least so many bytes."""
        if nbytes >= LARGE:
            return self._take_large(nbytes)
        # Scalars are packed, so that a long chain of them stays in cache.
        size = _rounded(nbytes, LINE) if nbytes > SCALAR else SCALAR
        exact = self._free.get(size)
        if exact:
            return exact.pop()
        for k in range(bisect.bisect_left(self._known, size), len(self._known)):
            found = self._known[k]
            if found > self.WASTE * size:
                break
            if self._free[found]:
                return self._free[found].pop()
        for k in range(bisect.bisect_left(self._known, size) - 1, -1, -1):
            found = self._known[k]
            if 2 * found < size:
                break
            if self._free[found]:
                slot = self._free[found].pop()
                self.sizes[slot] = size
                return slot
        self.sizes.append(size)
        return len(self.sizes) - 1

    def give(self, slot: int) -> None:
        """The slot is free again."""
        if slot in self.offsets:
            self._give_large(slot)
            return
        size = self.sizes[slot]
        free = self._free.get(size)
        if free is None:
            free = self._free[size] = []
            bisect.insort(self._known, size)
        free.append(slot)

    def layout(self) -> tuple[list[int], int]:
        """The offset of each slot in the arena, and the arena's size."""
        offsets = [self.offsets.get(slot, -1) for slot in range(len(self.sizes))]
        at = self._top
        small = [slot for slot, offset in enumerate(offsets) if offset < 0]
        for slot in sorted(small, key=lambda s: -self.sizes[s]):
            offsets[slot] = at
            at += self.sizes[slot]
        return offsets, at

    def _take_large(self, nbytes: int) -> int:
        size = _rounded(nbytes, PAGE if nbytes >= PAGED else LINE)
        unit = PAGE if size >= PAGED else 1
        holes = self._holes
        best, least = -1, END + 1
        for k, (start, stop) in enumerate(holes):
            room = stop + -start // unit * unit
            if size <= room < least:
                best, least = k, room
                if room == size:
                    break
        start, stop = holes[best]
        at = stop - least
        end = at + size
        if start == at and end < stop:
            holes[best] = end, stop
        else:
            parts = [(start, at), (end, stop)]
            holes[best : best + 1] = [part for part in parts if part[0] < part[1]]
        if end > self._top:
            self._top = end
        slot = self._large.get((at, size))
        if slot is None:
            slot = self._large[at, size] = len(self.sizes)
            self.sizes.append(size)
            self.offsets[slot] = at
        return slot

    def _give_large(self, slot: int) -> None:
        start = self.offsets[slot]
        stop = start + self.sizes[slot]
        holes = self._holes
        k = bisect.bisect_left(holes, (start, stop))
        if k < len(holes) and holes[k][0] == stop:
            stop = holes.pop(k)[1]
        if k and holes[k - 1][1] == start:
            k -= 1
            start = holes.pop(k)[0]
        holes.insert(k, (start, stop))


def _rounded(nbytes: int, unit: int) -> int:
    return -(-nbytes // unit) * unit
