"""What a workload is: parameters, batches and the numbers that every framework must reproduce.

A workload is plain NumPy data.  What one step computes is said by its `kind`:

- ``train``: fed with a batch, returns the loss before the update as a float; parameters and the
  optimizer's state stay in the framework.  Checked: the loss of step k.
- ``grad``: returns a value as a float, and its gradients for `wrt` in that order.  Parameters are
  resident beforehand.  Checked: the value and the Euclidean norm of each gradient.
- ``hvp``: the same with the products of the Hessian and `config["vector"]` for the gradients.
- ``infer``: fed with a batch, returns the logits as an array.  Checked: their Euclidean norm.

The expected numbers were computed in float64; float32 must meet them to RTOL.  Images are
(batch, channels, height, width), kernels (out, in, height, width), dense weights (in, out).
The workloads themselves are in `benchmarks.yardstick`.
"""

from __future__ import annotations

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
class Momentum:
    """v ← mu v + g, p ← p - lr v, with v = 0 at first."""

    lr: float
    mu: float = 0.9


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
    kind: Literal["train", "grad", "hvp", "infer"]
    summary: str
    params: Arrays
    batches: Sequence[Batch]
    expected: tuple[float, ...]
    cost: Cost
    optimizer: Adam | Momentum | None = None
    k: int = 1
    wrt: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)

    def batch(self, step: int) -> Batch:
        """The batch of that step; the list is taken in turn."""
        return self.batches[step % len(self.batches)]


Step = Callable[[Batch], Any]
Build = Callable[[Workload], Step]
# Called at the end of each phase of `graph_scale`, with what else is worth saying.
Report = Callable[..., None]


def normal(rng: np.random.Generator, shape: tuple[int, ...], std: float) -> Array:
    """Normal numbers in float32."""
    return (rng.standard_normal(shape) * std).astype(np.float32)


def bytes_of(*groups: Mapping[str, Array]) -> int:
    """The bytes of all arrays."""
    return sum(array.nbytes for group in groups for array in group.values())


def train_cost(
    params: Arrays,
    batch: Batch,
    flops: float,
    special: float,
    saved: float,
    optimizer: Adam | Momentum,
) -> Cost:
    """A training step whose backward pass needs `saved` floats of the forward pass."""
    moments = 2 if isinstance(optimizer, Adam) else 1
    update = 2 * (1 + moments) * bytes_of(params)
    return Cost(flops, special, update + bytes_of(batch) + 2 * 4 * saved)
