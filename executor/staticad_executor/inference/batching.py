"""Requests that come together run together: their rows are one batch.

Only for models whose inputs and outputs all begin with the same symbolic size.  That the rows
do not look at each other is what whoever asks for batches says.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from staticad_schema.errors import CancelledError, LimitError, PlanError

from ..serving.limits import TICK, Limits, Run
from .model import Arrays, Model

Key = tuple[tuple[int, ...], ...]


class _Request(NamedTuple):
    """A request that waits: what it is fed, its rows, what its batch must have in common."""

    inputs: Arrays
    rows: int
    key: Key
    run: Run
    began: int
    answer: Future[Arrays]


class Batcher:
    """Gathers the requests of one model."""

    def __init__(self, model: Model, most: int, delay: float, limits: Limits) -> None:
        """most: rows of a batch.  delay: seconds that the first request of one waits at most."""
        self._model = model
        self._most = most
        self._delay = delay
        self._limits = limits
        self._waiting: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._stopped = False
        threading.Thread(target=self._serve, name=f"batches of {model.name}", daemon=True).start()

    def run(self, inputs: Arrays, run: Run) -> Arrays:
        """The outputs for the rows of one request, whatever batch they were in."""
        counts = {array.shape[0] for array in inputs.values()}
        if len(counts) != 1:
            raise PlanError(
                "the inputs have different numbers of rows",
                asked=f"model {self._model.name!r}",
                expected="one number",
                found=", ".join(map(str, sorted(counts))),
            )
        (rows,) = counts
        if not 0 < rows < self._most:
            return self._model.run(inputs, run)
        key = tuple(inputs[name].shape[1:] for name in self._model.inputs)
        request = _Request(inputs, rows, key, run, time.perf_counter_ns(), Future())
        with self._changed:
            if self._stopped or len(self._waiting) >= self._limits.queue:
                raise LimitError(
                    "too many requests wait",
                    asked=f"model {self._model.name!r}",
                    expected=f"at most {self._limits.queue}",
                    found="one more",
                    hint="try again later",
                )
            self._waiting.append(request)
            self._changed.notify_all()
        while True:
            try:
                return request.answer.result(TICK)
            except TimeoutError:
                if run.cancel.is_set():
                    # Its rows may be in a batch already; nobody waits for them.
                    raise CancelledError("the request was cancelled", asked="infer") from None

    def stop(self) -> None:
        """Answer what waits, and let nothing in."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _serve(self) -> None:
        while batch := self._gathered():
            self._answer(batch)

    def _gathered(self) -> list[_Request]:
        """The next batch: the first that waits, and those like it; empty at the end."""
        with self._changed:
            while not self._waiting:
                if self._stopped:
                    return []
                self._changed.wait()
            first = self._waiting[0]
            until = time.monotonic() + self._delay
            while not self._stopped and self._rows_like(first) < self._most:
                left = until - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            batch, rows, others = list[_Request](), 0, deque[_Request]()
            for request in self._waiting:
                if request.key == first.key and rows + request.rows <= self._most:
                    batch.append(request)
                    rows += request.rows
                else:
                    others.append(request)
            self._waiting = others
            return [request for request in batch if not request.run.cancel.is_set()] or batch[:1]

    def _rows_like(self, first: _Request) -> int:
        return sum(request.rows for request in self._waiting if request.key == first.key)

    def _answer(self, batch: list[_Request]) -> None:
        try:
            inputs = {
                name: np.concatenate([request.inputs[name] for request in batch])
                if len(batch) > 1
                else batch[0].inputs[name]
                for name in self._model.inputs
            }
            now = time.perf_counter_ns()
            queued = sum(now - request.began for request in batch)
            run = batch[0].run if len(batch) == 1 else Run(self._limits.run_seconds)
            outputs = self._model.run(inputs, run, len(batch), queued)
            at = 0
            for request in batch:
                rows = slice(at, at + request.rows)
                at += request.rows
                request.answer.set_result({name: array[rows] for name, array in outputs.items()})
        except BaseException as error:
            for request in batch:
                if not request.answer.done():
                    request.answer.set_exception(error)
