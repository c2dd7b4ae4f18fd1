"""Why a gradient exists, or does not: the path from x to y, or what cuts it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from staticad_schema.attributes import identity
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, Constant, PerOperand, Undefined
from staticad_schema.sites import asking
from staticad_schema.types import KINDS

from . import arguments
from .calls import dependencies
from .cone import ancestors, cone, is_inexact, lets_through, passes


@dataclass(frozen=True)
class Explanation:
    """connected: whether dy/dx passes through the graph; reason: in one line; path: the
    values from x to y (or to where it is cut), one line each; hint: what to do."""

    connected: bool
    reason: str
    path: tuple[str, ...] = ()
    hint: str | None = None

    def __str__(self) -> str:
        lines = [self.reason, *(f"  {step}" for step in self.path)]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def explain_gradient(y: Any, x: Any) -> Explanation:
    """Say along which path y depends differentiably on x, or what cuts every path.

    y, x: tensors of one graph, of any shape and dtype.  Raises GraphError if they are not of
    one graph.  Nothing is added to the graph.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     y = sad.floor(x) * 2.0
    >>> print(sad.explain_gradient(y, x).reason)
    'x' reaches the result only through floor (...), whose derivative is zero everywhere
    """
    asked = "explain_gradient"
    with asking(asked, keeps=True):
        y, x = arguments.single(y, "y", asked), arguments.single(x, "x", asked)
        graph = arguments.common_graph([y, x], asked)
        name = repr(graph.value_name(x.id))
        for t in (x, y):
            if not is_inexact(graph, t.id):
                return Explanation(
                    False,
                    f"{graph.value_name(t.id)!r} has dtype {t.type.dtype.name}, "
                    "which is not differentiable",
                )
        part = cone(graph, [y.id], [x.id])
        if y.id in part.active:
            path = _path(
                graph,
                y.id,
                x.id,
                lambda node, k: (
                    dependencies(graph, node)[k] in part.active and lets_through(node, k)
                ),
            )
            refusing = _undefined_on(graph, path)
            if refusing is None:
                return Explanation(True, f"the result depends on {name}", _lines(graph, path))
            node, why = refusing
            return Explanation(
                False,
                f"{name} reaches the result through {_named(graph, node)}, "
                f"which has no derivative: {why}",
                _lines(graph, path),
            )
        visited = ancestors(graph, [y.id], x.id)
        reached = _reached(graph, visited, x.id)
        if y.id in reached:
            cuts = _cuts(graph, visited, part.active)
            return Explanation(
                False,
                f"{name} reaches the result only through " + " and ".join(cuts),
                _lines(
                    graph,
                    _path(
                        graph, y.id, x.id, lambda node, k: dependencies(graph, node)[k] in reached
                    ),
                ),
            )
        return Explanation(
            False, f"the result does not depend on {name}", hint=_instead(graph, visited, y, x)
        )


def _instead(graph: Graph, visited: list[int], y: Any, x: Any) -> str | None:
    """What was meant, perhaps, by the derivative of a y with respect to an x unknown to it."""
    if x.id in cone(graph, [x.id], [y.id]).active:
        return f"it is {graph.value_name(x.id)!r} that depends on the result: exchange the two"
    twin = _look_alike(graph, visited, x.node)
    if twin is None:
        return None
    return (
        f"it depends on {_named(graph, twin)}, which is equal to {graph.value_name(x.id)!r} "
        "but another node; differentiate with respect to that one"
    )


def _reached(graph: Graph, visited: list[int], x: int) -> set[int]:
    """Values that depend on x in any way, also through integers."""
    reached = {x}
    for index in visited:
        node = graph.nodes[index]
        if not reached.isdisjoint(dependencies(graph, node)):
            reached.update(node.outputs)
    return reached


def _path(graph: Graph, y: int, x: int, usable: Callable[[Node, int], bool]) -> list[int]:
    """Values from x to y, each an operand of the next; `usable(node, k)` says which operands."""
    path = [y]
    while path[-1] != x:
        node = graph.nodes[graph.producers[path[-1]]]
        # Ids fall at each step, so the walk ends; what is usable has been reached from x.
        leaves = enumerate(dependencies(graph, node))
        path.append(min(i for k, i in leaves if i >= x and usable(node, k)))
    return path[::-1]


def _lines(graph: Graph, path: list[int]) -> tuple[str, ...]:
    return tuple(graph.handle(v).describe() for v in path)


def _undefined_on(graph: Graph, path: list[int]) -> tuple[Node, str] | None:
    for v in path[1:]:
        node = graph.nodes[graph.producers[v]]
        grad = OPS[node.op].grad
        if isinstance(grad, Undefined):
            return node, grad.why
    return None


def _cuts(graph: Graph, visited: list[int], active: frozenset[int]) -> list[str]:
    """What the nodes do at which a change of x stops being differentiable."""
    cuts = []
    for index in visited:
        node = graph.nodes[index]
        if not active.isdisjoint(dependencies(graph, node)) and not any(
            v in active for v in node.outputs
        ):
            cuts.append(_cut(graph, node, active))
    return list(dict.fromkeys(cuts))


def _cut(graph: Graph, node: Node, active: frozenset[int]) -> str:
    definition = OPS[node.op]
    named = _named(graph, node)
    if node.op == "stop_gradient":
        return named
    if node.op == "custom_rule":
        return f"{named}, whose rule {node.attributes['rule']!r} gives no derivative for it"
    grad = definition.grad
    if isinstance(grad, PerOperand):
        stopped = [
            definition.inputs[k]
            for k, i in enumerate(node.inputs)
            if i in active and not passes(definition, k)
        ]
        if stopped:
            return f"{named}, whose derivative for {', '.join(stopped)} is zero everywhere"
    if isinstance(grad, Constant):
        if node.types and all(KINDS[t.dtype] in ("int", "uint", "bool") for t in node.types):
            return f"{named}, whose result is {node.types[0].dtype.name}"
        return f"{named}, whose derivative is zero everywhere"
    return f"{named}, whose result is {node.types[0].dtype.name}"


def _named(graph: Graph, node: Node) -> str:
    site = graph.site(node.site)
    label = node.op if node.name is None else f"{node.op} {node.name!r}"
    return f"{label} ({site})" if site else label


def _look_alike(graph: Graph, visited: list[int], wanted: Node) -> Node | None:
    """A node on which y depends, other than `wanted`, that computes the same."""
    for index in visited:
        node = graph.nodes[index]
        if (
            node.start != wanted.start
            and node.op == wanted.op
            and node.inputs == wanted.inputs
            and _key(node) == _key(wanted)
            and OPS[node.op].effect == "pure"
            and node.op != "placeholder"
        ):
            return node
    return None


def _key(node: Node) -> Hashable:
    """The node's attributes, arrays by their elements."""
    return identity(tuple(node.attributes.values()), sys.maxsize)
