"""What `session.memory` predicts of workloads, and of a network with large activations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import staticad as sad
from benchmarks.definitions import Array
from benchmarks.on_staticad import GRAPHS
from benchmarks.yardstick import WORKLOADS

WIDE, ROWS = 1024, 8192


def wide_mlp() -> tuple[sad.Graph, list[Any], dict[Any, Array]]:
    """A step of training whose activations are 32 MiB each: graph, fetches, feeds."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("rows", WIDE), name="x")
        hidden: Any = x
        for k in range(4):
            hidden = sad.nn.dense(hidden, WIDE, activation=sad.nn.relu, name=f"dense{k}")
        loss = sad.mean(sad.square(hidden))
        train = sad.optimizers.SGD(0.1).minimize(loss)
    return graph, [loss, train], {x: np.ones((ROWS, WIDE), np.float32)}


def predicted(name: str, threads: int) -> tuple[int, Callable[[], None]]:
    """The bytes that a step of a workload is said to need, and the step.

    What a step is fed is copied by the first one, so that it counts.
    """
    if name == "wide_mlp":
        graph, fetches, feeds = wide_mlp()
    else:
        w = WORKLOADS[name]()
        built = GRAPHS[name](w)
        batch = w.batch(0)
        graph, fetches = built.graph, list(built.fetches)
        feeds = {x: batch[str(x.name)] for x in built.feeds}
    sizes = {
        str(size): actual
        for x, array in feeds.items()
        for size, actual in zip(x.type.shape, array.shape, strict=True)
        if not isinstance(size, int)
    }
    session = sad.Session(graph, threads=threads)
    told = session.memory(fetches, sizes, list(feeds))
    copies: dict[Any, Array] = {}

    def step() -> None:
        if not copies:
            copies.update({x: array.copy() for x, array in feeds.items()})
        session.run(fetches, copies)

    return told.peak_bytes, step
