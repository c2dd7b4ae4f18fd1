"""Checkpoints are exact, whole, and refuse what does not fit."""

import json
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors

import staticad as sad
from staticad_executor import checkpoint
from staticad_executor.state import Snapshot

F32 = np.float32
VALUES: dict[str, Any] = {
    "plain": np.arange(6, dtype=F32).reshape(2, 3),
    "0-d": np.array(-0.0, np.float64),
    "empty": np.zeros((2, 0, 3), F32),
    "half": np.array([1.5, np.nan, np.inf], np.float16),
    "brain": np.array([0.25, -0.0, 3e38, np.nan], ml_dtypes.bfloat16),
    "complex": np.array([[1 + 2j, complex(np.nan, -0.0)]], np.complex64),
    "Complex 0-d": np.array(1e300 - 1e-300j),
    "bool": np.array([True, False]),
    "long": np.array([np.iinfo(np.int64).min, -1], np.int64),
    "unsigned": np.array([np.iinfo(np.uint64).max], np.uint64),
    "größe / λ=1": np.ones(3, np.int8),
    "x" * 300: np.ones(1, np.uint16),
    "payload": np.array([0x7FC12345], np.uint32).view(F32),
}


def snapshot() -> Snapshot:
    return Snapshot(run_number=2**63 + 1, step=12).with_arrays(
        {name: array.copy() for name, array in VALUES.items()}
    )


def same_bits(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def test_everything_comes_back_bit_for_bit(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    checkpoint.save(path, snapshot())
    loaded = checkpoint.load(path)
    assert (loaded.run_number, loaded.step) == (2**63 + 1, 12)
    assert list(loaded.arrays) == list(VALUES)
    for name, array in VALUES.items():
        assert same_bits(loaded.arrays[name], array), name


def test_other_tools_read_the_tensors(tmp_path: Path) -> None:
    path = tmp_path / "c.safetensors"
    checkpoint.save(path, snapshot())
    with safetensors.safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(VALUES)
        assert file.metadata()["step"] == "12"
        np.testing.assert_array_equal(file.get_tensor("plain"), VALUES["plain"])
        assert file.get_tensor("complex").shape == (1, 2, 2)


def test_equal_snapshots_give_equal_bytes(tmp_path: Path) -> None:
    for name in "ab":
        checkpoint.save(tmp_path / name, snapshot())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def small(path: Path) -> bytes:
    arrays = {"z": np.array([1j], np.complex64)}
    checkpoint.save(path, Snapshot(run_number=1, step=2).with_arrays(arrays))
    return path.read_bytes()


def test_every_truncation_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "c"
    data = small(path)
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(sad.FormatError):
            checkpoint.load(path)
    path.write_bytes(data + b"\0")
    with pytest.raises(sad.FormatError):
        checkpoint.load(path)


def test_every_bit_flip_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "c"
    data = small(path)
    for at in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(sad.FormatError):
                checkpoint.load(path)


def with_header(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


METADATA = {
    "format": "staticad",
    "version": "1",
    "step": "0",
    "run_number": "0",
    "complex": "{}",
    "crc32": "00000000",
}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        with_header(b"[" * 100_000),
        with_header([1, 2]),
        with_header({}),
        with_header({"__metadata__": {"format": "pt"}}),
        with_header({"__metadata__": {**METADATA, "version": "9"}}),
        with_header({"__metadata__": {**METADATA, "step": "-1"}}),
        with_header({"__metadata__": {**METADATA, "step": "9" * 100}}),
        with_header({"__metadata__": {**METADATA, "complex": "[1]"}}),
        with_header({"__metadata__": {**METADATA, "complex": '{"v": "float32"}'}}),
        with_header(
            {
                "__metadata__": METADATA,
                "v": {"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 4]},
            }
        ),
        with_header(
            {
                "__metadata__": METADATA,
                "v": {"dtype": "F32", "shape": [1 << 50], "data_offsets": [0, 1 << 52]},
            }
        ),
        with_header(
            {
                "__metadata__": METADATA,
                "v": {"dtype": "F32", "shape": [0, 1 << 62, 1 << 62], "data_offsets": [0, 0]},
            }
        ),
        with_header(
            {
                "__metadata__": METADATA,
                "v": {"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]},
            },
            b"\x02",
        ),
        with_header({"__metadata__": METADATA, "v": {"dtype": "X"}}),
        with_header({"__metadata__": METADATA, "v": 3}),
    ],
)
def test_hostile_files_are_errors(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(content)
    with pytest.raises(sad.FormatError, match="hostile"):
        checkpoint.load(path)


def test_a_file_that_cannot_be_read_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        checkpoint.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        checkpoint.load(tmp_path)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    session, _ = counting()
    with pytest.raises(FileNotFoundError) as caught:
        session.save(tmp_path / "none" / "a.safetensors")
    assert caught.value.filename == str(tmp_path / "none" / "a.safetensors")


def test_other_kinds_of_files_are_told_apart(tmp_path: Path) -> None:
    session, _ = counting()
    session.graph.save(tmp_path / "a.sad")
    session.save(tmp_path / "a.safetensors")
    np.save(tmp_path / "a.npy", np.ones(3))
    np.savez(tmp_path / "a.npz", x=np.ones(3))
    (tmp_path / "empty").touch()
    for name, text in (
        ("a.safetensors", "session.restore"),
        ("a.npy", "a NumPy array"),
        ("a.npz", ".npz"),
        ("empty", "an empty file"),
    ):
        with pytest.raises(sad.FormatError, match=text):
            sad.load(tmp_path / name)
        if name != "a.safetensors":
            with pytest.raises(sad.FormatError, match=text):
                session.restore(tmp_path / name)
    with pytest.raises(sad.FormatError, match=r"a graph \(\.sad\)") as caught:
        session.restore(tmp_path / "a.sad")
    assert "sad.load" in str(caught.value)


def counting(shape: tuple[int, ...] = (3,), extra: str | None = None) -> Any:
    with sad.Graph(seed=1) as graph:
        v = sad.variable(np.zeros(shape, F32), name="v")
        if extra is not None:
            sad.variable(F32(0), name=extra)
        step = v.assign_add(1)
    return sad.Session(graph), step


def test_a_session_continues_where_another_stopped(tmp_path: Path) -> None:
    path = tmp_path / "c"
    one, step = counting()
    one.run(step)
    one.save(path)
    assert one.run(step)[0] == 2
    two, other_step = counting()
    two.restore(path)
    assert two.run(other_step)[0] == 2
    held = two.snapshot()
    assert (held.step, held.run_number) == (2, 0)
    two.run(other_step)
    two.restore(held)
    assert two.snapshot().step == 2
    assert two.variables["v"][0] == 2


def test_all_that_does_not_fit_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c"
    one, step = counting((3,), "old")
    one.run(step)
    one.save(path)
    two, _ = counting((4,), "new")
    with pytest.raises(sad.PlanError, match="does not fit the graph") as info:
        two.restore(path)
    text = str(info.value)
    assert "missing 'new'" in text
    assert "extra 'old'" in text
    assert "'v' is float32[3], the graph's is float32[4]" in text
    assert (two.variables["v"] == 0).all()


def test_a_failing_save_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c"
    session, step = counting()
    session.save(path)
    before = path.read_bytes()
    session.run(step)

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        session.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["c"]


def test_initialize_begins_again() -> None:
    session, step = counting()
    session.run(step)
    session.initialize()
    assert session.snapshot().step == 0
    assert (session.variables["v"] == 0).all()
