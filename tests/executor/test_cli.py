"""The command line: what it prints and writes, and its exit codes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad
from staticad_executor.__main__ import main

F32 = np.float32


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A running sum: total += sum(x); loss = sum(x * scale); with two signatures."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        scale = sad.placeholder("float32", (), name="a=b/scale")
        total = sad.variable(F32(0), name="total")
        added = total.assign_add(sad.sum(x))
        loss = sad.multiply(sad.sum(x), scale, name="loss")
        sad.identity(sad.cast(x, "bfloat16"), name="half")
        train = sad.group(added, name="train")
        graph.signature("step", {"data": x, "s": scale}, {"l": loss}, [train])
        graph.signature("value", {}, {"total": total})
        graph.save(tmp_path / "model.sad")
    np.save(tmp_path / "x.npy", np.array([1, 2, 3], F32))
    np.save(tmp_path / "rows.npy", np.array([[1, 2], [3, 4], [5, 6]], F32))
    np.save(tmp_path / "scale.npy", F32(10))
    np.savez(tmp_path / "both.npz", x=np.array([1, 1], F32), other=np.array(2.0, F32))
    return tmp_path / "model.sad"


def run(model: Path, *arguments: str) -> int:
    return main(["run", str(model), *arguments])


def feed(model: Path, name: str, file: str) -> str:
    return f"--feed={name}={model.parent / file}"


def test_run_prints_what_is_fetched(model: Path, capsys: Any) -> None:
    code = run(
        model,
        feed(model, "x", "x.npy"),
        feed(model, "a=b/scale", "scale.npy"),
        "--fetch=loss",
        "--fetch=x",
    )
    assert code == 0
    assert capsys.readouterr().out == "loss float32 ()\n60.0\nx float32 (3,)\n[1. 2. 3.]\n"


def test_a_signature_names_feeds_and_fetches_and_runs_effects(model: Path, capsys: Any) -> None:
    saved = model.parent / "c.safetensors"
    feeds = [feed(model, "data", "x.npy"), feed(model, "s", "scale.npy")]
    assert run(model, "--signature=step", *feeds, f"--save-checkpoint={saved}") == 0
    assert capsys.readouterr().out == "l float32 ()\n60.0\n"
    assert run(model, "--signature=value", f"--checkpoint={saved}") == 0
    assert capsys.readouterr().out == "total float32 ()\n6.0\n"


def test_steps_consume_an_array_of_one_rank_more(model: Path, capsys: Any) -> None:
    out, saved = model.parent / "out.npz", model.parent / "c"
    code = run(
        model,
        "--signature=step",
        feed(model, "data", "rows.npy"),
        feed(model, "s", "scale.npy"),
        "--steps=5",
        f"--output={out}",
        f"--save-checkpoint={saved}",
    )
    assert code == 0
    assert capsys.readouterr().out == ""
    with np.load(out) as archive:
        assert archive["l"].tolist() == [30, 70, 110, 30, 70]
    assert run(model, "--fetch=total", f"--checkpoint={saved}") == 0
    assert "31.0" in capsys.readouterr().out


def test_npz_entries_are_feeds(model: Path, capsys: Any) -> None:
    both = model.parent / "both.npz"
    assert run(model, feed(model, "x", "both.npz"), "--fetch=x") == 0
    assert "[1. 1.]" in capsys.readouterr().out
    arguments = [feed(model, "x", "x.npy"), f"--feed=a=b/scale={both}:other", "--fetch=loss"]
    assert run(model, *arguments) == 0
    assert "12.0" in capsys.readouterr().out
    entries: dict[str, Any] = {"x": np.ones(2, F32), "a=b/scale": F32(3)}
    np.savez(model.parent / "all.npz", **entries)
    assert run(model, f"--feed={model.parent / 'all.npz'}", "--fetch=loss") == 0
    assert "6.0" in capsys.readouterr().out
    assert run(model, f"--feed=x={both}:nope", "--fetch=x") == 3
    assert "no entry 'nope'" in capsys.readouterr().err


def test_a_folder_gets_one_file_a_fetch(model: Path) -> None:
    out = model.parent / "out"
    arguments = [
        feed(model, "x", "x.npy"),
        feed(model, "a=b/scale", "scale.npy"),
        "--fetch=half",
        "--fetch=a=b/scale",
        "--fetch=train",
        f"--output={out}",
    ]
    assert run(model, *arguments) == 0
    assert sorted(p.name for p in out.iterdir()) == ["a%3Db%2Fscale.npy", "half.npy"]
    half = np.load(out / "half.npy").view(ml_dtypes.bfloat16)
    assert half.tolist() == [1, 2, 3]


def test_bfloat16_files_are_fed_by_their_bits(tmp_path: Path, capsys: Any) -> None:
    with sad.Graph() as graph:
        sad.placeholder("bfloat16", ("n",), name="x")
        graph.save(tmp_path / "model.sad")
    np.save(tmp_path / "x.npy", np.array([0.25, -3], ml_dtypes.bfloat16))
    assert run(tmp_path / "model.sad", f"--feed=x={tmp_path / 'x.npy'}", "--fetch=x") == 0
    assert capsys.readouterr().out == "x bfloat16 (2,)\n[0.25 -3]\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--fetch=los", "--feed=x={x}"], 4, "did you mean 'loss'"),
        (["--fetch=loss", "--feed=x={x}"], 4, "'a=b/scale' float32[]"),
        (["--fetch=loss", "--feed=y={x}"], 4, "'y'"),
        (["--fetch=x", "--feed=x={x}", "--feed=x={x}"], 4, "fed twice"),
        (["--fetch=x", "--feed=x={scale}"], 4, "the rank does not fit"),
        (["--fetch=x", "--feed=x={model}"], 3, "no arrays"),
        (["--fetch=x", "--feed=x={pickled}"], 3, "no arrays"),
        (["--fetch=x", "--feed=x=none.npy"], 3, "none.npy"),
        (["--fetch=x", "--feed=x.npy"], 3, "NAME=FILE"),
        (["--fetch=total", "--checkpoint={x}"], 3, "checkpoint"),
        (["--fetch=total", "--device=opencl"], 4, "no OpenCL device"),
        (["--signature=stop"], 4, "did you mean 'step'"),
        ([], 4, "nothing is fetched"),
    ],
)
def test_errors_have_no_traceback(
    model: Path, arguments: list[str], code: int, words: str, capsys: Any
) -> None:
    folder = model.parent
    np.save(folder / "pickled.npy", np.array([{}], object))
    files = {name: folder / f"{name}.npy" for name in ("x", "scale", "pickled")}
    given = [argument.format(model=model, **files) for argument in arguments]
    assert run(model, *given) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert words in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["run"], ["run", "m", "--steps=0"], ["run", "m", "--steps=x"]]
)
def test_wrong_usage_is_exit_code_2(arguments: list[str], capsys: Any) -> None:
    with pytest.raises(SystemExit) as info:
        main(arguments)
    assert info.value.code == 2


def test_info_describes_the_graph(model: Path, capsys: Any) -> None:
    assert main(["info", str(model), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == {
        "x": {"dtype": "float32", "shape": ["n"]},
        "a=b/scale": {"dtype": "float32", "shape": []},
    }
    assert set(found["outputs"]) == {"loss", "half"}
    assert found["effects"] == ["train"]
    assert found["signatures"]["step"]["effects"] == ["train"]
    assert found["variables"]["total"]["dtype"] == "float32"
    assert found["ops"]["placeholder"] == 2
    assert found["sizes"]["variable_bytes"] == 4
    assert main(["info", str(model)]) == 0
    text = capsys.readouterr().out
    assert "  x  float32[n]" in text
    assert "    output l  float32[]" in text


def test_text_converts_both_ways(model: Path, capsys: Any) -> None:
    text, again = model.parent / "model.txt", model.parent / "again.sad"
    assert main(["text", str(model)]) == 0
    printed = capsys.readouterr().out
    assert main(["text", str(model), f"--output={text}"]) == 0
    assert text.read_text() == printed
    assert main(["text", str(text), f"--output={again}"]) == 0
    assert again.read_bytes() == model.read_bytes()
    assert main(["text", str(text)]) == 3


def test_verify_accepts_good_files_only(model: Path, capsys: Any) -> None:
    assert main(["verify", str(model)]) == 0
    assert capsys.readouterr().out.endswith(": ok\n")
    data = bytearray(model.read_bytes())
    data[-9] ^= 4
    model.write_bytes(data)
    for command in ("verify", "info", "text"):
        assert main([command, str(model)]) == 3
        assert "model.sad" in capsys.readouterr().err


def test_a_failing_node_names_the_line_of_the_model(model: Path, capsys: Any) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        checked = sad.assert_(x > 2, "x is small", x)  # noqa: PT009
        sad.identity(checked, name="checked")
        graph.save(model)
    assert run(model, feed(model, "x", "x.npy"), "--fetch=checked") == 4
    err = capsys.readouterr().err
    assert "x is small" in err
    assert "test_cli.py" in err


def test_the_module_runs_where_the_builder_cannot_be_imported(model: Path) -> None:
    code = (
        "import sys; sys.modules['staticad'] = None\n"
        "import runpy; runpy.run_module('staticad_executor', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", str(model), "--fetch=total"],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "total float32 ()\n0.0\n", "")
