"""Where the time of runs goes: a trace for Chrome or Perfetto, and tables for readers."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from staticad_schema.errors import shown
from staticad_schema.files import replacing

from .plan import Observe, Plan, Step


class Row(NamedTuple):
    """A line of a table: what, how often, and how many seconds in all."""

    name: str
    calls: int
    seconds: float


class Profile:
    """The measured steps of one or more runs.

    result: what the last run returned.  seconds: of all runs together, around their plans.
    str() is both tables.
    """

    def __init__(self) -> None:
        self.result: Any = None
        self.seconds = 0.0
        self._events: list[tuple[Plan, int, float, float]] = []
        self._origin = time.perf_counter()

    def watch(self, plan: Plan) -> Observe:
        """What a run of the plan calls before and after each step."""
        started = 0.0

        def observe(number: int, phase: str) -> None:
            nonlocal started
            now = time.perf_counter()
            if phase == "before":
                started = now
            else:
                self._events.append((plan, number, started, now))

        return observe

    def by_op(self) -> list[Row]:
        """The steps by the ops in them, the slowest first."""
        return self._rows(lambda plan, step: [plan.step_name(step)])

    def by_line(self) -> list[Row]:
        """The nodes by the line of the user's that made them, the slowest first.

        A step's time is shared evenly by its nodes; gradient nodes count for their forward
        line.
        """
        return self._rows(_lines)

    def trace(self) -> dict[str, Any]:
        """The events in Chrome's trace format; times are microseconds."""
        process, thread = os.getpid(), threading.get_native_id()
        events = []
        for plan, number, start, stop in self._events:
            step = plan.steps[number]
            events.append(
                {
                    "name": plan.step_name(step),
                    "cat": step.kind,
                    "ph": "X",
                    "ts": (start - self._origin) * 1e6,
                    "dur": (stop - start) * 1e6,
                    "pid": process,
                    "tid": thread,
                    "args": {
                        "step": number,
                        "device": step.device,
                        "algorithm": step.algorithm,
                        "nodes": [plan.node_name(i) for i in step.nodes],
                        "lines": sorted(set(_lines(plan, step))),
                        "reads": list(step.reads),
                        "writes": list(step.writes),
                        "live_bytes": step.live_bytes,
                    },
                }
            )
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as JSON, for chrome://tracing or ui.perfetto.dev.  Raises OSError."""
        with replacing(Path(path)) as file:
            file.write(json.dumps(self.trace()).encode())

    def __str__(self) -> str:
        measured = sum(stop - start for _, _, start, stop in self._events)
        head = f"{self.seconds * 1e3:.3f} ms, of which {measured * 1e3:.3f} ms in steps"
        return "\n".join([head, *_table("by op", self.by_op()), *_table("by line", self.by_line())])

    def _rows(self, names: Callable[[Plan, Step], list[str]]) -> list[Row]:
        totals: dict[str, tuple[int, float]] = {}
        for plan, number, start, stop in self._events:
            shared = names(plan, plan.steps[number])
            for name in shared:
                calls, seconds = totals.get(name, (0, 0.0))
                totals[name] = calls + 1, seconds + (stop - start) / len(shared)
        rows = [Row(name, calls, seconds) for name, (calls, seconds) in totals.items()]
        return sorted(rows, key=lambda row: (-row.seconds, row.name))


def _lines(plan: Plan, step: Step) -> list[str]:
    """The user's line of each node of a step."""
    lines = []
    for index in step.nodes:
        node = plan.graph.nodes[index]
        site = plan.graph.site(node.forward_site) or plan.graph.site(node.site)
        lines.append(f"{shown(site.file)}:{site.line}" if site is not None else "unknown line")
    return lines or ["unknown line"]


def _table(title: str, rows: Iterable[Row]) -> list[str]:
    lines = [f"{title}:", f"{'ms':>12} {'calls':>8}  what"]
    lines += [f"{row.seconds * 1e3:>12.3f} {row.calls:>8}  {row.name}" for row in rows]
    return lines
