"""The memory that a run needs, told before it runs, or when there is not as much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from staticad_schema.errors import ExecutionError, shown
from staticad_schema.types import TensorType, nbytes

from .plan import MemoryUse, Plan, memory_use


class MemoryPrediction(NamedTuple):
    """Bytes of one run.

    peak_bytes: all of the following together.  scratch_bytes: intermediate values, at the
    worst moment.  result_bytes: what is fetched.  write_bytes: new values of variables.
    variable_bytes: their values at the start.  feed_bytes: what is fed.  largest: the values
    that are live at the worst moment, the largest first.
    """

    peak_bytes: int
    scratch_bytes: int
    result_bytes: int
    write_bytes: int
    variable_bytes: int
    feed_bytes: int
    largest: tuple[MemoryUse, ...]

    def __str__(self) -> str:
        lines = [
            f"{getattr(self, name):>16,}  {name.replace('_', ' ')}"
            for name in self._fields
            if name != "largest"
        ]
        if self.largest:
            lines.append("largest values at the worst moment:")
            lines += [
                f"{use.nbytes:>16,}  {shown(use.name)} {use.type}  {use.site or ''}"
                for use in self.largest[:10]
            ]
        return "\n".join(lines)


def predicted(
    sources: Iterable[tuple[str, TensorType]],
    results: Iterable[TensorType],
    writes: Iterable[TensorType],
    scratch: int,
    largest: tuple[MemoryUse, ...],
) -> MemoryPrediction:
    """All of them together.  sources: the kinds and types of what is given."""
    given = {"feed": 0, "variable": 0, "run": 0}
    for kind, type_ in sources:
        given[kind] += nbytes(type_)
    parts = (
        scratch, sum(map(nbytes, results)), sum(map(nbytes, writes)), given["variable"],
        given["feed"],
    )  # fmt: skip
    return MemoryPrediction(sum(parts), *parts, largest)


def shortage(plan: Plan, outputs: Sequence[int], error: MemoryError) -> ExecutionError:
    """What to raise where there is no memory for a run, of which nothing has been computed.

    outputs: the plan's outputs, as values of its graph.
    """
    graph = plan.graph
    results = [
        memory_use(graph, graph.producers[value], type_)
        for value, type_ in zip(outputs, plan.output_types, strict=True)
    ]
    needed = plan.peak_bytes + sum(use.nbytes for use in results)
    uses = [*results, *plan.memory]
    if not uses:
        return ExecutionError(f"out of memory: {error}", found=f"{needed:,} bytes needed")
    largest = max(uses, key=lambda use: use.nbytes)
    # A device says itself what it lacks; what the host has says nothing about it.
    told = str(error) if plan.settle is not None else ""
    free = None if told else available_bytes()
    return ExecutionError(
        f"out of memory: the run needs {needed:,} bytes beside what it is given",
        asked=f"{largest.op} {largest.name!r}",
        expected="less than can be allocated"
        + (f"; {free:,} bytes are available" if free is not None else "")
        + (f"; {told}" if told else ""),
        found=f"{largest.type} of {largest.nbytes:,} bytes, the largest value at the worst moment",
        site=largest.site,
        hint="session.memory(fetches, sizes) lists what a run needs",
    )


def available_bytes() -> int | None:
    """The memory that the system has to give, None where it does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                name, _, size = line.partition(":")
                if name == "MemAvailable":
                    return int(size.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
