"""Sizes that only a run finds, such as the number of the elements that are not zero.

Such a size is a symbol in an attribute of the node that finds it, its finder; no other node
finds it, and nothing that is given to a run has it.  What has the symbol in its types or
attributes comes after the finder, and depends on it as on an operand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from .attributes import symbols_in
from .dims import Dim
from .errors import ShapeError
from .node import Node
from .op import Op

GIVEN = frozenset({"placeholder", "parameter", "variable", "read_variable"})
"""Ops whose sizes are given to a run, not found by it."""


def symbols_of_node(node: Node) -> set[str]:
    """The symbols in a node's types and attributes."""
    found = symbols_in(tuple(d for type_ in node.types for d in type_.shape))
    for value in node.attributes.values():
        found |= symbols_in(value)
    return found


def finders_of(nodes: Sequence[Node]) -> dict[str, int]:
    """The index of the node that finds each run-time size."""
    return {name: index for index, node in enumerate(nodes) for name in node.finds}


def new_name(hint: str, counts: dict[str, int], *taken: Collection[str]) -> str:
    """A name that is in none of `taken`: the hint, or the hint and a number.

    counts: how far each hint is used up, so that many alike are not counted from 1 each.
    """
    count = counts.get(hint, 0)
    name = f"{hint}_{count}" if count else hint
    while any(name in names for names in taken):
        count += 1
        name = f"{hint}_{count}"
    counts[hint] = count
    return name


class RunTimeSizes:
    """The finders of a graph, by symbol; which symbols are in use at all; and the bodies that
    are clear: they use no size that is found, nor do those that they call."""

    def __init__(self) -> None:
        self.finders: dict[str, int] = {}
        self.clear: set[str] = set()
        # Looked for only where a size is found, and in each node once.
        self._used: set[str] = set()
        self._seen = 0
        self._counts: dict[str, int] = {}

    def note(self, names: Sequence[str], index: int) -> None:
        """Sizes that the node of that index finds; where two do, the first counts."""
        for name in names:
            self.finders.setdefault(name, index)
        self.clear.clear()

    def forget(self, start: int) -> None:
        """The nodes from that index on are gone; their symbols stay in use."""
        self._seen = min(self._seen, start)
        if self.finders and max(self.finders.values()) >= start:
            self.finders = {name: at for name, at in self.finders.items() if at < start}
            self.clear.clear()

    def used(self, nodes: Sequence[Node]) -> set[str]:
        """Every symbol in the nodes' types and attributes."""
        for node in nodes[self._seen :]:
            self._used |= symbols_of_node(node)
        self._seen = len(nodes)
        return self._used

    def new_name(self, hint: str, nodes: Sequence[Node], taken: Collection[str] = ()) -> str:
        """A symbol that is not in use, called `hint` or by it and a number."""
        return new_name(hint, self._counts, self.used(nodes), taken)

    def check(self, nodes: Sequence[Node], definition: Op, attributes: Mapping[str, Any]) -> None:
        """Raises ShapeError for a next node that finds what is used, or is given what is found."""
        for parameter in definition.run_time_sizes:
            size = attributes[parameter]
            name = size.symbol() if isinstance(size, Dim) else None
            if name is None or name in self.used(nodes):
                raise ShapeError(
                    "a size that the run finds has no symbol of its own",
                    expected="a symbol that is in no other type or attribute",
                    found=f"{parameter}={size}",
                )
        if definition.name in GIVEN and self.finders:
            found = symbols_in(attributes["shape"]) & self.finders.keys()
            if found:
                raise self.not_given(nodes, min(found))

    def not_given(self, nodes: Sequence[Node], name: str) -> ShapeError:
        """The error that a size is to be given which a node finds."""
        finder = nodes[self.finders[name]]
        return ShapeError(
            "the size is found by the run, and cannot be given to it",
            expected="an int, or a name of its own for the size",
            found=f"{name!r}, which {finder.op} finds",
        )


class Needs:
    """Which finders the nodes of a graph need for the sizes in their types and attributes."""

    def __init__(self, finders: Mapping[str, int], known: Collection[str] = ()) -> None:
        """known: symbols that are bound without their finders."""
        self._finders = {name: index for name, index in finders.items() if name not in known}

    def __bool__(self) -> bool:
        return bool(self._finders)

    def of(self, node: Node) -> Iterator[int]:
        """The finders' indices; a node does not need itself."""
        for name in symbols_of_node(node).difference(node.finds):
            if name in self._finders:
                yield self._finders[name]
