"""One product for each of many directions: all together by the batch rules of ops, or in a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.batching import batched
from staticad_schema.calls import inline
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.types import TensorType

from ..within import Traced, entered, free_name, traced


def for_each(
    graph: Any,
    name: str,
    directions: Any,
    build: Callable[[Any], Sequence[Any]],
    one_by_one: bool = False,
) -> list[Any]:
    """What `build` makes of each element along the first axis of `directions`, stacked along a new
    first axis.  The number of nodes does not depend on how many there are.

    build: from a tensor to tensors.  It is called once.  one_by_one: in a loop, which takes the
    memory of one direction; so it is anyway where an op has no rule for many at once.
    """
    type_: TensorType = directions.type
    with graph.lock:
        (own,) = free_name(graph, name, ("body",))
        element = [type_.with_shape(type_.shape[1:])]
        part = traced(graph, own, element, build)
        mapped = _dependent(part)
        if any(node.op == "call" and node.start in mapped for node in part.nodes):
            part = traced(graph, own, element, lambda x: _entered(graph, part, x))
            mapped = _dependent(part)
        if one_by_one or not all(_has_rule(node) for node in part.nodes if node.start in mapped):
            return _looped(graph, part, directions)
        return _together(graph, part, directions, mapped)


def _dependent(part: Traced) -> set[int]:
    """The first values of the nodes whose results depend on the direction, and their others."""
    found = set(part.parameters)
    for node in part.nodes:
        if any(v in found for v in node.inputs):
            found.update(node.outputs)
    return found


def _entered(graph: Any, part: Traced, direction: Any) -> list[Any]:
    """The body's results, of this direction, with copies of what it calls."""
    ids: dict[int, int] = {part.parameters[0]: direction.id}
    for node in part.nodes:
        if node.start in part.parameters:
            continue
        inputs = [ids.get(v, v) for v in node.inputs]
        if node.op == "call":
            function = graph.function(node.attributes["function"])
            given = [graph.handle(v) for v in inputs]
            made = [x.id for x in inline(graph, given, function, node.attributes["path"])]
        else:
            made = _copied(graph, node, inputs)
        ids.update(zip(node.outputs, made, strict=True))
    return [graph.handle(ids.get(v, v)) for v in part.outputs]


def _copied(graph: Any, node: Node, inputs: Sequence[int]) -> list[int]:
    start = len(graph.types)
    graph.append_trusted(node._replace(inputs=tuple(inputs), start=start, after=()))
    return list(range(start, start + len(node.types)))


def _has_rule(node: Node) -> bool:
    definition = node.definition
    return definition.batch != "map" and definition.effect == "pure"


def _together(graph: Any, part: Traced, directions: Any, mapped: set[int]) -> list[Any]:
    """The body's nodes in the graph itself, those that depend on the direction for all of them."""
    ids: dict[int, int] = dict(zip(part.parameters, [directions.id], strict=True))
    with graph.derived_from() as forward:
        for node in part.nodes:
            if node.start in part.parameters:
                continue
            inputs = [ids.get(v, v) for v in node.inputs]
            if node.start not in mapped:
                ids.update(zip(node.outputs, _copied(graph, node, inputs), strict=True))
                continue
            forward(node.forward_site or node.site)
            which = [v in mapped for v in node.inputs]
            made = batched(OPS[node.op], [graph.handle(v) for v in inputs], which, node.attributes)
            results = made if isinstance(made, tuple) else (made,)
            ids.update((v, r.id) for v, r in zip(node.outputs, results, strict=True))
    count = directions.type.shape[0]
    outputs = []
    for v in part.outputs:
        x = graph.handle(ids.get(v, v))
        if v not in mapped:
            x = OPS["broadcast_to"](x, shape=(count, *x.type.shape))
        outputs.append(x)
    return outputs


def _looped(graph: Any, part: Traced, directions: Any) -> list[Any]:
    """A scan without a carry."""
    bodies = entered(graph, [part])
    attributes = {
        "body": bodies.functions[0], "carried": 0, "sequences": 1,
        "length": directions.type.shape[0], "reverse": False,
    }  # fmt: skip
    node = graph.make(OPS["scan"], [directions.id, *bodies.captured], attributes)
    return [graph.handle(v) for v in node.outputs]
