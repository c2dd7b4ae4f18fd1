"""What users fetch: tensors, variables, effects and names, in nested containers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from staticad_schema.errors import FeedTypeError, PlanError, UnknownFetchError, UnknownNameError
from staticad_schema.graph import Graph
from staticad_schema.handle import Effect, Handle

# Builds the caller's structure from the results of the leaves.
Rebuild = Callable[[list[Any]], Any]


# Results are built by one call in another for each container in another.
DEEPEST = 100


class Fetches:
    """A fetch structure, resolved against a graph.

    values: value ids, each once.  effects: node indices, each once.  `rebuild` takes the
    arrays of the values, in order, and copies where a value was fetched again.
    """

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self._values: dict[int, int] = {}
        self._effects: dict[int, None] = {}
        self._graph = graph
        self._open: set[int] = set()
        self.rebuild: Rebuild = self._structure(fetches, "fetch")
        self.values = tuple(self._values)
        self.effects = tuple(self._effects)

    def _structure(self, fetch: Any, path: str) -> Rebuild:
        if isinstance(fetch, Handle):
            own(self._graph, fetch, path)
            return self._value(fetch.id)
        if isinstance(fetch, Effect):
            own(self._graph, fetch, path)
            return self._effect(fetch.node_index)
        if isinstance(fetch, str):
            value, node = find(self._graph, fetch, path)
            return self._effect(node) if value is None else self._value(value)
        if isinstance(fetch, list | tuple | Mapping):
            if id(fetch) in self._open:
                raise FeedTypeError("a fetch container holds itself", asked=path)
            if len(self._open) == DEEPEST:
                raise FeedTypeError(
                    "fetches are nested too deeply",
                    asked="fetch",
                    expected=f"lists, tuples and dicts in at most {DEEPEST} others",
                )
            self._open.add(id(fetch))
            try:
                return self._container(fetch, path)
            finally:
                self._open.discard(id(fetch))
        handle = meant(fetch)
        if handle is not None:
            return self._structure(handle, path)
        raise FeedTypeError(
            "None is fetched" if fetch is None else "this cannot be fetched",
            asked=path,
            expected="tensors, variables, effects or names, in lists, tuples or dicts",
            found=f"{type(fetch).__name__}: {fetch!r}"[:200],
            hint=(
                "a gradient with unconnected='none' is None, and so is an effect's result"
                if fetch is None
                else None
            ),
        )

    def _container(self, fetch: Any, path: str) -> Rebuild:
        if isinstance(fetch, Mapping):
            entries = {k: self._structure(f, f"{path}[{k!r}]") for k, f in fetch.items()}
            return lambda results: {k: entry(results) for k, entry in entries.items()}
        parts = [self._structure(f, f"{path}[{i}]") for i, f in enumerate(fetch)]
        if isinstance(fetch, list):
            return lambda results: [part(results) for part in parts]
        if hasattr(fetch, "_fields"):
            kind = type(fetch)
            return lambda results: kind(*[part(results) for part in parts])
        return lambda results: tuple([part(results) for part in parts])

    def _value(self, value: int) -> Rebuild:
        if value in self._values:
            position = self._values[value]
            return lambda results: results[position].copy()
        position = self._values[value] = len(self._values)
        return lambda results: results[position]

    def _effect(self, node: int) -> Rebuild:
        self._effects[node] = None
        return _nothing


def _nothing(results: list[Any]) -> None:
    return None


def meant(thing: Any) -> Handle | None:
    """The handle that anything with a `.graph` and the id of a `.value` stands for, or None."""
    graph, value = getattr(thing, "graph", None), getattr(thing, "value", None)
    if isinstance(graph, Graph) and type(value) is int and 0 <= value < len(graph.types):
        return graph.handle(value)
    return None


def own(graph: Graph, handle: Handle | Effect, asked: str) -> None:
    """Raises PlanError if the handle is of another graph."""
    if handle.graph is not graph:
        raise PlanError(
            "it belongs to another graph",
            asked=asked,
            expected="a tensor of the graph that this session runs",
            found=handle.describe(),
            site=handle.site,
        )


def find(graph: Graph, name: str, asked: str) -> tuple[int | None, int]:
    """The value id (None for an effect) and node index of a name.  Raises UnknownFetchError."""
    try:
        try:
            index = graph.find(name)
        except UnknownNameError:
            # Or "node:k", the output k of a node.
            value = graph.value(name)
            return value, graph.producers[value]
    except UnknownNameError as error:
        hint = error.hint
        if name in graph.signatures:
            outputs = graph.signatures[name].outputs.values()
            names = ", ".join(repr(graph.value_name(v)) for v in outputs) or "none"
            hint = f"{name!r} is a signature; the names of its outputs in the graph: {names}"
        raise UnknownFetchError(
            error.problem, asked=asked, expected=error.expected, found=repr(name), hint=hint
        ) from None
    node = graph.nodes[index]
    return (node.start if node.types else None), index
