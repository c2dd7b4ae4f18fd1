"""What this machine can do at best: the rates that bound every implementation of a computation.

Each is the best of several tries, measured with NumPy; the roofline model of Williams, Waterman
and Patterson (2009) with one roof for matrix products, one for special functions, and one each
for bytes from the cache and from memory.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

LAST_LEVEL_CACHE = 8 << 20
"""Bytes; what is smaller is taken to stay in it."""


class Work(NamedTuple):
    """What has to be done, however it is implemented.

    flops: of products, a multiplication and an addition counted as two.  special: evaluations
    of exp, log, sin and their like.  traffic: bytes read and written.
    """

    flops: float
    special: float
    traffic: float

    def plus(self, other: Work) -> Work:
        """Both."""
        return Work(*[a + b for a, b in zip(self, other, strict=True)])


class Limits(NamedTuple):
    """Rates a second: floating-point operations of products, special functions, bytes."""

    product_flops: float
    special: float
    cache_bytes: float
    memory_bytes: float

    def bound(self, work: Work) -> float:
        """Seconds that the work takes at least, everything overlapping."""
        small = work.traffic <= LAST_LEVEL_CACHE
        return max(
            work.flops / self.product_flops,
            work.special / self.special,
            work.traffic / (self.cache_bytes if small else self.memory_bytes),
        )

    def __str__(self) -> str:
        rates = ", ".join(
            f"{name.replace('_', ' ')} {value / 1e9:.1f}e9"
            for name, value in zip(self._fields, self, strict=True)
        )
        return f"limits a second: {rates}"


@cache
def limits(threads: int) -> Limits:
    """The limits with so many threads, in a quarter of a second; measured once a process."""
    return measured(threads, products=(512,), tries=3, memory=64 << 20)


def measured(
    threads: int,
    products: tuple[int, ...] = (768, 1024, 1536),
    tries: int = 5,
    memory: int = 256 << 20,
) -> Limits:
    """The limits with so many threads.

    products: sizes of square matrices.  memory: bytes of which copies are made.  Products use as
    many threads as the library that NumPy calls was told to.
    """
    return Limits(
        product_flops=max(_product_flops(n, tries) for n in products),
        special=max(_special_rate(f, threads, tries) for f in (np.exp, np.log, np.tanh, np.sin)),
        cache_bytes=_copied_bytes(LAST_LEVEL_CACHE, 20, threads, tries),
        memory_bytes=_copied_bytes(memory, 2, threads, tries),
    )


def _best(work: Callable[[], object], tries: int) -> float:
    """The shortest of several runs, after one that does not count."""
    work()
    times = []
    for _ in range(tries):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def _in_threads(work: Callable[[int], object], threads: int) -> Callable[[], None]:
    """Run `work(i)` in every thread i at once; NumPy's loops let them."""

    def together() -> None:
        running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()

    return together


def _product_flops(n: int, tries: int) -> float:
    a = np.random.default_rng(0).random((n, n), np.float32)
    out = np.empty_like(a)
    return 2.0 * n**3 / _best(lambda: np.matmul(a, a, out), tries)


def _special_rate(function: np.ufunc, threads: int, tries: int) -> float:
    """Evaluations a second, in the cache."""
    count, repeats = 8192, 100
    x = np.linspace(0.1, 2, count, dtype=np.float32)
    outs = [np.empty_like(x) for _ in range(threads)]

    def work(thread: int) -> None:
        for _ in range(repeats):
            function(x, outs[thread])

    return threads * count * repeats / _best(_in_threads(work, threads), tries)


def _copied_bytes(total: int, repeats: int, threads: int, tries: int) -> float:
    """Bytes read and written a second by copies between arrays of `total` bytes altogether."""
    count = total // (8 * threads)
    arrays = [[np.ones(count, np.float32) for _ in "ab"] for _ in range(threads)]

    def work(thread: int) -> None:
        target, source = arrays[thread]
        for _ in range(repeats):
            np.copyto(target, source)

    return total * repeats / _best(_in_threads(work, threads), tries)
