"""Random tensors: what their numbers depend on (J11), and how they are distributed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import staticad as sad
from tests.staticad.running import run

COUNT = 20_000
Build = Callable[[], Any]


def plain() -> Any:
    return sad.random.normal((4,))


def numbers(build: Build, seed: int | None = 0, before: Build | None = None) -> list[float]:
    with sad.Graph(seed=seed) as graph:
        if before is not None:
            before()
        y = build()
    found: list[float] = run(graph, y).tolist()
    return found


def scoped(name: str, build: Build) -> Build:
    def inside() -> Any:
        with sad.scope(name):
            return build()

    return inside


def test_J11_other_nodes_do_not_change_the_numbers() -> None:
    expected = numbers(plain)
    assert numbers(plain, before=lambda: sad.exp(sad.zeros(3) + 1)) == expected
    assert numbers(plain, before=scoped("elsewhere", plain)) == expected
    assert numbers(plain, before=lambda: sad.random.uniform((3,), name="named")) == expected
    # Those of the same scope have an order.
    assert numbers(plain, before=plain) != expected
    assert numbers(plain, seed=1) != expected
    assert numbers(scoped("elsewhere", plain)) != expected


def test_J11_a_name_decides_alone() -> None:
    def named() -> Any:
        return sad.random.normal((4,), name="w")

    expected = numbers(named)
    assert numbers(named, before=plain) == expected
    assert numbers(named, before=scoped("w", named)) == expected
    assert numbers(scoped("s", named)) != expected
    assert numbers(named, before=named) != expected


def test_a_seed_is_drawn_if_none_is_given() -> None:
    assert numbers(plain, seed=None) != numbers(plain, seed=None)
    with sad.Graph() as graph:
        sad.zeros(3)
    assert graph.seed is None


def test_runs_draw_anew_and_a_step_pins_them() -> None:
    with sad.Graph(seed=0) as graph:
        y = plain()
    with sad.Session(graph) as session:
        first, second = session.run(y).tolist(), session.run(y).tolist()
        assert first != second
        assert session.run(y, step=0).tolist() == first
        assert session.run(y, step=1).tolist() == second


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_the_same_bits_after_save_and_load(dtype: str, tmp_path: Path) -> None:
    with sad.Graph(seed=5) as graph:
        made = [
            sad.random.normal((5,), dtype=dtype, name="normal"),
            sad.random.uniform((5,), dtype=dtype, name="uniform"),
            sad.random.bernoulli((5,), 0.3, name="bernoulli"),
            sad.random.randint(-3, 9, (5,), name="randint"),
            sad.random.bits((5,), "uint64", name="bits"),
        ]
        w = sad.variable(sad.random.normal((3,), dtype=dtype), name="w")
    names = [m.name for m in made] + [w.name]
    before = run(graph, names)
    graph.save(tmp_path / "a.sad")
    loaded = sad.load(tmp_path / "a.sad")
    after = run(loaded, names)
    for a, b in zip(before, after, strict=True):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
    # What is built on counts on from the ordinals in the file.
    with graph:
        more = plain()
    with loaded:
        again = plain()
    assert run(graph, more).tobytes() == run(loaded, again).tobytes()


def draw(build: Build) -> np.ndarray[Any, Any]:
    with sad.Graph(seed=11) as graph:
        y = build()
    found: np.ndarray[Any, Any] = run(graph, y)
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions_by_kolmogorov_and_smirnov(dtype: str) -> None:
    u = draw(lambda: sad.random.uniform((COUNT,), dtype=dtype))
    assert u.min() >= 0
    assert u.max() < 1
    assert stats.kstest(u, "uniform").pvalue > 1e-3
    z = draw(lambda: sad.random.normal((COUNT,), dtype=dtype))
    assert stats.kstest(z, "norm").pvalue > 1e-3
    # Neighbours are independent.
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 5 / math.sqrt(COUNT)
    shifted = draw(lambda: sad.random.normal((COUNT,), 3.0, 0.5, dtype=dtype))
    assert stats.kstest(shifted, "norm", (3.0, 0.5)).pvalue > 1e-3


@pytest.mark.parametrize(("dtype", "step"), [("float16", 2.0**-11), ("bfloat16", 2.0**-8)])
def test_half_floats_never_round_up_to_one(dtype: str, step: float) -> None:
    u = draw(lambda: sad.random.uniform((COUNT,), dtype=dtype)).astype(np.float64)
    assert u.max() < 1
    assert (u / step == np.round(u / step)).all()


def test_counts_by_chi_square() -> None:
    dice = draw(lambda: sad.random.randint(1, 7, (COUNT,), dtype="int8"))
    assert dice.dtype == np.int8
    assert sorted(set(dice.tolist())) == [1, 2, 3, 4, 5, 6]
    assert stats.chisquare(np.bincount(dice)[1:]).pvalue > 1e-3
    hits = int(draw(lambda: sad.random.bernoulli((COUNT,), 0.3)).sum())
    assert stats.binomtest(hits, COUNT, 0.3).pvalue > 1e-3
    nibbles = draw(lambda: sad.random.bits((COUNT,))) >> 28
    assert stats.chisquare(np.bincount(nibbles, minlength=16)).pvalue > 1e-3


def test_parameters_may_be_tensors_and_shapes_symbolic() -> None:
    with sad.Graph(seed=0) as graph:
        loc = sad.placeholder("float32", (), name="loc")
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.random.normal(x.shape, loc, 0.0)
        p = sad.random.bernoulli((3,), loc)
    found = run(graph, [y, p], {loc: 1.0, x: np.zeros(4, np.float32)})
    assert found[0].tolist() == [1.0] * 4
    assert found[1].tolist() == [True] * 3


def test_parameters_of_a_run_out_of_range() -> None:
    with sad.Graph(seed=0) as graph:
        p = sad.placeholder("float32", (2,), name="p")
        high = sad.placeholder("float32", (), name="high")
        coins = sad.random.bernoulli((2,), p, name="coins")
        numbers = sad.random.uniform((2,), 1.0, high)
    with sad.Session(graph) as session:
        assert session.run(coins, {p: [0.0, 1.0]}).tolist() == [False, True]
        for bad in (-0.5, 1.5, np.nan):
            with pytest.raises(
                sad.ExecutionError, match=r"(?s)coins/p.*p is no number from 0 to 1"
            ):
                session.run(coins, {p: [0.5, bad]})
        assert np.isnan(session.run(numbers, {high: 0.0})).all()
        assert session.run(numbers, {high: 1.0}).tolist() == [1, 1]


def test_calls_of_a_body_draw_numbers_of_their_own() -> None:
    with sad.Graph(seed=0) as graph:
        noisy = graph.define("noisy", lambda x: x + sad.random.normal((4,)), ("float32", (4,)))
        x = sad.zeros(4)
        a, b = noisy(x), noisy(x)
    found = run(graph, [a, b])
    assert found[0].tolist() != found[1].tolist()


def test_integers_between_sizes() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", "h"), name="x")
        n, h = x.shape
        below = sad.random.randint(0, h, (1000,))
        between = sad.random.randint(-3, n + 1, (1000,), "int8")
        above = sad.random.randint(n, 7, (n, 200))
    session = sad.Session(graph)

    def of(*shape: int) -> Any:
        return {x: np.zeros(shape, np.float32)}

    drawn = session.run([below, between, above], of(3, 5))
    assert [value.dtype.name for value in drawn] == ["int64", "int8", "int64"]
    expected = [range(5), range(-3, 4), range(3, 7)]
    for value, numbers in zip(drawn, expected, strict=True):
        assert np.unique(value).tolist() == list(numbers)
    for fetch, shape in ((below, (3, 0)), (between, (200, 1)), (above, (7, 1))):
        with pytest.raises(sad.ExecutionError, match="no range of integers"):
            session.run(fetch, of(*shape))


def test_integers_below_a_size_are_those_below_its_number() -> None:
    with sad.Graph(seed=0) as by_size:
        x = sad.placeholder("float32", ("n",), name="x")
        of_size = sad.random.randint(0, x.shape[0], (50,), name="draw")
    with sad.Graph(seed=0) as by_number:
        of_number = sad.random.randint(0, 9, (50,), name="draw")
    drawn = sad.Session(by_size).run(of_size, {x: np.zeros(9, np.float32)})
    np.testing.assert_array_equal(drawn, sad.Session(by_number).run(of_number))
