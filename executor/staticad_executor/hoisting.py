"""The engine of programs of which a part follows from variables alone.

That part runs when one of the variables has changed since it ran; what it gave is kept, and
carried into the rest like feeds.  Arrays of variables are never written, so that the same arrays
mean the same values.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

from staticad_schema.graph import Graph
from staticad_schema.types import Array, nbytes

from .compile import Hoisted, Plan
from .engine import Computed, Given, Known, Planner, Shapes, Watch
from .memory import MemoryPrediction, predicted
from .pool import BlockPool
from .scratch import Scratch
from .state import Snapshot

Kept = tuple[tuple[weakref.ref[Any], ...], list[Array]]
"""The arrays of variables that values were computed from, and the values."""


class HoistingPlanner:
    """The engine that runs the first part when it has to, and then the rest."""

    def __init__(
        self,
        graph: Graph,
        hoisted: Hoisted,
        given: Sequence[Given],
        pool: BlockPool,
        scratch: Scratch,
    ) -> None:
        carried: list[Given] = [("carried", value) for value in hoisted.carried]
        self.program = hoisted.program
        self._first = Planner(graph, hoisted.first, (), pool, scratch)
        self._rest = Planner(graph, hoisted.rest, [*given, *carried], pool, scratch)
        self.finds: dict[str, str] = {}
        self.reads = tuple(dict.fromkeys((*self._rest.reads, *self._first.reads)))
        self.shaped = tuple(dict.fromkeys((*self._rest.shaped, *self._first.shaped)))
        self.writes = self._rest.writes
        self.arenas = self._rest.arenas
        self.draws = self._rest.draws
        self.started = False
        self._fed = len(given)
        self._position = {value: k for k, (_, value) in enumerate(given)}
        self._types = [self.program.graph.types[value] for value in hoisted.carried]
        # Replaced in one step: of two threads that compute at once the later one's is kept.
        self._kept: Kept | None = None

    def compute(
        self,
        feeds: Sequence[Array],
        held: Snapshot,
        run_number: int,
        cancel: threading.Event,
        watch: Watch | None = None,
    ) -> Computed:
        """Run once.  Raises PlanError, ExecutionError, CancelledError."""
        kept = self._kept
        variables = held.arrays.known
        arrays = [variables[name] for name in self._first.reads]
        if kept is None or any(
            known() is not array for known, array in zip(kept[0], arrays, strict=True)
        ):
            values = self._first.compute((), held, run_number, cancel, watch).values
            kept = self._kept = tuple([weakref.ref(array) for array in arrays]), values
        return self._rest.compute([*feeds, *kept[1]], held, run_number, cancel, watch)

    @property
    def last(self) -> Known | None:
        """The shapes of feeds, then variables, of the plans that ran last."""
        last = self._rest.last
        if last is None:
            return None
        count = self._fed + len(self._types)
        read = dict(zip(self._rest.shaped, last.shapes[count:], strict=True))
        types = self.program.graph.types
        sources = {s.original: s.value for s in self.program.sources if s.kind == "variable"}
        for name in self.shaped:
            # What is hoisted depends on variables of known sizes only.
            read.setdefault(name, tuple(map(int, types[sources[name]].shape)))
        return Known((*last.shapes[: self._fed], *(read[name] for name in self.shaped)), {})

    def plans(self, known: Known) -> list[Plan]:
        """The plan of the first part, which need not run, and that of the rest."""
        read = dict(zip(self.shaped, known.shapes[self._fed :], strict=True))
        first: Shapes = tuple(read[name] for name in self._first.shaped)
        carried = [tuple(map(int, type_.shape)) for type_ in self._types]
        rest = (*known.shapes[: self._fed], *carried, *(read[name] for name in self._rest.shaped))
        return [*self._first.plans(Known(first, {})), *self._rest.plans(Known(rest, {}))]

    def predict(self, known: Known) -> MemoryPrediction:
        """The memory that one run needs, with what is kept."""
        first, rest = self.plans(known)
        kept = sum(map(nbytes, self._types))
        read = dict(zip(self.shaped, known.shapes[self._fed :], strict=True))
        types = self.program.graph.types
        sources = []
        for source in self.program.sources:
            type_ = types[source.value]
            if source.kind == "variable" and source.original in read:
                type_ = type_.with_shape(read[str(source.original)])
            elif source.kind == "feed":
                type_ = type_.with_shape(known.shapes[self._position[int(str(source.original))]])
            sources.append((source.kind, type_))
        boundary = len(self._rest.structure.fetches)
        worst = max(first, rest, key=lambda plan: plan.peak_bytes)
        return predicted(
            sources, rest.output_types[:boundary], rest.output_types[boundary:],
            worst.peak_bytes + kept, worst.memory,
        )  # fmt: skip

    def trim(self) -> int:
        """Give back scratch memory; its bytes.  What is kept returns to the pool."""
        self._kept = None
        return self._first.trim() + self._rest.trim()
