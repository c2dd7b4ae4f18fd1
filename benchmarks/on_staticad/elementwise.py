"""Elementwise operations and reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad
from benchmarks.definitions import Program, Workload

from .running import Built, Grown, Params, differentiated, value_and_gradients


def eltwise_grad(w: Workload) -> Built:
    """The definition of the workload, operation by operation."""

    def value(p: Params) -> Any:
        x = p["x"]
        z = x * p["w"] + p["b"]
        r = sad.tanh(z) * sad.exp(-x * x) / (1.0 + abs(x))
        s = r + 0.5 * sad.sin(z) * sad.cos(x)
        q = sad.sqrt(1.0 + s * s)
        return sad.mean(sad.log(q + 1.0) * (1.5 + s) + 0.1 * z * s)

    return value_and_gradients(w, value)


def softmax_ln(w: Workload) -> Built:
    """Softmax of a layer norm."""

    def value(p: Params) -> Any:
        y = sad.nn.softmax(sad.nn.layer_norm(p["x"], p["gain"], p["bias"]))
        return sad.mean(sad.sum(y * p["target"], axis=-1))

    return value_and_gradients(w, value)


def chain_value(program: Program, x: sad.Tensor) -> sad.Tensor:
    """The chain of scalar operations as nodes."""
    unary: dict[str, Callable[[Any], sad.Tensor]] = {"sin": sad.sin, "tanh": sad.tanh}
    for name, constant in program:
        if name == "add":
            x = x + constant
        elif name == "mul":
            x = x * constant
        else:
            x = unary[name](x)
    return x


def small_ops(w: Workload) -> Built:
    """A thousand nodes and their gradient."""
    grown: list[Grown] = []
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        value = chain_value(w.config["program"], x)
        (slope,) = differentiated(value, [x], grown)
    return Built(
        graph,
        [x],
        [value, slope],
        lambda result: (float(result[0]), [float(result[1])]),
        grown,
    )
