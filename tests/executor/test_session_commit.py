"""Commit is real: whatever stops a run, and wherever, all of it counts or nothing."""

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import staticad as sad
import staticad_executor
from staticad_executor.plan import Plan

from .inside import local

F32 = np.float32
HOME = str(Path(staticad_executor.__file__).parent)


class Trainer:
    """A small network with dropout, trained by Adam; two weights, moments and a step counter."""

    def __init__(self, **options: Any) -> None:
        with sad.Graph(seed=7) as graph:
            x = sad.placeholder("float32", ("n", 4), name="x")
            w = sad.variable(sad.random.normal((4, 3)), name="w")
            b = sad.variable(sad.zeros(3), name="b")
            hidden = sad.nn.dropout(sad.tanh(x @ w + b), 0.5)
            loss = sad.sum(hidden**2)
            self.train = sad.optimizers.Adam(0.1).minimize(loss)
            self.loss = loss
        self.session = sad.Session(graph, **options)
        self.call = self.session.callable([loss, self.train], [x])
        self.data = np.arange(8, dtype=F32).reshape(2, 4)

    def step(self) -> Any:
        return self.call(self.data)[0]

    def state(self) -> dict[str, bytes]:
        """Everything a run may change, bit for bit."""
        held = self.session.snapshot()
        state = {name: array.tobytes() for name, array in held.arrays.items()}
        return {**state, "counters": bytes(str((held.run_number, held.step)), "ascii")}


class StopError(Exception):
    """Raised by a test in the midst of a run."""


def stopping_before(number: int, error: type[BaseException]) -> Callable[[int, str], None]:
    def observe(step: int, phase: str) -> None:
        if (step, phase) == (number, "before"):
            raise error

    return observe


def watched(monkeypatch: pytest.MonkeyPatch, observe: Callable[[int, str], None]) -> None:
    """Let every plan run under the eyes of `observe`."""
    execute = Plan.execute

    def watched_execute(self: Plan, inputs: Any, outputs: Any, cancel: Any, _: Any) -> None:
        execute(self, inputs, outputs, cancel, observe)

    monkeypatch.setattr(Plan, "execute", watched_execute)


def count_steps(trainer: Trainer) -> int:
    with pytest.MonkeyPatch.context() as patch:
        steps: list[int] = []
        watched(patch, lambda step, phase: steps.append(step))
        trainer.step()
    return max(steps) + 1


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt, MemoryError])
def test_an_error_before_any_step_changes_nothing(error: type[BaseException]) -> None:
    trainer, twin = Trainer(), Trainer()
    trainer.step()
    twin.step()
    steps = count_steps(trainer)
    count_steps(twin)
    assert steps > 5
    before = trainer.state()
    for number in range(steps):
        with pytest.MonkeyPatch.context() as patch:
            watched(patch, stopping_before(number, error))
            expected = sad.ExecutionError if error is MemoryError else error
            with pytest.raises(expected):
                trainer.step()
        assert trainer.state() == before
    # The session goes on as if nothing had happened, dropout included.
    assert trainer.step() == twin.step()
    assert trainer.state() == twin.state()


class Tracer:
    """Raises at the n-th line that runs in the executor's own files, from `_execute` on."""

    def __init__(self, n: int, error: type[BaseException]) -> None:
        self.left = n
        self.error = error
        self.fired = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "call" and frame.f_code.co_filename.startswith(HOME):
            return self.line
        return None

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line" and not self.fired:
            if self.left == 0:
                self.fired = True
                raise self.error
            self.left -= 1
        return self.line


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
def test_an_error_at_any_line_leaves_all_or_nothing(error: type[BaseException]) -> None:
    trainer, twin = Trainer(), Trainer()
    for each in (trainer, twin):
        each.step()
        each.step()
    before, n, committed = trainer.state(), 0, 0
    twin.step()
    after = twin.state()
    while True:
        tracer = Tracer(n, error)
        previous = sys.gettrace()
        sys.settrace(tracer)
        try:
            trainer.step()
        except (error, sad.ExecutionError):
            pass
        finally:
            sys.settrace(previous)
        if not tracer.fired:
            break
        # One assignment publishes everything, so no line leaves half of it.
        state = trainer.state()
        assert state in (before, after)
        if state == after:
            committed += 1
            trainer, twin = Trainer(), Trainer()
            for each in (trainer, twin):
                each.step()
                each.step()
        n += 1
    assert n > 50
    # What is left after the commit is to let go of locks and return.
    assert committed <= 5
    assert trainer.state() == after


def test_a_failing_node_changes_nothing_and_names_its_line() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        v, w = (sad.variable(F32(1), name=name) for name in "vw")
        grown = v.assign_add(1)
        checked = sad.assert_(sad.all(x > 0), "x is negative", sad.sum(x))  # noqa: PT009
        both = sad.group(grown, w.assign(checked))
    session = sad.Session(graph)
    session.run(both, {x: [1]})
    with pytest.raises(sad.ExecutionError, match="x is negative") as info:
        session.run(both, {x: [1, -1]})
    assert "test_session_commit.py" in str(info.value)
    assert dict(session.variables) == {"v": 2, "w": 1}
    assert session.snapshot().step == 1


def test_a_result_that_cannot_be_built_changes_nothing() -> None:
    class Picky(tuple[Any, ...]):
        _fields = ("only",)

        def __new__(cls, *items: Any) -> "Picky":
            raise StopError

    with sad.Graph() as graph:
        v = sad.variable(F32(1), name="v")
        grown = v.assign_add(1)
    session = sad.Session(graph)
    fetch = tuple.__new__(Picky, [grown])
    with pytest.raises(StopError):
        session.run(fetch)
    assert session.variables["v"] == 1


def test_step_pins_the_stream_and_the_counter_stays() -> None:
    with sad.Graph(seed=1) as graph:
        x = sad.random.uniform((100,))
        v = sad.variable(sad.zeros(100), name="v")
        write = v.assign(x)
    session = sad.Session(graph)
    first, second = session.run(x), session.run(x)
    assert (first != second).any()
    np.testing.assert_array_equal(session.run(x, step=0), first)
    np.testing.assert_array_equal(session.run(write, step=1), second)
    assert session.snapshot().run_number == 2
    session.run(v)
    assert session.snapshot().run_number == 2
    with pytest.raises(sad.PlanError, match="number of a run"):
        session.run(x, step=-1)


def test_J11_unrelated_nodes_do_not_change_random_numbers() -> None:
    draws = []
    for extra in (False, True):
        with sad.Graph(seed=5) as graph:
            if extra:
                sad.constant(np.ones(3, F32)) * 2.0
            x = sad.random.normal((50,), name="noise")
            if extra:
                sad.random.normal((50,), name="other")
        session = sad.Session(graph)
        draws.append([session.run(x) for _ in range(3)])
        session.initialize()
        draws.append([session.run(x) for _ in range(3)])
    for other in draws[1:]:
        np.testing.assert_array_equal(draws[0], other)


def test_ctrl_c_leaves_the_session_usable(alarm: Callable[[float], None]) -> None:
    trainer, twin = Trainer(), Trainer()
    done = 0
    for pause in (0.001, 0.003, 0.007, 0.02):
        try:
            alarm(pause)
            while True:
                trainer.step()
        except KeyboardInterrupt:
            done = trainer.session.snapshot().step
    for _ in range(done):
        twin.step()
    assert trainer.state() == twin.state()


def test_a_run_waiting_for_another_can_be_interrupted(alarm: Callable[[float], None]) -> None:
    trainer = Trainer()
    trainer.step()
    before = trainer.state()
    writer = local(trainer.session).store.writer
    release = threading.Timer(0.5, writer.release)
    writer.acquire()
    release.start()
    start = time.monotonic()

    def wait_and_be_interrupted() -> None:
        alarm(0.05)
        trainer.step()

    with pytest.raises(KeyboardInterrupt):
        wait_and_be_interrupted()
    assert time.monotonic() - start < 0.45
    release.join()
    assert trainer.state() == before


def test_the_interpreter_commits_the_same_way() -> None:
    trainer, twin = Trainer(check_numerics=True), Trainer()
    for _ in range(5):
        np.testing.assert_allclose(trainer.step(), twin.step(), rtol=1e-6)
    assert trainer.session.snapshot().step == 5
