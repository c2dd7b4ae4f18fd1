"""Each optimizer against its formulas in plain NumPy, and in the executor's process."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import staticad as sad
from models.separate_process import staticad_executor
from staticad.optimizers import (
    LAMB,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    Momentum,
    NAdam,
    Nesterov,
    Optimizer,
    RMSProp,
)
from tests.tolerance import units

Array = np.ndarray[Any, Any]
# What a type checker would refuse is a mistake all the same.
ANY: Any = "?"
START = np.array([1.0, -2.0, 3.0, 0.25])
STEPS = 5
# A rule is sent values and their gradients, and yields what is subtracted from the values.
Steps = Generator[Any, Any, None]


def gradient(p: Array) -> Array:
    """That of sum(p**4) / 4 + p[0] * p[1]."""
    g: Array = p**3
    g[:2] += p[1::-1]
    return g


def loss_of(p: sad.Tensor) -> sad.Tensor:
    return sad.sum(p**4) / 4 + p[0] * p[1]


def sgd(momentum: float = 0.0, nesterov: bool = False, decay: float = 0.0) -> Steps:
    v: Any = 0.0
    change: Any = None
    while True:
        p, g = yield change
        g = g + decay * p
        v = momentum * v + g
        change = 0.01 * (g + momentum * v if nesterov else v)


def adam(b1: float = 0.9, b2: float = 0.999, ahead: bool = False) -> Steps:
    m: Any = 0.0
    v: Any = 0.0
    t: Any = 0
    direction: Any = None
    while True:
        _, g = yield direction
        t += 1
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g * g
        first = m / (1 - b1**t)
        if ahead:
            first = b1 * m / (1 - b1 ** (t + 1)) + (1 - b1) * g / (1 - b1**t)
        direction = first / (np.sqrt(v / (1 - b2**t)) + 1e-8)


def scaled_adam(rate: float, decay: float = 0.0, ahead: bool = False) -> Steps:
    rule = adam(ahead=ahead)
    change: Any = None
    next(rule)
    while True:
        p, g = yield change
        change = rate * (rule.send((p, g)) + decay * p)


def lamb(decay: float) -> Steps:
    rule: Any = adam()
    change: Any = None
    next(rule)
    while True:
        p, g = yield change
        r = rule.send((p, g)) + decay * p
        change = 0.02 * np.linalg.norm(p) / np.linalg.norm(r) * r


def adamax() -> Steps:
    m: Any = 0.0
    u: Any = 0.0
    t: Any = 0
    change: Any = None
    while True:
        _, g = yield change
        t += 1
        m = 0.9 * m + 0.1 * g
        u = np.maximum(0.999 * u, np.abs(g) + 1e-8)
        change = 0.05 / (1 - 0.9**t) * m / u


def rmsprop(momentum: float = 0.0, centered: bool = False) -> Steps:
    s: Any = 0.0
    mean: Any = 0.0
    v: Any = 0.0
    change: Any = None
    while True:
        _, g = yield change
        s = 0.9 * s + 0.1 * g * g
        mean = 0.9 * mean + 0.1 * g
        spread = s - mean * mean if centered else s
        v = momentum * v + g / (np.sqrt(spread) + 1e-8)
        change = 0.03 * v


def adagrad(initial: float) -> Steps:
    s: Any = initial
    change: Any = None
    while True:
        _, g = yield change
        s = s + g * g
        change = 0.1 * g / (np.sqrt(s) + 1e-10)


def adadelta() -> Steps:
    s: Any = 0.0
    u: Any = 0.0
    change: Any = None
    while True:
        _, g = yield change
        s = 0.9 * s + 0.1 * g * g
        d = np.sqrt(u + 1e-6) / np.sqrt(s + 1e-6) * g
        u = 0.9 * u + 0.1 * d * d
        change = 1.0 * d


def lion(decay: float) -> Steps:
    m: Any = 0.0
    change: Any = None
    while True:
        p, g = yield change
        change = 0.02 * (np.sign(0.9 * m + 0.1 * g) + decay * p)
        m = 0.99 * m + 0.01 * g


RULES: dict[str, tuple[Callable[[], Optimizer], Callable[[], Steps]]] = {
    "SGD": (lambda: SGD(0.01), sgd),
    "SGD, weight decay": (lambda: SGD(0.01, weight_decay=0.3), lambda: sgd(decay=0.3)),
    "momentum": (lambda: Momentum(0.01, 0.9), lambda: sgd(0.9)),
    "momentum, weight decay": (
        lambda: Momentum(0.01, 0.9, weight_decay=0.3),
        lambda: sgd(0.9, decay=0.3),
    ),
    "momentum, nesterov": (lambda: Momentum(0.01, 0.9, nesterov=True), lambda: sgd(0.9, True)),
    "Nesterov": (lambda: Nesterov(0.01, 0.8), lambda: sgd(0.8, True)),
    "Adam": (lambda: Adam(0.05), lambda: scaled_adam(0.05)),
    "AdamW": (lambda: AdamW(0.05, weight_decay=0.2), lambda: scaled_adam(0.05, 0.2)),
    "AdamW without decay": (lambda: AdamW(0.05, weight_decay=0), lambda: scaled_adam(0.05)),
    "NAdam": (lambda: NAdam(0.05), lambda: scaled_adam(0.05, ahead=True)),
    "Adamax": (lambda: Adamax(0.05), adamax),
    "RMSProp": (lambda: RMSProp(0.03, 0.9), rmsprop),
    "RMSProp, momentum": (lambda: RMSProp(0.03, 0.9, 0.7), lambda: rmsprop(0.7)),
    "RMSProp, centered": (
        lambda: RMSProp(0.03, 0.9, centered=True),
        lambda: rmsprop(centered=True),
    ),
    "RMSProp, all": (
        lambda: RMSProp(0.03, 0.9, 0.7, centered=True),
        lambda: rmsprop(0.7, True),
    ),
    "Adagrad": (lambda: Adagrad(0.1), lambda: adagrad(0.0)),
    "Adagrad, initial": (lambda: Adagrad(0.1, 0.5), lambda: adagrad(0.5)),
    "Adadelta": (Adadelta, adadelta),
    "Lion": (lambda: Lion(0.02, weight_decay=0.1), lambda: lion(0.1)),
    "LAMB": (lambda: LAMB(0.02, epsilon=1e-8, weight_decay=0.1), lambda: lamb(0.1)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RULES)
def test_it_follows_its_formulas(name: str, dtype: str) -> None:
    make, rule = RULES[name]
    with sad.Graph() as graph:
        variable = sad.variable(START.astype(dtype), name="p")
        train = make().minimize(loss_of(variable))
    steps, p = rule(), START.copy()
    next(steps)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    with sad.Session(graph) as session:
        for _ in range(STEPS):
            session.run(train)
            p = p - steps.send((p, gradient(p)))
            found = session.variables["p"]
            assert found.dtype == dtype
            np.testing.assert_allclose(found, p, rtol=tolerance)
    assert all(not v.trainable for n, v in graph.variables.items() if n != "p")


def test_all_of_them_train_in_the_executor_as_in_the_session(tmp_path: Path) -> None:
    with sad.Graph(seed=0) as graph:
        shift = sad.placeholder("float32", (), name="shift")
        effects, loss = [], sad.constant(0.0)
        for k, (make, _) in enumerate(RULES.values()):
            p = sad.variable(START.astype("float32"), name=f"p{k}")
            own = loss_of(p + shift)
            loss = loss + own
            effects.append(make().minimize(own, [p]))
        train = sad.group(*effects, name="train")
    graph.signature("train", {"shift": shift}, {"loss": loss}, [train])
    graph.save(tmp_path / "all.sad")
    shifts = np.linspace(-0.2, 0.2, STEPS, dtype=np.float32)
    np.save(tmp_path / "shifts.npy", shifts)
    staticad_executor(
        "run", tmp_path / "all.sad", "--signature", "train", "--steps", str(STEPS),
        "--feed", f"shift={tmp_path / 'shifts.npy'}", "--output", tmp_path / "losses.npz",
        "--save-checkpoint", tmp_path / "there.safetensors",
    )  # fmt: skip
    with sad.Session(graph) as session:
        here = [session.run([loss, train], {shift: value})[0] for value in shifts]
        session.save(tmp_path / "here.safetensors")
    there = np.load(tmp_path / "losses.npz")["loss"]
    assert there.tobytes() == np.stack(here).tobytes()
    files = [(tmp_path / f"{side}.safetensors").read_bytes() for side in ("here", "there")]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Nesterov(0.05),
        lambda: AdamW(0.1, weight_decay=0.0),
        lambda: NAdam(0.1),
        lambda: Adamax(0.1),
        lambda: RMSProp(0.01),
        lambda: RMSProp(0.01, centered=True),
        lambda: Adagrad(0.5),
        lambda: Lion(sad.optimizers.schedules.linear(0.05, 0.0, 500)),
        lambda: LAMB(sad.optimizers.schedules.linear(0.05, 0.0, 500)),
    ],
)
def test_complex_variables_descend(make: Callable[[], Optimizer]) -> None:
    goal = np.array([1 + 2j, -3j, 0.5])
    with sad.Graph() as graph:
        z = sad.variable(np.ones(3, np.complex128), name="z")
        train = make().minimize(sad.sum(sad.abs(z - goal) ** 2))
    with sad.Session(graph) as session:
        for _ in range(500):
            session.run(train)
        np.testing.assert_allclose(session.variables["z"], goal, atol=0.06)


@pytest.mark.parametrize("make", [AdamW, LAMB, Lion])
def test_masks_say_which_variables_decay(make: Any) -> None:
    found = []
    for by_list in (True, False):
        with sad.Graph() as graph:
            w, b = sad.variable(np.ones((2, 2)), name="w"), sad.variable(np.ones(2), name="b")
            mask = [w] if by_list else lambda v: v.ndim == 2
            optimizer = make(0.1, weight_decay=0.5, mask=mask)
            zero = sad.constant(np.zeros(()))
            train = optimizer.minimize(zero * sad.sum(w) + zero * sad.sum(b))
        with sad.Session(graph) as session:
            session.run(train)
            found.append((session.variables["w"], session.variables["b"]))
    for w_now, b_now in found:
        assert (w_now < 1).all()
        assert (b_now == 1).all()
    assert found[0][0].tolist() == found[1][0].tolist()


def test_the_step_of_LAMB_does_not_overflow_in_half_precision() -> None:
    with sad.Graph() as graph:
        p = sad.variable(np.full(4, 300.0, np.float16), name="p")
        train = LAMB(0.1, beta2=0.99, epsilon=1e-3).minimize(sad.sum(p.astype("float32")))
    with sad.Session(graph) as session:
        session.run(train)
        # A step of 0.1 of its norm of 600, which has no square in float16.
        np.testing.assert_allclose(session.variables["p"], 270.0, rtol=units("float16", 2))


def test_LAMB_moves_variables_that_begin_with_zero() -> None:
    with sad.Graph() as graph:
        p = sad.variable(np.zeros(2), name="p")
        train = LAMB(0.1).minimize(sad.sum((p - 1) ** 2))
    with sad.Session(graph) as session:
        session.run(train)
        np.testing.assert_allclose(session.variables["p"], 0.1, rtol=1e-5)


def test_centered_RMSProp_stays_finite_for_gradients_that_do_not_change() -> None:
    with sad.Graph() as graph:
        p = sad.variable(np.zeros(100, np.float32), name="p")
        slope = sad.constant(np.linspace(0.1, 1000.0, 100, dtype=np.float32))
        train = RMSProp(1e-4, 0.5, centered=True).minimize(sad.sum(p * slope))
    with sad.Session(graph) as session:
        for _ in range(60):
            session.run(train)
        assert np.isfinite(session.variables["p"]).all()
        assert (session.variables["RMSProp/variance/p"] >= 0).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SGD(0.1, weight_decay=-1.0), "weight_decay is out of range"),
        (lambda: SGD(0.1, 1.0), "momentum is out of range"),
        (lambda: Nesterov(0.1, 0.0), "no momentum to look ahead"),
        (lambda: AdamW(0.1, weight_decay=float("nan")), "weight_decay is out of range"),
        (lambda: AdamW(0.1, mask=ANY), "only variables"),
        (lambda: Adam(0.1, epsilon=-1e-8), "epsilon is out of range"),
        (lambda: RMSProp(0.1, decay=1.5), "decay is out of range"),
        (lambda: Adagrad(0.1, initial=-1.0), "initial is out of range"),
        (lambda: Adadelta(decay=ANY), "decay is no number"),
        (lambda: Lion(ANY), "not a learning rate"),
        (lambda: LAMB(0.1, beta1=-0.1), "beta1 is out of range"),
    ],
)
def test_options_out_of_range_are_refused(make: Any, message: str) -> None:
    with pytest.raises(sad.StaticadError, match=message):
        make()


def test_a_mask_answers_with_a_bool() -> None:
    with sad.Graph():
        w = sad.variable(1.0, name="w")
        optimizer = AdamW(0.1, mask=lambda v: None)  # type: ignore[arg-type]
        with pytest.raises(sad.UsageError, match="a mask says yes or no"):
            optimizer.minimize(w * w)
