"""Deep graphs: no stage recurses over depth, under Python's default recursion limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import staticad as sad
from benchmarks.definitions import Array
from benchmarks.yardstick.chain import chain_program, chain_value
from staticad_schema.text import from_text, to_text

SIZES = [10_000, pytest.param(100_000, marks=pytest.mark.slow)]
ROOT = Path(__file__).parents[1]
# Near 0.5, where the chain's slope stays near 1.
POINT = np.array([0.5, 0.4999])


def chain(n: int) -> tuple[sad.Graph, sad.Tensor, sad.Tensor]:
    """A graph, its placeholder, and n elementwise ops over it that keep value and slope near 1."""
    graph = sad.Graph(seed=0)
    x = graph.placeholder("float64", ("n",), "x")
    return graph, x, chain_value(sad.sin, sad.tanh, chain_program(n), x)


def expected(n: int) -> tuple[Array, Array]:
    """Value and slope of the chain; the slope by a complex step, which loses no digits."""
    step = 1e-30
    y = chain_value(np.sin, np.tanh, chain_program(n), POINT + step * 1j)
    return y.real, y.imag / step


@pytest.mark.parametrize("n", SIZES)
def test_a_deep_chain_passes_every_stage(n: int, tmp_path: Path) -> None:
    assert sys.getrecursionlimit() == 1000 < n
    graph, x, y = chain(n)
    (slope,) = sad.gradients(y, x)
    (tangent,) = sad.jvp(y, x, sad.ones_like(x))
    assert sad.explain_gradient(y, x).connected
    graph.signature("slope", inputs={"x": x}, outputs={"y": y, "slope": slope, "tangent": tangent})
    path = tmp_path / "chain.sad"
    graph.save(path)
    loaded = sad.load(path)
    text = to_text(graph)
    assert to_text(loaded) == text
    assert to_text(from_text(text)) == text

    names = [y.name, slope.name, tangent.name]
    value, derivative = expected(n)
    assert (abs(derivative) > 0.01).all()
    for watched in (False, True):
        with sad.Session(loaded, check_numerics=watched) as session:
            found = session.run(names, {"x": POINT})
            if not watched:
                assert "emit 1" in session.explain(names)
                assert session.memory(names, {"n": 2}).peak_bytes > 0
        for array, right in zip(found, (value, derivative, derivative), strict=True):
            np.testing.assert_allclose(array, right, rtol=1e-8)


def test_a_deep_chain_runs_in_another_process(tmp_path: Path) -> None:
    n = 10_000
    graph, _, y = chain(n)
    sad.identity(y, name="y")
    path = tmp_path / "chain.sad"
    graph.save(path)
    np.save(tmp_path / "x.npy", POINT)
    folders = [str(ROOT / folder) for folder in ("schema", "executor")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    command = [sys.executable, "-m", "staticad_executor"]
    output = tmp_path / "out.npz"
    feed = ["--feed", f"x={tmp_path / 'x.npy'}"]
    run = [*command, "run", str(path), *feed, "--fetch", "y", "--output", str(output)]
    subprocess.run(run, check=True, env=env, cwd=tmp_path)
    for verb in ("info", "text", "verify"):
        done = subprocess.run(
            [*command, verb, str(path)], check=True, env=env, cwd=tmp_path, capture_output=True
        )
        assert done.stdout
    with np.load(output) as found:
        np.testing.assert_allclose(found["y"], expected(n)[0], rtol=1e-8)
