"""Transforms in files, in another process, and mapped over a batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import staticad as sad
from models.separate_process import staticad_executor
from staticad_schema.batching import batched
from staticad_schema.op import OPS


def build() -> sad.Graph:
    """Smoothing by a spectrum, an energy, and its gradient."""
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("batch", "n"), name="x")
        k = sad.fft.rfftfreq(x.shape[1], dtype="float64")
        smooth = sad.fft.irfft(sad.fft.rfft(x) * sad.exp(-k * k), x.shape[1])
        energy = sad.sum(sad.abs(sad.fft.fft(smooth, 8)) ** 2) + sad.sum(sad.fft.dst(smooth))
        (dx,) = sad.gradients(energy, x)
    graph.signature("energy", {"x": x}, {"energy": energy, "dx": dx})
    return graph


def test_a_file_means_the_same_in_another_process(tmp_path: Path) -> None:
    graph = build()
    outputs = graph.signatures["energy"].outputs
    x = np.random.default_rng(0).normal(size=(3, 7))
    with sad.Session(graph) as session:
        here = session.run({key: graph.handle(v) for key, v in outputs.items()}, {"x": x})
    graph.save(tmp_path / "energy.sad")
    np.save(tmp_path / "x.npy", x)
    staticad_executor(
        "run", tmp_path / "energy.sad", "--signature", "energy",
        "--feed", f"x={tmp_path / 'x.npy'}", "--output", tmp_path / "there.npz",
    )  # fmt: skip
    there = np.load(tmp_path / "there.npz")
    for key, value in here.items():
        assert there[key].tobytes() == value.tobytes()


def test_batch_rules_transform_each_example() -> None:
    x = np.random.default_rng(0).normal(size=(3, 2, 5))
    with sad.Graph() as graph:
        p = sad.placeholder("float64", (3, 2, "n"))
        attributes: dict[str, Any] = {"axis": 1, "scale": "1", "twice": False}
        y = batched(OPS["rfft"], [p], [True], attributes)
    with sad.Session(graph) as session:
        np.testing.assert_allclose(session.run(y, {p: x}), np.fft.rfft(x), rtol=1e-14)
