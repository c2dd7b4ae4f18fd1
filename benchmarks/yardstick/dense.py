"""Networks of dense layers: trained, applied, and differentiated once more."""

from __future__ import annotations

import itertools
import math

import numpy as np

from ..definitions import Adam, Arrays, Batch, Cost, Workload, bytes_of, normal, train_cost

SIZES = (784, 256, 128, 10)

BURGERS_VISCOSITY = 0.01 / math.pi


def parameters(rng: np.random.Generator, sizes: tuple[int, ...], gain: float) -> Arrays:
    """Normal weights W0, W1, ... of variance `gain` / inputs, and biases b0, ... of zeros."""
    params: Arrays = {}
    for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
        params[f"W{layer}"] = normal(rng, (n_in, n_out), math.sqrt(gain / n_in))
        params[f"b{layer}"] = np.zeros(n_out, np.float32)
    return params


def images(
    rng: np.random.Generator, sizes: tuple[int, ...], rows: int, count: int = 4
) -> list[Batch]:
    """Uniform images and labels."""
    return [
        {
            "x": rng.random((rows, sizes[0])).astype(np.float32),
            "y": rng.integers(0, sizes[-1], rows).astype(np.int32),
        }
        for _ in range(count)
    ]


def products(sizes: tuple[int, ...], rows: int) -> list[float]:
    """The operations of each layer's product."""
    return [2.0 * rows * n_in * n_out for n_in, n_out in itertools.pairwise(sizes)]


def mlp(name: str, sizes: tuple[int, ...], rows: int, seed: int, expected: float) -> Workload:
    """A ReLU network with He initialisation, mean softmax cross-entropy, Adam at 1e-3."""
    rng = np.random.default_rng(seed)
    params, batches = parameters(rng, sizes, 2.0), images(rng, sizes, rows)
    layers, optimizer = products(sizes, rows), Adam(lr=1e-3)
    return Workload(
        name=name,
        kind="train",
        summary=f"one Adam step of MLP {'-'.join(map(str, sizes))}, batch {rows}",
        params=params,
        batches=batches,
        expected=(expected,),
        # Three products a layer, less the first one's gradient of its input; one exp a logit.
        cost=train_cost(
            params,
            batches[0],
            flops=3 * sum(layers) - layers[0],
            special=rows * sizes[-1],
            saved=rows * sum(sizes[1:]),
            optimizer=optimizer,
        ),
        optimizer=optimizer,
        k=10,
        config={"sizes": sizes},
    )


def mlp_train() -> Workload:
    """Bound by its matrix products."""
    return mlp("mlp_train", SIZES, 128, 1, 2.173571018150107)


def mlp_train_small() -> Workload:
    """Bound by the cost of starting kernels."""
    return mlp("mlp_train_small", (64, 32, 10), 32, 2, 2.255073175072683)


def mlp_infer_b1() -> Workload:
    """Bound by reading the weights, and by the cost of a call."""
    rng = np.random.default_rng(3)
    params, batches = parameters(rng, SIZES, 2.0), images(rng, SIZES, 1)
    return Workload(
        name="mlp_infer_b1",
        kind="infer",
        summary="logits of MLP 784-256-128-10 (ReLU), batch 1",
        params=params,
        batches=batches,
        expected=(3.6359100986449207,),
        cost=Cost(sum(products(SIZES, 1)), 0, bytes_of(params) + 4 * SIZES[0]),
        config={"sizes": SIZES},
    )


def hvp() -> Workload:
    """Derivatives of derivatives: mean softmax cross-entropy of a network of tanh."""
    rng = np.random.default_rng(4)
    rows = 128
    params, batches = parameters(rng, SIZES, 2.0), images(rng, SIZES, rows, count=1)
    vector = {name: normal(rng, array.shape, 0.1) for name, array in params.items()}
    layers = products(SIZES, rows)
    return Workload(
        name="hvp",
        kind="hvp",
        summary="product of Hessian and vector, loss of MLP 784-256-128-10 (tanh), batch 128",
        params=params,
        batches=batches,
        expected=(
            2.544083927863703,
            7.324710388248943,
            0.5052309713485835,
            4.48097276628517,
            0.44974268752526686,
            3.443057745634286,
            0.42607524719549394,
        ),
        # Of a layer: the forward product 1, its tangent 2, the gradient of its input 1, the
        # tangent of that 2, the tangent of the weights' gradient 2.  The first layer's input has
        # no tangent and needs no gradient.
        cost=Cost(
            flops=8 * sum(layers[1:]) + 3 * layers[0],
            special=rows * sum(SIZES[1:]),
            traffic=3 * bytes_of(params)
            + bytes_of(batches[0])
            + 2 * 4 * 4 * rows * sum(SIZES[1:-1]),
        ),
        wrt=tuple(params),
        config={"sizes": SIZES, "vector": vector},
    )


def pinn() -> Workload:
    """Derivatives of the network by its inputs, in the loss: Burgers' equation.

    u(t, x) is a network of tanh.  The loss is the mean square of u_t + u u_x - nu u_xx over the
    points `tx`, with nu = 0.01 / π, plus the mean square of u(tx_data) - u_data.  The points
    `tx_data` are at t = 0, where u is -sin(π x), and on the walls x = ±1, where it is 0.
    """
    rng = np.random.default_rng(13)
    sizes, rows, known = (2, 64, 64, 64, 1), 2048, 512
    params = parameters(rng, sizes, 1.0)
    batches: list[Batch] = []
    for _ in range(4):
        points = rng.random((rows, 2)) * [1.0, 2.0] - [0.0, 1.0]
        half = known // 2
        initial = np.stack([np.zeros(half), rng.random(half) * 2 - 1], axis=1)
        walls = np.stack([rng.random(half), np.where(rng.random(half) < 0.5, -1.0, 1.0)], axis=1)
        data = np.concatenate([initial, walls])
        u = np.where(data[:, :1] == 0.0, -np.sin(np.pi * data[:, 1:]), 0.0)
        batches.append(
            {
                "tx": points.astype(np.float32),
                "tx_data": data.astype(np.float32),
                "u_data": u.astype(np.float32),
            }
        )
    # u, u_t, u_x and u_xx are four products a layer forward and eight backward.  The first
    # layer's tangents are rows of its weights, and it needs no gradient of its input.
    hidden = 2.0 * (64 * 64 * 2 + 64)
    optimizer = Adam(lr=1e-3)
    return Workload(
        name="pinn",
        kind="train",
        summary="one Adam step of Burgers' equation, MLP 2-64-64-64-1 (tanh), 2048 points",
        params=params,
        batches=batches,
        expected=(0.1773365299185459,),
        cost=train_cost(
            params,
            batches[0],
            flops=rows * (12 * hidden + 512) + known * (3 * hidden + 512),
            special=192 * (rows + known),
            saved=3 * 64 * (4 * rows + known),
            optimizer=optimizer,
        ),
        optimizer=optimizer,
        k=10,
        config={"sizes": sizes},
    )
