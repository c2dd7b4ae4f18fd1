"""ctc_loss, against the sum over all ways to spell the labels."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_schema.types import BFLOAT16, Array
from tests.staticad.running import apply, run
from tests.tolerance import units

INF = math.inf
ctc_loss = sad.nn.ctc_loss


def spelled(way: tuple[int, ...], blank: int) -> list[int]:
    once = [name for k, name in enumerate(way) if k == 0 or name != way[k - 1]]
    return [name for name in once if name != blank]


def brute(logs: Array, labels: list[int], blank: int) -> float:
    """-log of the sum over all ways, of one example."""
    steps, classes = logs.shape
    total = 0.0
    for way in itertools.product(range(classes), repeat=steps):
        if spelled(way, blank) == labels:
            total += math.exp(sum(logs[t, name] for t, name in enumerate(way)))
    return -math.log(total) if total else INF


def logs_of(steps: int, batch: int, classes: int, seed: int = 0) -> Array:
    x = np.random.default_rng(seed).normal(size=(steps, batch, classes))
    result: Array = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return result


CASES = {
    "one label": (4, [[1]], [4], [1], 0),
    "two labels": (4, [[1, 2]], [4], [2], 0),
    "the same label twice": (4, [[1, 1]], [4], [2], 0),
    "no label": (3, [[1]], [3], [0], 0),
    "no place for a label": (3, np.zeros((1, 0), int), [3], [0], 0),
    "as many labels as steps": (3, [[1, 2, 1]], [3], [3], 0),
    "one step": (1, [[2]], [1], [1], 0),
    "lengths": (5, [[1, 2, 2], [2, 9, -1], [1, 1, 7]], [5, 3, 4], [3, 1, 2], 0),
    "another blank": (4, [[0, 1], [1, 1]], [4, 4], [2, 2], 2),
    "too many labels": (2, [[1, 2, 1]], [2], [3], 0),
    "a repeated label without room": (2, [[1, 1]], [2], [2], 0),
    "no step": (3, [[1, 2], [1, 2]], [0, 0], [0, 1], 0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("symbolic", [False, True])
def test_the_sum_over_all_ways(name: str, symbolic: bool) -> None:
    steps, labels, lengths, counts, blank = CASES[name]
    names = np.array(labels)
    logs = logs_of(steps, len(lengths), 3)
    with sad.Graph() as graph:
        shape: Any = (steps, "n", "c") if symbolic else logs.shape
        x = sad.placeholder("float64", shape)
        y = sad.placeholder("int32", ("n", "l") if symbolic else names.shape)
        loss = ctc_loss(x, y, lengths, counts, blank=blank, reduction="none")
        (g,) = sad.gradients(loss, x)
    value, slope = run(graph, [loss, g], {x: logs, y: names})
    expected = [
        brute(logs[:length, k], list(names[k, :count]), blank)
        for k, (length, count) in enumerate(zip(lengths, counts, strict=True))
    ]
    np.testing.assert_allclose(value, expected, rtol=1e-13)
    assert np.isfinite(slope).all()
    for k, length in enumerate(lengths):
        # Each step has a share of 1 in what is found; an impossible spelling moves with nothing.
        possible = math.isfinite(expected[k])
        np.testing.assert_allclose(slope[:length, k].sum(-1), -1.0 if possible else 0.0)
        assert (slope[length:, k] == 0).all()


def test_gradients_to_second_order() -> None:
    logits = np.random.default_rng(0).normal(size=(5, 3, 4))
    labels = np.array([[1, 2], [3, 3], [2, 0]])
    with sad.Graph():
        x = sad.placeholder("float64", logits.shape)
        logs = sad.nn.log_softmax(x, axis=2)
        loss = ctc_loss(logs, labels, [5, 4, 2], [2, 2, 1])
        sad.check_gradients(loss, [x], {x: logits}, order=2)


def test_reductions() -> None:
    logs = logs_of(5, 2, 3)
    given = [[1, 2], [1, 0]], [5, 5], [2, 0]
    losses = np.array([brute(logs[:, 0], [1, 2], 0), brute(logs[:, 1], [], 0)])
    np.testing.assert_allclose(
        apply(lambda x: ctc_loss(x, *given, reduction="sum"), logs), losses.sum()
    )
    mean = (losses / [2, 1]).mean()
    np.testing.assert_allclose(apply(lambda x: ctc_loss(x, *given), logs), mean)


def test_zero_infinity() -> None:
    logs = logs_of(2, 2, 3)
    with sad.Graph() as graph:
        x = sad.placeholder("float64", logs.shape)
        loss = ctc_loss(x, [[1, 1], [1, 2]], [2, 2], [2, 2], zero_infinity=True, reduction="none")
        (g,) = sad.gradients(loss, x)
    value, slope = run(graph, [loss, g], {x: logs})
    assert value[0] == 0
    assert value[1] == pytest.approx(brute(logs[:, 1], [1, 2], 0))
    assert (slope[:, 0] == 0).all()


def test_a_class_that_cannot_be() -> None:
    logs = logs_of(3, 1, 3)
    logs[1, 0, 1] = -INF
    with sad.Graph() as graph:
        x = sad.placeholder("float64", logs.shape)
        loss = ctc_loss(x, [[1]], [3], [1])
        (g,) = sad.gradients(loss, x)
    value, slope = run(graph, [loss, g], {x: logs})
    assert value == pytest.approx(brute(logs[:, 0], [1], 0))
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("dtype", [np.dtype(np.float16), BFLOAT16, np.dtype(np.float32)])
def test_dtypes(dtype: Any) -> None:
    logs = logs_of(6, 1, 3).astype(dtype)
    found = apply(lambda x: ctc_loss(x, [[1, 2]], [6], [2], reduction="sum"), logs)
    assert found.dtype == dtype
    exact = brute(logs.astype(float)[:, 0], [1, 2], 0)
    np.testing.assert_allclose(float(found), exact, rtol=units(dtype))


@pytest.mark.parametrize(
    ("labels", "lengths", "counts", "what"),
    [
        ([[1, 3]], [3], [2], "names no class"),
        ([[1, -1]], [3], [2], "names no class"),
        ([[0, 1]], [3], [2], "is the blank"),
        ([[1, 2]], [4], [2], "input length"),
        ([[1, 2]], [-1], [2], "input length"),
        ([[1, 2]], [3], [3], "label length"),
    ],
)
def test_what_is_out_of_range_fails(labels: Any, lengths: Any, counts: Any, what: str) -> None:
    with sad.Graph() as graph:
        y = sad.placeholder("int64", (1, 2))
        loss = ctc_loss(logs_of(3, 1, 3), y, lengths, counts)
    with pytest.raises(sad.ExecutionError, match=what):
        run(graph, loss, {y: labels})
