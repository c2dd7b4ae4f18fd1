"""The picture of a graph in README: a neuron and its training step."""

from __future__ import annotations

import staticad as sad


def example() -> sad.Graph:
    """A neuron and its training step: small enough to be drawn."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 3), name="x")
        w = sad.variable(sad.zeros((3, 1)), name="w")
        y = sad.tanh(x @ w, name="y")
        loss = sad.sum(y * y, name="loss")
        (dw,) = sad.gradients(loss, [w])
        w.assign_sub(0.1 * dw)
    return graph
