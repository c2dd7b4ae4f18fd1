"""Blocks are page-aligned, come back with the last view, and are bounded."""

import gc
import threading

import numpy as np
import pytest

from staticad_executor import pool as pool_module
from staticad_executor.pool import PAGE, SMALL, BlockPool, size_class

F32 = np.dtype(np.float32)


@pytest.mark.parametrize("shape", [(1024,), (33, 77), (3, 1, 5000)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "complex128"])
def test_blocks_are_page_aligned(shape: tuple[int, ...], dtype: str) -> None:
    array = BlockPool().empty(shape, np.dtype(dtype))
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.nbytes <= SMALL or array.ctypes.data % PAGE == 0


@pytest.mark.parametrize("shape", [(), (0,), (5, 0, 3), (7,)])
def test_tiny_arrays_take_no_block(shape: tuple[int, ...]) -> None:
    pool = BlockPool()
    assert pool.empty(shape, F32).shape == shape
    assert pool.live_bytes == 0


def test_a_block_comes_back_and_is_used_again() -> None:
    pool = BlockPool()
    array = pool.empty((5000,), F32)
    address, size = array.ctypes.data, pool.live_bytes
    assert size == 20480
    del array
    assert (pool.live_bytes, pool.idle_bytes) == (0, size)
    assert pool.empty((4999,), F32).ctypes.data == address


def test_views_keep_the_block() -> None:
    pool = BlockPool()
    array = pool.empty((100, 100), F32)
    size = pool.live_bytes
    view = array.T[::2].reshape(-1)[:10]
    deep = array[3:].view(np.uint8)[..., 1:]
    exported = array.data
    del array
    assert pool.live_bytes == size
    del deep
    assert pool.live_bytes == size
    del view
    assert pool.live_bytes == size
    other = pool.empty((100, 100), F32)
    assert other.ctypes.data != np.asarray(exported).ctypes.data
    del exported
    assert pool.live_bytes == size


def test_an_array_outlives_its_pool() -> None:
    pool = BlockPool()
    array = pool.empty((10_000,), F32)
    array[:] = 3
    del pool
    gc.collect()
    assert (array == 3).all()


def test_idle_blocks_are_bounded_and_trimmed() -> None:
    pool = BlockPool(limit=100_000)
    arrays = [pool.empty((10_000,), F32) for _ in range(8)]
    del arrays
    pool.settle()
    assert 0 < pool.idle_bytes <= 100_000
    assert pool.trim() > 0
    assert (pool.idle_bytes, pool.live_bytes) == (0, 0)


def test_no_more_is_kept_than_was_ever_used_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "FEW", 0)
    pool = BlockPool()
    most = 0
    for k in range(100):
        array = pool.empty((10_000 + 997 * (k % 50),), F32)
        most = max(most, pool.live_bytes)
        del array
        assert pool.idle_bytes <= most
    # What was not asked for longest went first, so that the last size is there.
    size = pool.idle_bytes
    again = pool.empty((10_000 + 997 * 49,), F32)
    assert pool.idle_bytes < size
    del again


def test_size_classes_waste_little() -> None:
    for nbytes in [1, PAGE, PAGE + 1, 5 * PAGE, 100 * PAGE + 1, 10**6, 10**9 + 7]:
        size = size_class(nbytes)
        assert size % PAGE == 0
        assert nbytes <= size <= max(nbytes * 1.25, nbytes + PAGE)
        assert size_class(size) == size


def test_an_impossible_size_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        BlockPool().empty((1 << 60,), F32)


def test_threads_never_share_a_block() -> None:
    pool = BlockPool()
    failures: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        kept: list[tuple[int, np.ndarray]] = []
        for i in range(300):
            array = pool.empty((int(rng.integers(600, 9000)),), F32)
            array[:] = seed * 1000 + i
            kept.append((seed * 1000 + i, array))
            if len(kept) > 8:
                value, old = kept.pop(int(rng.integers(len(kept))))
                if not (old == value).all():
                    failures.append(f"thread {seed}, array {value}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert pool.live_bytes == 0
