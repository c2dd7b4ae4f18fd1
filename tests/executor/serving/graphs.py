"""Graphs that the tests serve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import staticad as sad


def trainer(width: int = 6) -> sad.Graph:
    """A graph with a loss, a training step that draws, and a count of its steps."""
    with sad.Graph(seed=7) as graph:
        x = sad.placeholder("float32", ("n", width), name="x")
        w = sad.variable(sad.random.normal((width, 4)), name="w")
        count = sad.variable(np.zeros((), np.int64), name="count")
        hidden = sad.nn.dropout(sad.tanh(x @ w), 0.3)
        loss = sad.mean(sad.square(hidden), name="loss")
        step = sad.optimizers.Adam(0.1).minimize(loss)
        sad.group(step, count.assign_add(1), name="train")
    return graph


def saved(folder: Path, name: str = "train") -> Path:
    """The same in a file."""
    path = folder / f"{name}.sad"
    trainer().save(path)
    return path


def endless() -> tuple[sad.Graph, Any, Any]:
    """A graph, a loop in it that only ends when it is cancelled, and a step that commits."""
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(4, np.float32), name="v")
        long = sad.while_loop(lambda t: sad.all(t < 1e30), lambda t: t + 1, v.read())
        add = v.assign_add(sad.ones(4))
    return graph, long, add


DATA = np.random.default_rng(1).normal(size=(8, 6)).astype(np.float32)
