"""Rows I12 and J11, and what a user sees of random numbers: their laws, and when they repeat."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import staticad as sad
from staticad import assert_

COUNT = 20_000
# Each test of a law is one fixed draw; a right generator fails one in ten thousand of them.
LEVEL = 1e-4


def draw(build: Callable[[], Any], seed: int = 0, **run: Any) -> np.ndarray[Any, Any]:
    with sad.Graph(seed=seed) as graph:
        x = build()
    with sad.Session(graph) as session:
        result: np.ndarray[Any, Any] = session.run(x, **run)
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_laws_of_continuous_numbers(dtype: str, seed: int) -> None:
    u = draw(lambda: sad.random.uniform((COUNT,), -1.0, 3.0, dtype=dtype), seed)
    assert u.dtype == dtype
    assert stats.kstest(u.astype("float64"), stats.uniform(-1, 4).cdf).pvalue > LEVEL
    z = draw(lambda: sad.random.normal((COUNT,), 2.0, 0.5, dtype=dtype), seed)
    assert z.dtype == dtype
    assert stats.kstest(z.astype("float64"), stats.norm(2, 0.5).cdf).pvalue > LEVEL
    # The halves of one draw, and neighbours in it, are independent.
    for a, b in ((z[: COUNT // 2], z[COUNT // 2 :]), (z[:-1], z[1:])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(len(a))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_numbers_are_below_one(dtype: str) -> None:
    u = draw(lambda: sad.random.uniform((200_000,), dtype=dtype)).astype("float64")
    assert u.min() >= 0
    assert u.max() < 1


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_law_of_bernoulli(p: float) -> None:
    hits = int(draw(lambda: sad.random.bernoulli((COUNT,), p)).sum())
    assert stats.binomtest(hits, COUNT, p).pvalue > LEVEL


@pytest.mark.parametrize(("low", "high"), [(0, 10), (-3, 4), (0, 256)])
def test_law_of_integers(low: int, high: int) -> None:
    values = draw(lambda: sad.random.randint(low, high, (COUNT,)))
    assert (values.min(), values.max()) == (low, high - 1)
    assert stats.chisquare(np.bincount(values - low)).pvalue > LEVEL


def test_I12_random_nodes_stay_distinct() -> None:
    with sad.Graph(seed=0) as graph:
        pair = [sad.random.uniform((100,)), sad.random.uniform((100,))]
    with sad.Session(graph) as session:
        first, second = session.run(pair)
        assert not (first == second).any()
        # Nor does a second fetch of one of them draw again within the run.
        again = session.run([pair[0], pair[0] + 0])
        assert (again[0] == again[1]).all()


def streams(extra: str = "", seed: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """The numbers of three nodes of a graph to which something is added."""
    with sad.Graph(seed=seed) as graph:
        if extra == "constant":
            sad.exp(sad.constant([1.0, 2.0])) + 1
        if extra == "named":
            sad.random.uniform((7,), name="another")
        if extra == "elsewhere":
            with sad.scope("elsewhere"):
                sad.random.uniform((7,))
        named = sad.random.uniform((5,), name="named")
        with sad.scope("layer"):
            scoped = sad.random.uniform((5,))
        plain = sad.random.normal((5,))
    fetches = {"named": named, "scoped": scoped, "plain": plain}
    with sad.Session(graph) as session:
        result: dict[str, np.ndarray[Any, Any]] = session.run(fetches)
    return result


@pytest.mark.parametrize("extra", ["", "constant", "named", "elsewhere"])
def test_J11_additions_do_not_change_other_streams(extra: str) -> None:
    before, after = streams(), streams(extra)
    for name in before:
        np.testing.assert_array_equal(before[name], after[name])


def test_J11_the_seed_changes_every_stream() -> None:
    zero, one = streams(seed=0), streams(seed=1)
    for name in zero:
        assert not (zero[name] == one[name]).any()


def test_J11_runs_advance_and_steps_repeat(tmp_path: Path) -> None:
    with sad.Graph(seed=3) as graph:
        x = sad.random.normal((4,), name="x")
        fixed = sad.constant([1.0]) * 2
    with sad.Session(graph) as session:
        first = session.run(x)
        session.run(fixed)  # Draws nothing, so the next run is the second that does.
        second = session.run(x)
        assert not (first == second).any()
        np.testing.assert_array_equal(session.run(x, step=0), first)
        np.testing.assert_array_equal(session.run(x, step=1), second)
        third = session.run(x)
        np.testing.assert_array_equal(session.run(x, step=2), third)

    graph.save(tmp_path / "random.sad")
    with sad.Session(sad.load(tmp_path / "random.sad")) as session:
        for expected in (first, second, third):
            np.testing.assert_array_equal(session.run("x"), expected)


def test_J11_another_process_draws_the_same(tmp_path: Path) -> None:
    with sad.Graph(seed=3) as graph:
        made = {
            "normal": sad.random.normal((5,), name="normal"),
            "half": sad.random.normal((5,), dtype="float16", name="half"),
            "double": sad.random.uniform((5,), dtype="float64", name="double"),
            "coin": sad.random.bernoulli((5,), 0.3, name="coin"),
            "integer": sad.random.randint(-3, 9, (5,), name="integer"),
            "dropped": sad.nn.dropout(sad.ones((5,)), 0.5, name="dropped"),
            "initial": sad.variable(sad.random.normal((5,)), name="initial"),
        }
    with sad.Session(graph) as session:
        expected = session.run(made)
    graph.save(tmp_path / "random.sad")
    folders = [str(Path(__file__).parents[2] / folder) for folder in ("schema", "executor")]
    command = [sys.executable, "-m", "staticad_executor", "run", str(tmp_path / "random.sad")]
    fetches = [part for name in made for part in ("--fetch", name)]
    subprocess.run(
        [*command, *fetches, "--output", str(tmp_path / "found.npz")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        cwd=tmp_path,
        check=True,
    )
    with np.load(tmp_path / "found.npz") as found:
        for name, array in expected.items():
            assert found[name].dtype == array.dtype
            assert found[name].tobytes() == array.tobytes(), name


def test_J11_a_loaded_graph_goes_on_where_the_saved_one_was(tmp_path: Path) -> None:
    def more() -> list[Any]:
        with sad.scope("s"):
            inner = sad.random.uniform((4,))
        return [sad.random.uniform((4,)), inner, sad.nn.dropout(sad.ones((4,)), 0.5)]

    with sad.Graph(seed=3) as graph:
        more()
    graph.save(tmp_path / "random.sad")
    results = []
    for built in (graph, sad.load(tmp_path / "random.sad")):
        with built:
            made = more()
        with sad.Session(built) as session:
            results.append(session.run(made))
    for here, there in zip(*results, strict=True):
        np.testing.assert_array_equal(here, there)


def test_a_failed_run_draws_the_same_again() -> None:
    with sad.Graph(seed=3) as graph:
        ok = sad.placeholder("bool", ())
        x = assert_(ok, "not ok", sad.random.normal((4,)))
    with sad.Session(graph) as session, sad.Session(graph) as other:
        with pytest.raises(sad.ExecutionError, match="not ok"):
            session.run(x, {ok: False})
        np.testing.assert_array_equal(session.run(x, {ok: True}), other.run(x, {ok: True}))


def test_a_symbolic_shape_draws_a_prefix() -> None:
    with sad.Graph(seed=3) as graph:
        like = sad.placeholder("float32", ("n",))
        x = sad.random.uniform(like.shape)
    with sad.Session(graph) as session:
        short = session.run(x, {like: np.zeros(10)}, step=0)
        long = session.run(x, {like: np.zeros(1000)}, step=0)
    np.testing.assert_array_equal(short, long[:10])
