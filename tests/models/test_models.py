"""The example models learn, and their files train by themselves."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import staticad as sad
from models import demo, mlp, mnist, separate_process, softmax_regression
from models.training import accuracy, train

MODELS = [softmax_regression, mlp]


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


def mean_accuracy(model: ModuleType) -> float:
    """The mean test accuracy over three seeds of initial values and batches."""
    data = mnist.load()
    found = []
    for seed in range(3):
        with sad.Session(model.build(seed)) as session:
            curve = train(session, data, epochs=model.EPOCHS, seed=seed, progress=False)
            found.append(curve.accuracies[-1][1])
    return float(np.mean(found))


def test_softmax_regression_reads_digits() -> None:
    assert mean_accuracy(softmax_regression) >= 0.89


def test_mlp_reads_digits() -> None:
    assert mean_accuracy(mlp) >= 0.93


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


def test_the_other_process_refuses_the_builder() -> None:
    assert "No module named 'staticad'" in separate_process.attempt("import staticad")
    assert "No module named 'models'" in separate_process.attempt("import models.mlp")
    assert separate_process.attempt("import staticad_executor, staticad_schema") == ""


def test_errors_of_the_other_process_arrive(tmp_path: Path) -> None:
    with pytest.raises(separate_process.ExecutorError, match="absent"):
        separate_process.staticad_executor("run", tmp_path / "absent.sad", "--fetch", "loss")


def test_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mlp, "EPOCHS", 1)
    monkeypatch.setattr(demo, "STEPS", 10)
    demo.main(tmp_path)
    printed = capsys.readouterr().out
    assert re.search(r"hidden = hidden @ weights \+ bias +6 +18\n", printed)
    assert "No module named 'staticad'" in printed
    assert printed.count("the same bits") == 5
    assert "NOT" not in printed


def test_demo_sees_other_bits() -> None:
    zero = np.zeros(3, np.float32)
    with pytest.raises(SystemExit, match="NOT the same bits"):
        demo.report("zeros", zero, -zero)
