"""Threads that share the tiles of a region with the thread that runs the plan.

An interrupt (Ctrl-C) may come between any two instructions of the calling thread.  Whatever
waits for a condition in Python code can then be left with a lock that nobody holds, and every
later run would wait for ever.  So callers touch only what is one step of the interpreter: a
queue and locks in C, and `dict.setdefault`.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import SimpleQueue

import numpy as np

Task = Callable[[], None]
_CALLER, _WORKER = "caller", "worker"


class _Job:
    """A task that a worker does, or the caller if no worker has begun it."""

    __slots__ = ("_by", "_done", "_task", "ended", "failure")

    def __init__(self, task: Task) -> None:
        self._task: Task | None = task
        self._by: dict[str, str] = {}
        self._done = threading.Lock()
        self._done.acquire()
        self.ended = False
        self.failure: BaseException | None = None

    def claim(self, who: str) -> bool:
        """Whether it is `who` that may do the task; asked again, the answer is the same."""
        return self._by.setdefault("by", who) is who

    def do(self) -> None:
        """Do the task; for whoever has claimed it."""
        try:
            assert self._task is not None
            self._task()
        except BaseException as error:
            self.failure = error
        self._task = None
        self.ended = True
        self._done.release()

    def wait(self) -> None:
        """Wait until the task has ended."""
        while not self.ended:
            self._done.acquire()


def together(tasks: Sequence[Task]) -> None:
    """Do all tasks, the first in this thread and the others beside it.

    Returns when none is at work any more, whatever interrupts, because they use the memory of
    a run.  Raises the first thing that went wrong; then tasks may be left out.
    """
    jobs = [_Job(task) for task in tasks[1:]]
    raised: list[BaseException] = []
    try:
        queue = _queue(len(jobs))
        for job in jobs:
            queue.put(job)
        tasks[0]()
    except BaseException as error:
        raised.append(error)
    waiting = True
    while waiting:
        # All of the waiting stands inside the try: an interrupt at any of its jumps is kept
        # until nobody is at work.
        try:
            for job in jobs:
                _finish(job, bool(raised))
                if job.failure is not None:
                    raised.append(job.failure)
                    job.failure = None
            waiting = False
        except BaseException as interrupt:
            raised.append(interrupt)
    if raised:
        try:
            raise raised[0]
        finally:
            # An error knows this frame: let the frame not know the error.
            raised.clear()


def spread_over(threads: int) -> Callable[[Callable[[Iterator[int]], None], int], None]:
    """spread(work, count): let work take numbers from range(count) in so many threads at once,
    each as it comes to the next."""

    def spread(work: Callable[[Iterator[int]], None], count: int) -> None:
        numbers = iter(range(count))
        if min(threads, count) < 2:
            work(numbers)
            return
        together([partial(_quietly, work, numbers)] * min(threads, count))

    return spread


def _quietly(work: Callable[[Iterator[int]], None], numbers: Iterator[int]) -> None:
    """Each thread has an error state of its own."""
    with np.errstate(all="ignore"):
        work(numbers)


def _finish(job: _Job, failed: bool) -> None:
    """Wait for a job that a worker has begun; do it, unless something failed, if none has."""
    while not job.ended:
        if not job.claim(_CALLER):
            job.wait()
        elif failed:
            return
        else:
            job.do()


class _Queue(SimpleQueue[_Job]):
    """Jobs for a number of threads, which start when there is something to do."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = 0
        self.starting = threading.Lock()


_QUEUES: dict[int, _Queue] = {}
if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork: nobody would take what a child puts into these queues.
    os.register_at_fork(after_in_child=_QUEUES.clear)


def _queue(threads: int) -> _Queue:
    """The queue of so many threads, which all plans share."""
    found = _QUEUES.get(threads)
    if found is None:
        found = _QUEUES.setdefault(threads, _Queue())
    if found.threads < threads:
        with found.starting:
            while found.threads < threads:
                found.threads += 1
                _thread.start_new_thread(_serve, (found,))
    return found


def _serve(queue: _Queue) -> None:
    while True:
        job: _Job | None = queue.get()
        assert job is not None
        if job.claim(_WORKER):
            job.do()
        # Do not hold the run's arrays while waiting for the next.
        job = None
