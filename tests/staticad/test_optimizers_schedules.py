"""Learning rates at every step, at step 0 and beyond their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad.optimizers import schedules as s


def half_cosine(share: float) -> float:
    return 0.5 * (1 + math.cos(math.pi * share))


def restarts(t: int, steps: int, growth: int, decay: float, final: float) -> float:
    begin, length, top = 0, steps, 1.0
    while t >= begin + length:
        begin, length, top = begin + length, length * growth, top * decay
    return final + (top - final) * half_cosine((t - begin) / length)


def one_cycle(t: int) -> float:
    if t < 6:
        return 2.0 + (0.08 - 2.0) * half_cosine(t / 6)
    return 0.0 + 2.0 * half_cosine(min((t - 6) / 14, 1))


SCHEDULES: dict[str, tuple[s.Schedule, Callable[[int], float]]] = {
    "constant": (s.constant(0.5), lambda t: 0.5),
    "exponential": (s.exponential(2.0, 0.5, 4), lambda t: 2 * 0.5 ** (t / 4)),
    "staircase": (s.exponential(2.0, 0.5, 4, staircase=True), lambda t: 2 * 0.5 ** (t // 4)),
    "inverse_sqrt": (
        s.inverse_sqrt(0.3, 4),
        lambda t: 0.3 * min((t + 1) / 4, math.sqrt(4 / (t + 1))),
    ),
    "linear": (s.linear(0.1, 0.3, 8), lambda t: 0.1 + 0.2 * min(t / 8, 1)),
    "polynomial": (
        s.polynomial(0.3, 0.1, 8, power=3.0),
        lambda t: 0.1 + 0.2 * (1 - min(t / 8, 1)) ** 3,
    ),
    "polynomial, a root": (
        s.polynomial(0.3, 0.0, 8, power=0.5),
        lambda t: 0.3 * (1 - min(t / 8, 1)) ** 0.5,
    ),
    "cosine": (s.cosine(1.0, 8, 0.25), lambda t: 0.25 + 0.75 * half_cosine(min(t / 8, 1))),
    "cosine_restarts": (
        s.cosine_restarts(1.0, 4, 0.1),
        lambda t: restarts(t, 4, 1, 1.0, 0.1),
    ),
    "cosine_restarts, longer": (
        s.cosine_restarts(1.0, 3, growth=2),
        lambda t: restarts(t, 3, 2, 1.0, 0.0),
    ),
    "cosine_restarts, lower": (
        s.cosine_restarts(1.0, 2, 0.01, growth=3, decay=0.7),
        lambda t: restarts(t, 2, 3, 0.7, 0.01),
    ),
    "one_cycle": (s.one_cycle(2.0, 20, final=0.0), one_cycle),
    "one_cycle without warm-up": (
        s.one_cycle(2.0, 20, warmup=0.0, final=0.0),
        lambda t: 2.0 * half_cosine(min(t / 20, 1)),
    ),
    "piecewise": (
        s.piecewise([2, 5], [1.0, 0.5, 0.1]),
        lambda t: 1.0 if t < 2 else 0.5 if t < 5 else 0.1,
    ),
    "piecewise of one": (s.piecewise([], [0.5]), lambda t: 0.5),
    "warmup": (s.warmup(2.0, 4), lambda t: 2 * min((t + 1) / 4, 1)),
    "warmup of a schedule": (
        s.warmup(s.piecewise([5], [1.0, 0.5]), 4),
        lambda t: min((t + 1) / 4, 1) * (1.0 if t < 5 else 0.5),
    ),
    "join": (
        s.join([s.linear(0.0, 1.0, 4), s.cosine(1.0, 8), 0.125], [4, 10]),
        lambda t: t / 4 if t < 4 else half_cosine((t - 4) / 8) if t < 10 else 0.125,
    ),
    "one's own": (lambda step: 1.0 / (step + 1), lambda t: 1 / (t + 1)),
}
LAST = 100
# What a type checker would refuse is a mistake all the same.
ANY: Any = "?"
FRACTION: Any = 2.5
NUMBER: Any = 5
NAN: Any = float("nan")


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_step(name: str) -> None:
    schedule, expected = SCHEDULES[name]
    with sad.Graph() as graph:
        rates = sad.astype(schedule(sad.arange(LAST)), "float64") + sad.zeros(LAST)
    found = sad.Session(graph).run(rates)
    wanted = [expected(t) for t in range(LAST)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_counter_drives_it(name: str, tmp_path: Path) -> None:
    schedule, expected = SCHEDULES[name]
    with sad.Graph() as graph:
        p = sad.variable(1.0, name="p")
        optimizer = sad.optimizers.SGD(schedule)
        sad.identity(optimizer.learning_rate, name="rate")
        optimizer.minimize(p * p, name="train")
    graph.save(tmp_path / "step.sad")
    with sad.Session(sad.load(tmp_path / "step.sad")) as session:
        for t in range(12):
            rate, _ = session.run(["rate", "train"])
            assert rate == pytest.approx(expected(t), rel=1e-6, abs=1e-12)
        session.variables["SGD/step"] = np.int64(10**12)
        last = session.run("rate")
        assert np.isfinite(last)
        assert last >= 0


def test_ends_are_exact() -> None:
    ends = [
        (s.linear(0.1, 0.3, 7), 0.1, 0.3),
        (s.polynomial(0.1, 0.3, 7), 0.1, 0.3),
        (s.cosine(0.1, 7, 0.3), 0.1, 0.3),
        (s.one_cycle(0.7, 7, initial=0.1, final=0.3), 0.1, 0.3),
    ]
    with sad.Graph() as graph:
        rates = [schedule(sad.constant([0, 7, 8, 10**9])) for schedule, _, _ in ends]
    for found, (_, first, last) in zip(sad.Session(graph).run(rates), ends, strict=True):
        assert found.tolist() == [first, last, last, last]


@pytest.mark.parametrize("growth", [2, 3, 7])
def test_each_restart_is_at_its_step(growth: int) -> None:
    steps = [5 * (growth**k - 1) // (growth - 1) for k in range(12)]
    with sad.Graph() as graph:
        rate = s.cosine_restarts(1.0, 5, growth=growth)
        at, before = rate(sad.constant(steps)), rate(sad.constant(np.array(steps[1:]) - 1))
    first, last = sad.Session(graph).run([at, before])
    assert (first == 1).all()
    assert (last < 0.1).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: s.exponential(0.1, 0.0, 5), "factor is out of range"),
        (lambda: s.exponential(0.1, 0.5, 0), "steps is out of range"),
        (lambda: s.linear(ANY, 0.0, 5), "initial is no number"),
        (lambda: s.linear(0.1, 0.0, -5), "steps is out of range"),
        (lambda: s.polynomial(0.1, 0.0, 5, power=0.0), "power is out of range"),
        (lambda: s.cosine(0.1, float("nan")), "steps is out of range"),
        (lambda: s.cosine_restarts(0.1, FRACTION), "steps is out of range"),
        (lambda: s.cosine_restarts(0.1, 2, growth=0), "growth is out of range"),
        (lambda: s.one_cycle(0.1, 10, warmup=1.0), "warmup is out of range"),
        (lambda: s.piecewise([2, 1], [1.0, 2.0, 3.0]), "ascending order"),
        (lambda: s.piecewise([1], [1.0]), "not one of the values more"),
        (lambda: s.piecewise([FRACTION], [1.0, 2.0]), "a boundary is a step"),
        (lambda: s.piecewise([NAN], [1.0, 2.0]), "a boundary is a step"),
        (lambda: s.piecewise(ANY, [1.0, 2.0]), "a boundary is no number"),
        (lambda: s.piecewise(NUMBER, [1.0, 2.0]), "boundaries are not a list"),
        (lambda: s.piecewise([5], NUMBER), "values are not a list"),
        (lambda: s.join(NUMBER, [5]), "schedules are not a list"),
        (lambda: s.constant(10**400), "value is too large"),
        (lambda: s.join([0.1, 0.2], []), "not one of the schedules more"),
        (lambda: s.join([ANY], []), "schedule is no number"),
        (lambda: s.warmup(0.1, 0), "steps is out of range"),
        (lambda: s.inverse_sqrt(0.1, -1), "warmup is out of range"),
    ],
)
def test_arguments_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(sad.StaticadError, match=message):
        make()
