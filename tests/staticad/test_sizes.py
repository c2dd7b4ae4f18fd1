"""Symbolic sizes among numbers, and numbers among symbolic sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

Value = Callable[[Any], Any]

# Each is asked of a Dim, and of the int that it turns out to be.
FORMULAS: dict[str, Value] = {
    "itself": lambda n: n,
    "polynomial": lambda n: (2 * n + 1) * n - 3,
    "negative": lambda n: 2 - 5 * n,
    "floor division": lambda n: n // 2 + 7 // (n + 1),
    "remainder": lambda n: n % 3 + 7 % (n + 1),
    "ceildiv": lambda n: sad.ceildiv(n, 4),
    "numpy's integers": lambda n: np.int64(3) * n + np.int32(1),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_size_is_a_scalar_tensor(name: str) -> None:
    formula = FORMULAS[name]
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 2), name="x")
        y = sad.constant(formula(x.shape[0]), name="y")
    assert y.shape == ()
    assert y.dtype == np.int64
    with sad.Session(graph) as session:
        for n in (0, 1, 5):
            assert session.run("y", {x: np.zeros((n, 2))}) == formula(n)


def test_sizes_of_slices_and_broadcasts() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        z = sad.placeholder("float32", ("m",), name="z")
        sizes = [sad.constant(t.shape[0]) for t in (x[1:], x[::2], x[-3:], x + z)]
    with sad.Session(graph) as session:
        for n, m in ((4, 4), (4, 1), (1, 5), (0, 1)):
            got = session.run(sizes, {x: np.zeros(n), z: np.zeros(m)})
            v = np.zeros(n)
            assert [int(s) for s in got] == [
                len(v[1:]), len(v[::2]), len(v[-3:]), len(v + np.zeros(m)),
            ]  # fmt: skip


def test_sizes_are_weak_operands() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 2), name="x")
        n = x.shape[0]
        values: dict[str, Any] = {
            "mean": sad.sum(x) / n,
            "left": n * x,
            "right": x - n,
            "function": sad.maximum(n, x),
            "where": sad.where(x > 0, n, x),
            "full": sad.full((2,), n),
        }
        (slope,) = sad.gradients(values["mean"], x)
        integers = sad.astype(x, "int8") + n
    assert {v.dtype.name for k, v in values.items() if k != "full"} == {"float32"}
    assert integers.dtype == np.int8
    at = np.array([[1.0, -1.0], [2.0, 0.5], [0.0, 3.0]], np.float32)
    with sad.Session(graph) as session:
        got = session.run(values, {x: at})
        np.testing.assert_array_equal(session.run(slope, {x: at}), np.full((3, 2), 1 / 3, "f4"))
    np.testing.assert_array_equal(got["mean"], at.sum() / 3)
    np.testing.assert_array_equal(got["left"], 3 * at)
    np.testing.assert_array_equal(got["right"], at - 3)
    np.testing.assert_array_equal(got["function"], np.maximum(3, at))
    np.testing.assert_array_equal(got["where"], np.where(at > 0, 3, at))
    np.testing.assert_array_equal(got["full"], [3, 3])


def test_a_size_costs_no_step() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 2), name="x")
        mean = sad.sum(x) / x.shape[0]
    with sad.Session(graph) as session:
        assert "\n2 steps" in session.explain(mean, {"n": 4})


def test_what_only_a_shape_needs_can_be_explained_and_predicted() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 2), name="x")
        y = sad.zeros((x.shape[0], 3)) + 1
    with sad.Session(graph) as session:
        assert "source0" in session.explain(y, {"n": 4}) or "constant" in session.explain(y)
        assert session.memory(y, {"n": 4}).result_bytes == 48
        np.testing.assert_array_equal(session.run(y, {x: np.zeros((4, 2))}), np.ones((4, 3)))


@pytest.mark.parametrize(
    "mistake",
    [
        lambda n: n * 0.5,
        lambda n: 0.5 * n,
        lambda n: n + 1.5,
        lambda n: 1.5 - n,
        lambda n: n / 2,
        lambda n: n // 2.0,
        lambda n: n % 1.5,
        lambda n: n + None,
        lambda n: n - "a",
        lambda n: n * np.ones(3),
        lambda n: np.ones(3) * n,
        lambda n: n < 3,
    ],
)
def test_a_size_meets_no_fractions_and_no_arrays(mistake: Value) -> None:
    n = sad.Graph().placeholder("float32", ("n",)).shape[0]
    with pytest.raises(TypeError):
        mistake(n)


@pytest.mark.parametrize("mistake", [bool, int, float, range, np.zeros, lambda n: [0] * n])
def test_a_size_has_no_value_yet(mistake: Value) -> None:
    n = sad.Graph().placeholder("float32", ("n",)).shape[0]

    def here() -> Any:
        return mistake(n)

    with pytest.raises(sad.ShapeError, match="when the graph is built") as caught:
        here()
    assert caught.value.asked
    assert caught.value.site is not None
    assert caught.value.site.file == "tests/staticad/test_sizes.py"
