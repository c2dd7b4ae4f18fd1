"""Normalisation: against NumPy, at constant and single numbers, with state, to second order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.interpret import interpret
from staticad_schema.types import BFLOAT16, Array
from tests.staticad.running import agrees, apply, run

nn = sad.nn
RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 6, 3, 2))
GAIN, BIAS = RNG.normal(size=6), RNG.normal(size=6)


def standard(x: Array, axes: tuple[int, ...], epsilon: float = 1e-5) -> Array:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    result: Array = (x - mean) / np.sqrt(variance + epsilon)
    return result


def column(v: Array) -> Array:
    return v[:, None, None]


CASES: dict[str, tuple[Callable[[Any], Any], Array]] = {
    "group": (
        lambda x: nn.group_norm(x, 3, GAIN, BIAS),
        standard(X.reshape(4, 3, 2, 3, 2), (2, 3, 4)).reshape(X.shape) * column(GAIN)
        + column(BIAS),
    ),
    "group, features last": (
        lambda x: nn.group_norm(x, 2, axis=-1),
        standard(X.reshape(4, 6, 3, 2, 1), (1, 2, 4)).reshape(X.shape),
    ),
    "instance": (lambda x: nn.instance_norm(x, GAIN), standard(X, (2, 3)) * column(GAIN)),
    "layer": (lambda x: nn.layer_norm(x, axis=(1, -1)), standard(X, (1, 3))),
    "rms": (
        lambda x: nn.rms_norm(x, GAIN[:2], axis=(2, 3)),
        X / np.sqrt((X**2).mean((2, 3), keepdims=True) + 1e-5) * GAIN[:2],
    ),
    "batch": (
        lambda x: nn.batch_norm(x, GAIN, BIAS)[0],
        standard(X, (0, 2, 3)) * column(GAIN) + column(BIAS),
    ),
    "batch, features last": (
        lambda x: nn.batch_norm(x, axis=-1, epsilon=0.0)[0],
        standard(X, (0, 1, 2), 0.0),
    ),
    "infer": (
        lambda x: nn.batch_norm_infer(x, GAIN, BIAS**2, BIAS, GAIN),
        (X - column(GAIN)) / np.sqrt(column(BIAS**2) + 1e-5) * column(BIAS) + column(GAIN),
    ),
    "2-norm": (
        lambda x: nn.normalize(x, axis=1),
        X / np.sqrt((X**2).sum(1, keepdims=True)),
    ),
    "3-norm": (
        lambda x: nn.normalize(x, p=3, axis=(1, 2)),
        X / (np.abs(X) ** 3).sum((1, 2), keepdims=True) ** (1 / 3),
    ),
    "1-norm": (lambda x: nn.normalize(x, p=1), X / np.abs(X).sum(-1, keepdims=True)),
    "infinite norm": (
        lambda x: nn.normalize(x, p=np.inf),
        X / np.abs(X).max(-1, keepdims=True),
    ),
    "weights": (
        lambda x: nn.weight_norm(x, column(GAIN), axis=(0, 2, 3)),
        column(GAIN) * X / np.sqrt((X**2).sum((0, 2, 3), keepdims=True)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name: str) -> None:
    function, expected = CASES[name]
    agrees(apply(function, X), expected, 1e-12)


@pytest.mark.parametrize("name", [n for n in CASES if n != "infinite norm"])
def test_gradients_to_second_order(name: str) -> None:
    function, _ = CASES[name]
    with sad.Graph(seed=0):
        x = sad.placeholder("float64", X.shape)
        sad.check_gradients(function(x), [x], {x: X}, order=2)


@pytest.mark.parametrize("name", ["group", "instance", "layer", "rms", "batch", "2-norm"])
def test_symbolic_batch_and_sides(name: str) -> None:
    function, expected = CASES[name]
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 6, "h", 2))
        y = function(x)
        (g,) = sad.gradients(sad.sum(y * y), x)
    value, slope = run(graph, [y, g], {x: X})
    agrees(value, expected, 1e-12)
    assert np.isfinite(slope).all()
    # No example is an example, too.
    empty = X[:0]
    if name != "batch":
        assert run(graph, y, {x: empty}).shape == empty.shape


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nn.layer_norm(x),
        lambda x: nn.rms_norm(x),
        lambda x: nn.group_norm(x, 2),
        lambda x: nn.instance_norm(x[..., None]),
        lambda x: nn.batch_norm(x)[0],
        lambda x: nn.normalize(x),
        lambda x: nn.normalize(x, p=3),
    ],
)
@pytest.mark.parametrize("shape", [(1, 4), (3, 4)])
def test_constants_have_finite_derivatives(function: Any, shape: tuple[int, ...]) -> None:
    for fill in (0.0, 7.0):
        with sad.Graph() as graph:
            x = sad.placeholder("float64", shape)
            y = function(x)
            (g,) = sad.gradients(y, x, [sad.constant(RNG.normal(size=y.shape))])
            (h,) = sad.gradients(g, x, unconnected="zero")
        for found in run(graph, [y, g, h], {x: np.full(shape, fill)}):
            assert np.isfinite(found).all()


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BFLOAT16])
def test_half_floats_keep_their_range(dtype: Any) -> None:
    # Squares and sums of these leave the range of float16.
    x = (X * 3000).astype(dtype)
    for function in (
        lambda v: nn.rms_norm(v, axis=1),
        lambda v: nn.batch_norm(v)[0],
        lambda v: nn.normalize(v, axis=1),
    ):
        wide = apply(function, x.astype(np.float64))
        np.testing.assert_allclose(apply(function, x).astype(float), wide, rtol=2e-2, atol=2e-2)


def test_normalize_of_extreme_numbers() -> None:
    for scale in (1e-200, 1e200):
        found = apply(lambda x: nn.normalize(x, epsilon=0.0), np.array([3.0, 4.0]) * scale)
        agrees(found, [0.6, 0.8], 1e-15)


# ------------------------------------------------------------------ running statistics


def test_statistics_follow_batches() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 6, "h", "w"))
        training = sad.placeholder("bool", ())
        y, updates = nn.batch_norm(x, training=training, momentum=0.25, name="norm")
    assert graph.updates == list(updates)
    assert not any(v.trainable for v in graph.variables.values())
    mean, variance = np.zeros(6), np.ones(6)
    with sad.Session(graph) as session:
        for k in range(3):
            batch = (X * (k + 1) + k).astype(np.float32)
            session.run([y, updates], {x: batch, training: True})
            mean = 0.75 * mean + 0.25 * batch.mean((0, 2, 3))
            variance = 0.75 * variance + 0.25 * batch.var((0, 2, 3), ddof=1)
            np.testing.assert_allclose(session.variables["norm/mean"], mean, rtol=1e-5)
            np.testing.assert_allclose(session.variables["norm/variance"], variance, rtol=1e-5)
        found = session.run([y, updates], {x: X, training: False})[0]
        np.testing.assert_allclose(
            found, (X - column(mean)) / np.sqrt(column(variance) + 1e-5), rtol=1e-4, atol=1e-5
        )
        # Without training nothing changes.
        np.testing.assert_allclose(session.variables["norm/mean"], mean, rtol=1e-5)


def test_a_batch_of_one_has_variance_0() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", ("n", 2))
        y, updates = nn.batch_norm(x, momentum=1.0)
    with sad.Session(graph) as session:
        value, (mean, variance) = session.run([y, updates], {x: [[3.0, 5.0]]})
    assert value.tolist() == [[0, 0]]
    assert (mean.tolist(), variance.tolist()) == ([3, 5], [0, 0])


def test_statistics_of_half_floats_are_float32_and_given_variables_are_used() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float16", (4, 2))
        nn.batch_norm(x, name="norm")
        mean = sad.variable(np.zeros(2), name="m", trainable=False)
        variance = sad.variable(np.ones(2), name="v", trainable=False)
        y, updates = nn.batch_norm(x, mean=mean, variance=variance, training=False)
        assert updates == ()
        _, updates = nn.batch_norm(x, mean=mean, variance=variance)
    assert graph.variables["norm/mean"].dtype == np.float32
    assert [u.dtype.name for u in updates] == ["float64", "float64"]
    assert y.dtype == np.float16
    assert set(graph.variables) == {"norm/mean", "norm/variance", "m", "v"}


def test_optimizers_run_the_updates_and_a_file_keeps_them(tmp_path: Path) -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("n", 3), name="x")
        gain = sad.variable(sad.ones(3), name="gain")
        y, _ = nn.batch_norm(x, gain, name="norm")
        loss = sad.mean((y - 1) ** 2, name="loss")
        train = sad.optimizers.SGD(0.1).minimize(loss, name="train")
    graph.save(tmp_path / "norm.sad")
    data = RNG.normal(size=(8, 3)).astype(np.float32) + 4
    loaded = sad.load(tmp_path / "norm.sad")
    with sad.Session(graph) as first, sad.Session(loaded) as second:
        first.run([loss, train], {x: data})
        second.run(["loss", loaded[train.name]], {"x": data})
        for session in (first, second):
            np.testing.assert_allclose(
                session.variables["norm/mean"], 0.1 * data.mean(0), rtol=1e-5
            )


def test_interpretation_agrees_with_the_plan() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", X.shape)
        ys = [function(x) for function, _ in CASES.values()]
        planned = run(graph, ys, {x: X})
        variables = {name: run(graph, v.initial) for name, v in graph.variables.items()}
    found = interpret(graph, [y.id for y in ys], (), {x.id: X}, variables, 0).values
    for a, b in zip(planned, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("shape", [(0, 3), ("batch", 3)])
def test_a_batch_of_nothing_leaves_the_statistics(shape: tuple[Any, ...]) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", shape)
        y, updates = nn.batch_norm(x, name="norm")
    with sad.Session(graph) as session:
        found = session.run([y, updates], {x: np.zeros((0, 3), np.float32)})[0]
        assert found.shape == (0, 3)
        np.testing.assert_array_equal(session.variables["norm/mean"], np.zeros(3))
        np.testing.assert_array_equal(session.variables["norm/variance"], np.ones(3))


@pytest.mark.parametrize("epsilon", [0.0, 1e-5])
@pytest.mark.parametrize("scale", [1e-30, 1e-22, 1e-10, 1.0, 1e10, 1e19, 1e30, 1e38])
@pytest.mark.parametrize("function", [nn.rms_norm, nn.layer_norm])
def test_squares_that_leave_the_range(function: Any, scale: float, epsilon: float) -> None:
    x = (np.array([[1, -2, 3, 0.5], [3, 3, 3, -3]]) * scale).astype(np.float32)
    with sad.Graph() as graph:
        given = sad.placeholder("float32", (2, "n"), name="x")
        y = function(given, epsilon=epsilon)
        weights = np.arange(8, dtype=np.float32).reshape(2, 4)
        (g,) = sad.gradients(y, given, weights)
    wide = x.astype(np.float64)
    if function is nn.layer_norm:
        wide = wide - wide.mean(1, keepdims=True)
    length = np.sqrt((wide**2).mean(1, keepdims=True) + epsilon)
    exact = wide / length
    found, slope = run(graph, [y, g], {given: x})
    np.testing.assert_allclose(found, exact, rtol=1e-5)
    change = weights.astype(np.float64)
    along = exact * (change * exact).mean(1, keepdims=True)
    if function is nn.layer_norm:
        change = change - change.mean(1, keepdims=True)
    right = (change - along) / length
    np.testing.assert_allclose(slope, right, rtol=1e-4, atol=1e-5 * np.abs(right).max())
    (interpreted,) = interpret(graph, [y.id], (), {given.id: x}, {}, 0).values
    np.testing.assert_array_equal(interpreted, found)


def test_rms_norm_of_zeros_to_second_order() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (2, 3), name="x")
        y = nn.rms_norm(x, epsilon=0.25)
        (g,) = sad.gradients(y, x, np.ones((2, 3)))
        (h,) = sad.gradients(sad.sum(g * g), x)
    values = np.array([[0.0, 0, 0], [np.inf, np.nan, 1]])
    y_, g_, h_ = run(graph, [y, g, h], {x: values})
    np.testing.assert_array_equal(y_[0], 0)
    np.testing.assert_array_equal(g_[0], 2)
    np.testing.assert_array_equal(h_[0], 0)
    assert np.isnan(y_[1][:2]).all()
