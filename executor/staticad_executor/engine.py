"""What a session runs: fetches and feeds, prepared once.

An engine takes arrays and gives arrays.  It knows neither users' structures nor commits.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from staticad_schema.graph import Graph

from .arrays import Array, array_type
from .interpret import Observe, interpret
from .pool import BlockPool
from .selection import require_fed, select
from .state import Layout, require_fit


class Computed(NamedTuple):
    """Arrays of their own: the fetched values, and the new values of `Engine.writes`."""

    values: list[Array]
    writes: list[Array]


class Engine(Protocol):
    """reads: variables whose start value is needed.  writes: variables that are written.
    draws: whether random bits are drawn."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    draws: bool

    def compute(
        self,
        feeds: Sequence[Array],
        variables: Mapping[str, Array],
        run_number: int,
        cancel: threading.Event,
    ) -> Computed:
        """Run once.  feeds in the order they were prepared for; nothing given is written."""
        ...


class Interpreter:
    """The engine that evaluates node by node and can watch every value."""

    def __init__(
        self,
        graph: Graph,
        values: Sequence[int],
        effects: Sequence[int],
        fed: Sequence[int],
        pool: BlockPool,
        observe: Observe | None = None,
    ) -> None:
        selection = select(graph, values, effects, frozenset(fed))
        require_fed(graph, selection)
        self.reads = selection.reads
        self.writes = selection.writes
        self.draws = selection.draws
        self._graph = graph
        self._values = values
        self._effects = effects
        self._fed = fed
        self._pool = pool
        self._observe = observe

    def compute(
        self,
        feeds: Sequence[Array],
        variables: Mapping[str, Array],
        run_number: int,
        cancel: threading.Event,
    ) -> Computed:
        """Run once."""
        result = interpret(
            self._graph,
            self._values,
            self._effects,
            dict(zip(self._fed, feeds, strict=True)),
            variables,
            run_number,
            self._observe,
            cancel,
        )
        types = []
        for name in self.writes:
            array = result.writes[name]
            types.append(array_type(array))
            require_fit(self._graph, name, types[-1], "assignment to")
        values = [self._pool.empty(array.shape, array.dtype) for array in result.values]
        writes = Layout(self.writes, types, creation_order(self._graph)).allocate(self._pool)
        for array, source in zip(values, result.values, strict=True):
            array[...] = source
        for array, name in zip(writes, self.writes, strict=True):
            array[...] = result.writes[name]
        return Computed(values, writes)


def creation_order(graph: Graph) -> dict[str, int]:
    """The rank of each variable of a graph."""
    return {name: rank for rank, name in enumerate(graph.variable_specs)}
