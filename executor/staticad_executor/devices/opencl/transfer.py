"""Copies between the host's memory, a device's own, and that of another device.

They go through chunks of pinned memory, which the hardware reads and writes by itself while the
host goes on; the events of chunks say when they may be used again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyopencl as cl

from staticad_schema.types import Array

from .buffers import Memory
from .runtime import Runtime, failure

CHUNK = 4 << 20
# Two are enough for the host to fill one while the device empties the other.
CHUNKS = 2


class _Chunk:
    """Pinned memory, and the end of the copy that uses it."""

    __slots__ = ("_pinned", "busy", "host")

    def __init__(self, runtime: Runtime, size: int) -> None:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        self._pinned = cl.Buffer(runtime.context, flags, size=size)
        access: Any = cl.map_flags.READ | cl.map_flags.WRITE
        self.host, self.busy = cl.enqueue_map_buffer(
            runtime.queue, self._pinned, access, 0, (size,), np.dtype(np.uint8)
        )


class Staging:
    """The pinned memory of a device and the copies through it.  Usable from any thread.

    chunk: bytes of a piece.
    """

    def __init__(self, runtime: Runtime, chunk: int = CHUNK) -> None:
        self._runtime = runtime
        self._size = chunk
        self._lock = threading.RLock()
        self._chunks: list[_Chunk] = []
        self._turn = 0

    def upload(self, array: Array, memory: Memory) -> None:
        """Enqueue a copy of a contiguous array to the device.

        The array may change as soon as this returns; kernels that are enqueued later see the
        copy.  Raises MemoryError, ExecutionError.
        """
        octets = _octets(array)
        with self._lock:
            try:
                for start, stop in self._pieces(octets.size):
                    chunk = self._next()
                    chunk.host[: stop - start] = octets[start:stop]
                    chunk.busy = cl.enqueue_copy(
                        self._runtime.queue,
                        memory.buffer,
                        chunk.host[: stop - start],
                        dst_offset=memory.offset + start,
                        is_blocking=False,
                    )
            except (cl.Error, MemoryError) as error:
                raise failure(error, f"{self._runtime.found.label}: upload") from error

    def download(self, memory: Memory, array: Array) -> None:
        """Copy from the device into a contiguous array, after all that is enqueued.

        Raises MemoryError, ExecutionError.
        """
        octets = _octets(array)
        with self._lock:
            for start, piece in self._downloaded(memory, octets.size):
                octets[start : start + piece.size] = piece

    def send(self, memory: Memory, target: Staging, target_memory: Memory) -> None:
        """Copy to another place of this device, or to another device.

        Within a device it is enqueued.  To another, while one piece is on its way to the host, the
        one before is on its way from there.  Raises MemoryError, ExecutionError.
        """
        nbytes = min(memory.nbytes, target_memory.nbytes)
        if target is self:
            self._copy(memory, target_memory, nbytes)
            return
        # Two devices that send to each other take the locks in the same order.
        first, second = sorted((self, target), key=id)
        with first._lock, second._lock:
            for start, piece in self._downloaded(memory, nbytes):
                target.upload(piece, target_memory.part(start, piece.size))

    def _copy(self, memory: Memory, target: Memory, nbytes: int) -> None:
        if nbytes == 0:
            return
        try:
            cl.enqueue_copy(
                self._runtime.queue,
                target.buffer,
                memory.buffer,
                src_offset=memory.offset,
                dst_offset=target.offset,
                byte_count=nbytes,
            )
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"{self._runtime.found.label}: copy") from error

    def trim(self) -> None:
        """Release the pinned memory when the copies through it have ended."""
        with self._lock:
            for chunk in self._chunks:
                self._runtime.wait(chunk.busy)
            self._chunks.clear()
            self._turn = 0

    def _downloaded(self, memory: Memory, nbytes: int) -> Iterator[tuple[int, Array]]:
        """Starts and pieces; the next piece is on its way while one is used."""
        waiting: list[tuple[int, int, _Chunk]] = []
        try:
            for start, stop in self._pieces(nbytes):
                if len(waiting) == CHUNKS:
                    yield self._arrived(*waiting.pop(0))
                chunk = self._next()
                chunk.busy = cl.enqueue_copy(
                    self._runtime.queue,
                    chunk.host[: stop - start],
                    memory.buffer,
                    src_offset=memory.offset + start,
                    is_blocking=False,
                )
                waiting.append((start, stop, chunk))
                self._runtime.flush()
            while waiting:
                yield self._arrived(*waiting.pop(0))
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"{self._runtime.found.label}: download") from error

    def _arrived(self, start: int, stop: int, chunk: _Chunk) -> tuple[int, Array]:
        self._runtime.wait(chunk.busy)
        return start, chunk.host[: stop - start]

    def _pieces(self, nbytes: int) -> Iterator[tuple[int, int]]:
        for start in range(0, nbytes, self._size):
            yield start, min(start + self._size, nbytes)

    def _next(self) -> _Chunk:
        """A chunk whose last copy has ended."""
        if len(self._chunks) < CHUNKS:
            chunk = _Chunk(self._runtime, self._size)
            self._chunks.append(chunk)
        else:
            chunk = self._chunks[self._turn]
            self._turn = (self._turn + 1) % CHUNKS
        self._runtime.wait(chunk.busy)
        return chunk


def _octets(array: Array) -> Array:
    """The array's bytes, not copied.  Raises ValueError where it is not contiguous."""
    if not array.flags.c_contiguous:
        raise ValueError("copies to and from devices are of contiguous arrays")
    return array.reshape(-1).view(np.uint8)
