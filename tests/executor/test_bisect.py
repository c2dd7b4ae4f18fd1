"""`bisect` names the application of a rule that changes a result, and the user's line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.__main__ import main
from staticad_executor.compile.bisect import Run, difference, first_wrong
from staticad_executor.compile.rewrite import DEFAULT, Report, rewrite
from staticad_executor.compile.rules import RULES, Rule
from staticad_executor.compile.select import select
from staticad_executor.compile.verify import verify
from staticad_executor.residence import hosted
from staticad_executor.session import Session
from staticad_executor.state import Snapshot


@pytest.fixture
def model(tmp_path: Path) -> Path:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        w = sad.variable(np.float32(2), name="w")
        y = x
        for _ in range(4):
            y = sad.negative(-(y * 1))
        y = sad.exp(y) + sad.exp(x)
        y = sad.sin(y)
        y = sad.log(1 + sad.square(y)) / 4
        loss = sad.print_(sad.sum(y * w), "shown", name="loss")
        sad.group(w.assign_sub(loss), name="train")
        sad.random.uniform((3,), name="draw")
        graph.save(tmp_path / "model.sad")
    np.save(tmp_path / "x.npy", np.linspace(-1, 1, 9, dtype=np.float32))
    return tmp_path / "model.sad"


def bisect(model: Path, *arguments: str) -> int:
    return main(["bisect", str(model), f"--feed=x={model.parent / 'x.npy'}", *arguments])


def add_rule(monkeypatch: pytest.MonkeyPatch, kind: Any, op: str, factor: float) -> None:
    """A rule that means to be sin → sin, and is sin → factor * sin."""

    def careless(r: Any, node: Any) -> int | None:
        if r.producer(node.inputs[0]).op == "multiply":
            return None
        scale = r.add("constant", (), node, value=np.array(factor, np.float32))
        scaled = r.add("multiply", (node.inputs[0], scale), node)
        return int(r.add(node.op, (scaled,), node))

    monkeypatch.setitem(RULES, "careless", Rule("careless", kind, (op,), careless))


def test_nothing_is_wrong(model: Path, capsys: Any) -> None:
    assert bisect(model, "--fetch=loss", "--fetch=train", "--fetch=draw") == 0
    assert re.fullmatch(
        r"model\.sad: \d+ applications of \d+ rewrites, and no result changes beyond its class\n",
        capsys.readouterr().out,
    )
    assert bisect(model, "--fetch=loss", "--rewrites=") == 0
    assert "no rewrite applies" in capsys.readouterr().out


@pytest.mark.parametrize("fetch", ["loss", "train"])
def test_a_wrong_exact_rule_is_named_with_the_node_and_line(
    model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch, fetch: str
) -> None:
    add_rule(monkeypatch, "exact", "sin", 1 + 2**-20)
    assert bisect(model, f"--fetch={fetch}") == 4
    error = capsys.readouterr().err
    assert "the exact rewrite careless changes" in error
    assert ("loss" if fetch == "loss" else "variable w") in error
    assert re.search(r"application \d+ of \d+, to sin 'sin_\d+'", error)
    assert "test_bisect.py" in error
    assert "in any bit" in error
    assert "elements" in error
    assert "Traceback" not in error


def test_a_stable_rule_may_round_otherwise_but_not_be_wrong(
    model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_rule(monkeypatch, "stable", "sin", 1 + 2**-22)
    assert bisect(model, "--fetch=loss") == 0
    assert bisect(model, "--fetch=loss", "--tolerance=0") == 4
    monkeypatch.delitem(RULES, "careless")
    add_rule(monkeypatch, "stable", "sin", 1.01)
    assert bisect(model, "--fetch=loss") == 4
    assert "the stable rewrite careless changes loss" in capsys.readouterr().err
    assert bisect(model, "--fetch=loss", "--tolerance=1") == 0
    assert bisect(model, "--fetch=loss", "--rewrites=exact,stable,-careless") == 0


def test_a_rewritten_program_that_fails_is_a_difference(
    model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(r: Any, node: Any) -> int | None:
        limit = r.add("constant", (), node, value=np.array(False))
        return int(r.add("check", (limit, node.inputs[0]), node, message="broken"))

    monkeypatch.setitem(RULES, "wrong", Rule("wrong", "exact", ("sin",), wrong))
    assert bisect(model, "--fetch=loss") == 4
    assert "it fails: " in capsys.readouterr().err


def test_a_wrong_kernel_is_told_from_a_wrong_rewrite(
    model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Session.run
    monkeypatch.setattr(Session, "run", lambda *a: [v * 2 for v in run(*a)])
    assert bisect(model, "--fetch=loss") == 4
    assert "no rewrite does: a kernel is wrong" in capsys.readouterr().err


def test_exit_codes_of_wrong_lines_and_files(model: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit, match="2"):
        bisect(model)
    with pytest.raises(SystemExit, match="2"):
        bisect(model, "--fetch=loss", "--tolerance=-1")
    assert main(["bisect", str(model.parent / "x.npy"), "--fetch=loss"]) == 3
    assert bisect(model, "--fetch=los") == 4
    assert bisect(model, "--fetch=loss", "--rewrites=exact,stabel") == 4
    assert "stable" in capsys.readouterr().err


def test_each_number_of_applications_leaves_a_right_program() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 3))
        y = sad.nn.gelu(sad.log(1 + sad.square(x)) / 2) * 1
        (dx,) = sad.gradients(sad.sum(y), [x])
    feed = np.linspace(-1, 1, 12, dtype=np.float32).reshape(-1, 3)
    run = Run(graph, [y.id, dx.id], [], {x.id: feed}, {}, 0)
    program = select(graph, run.fetches, [], {x.id: x.type})
    report = Report(traced=True)
    rewrite(program, DEFAULT, report=report)
    events = report.events
    assert events is not None
    for limit in range(len(events) + 2):
        traced = Report(traced=True)
        verify(rewrite(program, DEFAULT, report=traced, limit=limit))
        assert traced.events is not None
        assert [n for n, _ in traced.events] == [n for n, _ in events[:limit]]
    assert first_wrong(run, DEFAULT, ()).wrong is None


def test_differences_in_words() -> None:
    a = np.array([[1.0, np.nan], [0.0, 2.0]], np.float32)
    b = np.array([[1.0, np.nan], [-0.0, 3.0]], np.float32)
    assert difference(a, a, 0.0) is None
    assert difference(a, b, 0.0) == "2 of 4 elements, the first at [1, 0]: -0.0 for 0.0"
    assert difference(a, b, None) == "1 of 4 elements, the first at [1, 1]: 3.0 for 2.0"
    assert difference(a, a[0], None) == "float32[2] for float32[2, 2]"
    assert (
        difference(np.array(1.0), np.array(2.0), None) == "1 of 1 elements, the first: 2.0 for 1.0"
    )
    assert difference(a + 1j, a + 1j, 0.0) is None
    assert difference(np.arange(3), np.arange(3) + 1, 9.0) is not None


def chain_of_scalars(path: Path) -> None:
    """A file whose class `fast` computes in Python's floats, and rounds otherwise."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (), name="x")
        w = sad.variable(np.linspace(0.5, 1.5, 4, dtype=np.float32), name="w")
        v = sad.variable(np.linspace(-0.5, 0.5, 4, dtype=np.float32), name="v")
        y = x
        for _ in range(8):
            y = sad.tanh(sad.exp(y * 1.3 - 0.7) * y / 3.7) + sad.log1p(y * y)
        sad.identity(y, name="y")
        sad.group(w.assign_sub(w * y), v.assign_sub(v * y), name="train")
        graph.save(path / "model.sad")
    np.save(path / "x.npy", np.float32(0.3))


def test_what_is_done_beside_rules_is_compared_within_its_class(
    tmp_path: Path, capsys: Any
) -> None:
    chain_of_scalars(tmp_path)
    asked = ["--fetch=y", "--fetch=train", "--rewrites=python_scalars,exact"]
    assert bisect(tmp_path / "model.sad", *asked, "--tolerance=1e-4") == 0
    assert bisect(tmp_path / "model.sad", *asked, "--tolerance=0") == 4
    assert "the fast rewrite python_scalars changes y" in capsys.readouterr().err


def test_wrong_updates_as_one_are_named(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain_of_scalars(tmp_path)
    flat = Snapshot.flat
    monkeypatch.setattr(Snapshot, "flat", lambda *given: hosted(flat(*given)) * np.float32(1.5))
    assert bisect(tmp_path / "model.sad", "--fetch=train") == 4
    error = capsys.readouterr().err
    assert "the exact rewrite flat_updates changes variable" in error
    assert '"-flat_updates"' in error
