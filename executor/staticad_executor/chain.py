"""The engine of programs that find sizes while they run: one planner a segment.

A segment's planner takes the values of earlier ones like feeds, and has a plan for each set of
sizes like any other.  Behind each segment a plan of calls runs the meanings of its finders.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.errors import shown
from staticad_schema.graph import Graph
from staticad_schema.shapes import bind_shape
from staticad_schema.types import Array, nbytes

from .compile import ALONE, Chain, Devices, Hoisted, Plan, Program, Segment, prepare
from .engine import PLANS, Computed, Given, Known, Planner, Planning, Prepared, Shapes, Watch
from .hoisting import HoistingPlanner
from .memory import MemoryPrediction, predicted
from .plan import Account, MemoryUse, Step, workspace
from .pool import BlockPool
from .program import Arena
from .recent import Recent
from .residence import Held
from .scratch import Scratch
from .sizes import Sizes, find
from .state import Snapshot, Written


def planned(
    graph: Graph,
    prepared: Prepared,
    pool: BlockPool,
    rewrites: Sequence[str],
    threads: int,
    scratch: Scratch,
    budget: int | None = None,
    devices: Devices = ALONE,
) -> Planning:
    """The engine with plans for fetches and feeds, which need no more bytes than `budget`.

    Raises PlanError for what is not fed.
    """
    feeds = {value: graph.types[value] for value in prepared.fed}
    made = prepare(
        graph, prepared.values, prepared.effects, feeds, devices, rewrites, threads, budget
    )  # fmt: skip
    given: list[Given] = [("feed", value) for value in prepared.fed]
    if isinstance(made, Chain):
        return ChainPlanner(graph, made, given, pool, scratch)
    if isinstance(made, Hoisted):
        return HoistingPlanner(graph, made, given, pool, scratch)
    return Planner(graph, made, given, pool, scratch)


class _Found:
    """Where a finder puts what it makes.  sizes: all that are known, in which it enters its own."""

    __slots__ = ("arrays", "sizes")

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes
        self.arrays: tuple[Array, ...] = ()


class _Part(NamedTuple):
    """A segment with what runs it.  takes: the values of the whole that its planner is fed.
    finding: the plan of its finders, which takes `operands`, and `made`, what each makes."""

    segment: Segment
    planner: Planner
    takes: tuple[int, ...]
    finding: Plan | None
    operands: tuple[int, ...]
    made: tuple[tuple[int, ...], ...]


class ChainPlanner:
    """The engine that runs segment after segment."""

    def __init__(
        self,
        graph: Graph,
        chain: Chain,
        given: Sequence[Given],
        pool: BlockPool,
        scratch: Scratch,
    ) -> None:
        program = chain.program
        self.program: Program = program
        self.reads = tuple(str(s.original) for s in program.sources if s.kind == "variable")
        self.writes = tuple(name for name, _ in program.writes)
        self.draws = program.draws
        self.shaped = self.reads
        self.arenas: tuple[Arena, ...] = ()
        self.started = False
        whole = program.graph
        finders = [whole.nodes[i] for segment in chain.segments for i in segment.finders]
        self.finds = {
            name: f"{node.op} {shown(whole.value_name(node.start))}"
            for node in finders
            for name in node.finds
        }
        self._graph = graph
        self._given = tuple(given)
        position: dict[Any, int] = {g: i for i, g in enumerate(self._given)}
        sources = program.sources
        self._feeds = [(s.value, position[s.kind, s.original]) for s in sources if s.kind == "feed"]
        self._variables = [(s.value, str(s.original)) for s in sources if s.kind == "variable"]
        self._numbers = [s.value for s in sources if s.kind == "run"]
        whole_value = {(s.kind, s.original): s.value for s in sources}
        self._parts: list[_Part] = []
        for segment, structure in zip(chain.segments, chain.structures, strict=True):
            own: Any = [
                (s.kind, s.original) for s in structure.sources if s.kind in ("feed", "carried")
            ]
            takes = tuple(
                whole_value[kind, value] if kind == "feed" else value for kind, value in own
            )
            planner = Planner(graph, structure, own, pool, scratch)
            self._parts.append(_part(program, segment, planner, takes))
        self._told: Recent[Shapes, Sizes] = Recent(PLANS)
        self._last: Known | None = None

    def compute(
        self,
        feeds: Sequence[Array],
        held: Snapshot,
        run_number: int,
        cancel: threading.Event,
        watch: Watch | None = None,
    ) -> Computed:
        """Run once.  Raises PlanError, ExecutionError, CancelledError."""
        variables = held.arrays
        shapes = (*[a.shape for a in feeds], *[variables[n].shape for n in self.reads])
        told = self._told.get(shapes, self._tell)
        sizes = dict(told.values)
        values: dict[int, Array] = {value: feeds[i] for value, i in self._feeds}
        values |= {value: variables[name] for value, name in self._variables}
        values |= {value: np.array(run_number, np.uint64) for value in self._numbers}
        fetched: dict[int, Array] = {}
        written: dict[str, Held] = {}
        for part in self._parts:
            given = [values[v] for v in part.takes]
            computed = part.planner.compute(given, held, run_number, cancel, watch)
            for (value, position), array in zip(part.segment.gives, computed.values, strict=True):
                values[value] = array
                if position >= 0:
                    fetched[position] = array
            written |= computed.writes.arrays
            if part.finding is not None:
                boxes: Any = [_Found(sizes) for _ in part.made]
                observe = None if watch is None else watch(part.finding)
                operands = [values[v] for v in part.operands]
                part.finding.execute(operands, boxes, cancel, observe)
                for made, box in zip(part.made, boxes, strict=True):
                    values.update(zip(made, box.arrays, strict=True))
            for value in part.segment.spent:
                values.pop(value, None)
        told.check_found(sizes)
        self._last = Known(shapes, {name: sizes[name] for name in self.finds})
        return Computed([fetched[k] for k in range(len(fetched))], Written(written, {}))

    def _tell(self, shapes: Shapes) -> Sizes:
        """The sizes that feeds and variables of these shapes tell.  Raises PlanError."""
        sizes = Sizes()
        count = len(self._given)
        for (_, value), shape in zip(self._given, shapes[:count], strict=True):
            sizes.bind_value(self._graph, value, shape)
        for name, shape in zip(self.reads, shapes[count:], strict=True):
            sizes.bind_variable(self._graph, name, shape)
        sizes.check()
        return sizes

    @property
    def last(self) -> Known | None:
        """The shapes and sizes of the plans that ran last."""
        return self._last

    def plans(self, known: Known) -> list[Plan]:
        """The plans for these shapes and sizes, in the order in which they run."""
        sizes = {**self._tell(known.shapes).values, **known.found}
        read = dict(zip(self.reads, known.shapes[len(self._given) :], strict=True))
        fed = {value: known.shapes[i] for value, i in self._feeds}
        types = self.program.graph.types
        found = []
        for part in self._parts:
            shapes = [fed.get(v) or bind_shape(types[v].shape, sizes) for v in part.takes]
            shapes += [read[name] for name in part.planner.reads]
            found += part.planner.plans(Known(tuple(shapes), {}))
            found += [] if part.finding is None else [part.finding]
        return found

    def predict(self, known: Known) -> MemoryPrediction:
        """The memory that one run needs: of the segments the worst, with what is carried by it."""
        sizes = {**self._tell(known.shapes).values, **known.found}
        types = [t.with_shape(bind_shape(t.shape, sizes)) for t in self.program.graph.types]
        fetched = set(self.program.fetches)
        plans = iter(self.plans(known))
        carried: dict[int, int] = {}
        worst = 0
        largest: tuple[MemoryUse, ...] = ()
        for part in self._parts:
            plan = next(plans)
            carried |= {v: nbytes(types[v]) for v, _ in part.segment.gives if v not in fetched}
            if part.finding is not None:
                next(plans)
                carried |= {v: nbytes(types[v]) for made in part.made for v in made}
            scratch = plan.peak_bytes + sum(carried.values())
            if scratch >= worst:
                worst, largest = scratch, plan.memory
            for value in part.segment.spent:
                carried.pop(value, None)
        return predicted(
            [(s.kind, types[s.value]) for s in self.program.sources],
            [types[v] for v in self.program.fetches],
            [types[v] for _, v in self.program.writes],
            worst, largest,
        )  # fmt: skip

    def trim(self) -> int:
        """Give back scratch memory; its bytes."""
        return sum(part.planner.trim() for part in self._parts)


def _part(program: Program, segment: Segment, planner: Planner, takes: tuple[int, ...]) -> _Part:
    """A segment with the plan of its finders."""
    graph = program.graph
    nodes = [graph.nodes[index] for index in segment.finders]
    operands = tuple(dict.fromkeys(v for node in nodes for v in node.inputs))
    made = tuple(tuple(node.outputs) for node in nodes)
    if not nodes:
        return _Part(segment, planner, takes, None, operands, made)
    cell = {value: k for k, value in enumerate(operands)}
    calls = []
    steps = []
    for k, (index, node) in enumerate(zip(segment.finders, nodes, strict=True)):
        picked = (*(cell[v] for v in node.inputs), len(operands) + k)
        calls.append(((_finder(program, index), operator.itemgetter(*picked)),))
        reads = tuple(graph.value_name(v) for v in node.inputs)
        writes = tuple(graph.value_name(v) for v in node.outputs)
        steps.append(
            Step("finder", "numpy", (index,), "meaning", reads, writes, range(k, k + 1), 0)
        )
    count = len(operands) + len(nodes)
    chunks = tuple(calls)
    plan = Plan(
        graph=graph,
        input_types=tuple(graph.types[v] for v in operands),
        output_types=tuple(graph.types[v] for values in made for v in values),
        prologue=(),
        chunks=chunks,
        owners=tuple((index,) for index in segment.finders),
        speaks=False,
        build_workspace=lambda: workspace(chunks, [None] * count, [None]),
        workspace_bytes=0,
        temporary_bytes=0,
        slot_bytes=0,
        make_notes=tuple,
        make_account=lambda: Account(tuple(steps), (), 0),
        idle=[],
    )
    return _Part(segment, planner, takes, plan, operands, made)


def _finder(program: Program, index: int) -> Callable[..., None]:
    """The call of a node that finds sizes: operands, and where to put what it makes."""
    node = program.graph.nodes[index]

    def run(*cells: Any) -> None:
        *operands, box = cells
        arrays, found = find(node, operands, box.sizes)
        box.sizes.update(found)
        # What segments are given is contiguous.
        box.arrays = tuple(np.array(a, order="C", copy=None) for a in arrays)

    return run
