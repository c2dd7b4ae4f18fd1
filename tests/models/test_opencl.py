"""Every model trains on OpenCL as on NumPy: 100 steps, with the same losses.

Where training is so unstable that one unit in the last place of an image changes the losses of
the 50th step by percents on NumPy, too, the device goes on from NumPy's state every few steps.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pytest

import staticad as sad
from models import (
    deq,
    gaussian_process,
    gpt,
    kalman,
    lenet,
    lstm_text,
    mlp,
    mnist,
    pinn,
    resnet20,
    softmax_regression,
    spectral_pde,
    text,
    vae,
)

from ..devices import opencl, without_a_reason

Array = np.ndarray[Any, Any]
STEPS = 100


def digits(*names: str) -> dict[str, Array]:
    """Batches of 16 digits."""
    train = mnist.load().train
    feeds = {
        "images": np.resize(train.images, (STEPS, 16, 784)),
        "labels": np.resize(train.labels, (STEPS, 16)),
    }
    return {name: feeds[name] for name in names}


def cars() -> dict[str, Array]:
    """Ten cars for each step."""
    train, _ = gaussian_process.load()
    order = np.random.default_rng(0).integers(0, len(train.inputs), (STEPS, 10))
    return {"inputs": train.inputs[order], "targets": train.targets[order]}


def characters(length: int) -> dict[str, Array]:
    """Windows of the text."""
    found = islice(text.windows(text.load().train, 2, length, seed=0), STEPS)
    codes, targets = (np.stack(arrays) for arrays in zip(*found, strict=True))
    return {"codes": codes, "targets": targets}


class Training(NamedTuple):
    """A model, and what it is fed in each step.

    together: after so many steps the device goes on from NumPy's state.
    """

    build: Callable[[], sad.Graph]
    feeds: Callable[[], dict[str, Array]]
    together: int = STEPS


MODELS = {
    "softmax_regression": Training(softmax_regression.build, lambda: digits("images", "labels")),
    "mlp": Training(mlp.build, lambda: digits("images", "labels")),
    "deq": Training(lambda: deq.build(width=6), lambda: digits("images", "labels")),
    "lenet": Training(
        lambda: lenet.build(channels=(4, 6), units=16), lambda: digits("images", "labels")
    ),
    "resnet20": Training(
        lambda: resnet20.build(widths=(2, 3, 4)), lambda: digits("images", "labels"), together=5
    ),
    "vae": Training(lambda: vae.build(units=16, latent=3), lambda: digits("images")),
    "pinn": Training(lambda: pinn.build(width=8, layers=2, points=64), dict),
    "spectral_pde": Training(
        lambda: spectral_pde.build(points=16, modes=4, per_frame=2),
        lambda: {"observed": np.stack([spectral_pde.observations(points=16)] * STEPS)},
    ),
    "gaussian_process": Training(gaussian_process.build, cars),
    "kalman": Training(
        lambda: kalman.build(4),
        lambda: {"observed": np.stack([kalman.draw(k, length=4).observed for k in range(STEPS)])},
    ),
    "gpt": Training(
        lambda: gpt.build(width=16, heads=2, blocks=2, context=12), lambda: characters(12)
    ),
    "lstm_text": Training(lambda: lstm_text.build(width=16, length=6), lambda: characters(6)),
}


class Trained:
    """A session that trains a model, step by step."""

    def __init__(self, training: Training, device: Any) -> None:
        self.feeds = training.feeds()
        self.session = sad.Session(training.build(), device=device)
        self.step = self.session.callable(["loss", "train"], list(self.feeds))

    def loss(self, k: int) -> float:
        """Take a step; its loss."""
        return float(self.step(*[a[k] for a in self.feeds.values()])[0])


@pytest.mark.parametrize("name", MODELS)
def test_losses_are_those_of_numpy(name: str) -> None:
    training = MODELS[name]
    right, other = Trained(training, "numpy"), Trained(training, opencl())
    expected, found = [], []
    for k in range(STEPS):
        if k and k % training.together == 0:
            other.session.restore(right.session.snapshot())
        expected.append(right.loss(k))
        found.append(other.loss(k))
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    plan = other.session.explain(["loss", "train"])
    assert f"@{opencl().name}" in plan
    assert without_a_reason(plan) == set()
