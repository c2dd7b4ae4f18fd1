"""Networks of dense layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import staticad as sad
from benchmarks.definitions import Workload
from benchmarks.yardstick.dense import BURGERS_VISCOSITY

from .running import Built, Grown, Params, differentiated, infer, resident, train, with_value


def layers(params: Params, x: Any, activation: Callable[[Any], Any]) -> Any:
    """As many layers as there are pairs of parameters, the last one without activation."""
    count = len(params) // 2
    for layer in range(count):
        x = x @ params[f"W{layer}"] + params[f"b{layer}"]
        if layer < count - 1:
            x = activation(x)
    return x


def mlp_train(w: Workload) -> Built:
    """ReLU, cross-entropy and Adam."""

    def loss(_w: Workload, params: Params, batch: Params, _grown: list[Grown]) -> Any:
        return sad.nn.cross_entropy(layers(params, batch["x"], sad.nn.relu), batch["y"])

    return train(w, loss)


def mlp_infer(w: Workload) -> Built:
    """The same network's logits."""
    return infer(w, lambda _w, params, x: layers(params, x, sad.nn.relu))


def hvp(w: Workload) -> Built:
    """Reverse over reverse: the gradients, with the vector as cotangent of the first.

    The batch is a variable too: resident, and not fed.
    """
    grown: list[Grown] = []
    with sad.Graph(seed=0) as graph:
        params = resident(w)
        batch = {name: sad.variable(a, name=name) for name, a in w.batches[0].items()}
        vector = [sad.variable(w.config["vector"][n], name=f"{n}_vector") for n in w.wrt]
        value = sad.nn.cross_entropy(layers(params, batch["x"], sad.tanh), batch["y"])
        variables = [params[name] for name in w.wrt]
        first = differentiated(value, variables, grown)
        products = differentiated(first, variables, grown, vector)
    return Built(graph, [], [value, *products], with_value, grown)


def pinn(w: Workload) -> Built:
    """The residual of Burgers' equation, by derivatives of derivatives, and known values."""

    def loss(_w: Workload, params: Params, batch: Params, grown: list[Grown]) -> Any:
        points = batch["tx"]
        u = layers(params, points, sad.tanh)
        (du,) = differentiated(u, [points], grown)
        u_t, u_x = du[:, :1], du[:, 1:]
        (du_x,) = differentiated(u_x, [points], grown)
        residual = u_t + u * u_x - BURGERS_VISCOSITY * du_x[:, 1:]
        error = layers(params, batch["tx_data"], sad.tanh) - batch["u_data"]
        return sad.mean(residual * residual) + sad.mean(error * error)

    return train(w, loss)
