"""Derivatives that a rule of the user's gives: in its own direction, and transposed in the other.

A rule is linear in what flows through it, so that its transpose is its reverse-mode derivative in
that, whatever value it is taken at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS

from .calls import unfolded
from .cone import is_inexact, passes
from .derived import appended
from .fit import broadcast, filled
from .flows import computed_from, reached
from .walks import Pull


class _Ruled:
    """A node with a rule: its arguments, what the rule reads beside them, and its results."""

    def __init__(self, graph: Graph, node: Node) -> None:
        attributes = node.attributes
        first, behind = attributes["arguments"], attributes["arguments"] + attributes["others"]
        self.graph, self.node = graph, node
        self.arguments, self.others = node.inputs[:first], node.inputs[first:behind]
        self.given: tuple[int, ...] = attributes["given"]
        self.forward: bool = attributes["forward"]

    def flowing(self, values: Sequence[int]) -> list[int]:
        """The positions of those through which something flows."""
        return [k for k, v in enumerate(values) if self.graph.types[v].kind in ("float", "complex")]

    def applied(self, flows: Sequence[Any]) -> list[Any]:
        """What the rule gives, by a call of its body."""
        attributes = self.node.attributes
        return appended(
            self.graph, "call", [x.id for x in self._operands(flows)], function=attributes["rule"],
            path=attributes["path"],
        )  # fmt: skip

    def transposed(
        self, values: Sequence[int], arriving: Mapping[int, Any], pull: Pull
    ) -> dict[int, Any]:
        """The transpose of the rule.  values: those through which something flows into it;
        arriving: what is given for each thing that the rule gives.  What flows out at the
        positions of the values.  Raises GradientError for a rule that is not linear.
        """
        graph, positions = self.graph, self.flowing(values)
        # Nodes of their own, which nothing else depends on.
        places = [OPS["identity"](filled(graph, 0.0, graph.types[values[k]])) for k in positions]
        first = len(graph.nodes)
        attributes = self.node.attributes
        made = unfolded(graph, attributes["rule"], self._operands(places), attributes["path"])
        self._require_slopes(first, places, made)
        cotangents: dict[int, Any] = {}
        for k, out in zip(self.given, made, strict=True):
            if k in arriving:
                g = broadcast(arriving[k], out.type)
                earlier = cotangents.get(out.id)
                cotangents[out.id] = g if earlier is None else OPS["add"](earlier, g)
        found = pull(graph, cotangents, [u.id for u in places])
        self._require_linear(first, places, list(found.values()))
        return {k: found[u.id] for k, u in zip(positions, places, strict=True) if u.id in found}

    def _operands(self, flows: Sequence[Any]) -> list[Any]:
        handle: Callable[[int], Any] = self.graph.handle
        known = [*self.arguments, *self.node.outputs]
        return [*map(handle, known), *flows, *map(handle, self.others)]

    def _require_slopes(self, first: int, places: Sequence[Any], made: Sequence[Any]) -> None:
        """Raises GradientError where what flows comes through an op without a slope, as a sign."""
        graph, moved = self.graph, {u.id for u in places}
        cut: set[int] = set()
        for node in graph.nodes[first:]:
            through = [k for k in computed_from(node) if node.inputs[k] in moved]
            if through:
                moved.update(node.outputs)
                slopes = all(_has_slope(graph, node, k, cut) for k in through)
                cut.update(v for v in node.outputs if not (slopes and is_inexact(graph, v)))
        if not cut.isdisjoint(x.id for x in made):
            raise self._not_linear()

    def _require_linear(self, first: int, places: Sequence[Any], found: Sequence[Any]) -> None:
        """Raises GradientError where the transpose depends on what flows."""
        depends = reached(self.graph, self.graph.nodes[first:], (u.id for u in places))
        if not depends.isdisjoint(x.id for x in found):
            raise self._not_linear()

    def _not_linear(self) -> GradientError:
        graph, node = self.graph, self.node
        own, other = ("tangent", "gradients") if self.forward else ("cotangent", "jvp")
        return GradientError(
            f"a rule is not linear in the {own}, so that it has no transpose for {other}",
            asked=f"{other} of {graph.value_name(node.start)!r}",
            expected=f"a rule that multiplies the {own} by what does not depend on it",
            found=str(node.attributes["rule"]),
            site=graph.site(graph.current_site()),
            forward_site=graph.site(node.site),
        )


def _has_slope(graph: Graph, node: Node, operand: int, cut: set[int]) -> bool:
    """Whether a node's results have a derivative for the operand of that position, not 0 by rule,
    as far as its operand has one, which none of `cut` has."""
    value = node.inputs[operand]
    # Signs of complex numbers turn.
    step = node.op == "sign" and graph.types[value].kind != "complex"
    return value not in cut and not step and passes(node.definition, operand)


def ruled_cotangents(
    graph: Graph, node: Node, gs: Sequence[Any], needed: Sequence[bool], pull: Pull
) -> list[Any]:
    """The cotangents of the arguments of a node that has a rule."""
    it = _Ruled(graph, node)
    if it.forward:
        arriving = {k: g for k, g in enumerate(gs) if g is not None}
        found = it.transposed(it.arguments, arriving, pull)
    else:
        flows = [
            filled(graph, 0.0, graph.types[node.outputs[k]]) if gs[k] is None else gs[k]
            for k in it.flowing(node.outputs)
        ]
        found = dict(zip(it.given, it.applied(flows), strict=True)) if it.given else {}
    return [found.get(k) if asked else None for k, asked in enumerate(needed)]


def ruled_tangents(graph: Graph, node: Node, given: Sequence[Any], pull: Pull) -> list[Any]:
    """The tangents of the results of a node that has a rule."""
    it = _Ruled(graph, node)
    if it.forward:
        flows = [
            filled(graph, 0.0, graph.types[it.arguments[k]])
            if given[k] is None
            else broadcast(given[k], graph.types[it.arguments[k]])
            for k in it.flowing(it.arguments)
        ]
        found = dict(zip(it.given, it.applied(flows), strict=True)) if it.given else {}
    else:
        arriving = {k: t for k, t in enumerate(given) if t is not None}
        found = it.transposed(node.outputs, arriving, pull)
    return [found.get(k) for k in range(len(node.types))]
