"""Activations, layers and losses: values, corners, and gradients of any order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.staticad.running import agrees, apply, run

X = np.linspace(-3, 4, 12).reshape(3, 4)
INF = math.inf


def gradients_of(function: Callable[[Any], Any], x: Any) -> list[float]:
    with sad.Graph() as graph:
        p = sad.placeholder("float64", np.shape(x))
        (g,) = sad.gradients(sad.sum(function(p)), [p])
    found: list[float] = run(graph, g, {p: x}).tolist()
    return found


def test_relu_and_relu6_at_their_corners() -> None:
    # A21, A23: 0 at 0 and at 6; NaN stays.
    x = [-1.0, 0.0, 1e-300, 6.0, 7.0]
    assert apply(sad.nn.relu, np.array(x)).tolist() == [0, 0, 1e-300, 6, 7]
    assert gradients_of(sad.nn.relu, x) == [0, 0, 1, 1, 1]
    assert apply(sad.nn.relu6, np.array(x)).tolist() == [0, 0, 1e-300, 6, 6]
    assert gradients_of(sad.nn.relu6, x) == [0, 0, 1, 0, 0]
    for function in (sad.nn.relu, sad.nn.relu6):
        assert np.isnan(apply(function, np.array([np.nan]))[0])


def test_gelu() -> None:
    cdf = np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in X.ravel()]).reshape(X.shape)
    agrees(apply(sad.nn.gelu, X), X * cdf, 1e-14)
    inner = math.sqrt(2 / math.pi) * (X + 0.044715 * X**3)
    agrees(
        apply(lambda x: sad.nn.gelu(x, approximate=True), X),
        0.5 * X * (1 + np.tanh(inner)),
        1e-14,
    )


def softmax(x: Any, axis: int) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_and_its_logarithm(axis: int, symbolic: bool) -> None:
    expected = softmax(X, axis)
    found = apply(lambda x: sad.nn.softmax(x, axis=axis), X, symbolic=symbolic)
    agrees(found, expected, 1e-14)
    found = apply(lambda x: sad.nn.log_softmax(x, axis=axis), X, symbolic=symbolic)
    agrees(found, np.log(expected), 1e-14)


def test_A36_softmax_of_a_masked_row() -> None:
    x = np.array([[-INF, -INF], [-INF, 3.0]])
    for function, other in ((sad.nn.softmax, [0.0, 1.0]), (sad.nn.log_softmax, [-INF, 0.0])):
        found = apply(function, x)
        assert np.isnan(found[0]).all()
        assert found[1].tolist() == other


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("label", "value", "slope"), [(1, 1000.0, [1, -1]), (0, 0.0, [0, 0])])
def test_A31_cross_entropy_of_large_logits(
    dense: bool, label: int, value: float, slope: list[float]
) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 2))
        y: Any = sad.constant(np.eye(2, dtype=np.float32)[[label]] if dense else [label])
        loss = sad.nn.cross_entropy(x, y)
        (g,) = sad.gradients(loss, [x])
    found = run(graph, [loss, g], {x: [[1000.0, 0.0]]})
    assert found[0] == value
    assert found[1].tolist() == [slope]


def test_cross_entropy_of_impossible_classes() -> None:
    # A probability of 0 adds nothing, also where the class is impossible.
    logits = np.array([[0.0, -INF]])
    found = apply(lambda x: sad.nn.cross_entropy(x, np.array([[1.0, 0.0]])), logits)
    assert found == 0
    masked = np.array([[-INF, -INF]])
    assert np.isnan(apply(lambda x: sad.nn.cross_entropy(x, [0]), masked))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("axis", [-1, 1])
def test_cross_entropy_against_numpy(axis: int, dense: bool, reduction: Any) -> None:
    logits = np.arange(24.0).reshape(2, 3, 4) % 5
    classes = logits.shape[axis]
    labels = np.arange(24 // classes).reshape(np.delete(logits.shape, axis)) % classes
    hot = np.moveaxis(np.eye(classes)[labels], -1, axis)
    losses = -(np.log(softmax(logits, axis)) * hot).sum(axis=axis)
    expected = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    targets = hot if dense else labels

    def loss(x: Any) -> Any:
        return sad.nn.cross_entropy(x, targets, axis=axis, reduction=reduction)

    agrees(apply(loss, logits, symbolic=True), expected, 1e-14)
    count = losses.size if reduction == "mean" else 1
    np.testing.assert_allclose(
        gradients_of(loss, logits), (softmax(logits, axis) - hot) / count, atol=1e-14
    )


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_that_names_no_class_fails(label: int) -> None:
    with sad.Graph() as graph:
        y = sad.placeholder("int64", (1,))
        loss = sad.nn.cross_entropy(np.zeros((1, 3)), y, name="loss")
    with pytest.raises(sad.ExecutionError, match=r"test_nn\.py"):
        run(graph, loss, {y: [label]})


@pytest.mark.parametrize(
    "function",
    [
        sad.nn.softmax,
        sad.nn.log_softmax,
        sad.nn.gelu,
        lambda x: sad.nn.gelu(x, approximate=True),
        lambda x: sad.nn.layer_norm(x, np.arange(4.0), 1.0),
        lambda x: sad.nn.cross_entropy(x, [2, 0, 1]),
        lambda x: sad.nn.cross_entropy(x, softmax(X[::-1], 1)),
        lambda x: sad.std(x, axis=1),
        lambda x: sad.var(x, axis=0, correction=1),
    ],
)
def test_gradients_to_second_order(function: Callable[[Any], Any]) -> None:
    with sad.Graph(seed=0):
        x = sad.placeholder("float64", (3, 4), name="x")
        y = function(x)
        sad.check_gradients(y, [x], {x: np.sin(X * 7)}, order=2)


def test_dense_makes_variables() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 5), name="x")
        h = sad.nn.dense(x, 3, activation=sad.nn.relu)
        y = sad.nn.dense(h, 2, name="out", use_bias=False)
        again = sad.nn.dense(h, 2)
    assert list(graph.variables) == [
        "dense/weights", "dense/bias", "out/weights", "dense_1/weights", "dense_1/bias",
    ]  # fmt: skip
    assert again.shape[1] == 2
    values = np.ones((4, 5), np.float32)
    with sad.Session(graph) as session:
        w, b = (session.variables[f"dense/{k}"] for k in ("weights", "bias"))
        expected = np.maximum(values @ w + b, 0) @ session.variables["out/weights"]
        agrees(session.run(y, {x: values}), expected, 1e-6)
        assert 0 < np.abs(w).max() <= math.sqrt(6 / 8)


def test_layer_norm() -> None:
    gain, bias = np.arange(4.0), np.ones(4)
    mean, var = X.mean(axis=1, keepdims=True), X.var(axis=1, keepdims=True)
    expected = (X - mean) / np.sqrt(var + 1e-5) * gain + bias
    for symbolic in (False, True):
        found = apply(lambda x: sad.nn.layer_norm(x, gain, bias), X, symbolic=symbolic)
        agrees(found, expected, 1e-13)


def test_dropout() -> None:
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", (1000,), name="x")
        training = sad.placeholder("bool", (), name="training")
        y = sad.nn.dropout(x, 0.25, training)
        (g,) = sad.gradients(sad.sum(y), [x])
        idle = sad.nn.dropout(x, 0.25, training=False)
    # H19: exact zeros in x are kept or dropped like any other element.
    values = np.zeros(1000, np.float32)
    values[500:] = 1
    with sad.Session(graph) as session:
        dropped, slope = session.run([y, g], {x: values, training: True})
        assert set(np.unique(slope)) == {np.float32(0), np.float32(1 / np.float32(0.75))}
        assert 650 < np.count_nonzero(slope) < 850
        assert np.array_equal(dropped, values * slope)
        assert np.array_equal(session.run(y, {x: values, training: False}), values)
        assert np.array_equal(session.run(idle, {x: values}), values)
