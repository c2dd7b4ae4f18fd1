"""Convolutional networks."""

from __future__ import annotations

from typing import Any

import staticad as sad
from benchmarks.definitions import Workload

from .running import Built, Grown, Params, train


def lenet_train(w: Workload) -> Built:
    """Two convolutions with pooling, three dense layers, momentum."""

    def loss(_w: Workload, p: Params, batch: Params, _grown: list[Grown]) -> Any:
        x = sad.nn.max_pool2d(sad.nn.relu(sad.nn.conv2d(batch["x"], p["c1"], p["c1b"])), 2)
        x = sad.nn.max_pool2d(sad.nn.relu(sad.nn.conv2d(x, p["c2"], p["c2b"])), 2)
        x = sad.reshape(x, (-1, 256))
        x = sad.nn.relu(x @ p["f1"] + p["f1b"])
        x = sad.nn.relu(x @ p["f2"] + p["f2b"])
        return sad.nn.cross_entropy(x @ p["f3"] + p["f3b"], batch["y"])

    return train(w, loss)


def normalized(x: Any, gain: Any, bias: Any) -> Any:
    """Batch norm by the batch's statistics: nothing is kept for later."""
    shape = (1, -1, 1, 1)
    return sad.nn.layer_norm(x, sad.reshape(gain, shape), sad.reshape(bias, shape), axis=(0, 2, 3))


def resnet20_train(w: Workload) -> Built:
    """The blocks are read off the parameters: one that widens also strides."""

    def loss(_w: Workload, p: Params, batch: Params, _grown: list[Grown]) -> Any:
        def conv_norm(x: Any, name: str, stride: int = 1) -> Any:
            y = sad.nn.conv2d(x, p[name], stride=stride, padding=1)
            return normalized(y, p[f"{name}_g"], p[f"{name}_b"])

        x = sad.nn.relu(conv_norm(batch["x"], "stem"))
        for block in [name.removesuffix("c1") for name in p if name.endswith("c1")]:
            n_out, n_in, *_ = w.params[f"{block}c1"].shape
            widens = n_out != n_in
            y = sad.nn.relu(conv_norm(x, f"{block}c1", 2 if widens else 1))
            y = conv_norm(y, f"{block}c2")
            if widens:
                side = (n_out - n_in) // 2
                x = sad.pad(x[:, :, ::2, ::2], ((0, 0), (side, side), (0, 0), (0, 0)))
            x = sad.nn.relu(x + y)
        x = sad.mean(x, axis=(2, 3))
        return sad.nn.cross_entropy(x @ p["fc"] + p["fcb"], batch["y"])

    return train(w, loss)
