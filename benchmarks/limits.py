"""What this machine can do at best: the rates that bound every implementation of a workload.

Each is the best of several tries, measured with NumPy on as many threads as the workloads get.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import benchmarks
from benchmarks.definitions import Cost
from benchmarks.measure import clock

LAST_LEVEL_CACHE = 8 << 20  # bytes; what is smaller is taken to stay in it
TRIES = 5


@dataclass(frozen=True)
class Limits:
    """Rates a second: floating-point operations of products, special functions, bytes."""

    product_flops: float
    special: float
    cache_bytes: float
    memory_bytes: float

    def bound(self, cost: Cost) -> float:
        """Seconds that the work takes at least, everything overlapping."""
        small = cost.traffic <= LAST_LEVEL_CACHE
        return max(
            cost.flops / self.product_flops,
            cost.special / self.special,
            cost.traffic / (self.cache_bytes if small else self.memory_bytes),
        )


def best(work: Callable[[], object]) -> float:
    """The shortest of several runs, after one that does not count."""
    work()
    times = []
    for _ in range(TRIES):
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def in_threads(work: Callable[[int], object]) -> Callable[[], None]:
    """Run `work(i)` in every thread i at once; NumPy's loops let them."""

    def together() -> None:
        threads = [threading.Thread(target=work, args=(i,)) for i in range(benchmarks.THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return together


def product_flops() -> float:
    """Operations a second of large float32 matrix products."""
    rates = []
    for n in (768, 1024, 1536):
        a = np.random.default_rng(0).random((n, n), np.float32)
        out = np.empty_like(a)
        rates.append(2.0 * n**3 / best(lambda a=a, out=out: np.matmul(a, a, out=out)))  # type: ignore[misc]
    return max(rates)


def special_rate() -> float:
    """Evaluations a second of the fastest of exp, log, tanh and sin, in the cache."""
    count, repeats = 8192, 200
    x = np.linspace(0.1, 2, count, dtype=np.float32)
    outs = [np.empty_like(x) for _ in range(benchmarks.THREADS)]
    rates = []
    for function in (np.exp, np.log, np.tanh, np.sin):

        def work(thread: int, function: np.ufunc = function) -> None:
            for _ in range(repeats):
                function(x, outs[thread])

        rates.append(benchmarks.THREADS * count * repeats / best(in_threads(work)))
    return max(rates)


def copy_bytes(total: int, repeats: int) -> float:
    """Bytes read and written a second by copies between arrays of `total` bytes altogether."""
    count = total // (8 * benchmarks.THREADS)
    arrays = [[np.ones(count, np.float32) for _ in "ab"] for _ in range(benchmarks.THREADS)]

    def work(thread: int) -> None:
        target, source = arrays[thread]
        for _ in range(repeats):
            np.copyto(target, source)

    return total * repeats / best(in_threads(work))


def measured() -> Limits:
    """The limits of this machine, in some ten seconds."""
    return Limits(
        product_flops=product_flops(),
        special=special_rate(),
        cache_bytes=copy_bytes(LAST_LEVEL_CACHE, 100),
        memory_bytes=copy_bytes(256 << 20, 4),
    )


def described(limits: Limits) -> str:
    """The rates in one line."""
    values = dataclasses.asdict(limits)
    return "limits a second: " + ", ".join(
        f"{name.replace('_', ' ')} {value / 1e9:.1f}e9" for name, value in values.items()
    )
