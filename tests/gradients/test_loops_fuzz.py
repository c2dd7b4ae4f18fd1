"""Random nested programs: equal to plain Python, and their derivatives to central differences."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema import decode, encode
from tests.devices import opencl_label

Program = tuple[Any, ...]
"""("x",), ("w",), ("sin", p), ("add", p, q), ("mul", p, q), and with bodies of the carry, which
"x" is there: ("cond", p, q), ("while", times, p), ("scan", times, p, reverse)."""

LEAVES = st.sampled_from([("x",), ("w",)])


def grown(inner: st.SearchStrategy[Program]) -> st.SearchStrategy[Program]:
    """Larger programs."""
    times = st.integers(0, 3)
    return st.one_of(
        st.tuples(st.just("sin"), inner),
        st.tuples(st.sampled_from(["add", "mul"]), inner, inner),
        st.tuples(st.just("cond"), inner, inner),
        st.tuples(st.just("while"), times, inner),
        st.tuples(st.just("scan"), times, inner, st.booleans()),
    )


PROGRAMS: st.SearchStrategy[Program] = st.recursive(LEAVES, grown, max_leaves=6)


def built(program: Program, x: Any, w: Any) -> Any:
    """The program in a graph."""
    match program:
        case ("x",):
            return x
        case ("w",):
            return w
        case ("sin", p):
            return sad.sin(built(p, x, w))
        case ("add", p, q):
            return (built(p, x, w) + built(q, x, w)) / 2
        case ("mul", p, q):
            return built(p, x, w) * built(q, x, w)
        case ("cond", p, q):
            return sad.cond(x > w, lambda _: built(p, x, w), lambda v: built(q, v, w), x)
        case ("while", times, p):
            return sad.while_loop(
                lambda c, k: k < times, lambda c, k: (built(p, c, w), k + 1), (x, 0)
            )[0]
        case ("scan", times, p, reverse):
            weights = sad.constant(np.linspace(0.5, 1.0, times))
            last, ys = sad.scan(
                lambda c, e: (built(p, c, w) * e, c * e), x, weights, reverse=reverse
            )
            return last + sad.sum(ys)
    raise AssertionError(program)


def plain(program: Program, x: float, w: float) -> float:
    """The program in Python."""
    match program:
        case ("x",):
            return x
        case ("w",):
            return w
        case ("sin", p):
            return math.sin(plain(p, x, w))
        case ("add", p, q):
            return (plain(p, x, w) + plain(q, x, w)) / 2
        case ("mul", p, q):
            return plain(p, x, w) * plain(q, x, w)
        case ("cond", p, q):
            return plain(p if x > w else q, x, w)
        case ("while", times, p):
            for _ in range(times):
                x = plain(p, x, w)
            return x
        case ("scan", times, p, reverse):
            total = 0.0
            weights = np.linspace(0.5, 1.0, times)
            for e in weights[::-1] if reverse else weights:
                total, x = total + x * float(e), plain(p, x, w) * float(e)
            return x + total
    raise AssertionError(program)


def derivatives(f: Callable[[float, float], float], x: float, w: float) -> tuple[float, float]:
    """By central differences."""
    step = 1e-6
    return (
        (f(x + step, w) - f(x - step, w)) / (2 * step),
        (f(x, w + step) - f(x, w - step)) / (2 * step),
    )


@settings(max_examples=60, deadline=None)
@given(PROGRAMS, st.sampled_from([(0.4, 0.9), (0.83, 0.31), (-0.6, 0.7)]))
def test_random_programs(program: Program, at: tuple[float, float]) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        w = sad.placeholder("float64", (), name="w")
        y = built(program, x, w)
        first = sad.gradients(y, [x, w], unconnected="zero")
        along = sad.jvp(y, [x, w], [1.0, 2.0])
        second = sad.gradients(first[0] + 2 * first[1], [x, w], unconnected="zero")
        fetches = [
            sad.identity(t, name=f"t{k}") for k, t in enumerate([y, *first, *along, *second])
        ]
    feeds = {"x": at[0], "w": at[1]}
    with sad.Session(graph, device="numpy") as session:
        found = session.run(fetches, feeds)
        moved = [
            session.run(fetches[1:3], {"x": at[0] + s * 1e-6, "w": at[1] + 2 * s * 1e-6})
            for s in (1, -1)
        ]
    assert found[0] == pytest.approx(plain(program, *at), rel=1e-12, abs=1e-14)
    expected = derivatives(lambda a, b: plain(program, a, b), *at)
    assert found[1:3] == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert found[3] == pytest.approx(found[1] + 2 * found[2], rel=1e-9, abs=1e-12)
    mixed = [(a - b) / 2e-6 for a, b in zip(*moved, strict=True)]
    assert found[4:6] == pytest.approx(mixed, rel=1e-5, abs=1e-6)
    again: Any = decode(encode(graph))
    with sad.Session(again, device="numpy") as session:
        for a, b in zip(session.run([f.name for f in fetches], feeds), found, strict=True):
            np.testing.assert_array_equal(a, b)


def drawn(rng: random.Random, depth: int) -> Program:
    """A program of constructs so deep within each other."""
    if not depth:
        return (rng.choice("xw"),)
    inner = drawn(rng, depth - 1)
    beside = drawn(rng, rng.randrange(depth))
    return rng.choice(
        [
            ("sin", inner),
            ("mul", inner, beside),
            ("cond", inner, beside),
            ("cond", beside, inner),
            ("while", rng.randrange(4), inner),
            ("scan", rng.randrange(4), inner, rng.random() < 0.5),
        ]
    )


CHILD = """
import sys
import numpy as np
from staticad_executor import Session
from staticad_schema import load
assert not any(name.split(".")[0] == "staticad" for name in sys.modules)
names = sys.argv[3].split(",")
with Session(load(sys.argv[1]), device=sys.argv[4]) as session:
    found = session.run(names, {"x": 0.4, "w": 0.9}), session.run(names, {"x": 0.83, "w": 0.31})
np.save(sys.argv[2], found)
"""


def test_many_programs_in_one_file_run_elsewhere_and_on_opencl(tmp_path: Path) -> None:
    """To the bits of this process on each device; on OpenCL, close to those of NumPy."""
    rng = random.Random(7)
    programs = [drawn(rng, 1 + k % 3) for k in range(8)]
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        w = sad.placeholder("float64", (), name="w")
        names = []
        for k, program in enumerate(programs):
            y = built(program, x, w)
            first = sad.gradients(y, [x, w], unconnected="zero")
            (second,) = sad.gradients(first[0] + 2 * first[1], x, unconnected="zero")
            for part, value in enumerate([y, *first, second]):
                names.append(sad.identity(value, name=f"p{k}_{part}").name)
    graph.save(tmp_path / "programs.sad")
    found = {}
    for device in ("numpy", opencl_label()):
        with sad.Session(graph, device=device) as session:
            here = [session.run(names, {"x": a, "w": b}) for a, b in ((0.4, 0.9), (0.83, 0.31))]
        target = str(tmp_path / "found.npy")
        subprocess.run(
            [sys.executable, "-c", CHILD, str(tmp_path / "programs.sad"), target, ",".join(names),
             device],
            check=True, env={**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)},
            cwd=tmp_path,
        )  # fmt: skip
        np.testing.assert_array_equal(np.load(target), here)
        found[device] = np.array(here)
    on_numpy, on_opencl = found.values()
    np.testing.assert_allclose(on_opencl, on_numpy, rtol=1e-12, atol=1e-13)
    for k, program in enumerate(programs):
        expected = [plain(program, 0.4, 0.9), plain(program, 0.83, 0.31)]
        np.testing.assert_allclose(on_numpy[:, 4 * k], expected, rtol=1e-12, atol=1e-14)
