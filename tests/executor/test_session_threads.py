"""One session, many threads: writers follow each other, readers see whole commits."""

import io
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .at_once import in_threads

F32 = np.float32
THREADS = 8


@pytest.fixture(autouse=True)
def interleaved() -> Iterator[None]:
    """Threads are switched after every few bytecodes: a run here is shorter than a turn."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def test_readers_and_writers_give_what_serial_runs_give() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        v = sad.variable(np.zeros(1000, F32), name="v")
        w = sad.variable(np.zeros((10, 10), F32), name="w")
        train = sad.group(v.assign_add(sad.sum(x)), w.assign_sub(sad.sum(x)))
        # Zero in every commit, whenever it is read.
        balance = sad.sum(v) / 1000 + sad.sum(w) / 100
        forward = x * 2 + v[0]
    session = sad.Session(graph)
    step = session.callable(train, [x])
    runs = 60

    def work(i: int) -> None:
        data = np.full(1 + i, 1 / (1 + i), F32)
        for _ in range(runs):
            if i % 2:
                step(data)
            else:
                zero, y = session.run([balance, forward], {x: data})
                assert abs(zero) < 1e-3
                start = y[0] - 2 * data[0]
                assert abs(start - round(float(start))) < 1e-2
                y[...] = np.nan

    in_threads(THREADS, work)
    assert session.snapshot().step == runs * THREADS // 2
    serial = sad.Session(graph)
    for i in range(1, THREADS, 2):
        for _ in range(runs):
            serial.run(train, {x: np.full(1 + i, 1 / (1 + i), F32)})
    np.testing.assert_allclose(session.variables["v"], serial.variables["v"], rtol=1e-5)


def test_integer_increments_from_many_threads_are_all_there() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.zeros(4, np.int64), name="v")
        grown = v.assign_add(1)
    session = sad.Session(graph)
    seen: list[list[int]] = [[] for _ in range(THREADS)]

    def work(i: int) -> None:
        call = session.callable(grown)
        for _ in range(50):
            value = call()
            assert len(set(value.tolist())) == 1
            seen[i].append(int(value[0]))

    in_threads(THREADS, work)
    assert sorted(value for mine in seen for value in mine) == list(range(1, 50 * THREADS + 1))
    assert all(mine == sorted(mine) for mine in seen)


class SlowOutput(io.StringIO):
    """Where other threads get their turn in the middle of a run that prints."""

    def write(self, text: str) -> int:
        time.sleep(0.002)
        return super().write(text)


def test_runs_that_write_or_draw_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", SlowOutput())
    with sad.Graph(seed=0) as graph:
        v = sad.variable(0, name="v")
        grown = v.assign_add(sad.print_(sad.constant(1), "one"))
        drawn = sad.print_(sad.random.uniform((2,)), "drawn")
    session = sad.Session(graph)
    runs = 5
    numbers: list[tuple[float, ...]] = []

    def work(i: int) -> None:
        for _ in range(runs):
            if i % 2:
                session.run(grown)
            else:
                numbers.append(tuple(session.run(drawn).tolist()))

    in_threads(THREADS, work)
    assert int(session.variables["v"]) == runs * THREADS // 2
    # No two runs drew the same.
    assert len(set(numbers)) == session.snapshot().run_number == runs * THREADS // 2


def test_first_runs_in_many_threads_initialise_once() -> None:
    with sad.Graph(seed=3) as graph:
        v = sad.variable(sad.arange(5000, dtype="float32"), name="v")
        y = sad.sum(v)
    session = sad.Session(graph)
    results: list[Any] = [None] * THREADS

    def work(i: int) -> None:
        results[i] = session.run([v, y])

    in_threads(THREADS, work)
    for value, total in results:
        np.testing.assert_array_equal(value, np.arange(5000, dtype=F32))
        assert total == results[0][1]


def test_the_graph_may_grow_while_it_runs() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones(10, F32), name="v")
        y = sad.sum(v)
    session = sad.Session(graph)

    def work(i: int) -> None:
        if i:
            for _ in range(100):
                assert session.run(y) == 10
        else:
            with graph:
                z = y
                for _ in range(100):
                    z = z + 1
            assert session.run(z) == 110

    in_threads(4, work)


def test_cancel_stops_what_runs_and_nothing_else() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones((64, 64), F32), name="v")
        x = v * 1.0
        for _ in range(3000):
            x = sad.matmul(x, v) / 64
        long = v.assign(x)
        short = v.assign_add(1)
    session = sad.Session(graph)
    call = session.callable(long)
    started = threading.Event()
    caught: list[BaseException] = []

    def work() -> None:
        started.set()
        try:
            for _ in range(100):
                call()
        except sad.CancelledError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive():
        session.cancel()
        thread.join(0.01)
    assert len(caught) == 1
    step = session.snapshot().step
    assert session.run(short).shape == (64, 64)
    assert session.snapshot().step == step + 1


def test_close_cancels() -> None:
    with sad.Graph() as graph:
        v = sad.variable(np.ones((64, 64), F32), name="v")
        x = v * 1.0
        for _ in range(3000):
            x = sad.matmul(x, v) / 64
    session = sad.Session(graph)
    call = session.callable(x)
    started = threading.Event()

    def work(i: int) -> None:
        if i:
            started.wait()
            session.close()
            return
        started.set()
        with pytest.raises(sad.PlanError, match="closed"):
            run_until_closed()

    def run_until_closed() -> None:
        while True:
            try:
                call()
            except sad.CancelledError:
                continue

    in_threads(2, work)
