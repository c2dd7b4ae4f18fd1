"""Derivatives of what solves an equation, by the implicit function theorem.

The cotangents and tangents of solutions solve linear equations, so that each is `implicit` again:
derivatives of any order follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.calls import inline
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.shapes import product
from staticad_schema.types import TensorType

from .derived import appended
from .fit import broadcast, filled
from .iterating import entered
from .krylov import Limits, solved_linearly
from .walks import Pull, Push


class _Equation:
    """The residual of a node, and products with its derivative by the solutions.

    solutions, others: handles of the node's outputs, and of what the residual reads beside them.
    """

    def __init__(self, graph: Graph, node: Node) -> None:
        self.graph = graph
        self.attributes = node.attributes
        self.count: int = node.attributes["solutions"]
        self.function = graph.function(node.attributes["residual"])
        self.solutions = [graph.handle(v) for v in node.outputs]
        self.others = [graph.handle(v) for v in node.inputs[: -self.count]]
        self.types = [x.type for x in self.solutions]

    @property
    def given(self) -> list[Any]:
        """What a product reads."""
        return [*self.solutions, *self.others]

    def residuals(self, graph: Graph, given: Sequence[Any]) -> tuple[Any, ...]:
        """The residual of these solutions and others, in any graph."""
        return inline(graph, given, self.function, self.attributes["path"])

    def pulled(self, pull: Pull, ws: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        """The transposed derivative by the solutions, times ws."""
        graph = ws[0].graph
        outs = self.residuals(graph, given)
        xs = [x.id for x in given[: self.count]]
        found = pull(graph, _added(outs, ws), xs, xs)
        return [found[x] if x in found else filled(graph, 0.0, graph.types[x]) for x in xs]

    def pushed(self, push: Push, along: Mapping[int, Any], given: Sequence[Any]) -> list[Any]:
        """The tangents of the residual, of tangents of what is given, by position."""
        graph = given[0].graph
        outs = self.residuals(graph, given)
        tangents = {given[k].id: t for k, t in along.items()}
        stops = (*tangents, *(x.id for x in given[: self.count]))
        found = push(graph, tangents, [o.id for o in outs], stops)
        return [
            broadcast(found[o.id], o.type) if o.id in found else filled(graph, 0.0, o.type)
            for o in outs
        ]

    def solved(
        self, product: Any, right: Sequence[Any], residual: Any, more: list[Any]
    ) -> list[Any]:
        """What `product` makes `right` of, known by its residual.

        product: (values like the solutions, given) -> the linear map of these.  residual: (values,
        given and more) -> 0.
        """
        types, graph = self.types, self.graph
        vector = joined(right)
        limits = Limits(self.attributes["rtol"], 0.0, self.attributes["iterations"])

        def flat(v: Any, given: list[Any]) -> Any:
            return joined(product(parted(v, types), given))

        zero = filled(graph, 0.0, vector.type)
        found = solved_linearly(
            graph, self.attributes["method"], flat, vector, zero, self.given, limits
        )
        values = parted(found, types)
        others = [*self.given, *more]
        name = f"{self.function.name}/linear"
        body = entered(graph, name, [*values, *others], self.count, residual)
        return solution(graph, values, others, body, self.attributes)


def solution(
    graph: Graph,
    values: Sequence[Any],
    others: Sequence[Any],
    residual: FunctionRef,
    attributes: Mapping[str, Any],
) -> list[Any]:
    """The values, known as those of which the residual is 0.  attributes: the linear method's."""
    return appended(
        graph, "implicit", [x.id for x in (*others, *values)], residual=residual,
        solutions=len(values), **{k: attributes[k] for k in ("method", "rtol", "iterations")},
    )  # fmt: skip


def implicit_cotangents(
    graph: Graph, node: Node, gs: Sequence[Any], needed: Sequence[bool], pull: Pull
) -> list[Any]:
    """The cotangents of what the residual reads beside the solutions."""
    it = _Equation(graph, node)
    right = [
        filled(graph, 0.0, x.type) if g is None else broadcast(g, x.type)
        for g, x in zip(gs, it.solutions, strict=True)
    ]

    def product(ws: list[Any], given: list[Any]) -> list[Any]:
        return it.pulled(pull, ws, given)

    def residual(ws: list[Any], given: list[Any]) -> list[Any]:
        size = len(given) - it.count
        own = it.pulled(pull, ws, given[:size])
        return [a - b for a, b in zip(own, given[size:], strict=True)]

    ws = it.solved(product, right, residual, right)
    outs = it.residuals(graph, it.given)
    wanted = [x.id for x, asked in zip(it.others, needed, strict=True) if asked]
    stops = [*wanted, *(x.id for x in it.solutions)]
    found = pull(graph, _added(outs, [-w for w in ws]), wanted, stops)
    return [
        found.pop(x.id, None) if asked else None for x, asked in zip(it.others, needed, strict=True)
    ]


def implicit_tangents(graph: Graph, node: Node, given: Sequence[Any], push: Push) -> list[Any]:
    """The tangents of the solutions."""
    it = _Equation(graph, node)
    count = it.count
    moved = {count + k: t for k, t in enumerate(given) if t is not None}
    tangents = [broadcast(t, it.given[k].type) for k, t in moved.items()]

    def product(ts: list[Any], read: list[Any]) -> list[Any]:
        return it.pushed(push, dict(enumerate(ts)), read)

    def residual(ts: list[Any], read: list[Any]) -> list[Any]:
        size = len(read) - len(moved)
        along = {**dict(enumerate(ts)), **dict(zip(moved, read[size:], strict=True))}
        return it.pushed(push, along, read[:size])

    right = it.pushed(push, dict(zip(moved, tangents, strict=True)), it.given)
    return it.solved(product, [-r for r in right], residual, tangents)


def joined(values: Sequence[Any]) -> Any:
    """All numbers as one vector."""
    flat = [
        v if v.type.ndim == 1 else OPS["reshape"](v, shape=(product(v.type.shape),)) for v in values
    ]
    return flat[0] if len(flat) == 1 else OPS["concat"](*flat, axis=0)


def parted(vector: Any, types: Sequence[TensorType]) -> list[Any]:
    """Values of these types, one after the other, from a vector."""
    parts, start = [], 0
    for type_ in types:
        size: Any = product(type_.shape)
        part = vector
        if len(types) > 1:
            part = OPS["slice"](vector, slices=((start, start + size, 1),))
        parts.append(part if type_.ndim == 1 else OPS["reshape"](part, shape=type_.shape))
        start = start + size
    return parts


def _added(outs: Sequence[Any], gs: Sequence[Any]) -> dict[int, Any]:
    """Cotangents by value, added where a value stands twice."""
    found: dict[int, Any] = {}
    for out, g in zip(outs, gs, strict=True):
        found[out.id] = OPS["add"](found[out.id], g) if out.id in found else g
    return found
