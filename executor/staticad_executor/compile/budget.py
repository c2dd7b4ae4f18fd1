"""A plan that stays under a budget of memory, by computing values again.

What is chosen goes by the sizes of values; how they fit into the arena is known only when they
have been assigned.  So the plan is made, and what it exceeds the budget by is saved beyond that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from staticad_schema.errors import PlanError, shown
from staticad_schema.types import nbytes

from ..plan import MemoryUse, Plan, memory_use
from .bind import Bound, bind, pending
from .lifetimes import Lifetimes
from .recompute import costs, lower
from .repeat import repeated
from .write import written

Shapes = Sequence[tuple[int, ...]]
Finish = Callable[[Bound], Plan]
"""The stages behind binding."""

# How often the rest that a plan exceeds its budget by is saved too.
ATTEMPTS = 8
# So many of the values that are computed again are told.
TOLD = 20


def given_bytes(bound: Bound) -> int:
    """The bytes of what a plan is given and of what it hands out."""
    program = bound.grouped.program
    given = sum(nbytes(bound.types[s.value]) for s in program.sources if s.kind != "run")
    return given + sum(nbytes(bound.types[value]) for value in program.outputs)


def within(plan: Plan, bound: Bound, shapes: Shapes, budget: int, finish: Finish) -> Plan:
    """The plan itself, if its peak is within the budget; else one that computes values again.

    Raises PlanError if that does not suffice.
    """
    given = given_bytes(bound)
    if given + plan.peak_bytes <= budget:
        return plan
    lifetimes = Lifetimes(written(bound))
    target = lifetimes.peak
    excess = given + plan.peak_bytes - budget
    for attempt in range(ATTEMPTS):
        # The last one goes as far as it can.
        target = target - excess if attempt < ATTEMPTS - 1 else 0
        reached = lower(lifetimes, target)
        grouped = repeated(lifetimes, tuple(told(lifetimes, budget)))
        made = finish(bind(grouped, pending(grouped.program), shapes))
        excess = given + made.peak_bytes - budget
        if excess <= 0:
            return made
        if not reached:
            break
        target = lifetimes.peak
    raise _too_small(min(plan, made, key=lambda p: p.peak_bytes), bound, given, budget)


def told(lifetimes: Lifetimes, budget: int) -> list[str]:
    """What is computed again and what that costs, for `explain`."""
    graph, types = lifetimes.draft.graph, lifetimes.draft.types
    again, once = costs(lifetimes)
    values = [v for key in sorted(lifetimes.repeats) for v in lifetimes.repeats[key][1]]
    lines = [
        f"memory budget {budget:,}: {len(values)} values are computed again, about"
        f" {100 * again / max(once, 1):.1f} % more work"
    ]
    for value in values[:TOLD]:
        name = shown(graph.node_name(graph.producers[value]))
        lines.append(f"  again: {name} {types[value]}, {nbytes(types[value]):,} bytes")
    if len(values) > TOLD:
        lines.append(f"  and {len(values) - TOLD} more")
    return lines


def _too_small(plan: Plan, bound: Bound, given: int, budget: int) -> PlanError:
    """What to raise where no plan is within the budget; `plan` needs least."""
    graph, program = bound.grouped.program.graph, bound.grouped.program
    uses = [
        memory_use(graph, graph.producers[value], bound.types[value])
        for value in (*program.outputs, *(source.value for source in program.sources))
    ]
    largest = max([*uses, *plan.memory], key=lambda use: use.nbytes, default=None)
    return PlanError(
        "the run does not fit into the memory budget, whatever is computed again",
        asked=f"memory_budget={budget:,}",
        expected=f"at least {given + plan.peak_bytes:,} bytes, the smallest peak that was found"
        + (f"; {given:,} of them are given or handed out" if given else ""),
        found=f"{budget:,} bytes"
        + (
            f"; the largest value at the worst moment is {shown(largest.name)!r}, {largest.op},"
            f" {largest.type} of {largest.nbytes:,} bytes"
            if largest is not None
            else ""
        ),
        site=largest.site if largest is not None else None,
        hint=_advice(largest),
    )


def _advice(largest: MemoryUse | None) -> str:
    """What can be done where the largest value does not fit."""
    if largest is not None and largest.op == "scan":
        return (
            "where a loop keeps this for a derivative, recompute_every= of scan and fori_loop keeps"
            " one carry of so many; the square root of the length needs least"
        )
    return "session.memory(fetches, sizes) of a session without a budget lists what a run needs"
