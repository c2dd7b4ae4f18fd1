"""Memory that kernels can use: the host's own, seen by a device that shares it, or the device's.

A `Memory` is a buffer and an offset into it.  Kernels take a pointer and an offset in elements,
so that one buffer serves all values that a plan keeps in a block.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from staticad_schema.types import Array

from ...pool import DEFAULT_LIMIT, PAGE, size_class
from .runtime import Runtime, failure

FLAGS = cl.mem_flags


class Memory(NamedTuple):
    """Bytes within a buffer.  owner: what keeps the bytes alive."""

    buffer: cl.Buffer
    offset: int
    nbytes: int
    owner: object

    def arguments(self, itemsize: int) -> tuple[cl.Buffer, np.uint64]:
        """The two arguments of a kernel that stand for it: buffer and offset in elements."""
        return self.buffer, np.uint64(self.offset // itemsize)

    def part(self, offset: int, nbytes: int) -> Memory:
        """Some of its bytes."""
        return Memory(self.buffer, self.offset + offset, nbytes, self.owner)


def share(runtime: Runtime, array: Array) -> Memory:
    """The memory of a NumPy array, as a device that shares the host's memory sees it.

    The buffer begins where drivers ask buffers to begin before they use memory in place, so any
    array will do whose elements are aligned; of a view with strides it is the first element that
    the memory's offset means.  A read-only array gives memory that kernels may only read.

    NumPy sees what kernels wrote after `Runtime.finish`.  Raises MemoryError.
    """
    memory = seen(runtime, array, array.__array_interface__["data"][0])
    return memory._replace(owner=array)


def seen(runtime: Runtime, array: Array, first: int) -> Memory:
    """The same of an array whose first element is at that address.  Whoever uses it has to see to
    it that the array lives on: the memory does not hold it."""
    if array.flags.c_contiguous:
        low, high = first, first + array.nbytes
    else:
        low, high = np.lib.array_utils.byte_bounds(array)
    # What lies before the array is in the same page, and no kernel touches it.
    start = low & -min(runtime.limits.alignment, PAGE)
    window = (ctypes.c_char * (max(high, low + 1) - start)).from_address(start)
    access = FLAGS.READ_WRITE if array.flags.writeable else FLAGS.READ_ONLY
    try:
        buffer = cl.Buffer(runtime.context, access | FLAGS.USE_HOST_PTR, hostbuf=window)
    except (cl.Error, MemoryError) as error:
        size = len(window)
        raise failure(error, f"{runtime.found.label}: {size:,} shared bytes") from error
    return Memory(buffer, first - start, high - first, None)


class Lent:
    """A buffer that goes back to its pool when this object is collected."""

    __slots__ = ("__weakref__", "_buffer", "_nbytes")

    def __init__(self, buffer: cl.Buffer, nbytes: int) -> None:
        self._buffer = buffer
        self._nbytes = nbytes

    @property
    def memory(self) -> Memory:
        """The buffer's bytes; whoever holds them holds this object."""
        return Memory(self._buffer, 0, self._nbytes, self)


class _Lease(weakref.ref[Lent]):
    __slots__ = ("buffer", "size")
    buffer: cl.Buffer
    size: int


class BufferPool:
    """Buffers of a device's own memory, by size class, kept for the next run.

    limit: bytes kept idle at most.  Usable from any thread.  Since the device's queue runs in
    order, a buffer may be lent again while kernels that use it are still enqueued.
    """

    def __init__(self, runtime: Runtime, limit: int = DEFAULT_LIMIT) -> None:
        self._runtime = runtime
        self._limit = limit
        self._lock = threading.Lock()
        # Filled while objects are collected, when no lock may be taken: see staticad_executor.pool.
        self._returned: deque[Any] = deque()
        self._leases: set[_Lease] = set()
        self._idle: dict[int, list[cl.Buffer]] = {}
        self._idle_bytes = 0
        self._live_bytes = 0

    def lend(self, nbytes: int) -> Lent:
        """A buffer of at least so many bytes, of undefined content.

        Raises MemoryError where the device has no more, or no single buffer may be so large.
        """
        limits = self._runtime.limits
        size = size_class(max(1, nbytes))
        if size > limits.allocation_bytes:
            # The class may be beyond the limit where the request is not.
            size = nbytes
        if size > limits.allocation_bytes:
            raise MemoryError(
                f"{self._runtime.found.label}: {nbytes:,} bytes in one buffer, "
                f"at most {limits.allocation_bytes:,}"
            )
        with self._lock:
            self._settle()
            idle = self._idle.get(size)
            if idle:
                buffer = idle.pop()
                self._idle_bytes -= size
            else:
                buffer = self._allocated(size)
            lent = Lent(buffer, nbytes)
            lease = _Lease(lent, self._returned.append)
            lease.buffer, lease.size = buffer, size
            self._leases.add(lease)
            self._live_bytes += size
        return lent

    def _allocated(self, size: int) -> cl.Buffer:
        try:
            return self._buffer(size)
        except (cl.Error, MemoryError):
            # What lies idle is memory, too.
            self._drop(0)
        try:
            return self._buffer(size)
        except (cl.Error, MemoryError) as error:
            raise failure(error, f"{self._runtime.found.label}: {size:,} bytes") from error

    def _buffer(self, size: int) -> cl.Buffer:
        return cl.Buffer(self._runtime.context, FLAGS.READ_WRITE, size=size)

    @property
    def live_bytes(self) -> int:
        """Bytes of the buffers that are lent."""
        with self._lock:
            self._settle()
            return self._live_bytes

    @property
    def idle_bytes(self) -> int:
        """Bytes of the buffers that are kept for reuse."""
        with self._lock:
            self._settle()
            return self._idle_bytes

    def trim(self) -> int:
        """Give all idle buffers back to the driver; return their bytes."""
        with self._lock:
            self._settle()
            return self._drop(0)

    def _settle(self) -> None:
        while self._returned:
            lease = self._returned.popleft()
            self._leases.discard(lease)
            self._live_bytes -= lease.size
            # Sizes stand in the order in which their buffers came back.
            buffers = self._idle.pop(lease.size, [])
            self._idle[lease.size] = buffers
            buffers.append(lease.buffer)
            self._idle_bytes += lease.size
        self._drop(self._limit)

    def _drop(self, limit: int) -> int:
        """Release idle buffers until no more than so many bytes are left; return theirs."""
        before = self._idle_bytes
        while self._idle_bytes > limit:
            size = next(iter(self._idle))
            buffers = self._idle[size]
            if buffers:
                buffers.pop()
                self._idle_bytes -= size
            if not buffers:
                del self._idle[size]
        return before - self._idle_bytes
