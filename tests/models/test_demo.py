"""The demo, and the process in which it runs what it saved."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from models import demo, lenet, separate_process


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
    monkeypatch.setattr(lenet, "EPOCHS", 1)
    monkeypatch.setattr(demo, "STEPS", 10)
    demo.main(tmp_path)
    printed = capsys.readouterr().out
    assert re.search(r"y = sad\.nn\.conv2d\(x, weights, bias.*\) +\d+ +\d+\n", printed)
    assert "No module named 'staticad'" in printed
    assert printed.count("the same bits") == 5
    assert "NOT" not in printed


def test_demo_sees_other_bits() -> None:
    zero = np.zeros(3, np.float32)
    with pytest.raises(SystemExit, match="NOT the same bits"):
        demo.report("zeros", zero, -zero)
