"""Counts and times of a model's requests; whole nanoseconds, as the protocol has them."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass
class Duration:
    """How often, and how long in all."""

    count: int = 0
    ns: int = 0

    def add(self, ns: int, count: int = 1) -> None:
        """Some more."""
        self.count += count
        self.ns += ns


@dataclass
class Statistics:
    """Of one model.

    rows: that were inferred.  runs: of the graph.  by_batch: the time of runs by their rows.
    """

    success: Duration = field(default_factory=Duration)
    fail: Duration = field(default_factory=Duration)
    queue: Duration = field(default_factory=Duration)
    infer: Duration = field(default_factory=Duration)
    rows: int = 0
    runs: int = 0
    last_ms: int = 0
    by_batch: dict[int, Duration] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def ran(self, rows: int, requests: int, queued_ns: int, ns: int) -> None:
        """The graph has run for some requests, of so many rows together."""
        with self.lock:
            self.runs += 1
            self.rows += rows
            self.queue.add(queued_ns, requests)
            self.infer.add(ns * requests, requests)
            self.by_batch.setdefault(rows, Duration()).add(ns)
            self.last_ms = time.time_ns() // 1_000_000

    def answered(self, began_ns: int, well: bool) -> None:
        """A request has been answered."""
        with self.lock:
            (self.success if well else self.fail).add(time.perf_counter_ns() - began_ns)
