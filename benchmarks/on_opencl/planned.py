"""A graph planned for a device, with its launches laid open.

A session gives arrays and hides the rest; here the same kernels with the same memory can be
enqueued by themselves, so that what a launch takes is told from what a run takes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import benchmarks
from benchmarks.definitions import Array
from staticad import Tensor
from staticad_executor.chosen import devices_for
from staticad_executor.compile import bind, emit, structure
from staticad_executor.compile.assign import Assigned, assign
from staticad_executor.compile.moves import Launched
from staticad_executor.compile.place import Devices
from staticad_executor.devices.opencl.commands import Enqueued
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.devices.opencl.launch import Launch
from staticad_executor.devices.opencl.region import Pointer
from staticad_executor.plan import Plan
from staticad_executor.residence import Held, hosted
from staticad_schema.types import nbytes

clock = time.perf_counter


class Planned:
    """Fetches of a graph, on a device: "numpy", or one of OpenCL's.

    feeds, variables: the values of what is fed, and of variables by name.
    """

    def __init__(
        self,
        fetches: Sequence[Tensor],
        feeds: Mapping[Tensor, Array],
        device: str | OpenCLDevice,
        variables: Mapping[str, Array] | None = None,
    ) -> None:
        graph: Any = fetches[0].graph
        devices: Devices = devices_for(device, ())
        made = structure(
            graph, [y.id for y in fetches], [], {x.id: graph.types[x.id] for x in feeds}, devices,
            threads=benchmarks.THREADS,
        )  # fmt: skip
        given: dict[Any, Array] = {
            **{x.id: array for x, array in feeds.items()},
            **(variables or {}),
        }
        self._inputs: list[Held] = [
            np.ascontiguousarray(given[source.original]) for source in made.sources
        ]
        bound = bind(made.grouped, made.waiting, [array.shape for array in self._inputs])
        self.assigned: Assigned = assign(bound, made.python_scalars, devices.elsewhere)
        self.notes = (*made.grouped.notes, *self.assigned.notes)
        self.plan: Plan = emit(self.assigned, benchmarks.THREADS, devices=devices.elsewhere)
        self._outputs: list[Held] = [
            np.empty(_shape(type_), type_.dtype) if lend is None else lend()
            for type_, lend in zip(self.plan.output_types, self._lenders(), strict=True)
        ]

    def _lenders(self) -> Sequence[Any]:
        return self.plan.lenders or [None] * len(self.plan.output_types)

    def run(self) -> None:
        """What a session does for a run, without looking anything up."""
        self.plan.execute(self._inputs, self._outputs)

    def results(self) -> list[Array]:
        """Of one run."""
        self.run()
        return [hosted(output) for output in self._outputs]

    def launches(self) -> list[Launch]:
        """The kernels of a run in order, with the memory of the last one."""
        self.run()
        found: list[Launch] = []
        for cell in self.plan.idle[-1].cells:
            if isinstance(cell, Enqueued):
                found += cell.launches
        return found

    def moved(self) -> list[Moved]:
        """What each group of nodes that the device runs moves, in the order of a run."""
        bound = self.assigned.bound
        types = bound.types
        found = []
        for group in bound.grouped.groups:
            mine = set(group.nodes)
            parts = [
                item
                for item in self.assigned.instructions
                if isinstance(item.kernel, Launched) and mine.issuperset(item.nodes)
            ]
            if parts:
                ends = sum(nbytes(types[v]) for v in {*group.inputs, *group.outputs})
                names = [bound.grouped.program.graph.nodes[i].op for i in group.nodes]
                counts = [_moved(self.assigned, item) for item in parts]
                touched, scratch = (sum(each) for each in zip(*counts, strict=True))
                found.append(Moved(tuple(names), ends, touched, scratch))
        return found


class Moved(NamedTuple):
    """Of some nodes: the bytes of what flows in and out; those of all values that the kernels point
    to, counted once for each kernel; and of scratch memory."""

    ops: tuple[str, ...]
    ends: int
    touched: int
    scratch: int


def _moved(assigned: Assigned, item: Any) -> tuple[int, int]:
    """The bytes of values and of scratch that the kernels of an instruction point to."""
    launched: Launched = item.kernel
    touched = scratch = 0
    for kernel in launched.recipe.kernels:
        pointers = {a for a in kernel.arguments if isinstance(a, Pointer)}
        for pointer in pointers:
            if pointer.kind == "operand":
                touched += nbytes(assigned.cells[item.reads[pointer.place]].type)
            elif pointer.kind == "output":
                touched += nbytes(assigned.cells[item.writes[pointer.place]].type)
            elif pointer.kind == "scratch":
                scratch += launched.recipe.scratch[pointer.place]
    return touched, scratch


def _shape(type_: Any) -> tuple[int, ...]:
    return tuple(map(int, type_.shape))


def best(run: Callable[[], object], budget: float, tries: int = 3) -> float:
    """Seconds of the fastest of some runs, at least so many, until the budget is spent; the first
    one counts only if it took longer than that."""
    start = clock()
    run()
    warm = clock()
    if warm - start > budget:
        return warm - start
    found: list[float] = []
    while len(found) < tries or clock() - warm < budget:
        began = clock()
        run()
        found.append(clock() - began)
    return min(found)


def in_turn(runs: Sequence[Callable[[], object]], budget: float) -> list[float]:
    """Seconds of the fastest run of each, one after the other until the budget is spent."""
    found = [math.inf] * len(runs)
    start = clock()
    while clock() - start < budget or math.inf in found:
        for k, run in enumerate(runs):
            began = clock()
            run()
            found[k] = min(found[k], clock() - began)
    return found


def seconds_of(launches: Sequence[Launch], device: OpenCLDevice, budget: float) -> float:
    """Seconds that the device takes for launches that are enqueued in a row, many times."""
    finish = device.runtime.finish

    def rounds(count: int) -> float:
        began = clock()
        for _ in range(count):
            for launch in launches:
                launch()
        finish()
        return clock() - began

    rounds(1)
    once = rounds(1)
    # What the host waits for at the end is spread over many.
    count = max(1, min(1000, int(budget / 5 / max(once, 1e-6))))
    return best(lambda: rounds(count), budget) / count
