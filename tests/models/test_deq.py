"""The equilibrium model: its gradient is that of its layer applied very often, and it learns."""

from __future__ import annotations

from typing import Any

import numpy as np

import staticad as sad
from models import deq, mnist
from models.training import train


def test_it_reads_digits_after_a_few_epochs() -> None:
    data = mnist.load()
    with sad.Session(deq.build(0)) as session:
        curve = train(session, data, epochs=4, progress=False)
        left = session.run("residual", {"images": data.test.images})
    assert curve.score >= 0.91
    assert left < 1e-4


def test_the_gradient_is_that_of_the_unrolled_layer() -> None:
    data = mnist.load().train
    graph = deq.build(0, width=8, rtol=1e-6)
    with graph:
        variables = [v for v in graph.variables.values() if v.trainable]
        implicit = sad.gradients(graph["loss"], variables)
        by_name = {v.name: v for v in variables}
        u, w, b, out, bias = (
            by_name[n]
            for n in (
                "hidden/inputs", "hidden/weights", "hidden/bias", "output/weights", "output/bias",
            )
        )  # fmt: skip
        given = graph["images"] @ u + b
        z: Any = sad.zeros_like(given)
        scaled = w * (0.9 / sad.maximum(sad.sum(sad.abs(w), axis=0), 0.9))
        for _ in range(100):
            z = sad.tanh(z @ scaled + given)
        loss = sad.nn.cross_entropy(z @ out + bias, graph["labels"])
        unrolled = sad.gradients(loss, variables)
    rng = np.random.default_rng(0)
    with sad.Session(graph) as session:
        # So that the hidden layer matters, and is far from linear.
        session.variables["output/weights"] = rng.normal(size=(8, 10)).astype(np.float32)
        session.variables["hidden/weights"] = rng.normal(size=(8, 8)).astype(np.float32)
        feeds = {"images": data.images[:16], "labels": data.labels[:16]}
        found, expected = session.run([implicit, unrolled], feeds)
    for g, e in zip(found, expected, strict=True):
        assert np.abs(e).max() > 1e-3
        np.testing.assert_allclose(g, e, rtol=1e-3, atol=1e-4 * np.abs(e).max())


def test_a_step_keeps_no_iterations() -> None:
    graph = deq.build(0, width=64)
    with sad.Session(graph) as session:
        step = session.memory([graph["loss"], graph["train"]], {"batch": 1024})
    # The images, and the vectors of GMRES, of which there are 21, in both of its loops.
    assert step.scratch_bytes < 1024 * 64 * 4 * 100
