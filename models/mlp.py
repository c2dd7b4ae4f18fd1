"""A multilayer perceptron, 784-256-128-10 with ReLU, trained by Adam.

python -m models.mlp [SEED]
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import staticad as sad

from . import mnist
from .training import train_and_save

EPOCHS = 15


def build(
    seed: int = 0,
    *,
    sizes: Sequence[int] = (784, 256, 128, mnist.CLASSES),
    learning_rate: float = 1e-3,
) -> sad.Graph:
    """A graph with the signatures `train` and `predict` over the same variables.

    images is float32 (batch, sizes[0]), labels int32 (batch,) in 0 .. sizes[-1] - 1.
    """
    with sad.Graph(seed=seed) as graph:
        images = sad.placeholder("float32", ("batch", sizes[0]), name="images")
        labels = sad.placeholder("int32", ("batch",), name="labels")
        hidden: sad.Tensor = images
        for layer, (n_in, n_out) in enumerate(pairwise(sizes), start=1):
            with sad.scope(f"layer{layer}"):
                # He et al. 2015: ReLU passes half of the variance on.
                start = sad.random.normal((n_in, n_out), scale=math.sqrt(2 / n_in))
                weights = sad.variable(start, name="weights")
                bias = sad.variable(sad.zeros(n_out), name="bias")
                hidden = hidden @ weights + bias
                if layer < len(sizes) - 1:
                    hidden = sad.nn.relu(hidden)
        logits = sad.identity(hidden, name="logits")
        loss = sad.nn.cross_entropy(logits, labels, name="loss")
        digit = sad.argmax(logits, axis=-1, name="digit")
        accuracy = sad.mean(sad.astype(digit == labels, "float32"), name="accuracy")
        train = sad.optimizers.Adam(learning_rate).minimize(loss, name="train")
    graph.signature("train", {"images": images, "labels": labels}, {"loss": loss}, [train])
    graph.signature("predict", {"images": images}, {"digit": digit, "logits": logits})
    graph.signature("evaluate", {"images": images, "labels": labels}, {"accuracy": accuracy})
    return graph


def main(seed: int = 0, folder: Path = Path("out")) -> None:
    """Train, and write graph, checkpoint and learning curve into `folder`."""
    train_and_save(build(seed), mnist.load(), "mlp", folder, epochs=EPOCHS, seed=seed)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
