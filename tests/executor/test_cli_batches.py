"""`run` over many batches: rows of arrays, files in folders, a bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad
from staticad_executor.__main__ import main

from .test_cli_files import command

F32 = np.float32


@pytest.fixture
def model(tmp_path: Path) -> Path:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 2), name="x")
        scale = sad.placeholder("float32", (), name="scale")
        sad.multiply(x, scale, name="y")
        sad.sum(x, name="total")
        seen = sad.variable(0.0, name="seen")
        seen.assign_add(sad.sum(x), name="add")
    graph.save(tmp_path / "model.sad")
    np.save(tmp_path / "x.npy", np.arange(14, dtype=F32).reshape(7, 2))
    np.save(tmp_path / "scale.npy", F32(10))
    return tmp_path / "model.sad"


def test_rows_are_fed_in_batches_and_results_are_joined(model: Path) -> None:
    folder = model.parent
    done = command(
        "run", model, f"--feed=x={folder / 'x.npy'}", f"--feed=scale={folder / 'scale.npy'}",
        "--fetch=y", "--fetch=total", "--fetch=add", "--batch=3", "--progress",
        f"--output={folder / 'out.npz'}", f"--save-checkpoint={folder / 'c.safetensors'}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "] 3/3" in done.stderr
    x = np.load(folder / "x.npy")
    with np.load(folder / "out.npz") as out:
        np.testing.assert_array_equal(out["y"], x * 10)
        assert out["total"].tolist() == [x[:3].sum(), x[3:6].sum(), x[6:].sum()]
        assert out["add"].tolist() == np.cumsum(out["total"]).tolist()


def test_files_in_a_folder_are_batches_in_the_order_of_their_numbers(
    model: Path, capsys: Any
) -> None:
    folder = model.parent / "parts"
    folder.mkdir()
    for k in (10, 2, 1):
        np.save(folder / f"part{k}.npy", np.full((1, 2), k, F32))
    assert main(["run", str(model), f"--feed=x={folder}", "--fetch=total"]) == 0
    assert capsys.readouterr().out == "total float32 (3,)\n[ 2.  4. 20.]\n"
    for k in (10, 2, 1):
        entries: dict[str, Any] = {"x": np.full((k, 2), 1, F32), "scale": F32(k)}
        np.savez(folder / f"b{k}.npz", **entries)
        (folder / f"part{k}.npy").unlink()
    assert main(["run", str(model), f"--feed={folder}", "--fetch=y"]) == 0
    assert capsys.readouterr().out.startswith("y float32 (13, 2)\n[[ 1.  1.]\n [ 2.  2.]")


def test_files_of_bfloat16_are_fed_by_their_bits(tmp_path: Path, capsys: Any) -> None:
    with sad.Graph() as graph:
        sad.placeholder("bfloat16", ("n",), name="x")
    graph.save(tmp_path / "model.sad")
    folder = tmp_path / "parts"
    folder.mkdir()
    np.save(folder / "0.npy", np.array([0.25, -3], ml_dtypes.bfloat16))
    assert main(["run", str(tmp_path / "model.sad"), f"--feed=x={folder}", "--fetch=x"]) == 0
    assert capsys.readouterr().out == "x bfloat16 (2,)\n[0.25 -3]\n"


def test_what_does_not_fit_is_told(model: Path, capsys: Any) -> None:
    folder = model.parent
    one, two, empty = (folder / name for name in ("one", "two", "empty"))
    for path, count in ((one, 1), (two, 2), (empty, 0)):
        path.mkdir()
        for k in range(count):
            np.save(path / f"{k}.npy", np.ones((1, 2), F32) if path == one else F32(k))
    cases = [
        (["--feed=x=" + str(one), "--feed=scale=" + str(two), "--fetch=y"], 4, "different numbers"),
        (["--feed=x=" + str(empty), "--fetch=y"], 3, "holds no arrays"),
        ([f"--feed={two}", "--fetch=y"], 3, "holds no arrays"),
        ([f"--feed=scale={folder / 'scale.npy'}", "--fetch=scale", "--batch=2"], 4, "be cut"),
    ]
    for arguments, code, words in cases:
        assert main(["run", str(model), *arguments]) == code
        assert words in capsys.readouterr().err
    for arguments in (["--steps=2", "--batch=2"], [f"--feed=x={one}", "--steps=2"]):
        with pytest.raises(SystemExit) as stopped:
            main(["run", str(model), "--fetch=total", *arguments])
        assert stopped.value.code == 2
        assert "exclude each other" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["bench", str(model), "--fetch=total", f"--feed=x={one}"])
    assert "many runs" in capsys.readouterr().err
