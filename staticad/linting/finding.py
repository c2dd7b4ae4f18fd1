"""What a rule sees, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from staticad_schema.errors import Site
from staticad_schema.graph import Graph
from staticad_schema.node import Node


@dataclass(frozen=True)
class Finding:
    """One remark: the rule's name, the node, the line that made it, what is wrong, what to do.

    body: the body that holds the node, or "".
    """

    rule: str
    node: str
    site: Site | None
    message: str
    hint: str
    body: str = ""

    def __str__(self) -> str:
        where = str(self.site) if self.site else "no line is known"
        inside = f" in {self.body!r}" if self.body else ""
        return f"{where}: {self.rule}: {self.message} ({self.node!r}{inside}); {self.hint}"


@dataclass(frozen=True)
class Linted:
    """A graph, or one of its bodies, with what rules ask of it.

    whole: the graph that has the variables, the signatures and the seed; body: a name, or "".
    """

    graph: Graph
    whole: Graph
    body: str = ""

    @property
    def own(self) -> Iterator[tuple[int, Node]]:
        """The nodes of the user's lines, not those of derivatives."""
        return ((i, n) for i, n in enumerate(self.graph.nodes) if not n.forward_site)

    def producer(self, value: int) -> Node:
        """The node that a value is of."""
        return self.graph.nodes[self.graph.producers[value]]

    def behind(self, value: int, *ops: str) -> Node:
        """The node that a value is of, through nodes of these ops, as if they were not there."""
        node = self.producer(value)
        while node.op in ops:
            node = self.producer(node.inputs[0])
        return node

    def is_number(self, value: int, number: float) -> bool:
        """Whether a value is the constant of that number."""
        node = self.producer(value)
        array = node.attributes["value"] if node.op == "constant" else None
        return array is not None and array.ndim == 0 and bool(array == number)

    @cached_property
    def used(self) -> frozenset[int]:
        """Values that nodes or signatures use."""
        used = {v for node in self.graph.nodes for v in node.inputs}
        for signature in self.graph.signatures.values():
            used.update(signature.outputs.values())
        return frozenset(used)

    def finding(self, rule: str, index: int, message: str, hint: str) -> Finding:
        """A remark on a node."""
        node = self.graph.nodes[index]
        name = self.graph.node_name(index)
        return Finding(rule, name, self.graph.site(node.site), message, hint, self.body)


Rule = Callable[[Linted], Iterator[Finding]]
