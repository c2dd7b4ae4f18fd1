"""Which nodes of a graph are shown, what they take, and what they are for."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from staticad_schema.errors import ArgumentError, UsageError
from staticad_schema.graph import Graph
from staticad_schema.handle import Effect, Handle
from staticad_schema.node import Node
from staticad_schema.sites import user_site


@dataclass(frozen=True)
class Chosen:
    """Some nodes of a graph, by index and in order; `asked`: how many there were to choose from."""

    graph: Graph
    nodes: tuple[int, ...]
    asked: int

    @property
    def cut(self) -> str | None:
        """What is left out, in words."""
        if len(self.nodes) == self.asked:
            return None
        return f"{len(self.nodes):,} of {self.asked:,} nodes are shown: raise limit=, or give of="

    @cached_property
    def sources(self) -> dict[int, list[int]]:
        """For each node those among the chosen ones whose values it takes, each once."""
        shown = set(self.nodes)
        return {i: [j for j in sources_of(self.graph, i) if j in shown] for i in self.nodes}

    @cached_property
    def after(self) -> dict[int, list[int]]:
        """For each node those among the chosen ones that run before it."""
        shown = set(self.nodes)
        return {i: [j for j in self.graph.nodes[i].after if j in shown] for i in self.nodes}

    @cached_property
    def users(self) -> dict[int, list[int]]:
        """For each node the chosen ones that take its values or run after it."""
        users: dict[int, list[int]] = {i: [] for i in self.nodes}
        for index in self.nodes:
            for source in (*self.sources[index], *self.after[index]):
                users[source].append(index)
        return users

    @cached_property
    def kinds(self) -> dict[int, str]:
        """What nodes are for: "forward", "gradient" (made by gradients()), "state" (writes, and
        what is computed from gradients for them)."""
        kinds: dict[int, str] = {}
        for index in self.nodes:
            node = self.graph.nodes[index]
            before = {kinds[j] for j in self.sources[index]}
            if node.definition.effect == "writes" or not node.types:
                kinds[index] = "state"
            elif node.forward_site:
                kinds[index] = "gradient"
            else:
                kinds[index] = "state" if before - {"forward"} else "forward"
        for index in reversed(self.nodes):
            # A constant stands with those that use it.
            followers = {kinds[j] for j in self.users[index]}
            if not self.graph.nodes[index].inputs and followers and "forward" not in followers:
                kinds[index] = min(followers)
        return kinds


def sources_of(graph: Graph, index: int) -> list[int]:
    """Indices of the nodes whose values a node takes, each once."""
    return list(dict.fromkeys(graph.producers[i] for i in graph.nodes[index].inputs))


def _beside_initial(graph: Graph) -> list[int]:
    """The nodes but for those that only the initial values of variables need."""
    waiting = [graph.producers[spec.initial] for spec in graph.variable_specs.values()]
    initial = set(waiting)
    while waiting:
        new = [j for j in sources_of(graph, waiting.pop()) if j not in initial]
        initial.update(new)
        waiting += new
    needed: set[int] = set()
    for index in reversed(range(len(graph.nodes))):
        if index not in initial or index in needed:
            needed.update(sources_of(graph, index))
    return [i for i in range(len(graph.nodes)) if i not in initial or i in needed]


def chosen(graph: Graph, of: Any, limit: Any) -> Chosen:
    """The nodes that `of` needs, the nearest first, or the first ones of the graph.

    What computes the initial values of variables is shown only where it is asked for.

    of: None, or a tensor or effect, or several; limit: how many nodes at most.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ArgumentError(
            "a picture has room for some nodes",
            expected="limit: an integer of at least 1",
            found=f"{limit!r:.80}",
        )
    if of is None:
        nodes = _beside_initial(graph)
        return Chosen(graph, tuple(nodes[:limit]), len(nodes))
    near = dict.fromkeys(_index(graph, t) for t in (of if isinstance(of, list | tuple) else (of,)))
    waiting = deque(near)
    while waiting:
        index = waiting.popleft()
        for source in (*sources_of(graph, index), *graph.nodes[index].after):
            if source not in near:
                near[source] = None
                waiting.append(source)
    kept = sorted(list(near)[:limit])
    return Chosen(graph, tuple(kept), len(near))


def _index(graph: Graph, t: Any) -> int:
    if not isinstance(t, Handle | Effect):
        raise UsageError(
            "not a tensor",
            expected="of: a tensor or an effect of the graph, or several",
            found=f"{t!r:.80}, a {type(t).__name__}",
            site=user_site(),
        )
    graph.check_owner(t, "of")
    return t.node_index


def subject(node: Node) -> str:
    """What an unnamed node is about: a scalar's value, the variable written, a body."""
    value = node.attributes.get("value")
    if value is not None and getattr(value, "ndim", 1) == 0:
        return str(value)
    return str(node.attributes.get("variable", "")) or ", ".join(map(str, node.calls))


def types_text(node: Node) -> str:
    """The types of a node's outputs."""
    return ", ".join(map(str, node.types)) or "no value"
