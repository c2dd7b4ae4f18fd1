"""Nodes and regions that are alike, so that what is found for one need not be found again.

The layers of a network are computed by equal regions over other values.  Numbers of nodes and
values tell them apart, nothing else does: a kind leaves these away.  Kinds are found once for
all sizes; of one kind, nodes have the same sizes whatever the symbols stand for.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from staticad_schema.attributes import identity, is_symbolic
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.shapes import is_static

from .rows import ROW_VIEWS


class Kind:
    """What nodes or regions that are alike have in common, compared by being the same object.

    fixed: whether no size depends on symbols.  steady: for regions, whether none does but those
    of the rows.
    """

    __slots__ = ("fixed", "steady")

    def __init__(self, fixed: bool, steady: bool) -> None:
        self.fixed = fixed
        self.steady = steady


class Pattern(NamedTuple):
    """A region of a kind.  operands: the values that flow in, in the order of their first use.
    made: the values that are computed."""

    kind: Kind
    operands: tuple[int, ...]
    made: tuple[int, ...]


class Alike:
    """What is known of the nodes and regions of one program.

    kernels, tiles, recipes, launched: what has been made for kinds that are fixed, or steady.
    """

    def __init__(self, graph: Graph) -> None:
        self.kernels: dict[Any, Any] = {}
        self.tiles: dict[Any, Any] = {}
        self.recipes: dict[Any, Any] = {}
        self.launched: dict[Any, Any] = {}
        self._graph = graph
        self._kinds: dict[Hashable, Kind] = {}
        self._nodes: dict[int, Kind] = {}
        self._regions: dict[tuple[Any, ...], Pattern] = {}

    def node(self, index: int, node: Node) -> Kind:
        """The kind of a node: its op, attributes and operands' types, symbols included."""
        found = self._nodes.get(index)
        if found is None:
            operands = [self._graph.types[v] for v in node.inputs]
            attributes = identity(tuple(node.attributes.items())) if node.attributes else ()
            key = (node.op, attributes, *operands)
            found = self._kinds.get(key)
            if found is None:
                symbolic = any(map(is_symbolic, node.attributes.values()))
                static = all(t.is_static for t in (*operands, *node.types))
                # Several threads may look at once.
                found = self._kinds.setdefault(key, Kind(static and not symbolic, not symbolic))
            self._nodes[index] = found
        return found

    def region(self, members: tuple[int, ...], leaving: Sequence[int], rows: int) -> Pattern:
        """The region of these nodes.  leaving: the values that others need."""
        asked = (members, rows, *leaving)
        found = self._regions.get(asked)
        if found is None:
            found = self._regions[asked] = self._pattern(members, leaving, rows)
        return found

    def _pattern(self, members: Sequence[int], leaving: Sequence[int], rows: int) -> Pattern:
        nodes, types = self._graph.nodes, self._graph.types
        made = {v: k for k, v in enumerate(v for i in members for v in nodes[i].outputs)}
        operands: dict[int, int] = {}
        told: list[Hashable] = [rows, tuple([made.get(v, -1) for v in leaving])]
        kinds = []
        for index in members:
            node = nodes[index]
            kinds.append(self.node(index, node))
            inputs = [
                made[v] if v in made else -1 - operands.setdefault(v, len(operands))
                for v in node.inputs
            ]
            told.append((kinds[-1], tuple(inputs)))
        key = tuple(told)
        found = self._kinds.get(key)
        if found is None:
            # Views take the shape that they lead to from its type.
            plain = all(
                k.steady or nodes[i].op in ROW_VIEWS for i, k in zip(members, kinds, strict=True)
            )
            steady = plain and all(is_static(types[v].shape[rows:]) for v in (*operands, *made))
            fixed = steady and all(kind.fixed for kind in kinds)
            found = self._kinds.setdefault(key, Kind(fixed, steady))
        return Pattern(found, tuple(operands), tuple(made))
