"""What a run would take: operations and memory, from types alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from staticad_schema.calls import bind_arguments
from staticad_schema.dims import Dim, symbols_of
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.shapes import bind_shape
from staticad_schema.types import TensorType

from ..selection import select
from ..session import Session
from ..work import operations

Types = Sequence[TensorType]


def costs(
    graph: Graph, values: Sequence[int], effects: Sequence[int], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """Operations and bytes of a run on NumPy for sizes of the symbols, as JSON data.

    A loop whose length only a run finds counts one iteration, a choice its costliest branch.
    Where sizes are missing, these are named instead.  Raises PlanError.
    """
    chosen = select(graph, values, effects, ())
    types = [t for i in chosen.nodes for t in graph.nodes[i].types]
    types += [graph.variable_specs[name].type for name in chosen.reads]
    unknown = sorted({s for t in types for d in t.shape for s in symbols_of(d)} - sizes.keys())
    if unknown:
        return {"operations": None, "memory": None, "unknown_sizes": unknown}
    counted = _Operations(graph).of(graph, chosen.nodes, sizes)
    fetches = [*map(graph.handle, values), *map(graph.effect, effects)]
    used = {symbol for t in types for d in t.shape for symbol in symbols_of(d)}
    with Session(graph, device="numpy") as session:
        predicted = session.memory(fetches, {k: v for k, v in sizes.items() if k in used})
    memory = {name: n for name, n in predicted._asdict().items() if name != "largest"}
    return {"operations": counted, "memory": memory, "unknown_sizes": []}


class _Operations:
    """Operations of nodes, those of each body counted once for the types of its arguments."""

    def __init__(self, whole: Graph) -> None:
        self._whole = whole
        self._known: dict[tuple[str, Types], int] = {}

    def of(self, graph: Graph, nodes: Iterable[int], sizes: Mapping[str, int]) -> int:
        """Of these nodes together."""
        total = 0
        for index in nodes:
            node = graph.nodes[index]
            inputs = [_static(graph.types[v], sizes) for v in node.inputs]
            if node.calls:
                total += self._called(node, inputs, sizes)
            else:
                total += operations(node.op, inputs, [_static(t, sizes) for t in node.types])
        return total

    def _called(self, node: Node, inputs: Types, sizes: Mapping[str, int]) -> int:
        if node.op == "call":
            return self._body(node.calls[0], inputs)
        if node.op == "switch":
            return max(self._body(name, inputs[1:]) for name in node.calls)
        if node.op == "while_loop":
            return sum(self._body(name, inputs) for name in node.calls)
        if node.op == "scan":
            carried, end = node.attributes["carried"], node.attributes["carried"]
            end += node.attributes["sequences"]
            elements = [t.with_shape(t.shape[1:]) for t in inputs[carried:end]]
            (length,) = bind_shape((node.attributes["length"],), sizes)
            one = self._body(node.calls[0], (*inputs[:carried], *elements, *inputs[end:]))
            return length * one
        # What else has bodies has them for its derivatives.
        return 0

    def _body(self, name: str, arguments: Types) -> int:
        function = self._whole.function(name)
        key = name, tuple(arguments)
        if key not in self._known:
            bound = bind_arguments(function, tuple(arguments))
            sizes = {k: v for k, v in bound.items() if isinstance(v, int)}
            body = function.body
            self._known[key] = self.of(body, range(len(body.nodes)), sizes)
        return self._known[key]


def _static(type_: TensorType, sizes: Mapping[str, int]) -> TensorType:
    """The type with sizes; those that only a run of a body finds are taken as 1."""
    shape = type_.shape
    if type_.is_static:
        return type_
    found = {s: 1 for d in shape if isinstance(d, Dim) for s in symbols_of(d)} | dict(sizes)
    return type_.with_shape(bind_shape(shape, found))
