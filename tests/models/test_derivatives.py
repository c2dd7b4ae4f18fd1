"""Derivatives of every model's loss by all that it learns: forward, reverse, mixed, differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.tolerance import units

from .test_executor import CASES

# Products of float32 numbers are sums of thousands, of which many cancel.
FEW_DIGITS = 3e3


def learned(graph: sad.Graph) -> list[Any]:
    """The variables that training changes."""
    return [v for v in graph.variables.values() if v.trainable]


def directions(xs: list[Any], seed: int) -> list[Any]:
    """A random direction of length 1 for all together."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=x.shape) for x in xs]
    length = np.sqrt(sum(np.sum(v * v) for v in found))
    return [(v / length).astype(x.dtype) for v, x in zip(found, xs, strict=True)]


def inner(left: list[Any], right: list[Any]) -> Any:
    """The sum of all products."""
    parts = [sad.sum(a.astype("float64") * b) for a, b in zip(left, right, strict=True)]
    return sad.sum(sad.stack(parts))


@pytest.mark.parametrize("name", CASES)
def test_modes_agree_to_second_order(name: str) -> None:
    build, feeds, _, _ = CASES[name]
    graph = build()
    given = {k: v[0] for k, v in feeds().items()}
    with graph:
        loss, xs = graph["loss"], learned(graph)
        u, v = directions(xs, 0), directions(xs, 1)
        first = sad.gradients(loss, xs, unconnected="zero")
        (pushed,) = sad.jvp(loss, xs, v)
        forward_over_reverse = sad.hvp(loss, xs, v)
        reverse_over_forward = sad.gradients(pushed, xs, unconnected="zero")
        (twice,) = sad.jvp(pushed, xs, u)
        length = inner(first, first)
        firsts = [inner(first, v), pushed]
        seconds = [
            inner(forward_over_reverse, u), inner(sad.hvp(loss, xs, u), v),
            inner(reverse_over_forward, u), twice,
        ]  # fmt: skip
        size = inner(forward_over_reverse, forward_over_reverse)
    with sad.Session(graph) as session:
        found = session.run([firsts, seconds, length, size], given, step=0)
    slack = units(graph["loss"].dtype, FEW_DIGITS)
    np.testing.assert_allclose(found[0], found[0][0], rtol=slack, atol=slack * found[2] ** 0.5)
    np.testing.assert_allclose(found[1], found[1][0], rtol=slack, atol=slack * found[3] ** 0.5)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_differences(name: str) -> None:
    build, feeds, _, _ = CASES[name]
    graph = build()
    given = {k: v[0] for k, v in feeds().items()}
    xs = learned(graph)
    along = directions(xs, 2)
    with graph:
        (slope,) = sad.jvp(graph["loss"], xs, along)
        total = inner(sad.gradients(graph["loss"], xs, unconnected="zero"), along)
    single = graph["loss"].dtype == np.float32
    h = 2e-3 if single else 1e-4
    with sad.Session(graph) as session:
        # Aside of where they begin: there rectifiers of biases of 0 have two slopes.
        start = {
            x.name: session.variables[x.name] + v
            for x, v in zip(xs, directions(xs, 3), strict=True)
        }
        for name_, array in start.items():
            session.variables[name_] = array
        forward, reverse = session.run([slope, total], given, step=0)

        def moved(t: float) -> float:
            for x, v in zip(xs, along, strict=True):
                session.variables[x.name] = start[x.name] + (t * v).astype(x.dtype)
            return float(session.run("loss", given, step=0))

        quotient = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
        value = abs(moved(0.0))
    # What rounding of the loss makes of a quotient.
    slack = 4 * units(np.float32 if single else np.float64, 1) * (1 + value) / h
    assert forward == pytest.approx(quotient, rel=2e-2 if single else 1e-7, abs=slack)
    assert reverse == pytest.approx(quotient, rel=2e-2 if single else 1e-7, abs=slack)
