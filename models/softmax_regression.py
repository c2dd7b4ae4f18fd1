"""Softmax regression: one dense layer, the smallest model that reads digits.

python -m models.softmax_regression [SEED]
"""

from __future__ import annotations

import sys
from pathlib import Path

import staticad as sad

from . import mnist
from .training import train_and_save

EPOCHS = 20


def build(
    seed: int = 0,
    *,
    pixels: int = 784,
    classes: int = mnist.CLASSES,
    learning_rate: float = 0.2,
    momentum: float = 0.9,
) -> sad.Graph:
    """A graph with the signatures `train` and `predict` over the same variables.

    images is float32 (batch, pixels), labels int32 (batch,).
    """
    with sad.Graph(seed=seed) as graph:
        images = sad.placeholder("float32", ("batch", pixels), name="images")
        labels = sad.placeholder("int32", ("batch",), name="labels")
        weights = sad.variable(sad.zeros((pixels, classes)), name="weights")
        bias = sad.variable(sad.zeros(classes), name="bias")
        logits = sad.add(images @ weights, bias, name="logits")
        loss = sad.nn.cross_entropy(logits, labels, name="loss")
        digit = sad.argmax(logits, axis=-1, name="digit")
        accuracy = sad.mean(sad.astype(digit == labels, "float32"), name="accuracy")
        optimizer = sad.optimizers.Momentum(learning_rate, momentum)
        train = optimizer.minimize(loss, name="train")
    graph.signature("train", {"images": images, "labels": labels}, {"loss": loss}, [train])
    graph.signature("predict", {"images": images}, {"digit": digit, "logits": logits})
    graph.signature("evaluate", {"images": images, "labels": labels}, {"accuracy": accuracy})
    return graph


def main(seed: int = 0, folder: Path = Path("out")) -> None:
    """Train, and write graph, checkpoint and learning curve into `folder`."""
    train_and_save(
        build(seed), mnist.load(), "softmax_regression", folder, epochs=EPOCHS, seed=seed
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
