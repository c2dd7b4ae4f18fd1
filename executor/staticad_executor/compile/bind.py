"""Stage 6: concrete sizes.

Inference runs again, with the types that are known now, where something was symbolic.  What
asked for sizes becomes a constant, and so does what is computed from that alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from staticad_schema.attributes import bound, is_symbolic
from staticad_schema.errors import PlanError, StaticadError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, OPS
from staticad_schema.shapes import bind_shape, shape_text
from staticad_schema.types import Array, TensorType

from ..failure import node_failure
from ..program import ASKS_SIZES, Program
from ..sizes import Sizes
from .alike import Kind
from .group import Grouped
from .lowered import output_types
from .rewrites.fold import Budget, folded

_NO_SIZES: Mapping[str, int] = {}


@dataclass(frozen=True, eq=False)
class Pending:
    """What of a program has to wait for sizes.

    symbolic: nodes to infer again, ascending.  late: among them, and beyond, the nodes that
    become constants once sizes are known, if the budget allows it.
    """

    nodes: tuple[int, ...]
    symbolic: frozenset[int]
    late: frozenset[int]


@dataclass(frozen=True, eq=False)
class Bound:
    """A grouped program with a static type for every value.

    attributes: of the nodes in which sizes had to be put.  constants: values that became
    constants, and folded: their nodes, which no longer run.
    """

    grouped: Grouped
    types: list[TensorType]
    attributes: dict[int, dict[str, Any]]
    constants: dict[int, Array]
    folded: frozenset[int]
    sizes: dict[str, int]

    def node_attributes(self, index: int) -> dict[str, Any]:
        """A node's attributes without symbols."""
        found = self.attributes.get(index)
        return self.grouped.program.graph.nodes[index].attributes if found is None else found

    def text(self) -> str:
        """The sizes, the types that were symbolic, and what became constant."""
        graph = self.grouped.program.graph
        lines = [f"{name} = {size}" for name, size in sorted(self.sizes.items())]
        for value, (before, now) in enumerate(zip(graph.types, self.types, strict=True)):
            if value in self.constants:
                array = self.constants[value]
                text = str(array.tolist()) if array.size <= 8 else str(now)
                lines.append(f"%{value} = {text}")
            elif before != now:
                lines.append(f"%{value} : {now}")
        return "\n".join(lines) + "\n"


def pending(program: Program) -> Pending:
    """What has to wait for sizes; found once for all sizes."""
    graph = program.graph
    types, producers = graph.types, graph.producers
    symbolic: set[int] = set()
    late: set[int] = set()
    order: list[int] = []
    static_types: set[int] = set()
    for index, node in enumerate(graph.nodes):
        if node.op == "parameter":
            continue
        waits = False
        for type_ in node.types:
            # Types are shared by most values, so that their identity is a cheap key.
            if id(type_) not in static_types:
                if type_.is_static:
                    static_types.add(id(type_))
                else:
                    waits = True
        for v in node.inputs:
            if id(types[v]) not in static_types and not types[v].is_static:
                waits = True
        if not waits and node.attributes:
            waits = any(map(is_symbolic, node.attributes.values()))
        if waits:
            symbolic.add(index)
        if node.op in ASKS_SIZES:
            late.add(index)
        elif (
            (late or not node.inputs)
            and OPS[node.op].effect == "pure"
            and not node.after
            and node.op != "group"
        ):
            above = [producers[v] for v in node.inputs]
            if above and any(p in late for p in above):
                if all(p in late or graph.nodes[p].op == "constant" for p in above):
                    late.add(index)
            elif not above and node.op != "constant":
                late.add(index)
        if waits or index in late:
            order.append(index)
    return Pending(tuple(order), frozenset(symbolic), frozenset(late))


def bind(
    grouped: Grouped,
    what: Pending,
    shapes: Sequence[tuple[int, ...]],
    outer: Mapping[str, int] = _NO_SIZES,
) -> Bound:
    """The program for sources of these shapes.  outer: sizes of symbols that these leave open.

    Raises PlanError where shapes and declarations do not go together, and what inference
    raises, with the user's line.
    """
    program = grouped.program
    graph = program.graph
    nodes = graph.nodes
    sizes = {**outer, **_sizes(program, shapes)}
    types = list(graph.types)
    for source, shape in zip(program.sources, shapes, strict=True):
        types[source.value] = TensorType(types[source.value].dtype, tuple(shape))
    attributes: dict[int, dict[str, Any]] = {}
    constants: dict[int, Array] = {}
    done: set[int] = set()
    budget = Budget()
    alike = grouped.alike
    inferred: dict[Kind, tuple[dict[str, Any], tuple[TensorType, ...]]] = {}
    for index in what.nodes:
        node = nodes[index]
        operands = [types[v] for v in node.inputs]
        own = node.attributes
        if index in what.symbolic:
            kind = alike.node(index, node)
            found = inferred.get(kind)
            if found is None:
                try:
                    given = bound(own, sizes) if own else own
                    found = given, _inferred(graph, node, operands, given, sizes)
                except StaticadError as error:
                    raise node_failure(graph, index, error, operands) from None
                inferred[kind] = found
            given, new = found
            if given is not own and given:
                attributes[index] = own = given
            for k, type_ in enumerate(new):
                types[node.start + k] = type_
        if index in what.late:
            arrays = _late(node, operands, own, types, constants, graph.producers, nodes, budget)
            if arrays is not None:
                done.add(index)
                for k, array in enumerate(arrays):
                    constants[node.start + k] = array
    return Bound(grouped, types, attributes, constants, frozenset(done), sizes)


def _inferred(
    graph: Graph,
    node: Node,
    operands: list[TensorType],
    attributes: dict[str, Any],
    sizes: Mapping[str, int],
) -> tuple[TensorType, ...]:
    """The types of a node's outputs without symbols; those that its bodies leave open are its
    own."""
    if node.op not in CALLERS:
        return OPS[node.op].output_types(operands, attributes)
    return tuple(
        t.with_shape(bind_shape(t.shape, sizes))
        for t in output_types(graph, node, operands, attributes)
    )


def _sizes(program: Program, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    if len(shapes) != len(program.sources):
        raise PlanError(
            "wrong number of shapes",
            asked="plan",
            expected=f"{len(program.sources)} sources",
            found=", ".join(map(shape_text, shapes)),
        )
    sizes = Sizes()
    for source, shape in zip(program.sources, shapes, strict=True):
        sizes.bind_value(program.graph, source.value, tuple(shape))
    sizes.check()
    return sizes.values


def _late(
    node: Node,
    operands: Sequence[TensorType],
    attributes: dict[str, Any],
    types: Sequence[TensorType],
    constants: dict[int, Array],
    producers: Sequence[int],
    nodes: Sequence[Node],
    budget: Budget,
) -> tuple[Array, ...] | None:
    """The outputs of a node that depends on sizes and constants only, if they are small."""
    if node.op in ASKS_SIZES:
        # Only the operand's shape is looked at, so that of a broadcast 0-d array will do.
        shape: Any = operands[0].shape
        stand_in = np.broadcast_to(np.zeros((), operands[0].dtype), shape)
        arrays = [stand_in]
    else:
        arrays = []
        for v in node.inputs:
            array = constants.get(v)
            if array is None:
                producer = nodes[producers[v]]
                if producer.op != "constant":
                    return None
                array = producer.attributes["value"]
            arrays.append(array)
    static = node._replace(
        attributes=attributes,
        types=tuple([types[node.start + k] for k in range(len(node.types))]),
    )
    if node.op not in ASKS_SIZES and not budget.take(static, arrays):
        return None
    return folded(static, arrays)
