"""Optimizers in a graph: names, steps, rates, warnings, and their life in a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.optimizers import SGD, Adam, Momentum, Optimizer, schedules

Array = np.ndarray[Any, Any]
START = np.array([1.0, -2.0, 3.0])
# A gradient that changes from step to step: that of sum(p**4) / 4 + p[0] * p[1].


def gradient(p: Array) -> Array:
    g: Array = p**3
    g[:2] += p[1::-1]
    return g


def model(dtype: str = "float64") -> tuple[sad.Graph, sad.Tensor]:
    with sad.Graph(seed=0) as graph:
        p = sad.variable(sad.cast(START, dtype), name="p")
        loss = sad.sum(p**4) / 4 + p[0] * p[1]
    return graph, loss


@pytest.mark.parametrize(
    "optimizer",
    [lambda: SGD(0.1), lambda: Momentum(0.05), lambda: Adam(0.1)],
    ids=["SGD", "momentum", "Adam"],
)
def test_complex_variables_descend(optimizer: Callable[[], Optimizer]) -> None:
    goal = np.array([1 + 2j, -3j, 0.5])
    with sad.Graph() as graph:
        z = sad.variable(np.zeros(3, np.complex128), name="z")
        train = optimizer().minimize(sad.sum(sad.abs(z - goal) ** 2))
    with sad.Session(graph) as session:
        for _ in range(500):
            session.run(train)
        np.testing.assert_allclose(session.variables["z"], goal, atol=1e-3)


def test_adam_without_moments_divides_by_the_gradient() -> None:
    p = START.copy()
    graph, loss = model()
    with graph:
        train = Adam(0.05, beta1=0.0, beta2=0.0, epsilon=0.0).minimize(loss)
    with sad.Session(graph) as session:
        for _ in range(6):
            p = p - 0.05 * np.sign(gradient(p))
            session.run(train)
        np.testing.assert_allclose(session.variables["p"], p, rtol=1e-12)


def test_slots_are_made_all_m_first() -> None:
    with sad.Graph() as graph:
        a, b = (sad.variable(sad.ones(2), name=n) for n in "ab")
        fixed = sad.variable(1.0, name="fixed", trainable=False)
        unused = sad.variable(1.0, name="unused")
        Adam().minimize(sad.sum(a * b * fixed))
    assert list(graph.variables) == [
        "a", "b", "fixed", "unused", "Adam/step", "Adam/m/a", "Adam/m/b", "Adam/v/a", "Adam/v/b",
    ]  # fmt: skip
    assert unused.trainable


def test_two_optimizers_in_one_graph() -> None:
    with sad.Graph() as graph:
        a, b = (sad.variable(1.0, name=n) for n in "ab")
        first = SGD(0.5).minimize(a * a, [a])
        second = SGD(0.25).minimize(b * b, [b])
    with sad.Session(graph) as session:
        session.run([first, second])
        session.run(second)
        assert session.variables["a"] == 0
        assert session.variables["b"] == 0.25
        assert session.variables["SGD/step"] == 1
        assert session.variables["SGD_1/step"] == 2


def test_updates_read_the_start_of_the_run_and_join_the_effect() -> None:
    with sad.Graph() as graph:
        p = sad.variable(1.0, name="p")
        seen = sad.variable(0.0, name="seen", trainable=False)
        graph.updates.append(seen.assign(p))
        train = SGD(0.5).minimize(p * p)
    with sad.Session(graph) as session:
        session.run(train)
        assert session.variables["p"] == 0
        assert session.variables["seen"] == 1


def test_the_learning_rate_can_be_seen_and_fed() -> None:
    graph, loss = model()
    with graph:
        optimizer = SGD(0.01)
        train = optimizer.minimize(loss)
    with sad.Session(graph) as session:
        assert session.run([optimizer.step, optimizer.learning_rate]) == [0, 0.01]
        session.run(train, {optimizer.learning_rate: 0.0})
        assert session.variables["p"].tolist() == START.tolist()
        assert session.run(optimizer.step) == 1


def test_a_saved_step_trains_by_itself(tmp_path: Path) -> None:
    graph, loss = model("float32")
    with graph:
        Adam(schedules.cosine(0.1, 10)).minimize(loss, name="train")
    graph.save(tmp_path / "step.sad")
    with sad.Session(graph) as here, sad.Session(sad.load(tmp_path / "step.sad")) as there:
        for _ in range(3):
            here.run("train")
            there.run("train")
        here.save(tmp_path / "state.safetensors")
        for name in graph.variables:
            assert here.variables[name].tobytes() == there.variables[name].tobytes()
    with sad.Session(sad.load(tmp_path / "step.sad")) as further:
        further.restore(tmp_path / "state.safetensors")
        assert further.variables["Adam/step"] == 3


def test_J13_an_epsilon_that_vanishes_is_warned_of() -> None:
    graph, loss = model("float16")
    with graph, pytest.warns(UserWarning, match="epsilon 1e-08 is 0 in float16"):
        Adam(0.1).minimize(loss)


def test_J13_a_beta_that_is_rounded_to_one_is_warned_of() -> None:
    graph, loss = model("bfloat16")
    with graph, pytest.warns(UserWarning, match="beta2 0.999 is 1 in bfloat16"):
        Adam(0.1).minimize(loss)
