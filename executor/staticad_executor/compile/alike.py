"""Nodes and regions that are alike, so that what is found for one need not be found again.

The layers of a network are computed by equal regions over other values.  Numbers of nodes and
values tell them apart, nothing else does: a pattern leaves these away.  Patterns do not depend
on sizes, and are found once for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from staticad_schema.attributes import identity
from staticad_schema.graph import Graph
from staticad_schema.node import Node


class Pattern(NamedTuple):
    """kind: the same object for regions that are alike.  operands: the values that flow in, in the
    order of their first use.  made: the values that are computed."""

    kind: object
    operands: tuple[int, ...]
    made: tuple[int, ...]


class Alike:
    """What is known of the nodes and regions of one program."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._kinds: dict[Hashable, object] = {}
        self._nodes: dict[int, object] = {}
        self._regions: dict[tuple[Any, ...], Pattern] = {}

    def node(self, index: int, node: Node) -> object:
        """The same object for nodes of one op that have equal attributes, symbols included."""
        if not node.attributes:
            return node.op
        found = self._nodes.get(index)
        if found is None:
            key = node.op, identity(tuple(node.attributes.items()))
            found = self._nodes[index] = self._kind(key)
        return found

    def region(self, members: tuple[int, ...], leaving: tuple[int, ...], rows: int) -> Pattern:
        """The pattern of a region.  leaving: the values that others need."""
        asked = members, leaving, rows
        found = self._regions.get(asked)
        if found is None:
            found = self._regions[asked] = self._pattern(members, leaving, rows)
        return found

    def _pattern(self, members: Sequence[int], leaving: Sequence[int], rows: int) -> Pattern:
        nodes, types = self._graph.nodes, self._graph.types
        made = {v: k for k, v in enumerate(v for i in members for v in nodes[i].outputs)}
        operands: dict[int, int] = {}
        told: list[Hashable] = [rows, tuple([made.get(v, -1) for v in leaving])]
        for index in members:
            node = nodes[index]
            inputs = [
                made[v] if v in made else -1 - operands.setdefault(v, len(operands))
                for v in node.inputs
            ]
            dtypes = [type_.dtype for type_ in node.types]
            told.append((self.node(index, node), tuple(inputs), tuple(dtypes)))
        told.extend([types[v].dtype for v in operands])
        return Pattern(self._kind(tuple(told)), tuple(operands), tuple(made))

    def _kind(self, key: Hashable) -> object:
        # Not a number: several threads may look at once.
        return self._kinds.setdefault(key, object())
