"""Memory that both sides see, and memory of the device's own."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

from staticad_executor.devices.opencl.buffers import BufferPool, share
from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.discovery import Found
from staticad_executor.devices.opencl.launch import Launch
from staticad_executor.devices.opencl.limits import limits_of
from staticad_executor.devices.opencl.runtime import Runtime
from staticad_executor.pool import BlockPool
from staticad_schema.types import Array

SOURCE = """
kernel void scaled(global const int *x, ulong x_first, global int *out, ulong out_first, long step)
{
    long i = (long)get_global_id(0);
    out[out_first + i] = 10 * x[(long)x_first + i * step];
}
"""


def shared(runtime: Runtime) -> Runtime:
    if not runtime.shares_host:
        pytest.skip("this device does not share the host's memory")
    return runtime


def scaled(runtime: Runtime, x: Array, out: Array) -> None:
    """Ten times x into out, in place on both sides."""
    step = np.int64(x.strides[0] // 4)
    arguments = (*share(runtime, x).arguments(4), *share(runtime, out).arguments(4), step)
    Launch(runtime, runtime.program(SOURCE), "scaled", arguments, x.shape)()
    runtime.finish()


@pytest.mark.parametrize("size", [1, 3, 1023, 1024, 1025, 100_000])
def test_arrays_are_shared_in_place(runtime: Runtime, size: int) -> None:
    shared(runtime)
    pool = BlockPool()
    whole = np.arange(size + 5, dtype=np.int32)
    unaligned, aligned = whole[3 : 3 + size], pool.empty((size,), np.dtype(np.int32))
    aligned[...] = 7
    scaled(runtime, unaligned, aligned)
    assert (aligned == 10 * np.arange(3, 3 + size)).all()
    aligned[-1] = -1
    scaled(runtime, aligned, unaligned)
    assert unaligned[-1] == -10
    assert whole[[0, 1, 2, -2, -1]].tolist() == [0, 1, 2, size + 3, size + 4]


def test_views_with_strides_are_shared(runtime: Runtime) -> None:
    shared(runtime)
    x = np.arange(5000, dtype=np.int32)
    out = np.zeros(1000, np.int32)
    for view in (x[4::5], x[4999::-5], x[::-1][:1000]):
        scaled(runtime, view, out)
        assert (out == 10 * view).all()


def test_arrays_that_cannot_be_written_are_shared(runtime: Runtime, tmp_path: Path) -> None:
    shared(runtime)
    x = np.arange(3000, dtype=np.int32)
    x.tofile(tmp_path / "x")
    x.flags.writeable = False
    mapped = np.memmap(tmp_path / "x", np.int32, "r")
    for each in (x, mapped[7:], np.broadcast_to(np.int32(3), (5,))):
        out = np.zeros(each.shape, np.int32)
        scaled(runtime, each, out)
        assert (out == 10 * each).all()


def test_empty_arrays_are_shared(runtime: Runtime) -> None:
    shared(runtime)
    memory = share(runtime, np.empty((0, 3), np.int32))
    assert memory.nbytes == 0


def test_shared_memory_keeps_the_array(runtime: Runtime) -> None:
    shared(runtime)
    out = np.zeros(100_000, np.int32)
    source, target = share(runtime, np.full(100_000, 4, np.int32)), share(runtime, out)
    gc.collect()
    arguments = (*source.arguments(4), *target.arguments(4), np.int64(1))
    Launch(runtime, runtime.program(SOURCE), "scaled", arguments, (100_000,))()
    runtime.finish()
    assert (out == 40).all()


def test_buffers_are_lent_again(runtime: Runtime) -> None:
    pool = BufferPool(runtime)
    lent = pool.lend(5000)
    memory = lent.memory
    assert (memory.nbytes, pool.live_bytes, pool.idle_bytes) == (5000, 8192, 0)
    del lent
    # The memory is in use as long as anybody knows it.
    assert pool.live_bytes == 8192
    buffer = memory.buffer
    del memory
    assert (pool.live_bytes, pool.idle_bytes) == (0, 8192)
    again = pool.lend(8000)
    assert again.memory.buffer is buffer
    assert again.memory.part(100, 50)[1:3] == (100, 50)
    del again
    assert pool.trim() == 8192
    assert (pool.live_bytes, pool.idle_bytes) == (0, 0)


def test_no_more_is_kept_than_the_limit(runtime: Runtime) -> None:
    pool = BufferPool(runtime, limit=20_000)
    lent = [pool.lend(4096 * n) for n in (1, 2, 3)]
    del lent
    assert pool.idle_bytes <= 20_000
    # What came back last is kept longest.
    assert pool.idle_bytes > 0


def test_too_large_buffers_are_refused(found: Found) -> None:
    limits = limits_of(found).restricted(allocation_bytes=9000)
    pool = BufferPool(Runtime(found, limits, cache=DiskCache(None)))
    # Its class of sizes would be beyond the limit.
    assert pool.lend(9000).memory.nbytes == 9000
    with pytest.raises(MemoryError, match=f"{found.label}: 9,001 bytes in one buffer"):
        pool.lend(9001)


def test_what_the_driver_cannot_give_is_a_memory_error(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = BufferPool(runtime)
    lent = pool.lend(5000)
    del lent
    refused: list[int] = []
    original = BufferPool._buffer

    def refuse(self: BufferPool, size: int) -> object:
        refused.append(size)
        if len(refused) == 1 or size > 1 << 20:
            raise MemoryError("no more")
        return original(self, size)

    monkeypatch.setattr(BufferPool, "_buffer", refuse)
    # What lay idle makes room.
    assert pool.lend(10_000).memory.nbytes == 10_000
    assert len(refused) == 2
    with pytest.raises(MemoryError, match="no more"):
        pool.lend(2 << 20)
