"""The readers of digits learn, and their files train by themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import staticad as sad
from models import deq, lenet, mlp, mnist, resnet20, softmax_regression
from models.training import accuracy, train

MODELS = [softmax_regression, mlp, lenet, deq]


def test_split_is_fixed_and_equal_per_class() -> None:
    data = mnist.load()
    assert data.train.images.shape == (4000, 784)
    assert data.train.images.dtype == np.float32
    assert data.train.images.min() == 0
    assert data.train.images.max() == 1
    assert np.bincount(data.train.labels).tolist() == [400] * 10
    assert np.bincount(data.test.labels).tolist() == [100] * 10
    assert data.test.labels[:8].tolist() == [0, 1, 4, 3, 0, 1, 2, 0], "the split of seed 0"
    both = np.concatenate([data.train.images, data.test.images])
    assert len(np.unique(both, axis=0)) >= 4999, "an image is on both sides"


def test_batches_take_every_image_once_an_epoch() -> None:
    digits = mnist.Digits(np.arange(10, dtype=np.float32).reshape(10, 1), np.arange(10))
    labels = [b.labels.tolist() for b in mnist.batches(digits, 5, 2, seed=0)]
    assert sorted(labels[0] + labels[1]) == sorted(labels[2] + labels[3]) == list(range(10))
    assert labels[:2] != labels[2:]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_signatures_share_variables(model: ModuleType, tmp_path: Path) -> None:
    data = mnist.load()
    graph = model.build(seed=0)
    assert set(graph.signatures) == {"train", "predict", "evaluate"}
    graph.save(tmp_path / "model.sad")
    loaded = sad.load(tmp_path / "model.sad")
    with sad.Session(graph) as session, sad.Session(loaded) as other:
        curves = [train(s, data, epochs=1, progress=False) for s in (session, other)]
        assert curves[0].losses == curves[1].losses
        assert curves[0].losses[-1] < 0.5 * curves[0].losses[0]
        digits = session.run("digit", {"images": data.test.images})
        assert np.mean(digits == data.test.labels) == pytest.approx(accuracy(session, data.test))


def mean_accuracy(
    build: Callable[[int], sad.Graph], epochs: int, *, batch_size: int = 128, shift: int = 0
) -> float:
    """The mean test accuracy over three seeds of initial values and batches."""
    data = mnist.load()
    found = []
    for seed in range(3):
        with sad.Session(build(seed)) as session:
            curve = train(
                session, data,
                epochs=epochs, batch_size=batch_size, seed=seed, shift=shift, progress=False,
            )  # fmt: skip
            found.append(curve.score)
    return float(np.mean(found))


def test_softmax_regression_reads_digits() -> None:
    assert mean_accuracy(softmax_regression.build, softmax_regression.EPOCHS) >= 0.89


def test_mlp_reads_digits() -> None:
    assert mean_accuracy(mlp.build, mlp.EPOCHS) >= 0.93


def lenet_accuracy(epochs: int) -> float:
    def build(seed: int) -> sad.Graph:
        return lenet.build(seed, steps=epochs * (mnist.TRAIN // lenet.BATCH))

    return mean_accuracy(build, epochs, batch_size=lenet.BATCH, shift=lenet.SHIFT)


def test_lenet_reads_digits_after_a_few_epochs() -> None:
    assert lenet_accuracy(4) >= 0.96


@pytest.mark.slow
def test_lenet_reads_digits() -> None:
    assert lenet_accuracy(lenet.EPOCHS) >= 0.97


@pytest.mark.slow
def test_resnet20_reads_digits() -> None:
    steps = resnet20.EPOCHS * (mnist.TRAIN // resnet20.BATCH)
    with sad.Session(resnet20.build(0, steps=steps)) as session:
        curve = train(
            session, mnist.load(),
            epochs=resnet20.EPOCHS, batch_size=resnet20.BATCH, shift=resnet20.SHIFT, progress=False,
        )  # fmt: skip
    assert curve.score >= 0.97


def test_resnet20_has_twenty_layers_of_weights() -> None:
    graph = resnet20.build(0)
    weights = [v for name, v in graph.variables.items() if name.endswith("/weights")]
    assert sum(v.trainable for v in weights) == 20
    assert len(graph.updates) == 2 * 19


def test_shifted_images_keep_their_ink() -> None:
    rng = np.random.default_rng(0)
    image = np.zeros((50, 28, 28), np.float32)
    image[:, 10:15, 12:14] = 1
    moved = mnist.shifted(image.reshape(50, -1), 2, rng).reshape(50, 28, 28)
    assert (moved.sum(axis=(1, 2)) == 10).all()
    places = {tuple(np.argwhere(m)[0]) for m in moved}
    assert {p[0] for p in places} == set(range(8, 13))
    assert {p[1] for p in places} == set(range(10, 15))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_main_writes_graph_checkpoint_and_curve(
    model: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(model, "EPOCHS", 1)
    model.main(seed=0, folder=tmp_path)
    name = model.__name__.rpartition(".")[2]
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.sad",
        f"{name}.safetensors",
        f"{name}.png",
    }
    printed = capsys.readouterr()
    assert "test accuracy" in printed.out
    assert "step" in printed.err, "the progress bar"
