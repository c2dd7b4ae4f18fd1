"""The pipeline from a graph to a plan: eight stages, each a function of data.

The first five are done once for a structure (what is fetched and fed, on which devices), the
last three for each set of sizes.  Behind the second, what is kept from run to run becomes a
program of its own (`hoist`), and updates that are alike become one (`flat_updates`); what a
memory budget asks for repeats the last three over a program that computes values again (`within`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from staticad_schema.collection import collection_paused
from staticad_schema.errors import PlanError
from staticad_schema.graph import Graph
from staticad_schema.types import TensorType

from ..devices.base import HOST
from ..devices.numpy import NumpyDevice
from ..plan import Plan
from ..program import Arena, Program, Source
from .assign import assign
from .bind import Bound, Pending, bind, pending
from .budget import within
from .cut import Segment, cut
from .emit import emit
from .flat import flat_updates
from .group import Grouped, group
from .hoist import hoist
from .join import join
from .lowered import lowered_bodies
from .mix import taken, told
from .order import order
from .place import ALONE, NUMPY, Devices, place
from .rewrite import DEFAULT, Report, rewrite
from .rules import chosen_switch
from .select import select
from .sink import sink

if TYPE_CHECKING:
    from ..devices.opencl.device import OpenCLDevice

STAGES = (select, rewrite, place, group, order, bind, assign, emit)
ONCE = STAGES[:5]
"""The stages that are done once for all sizes."""


_NO_SIZES: Mapping[str, int] = {}


@dataclass(frozen=True, eq=False)
class Structure:
    """What is the same for all sizes.  runs counts how often each stage has run for it.
    devices: those that may be used.  budget: the bytes that a plan may need,
    with what it is given and hands out.  about: what `explain` says first.  elsewhere: the same
    with nodes that are taken by a device."""

    grouped: Grouped
    waiting: Pending
    threads: int
    report: Report
    python_scalars: bool
    runs: Counter[str]
    devices: Devices
    budget: int | None = None
    about: tuple[str, ...] = ()
    elsewhere: Callable[[OpenCLDevice, bytes], Structure] | None = None

    @property
    def program(self) -> Program:
        """The program that plans compute."""
        return self.grouped.program

    @property
    def sources(self) -> tuple[Source, ...]:
        """What a plan's inputs are."""
        return self.program.sources

    @property
    def fetches(self) -> tuple[int, ...]:
        """The fetched values, the first of a plan's outputs."""
        return self.program.fetches

    @property
    def writes(self) -> tuple[str, ...]:
        """The variables written one by one, the next of a plan's outputs."""
        return tuple(name for name, _ in self.program.writes)

    @property
    def arenas(self) -> tuple[Arena, ...]:
        """The variables written as one, the rest of a plan's outputs."""
        return tuple(arena for arena, _ in self.program.arenas)

    @property
    def draws(self) -> bool:
        """Whether random bits are drawn."""
        return self.program.draws

    def plan(
        self, source_shapes: Sequence[tuple[int, ...]], outer: Mapping[str, int] = _NO_SIZES
    ) -> Plan:
        """The plan for sources of these shapes.  outer: sizes of symbols that these leave open.

        Raises PlanError where sizes do not go together, or the budget is too small, and what
        inference raises.
        """
        with collection_paused():
            bound = bind(self.grouped, self.waiting, source_shapes, outer)
            self.runs.update(stage.__name__ for stage in STAGES[5:])
            auto = self.devices.auto
            # What a budget counts are NumPy's values.
            flags = None if auto is None or self.budget is not None else taken(bound)
            if auto is not None and flags is not None and self.elsewhere is not None:
                device = auto()
                if device is not None and device.space == HOST:
                    flags = taken(bound, HOST)
                if device is not None and flags is not None:
                    return self.elsewhere(device, flags).plan(source_shapes)
            plan = self._finish(bound)
            if self.budget is None:
                return plan
            return within(plan, bound, source_shapes, self.budget, self._finish)

    def _finish(self, bound: Bound) -> Plan:
        """The plan of a bound program."""
        elsewhere = self.devices.elsewhere
        assigned = assign(bound, self.python_scalars, elsewhere)
        more = (*bound.grouped.notes, *assigned.notes)
        notes = partial(self._notes, more, Counter(self.runs))
        return emit(assigned, self.threads, notes, elsewhere)

    def _notes(self, more: Sequence[str], runs: Mapping[str, int]) -> list[str]:
        """What `explain` says before the steps."""
        graph = self.program.graph
        sources = [f"{s.kind} {_named(graph, s)} {graph.types[s.value]}" for s in self.sources]
        return [
            *self.about,
            "sources: " + (", ".join(sources) or "none"),
            "rewrites: " + (", ".join(self.report.lines()) or "none"),
            *more,
            "stages: " + ", ".join(f"{stage.__name__} {runs[stage.__name__]}" for stage in STAGES),
        ]


def _named(graph: Graph, source: Source) -> str:
    """The name of a source; of an arena those of its first variables."""
    if not isinstance(source.original, Arena):
        return repr(graph.nodes[graph.producers[source.value]].name)
    names = source.original.names
    return "of " + ", ".join(map(repr, names[:3])) + (f", … ({len(names)})" if names[3:] else "")


@dataclass(frozen=True, eq=False)
class Chain:
    """A program that finds sizes, and the segments in which it runs, each with its structure."""

    program: Program
    segments: tuple[Segment, ...]
    structures: tuple[Structure, ...]


@dataclass(frozen=True, eq=False)
class Hoisted:
    """A program and its two parts, see `hoist`: first gives the `carried` values of the program."""

    program: Program
    first: Structure
    rest: Structure
    carried: tuple[int, ...]


def structure(
    graph: Graph,
    fetches: Sequence[int],
    effects: Sequence[int],
    feeds: Mapping[int, TensorType],
    devices: Devices = ALONE,
    rewrites: Collection[str] = DEFAULT,
    threads: int = 1,
    budget: int | None = None,
) -> Structure:
    """What `prepare` makes without hoisting; it raises PlanError where a size depends on data."""
    rewrites = [*rewrites, "-hoist"]
    made = prepare(graph, fetches, effects, feeds, devices, rewrites, threads, budget)
    if isinstance(made, Structure):
        return made
    raise PlanError(
        "sizes are found while it runs",
        asked="structure",
        expected="a program whose sizes follow from those of its sources",
        found="one that runs in segments",
    )


def prepare(
    graph: Graph,
    fetches: Sequence[int],
    effects: Sequence[int],
    feeds: Mapping[int, TensorType],
    devices: Devices = ALONE,
    rewrites: Collection[str] = DEFAULT,
    threads: int = 1,
    budget: int | None = None,
) -> Structure | Chain | Hoisted:
    """The first five stages for fetched values, effects (node indices) and fed values; where a
    size depends on data, the last three of them for each segment, and for both parts where values
    are hoisted.  A budget rules out hoisting and flat updates.  budget: see `Structure`.

    Raises PlanError for what is not fed and for unknown rewrites.
    """
    report = Report()
    claimed = frozenset().union(*(device.claimed for device in devices.named.values()))
    with collection_paused():
        program = select(graph, fetches, effects, feeds)
        program = join(rewrite(program, rewrites, claimed, report))
        may = budget is None and chosen_switch("hoist", rewrites)
        # Bodies run on NumPy: what another device is to do stays there.
        if devices.default == NUMPY and chosen_switch("sink_into_branches", rewrites):
            program, moved = sink(program, may)
            if moved:
                report.applied["sink_into_branches"] = moved
        _prepare_bodies(program, rewrites, threads, report)
        if not program.finds:
            parts = hoist(program) if may else None
            rest = program if parts is None else parts.rest
            # Updates as one need all gradients at once, which a budget may not allow.
            if budget is None and chosen_switch("flat_updates", rewrites):
                rest, updates = flat_updates(rest)
                if updates:
                    report.applied["flat_updates"] = updates
            behind = _structure(rest, devices, threads, report, rewrites, budget)
            if parts is None:
                return behind
            first = _structure(parts.first, devices, threads, report, rewrites, None)
            about = ("hoisted: computed again when a variable has changed",)
            return Hoisted(program, replace(first, about=about), behind, parts.carried)
        segments = cut(program)
        return Chain(
            program,
            segments,
            tuple(
                _structure(s.program, devices, threads, report, rewrites, budget) for s in segments
            ),
        )


def _prepare_bodies(
    program: Program, rewrites: Collection[str], threads: int, report: Report
) -> None:
    """The first five stages for the bodies of choices and loops, which run on NumPy."""
    claimed = frozenset(NumpyDevice.claimed)
    for body in lowered_bodies(program.graph):
        own = rewrite(body.program, rewrites, claimed, report)
        # What finds sizes is evaluated node by node.
        if not own.finds:
            body.made["structure"] = _structure(own, ALONE, threads, report, rewrites, None)


def _structure(
    program: Program,
    devices: Devices,
    threads: int,
    report: Report,
    rewrites: Collection[str],
    budget: int | None,
) -> Structure:
    grouped = order(group(place(program, devices)))
    runs = Counter(stage.__name__ for stage in ONCE)
    scalars = chosen_switch("python_scalars", rewrites)

    @cache
    def elsewhere(device: OpenCLDevice, flags: bytes) -> Structure:
        known = {**devices.elsewhere, device.name: device}
        there = Devices(device.name, known, devices.meant, None, flags)
        made = _structure(program, there, threads, report, rewrites, budget)
        return replace(made, about=(told(device.name, device.space, flags),))

    return Structure(
        grouped, pending(program), threads, report, scalars, runs, devices, budget,
        elsewhere=elsewhere,
    )  # fmt: skip


__all__ = [
    "ALONE", "ONCE", "STAGES", "Chain", "Devices", "Hoisted", "Plan", "Program", "Segment",
    "Source", "Structure", "cut", "prepare", "structure",
    "select", "rewrite", "place", "group", "order", "bind", "assign", "emit",
]  # fmt: skip
