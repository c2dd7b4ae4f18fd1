"""Solutions of equations: found, and differentiated to any order against closed forms, differences
and SciPy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import staticad as sad

HOME = Path(__file__).parents[2]
PATH = os.pathsep.join([str(HOME / "schema"), str(HOME / "executor")])
RNG = np.random.default_rng(0)
SIZE = 5
W = RNG.normal(size=(SIZE, SIZE)) * 0.3
B = RNG.normal(size=SIZE)


def begin(shape: Any = SIZE) -> Any:
    """Zeros."""
    return sad.zeros(shape, dtype="float64")


def energy(v: Any, w: Any, b: Any) -> Any:
    """Strictly convex in v."""
    return sad.sum(sad.logaddexp(0.0, w @ v)) + 0.5 * sad.sum(v * v) - b @ v


SOLVERS: dict[str, Callable[[Any, Any], Any]] = {
    "fixed_point": lambda w, b: sad.fixed_point(lambda z: sad.tanh(w @ z + b), begin()),
    "root": lambda w, b: sad.root(lambda z: z - sad.tanh(w @ z + b), begin()),
    "minimize": lambda w, b: sad.minimize(lambda v: energy(v, w, b), begin()),
}


def placed() -> tuple[Any, Any]:
    """The parameters."""
    return (
        sad.placeholder("float64", (SIZE, SIZE), name="w"),
        sad.placeholder("float64", (SIZE,), name="b"),
    )


@pytest.mark.parametrize("name", SOLVERS)
def test_derivatives_agree_with_differences_to_order_three(name: str) -> None:
    with sad.Graph():
        w, b = placed()
        x = SOLVERS[name](w, b)
    report = sad.check_gradients(x, [w, b], {w: W, b: B}, order=3, projections=1)
    assert len(report.comparisons) == 6


def test_solutions_are_those_of_scipy() -> None:
    with sad.Graph() as graph:
        w, b = placed()
        found = [solve(w, b) for solve in SOLVERS.values()]
    with sad.Session(graph) as session:
        point, zero, least = session.run(found, {w: W, b: B})

    def residual(z: Any) -> Any:
        return z - np.tanh(W @ z + B)

    expected = scipy.optimize.root(residual, np.zeros(SIZE), tol=1e-14).x
    np.testing.assert_allclose(zero, expected, rtol=1e-12)
    np.testing.assert_allclose(point, expected, rtol=1e-11)

    def objective(v: Any) -> Any:
        return np.logaddexp(0, W @ v).sum() + 0.5 * v @ v - B @ v

    lowest = scipy.optimize.minimize(objective, np.zeros(SIZE), tol=1e-12)
    np.testing.assert_allclose(least, lowest.x, rtol=1e-5)
    slope = W.T @ (1 / (1 + np.exp(-W @ least))) + least - B
    np.testing.assert_allclose(slope, 0, atol=1e-13)


def test_the_jacobian_is_the_theorem() -> None:
    with sad.Graph() as graph:
        w, b = placed()
        x = SOLVERS["root"](w, b)
        found = [sad.jacobian(x, b, mode="forward"), sad.jacobian(x, b, mode="reverse"), x]
    with sad.Session(graph) as session:
        forward, reverse, z = session.run(found, {w: W, b: B})
    slope = np.diag(1 - np.tanh(W @ z + B) ** 2)
    expected = np.linalg.solve(np.eye(SIZE) - slope @ W, slope)
    np.testing.assert_allclose(forward, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(reverse, expected, rtol=1e-12, atol=1e-14)


def test_roots_of_cubics_have_closed_derivatives() -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float64", (), name="a")
        f: Any = lambda a: sad.root(lambda x: x**3 - a, sad.ones((), dtype="float64"))  # noqa: E731
        orders = [f(a)]
        for _ in range(4):
            f = sad.grad(f)
            orders.append(f(a))
    with sad.Session(graph) as session:
        found = session.run(orders, {a: 8.0})
    expected, power = [2.0], 1 / 3
    factor = 1.0
    for _ in range(4):
        factor, power = factor * power, power - 1
        expected.append(factor * 8.0**power)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_nested_unknowns_and_what_depends_on_each_other() -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float64", (), name="a")
        twice = a * 2.0

        def f(z: Any) -> Any:
            x, y = z["x"], z["y"][0]
            return {"y": [y + x - twice], "x": x - sad.sum(y) * a}

        start = {"x": begin(()), "y": [begin((2,))]}
        found = sad.root(f, start)
        slopes = sad.jacobian(found, a)
    assert found["y"][0].shape == (2,)
    # y = 2 a - x, x = 2 y a: x = 4 a^2 / (1 + 2 a).
    with sad.Session(graph) as session:
        value, slope = session.run([found, slopes], {a: 1.5})
    x = 4 * 1.5**2 / 4
    dx = (8 * 1.5 * 4 - 4 * 1.5**2 * 2) / 16
    np.testing.assert_allclose(value["x"], x, rtol=1e-13)
    np.testing.assert_allclose(value["y"][0], [3 - x] * 2, rtol=1e-13)
    np.testing.assert_allclose(slope["x"], dx, rtol=1e-13)
    np.testing.assert_allclose(slope["y"][0], [2 - dx] * 2, rtol=1e-12)


def test_sizes_that_the_run_tells() -> None:
    with sad.Graph() as graph:
        b = sad.placeholder("float64", ("n",), name="b")
        x = sad.root(lambda x: x + 0.1 * x**3 - b, sad.zeros_like(b))
        (g,) = sad.gradients(x, b)
    with sad.Session(graph) as session:
        for n in (1, 3, 30):
            at = np.linspace(-2, 2, n)
            found, slope = session.run([x, g], {b: at})
            np.testing.assert_allclose(found + 0.1 * found**3, at, atol=1e-13)
            np.testing.assert_allclose(slope, 1 / (1 + 0.3 * found**2), rtol=1e-12)


def test_any_solver_gives_the_same_derivatives() -> None:
    def bisection(f: Any, x0: Any) -> Any:
        def step(_: Any, ends: Any) -> Any:
            low, high = ends
            middle = (low + high) / 2
            below = f(middle) < 0
            return sad.where(below, middle, low), sad.where(below, high, middle)

        return sad.fori_loop(0, 60, step, (x0, x0 + 4.0))[0]

    with sad.Graph() as graph:
        a = sad.placeholder("float64", (3,), name="a")
        x = sad.root(lambda x: x * sad.exp(x) - a, begin(3), solver=bisection)
        slope = sad.vjp(x, a)
    at = np.array([0.5, 1.0, 5.0])
    with sad.Session(graph) as session:
        found, slopes = session.run([x, slope], {a: at})
    np.testing.assert_allclose(found * np.exp(found), at, rtol=1e-13)
    np.testing.assert_allclose(slopes, 1 / (np.exp(found) * (1 + found)), rtol=1e-12)


def test_newton_halves_steps_that_lead_away() -> None:
    # Newton's own steps diverge from here.
    with sad.Graph() as graph:
        x = sad.root(sad.atan, sad.full((), 3.0, dtype="float64"))
        least = sad.minimize(lambda v: sad.sqrt(1 + v * v), sad.full((), 4.0, dtype="float64"))
        # Concave at the beginning.
        well = sad.minimize(lambda v: (v * v - 1) ** 2, sad.full((), 0.1, dtype="float64"))
    with sad.Session(graph) as session:
        np.testing.assert_allclose(session.run([x, least, well]), [0, 0, 1], atol=1e-12)


def test_what_does_not_converge_fails_in_the_run_with_the_users_line() -> None:
    with sad.Graph() as graph:
        x = sad.fixed_point(lambda x: 2.0 * x + 1.0, begin(()), max_iterations=20)
        no_root = sad.root(lambda x: x * x + 1.0, begin(()) + 0.5)
        bottomless = sad.minimize(lambda v: -v * v, begin(()) + 1.0, max_iterations=5)
    with sad.Session(graph) as session:
        for tensor, name in ((x, "fixed_point"), (no_root, "root"), (bottomless, "minimize")):
            with pytest.raises(sad.ExecutionError, match=f"{name} did not converge") as caught:
                session.run(tensor)
            assert caught.value.site is not None
            assert caught.value.site.file.endswith("test_implicit.py")


def test_within_loops_choices_and_of_each_other() -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float64", (), name="a")

        def half(a: Any) -> Any:
            return sad.root(lambda x: x * x - a, sad.ones((), dtype="float64"))

        nested = sad.fixed_point(lambda y: half(y + a), begin(()) + 1.0)
        looped = sad.fori_loop(0, 3, lambda _, v: half(v), a)
        chosen = sad.cond(a > 1, lambda: half(a), lambda: a)
    # y = sqrt(y + a); v = a^(1/8).
    for y in (nested, looped, chosen):
        sad.check_gradients(y, a, {a: np.array(2.0)}, order=2, projections=1)
    with sad.Session(graph) as session:
        found = session.run([nested, looped, chosen], {a: 2.0})
    np.testing.assert_allclose(found, [2.0, 2 ** (1 / 8), 2**0.5], rtol=1e-11)


def test_training_through_a_solution_in_the_executor_process(tmp_path: Path) -> None:
    with sad.Graph(seed=0) as graph:
        w = sad.variable(0.5 * W, name="w")
        b = sad.placeholder("float64", (SIZE,), name="b")
        z = sad.fixed_point(lambda z: sad.tanh(w @ z + b), begin())
        loss = sad.identity(sad.sum((z - 0.1) ** 2), name="loss")
        sad.optimizers.SGD(0.02).minimize(loss, name="train")
    graph.save(tmp_path / "step.sad")
    np.save(tmp_path / "b.npy", B)
    command = [
        sys.executable, "-m", "staticad_executor", "run", "step.sad", "--feed", "b=b.npy",
        "--fetch", "loss", "--fetch", "train", "--steps", "10", "--output", "found.npz",
    ]  # fmt: skip
    subprocess.run(
        command, cwd=tmp_path, check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": PATH},
    )  # fmt: skip
    with sad.Session(graph) as session:
        losses = [session.run([loss, "train"], {b: B})[0] for _ in range(10)]
    with np.load(tmp_path / "found.npz") as found:
        np.testing.assert_array_equal(np.ravel(found["loss"])[-1], losses[-1])
    assert losses[-1] < 0.9 * losses[0]


def test_what_draws_beside_a_solution_is_found() -> None:
    with sad.Graph(seed=0):
        a = sad.placeholder("float64", (), name="a")
        x = sad.root(lambda x: x**3 - a, begin(()) + 1.0)
        y = x * sad.random.uniform((), dtype="float64")
    with pytest.raises(sad.GradientError, match="draws random numbers"):
        sad.check_gradients(y, a, {a: 2.0})
    sad.check_gradients(y, a, {a: 2.0}, run=0)


def test_float32_reaches_its_own_precision() -> None:
    with sad.Graph() as graph:
        a = sad.placeholder("float32", (3,), name="a")
        x = sad.root(lambda x: x**3 + x - a, sad.zeros((3,)))
        slope = sad.vjp(x, a)
    with sad.Session(graph) as session:
        found, slopes = session.run([x, slope], {a: [1.0, 10.0, 100.0]})
    assert found.dtype == np.float32
    np.testing.assert_allclose(found**3 + found, [1.0, 10.0, 100.0], rtol=1e-6)
    np.testing.assert_allclose(slopes, 1 / (3 * found**2 + 1), rtol=2e-6)


def test_what_is_refused() -> None:
    with sad.Graph(seed=0):
        x = begin(3)
        with pytest.raises(sad.UsageError, match="f is no function"):
            sad.root(x, x)
        with pytest.raises(sad.UsageError, match="draws random numbers"):
            sad.root(lambda x: x - sad.random.normal((3,), dtype="float64"), x)
        with pytest.raises(sad.UsageError, match="draws random numbers"):
            sad.root(
                lambda x: x - sad.map(lambda e: e * sad.random.normal((), dtype="float64"), x), x
            )
        w = sad.variable(1.0, name="w")
        with pytest.raises(sad.UsageError, match="reads a variable by itself"):
            sad.root(lambda x: x - w.read(), x)
        with pytest.raises(sad.DTypeError, match="one floating dtype"):
            sad.root(lambda n: n, sad.zeros(3, dtype="int64"))
        with pytest.raises(sad.DTypeError, match="half floats"):
            sad.root(lambda v: v, sad.zeros(3, dtype="float16"))
        with pytest.raises(sad.UsageError, match="nested in another way"):
            sad.fixed_point(lambda x: (x, x), x)
        with pytest.raises(sad.ShapeError, match="another type than x0"):
            sad.fixed_point(lambda x: x[:2], x)
        with pytest.raises(sad.DTypeError, match="another type than x0"):
            sad.fixed_point(lambda x: x.astype("float32"), x)
        with pytest.raises(sad.GradientError, match="no real scalar"):
            sad.minimize(lambda x: x, x)
        with pytest.raises(sad.ArgumentError, match="rtol"):
            sad.root(lambda x: x, x, rtol=-1.0)
        with pytest.raises(sad.UsageError, match="x0 is empty"):
            sad.root(lambda x: x, ())
