"""Derivatives of choices and loops, one in the other, to order three, reverse and forward."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad

ORDER = 3
HOME = Path(__file__).parents[2]
PATH = os.pathsep.join([str(HOME / "schema"), str(HOME / "executor")])


def direction(k: int, value: Any) -> np.ndarray[Any, Any]:
    """A direction in which an x is moved."""
    shape = np.shape(value)
    steps = np.arange(1.0, 1 + int(np.prod(shape)))
    moved: np.ndarray[Any, Any] = (k + 1.5) * np.sin(steps).reshape(shape)
    return moved


def derivatives(build: Callable[..., Any], *values: Any) -> None:
    """Derivatives along a direction: reverse of reverse of reverse, forward of forward, and
    central differences of the order below agree."""
    arrays = [np.asarray(v, np.float64) for v in values]
    along = [direction(k, v) for k, v in enumerate(arrays)]
    with sad.Graph() as graph:
        xs = [sad.placeholder("float64", a.shape, name=f"x{k}") for k, a in enumerate(arrays)]
        reverse = [sad.sum(build(*xs))]
        for _ in range(ORDER):
            found = sad.gradients(reverse[-1], xs, unconnected="zero")
            parts = [sad.sum(g * d) for g, d in zip(found, along, strict=True)]
            reverse.append(sad.sum(sad.stack(parts)))
        (first,) = sad.jvp(reverse[0], xs, along)
        (second,) = sad.jvp(first, xs, along)
        (mixed,) = sad.jvp(reverse[1], xs, along)
    step = 1e-5

    def feeds(times: float) -> dict[Any, Any]:
        return {x: a + times * d for x, a, d in zip(xs, arrays, along, strict=True)}

    with sad.Session(graph, device="numpy") as session:
        here = session.run([*reverse, first, second, mixed], feeds(0.0))
        up, down = (session.run(reverse, feeds(times)) for times in (step, -step))
    for order in range(ORDER):
        difference = (up[order] - down[order]) / (2 * step)
        assert here[order + 1] == pytest.approx(difference, rel=1e-5, abs=1e-6)
    assert here[ORDER + 1] == pytest.approx(here[1], rel=1e-9, abs=1e-12)
    assert here[ORDER + 2] == pytest.approx(here[2], rel=1e-8, abs=1e-12)
    assert here[ORDER + 3] == pytest.approx(here[2], rel=1e-8, abs=1e-12)


def choice(x: Any, w: Any) -> Any:
    return sad.cond(x > 0.45, lambda: sad.sin(x) * w, lambda: x * w * w)


def loop(x: Any, w: Any) -> Any:
    return sad.while_loop(lambda c, k: k < 2, lambda c, k: (sad.sin(c) * w + c, k + 1), (x, 0))[0]


def steps(x: Any, w: Any) -> Any:
    last, ys = sad.scan(lambda c, e: (sad.tanh(c * w) + e, c * e), x, sad.stack([x, w, x * w]))
    return last + sad.sum(ys)


def backwards(x: Any, w: Any) -> Any:
    last, ys = sad.scan(lambda c, e: (c * e + w, sad.exp(-c)), x, sad.stack([x, w]), reverse=True)
    return last * ys[0] + ys[1]


def mapped(x: Any, w: Any) -> Any:
    return sad.sum(sad.map(lambda e: e * e * w, sad.stack([x, x + 1])))


CONSTRUCTS = {
    "cond": choice, "while": loop, "scan": steps, "reverse": backwards, "map": mapped,
}  # fmt: skip


def around(name: str, inner: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A construct whose body is another one."""
    match name:
        case "cond":
            return lambda x, w: sad.cond(x > 0, lambda: inner(x, w), lambda: w)
        case "while":
            return lambda x, w: sad.while_loop(
                lambda c, k: k < 2, lambda c, k: (inner(c * 0.5, w), k + 1), (x, 0)
            )[0]
        case "map":
            return lambda x, w: sad.sum(sad.map(lambda e: inner(e, w), sad.stack([x, w])))
        case _:
            return lambda x, w: sad.scan(
                lambda c, e: (inner(c * 0.5, e), c), x, sad.stack([w, x]), reverse=name == "reverse"
            )[0]


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_each_construct(name: str) -> None:
    derivatives(CONSTRUCTS[name], 0.5, 0.7)
    derivatives(CONSTRUCTS[name], 0.3, 1.2)


@pytest.mark.parametrize("inner", CONSTRUCTS)
@pytest.mark.parametrize("outer", CONSTRUCTS)
def test_one_construct_in_another(outer: str, inner: str) -> None:
    derivatives(around(outer, CONSTRUCTS[inner]), 0.5, 0.7)


def test_vectors_matrices_and_closed_over_weights() -> None:
    def build(x: Any, w: Any, b: Any) -> Any:
        def step(c: dict[str, Any], e: Any) -> Any:
            h = sad.tanh(c["h"] @ w + e * b)
            return {"h": h, "n": c["n"] + 1}, sad.sum(h * e)

        carry, ys = sad.scan(step, {"h": x[0], "n": 0}, x)
        return sad.sum(carry["h"] * ys[:2])

    rng = np.random.default_rng(0)
    derivatives(build, rng.normal(size=(3, 2)), rng.normal(size=(2, 2)), rng.normal(size=2))


# ---------------------------------------------------------------- single derivatives


def run(fetches: Any, feeds: Any = None, **more: Any) -> Any:
    graph = (fetches[0] if isinstance(fetches, list) else fetches).graph
    with sad.Session(graph, device="numpy") as session:
        return session.run(fetches, feeds, **more)


def test_h9_second_order_through_a_fold() -> None:
    with sad.Graph():
        x, a = (
            sad.placeholder("float64", (), name="x"),
            sad.placeholder("float64", (3, 3), name="a"),
        )
        power, _ = sad.scan(lambda c, _: (c @ (x * a), None), sad.eye(3, dtype="float64"), length=3)
        cost = sad.sum(sad.diagonal(power))
        (da,) = sad.gradients(cost, a)
        (dx,) = sad.gradients(sad.sum(da), x)
    found = run([cost, da, dx], {x: 1.0, a: np.ones((3, 3))})
    assert found[0] == 27.0
    np.testing.assert_allclose(found[1], np.full((3, 3), 9.0))
    assert found[2] == pytest.approx(243.0)


def test_h10_third_order_through_a_loop() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = sad.while_loop(lambda c, k: k < 3, lambda c, k: (c * x, k + 1), (x, 0))[0]
        for _ in range(3):
            (y,) = sad.gradients(y, x)
    assert run(y, {x: 2.0}) == 48.0


def test_h12_a_sequence_with_an_early_stop() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (20,), name="x")
        total = sad.while_loop(
            lambda s, k, stop: sad.logical_not(stop),
            lambda s, k, stop: (s + x[k] ** 2, k + 1, x[k] == 5),
            (sad.constant(0.0, dtype="float64"), 0, False),
        )[0]
        (dx,) = sad.gradients(total, x)
    found = run([total, dx], {x: np.arange(20.0)})
    assert found[0] == 55.0
    np.testing.assert_array_equal(found[1], [0, 2, 4, 6, 8, 10, *[0] * 14])


def test_h17_a_choice_in_the_middle_of_a_model() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (2,), name="x")
        k = sad.placeholder("int64", (), name="k")
        w = sad.variable(sad.constant([2.0, 3.0], dtype="float64"), name="w")
        h = sad.switch(k, [lambda v: v * w, lambda v: v + w, lambda v: v * k], sad.exp(x))
        loss = sad.sum(sad.log(h))
        dx, dw = sad.gradients(loss, [x, w])
    expected = {0: ([1.0, 1.0], [0.5, 1 / 3]), 2: ([1.0, 1.0], [0.0, 0.0])}
    for chosen, (of_x, of_w) in expected.items():
        found = run([dx, dw], {x: [0.1, 0.2], k: chosen})
        np.testing.assert_allclose(found[0], of_x)
        np.testing.assert_allclose(found[1], of_w)


def test_h24_integers_in_a_carry_have_no_cotangent() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", (), name="x")
        y, count = sad.scan(lambda c, _: ((c[0] * x, c[1] + 1), None), (x, 0), length=3)[0]
        (dx,) = sad.gradients(y * sad.cast(count, "float32"), x)
        with pytest.raises(sad.GradientError):
            sad.gradients(count, x)
    assert run(dx, {x: 2.0}) == 4 * 8 * 3.0


@pytest.mark.parametrize("length", [0, 1, 3])
def test_symbolic_lengths_and_no_iterations(length: int) -> None:
    with sad.Graph():
        xs = sad.placeholder("float64", ("n", 2), name="xs")
        w = sad.placeholder("float64", (2,), name="w")
        last, ys = sad.scan(lambda c, x: (c * x + w, c * w), w, xs)
        n = sad.placeholder("int64", (), name="k")
        looped = sad.while_loop(lambda c, k: k < n, lambda c, k: (c * c * w, k + 1), (w, 0))[0]
        dxs, dw = sad.gradients(sad.sum(last) + sad.sum(ys), [xs, w])
        (dl,) = sad.gradients(sad.sum(looped), w)
    rows = np.arange(1.0, 1 + 2 * length).reshape(length, 2) / 4
    found = run([dxs, dw, dl], {xs: rows, w: [0.5, 2.0], n: length})
    c, dc = np.array([0.5, 2.0]), np.ones(2)
    total = np.zeros(2)
    for row in rows:
        total += dc * np.array([0.5, 2.0]) + c
        c, dc = c * row + np.array([0.5, 2.0]), dc * row + 1
    np.testing.assert_allclose(found[1], total + dc)
    assert found[0].shape == (length, 2)
    power = 2 ** (length + 1) - 1
    np.testing.assert_allclose(found[2], power * np.array([0.5, 2.0]) ** (power - 1))


def test_loops_in_loops_count_for_themselves() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        n, m = sad.placeholder("int64", (), name="n"), sad.placeholder("int64", (), name="m")

        def outer(c: Any, k: Any) -> Any:
            return sad.while_loop(lambda d, j: j < m, lambda d, j: (d * x, j + 1), (c, 0))[0], k + 1

        y = sad.while_loop(lambda c, k: k < n, outer, (x, 0))[0]
        (dx,) = sad.gradients(y, x)
        (ddx,) = sad.gradients(dx, x)
    for a, b in ((1, 0), (0, 2), (2, 3), (3, 1)):
        power = a * b + 1
        expected = [power * 2.0 ** (power - 1), power * (power - 1) * 2.0 ** (power - 2)]
        assert run([dx, ddx], {x: 2.0, n: a, m: b}) == pytest.approx(expected)


def test_random_numbers_are_the_same_in_derivatives() -> None:
    with sad.Graph(seed=2) as graph:
        x = sad.placeholder("float64", (4,), name="x")
        graph.define("noisy", lambda v: sad.nn.dropout(v, 0.5), ("float64", (4,)))

        def step(c: Any, _: Any) -> Any:
            kept = sad.nn.dropout(c, 0.5) + sad.cond(
                True, lambda: sad.nn.dropout(c, 0.3), lambda: c
            )
            return c, kept + graph.call("noisy", c)

        _, ys = sad.scan(step, x, length=3)
        (dx,) = sad.gradients(sad.sum(ys), x)
        (ty,) = sad.jvp(ys, x, np.ones(4))
    found = run([ys, dx, ty], {x: np.ones(4)}, step=4)
    np.testing.assert_allclose(found[1], found[0].sum(0))
    np.testing.assert_allclose(found[2], found[0])
    assert len(np.unique(found[0])) > 2


def test_variables_that_bodies_read_themselves_have_gradients() -> None:
    with sad.Graph() as graph:
        w = sad.variable(sad.constant(3.0, dtype="float64"), name="w")
        number = ("float64", ())
        graph.define("scale", lambda v: v * w.read(), number)
        y, _ = sad.scan(lambda c, _: (graph.call("scale", c), None), w * 1.0, length=2)
        (dw,) = sad.gradients(y, w)
        (ddw,) = sad.gradients(dw, w)
    assert run([dw, ddw]) == [27.0, 18.0]


def test_a_stopped_gradient_stops_in_a_body() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y, _ = sad.scan(lambda c, _: (c * sad.stop_gradient(c), None), x, length=2)
        (dx,) = sad.gradients(y, x)
    assert run(dx, {x: 3.0}) == 27.0


def test_what_a_body_prints_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y, _ = sad.scan(lambda c, _: (sad.print_(c, "c") * x, None), x, length=2)
        (dx,) = sad.gradients(y, x)
    run([y, dx], {x: 2.0})
    assert capsys.readouterr().out == "c 2.\nc 4.\n"


def test_the_gradient_graph_does_not_depend_on_the_length() -> None:
    def nodes(length: int) -> int:
        with sad.Graph() as graph:
            x = sad.placeholder("float64", (), name="x")
            y, _ = sad.scan(lambda c, _: (sad.sin(c), None), x, length=length)
            sad.gradients(y, x)
            return len(graph.nodes) + sum(len(f.body.nodes) for f in graph.functions.values())

    assert nodes(10) == nodes(100_000)


def test_memory_is_linear_in_the_carry() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (64,), name="x")
        y, _ = sad.scan(lambda c, _: (sad.sin(c), None), x, length=10_000)
        (dx,) = sad.gradients(sad.sum(y), x)
    with sad.Session(graph, device="numpy") as session:
        carry = 64 * 4
        assert session.memory(dx, {}).scratch_bytes < 2.5 * 10_000 * carry


# ---------------------------------------------------------------- closed forms


def test_newtons_iteration_has_the_derivative_of_the_root() -> None:
    with sad.Graph():
        a = sad.placeholder("float64", (), name="a")
        root = sad.while_loop(
            lambda r: sad.abs(r * r - a) > 1e-14 * a, lambda r: (r + a / r) / 2, a
        )  # fmt: skip
        (first,) = sad.gradients(root, a)
        (second,) = sad.gradients(first, a)
    found = run([root, first, second], {a: 3.0})
    np.testing.assert_allclose(found, [np.sqrt(3), 0.5 / np.sqrt(3), -0.25 / 3**1.5], rtol=1e-9)


def test_the_logistic_map_to_order_three() -> None:
    with sad.Graph():
        x = sad.placeholder("float64", (), name="x")
        y = sad.fori_loop(0, 4, lambda i, c: 4.0 * c * (1 - c), x)
        found = [y]
        for _ in range(3):
            found += sad.gradients(found[-1], x)
    # x = sin(t)**2 becomes sin(16 t)**2.
    polynomial = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(4):
        polynomial = 4 * polynomial * (1 - polynomial)
    expected = [polynomial.deriv(k)(0.3) if k else polynomial(0.3) for k in range(4)]
    np.testing.assert_allclose(run(found, {x: 0.3}), expected, rtol=1e-6)


def lstm(xs: Any, w: Any, hidden: int, unrolled: bool) -> Any:
    """The sum of squares of the states of an LSTM."""

    def step(carry: Any, x: Any) -> Any:
        h, c = carry
        gates = sad.concat([x, h], axis=-1) @ w
        i, f, o, g = (gates[..., k * hidden : (k + 1) * hidden] for k in range(4))
        c = sad.sigmoid(f) * c + sad.sigmoid(i) * sad.tanh(g)
        h = sad.sigmoid(o) * sad.tanh(c)
        return (h, c), h

    zeros = sad.zeros((xs.shape[1], hidden), dtype="float64")
    if not unrolled:
        _, states = sad.scan(step, (zeros, zeros), xs)
    else:
        carry, rows = (zeros, zeros), []
        for k in range(xs.shape[0]):
            carry, h = step(carry, xs[k])
            rows.append(h)
        states = sad.stack(rows)
    return sad.sum(states * states)


def test_an_lstm_by_scan_is_the_unrolled_one() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=(5, 2, 3)), rng.normal(size=(7, 16))
    found = []
    for unrolled in (True, False):
        with sad.Graph():
            xs = sad.placeholder("float64", (5, 2, 3), name="xs")
            w = sad.placeholder("float64", (7, 16), name="w")
            loss = lstm(xs, w, 4, unrolled)
            dw, dxs = sad.gradients(loss, [w, xs])
            (hvp,) = sad.gradients(sad.sum(dw * np.sin(weights)), w)
        found.append(run([loss, dw, dxs, hvp], {xs: values, w: weights}))
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_a_training_step_with_loops_runs_in_the_executor_process(tmp_path: Any) -> None:
    with sad.Graph(seed=0) as graph:
        xs = sad.placeholder("float64", (5, 2, 3), name="xs")
        w = sad.variable(sad.random.normal((7, 16), dtype="float64"), name="w")
        n = sad.placeholder("int64", (), name="n")
        loss = sad.while_loop(
            lambda c, k: k < n, lambda c, k: (sad.sin(c), k + 1), (lstm(xs, w, 4, False), 0)
        )[0]
        (dw,) = sad.gradients(loss, w)
        sad.identity(w.assign_sub(0.1 * dw), name="new")
        sad.identity(loss, name="loss")
    graph.save(tmp_path / "step.sad")
    values = np.random.default_rng(1).normal(size=(5, 2, 3))
    np.save(tmp_path / "xs.npy", values)
    np.save(tmp_path / "n.npy", np.array(3))
    command = [
        sys.executable, "-m", "staticad_executor", "run", "step.sad", "--feed", "xs=xs.npy",
        "--feed", "n=n.npy", "--fetch", "loss", "--fetch", "new", "--output", "out.npz",
        "--device", "numpy",
    ]  # fmt: skip
    # The builder cannot be imported there.
    env = {**os.environ, "PYTHONPATH": PATH}
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=env)
    with sad.Session(graph, device="numpy") as session:
        expected = session.run({"loss": "loss", "new": "new"}, {"xs": values, "n": 3})
    with np.load(tmp_path / "out.npz") as found:
        for name, array in expected.items():
            np.testing.assert_array_equal(found[name], array)


def test_names_of_bodies_are_found_by_gradients_of_a_loaded_graph(tmp_path: Any) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (), name="x")
        sad.identity(steps(x, x * 2), name="y")
    graph.save(tmp_path / "y.sad")
    loaded: Sequence[Any] = [graph, sad.load(tmp_path / "y.sad")]
    found = []
    for each in loaded:
        (dx,) = sad.gradients(each["y"], each["x"])
        found.append(run(dx, {"x": 0.4}))
    assert found[0] == found[1]


def test_weights_of_a_recurrence_get_one_product_over_all_iterations() -> None:
    """Of both uses in an iteration: the reverse scan carries no sum of matrices."""
    with sad.Graph() as graph:
        w = sad.placeholder("float64", (8, 8), name="w")
        xs = sad.placeholder("float64", ("n", 2, 8), name="xs")
        begin = sad.placeholder("float64", (2, 8), name="begin")

        def step(c: Any, x: Any) -> Any:
            return sad.tanh(c @ w + sad.sin(x) @ w), None

        last, _ = sad.scan(step, begin, xs)
        slopes = sad.gradients(sad.sum(last), [w, begin, xs])
        second = sad.gradients(sad.sum(slopes[0]), begin)
        c = begin
        for k in range(3):
            c, _ = step(c, xs[k])
        plain = sad.gradients(sad.sum(c), [w, begin, xs])
        plain += sad.gradients(sad.sum(plain[0]), begin)
    (reverse,) = [n for n in graph.nodes if n.op == "scan" and n.attributes["reverse"]][:1]
    assert all(t.shape != (8, 8) for t in reverse.types[: reverse.attributes["carried"]])
    rng = np.random.default_rng(2)
    feeds = {
        w: rng.normal(size=(8, 8)), xs: rng.normal(size=(3, 2, 8)), begin: rng.normal(size=(2, 8))
    }  # fmt: skip
    session = sad.Session(graph, device="numpy")
    for found, expected in zip(*session.run([[*slopes, *second], plain], feeds), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    none = {**feeds, xs: np.zeros((0, 2, 8))}
    np.testing.assert_array_equal(session.run(slopes[0], none), np.zeros((8, 8)))
