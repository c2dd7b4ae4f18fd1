"""The variables of a session whose values this process holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from staticad_schema.errors import PlanError
from staticad_schema.graph import Graph
from staticad_schema.types import Array, array_type

from .flats import Flat
from .interpret import Observe, interpret
from .program import Arena
from .residence import hosted
from .selection import select
from .state import Layout, Snapshot, Store, require_fit
from .variables import Variables


class StoredVariables(Variables):
    """The values that a store holds for the variables of a graph."""

    def __init__(self, graph: Graph, store: Store, observe: Observe | None = None) -> None:
        """observe: told of every node that an initial value is computed by."""
        super().__init__(graph)
        self.store = store
        self._observe = observe

    def read(self, name: str) -> Array:
        """A copy of the value of a variable of the graph."""
        return self.ready((name,)).arrays[name].copy()

    def publish(self, arrays: Mapping[str, Array], counters: Snapshot | None = None) -> None:
        """Set variables to arrays that nobody else holds, and the counters, in one step."""
        for name, array in arrays.items():
            require_fit(self._graph, name, array_type(array), "variable")
            self.store.declare(self._graph, self._graph.variable_specs[name])
        with self.store.writer:
            base = self.store.snapshot
            if counters is not None:
                base = Snapshot(base.arrays, counters.run_number, counters.step)
            self.store.snapshot = base.with_arrays(arrays)

    def ready(self, names: tuple[str, ...]) -> Snapshot:
        """A snapshot that holds these variables."""
        snapshot = self.store.snapshot
        if not snapshot.arrays.keys() >= set(names):
            with self.store.writer:
                snapshot = self.ready_for_writer(names)
        return snapshot

    def ready_for_writer(
        self, names: tuple[str, ...], writes: tuple[str, ...] = (), arenas: Sequence[Arena] = ()
    ) -> Snapshot:
        """The same for who holds the store's writer lock, and writes some of them next.

        Those lie together, as what is written will: so their memory is what a later run needs.
        arenas: those of them that are read as one.
        """
        snapshot = self.store.snapshot
        missing = [name for name in names if name not in snapshot.arrays]
        if missing:
            whole = [arena for arena in arenas if set(missing).issuperset(arena.names)]
            inside = {name for arena in whole for name in arena.names}
            layout = self._together([n for n in missing if n in writes and n not in inside], whole)
            arrays = [hosted(array) for array in layout.allocate(self.store.pool)]
            places = dict(zip(layout.names, arrays, strict=False))
            for arena, array in zip(whole, arrays[len(layout.names) :], strict=True):
                flat = Flat(arena, array)
                places |= {name: hosted(flat.stretch(name)) for name in arena.names}
            initial = self.initial(missing, places)
            known = inside.union(snapshot.arrays)
            fresh = {name: array for name, array in initial.items() if name not in known}
            snapshot = snapshot.with_arrays(fresh, layout.written(arrays).flats)
            self.store.snapshot = snapshot
        return snapshot

    def _together(self, names: list[str], arenas: Sequence[Arena]) -> Layout:
        """Memory for variables of static type, and for arenas."""
        specs = self._graph.variable_specs
        static = [name for name in names if specs[name].type.is_static]
        types = [specs[name].type for name in static]
        rank = {name: k for k, name in enumerate(specs)}
        return Layout(static, types, rank, arenas)

    def initial(
        self, names: list[str], places: Mapping[str, Array] | None = None
    ) -> dict[str, Array]:
        """The initial values of variables and of those that they are computed from, some of them
        in the given places.

        They follow from the graph alone, whatever the variables have become meanwhile.
        Raises PlanError for one that needs a feed.
        """
        specs = self._graph.variable_specs
        found: dict[str, Array] = {}
        stack = list(names)
        opened: set[str] = set()
        while stack:
            name = stack[-1]
            if name in found:
                stack.pop()
                continue
            spec = specs[name]
            self.store.declare(self._graph, spec)
            reads = select(self._graph, (spec.initial,), (), ()).reads
            missing = [r for r in reads if r not in found]
            if missing:
                if name in opened:
                    raise PlanError(
                        "variables are initialised by each other",
                        asked=f"variable {name!r}",
                        expected="an initial value that does not need it",
                        found=f"one that reads {', '.join(map(repr, missing))}",
                        site=self._graph.site(self._graph.nodes[spec.node].site),
                    )
                opened.add(name)
                stack += missing
                continue
            (value,) = interpret(
                self._graph, (spec.initial,), (), {}, found, 0, self._observe
            ).values
            require_fit(self._graph, name, array_type(value), "initial value of")
            array = (places or {}).get(name)
            if array is None:
                array = self.store.pool.empty(value.shape, value.dtype)
            array[...] = value
            found[name] = array
            stack.pop()
        return found
