"""Loops whose iterations do several steps: the bits of one step each, memory, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.errors import DTypeError, ShapeError, UsageError

WAYS: list[dict[str, Any]] = [
    {"unroll": 2},
    {"unroll": 3},
    {"unroll": 100},
    {"recompute_every": 1},
    {"recompute_every": 3},
    {"recompute_every": 100},
    {"recompute_every": 4, "unroll": 2},
]


def run(fetches: Any, feeds: Any = None) -> Any:
    first = fetches
    while isinstance(first, list):
        first = first[0]
    with sad.Session(first.graph, device="numpy") as session:
        return session.run(fetches, feeds or {})


@pytest.mark.parametrize("length", [0, 1, 5, 7, 12, "n"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_gives_the_same_and_so_do_its_derivatives(length: Any, reverse: bool) -> None:
    ways = [{}, *WAYS, *([] if length == "n" else [{"unroll": True}])]
    with sad.Graph():
        xs = sad.placeholder("float64", (length, 3), name="xs")
        begin = sad.placeholder("float64", (3,), name="begin")
        w = sad.placeholder("float64", (), name="w")

        def step(c: Any, x: Any) -> Any:
            return sad.sin(c["h"] * w + x), {"a": c["h"] * x, "b": sad.sum(c["h"])}

        found = []
        for way in ways:
            last, ys = sad.scan(
                lambda c, x: ({"h": step(c, x)[0]}, step(c, x)[1]), {"h": begin}, xs,
                reverse=reverse, **way,
            )  # fmt: skip
            total = sad.sum(last["h"] ** 2) + sad.sum(ys["a"] * 2.0) + sad.sum(ys["b"] ** 2)
            slopes = sad.gradients(total, [begin, w, xs])
            second = sad.gradients(sad.sum(slopes[0]), w, unconnected="zero")
            found.append([last["h"], ys["a"], ys["b"], *slopes, *second, *sad.jvp(total, w)])
    rng = np.random.default_rng(4)
    size = 7 if length == "n" else length
    first, *others = run(found, {xs: rng.normal(size=(size, 3)), begin: rng.normal(size=3), w: 0.7})
    for way, other in zip(ways[1:], others, strict=True):
        for k, (expected, value) in enumerate(zip(first, other, strict=True)):
            if k < 3:
                np.testing.assert_array_equal(value, expected, err_msg=str(way))
            else:
                np.testing.assert_allclose(value, expected, 1e-12, 1e-14, err_msg=str(way))


@pytest.mark.parametrize("unroll", [1, 2, 7, True])
def test_map_and_counting_loops(unroll: Any) -> None:
    with sad.Graph() as graph:
        xs = sad.placeholder("float32", (5,), name="xs")
        squares = sad.map(lambda x: x * x, xs, unroll=unroll)
        factorial = sad.fori_loop(1, 6, lambda i, c: c * i, sad.constant(1), unroll=unroll)
    assert any(node.op == "scan" for node in graph.nodes) == (
        unroll in (1, 2) and unroll is not True
    )
    found = run([squares, factorial], {xs: np.arange(5)})
    np.testing.assert_array_equal(found[0], np.arange(5.0) ** 2)
    assert found[1] == 120


def test_without_elements_or_results() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        lasts = [sad.scan(lambda c, _: (c * 2, None), x, length=5, **way) for way in ({}, *WAYS)]
    assert all(ys is None for _, ys in lasts)
    assert run([last for last, _ in lasts], {x: 1.0}) == [32.0] * len(lasts)


def test_memory_of_derivatives_is_that_of_the_carries_that_are_kept() -> None:
    needed = []
    ways: list[dict[str, Any]] = [{}, {"recompute_every": 100}]
    for way in ways:
        with sad.Graph() as graph:
            x = sad.placeholder("float32", (64,), name="x")
            last, _ = sad.scan(lambda c, _: (sad.sin(c) * 1.01, None), x, length=10_000, **way)
            slope = sad.gradients(sad.sum(last), x)
        session = sad.Session(graph, device="numpy")
        needed.append((session.run(slope, {x: np.ones(64)}), session.memory(slope).scratch_bytes))
    (plain, much), (again, little) = needed
    np.testing.assert_array_equal(plain, again)
    carries = 4 * 64
    assert much >= carries * 10_000
    # A hundred that are kept, a hundred of those between, and what an iteration needs besides.
    assert little <= carries * 500


@pytest.mark.parametrize("order", ["gradient", "along"])
def test_a_hundred_thousand_steps_need_the_square_root_of_their_carries(order: str) -> None:
    """What is predicted: a gradient, and how one changes along a direction."""
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (64,), name="x")
        last, _ = sad.scan(
            lambda c, _: (sad.sin(c) * 1.01, None), x, length=100_000, recompute_every=316
        )
        total = sad.sum(last)
        slopes = sad.gradients(total, x) if order == "gradient" else sad.hvp(total, x, sad.ones(64))
    needed = sad.Session(graph, device="numpy").memory(slopes).scratch_bytes
    assert needed <= 4 * 64 * 316 * (3 if order == "gradient" else 6)


@pytest.mark.parametrize("length", [0, 2, 3, 7, "n"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("way", [{}, {"unroll": 2}, {"recompute_every": 2}])
def test_gradients_are_truncated(length: Any, reverse: bool, way: dict[str, Any]) -> None:
    """The last three steps have derivatives, as if the others had been computed apart."""

    def step(c: Any, x: Any, w: Any) -> Any:
        following = sad.sin(c * w + x)
        return following, following * x

    with sad.Graph():
        xs = sad.placeholder("float64", (length,), name="xs")
        begin, w = (sad.placeholder("float64", (), name=name) for name in ("begin", "w"))
        last, ys = sad.scan(
            lambda c, x: step(c, x, w), begin, xs, reverse=reverse, truncate_gradient=3, **way
        )
        whole, all_ys = sad.scan(lambda c, x: step(c, x, w), begin, xs, reverse=reverse)
        total = last + sad.sum(ys)
        slopes = sad.gradients(total, [begin, w, xs], unconnected="zero")
        c, seen = begin, []
        size = 7 if length == "n" else length
        for at, k in enumerate(reversed(range(size)) if reverse else range(size)):
            c, y = step(c, xs[k], w)
            if at < size - 3:
                c, y = sad.stop_gradient(c), sad.stop_gradient(y)
            seen.append(y)
        apart = c + sum(seen, sad.constant(0.0, dtype="float64"))
        expected = sad.gradients(apart, [begin, w, xs], unconnected="zero")
    feeds = {xs: np.linspace(-1, 2, size), begin: 0.3, w: 0.8}
    found = run([[last, ys], [whole, all_ys], slopes, expected], feeds)
    for value, known in zip(found[0], found[1], strict=True):
        np.testing.assert_array_equal(value, known)
    for value, known in zip(found[2], found[3], strict=True):
        np.testing.assert_allclose(value, known, rtol=1e-12, atol=1e-15)


def test_gradients_within_a_body_stop_where_they_are_told() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")

        def step(c: Any, _: Any) -> Any:
            square = c * c
            (whole,) = sad.gradients(square * c, c)
            (part,) = sad.gradients(square * c, c, stop_gradients=square)
            return c, (whole, part)

        _, (whole, part) = sad.scan(step, x, length=2)
    found = run([whole, part], {x: 3.0})
    np.testing.assert_array_equal(found, [[27.0, 27.0], [9.0, 9.0]])


def test_files_hold_them(tmp_path: Any) -> None:
    with sad.Graph() as graph:
        xs = sad.placeholder("float32", ("n",), name="xs")
        last, _ = sad.scan(lambda c, x: (sad.tanh(c + x), None), 0.0, xs, recompute_every=4)
        (slope,) = sad.gradients(last, xs)
        sad.multiply(slope, 1.0, name="slope")
    graph.save(tmp_path / "loop.sad")
    feeds = {"xs": np.linspace(-1, 1, 10, dtype=np.float32)}
    expected = sad.Session(graph, device="numpy").run("slope", feeds)
    loaded = sad.Session(sad.load(tmp_path / "loop.sad"), device="numpy")
    np.testing.assert_array_equal(loaded.run("slope", feeds), expected)


def test_what_cannot_be_done() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n",), name="x")
        step = lambda c, e: (c + e, None)  # noqa: E731
        with pytest.raises(UsageError, match="length that is not known"):
            sad.scan(step, 0.0, x, unroll=True)
        wrongs: list[dict[str, Any]] = [{"unroll": 0}, {"recompute_every": -1}]
        for wrong in wrongs:
            with pytest.raises(UsageError, match="no number of steps"):
                sad.scan(step, 0.0, x, **wrong)
        with pytest.raises(UsageError):
            sad.scan(step, 0.0, x, unroll=1.5)  # type: ignore[arg-type]
        y = sad.placeholder("float32", (4, 4), name="y")
        with pytest.raises(ShapeError, match="changes the type of the carry") as error:
            sad.scan(lambda c, e: (sad.concat([c, e]), None), y[0], y, unroll=True)
        assert "test_chunks.py" in str(error.value)
        with pytest.raises(DTypeError, match="changes the type of the carry"):
            sad.scan(lambda c, e: (c.astype("float64"), None), y[0], y, unroll=2)
        with pytest.raises(UsageError, match="a length that a run finds"):
            sad.fori_loop(0, sad.constant(3), lambda i, c: c, y, unroll=2)
