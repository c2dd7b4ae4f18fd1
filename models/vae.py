"""A variational autoencoder of the MNIST digits (Kingma and Welling 2014).

784-256-(10 means, 10 spreads)-256-784.  The latent is drawn in the graph, as mean + spread * noise,
so that gradients pass through it.  The loss is the negative evidence lower bound (ELBO) in nats an
image: the cross entropy of the pixels, whose grey is taken as a probability, plus the divergence
of the posterior from a standard normal.

Measured: an ELBO of -121.3 nats for the test images, in 20 s of CPU time.

python -m models.vae [SEED]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import staticad as sad

from . import mnist
from .training import Curve, fit, save

EPOCHS = 60
BATCH = 100
SHIFT = 0


def build(
    seed: int = 0,
    *,
    latent: int = 10,
    units: int = 256,
    learning_rate: float = 2e-3,
    steps: int = EPOCHS * (mnist.TRAIN // BATCH),
) -> sad.Graph:
    """A graph with the signatures `train`, `evaluate`, `reconstruct` and `generate`.

    train, evaluate: images (batch, 784) to loss, the mean of -ELBO.  reconstruct: images to
    pixels.  generate: latents (batch, latent) to pixels.
    """
    with sad.Graph(seed=seed) as graph:
        images = sad.placeholder("float32", ("batch", 784), name="images")
        hidden = sad.nn.dense(images, units, activation=sad.nn.relu, name="encoder")
        mean = sad.identity(sad.nn.dense(hidden, latent, name="to_mean"), name="mean")
        log_variance = sad.identity(
            sad.nn.dense(hidden, latent, name="to_log_variance"), name="log_variance"
        )
        noise = sad.random.normal(mean.shape, name="noise")
        z = mean + sad.exp(0.5 * log_variance) * noise

        with sad.scope("decoder"):
            w1 = sad.variable(glorot(latent, units), name="w1")
            b1 = sad.variable(sad.zeros(units), name="b1")
            w2 = sad.variable(glorot(units, 784), name="w2")
            b2 = sad.variable(sad.zeros(784), name="b2")

        def decoded(latents: sad.Tensor) -> sad.Tensor:
            """The logits of the pixels."""
            return sad.nn.relu(latents @ w1 + b1) @ w2 + b2

        logits = sad.identity(decoded(z), name="logits")
        # -x log p - (1 - x) log(1 - p) with p = sigmoid(logits), without the overflow.
        reconstruction = sad.sum(sad.softplus(logits) - logits * images, axis=1)
        divergence = sad.multiply(
            0.5,
            sad.sum(sad.exp(log_variance) + mean**2 - 1 - log_variance, axis=1),
            name="divergence",
        )
        loss = sad.mean(reconstruction + divergence, name="loss")
        rate = sad.optimizers.schedules.cosine(learning_rate, steps)
        train = sad.optimizers.Adam(rate).minimize(loss, name="train")

        pixels = sad.sigmoid(decoded(mean), name="pixels")
        latents = sad.placeholder("float32", ("batch", latent), name="latents")
        drawn = sad.sigmoid(decoded(latents), name="drawn")
    graph.signature("train", {"images": images}, {"loss": loss}, [train])
    graph.signature("evaluate", {"images": images}, {"loss": loss})
    graph.signature("reconstruct", {"images": images}, {"pixels": pixels})
    graph.signature("generate", {"latents": latents}, {"pixels": drawn})
    return graph


def glorot(inputs: int, outputs: int) -> sad.Tensor:
    """Initial weights with variance 2 / (inputs + outputs)."""
    return sad.random.normal((inputs, outputs), scale=(2 / (inputs + outputs)) ** 0.5)


def elbo(session: sad.Session, images: mnist.Array, samples: int = 10) -> float:
    """The mean lower bound in nats an image, over several draws of the latents."""
    losses = [session.run("loss", {"images": images}, step=k) for k in range(samples)]
    return -float(np.mean(losses))


def train(
    session: sad.Session,
    data: mnist.Split,
    *,
    epochs: int = EPOCHS,
    seed: int = 0,
    progress: bool = True,
) -> Curve:
    """Train; the scores are the bounds of the test images."""
    steps = len(data.train.labels) // BATCH
    feeds = mnist.batches(data.train, BATCH, epochs, seed, shift=SHIFT)
    return fit(
        session,
        ["images"],
        ([batch.images] for batch in feeds),
        steps=epochs * steps,
        score=lambda: elbo(session, data.test.images),
        every=5 * steps,
        progress=progress,
    )


def draw(session: sad.Session, latent: int, path: Path) -> None:
    """Write a picture of digits that nobody wrote."""
    latents = np.random.default_rng(0).normal(size=(60, latent))
    pixels = session.run("drawn", {"latents": latents}).reshape(6, 10, 28, 28)
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.imshow(pixels.transpose(0, 2, 1, 3).reshape(6 * 28, 10 * 28), cmap="gray")
    axes.axis("off")
    figure.savefig(path, dpi=120)


def main(seed: int = 0, folder: Path = Path("out")) -> None:
    """Train, and write graph, checkpoint, learning curve and new digits into `folder`."""
    data = mnist.load()
    graph = build(seed, steps=EPOCHS * (mnist.TRAIN // BATCH))
    with sad.Session(graph) as session:
        curve = train(session, data, epochs=EPOCHS, seed=seed)
        save(session, graph, curve, "vae", "ELBO of the test images", folder)
        draw(session, graph["latents"].shape[1], folder / "vae_digits.png")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
