"""Each model's file trains in the executor's process, with the bits of the session."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

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
from models.separate_process import staticad_executor

Array = np.ndarray[Any, Any]
STEPS = 3


def digits(*names: str) -> dict[str, Array]:
    """Batches of five digits, one for each step."""
    train = mnist.load().train
    feeds = {"images": train.images.reshape(-1, 5, 784), "labels": train.labels.reshape(-1, 5)}
    return {name: feeds[name][:STEPS] for name in names}


def cars(*names: str) -> dict[str, Array]:
    """Ten cars for each step."""
    train, _ = gaussian_process.load()
    rows = train.inputs[: 10 * STEPS].reshape(STEPS, 10, -1)
    found = {"inputs": rows, "targets": train.targets[: 10 * STEPS].reshape(STEPS, 10)}
    return {name: {**found, "queries": rows[:, :3]}[name] for name in names}


def characters(length: int) -> dict[str, Array]:
    """Windows of the text, one for each step."""
    found = islice(text.windows(text.load().train, 2, length, seed=0), STEPS)
    codes, targets = (np.stack(arrays) for arrays in zip(*found, strict=True))
    return {"codes": codes, "targets": targets}


# The graph, feeds for some steps of `train`, and another signature with feeds for one run.
Case = tuple[
    Callable[[], sad.Graph], Callable[[], dict[str, Array]], str, Callable[[], dict[str, Array]]
]
CASES: dict[str, Case] = {
    "softmax_regression": (
        softmax_regression.build,
        lambda: digits("images", "labels"),
        "predict",
        lambda: {"images": digits("images")["images"][0]},
    ),
    "mlp": (
        lambda: mlp.build(sizes=(784, 16, 10)),
        lambda: digits("images", "labels"),
        "predict",
        lambda: {"images": digits("images")["images"][0]},
    ),
    "deq": (
        lambda: deq.build(width=6),
        lambda: digits("images", "labels"),
        "predict",
        lambda: {"images": digits("images")["images"][0]},
    ),
    "lenet": (
        lambda: lenet.build(channels=(2, 3), units=4),
        lambda: digits("images", "labels"),
        "predict",
        lambda: {"images": digits("images")["images"][0]},
    ),
    "resnet20": (
        lambda: resnet20.build(widths=(2, 3, 4)),
        lambda: digits("images", "labels"),
        "predict",
        lambda: {"images": digits("images")["images"][0]},
    ),
    "vae": (
        lambda: vae.build(units=16, latent=3),
        lambda: digits("images"),
        "generate",
        lambda: {"latents": np.ones((2, 3), np.float32)},
    ),
    "pinn": (
        lambda: pinn.build(width=4, layers=2, points=16),
        dict,
        "predict",
        lambda: {"t": np.full(2, 0.5, np.float32), "x": np.array([0.1, -0.2], np.float32)},
    ),
    "spectral_pde": (
        lambda: spectral_pde.build(points=16, modes=4, per_frame=2),
        lambda: {"observed": np.stack([spectral_pde.observations(points=16)] * STEPS)},
        "predict",
        dict,
    ),
    "gaussian_process": (
        gaussian_process.build,
        lambda: cars("inputs", "targets"),
        "predict",
        lambda: {k: a[0] for k, a in cars("inputs", "targets", "queries").items()},
    ),
    "kalman": (
        lambda: kalman.build(4),
        lambda: {"observed": np.stack([kalman.draw(k, length=4).observed for k in range(STEPS)])},
        "predict",
        lambda: {"observed": kalman.draw(length=4).observed},
    ),
    "gpt": (
        lambda: gpt.build(width=8, heads=2, blocks=1, context=12),
        lambda: characters(12),
        "write",
        lambda: {"codes": np.ones((1, 5), np.int32), "temperature": np.array(0.5, np.float32)},
    ),
    "lstm_text": (
        lambda: lstm_text.build(width=8, length=6),
        lambda: characters(6),
        "write",
        lambda: {"temperature": np.array(0.5, np.float32)},
    ),
}


def run(folder: Path, name: str, signature: str, feeds: dict[str, Array], *options: Any) -> Any:
    """What the executor's process makes of the file, by name."""
    arguments: list[Any] = ["--signature", signature, *options]
    for key, array in feeds.items():
        np.save(folder / f"{key}.npy", array)
        arguments += ["--feed", f"{key}={folder / f'{key}.npy'}"]
    output = folder / f"{signature}.npz"
    staticad_executor("run", folder / f"{name}.sad", *arguments, "--output", output)
    return np.load(output)


@pytest.mark.parametrize("name", CASES)
def test_it_trains_and_answers_there_as_here(name: str, tmp_path: Path) -> None:
    build, training, signature, question = CASES[name]
    graph = build()
    graph.save(tmp_path / f"{name}.sad")
    feeds, asked = training(), question()
    outputs = graph.signatures[signature].outputs
    with sad.Session(graph) as session:
        losses = [
            session.run(["loss", "train"], {key: array[k] for key, array in feeds.items()})[0]
            for k in range(STEPS)
        ]
        session.save(tmp_path / "here.safetensors")
        fetches = {key: graph.handle(value) for key, value in outputs.items()}
        answer = session.run(fetches, asked)
    checkpoint = tmp_path / "there.safetensors"
    there = run(tmp_path, name, "train", feeds, "--steps", STEPS, "--save-checkpoint", checkpoint)
    assert np.isfinite(losses).all()
    assert there["loss"].tobytes() == np.stack(losses).tobytes()
    assert checkpoint.read_bytes() == (tmp_path / "here.safetensors").read_bytes()
    there = run(tmp_path, name, signature, asked, "--checkpoint", checkpoint)
    assert set(there) == set(answer)
    for key, value in answer.items():
        assert there[key].tobytes() == value.tobytes()


def test_the_writer_goes_on_by_itself(tmp_path: Path) -> None:
    graph = lstm_text.build(width=8, length=6)
    graph.save(tmp_path / "lstm_text.sad")
    warmth = {"temperature": np.array(0.5, np.float32)}
    codes = run(tmp_path, "lstm_text", "write", warmth, "--steps", 20)["character"]
    with sad.Session(graph) as session:
        assert text.decoded(codes) == lstm_text.write(session, 20, temperature=0.5)
