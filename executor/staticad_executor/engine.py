"""What a session runs: fetches and feeds, prepared once.

An engine takes arrays and gives arrays.  It knows neither users' structures nor commits.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, cast

import numpy as np

from staticad_schema.errors import PlanError
from staticad_schema.graph import Graph
from staticad_schema.shapes import bind_shape
from staticad_schema.types import Array, TensorType, array_type, nbytes

from .compile import Plan, Structure
from .interpret import Observe as ObserveNodes
from .interpret import interpret
from .memory import MemoryPrediction, predicted, shortage
from .plan import Observe
from .pool import SMALL, BlockPool
from .program import Arena, Program
from .recent import Recent
from .residence import Resident, hosted
from .scratch import Scratch
from .selection import require_fed, select
from .sizes import Sizes
from .state import Layout, Snapshot, Written, require_fit

# Plans kept for one structure; a plan holds its scratch memory.
PLANS = 32
NOTHING = Written({}, {})

Watch = Callable[[Plan], Observe]
"""Given the plan that is about to run, what to call around its steps."""


class Prepared(NamedTuple):
    """What an engine is for: fetched value ids, effects (node indices), fed value ids."""

    values: tuple[int, ...]
    effects: tuple[int, ...]
    fed: tuple[int, ...]


class Computed(NamedTuple):
    """Arrays of their own: the fetched values, and the new values of `Engine.writes`."""

    values: list[Array]
    writes: Written


class Engine(Protocol):
    """reads: variables whose start value is needed.  writes: variables that are written.
    arenas: variables among those read that are read as one.  draws: whether random bits are
    drawn.  started: whether the variables that it reads have values, which they never lose."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    arenas: tuple[Arena, ...]
    draws: bool
    started: bool

    def compute(
        self,
        feeds: Sequence[Array],
        held: Snapshot,
        run_number: int,
        cancel: threading.Event,
        watch: Watch | None = None,
    ) -> Computed:
        """Run once.  feeds in the order they were prepared for; nothing given is written."""
        ...

    def trim(self) -> int:
        """Give back scratch memory; its bytes."""
        ...


Shapes = tuple[tuple[int, ...], ...]
_SHAPE: Callable[[Array], tuple[int, ...]] = operator.attrgetter("shape")
Given = tuple[Literal["feed", "carried"], int]
"""What an engine is given: the kind and the original of a source."""


class Known(NamedTuple):
    """What plans follow from: the shapes of feeds, then variables; and the sizes that the run
    finds."""

    shapes: Shapes
    found: Mapping[str, int]


class Planning(Engine, Protocol):
    """An engine with plans: one, or where it finds sizes several that run one after the other.

    program: what the plans compute.  shaped: the variables whose shapes plans follow
    from.  finds: for each size that is found the node that does,
    in words.  last: of the plans that ran last.
    """

    finds: dict[str, str]
    program: Program
    shaped: tuple[str, ...]

    @property
    def last(self) -> Known | None: ...

    def plans(self, known: Known) -> list[Plan]:
        """The plans for these shapes and sizes, in the order in which they run."""
        ...

    def predict(self, known: Known) -> MemoryPrediction:
        """The memory that one run of them needs."""
        ...


class Ready(NamedTuple):
    """A plan, and how to make the arrays that it fills."""

    shapes: Shapes
    plan: Plan
    fetched: tuple[tuple[Callable[..., Array], tuple[int, ...], Any], ...]
    layout: Layout


class Planner:
    """The engine of one structure, with a plan for each set of sizes."""

    def __init__(
        self,
        graph: Graph,
        structure: Structure,
        given: Sequence[Given],
        pool: BlockPool,
        scratch: Scratch,
    ) -> None:
        """given: what `feeds` are, among them at least the sources that `compute` does not know
        otherwise.  graph: the user's, for errors."""
        self.structure = structure
        self.program = structure.program
        self.finds: dict[str, str] = {}
        sources = structure.sources
        self.shaped = tuple(str(s.original) for s in sources if s.kind == "variable")
        self.arenas = tuple(s.original for s in sources if isinstance(s.original, Arena))
        self.reads = (*self.shaped, *(n for arena in self.arenas for n in arena.names))
        self.writes = (*structure.writes, *(n for arena in structure.arenas for n in arena.names))
        self.draws = self.structure.draws
        self.started = False
        self._graph = graph
        self._given = tuple(given)
        self._pool = pool
        self._scratch = scratch
        # Where each source is among feeds, then variables, then arenas, then the run number.
        count = len(self._given)
        position: dict[tuple[str, int | str | Arena], int] = {}
        position |= {g: i for i, g in enumerate(self._given)}
        position |= {("variable", name): count + i for i, name in enumerate(self.shaped)}
        count += len(self.shaped)
        position |= {("arena", arena): count + i for i, arena in enumerate(self.arenas)}
        count += len(self.arenas)
        position["run", ""] = count
        self._order = [position[s.kind, s.original] for s in sources]
        self._numbered = any(s.kind == "run" for s in sources)
        total = count + self._numbered
        self._read = _getter(self.shaped)
        self._arranged = None if self._order == [*range(total)] else _getter(self._order)
        self._plans: Recent[Shapes, Ready] = Recent(PLANS)
        self._last: Ready | None = None

    def compute(
        self,
        feeds: Sequence[Array],
        held: Snapshot,
        run_number: int,
        cancel: threading.Event,
        watch: Watch | None = None,
    ) -> Computed:
        """Run once.  Raises PlanError, ExecutionError, CancelledError."""
        arrays: list[Any] = [*feeds, *self._read(held.arrays.known)]
        shapes = tuple(map(_SHAPE, arrays))
        ready = self._last
        if ready is None or ready.shapes != shapes or ready.plan.is_lost:
            ready = self._plans.get(shapes, self._make)
            if ready.plan.is_lost:
                self._plans.clear()
                ready = self._plans.get(shapes, self._make)
            self._scratch.take_turn(ready.plan)
            self._last = ready
        for arena in self.arenas:
            arrays.append(held.flat(arena, self._pool))
        if self._numbered:
            arrays.append(np.array(run_number, np.uint64))
        inputs = arrays if self._arranged is None else list(self._arranged(arrays))
        plan = ready.plan
        for k in plan.on_host:
            if type(inputs[k]) is Resident:
                inputs[k] = inputs[k].host()
        try:
            outputs = [make(shape, dtype) for make, shape, dtype in ready.fetched]
            writes = ready.layout.allocate(self._pool) if self.writes else []
            observe = None if watch is None else watch(plan)
            plan.execute(inputs, outputs + writes, cancel, observe)
        except MemoryError as error:
            raise shortage(plan, self.program.outputs, error) from error
        return Computed(outputs, ready.layout.written(writes) if writes else NOTHING)

    @property
    def last(self) -> Known | None:
        """The shapes of feeds, then variables, of the plan that ran last."""
        ready = self._last
        return None if ready is None else Known(ready.shapes, {})

    def plans(self, known: Known) -> list[Plan]:
        """The plan for feeds, then variables, of these shapes."""
        return [self._plans.get(known.shapes, self._make).plan]

    def predict(self, known: Known) -> MemoryPrediction:
        """The memory that one run of it needs."""
        (plan,) = self.plans(known)
        boundary = len(self.structure.fetches)
        kinds = [
            "variable" if source.kind == "arena" else source.kind
            for source in self.structure.sources
        ]
        return predicted(
            zip(kinds, plan.input_types, strict=True), plan.output_types[:boundary],
            plan.output_types[boundary:], plan.peak_bytes, plan.memory,
        )  # fmt: skip

    def trim(self) -> int:
        """Give back scratch memory; its bytes."""
        return sum(ready.plan.trim() for ready in self._plans.values())

    def _make(self, shapes: Shapes) -> Ready:
        sizes = Sizes()
        count = len(self._given)
        for (kind, value), shape in zip(self._given, shapes[:count], strict=True):
            if kind == "feed":
                sizes.bind_value(self._graph, value, shape)
        for name, shape in zip(self.shaped, shapes[count:], strict=True):
            sizes.bind_variable(self._graph, name, shape)
        sizes.check()
        given = [*shapes, *[(arena.size,) for arena in self.arenas], ()]
        plan = self.structure.plan([given[i] for i in self._order])
        types = plan.output_types
        names, boundary = self.structure.writes, len(self.structure.fetches)
        fetches, written = types[:boundary], types[boundary : boundary + len(names)]
        for name, type_ in zip(names, written, strict=True):
            require_fit(self._graph, name, type_, "assignment to")
        order = creation_order(self._graph) if names else {}
        lenders = plan.lenders[boundary:]
        layout = Layout(names, written, order, self.structure.arenas, lenders)
        return Ready(shapes, plan, tuple(map(self._maker, fetches)), layout)

    def _maker(self, type_: TensorType) -> tuple[Callable[..., Array], tuple[int, ...], Any]:
        make = np.empty if nbytes(type_) <= SMALL else self._pool.empty
        return make, bind_shape(type_.shape, {}), type_.dtype


class Interpreter:
    """The engine that evaluates node by node and can watch every value."""

    def __init__(
        self, graph: Graph, prepared: Prepared, pool: BlockPool, observe: ObserveNodes
    ) -> None:
        selection = select(graph, prepared.values, prepared.effects, frozenset(prepared.fed))
        require_fed(graph, selection)
        self.reads = selection.reads
        self.writes = selection.writes
        self.arenas: tuple[Arena, ...] = ()
        self.draws = selection.draws
        self.started = False
        self._graph = graph
        self._prepared = prepared
        self._pool = pool
        self._observe = observe

    def compute(
        self,
        feeds: Sequence[Array],
        held: Snapshot,
        run_number: int,
        cancel: threading.Event,
        watch: Watch | None = None,
    ) -> Computed:
        """Run once.  There is no plan to watch."""
        values, effects, fed = self._prepared
        given = dict(zip(fed, feeds, strict=True))
        result = interpret(
            self._graph, values, effects, given, held.arrays, run_number, self._observe, cancel
        )
        types = []
        for name in self.writes:
            types.append(array_type(result.writes[name]))
            require_fit(self._graph, name, types[-1], "assignment to")
        outputs = [self._pool.empty(array.shape, array.dtype) for array in result.values]
        layout = Layout(self.writes, types, creation_order(self._graph))
        writes = layout.allocate(self._pool)
        for array, source in zip(outputs, result.values, strict=True):
            array[...] = source
        for written, name in zip(writes, self.writes, strict=True):
            hosted(written)[...] = result.writes[name]
        return Computed(outputs, layout.written(writes))

    def trim(self) -> int:
        """Nothing is kept."""
        return 0


def require_plans(engine: Engine, asked: str) -> Planning:
    """The engine itself.  Raises PlanError if it has no plans."""
    if not isinstance(engine, Interpreter):
        return cast("Planning", engine)
    raise PlanError(
        "a session that checks numbers interprets the graph and has no plan",
        asked=asked,
        expected="a session without check_numerics",
        found="check_numerics=True",
    )


def _getter(keys: Sequence[Any]) -> Callable[[Any], Sequence[Any]]:
    """What takes the items of these keys out of anything, in order."""
    if len(keys) > 1:
        return operator.itemgetter(*keys)
    return lambda items: [items[key] for key in keys]


def creation_order(graph: Graph) -> dict[str, int]:
    """The rank of each variable of a graph."""
    return {name: rank for rank, name in enumerate(graph.variable_specs)}
