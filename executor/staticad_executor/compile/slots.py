"""Slots: pieces of the scratch arena, reused while a plan is made."""

from __future__ import annotations

import bisect

LINE = 64
SCALAR = 16


class Slots:
    """sizes: the bytes of each slot, multiples of a cache line, or
    `SCALAR`.

    A request takes the free slot that fits best, but none more than `WASTE` times as large;
    where there is none, a smaller free slot grows, which costs only the difference.
    """

    WASTE = 4

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._free: dict[int, list[int]] = {}
        self._known: list[int] = []  # the sizes in `_free`, ascending

    def take(self, nbytes: int) -> int:
        """A slot of at least so many bytes."""
        # Scalars are packed, so that a long chain of them stays in cache.
        size = (nbytes + LINE - 1) // LINE * LINE if nbytes > SCALAR else SCALAR
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
        size = self.sizes[slot]
        free = self._free.get(size)
        if free is None:
            free = self._free[size] = []
            bisect.insort(self._known, size)
        free.append(slot)
