"""Recurrent cells and sequences, against loops in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import Array
from tests.staticad.running import agrees, apply, run

nn = sad.nn
STEPS, BATCH, INPUTS, UNITS = 4, 2, 3, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(STEPS, BATCH, INPUTS))
H, C = RNG.normal(size=(2, BATCH, UNITS))


def weights(gates: int) -> tuple[Array, ...]:
    rows = gates * UNITS
    shapes = ((rows, INPUTS), (rows, UNITS), (rows,), (rows,))
    return tuple(0.3 * RNG.normal(size=s) for s in shapes)


def sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def rnn_step(x: Array, states: tuple[Array, ...], w: tuple[Array, ...]) -> tuple[Array, ...]:
    return (np.tanh(x @ w[0].T + w[2] + states[0] @ w[1].T + w[3]),)


def lstm_step(x: Array, states: tuple[Array, ...], w: tuple[Array, ...]) -> tuple[Array, ...]:
    h, c = states
    i, f, g, o = np.split(x @ w[0].T + w[2] + h @ w[1].T + w[3], 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(x: Array, states: tuple[Array, ...], w: tuple[Array, ...]) -> tuple[Array, ...]:
    (h,) = states
    ir, iz, inew = np.split(x @ w[0].T + w[2], 3, -1)
    sr, sz, snew = np.split(h @ w[1].T + w[3], 3, -1)
    z = sigmoid(iz + sz)
    return ((1 - z) * np.tanh(inew + sigmoid(ir + sr) * snew) + z * h,)


def sequence(
    step: Callable[..., tuple[Array, ...]], x: Array, states: tuple[Array, ...], w: Any
) -> tuple[Array, ...]:
    seen = []
    for row in x:
        states = step(row, states, w)
        seen.append(states[0])
    return (np.stack(seen), *states)


KINDS: dict[str, tuple[Any, Any, Any, int, int]] = {
    "rnn": (nn.rnn, nn.rnn_cell, rnn_step, 1, 1),
    "lstm": (nn.lstm, nn.lstm_cell, lstm_step, 4, 2),
    "gru": (nn.gru, nn.gru_cell, gru_step, 3, 1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sequences(kind: str) -> None:
    whole, _, step, gates, count = KINDS[kind]
    w = weights(gates)
    states = (H, C)[:count]
    expected = sequence(step, X, states, w)
    for value, right in zip(apply_all(whole, X, w, *states), expected, strict=True):
        agrees(value, right, 1e-13)
    # Backwards, and with the batch first.
    backwards = sequence(step, X[::-1], states, w)
    found = apply_all(whole, X, w, *states, reverse=True)
    agrees(found[0], backwards[0][::-1], 1e-13)
    agrees(found[1], backwards[1], 1e-13)
    found = apply_all(whole, np.swapaxes(X, 0, 1), w, *states, batch_first=True)
    agrees(found[0], np.swapaxes(expected[0], 0, 1), 1e-13)
    # From zeros, without biases.
    bare = (*w[:2], np.zeros(gates * UNITS), np.zeros(gates * UNITS))
    zeros = (np.zeros((BATCH, UNITS)),) * count
    found = apply_all(whole, X, w[:2])
    agrees(found[0], sequence(step, X, zeros, bare)[0], 1e-13)


def apply_all(function: Any, x: Array, w: Any, *states: Array, **more: Any) -> list[Array]:
    with sad.Graph() as graph:
        p = sad.placeholder("float64", x.shape)
        results = function(p, w, *states, **more)
    found: list[Array] = run(graph, list(results), {p: x})
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_is_one_step(kind: str) -> None:
    _, cell, step, gates, count = KINDS[kind]
    w = weights(gates)
    states = (H, C)[:count]
    with sad.Graph() as graph:
        results = cell(X[0], *states, w)
        results = results if isinstance(results, tuple) else (results,)
    for found, right in zip(run(graph, list(results)), step(X[0], states, w), strict=True):
        agrees(found, right, 1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_to_second_order(kind: str) -> None:
    whole, _, _, gates, count = KINDS[kind]
    arrays = (X, *weights(gates), *(H, C)[:count])
    with sad.Graph():
        xs = [sad.placeholder("float64", a.shape) for a in arrays]
        results = whole(xs[0], tuple(xs[1:5]), *xs[5:])
        total = sum(sad.sum(r * r) for r in results)
        sad.check_gradients(total, xs, dict(zip(xs, arrays, strict=True)), order=2)


def test_relu_and_symbolic_batches() -> None:
    w = weights(1)
    found = apply_all(nn.rnn, X[:1], w, H, activation="relu")
    right = np.maximum(X[0] @ w[0].T + w[2] + H @ w[1].T + w[3], 0)
    agrees(found[1], right, 1e-13)
    with sad.Graph() as graph:
        x = sad.placeholder("float64", (STEPS, "batch", INPUTS))
        y, h = nn.gru(x, weights(3))
        (g,) = sad.gradients(sad.sum(h), x)
    with sad.Session(graph) as session:
        for size in (0, 1, 3):
            found = session.run([y, h, g], {x: np.ones((STEPS, size, INPUTS))})
            assert found[0].shape == (STEPS, size, UNITS)
            assert found[2].shape == (STEPS, size, INPUTS)


def test_no_step_leaves_the_state() -> None:
    found = apply_all(nn.lstm, X[:0], weights(4), H, C)
    assert found[0].shape == (0, BATCH, UNITS)
    np.testing.assert_array_equal(found[1], H)
    np.testing.assert_array_equal(found[2], C)


def test_weights_are_variables_that_learn() -> None:
    with sad.Graph(seed=0) as graph:
        w = nn.recurrent_weights("lstm", INPUTS, UNITS, name="encoder")
        _, h, _ = nn.lstm(X.astype(np.float32), w)
        loss = sad.mean((h - 0.3) ** 2)
        train = sad.optimizers.Adam(0.05).minimize(loss)
    assert list(graph.variables)[:4] == ["encoder/wi", "encoder/wh", "encoder/bi", "encoder/bh"]
    with sad.Session(graph) as session:
        before = session.run(loss)
        for _ in range(60):
            session.run(train)
        assert session.run(loss) < 0.05 * before
        assert np.abs(session.variables["encoder/wi"]).max() <= 5


def test_two_layers_share_no_name() -> None:
    with sad.Graph(seed=0) as graph:
        nn.recurrent_weights("gru", 2, 3)
        nn.recurrent_weights("gru", 3, 3)
    assert len(graph.variables) == 8
    assert apply(lambda x: nn.rnn(x, weights(1))[1], X).shape == (BATCH, UNITS)


@pytest.mark.parametrize("batch_first", [False, True])
def test_an_unknown_number_of_steps_leads_to_padding(batch_first: bool) -> None:
    with sad.Graph(seed=0):
        x = sad.placeholder("float32", ("steps", "steps", 3), name="x")
        weights = sad.nn.recurrent_weights("lstm", 3, 2)
        with pytest.raises(sad.ShapeError, match=r"hint: .*unrolled"):
            sad.nn.lstm(x, weights, batch_first=batch_first)


def test_so_it_does_in_ctc_loss() -> None:
    with sad.Graph():
        logs = sad.placeholder("float32", ("steps", 2, 3), name="logs")
        with pytest.raises(sad.ShapeError, match=r"hint: .*input_lengths"):
            sad.nn.ctc_loss(logs, [[1], [2]], [3, 3], [1, 1])
