"""The command line: what it prints and writes, and its exit codes."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import staticad as sad
from staticad_executor.__main__ import main
from staticad_executor.commands import info

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


def hostile_arrays(folder: Path) -> dict[str, Path]:
    """Files that are no arrays, or not of the kind that their names say."""
    good = io.BytesIO()
    np.savez_compressed(good, x=np.arange(1000.0))
    octets = good.getvalue()
    texts = io.BytesIO()
    with zipfile.ZipFile(texts, "w") as archive:
        archive.writestr("x.txt", "no array")
    np.save(folder / "pickled.npy", np.array([{}], object))
    np.save(folder / "strings.npy", np.array(["a"]))
    contents = {
        "broken.npy": (folder / "x.npy").read_bytes()[:70],
        "archive.npy": octets,
        "single.npz": (folder / "x.npy").read_bytes(),
        "truncated.npz": octets[: len(octets) // 2],
        "flipped.npz": octets[:90] + bytes([octets[90] ^ 0xFF]) + octets[91:],
        "texts.npz": texts.getvalue(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    names = [*contents, "pickled.npy", "strings.npy"]
    return {name.partition(".")[0]: folder / name for name in names}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--fetch=los", "--feed=x={x}"], 4, "did you mean 'loss'"),
        (["--fetch=loss", "--feed=x={x}"], 4, "'a=b/scale' float32[]"),
        (["--fetch=loss", "--feed=y={x}"], 4, "'y'"),
        (["--fetch=x:1"], 4, "node 'x' has no output 1"),
        (["--fetch=x", "--feed=x={scale}"], 4, "the rank does not fit"),
        (["--fetch=x", "--feed=x={model}"], 3, "no arrays"),
        (["--fetch=x", "--feed=x={pickled}"], 3, "no arrays"),
        (["--fetch=x", "--feed=x=none.npy"], 3, "none.npy"),
        (["--fetch=x", "--feed=x={broken}"], 3, "no arrays"),
        (["--fetch=x", "--feed=x={archive}"], 3, "its name should end in .npz"),
        (["--fetch=x", "--feed={single}"], 3, "its name should end in .npy"),
        (["--fetch=x", "--feed={truncated}"], 3, "no arrays"),
        (["--fetch=x", "--feed={flipped}"], 3, "no arrays"),
        (["--fetch=x", "--feed={texts}"], 3, "no array"),
        (["--fetch=x", "--feed=x={strings}"], 4, "<U1"),
        (["--fetch=x", "--feed=x={folder}"], 3, "archive.npy"),
        (["--fetch=total", "--checkpoint={x}"], 3, "checkpoint"),
        (["--fetch=total", "--device=opencl:none-such"], 4, "OpenCL device"),
        (["--signature=stop"], 4, "did you mean 'step'"),
    ],
)
def test_errors_have_no_traceback(
    model: Path, arguments: list[str], code: int, words: str, capsys: Any
) -> None:
    folder = model.parent
    files = {"model": model, "folder": folder, **hostile_arrays(folder)}
    files |= {name: folder / f"{name}.npy" for name in ("x", "scale")}
    given = [argument.format(**files) for argument in arguments]
    assert run(model, *given) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert words in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["fly"], "'fly'"),
        (["run"], "file"),
        (["run", "{model}", "--steps=0"], "an integer of at least 1, found '0'"),
        (["run", "{model}", "--steps=x"], "an integer of at least 1, found 'x'"),
        (["run", "{model}", f"--steps={10**30}"], "an integer of at least 1"),
        (["run", "{model}", "--fetch=x", "--feed=x.npy"], "NAME=FILE"),
        (["run", "{model}"], "nothing is fetched"),
        (["run", "{model}", "--feed=x={x}", "--feed=x={x}", "--fetch=x"], "fed twice"),
        (["text", "{text}"], "--output"),
    ],
)
def test_wrong_usage_is_exit_code_2(
    model: Path, arguments: list[str], words: str, capsys: Any
) -> None:
    text = model.parent / "model.txt"
    text.write_text("staticad 1\n")
    names = {"model": model, "text": text, "x": model.parent / "x.npy"}
    with pytest.raises(SystemExit) as info:
        main([argument.format(**names) for argument in arguments])
    assert info.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err


def test_a_wrong_key_is_compared_with_those_of_the_signature(model: Path, capsys: Any) -> None:
    assert run(model, "--signature=step", feed(model, "date", "x.npy")) == 4
    message = capsys.readouterr().err
    assert "an input of the signature ('data', 's'), or a name in the graph" in message
    assert "did you mean 'data'?" in message
    arguments = (feed(model, "data", "x.npy"), feed(model, "s", "scale.npy"))
    assert run(model, "--signature=step", *arguments, "--fetch=losss") == 4
    message = capsys.readouterr().err
    assert "an output of the signature ('l'), or a name in the graph" in message
    assert "did you mean 'loss'?" in message


def test_an_unforeseen_error_is_one_line_too(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def broken(path: Path) -> Any:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(info, "load", broken)
    assert main(["info", str(model)]) == 4
    assert capsys.readouterr().err == "error: ZeroDivisionError: a fault\n"


@pytest.mark.parametrize("name", ["", "a/b:0", "größe ∇", "n" * 300, "..", "∇" * 300])
def test_outputs_of_any_name_get_files(name: str, tmp_path: Path) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name=name)
        sad.multiply(x, 2.0, name=name + "y")
    graph.save(tmp_path / "named.sad")
    np.save(tmp_path / "x.npy", F32(3))
    fetch = ["--feed", f"{name}={tmp_path / 'x.npy'}", "--fetch", name + "y"]
    for output in ("out", "out.npz"):
        given = [*fetch, "--fetch", name, "--output", str(tmp_path / output)]
        assert run(tmp_path / "named.sad", *given) == 0
    assert sorted(float(np.load(file)) for file in (tmp_path / "out").iterdir()) == [3, 6]
    with np.load(tmp_path / "out.npz") as archive:
        assert {k: float(archive[k]) for k in archive.files} == {name: 3, name + "y": 6}


def test_names_do_not_command_the_terminal(tmp_path: Path, capsys: Any) -> None:
    name = "a\x1b[2Jb\nc"
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (), name=name)
        y = sad.sqrt(x, name=name + "y")
        v = sad.variable(1.0, name=name + "v")
        done = sad.group(v.assign_add(y), name=name + "done")
        graph.signature(name, {name: x}, {name: y}, [done])
    graph.sites = [site._replace(file=name, function=name) for site in graph.sites]
    graph.save(tmp_path / "named.sad")
    np.save(tmp_path / "x.npy", F32(4))
    np.save(tmp_path / "wrong.npy", np.zeros(3, F32))
    file = str(tmp_path / "named.sad")
    feed = f"--feed={name}={tmp_path / 'x.npy'}"
    assert main(["info", file]) == 0
    assert main(["run", file, "--signature", name, feed]) == 0
    assert main(["run", file, "--fetch", name, f"--feed={name}={tmp_path / 'wrong.npy'}"]) == 4
    session = sad.Session(sad.load(file))
    print(session.explain([name + "y", name + "done"]), session.memory(name + "y"))
    print(session.profile([name + "y", name + "done"], {name: 4}))
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert "\x1b" not in text
        assert "\\x1b[2Jb\\nc" in text


def test_names_are_printed_as_utf_8_whatever_the_terminal_takes(tmp_path: Path) -> None:
    with sad.Graph() as graph:
        sad.constant(1.0, name="größe ∇")
    graph.save(tmp_path / "named.sad")
    command = [sys.executable, "-m", "staticad_executor"]
    ascii_only = {
        **os.environ,
        "PYTHONIOENCODING": "ascii",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    for arguments in (["run", "named.sad", "--fetch=größe ∇"], ["text", "named.sad"]):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=ascii_only, capture_output=True, check=True
        )
        assert "größe ∇" in done.stdout.decode("utf-8")


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
