"""The variables of a session, as a mapping from names to arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_schema.errors import FeedTypeError, PlanError, UnknownFetchError, near_miss
from staticad_schema.graph import Graph
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import Array, array_type

from .feeds import convert
from .fetches import own
from .flats import Flat
from .interpret import Observe, interpret
from .program import Arena
from .residence import hosted
from .selection import select
from .state import Layout, Snapshot, Store, require_fit


class Variables(Mapping[str, Array]):
    """The values that a store holds for the variables of a graph.

    Reading gives a copy; `variables[name] = value` sets the variable, converted and checked
    as a feed is.  Keys are names, or variables.  A variable takes its initial value when it
    is first needed, computed with run number 0, so that it depends on nothing but the graph.
    """

    def __init__(self, graph: Graph, store: Store, observe: Observe | None = None) -> None:
        """observe: told of every node that an initial value is computed by."""
        self._graph = graph
        self.store = store
        self._observe = observe

    def __getitem__(self, key: str | Handle) -> Array:
        with asking("variables", keeps=True):
            name = self.name(key)
            return self.ready((name,)).arrays[name].copy()

    def __setitem__(self, key: str | Handle, value: Any) -> None:
        with asking("variables", keeps=True):
            name = self.name(key)
            spec = self._graph.variable_specs[name]
            site = self._graph.site(self._graph.nodes[spec.node].site)
            array = convert(value, spec.type, f"variable {name!r}", site)
            self.publish({name: np.array(array, order="C")})

    def __iter__(self) -> Iterator[str]:
        return iter(self._graph.variable_specs)

    def __len__(self) -> int:
        return len(self._graph.variable_specs)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str | Handle):
            return False
        try:
            self.name(key)
        except PlanError:
            return False
        return True

    def __repr__(self) -> str:
        return f"<variables {', '.join(self)}>"

    def name(self, key: str | Handle) -> str:
        """The name that a key means.  Raises UnknownFetchError, PlanError."""
        specs = self._graph.variable_specs
        if isinstance(key, Handle):
            own(self._graph, key, "variables")
            name = str(key.node.attributes.get("variable", self._graph.value_name(key.id)))
        elif isinstance(key, str):
            name = key
        else:
            raise FeedTypeError(
                "this names no variable",
                asked="variables",
                expected="a variable, or its name",
                found=repr(key)[:200],
            )
        if name not in specs:
            raise UnknownFetchError(
                f"no variable {name!r}",
                asked="variables",
                expected=", ".join(map(repr, specs)) or "none: the graph has no variables",
                found=repr(name),
                hint=near_miss(name, specs),
            )
        return name

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
