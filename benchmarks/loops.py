"""What loops in a graph cost: an LSTM by `scan` beside the same unrolled, and an empty iteration.

    python benchmarks/loops.py

Times are the best of several, taken in turn; both networks must have the same losses.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import numpy as np

import staticad as sad
from benchmarks import THREADS
from benchmarks.on_staticad.running import Built
from benchmarks.on_staticad.sequences import lstm_by_scan, lstm_train
from benchmarks.yardstick import WORKLOADS

ROUNDS = 12
LENGTH = 100_000


def best(functions: list[Callable[[], Any]], rounds: int = ROUNDS) -> list[float]:
    """The least seconds of each, called in turn."""
    found = [float("inf")] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            found[k] = min(found[k], time.perf_counter() - start)
    return found


def stepping(built: Built, w: Any) -> Callable[[], float]:
    """What trains one step on the first batch and gives the loss."""
    session = sad.Session(built.graph, device="numpy", threads=THREADS)
    run = session.callable(list(built.fetches), list(built.feeds))
    batch = [w.batches[0][x.name] for x in built.feeds]
    return lambda: float(built.answer(run(*batch)))


def lstm() -> None:
    """The network both ways."""
    w = WORKLOADS["lstm_train"]()
    unrolled, scanned = lstm_train(w), lstm_by_scan(w)
    both = unrolled, scanned
    bodies = [sum(len(f.body.nodes) for f in b.graph.functions.values()) for b in both]
    nodes = [len(b.graph.nodes) + inside for b, inside in zip(both, bodies, strict=True)]
    # Without the optimizer, which both have.
    network = [
        b.grown[0].before + b.grown[0].added + inside
        for b, inside in zip(both, bodies, strict=True)
    ]
    steps = [stepping(built, w) for built in (unrolled, scanned)]
    for _ in range(5):
        losses = [step() for step in steps]
        np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)
    a, b = best(steps)
    print(f"lstm_train unrolled: {a * 1e3:.1f} ms a step, {nodes[0]:,} nodes")
    print(f"lstm_train by scan:  {b * 1e3:.1f} ms a step, {nodes[1]:,} nodes with those of bodies")
    print(
        f"time {b / a:.2f} x; nodes {nodes[0] / nodes[1]:.1f} x fewer, "
        f"of the loss and its gradients {network[0] / network[1]:.1f} x ({network[1]:,})"
    )


def overhead() -> None:
    """What an iteration takes beyond its body's one step, on one number."""
    for name, build in (("scan", _scan), ("while_loop", _while)):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", (), name="x")
            y = build(x)
        run = sad.Session(graph, device="numpy", threads=1).callable([y], [x])
        (seconds,) = best([partial(run, np.float64(0))], 5)
        print(f"{name} of {LENGTH:,} iterations of x + 1: {seconds / LENGTH * 1e6:.2f} µs each")


def _scan(x: Any) -> Any:
    return sad.scan(lambda c, _: (c + 1.0, None), x, length=LENGTH)[0]


def _while(x: Any) -> Any:
    return sad.while_loop(lambda c: c < LENGTH, lambda c: (c + 1.0,), (x,))[0]


if __name__ == "__main__":
    lstm()
    overhead()
