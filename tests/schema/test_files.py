"""Files on disk: whole or not at all, with constants beside them."""

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from staticad_schema import OPS, FormatError, Graph, load, save, verify
from staticad_schema.files import replacing
from tests.schema import samples
from tests.schema.samples import ARRAYS, assert_same_graph


def test_constants_go_beside_the_file(tmp_path: Path) -> None:
    graph = samples.everything()
    save(graph, tmp_path / "g.sad", external=1000)
    assert_same_graph(graph, load(tmp_path / "g.sad"))
    (sidecar,) = tmp_path.glob("*.safetensors")
    # A reader that knows nothing of us can open it.
    assert np.array_equal(load_file(sidecar)["0"], ARRAYS["large"])


def test_the_sidecar_is_named_by_content(tmp_path: Path) -> None:
    save(samples.small(), tmp_path / "a.sad", external=0)
    save(samples.small(), tmp_path / "b.sad", external=0)
    assert len(list(tmp_path.glob("*.safetensors"))) == 1


def test_a_shared_array_is_written_once(tmp_path: Path) -> None:
    graph = Graph()
    value = np.arange(1000, dtype=np.float32)
    for name in ("a", "b"):
        graph.append(OPS["constant"], (), {"value": value}, name=name)
    save(graph, tmp_path / "g.sad", external=0)
    assert len(load_file(next(tmp_path.glob("*.safetensors")))) == 1
    assert_same_graph(graph, load(tmp_path / "g.sad"))


def test_L6_the_sidecar_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "models")
    save(samples.small(), "g.sad", external=0)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert_same_graph(load("../models/g.sad"), samples.small())
    assert verify(os.path.join("..", "models", "g.sad")).sidecar is not None


def test_without_its_sidecar_a_file_does_not_load(tmp_path: Path) -> None:
    save(samples.small(), tmp_path / "g.sad", external=0)
    next(tmp_path.glob("*.safetensors")).unlink()
    with pytest.raises(FormatError, match="large constants") as caught:
        load(tmp_path / "g.sad")
    assert "g.sad" in str(caught.value)


def test_files_that_cannot_be_read_are_os_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.sad")
    with pytest.raises(OSError, match="directory"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        save(samples.small(), tmp_path / "missing" / "g.sad")


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.sad"
    save(samples.small(), path)
    before = path.read_bytes()

    def fail(descriptor: int) -> None:
        raise error

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(type(error)):
        save(samples.everything(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_flushed_before_it_takes_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    fsync, replace = os.fsync, os.replace

    def seen_fsync(descriptor: int) -> None:
        calls.append("fsync")
        fsync(descriptor)

    def seen_replace(source: Path, target: Path) -> None:
        calls.append(target.suffix)
        replace(source, target)

    monkeypatch.setattr(os, "fsync", seen_fsync)
    monkeypatch.setattr(os, "replace", seen_replace)
    save(samples.small(), tmp_path / "g.sad", external=0)
    assert calls == ["fsync", ".safetensors", "fsync", ".sad"]


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as file:
        file.write(b"x")
    (tmp_path / "b").write_bytes(b"x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_memory_for_constants_is_not_doubled(tmp_path: Path) -> None:
    graph = Graph()
    graph.constant(np.ones(1 << 22, np.float32))
    size = 1 << 24
    tracemalloc.start()
    try:
        save(graph, tmp_path / "g.sad")
        saving = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        loaded = load(tmp_path / "g.sad")
        loading = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(loaded.nodes) == 1
    assert saving < size / 4
    assert loading < size * 5 / 4


@pytest.mark.slow
def test_more_than_two_gigabytes_of_constants(tmp_path: Path) -> None:
    graph = Graph()
    value = np.zeros((1 << 29) + 3, np.float32)
    value[[0, 12345, -1]] = 1, 2, 3
    graph.append(OPS["constant"], (), {"value": value})
    save(graph, tmp_path / "g.sad")
    (sidecar,) = tmp_path.glob("*.safetensors")
    assert sidecar.stat().st_size > 1 << 31
    # Zeros are holes.
    assert sidecar.stat().st_blocks * 512 < 1 << 24
    loaded = load(tmp_path / "g.sad").nodes[0].attributes["value"]
    assert loaded.shape == value.shape
    assert np.flatnonzero(loaded).tolist() == [0, 12345, len(value) - 1]
    assert loaded[[0, 12345, -1]].tolist() == [1, 2, 3]
