"""Bodies of derivatives: copies of bodies in which derivatives are built, and what is taken of
them.

A copy is pure: variables that it reads are inputs behind the body's own, what it prints or checks
has happened in the body itself, and calls are choices of one branch, so that what is random in
them has the call path that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from staticad_schema.graph import Function, Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, OPS, FunctionRef
from staticad_schema.run_time_sizes import Needs
from staticad_schema.types import INT64, TensorType


class Derived(Graph):
    """A body under construction, beside the graph that will have it.  inputs: its parameters.
    state: the values of the variables that it reads, by name."""

    def __init__(self, outer: Graph) -> None:
        super().__init__(outer.seed)
        self.functions = outer.functions
        self.body_name = "derivative"
        self.inputs: list[int] = []
        self.state: dict[str, int] = {}
        site = outer.building_site()
        self._here = 0 if site is None else self.intern_site(site)

    def current_site(self) -> int:
        """The line that asks for the derivative."""
        return self._here

    def state_value(self, variable: str) -> int:
        """An input."""
        return self.state[variable]

    def parameter(self, type_: TensorType) -> int:
        """One more input."""
        attributes = {"index": len(self.inputs), "dtype": type_.dtype, "shape": type_.shape}
        start = len(self.types)
        self.append_trusted(Node("parameter", (), attributes, (type_,), start, site=self._here))
        self.inputs.append(start)
        return start

    def taken(self, source: Graph, node: Node, inputs: Iterable[int]) -> int:
        """A copy of a node of another graph; its first value."""
        start = len(self.types)
        site, forward = source.site(node.site), source.site(node.forward_site)
        self.append_trusted(
            node._replace(
                inputs=tuple(inputs), start=start, after=(), name=None,
                site=0 if site is None else self.intern_site(site),
                forward_site=0 if forward is None else self.intern_site(forward),
            )
        )  # fmt: skip
        return start


def variables_read(graph: Graph, node: Node) -> tuple[str, ...]:
    """The variables that the bodies of a node read, also those that they call."""
    seen: set[str] = set()
    waiting = list(node.calls)
    read: dict[str, None] = {}
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            function = graph.function(name)
            waiting += function.calls
            read.update(dict.fromkeys(function.reads))
    return tuple(read)


def copied(graph: Graph, name: str, reads: Sequence[str]) -> tuple[Derived, tuple[int, ...]]:
    """A copy of a body that takes these variables as inputs, and its outputs in it."""
    function = graph.function(name)
    body, copy = function.body, Derived(graph)
    ids = {value: copy.parameter(body.types[value]) for value in function.inputs}
    for variable in reads:
        copy.state[variable] = copy.parameter(graph.types[graph.state_value(variable)])
    for node in body.nodes:
        if node.op == "parameter":
            continue
        if node.op in ("variable", "read_variable"):
            ids[node.start] = copy.state[node.attributes["variable"]]
            continue
        inputs = [ids[v] for v in node.inputs]
        if node.definition.effect == "io":
            # What is handed on is the last operand.
            ids.update(dict.fromkeys(node.outputs, inputs[-1]))
            continue
        if node.op == "call":
            attributes = node.attributes
            functions = (FunctionRef(attributes["function"]),)
            inputs = [copy.scalar(0, INT64), *inputs]
            node = node._replace(
                op="switch", attributes={"functions": functions, "path": attributes["path"]}
            )
        start = copy.taken(body, node, inputs)
        ids.update(zip(node.outputs, range(start, start + len(node.types)), strict=True))
    return copy, tuple(ids[v] for v in function.outputs)


def extracted(
    graph: Graph, base: str, source: Graph, given: Sequence[int], outputs: Sequence[int]
) -> FunctionRef:
    """The body that computes these values of `source` from the given ones, entered in the table
    under a name that begins with `base`."""
    body = Derived(graph)
    ids: dict[int, int] = {}
    for value in given:
        made = body.parameter(source.types[value])
        ids.setdefault(value, made)
    for index in needed(source, ids, outputs):
        node = source.nodes[index]
        start = body.taken(source, node, [ids[v] for v in node.inputs])
        for v, own in zip(node.outputs, range(start, start + len(node.types)), strict=True):
            ids.setdefault(v, own)
    name = free_name(graph, base)
    made_outputs = tuple(ids[v] for v in outputs)
    graph.add_function(Function(name, body, tuple(body.inputs), made_outputs))
    return FunctionRef(name)


def free_name(graph: Graph, base: str) -> str:
    """A name for a body that is not taken, which begins with `base`."""
    count, name = 1, base
    while name in graph.functions:
        count += 1
        name = f"{base}_{count}"
    return name


def needed(source: Graph, given: Iterable[int], outputs: Iterable[int]) -> list[int]:
    """The nodes, ascending, that compute the outputs from what is given."""
    known = set(given)
    sizes = Needs(source.run_time.finders)
    waiting = [source.producers[v] for v in outputs if v not in known]
    seen = set(waiting)
    while waiting:
        node = source.nodes[waiting.pop()]
        above = [source.producers[v] for v in node.inputs if v not in known]
        for index in (*above, *(sizes.of(node) if sizes else ())):
            if index not in seen:
                seen.add(index)
                waiting.append(index)
    return sorted(seen)


def state_of(graph: Graph, node: Node) -> list[int]:
    """The values of the variables that a node's bodies read."""
    return [graph.state_value(name) for name in variables_read(graph, node)]


def appended(graph: Graph, op: str, inputs: Sequence[int], **attributes: Any) -> list[Any]:
    """The outputs of a new node."""
    node = graph.append(OPS[op], inputs, attributes)
    return [graph.handle(v) for v in node.outputs]


STRUCTURED = CALLERS - {"call"}
"""Ops with bodies that are not copied into their caller."""
