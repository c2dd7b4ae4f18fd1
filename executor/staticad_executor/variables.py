"""The variables of a session, as a mapping from names to arrays."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from staticad_schema.errors import FeedTypeError, PlanError, UnknownFetchError, near_miss
from staticad_schema.graph import Graph
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import Array

from .feeds import convert
from .fetches import own
from .state import Snapshot


class Variables(Mapping[str, Array]):
    """The values that a session holds for the variables of its graph.

    Reading gives a copy; `variables[name] = value` sets the variable, converted and checked
    as a feed is.  Keys are names, or variables.  A variable takes its initial value when it
    is first needed, computed with run number 0, so that it depends on nothing but the graph.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @abstractmethod
    def read(self, name: str) -> Array:
        """A copy of the value of a variable of the graph."""

    @abstractmethod
    def publish(self, arrays: Mapping[str, Array], counters: Snapshot | None = None) -> None:
        """Set variables to arrays that nobody else holds, and the counters, in one step."""

    def __getitem__(self, key: str | Handle) -> Array:
        with asking("variables", keeps=True):
            return self.read(self.name(key))

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
