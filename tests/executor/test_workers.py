"""Threads that share a region: all tasks are done, or the first error is raised."""

import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from staticad_executor.devices.numpy.workers import together


def test_all_tasks_are_done_in_several_threads() -> None:
    meeting = threading.Barrier(3)
    done: list[int] = []

    def task(k: int) -> None:
        # Nobody passes before all three are here, so that no thread did two of them.
        meeting.wait(timeout=60)
        done.append(k)

    for _ in range(20):
        together([partial(task, k) for k in range(3)])
        assert sorted(done) == [0, 1, 2]
        done.clear()


def test_many_callers_share_the_threads() -> None:
    counts = [0] * 8

    def caller(k: int) -> None:
        def task() -> None:
            with lock:
                counts[k] += 1

        lock = threading.Lock()
        for _ in range(200):
            together([task, task])

    threads = [threading.Thread(target=caller, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [400] * 8


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_an_error_is_raised_when_nobody_is_at_work_any_more(failing: int) -> None:
    begun, ended = [0], [0]
    lock = threading.Lock()

    def task(k: int) -> None:
        with lock:
            begun[0] += 1
        time.sleep(0.01 if k != failing else 0)
        with lock:
            ended[0] += 1
        if k == failing:
            raise ValueError(str(k))

    for _ in range(5):
        with pytest.raises(ValueError, match=str(failing)):
            together([partial(task, k) for k in range(3)])
        assert begun == ended


def test_interrupts_leave_no_lock_and_no_thread_behind(alarm: Callable[[float], None]) -> None:
    at_work = [0, 0]

    def task(k: int) -> None:
        try:
            at_work[k] = 1
            time.sleep(0.0002)
        finally:
            at_work[k] = 0

    tasks: list[Callable[[], None]] = [partial(task, k) for k in range(2)]
    for k in range(300):
        try:
            alarm(0.0002 + 0.000007 * k)
            while True:
                together(tasks)
        except KeyboardInterrupt:
            assert at_work[1] == 0
    at_work[:] = [0, 0]
    together(tasks)
    assert at_work == [0, 0]
