"""The example that the design begins with: built, differentiated, saved, trained, run elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import staticad as sad

ROOT = Path(__file__).parents[2]


def test_softmax_regression_from_graph_to_another_process(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = rng.random((64, 784)).astype(np.float32)
    digits = rng.integers(0, 10, 64).astype(np.int32)

    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 784), name="x")
        labels = sad.placeholder("int32", ("batch",), name="labels")
        w = sad.variable(sad.random.normal((784, 10), scale=0.01), name="w")
        b = sad.variable(sad.zeros(10), name="b")
        loss = sad.nn.cross_entropy(x @ w + b, labels, name="loss")
        dw, db = sad.gradients(loss, [w, b])
        train = sad.group(w.assign_sub(0.1 * dw), b.assign_sub(0.1 * db), name="train")

    graph.save(tmp_path / "softmax.sad")
    losses = []
    with sad.Session(graph, device="auto") as session:
        start = np.asarray(session.variables["w"], np.float64)
        for _ in range(3):
            value, nothing = session.run([loss, train], {x: images, labels: digits})
            assert nothing is None
            losses.append(value)
        session.save(tmp_path / "step3.safetensors")
    np.testing.assert_allclose(losses, by_hand(start, images, digits, 3), rtol=1e-5)

    # The same three steps where the builder cannot be imported, bit for bit.
    np.save(tmp_path / "x.npy", images)
    np.save(tmp_path / "labels.npy", digits)
    command = [sys.executable, "-m", "staticad_executor", "run", "softmax.sad", "--steps", "3"]
    command += ["--feed", "x=x.npy", "--feed", "labels=labels.npy", "--fetch", "loss"]
    command += ["--fetch", "train", "--output", "out.npz", "--save-checkpoint", "there.safetensors"]
    path = os.pathsep.join(str(ROOT / folder) for folder in ("schema", "executor"))
    environment = {**os.environ, "PYTHONPATH": path}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert np.load(tmp_path / "out.npz")["loss"].tolist() == [float(v) for v in losses]
    here, there = (tmp_path / f"{name}.safetensors" for name in ("step3", "there"))
    assert here.read_bytes() == there.read_bytes()


def by_hand(
    w: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    images: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    digits: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    steps: int,
) -> list[float]:
    """The losses of gradient descent in plain NumPy and float64."""
    b = np.zeros(10)
    hot = np.eye(10)[digits]
    losses = []
    for _ in range(steps):
        logits = images @ w + b
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        losses.append(float(-np.log((shares * hot).sum(axis=1)).mean()))
        error = (shares - hot) / len(images)
        w = w - 0.1 * (images.T @ error)
        b = b - 0.1 * error.sum(axis=0)
    return losses
