"""Memory for arrays: page-aligned blocks that come back when the last view is collected.

Fresh pages cost a fault each, which is more than most kernels take to fill them, so blocks
are reused.  An array's block is found free by a weak reference whose callback is
`deque.append`: no Python code and no lock runs while an object is being collected, so it
may be collected anywhere, also in a signal handler or while the pool's lock is held.  What
was appended is entered into the books by the next call.
"""

from __future__ import annotations

import math
import mmap
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_schema.types import Array, DType

PAGE = 4096
# Below this a page would be mostly waste, and a copy to any device costs less than a call.
SMALL = 2048
DEFAULT_LIMIT = 1 << 30
FEW = 1 << 26


class Block:
    """Pages of memory, lent to one array at a time."""

    __slots__ = ("lease", "memory", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.memory = _map_pages(size)
        self.lease: _Lease | None = None


class _Lease(weakref.ref[Array]):
    """A weak reference to the array that uses a block; appended to the pool's returns."""

    __slots__ = ("block",)
    block: Block


class BlockPool:
    """Blocks by size class.  Usable from any thread.

    limit: bytes kept idle at most, and no more are kept than arrays ever used at once (or
    `FEW`); the rest goes back to the operating system, what was not asked for longest first.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._returned: deque[Any] = deque()
        self._lent: set[Block] = set()
        self._idle: dict[int, list[Block]] = {}
        self._idle_bytes = 0
        self._live_bytes = 0
        self._most_live_bytes = 0

    def empty(self, shape: Sequence[int], dtype: DType) -> Array:
        """A C-contiguous array of undefined content, aligned to a page unless it is tiny.

        Raises MemoryError.
        """
        nbytes = math.prod(shape) * dtype.itemsize
        if nbytes <= SMALL:
            return np.empty(shape, dtype)
        size = size_class(nbytes)
        with self._lock:
            if self._returned:
                self._settle()
            idle = self._idle.get(size)
            if idle:
                block = idle.pop()
                self._idle_bytes -= size
            else:
                block = Block(size)
            self._live_bytes += size
            self._most_live_bytes = max(self._most_live_bytes, self._live_bytes)
            # The buffer is no array, so NumPy cannot shorten a view's chain of bases past
            # this array: it lives as long as any view of it.
            array: Array = np.ndarray(shape, dtype, block.memory)
            lease = _Lease(array, self._returned.append)
            lease.block = block
            block.lease = lease
            self._lent.add(block)
        return array

    @property
    def live_bytes(self) -> int:
        """Bytes of the blocks that arrays use now."""
        with self._lock:
            self._settle()
            return self._live_bytes

    @property
    def idle_bytes(self) -> int:
        """Bytes of the blocks that are kept for reuse."""
        with self._lock:
            self._settle()
            return self._idle_bytes

    def settle(self) -> None:
        """Enter what has come back, and give back what exceeds the limit."""
        if self._returned:
            with self._lock:
                self._settle()

    def trim(self) -> int:
        """Give all idle blocks back to the operating system; return their bytes."""
        with self._lock:
            self._settle()
            freed = self._idle_bytes
            self._idle.clear()
            self._idle_bytes = 0
            return freed

    def _settle(self) -> None:
        while self._returned:
            block = self._returned.popleft().block
            block.lease = None
            self._lent.discard(block)
            self._live_bytes -= block.size
            # Sizes stand in the order in which their blocks came back.
            blocks = self._idle.pop(block.size, [])
            self._idle[block.size] = blocks
            blocks.append(block)
            self._idle_bytes += block.size
        most = min(self.limit, max(FEW, self._most_live_bytes))
        while self._idle_bytes > most:
            size = next(iter(self._idle))
            blocks = self._idle[size]
            if blocks:
                blocks.pop()
                self._idle_bytes -= size
            if not blocks:
                del self._idle[size]


def size_class(nbytes: int) -> int:
    """The size of the block for so many bytes: pages, in four steps from one power of two to
    the next, so that at most a fifth of a large block is unused."""
    pages = -(-nbytes // PAGE)
    step = 1 << max(0, (pages - 1).bit_length() - 3)
    return -(-pages // step) * step * PAGE


def _map_pages(size: int) -> mmap.mmap:
    try:
        if hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        return mmap.mmap(-1, size)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(f"cannot map {size:,} bytes") from error
