"""Convolutional networks."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..definitions import Arrays, Batch, Momentum, Workload, normal, train_cost

RESNET_WIDTHS = (16, 32, 64)
RESNET_BLOCKS = 3  # of each width


def lenet_train() -> Workload:
    """LeNet: twice convolution, bias, ReLU and max-pooling by 2, then three dense layers.

    Convolutions are not padded; the last images are flattened channel by channel.
    """
    rng = np.random.default_rng(5)
    rows = 64
    params: Arrays = {}
    for name, shape, inputs in (
        ("c1", (6, 1, 5, 5), 25),
        ("c2", (16, 6, 5, 5), 150),
        ("f1", (256, 120), 256),
        ("f2", (120, 84), 120),
        ("f3", (84, 10), 84),
    ):
        params[name] = normal(rng, shape, math.sqrt(2.0 / inputs))
        params[f"{name}b"] = np.zeros(shape[0] if len(shape) == 4 else shape[1], np.float32)
    batches: list[Batch] = [
        {
            "x": rng.random((rows, 1, 28, 28)).astype(np.float32),
            "y": rng.integers(0, 10, rows).astype(np.int32),
        }
        for _ in range(4)
    ]
    first, second = 2.0 * rows * 6 * 25 * 24 * 24, 2.0 * rows * 16 * 150 * 8 * 8
    dense = 2.0 * rows * (256 * 120 + 120 * 84 + 84 * 10)
    optimizer = Momentum(lr=0.01)
    return Workload(
        name="lenet_train",
        kind="train",
        summary="one momentum step of LeNet, 28x28, batch 64",
        params=params,
        batches=batches,
        expected=(2.449390812132621,),
        cost=train_cost(
            params,
            batches[0],
            flops=2 * first + 3 * (second + dense),
            special=rows * 10,
            # The pooled images and which element each came from, and the dense activations.
            saved=rows * (2 * 6 * 144 + 2 * 256 + 120 + 84 + 10),
            optimizer=optimizer,
        ),
        optimizer=optimizer,
        k=5,
    )


def resnet_blocks() -> Iterator[tuple[str, int, int, int]]:
    """(name, channels in, channels out, stride) of each residual block."""
    channels = 16
    for stage, width in enumerate(RESNET_WIDTHS):
        for block in range(RESNET_BLOCKS):
            yield f"s{stage}b{block}", channels, width, 2 if stage > 0 and block == 0 else 1
            channels = width


def resnet20_train() -> Workload:
    """ResNet-20 for images of 32x32 (He et al. 2016), shortcuts without parameters.

    A block adds relu(bn(conv(x, stride))) → bn(conv(·)) to x and applies relu.  Where the
    channels change, x keeps every second row and column, with as many channels of zeros before
    as after.  Convolutions are 3x3, padded by 1, without bias.  Batch norm uses the batch's
    statistics over all axes but the channels, biased, epsilon 1e-5.  Then the mean over rows and
    columns, and a dense layer.
    """
    rng = np.random.default_rng(6)
    rows, size = 32, 32
    convolutions = [("stem", 3, 16, size)]
    for name, n_in, n_out, stride in resnet_blocks():
        size //= stride
        convolutions += [(f"{name}c1", n_in, n_out, size), (f"{name}c2", n_out, n_out, size)]
    params: Arrays = {}
    flops = saved = 0.0
    for name, n_in, n_out, size in convolutions:
        params[name] = normal(rng, (n_out, n_in, 3, 3), math.sqrt(2.0 / (9 * n_in)))
        params[f"{name}_g"] = np.ones(n_out, np.float32)
        params[f"{name}_b"] = np.zeros(n_out, np.float32)
        # The images need no gradient.
        flops += (2 if name == "stem" else 3) * 2.0 * rows * n_out * n_in * 9 * size * size
        saved += 2 * rows * n_out * size * size  # the convolution's output and the activation
    params["fc"] = normal(rng, (64, 10), math.sqrt(1.0 / 64))
    params["fcb"] = np.zeros(10, np.float32)
    batches: list[Batch] = [
        {
            "x": normal(rng, (rows, 3, 32, 32), 1.0),
            "y": rng.integers(0, 10, rows).astype(np.int32),
        }
        for _ in range(4)
    ]
    optimizer = Momentum(lr=0.02)
    return Workload(
        name="resnet20_train",
        kind="train",
        summary="one momentum step of ResNet-20 with batch norm, 32x32x3, batch 32",
        params=params,
        batches=batches,
        expected=(2.2263759861069534,),
        cost=train_cost(
            params, batches[0], flops + 3 * 2.0 * rows * 64 * 10, rows * 10, saved, optimizer
        ),
        optimizer=optimizer,
        k=5,
    )
