"""What the README shows works as it is written."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import staticad as sad
from models.separate_process import staticad_executor
from tests.test_docs import python_blocks

README = Path(__file__).parent.parent / "README.md"


def test_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    exec(compile(python_blocks(README), str(README), "exec"), names)
    printed = capsys.readouterr().out
    first, last = map(float, re.findall(r"loss (\S+) -> (\S+)", printed)[0])
    assert last < 0.5 * first

    # The command line below the code: what it feeds is the code's data.
    (command,) = re.findall(
        r"staticad-executor (run moons\.sad --checkpoint.*?\n.*?)\n", README.read_text("utf-8")
    )
    np.save("points.npy", names["points"])  # type: ignore[arg-type]
    np.save("labels.npy", names["moon"])  # type: ignore[arg-type]
    staticad_executor(*command.replace("\\\n", " ").split(), "--output", "losses.npz")
    losses = np.load("losses.npz")["loss"]
    assert losses.shape == (100,)
    assert losses[-1] < last


def test_readme_shows_an_error_as_it_is() -> None:
    (shown,) = re.findall(r"```\n(matmul: .*?)\n```", README.read_text("utf-8"), re.DOTALL)
    with sad.Graph():
        x = sad.placeholder("float32", ("batch", 16), name="x")
        hidden = sad.tanh(x, name="tanh")
        w2 = sad.variable(sad.zeros((2, 16)), name="w2")
    with pytest.raises(sad.ShapeError) as caught:
        hidden @ w2
    place = r"\S+\.py:\d+, in [\w<>]+"
    assert re.sub(place, "", str(caught.value)) == re.sub(place, "", shown)
