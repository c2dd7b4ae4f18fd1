"""What loops are for: differential equations, powers, early stops, depth; on NumPy and OpenCL, and
from files in a process that cannot import the builder."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import staticad as sad
from tests.devices import opencl_label

Made = tuple[list[Any], dict[Any, Any], list[Any]]
"""Fetches, feeds, and what to expect of the fetches."""

STEPS = 200


def lotka_volterra(y: Any, p: Any, xp: Any) -> Any:
    prey, hunters = y[0], y[1]
    return xp.stack(
        [p[0] * prey - p[1] * prey * hunters, p[2] * prey * hunters - p[3] * hunters]
    )  # fmt: skip


def equation() -> Made:
    """Two populations by Runge-Kutta steps in a scan; the slopes of the end in the parameters and
    the beginning are those of SciPy's solution of the equation of the sensitivities."""
    p = sad.placeholder("float64", (4,), name="p")
    begin = sad.placeholder("float64", (2,), name="begin")
    h = 2.0 / STEPS

    def step(y: Any, _: Any) -> Any:
        a = lotka_volterra(y, p, sad)
        b = lotka_volterra(y + 0.5 * h * a, p, sad)
        c = lotka_volterra(y + 0.5 * h * b, p, sad)
        d = lotka_volterra(y + h * c, p, sad)
        return y + h / 6 * (a + 2 * b + 2 * c + d), None

    end, _ = sad.scan(step, begin, length=STEPS, recompute_every=20)
    slopes = sad.gradients(end[0], [p, begin])
    values, start = np.array([1.1, 0.4, 0.1, 0.4]), np.array([10.0, 5.0])

    def extended(_: float, state: Any) -> Any:
        y, s = state[:2], state[2:].reshape(2, 6)
        a, b, c, d = values
        of_y = np.array([[a - b * y[1], -b * y[0]], [c * y[1], c * y[0] - d]])
        of_p = np.array([[y[0], -y[0] * y[1], 0, 0], [0, 0, y[0] * y[1], -y[1]]])
        return np.concatenate(
            [
                lotka_volterra(y, values, np),
                (of_y @ s + np.hstack([of_p, np.zeros((2, 2))])).ravel(),
            ]
        )

    first = np.concatenate([start, np.hstack([np.zeros((2, 4)), np.eye(2)]).ravel()])
    known = solve_ivp(extended, (0, 2), first, rtol=1e-11, atol=1e-12).y[:, -1]
    rows = known[2:].reshape(2, 6)
    return [end, *slopes], {p: values, begin: start}, [known[:2], rows[0, :4], rows[0, 4:]]


def power() -> Made:
    """x.T A**n x, by a loop of unknown length; its slope in A is the sum of outer products."""
    a = sad.placeholder("float64", (3, 3), name="a")
    n = sad.placeholder("int64", (), name="n")
    one = sad.constant(np.eye(3))
    found, _ = sad.while_loop(lambda m, k: k < n, lambda m, k: (m @ a, k + 1), (one, 0))
    x = np.array([1.0, -2.0, 0.5])
    value = sad.constant(x) @ found @ sad.constant(x)
    (slope,) = sad.gradients(value, a)
    matrix = np.random.default_rng(0).normal(size=(3, 3)) / 2
    powers = [np.linalg.matrix_power(matrix, k) for k in range(6)]
    expected = sum(np.outer(powers[k].T @ x, powers[4 - k] @ x) for k in range(5))
    return [value, slope], {a: matrix, n: 5}, [x @ powers[5] @ x, expected]


def early_stop() -> Made:
    """A recurrent net that reads until its state is large: later letters have no gradient."""
    xs = sad.placeholder("float64", ("n", 2), name="xs")
    w = sad.placeholder("float64", (2, 2), name="w")

    def reading(h: Any, k: Any) -> Any:
        return sad.logical_and(k < xs.shape[0], sad.sum(h) < 2.0)

    h, count = sad.while_loop(
        reading, lambda h, k: (sad.tanh(h @ w) + xs[k], k + 1), (sad.zeros(2, dtype="float64"), 0)
    )
    dx, dw = sad.gradients(sad.sum(h * h), [xs, w])
    data, weights = np.full((7, 2), 0.6), np.array([[0.5, 0.1], [0.2, 0.4]])

    def loss(data: Any, weights: Any) -> float:
        state, k = np.zeros(2), 0
        while k < len(data) and state.sum() < 2:
            state, k = np.tanh(state @ weights) + data[k], k + 1
        return float(np.sum(state * state))

    in_data = differences(lambda d: loss(d, weights), data)
    in_weights = differences(lambda v: loss(data, v), weights)
    return [count, dx, dw], {xs: data, w: weights}, [3, in_data, in_weights]


def differences(f: Callable[[Any], float], at: Any, step: float = 1e-5) -> Any:
    found = np.zeros_like(at)
    for k in np.ndindex(at.shape):
        for factor, sign in ((8, 1), (-1, 2)):
            for side in (1, -1):
                moved = at.copy()
                moved[k] += side * sign * step
                found[k] += side * factor * f(moved) / (12 * step)
    return found


def ruled() -> Made:
    """A rule of one's own in a loop in a choice in a body that is called."""
    x = sad.placeholder("float64", (), name="x")
    double = sad.custom_gradient(lambda v: v * v)(lambda v, y, g: 4.0 * g * v)

    def chosen(v: Any) -> Any:
        return sad.cond(v > 0, lambda: sad.fori_loop(0, 2, lambda i, c: double(c), v), lambda: v)

    graph: Any = x.graph
    y = graph.define("body", chosen, x)(x)
    return [y, *sad.gradients(y, x)], {x: 1.5}, [1.5**4, 16 * 1.5**3]


def nested() -> Made:
    """Sixty choices within each other, and the derivative through all of them."""
    x = sad.placeholder("float64", (), name="x")

    def level(k: int, v: Any) -> Any:
        if not k:
            return sad.sin(v)
        return sad.cond(v > -10.0, lambda u: level(k - 1, u * 1.01), lambda u: u, v)

    y = level(60, x)
    scale = 1.01**60
    return [y, *sad.gradients(y, x)], {x: 0.3}, [np.sin(0.3 * scale), scale * np.cos(0.3 * scale)]


MADE: dict[str, Callable[[], Made]] = {
    f.__name__: f for f in (equation, power, early_stop, ruled, nested)
}

CHILD = """
import sys
import numpy as np
from staticad_executor import Session
from staticad_schema import load
assert not any(name.split(".")[0] == "staticad" for name in sys.modules)
feeds = np.load(sys.argv[2])
with Session(load(sys.argv[1]), device="numpy") as session:
    found = session.run([f"found{k}" for k in range(int(sys.argv[4]))], dict(feeds))
np.savez(sys.argv[3], *found)
"""


@pytest.mark.parametrize("name", MADE)
def test_on_numpy_and_opencl(name: str) -> None:
    with sad.Graph() as graph:
        fetches, feeds, expected = MADE[name]()
    found = sad.Session(graph, device="numpy").run(fetches, feeds)
    for value, known in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, known, rtol=1e-8, atol=1e-10)
    with sad.Session(graph, device=opencl_label()) as session:
        plan = session.explain(fetches, {"n": 7, "iterations": 3})
        for value, known in zip(session.run(fetches, feeds), found, strict=True):
            np.testing.assert_allclose(value, known, rtol=1e-12, atol=1e-13)
    # Bodies are NumPy's, and the plan says so.
    assert all("@numpy" in line for line in plan.splitlines() if "[bodies" in line)


@pytest.mark.parametrize("name", MADE)
def test_a_file_runs_to_the_same_bits_elsewhere(name: str, tmp_path: Path) -> None:
    with sad.Graph() as graph:
        fetches, feeds, _ = MADE[name]()
        for k, fetch in enumerate(fetches):
            sad.identity(fetch, name=f"found{k}")
    graph.save(tmp_path / "loop.sad")
    named: dict[str, Any] = {x.name: np.asarray(v) for x, v in feeds.items()}
    np.savez(tmp_path / "feeds.npz", **named)
    script = [str(tmp_path / part) for part in ("loop.sad", "feeds.npz", "found.npz")]
    subprocess.run(
        [sys.executable, "-c", CHILD, *script, str(len(fetches))], check=True, cwd=tmp_path,
        env={"PYTHONPATH": ":".join(p for p in sys.path if p)},
    )  # fmt: skip
    there = np.load(tmp_path / "found.npz")
    here = sad.Session(graph, device="numpy").run(fetches, feeds)
    for value, other in zip(here, there.values(), strict=True):
        np.testing.assert_array_equal(value, other)
