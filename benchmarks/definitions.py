"""What is timed: parameters, batches and the numbers that every framework must reproduce.

A workload is plain NumPy data.  What one step computes is said by its `kind`:

- ``train``: fed with a batch, returns the loss before the update as a float; parameters and the
  optimizer's state stay in the framework.  Checked: the loss of step k.
- ``grad``: returns a value as a float, and its gradients for `wrt` in that order.  Parameters are
  resident beforehand.  Checked: the value and the Euclidean norm of each gradient.

The expected numbers were computed in float64; float32 must meet them to RTOL.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

RTOL = 1e-3

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]
Batch = Mapping[str, Array]
Program = list[tuple[str, float]]


@dataclass(frozen=True)
class Adam:
    """Bias-corrected Adam, epsilon outside the root.

    m ← b1 m + (1 - b1) g, v ← b2 v + (1 - b2) g²,
    p ← p - lr · m / (1 - b1^t) / (√(v / (1 - b2^t)) + eps), from t = 1 with m = v = 0.
    """

    lr: float
    b1: float = 0.9
    b2: float = 0.999
    eps: float = 1e-8


@dataclass(frozen=True)
class Cost:
    """What one step cannot do without, however it is implemented.

    flops: of matrix products, a multiplication and an addition counted as two.
    special: evaluations of exp, log, sin, cos and tanh.
    traffic: bytes, if everything elementwise is fused: parameters, optimizer state and batch once
        each way, and once each way what the backward pass needs of the forward pass.
    """

    flops: float
    special: float
    traffic: float


@dataclass(frozen=True)
class Workload:
    """One line of the table; `k` is the number of the step whose result is checked."""

    name: str
    kind: Literal["train", "grad"]
    summary: str
    params: Arrays
    batches: Sequence[Batch]
    expected: tuple[float, ...]
    cost: Cost
    optimizer: Adam | None = None
    k: int = 1
    wrt: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)

    def batch(self, step: int) -> Batch:
        """The batch of that step; the list is taken in turn."""
        return self.batches[step % len(self.batches)]


Step = Callable[[Batch], Any]
Build = Callable[[Workload], Step]


def mlp(name: str, sizes: tuple[int, ...], rows: int, seed: int, expected: float) -> Workload:
    """A ReLU network with He initialisation, mean softmax cross-entropy, Adam at 1e-3."""
    rng = np.random.default_rng(seed)
    params: Arrays = {}
    for layer, (n_in, n_out) in enumerate(itertools.pairwise(sizes)):
        weights = rng.standard_normal((n_in, n_out)) * math.sqrt(2.0 / n_in)
        params[f"W{layer}"] = weights.astype(np.float32)
        params[f"b{layer}"] = np.zeros(n_out, np.float32)
    batches = []
    for _ in range(4):
        images = rng.random((rows, sizes[0])).astype(np.float32)
        labels = rng.integers(0, sizes[-1], rows).astype(np.int32)
        batches.append({"x": images, "y": labels})
    return Workload(
        name=name,
        kind="train",
        summary=f"one Adam step of MLP {'-'.join(map(str, sizes))}, batch {rows}",
        params=params,
        batches=batches,
        expected=(expected,),
        cost=mlp_cost(sizes, rows, params, batches[0]),
        optimizer=Adam(lr=1e-3),
        k=10,
        config={"sizes": sizes},
    )


def mlp_cost(sizes: tuple[int, ...], rows: int, params: Arrays, batch: Batch) -> Cost:
    """Three products a layer, less the first one's gradient of its input; one exp a logit."""
    products = [2.0 * rows * n_in * n_out for n_in, n_out in itertools.pairwise(sizes)]
    weights = sum(array.nbytes for array in params.values())
    fed = sum(array.nbytes for array in batch.values())
    activations = 4 * rows * sum(sizes[1:])
    return Cost(
        flops=3 * sum(products) - products[0],
        special=rows * sizes[-1],
        traffic=2 * 3 * weights + fed + 2 * activations,  # Adam has two moments a weight
    )


def mlp_train() -> Workload:
    """Bound by its matrix products."""
    return mlp("mlp_train", (784, 256, 128, 10), 128, 1, 2.173571018150107)


def mlp_train_small() -> Workload:
    """Bound by the cost of starting kernels."""
    return mlp("mlp_train_small", (64, 32, 10), 32, 2, 2.255073175072683)


def eltwise_grad() -> Workload:
    """Bound by memory unless elementwise operations are fused.

    z = x w + b, r = tanh(z) exp(-x²) / (1 + |x|), s = r + sin(z) cos(x) / 2, q = √(1 + s²);
    the value is the mean of log(q + 1) (1.5 + s) + 0.1 z s, where w and b broadcast over rows.
    """
    rng = np.random.default_rng(10)
    x = rng.standard_normal((1024, 1024)).astype(np.float32)
    w = (1.0 + 0.5 * rng.standard_normal(1024)).astype(np.float32)
    b = (rng.standard_normal(1024) * 0.5).astype(np.float32)
    return Workload(
        name="eltwise_grad",
        kind="grad",
        summary="some 20 elementwise ops on 2^20 elements, their mean, gradients for x, w, b",
        params={"x": x, "w": w, "b": b},
        batches=[{}],
        expected=(
            1.137097313669242,
            0.0007061241129209425,
            0.0023840890638847216,
            0.014704813847187208,
        ),
        # tanh, exp, log, and sin and cos of both z and x, which are each other's derivatives.
        cost=Cost(flops=0, special=7 * x.size, traffic=2 * x.nbytes),
        wrt=("x", "w", "b"),
    )


def chain_program(n: int, seed: int = 12) -> Program:
    """`n` scalar operations (name, constant) that keep value and derivative near 1.

    Every `add` moves the value to a random point of (-0.5, 0.5), every `mul` brings the derivative
    so far back towards 1, so that a chain of any length neither saturates nor vanishes.
    """
    rng = np.random.default_rng(seed)
    value, slope = 0.5, 1.0
    program: Program = []
    for i in range(n):
        constant = 0.0
        match i % 4:
            case 0:
                name = "add"
                constant = float(np.float32(rng.uniform(-0.5, 0.5) - value))
                value += constant
            case 1:
                name = "sin"
                slope *= math.cos(value)
                value = math.sin(value)
            case 2:
                name = "mul"
                constant = float(np.float32(min(max(1.0 / slope, 0.5), 2.0)))
                value *= constant
                slope *= constant
            case _:
                name = "tanh"
                value = math.tanh(value)
                slope *= 1.0 - value * value
        program.append((name, constant))
    return program


def chain_value(
    sin: Callable[[Any], Any], tanh: Callable[[Any], Any], program: Program, x: Any
) -> Any:
    """The chain applied to `x`, a number or whatever a framework computes with."""
    for name, constant in program:
        match name:
            case "add":
                x = x + constant
            case "mul":
                x = x * constant
            case "sin":
                x = sin(x)
            case _:
                x = tanh(x)
    return x


def small_ops() -> Workload:
    """Bound by the cost of a call, a thousand times."""
    return Workload(
        name="small_ops",
        kind="grad",
        summary="a chain of 1000 scalar ops, value and derivative, fed at every call",
        params={},
        batches=[{"x": np.asarray(0.5, np.float32)}],
        expected=(-0.49368099983496966, 0.7562790774576145),
        cost=Cost(flops=0, special=750, traffic=8),
        wrt=("x",),
        config={"program": chain_program(1000)},
    )


WORKLOADS: dict[str, Callable[[], Workload]] = {
    make.__name__: make for make in (mlp_train, mlp_train_small, small_ops, eltwise_grad)
}
