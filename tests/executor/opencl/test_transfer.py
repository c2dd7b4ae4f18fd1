"""Copies to devices, from them, and between them."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from staticad_executor.devices.opencl.buffers import BufferPool
from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.discovery import Found, found_devices
from staticad_executor.devices.opencl.runtime import Runtime
from staticad_executor.devices.opencl.transfer import Staging
from staticad_schema.types import Array

CHUNK = 4096
SIZES = (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 5 * CHUNK + 7)


class Side:
    """A device that is treated as one with memory of its own."""

    def __init__(self, found: Found) -> None:
        self.runtime = Runtime(found, separate=True, cache=DiskCache(None))
        self.staging = Staging(self.runtime, CHUNK)
        self.pool = BufferPool(self.runtime)


def octets(size: int, seed: int = 0) -> Array:
    return np.random.Generator(np.random.Philox(seed)).integers(0, 256, size, np.uint8)


def test_what_goes_up_comes_down(found: Found) -> None:
    side = Side(found)
    assert not side.runtime.shares_host
    for size, offset in itertools.product(SIZES, (0, 12)):
        lent = side.pool.lend(size + 20)
        before, after = octets(size + 20), np.zeros(size + 20, np.uint8)
        side.staging.upload(before, lent.memory)
        sent = octets(size, seed=1)
        side.staging.upload(sent, lent.memory.part(offset, size))
        before[offset : offset + size] = sent
        # It has been copied already.
        sent[...] = 0
        side.staging.download(lent.memory, after)
        assert (after == before).all()
    side.staging.trim()
    side.staging.download(lent.memory, after)
    assert (after == before).all()


def test_arrays_of_any_dtype_and_rank_are_copied(found: Found) -> None:
    side = Side(found)
    for array in (np.float32(3) * np.ones(()), np.arange(24.0).reshape(2, 3, 4), np.ones((0, 2))):
        given = np.asarray(array)
        lent = side.pool.lend(given.nbytes)
        back = np.zeros_like(given)
        side.staging.upload(given, lent.memory)
        side.staging.download(lent.memory, back)
        assert (back == given).all()
    with pytest.raises(ValueError, match="contiguous"):
        side.staging.upload(np.arange(10)[::2], lent.memory)


def test_devices_send_to_each_other(found: Found) -> None:
    for other in found_devices():
        here, there = Side(found), Side(other)
        for size in SIZES:
            source, target = here.pool.lend(size + 8), there.pool.lend(size + 8)
            data, back = octets(size + 8), np.zeros(size + 8, np.uint8)
            here.staging.upload(data, source.memory)
            part = source.memory.part(8, size), there.staging, target.memory.part(8, size)
            there.staging.upload(back, target.memory)
            here.staging.send(*part)
            there.staging.download(target.memory, back)
            assert (back[8:] == data[8:]).all()
            assert not back[:8].any()


def test_both_ways_at_once(found: Found) -> None:
    sides = [Side(found), Side(found)]
    lent = [[side.pool.lend(3 * CHUNK) for _ in "ab"] for side in sides]
    for i in (0, 1):
        sides[i].staging.upload(octets(3 * CHUNK, i), lent[i][0].memory)

    def send(i: int) -> None:
        for _ in range(50):
            sides[i].staging.send(lent[i][0].memory, sides[1 - i].staging, lent[1 - i][1].memory)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(send, (0, 1), timeout=120))
    for i in (0, 1):
        back = np.zeros(3 * CHUNK, np.uint8)
        sides[i].staging.download(lent[i][1].memory, back)
        assert (back == octets(3 * CHUNK, 1 - i)).all()


def test_within_a_device(found: Found) -> None:
    side = Side(found)
    size = 5 * CHUNK + 7
    nothing = side.pool.lend(1).memory.part(0, 0)
    side.staging.send(nothing, side.staging, nothing)
    source, target = side.pool.lend(size), side.pool.lend(size)
    back = np.zeros(size, np.uint8)
    side.staging.upload(octets(size), source.memory)
    side.staging.send(source.memory, side.staging, target.memory)
    side.staging.download(target.memory, back)
    assert (back == octets(size)).all()
