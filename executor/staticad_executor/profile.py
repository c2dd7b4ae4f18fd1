"""Where the time of runs goes: a trace for Chrome or Perfetto, and tables for readers."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from staticad_schema.errors import shown
from staticad_schema.files import replacing
from staticad_schema.types import nbytes

from .machine import Limits, Work, limits
from .plan import Observe, Plan, Step, user_site
from .work import work as work_of

UNKNOWN = "unknown line"


class Row(NamedTuple):
    """A line of a table: what, how often, how many seconds in all, and how much work that was.

    of_limit: the seconds that the machine would take at best, over those taken; below 1, if not
    by chance.
    """

    name: str
    calls: int
    seconds: float
    work: Work
    of_limit: float


class MeasuredStep(NamedTuple):
    """A step of a plan, as it is told of it.

    nodes: their names.  lines: the user's, of each node.  reads, writes: cells by name.
    live_bytes: scratch in use.
    """

    number: int
    name: str
    kind: str
    device: str
    algorithm: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    live_bytes: int
    work: Work


class Event(NamedTuple):
    """A step that ran, from one time to another, in seconds since the profile was begun."""

    step: MeasuredStep
    start: float
    stop: float


class Profile:
    """The measured steps of one or more runs.

    threads: of a kernel.  result: what the last run returned.  seconds: of all runs together,
    around their plans.  str() is both tables.  Work is counted from types: products by their
    operations, special functions by evaluations, bytes by what a step takes from outside and
    leaves there.  The limits are measured when they are first asked for.
    """

    def __init__(
        self, threads: int = 1, events: Iterable[Event] = (), limits: Limits | None = None
    ) -> None:
        """events and limits: of runs elsewhere."""
        self.threads = threads
        self.result: Any = None
        self.seconds = 0.0
        self._told = list(events)
        self._limits = limits
        self._seen: list[tuple[Plan, int, float, float]] = []
        self._origin = time.perf_counter()
        self._steps: dict[Plan, list[MeasuredStep]] = {}

    def watch(self, plan: Plan) -> Observe:
        """What a run of the plan calls before and after each step."""
        started = 0.0

        def observe(number: int, phase: str) -> None:
            nonlocal started
            now = time.perf_counter()
            if phase == "before":
                started = now
            else:
                self._seen.append((plan, number, started, now))

        return observe

    @property
    def events(self) -> list[Event]:
        """What ran, in order."""
        # Told in words only now, so that it takes no time between the steps.
        for plan, number, start, stop in self._seen:
            if plan not in self._steps:
                self._steps[plan] = _measured_steps(plan)
            step = self._steps[plan][number]
            self._told.append(Event(step, start - self._origin, stop - self._origin))
        self._seen.clear()
        return self._told

    def by_op(self) -> list[Row]:
        """The steps by the ops in them, the slowest first."""
        return self._rows(lambda step: [step.name])

    def by_line(self) -> list[Row]:
        """The nodes by the line of the user's that made them, the slowest first.

        A step's time is shared evenly by its nodes; gradient nodes count for their forward
        line.
        """
        return self._rows(lambda step: step.lines or (UNKNOWN,))

    @property
    def limits(self) -> Limits:
        """What the machine can do at best."""
        return self._limits or limits(self.threads)

    def trace(self) -> dict[str, Any]:
        """The events in Chrome's trace format; times are microseconds."""
        process, thread = os.getpid(), threading.get_native_id()
        events = []
        for step, start, stop in self.events:
            events.append(
                {
                    "name": step.name,
                    "cat": step.kind,
                    "ph": "X",
                    "ts": start * 1e6,
                    "dur": (stop - start) * 1e6,
                    "pid": process,
                    "tid": thread,
                    "args": {
                        "step": step.number,
                        "device": step.device,
                        "algorithm": step.algorithm,
                        "nodes": list(step.nodes),
                        "lines": sorted(set(step.lines or (UNKNOWN,))),
                        "reads": list(step.reads),
                        "writes": list(step.writes),
                        "live_bytes": step.live_bytes,
                        "flops": step.work.flops,
                        "traffic_bytes": step.work.traffic,
                        "of_limit": _share(self.limits.bound(step.work), stop - start),
                    },
                }
            )
        return {"traceEvents": events, "displayTimeUnit": "ms"}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as JSON, for chrome://tracing or ui.perfetto.dev.  Raises OSError."""
        with replacing(Path(path)) as file:
            file.write(json.dumps(self.trace()).encode())

    def __str__(self) -> str:
        measured = sum(stop - start for _, start, stop in self.events)
        head = f"{self.seconds * 1e3:.3f} ms, of which {measured * 1e3:.3f} ms in steps"
        tables = [*_table("by op", self.by_op()), *_table("by line", self.by_line())]
        return "\n".join([head, str(self.limits), *tables])

    def _rows(self, names: Callable[[MeasuredStep], Sequence[str]]) -> list[Row]:
        totals: dict[str, tuple[int, float, Work, float]] = {}
        bounds: dict[MeasuredStep, float] = {}
        for step, start, stop in self.events:
            if step not in bounds:
                bounds[step] = self.limits.bound(step.work)
            shared = names(step)
            part = 1 / len(shared)
            own = Work(*[amount * part for amount in step.work])
            for name in shared:
                calls, seconds, all_work, bound = totals.get(name, (0, 0.0, Work(0, 0, 0), 0.0))
                totals[name] = (
                    calls + 1,
                    seconds + (stop - start) * part,
                    all_work.plus(own),
                    bound + bounds[step] * part,
                )
        rows = [
            Row(name, calls, seconds, work, _share(bound, seconds))
            for name, (calls, seconds, work, bound) in totals.items()
        ]
        return sorted(rows, key=lambda row: (-row.seconds, row.name))


def plan_work(plan: Plan) -> list[Work]:
    """The work of each step of a plan; views and what stays within a step move no bytes, and
    values whose sizes only the step finds are not counted."""
    graph = plan.graph
    nodes, types, producers = graph.nodes, graph.types, graph.producers
    step_of = {index: k for k, step in enumerate(plan.steps) for index in step.nodes}
    # What nobody takes is handed out.
    taken: dict[int, set[int]] = {}
    for index, node in enumerate(nodes):
        for value in node.inputs:
            taken.setdefault(value, set()).add(step_of.get(index, -1))
    found = []
    for k, step in enumerate(plan.steps):
        total, moved = Work(0, 0, 0), set[int]()
        for index in step.nodes:
            node = nodes[index]
            operands, outputs = ([types[v] for v in side] for side in (node.inputs, node.outputs))
            if all(t.is_static for t in (*operands, *outputs)):
                total = total.plus(work_of(node.op, operands, outputs))
            moved.update(v for v in node.inputs if step_of.get(producers[v]) != k)
            moved.update(v for v in node.outputs if taken.get(v, {-1}) != {k})
        traffic = sum(nbytes(types[v]) for v in moved if types[v].is_static)
        found.append(total._replace(traffic=traffic))
    return found


def _share(bound: float, seconds: float) -> float:
    return bound / seconds if seconds > 0 else 0.0


def _measured_steps(plan: Plan) -> list[MeasuredStep]:
    return [
        MeasuredStep(
            number, plan.step_name(step), step.kind, step.device, step.algorithm,
            tuple([plan.node_name(i) for i in step.nodes]), tuple(_lines(plan, step)),
            step.reads, step.writes, step.live_bytes, work,
        )
        for number, (step, work) in enumerate(zip(plan.steps, plan_work(plan), strict=True))
    ]  # fmt: skip


def _lines(plan: Plan, step: Step) -> list[str]:
    """The user's line of each node of a step."""
    lines = []
    for index in step.nodes:
        site = user_site(plan.graph, plan.graph.nodes[index])
        lines.append(f"{shown(site.file)}:{site.line}" if site is not None else UNKNOWN)
    return lines


def _table(title: str, rows: Iterable[Row]) -> list[str]:
    lines = [f"{title}:", f"{'ms':>12} {'calls':>8} {'MB':>10} {'GFLOP':>8} {'of limit':>9}  what"]
    lines += [
        f"{row.seconds * 1e3:>12.3f} {row.calls:>8} {row.work.traffic / 1e6:>10.3f}"
        f" {row.work.flops / 1e9:>8.3f} {row.of_limit:>9.1%}  {row.name}"
        for row in rows
    ]
    return lines
