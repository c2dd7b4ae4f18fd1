"""Reverse mode: `gradients` walks back from ys to xs and adds the nodes of the adjoints.

The walk is one loop over node indices in descending order; rules only say what an op's
cotangents are.  Summing a cotangent to its operand's shape, adding the cotangents of a
value used several times, and skipping what carries no derivative happen here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from staticad_schema.collection import collection_paused
from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, Constant, PerOperand, Undefined
from staticad_schema.sites import asking

from . import arguments
from .calls import expanded
from .choices import switch_cotangents
from .cone import cone, no_derivative
from .explain import explain_gradient
from .fit import filled, to_operand
from .implicit import implicit_cotangents
from .loops import scan_cotangents
from .regions import leaves_for, repeated
from .rules import ruled_cotangents
from .together import often_multiplied, one_product, placed

if TYPE_CHECKING:
    from ..tensor import Tensor

Unconnected = Literal["raise", "zero", "none"]


@overload
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    stop_gradients: Any = (),
    unconnected: Literal["raise", "zero"] = "raise",
) -> list[Tensor]: ...
@overload
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    stop_gradients: Any = (),
    *,
    unconnected: Literal["none"],
) -> list[Tensor | None]: ...
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    stop_gradients: Any = (),
    unconnected: Unconnected = "raise",
) -> list[Tensor] | list[Tensor | None]:
    """The gradient of sum(ys) with respect to each of xs, as new nodes of the same graph.

    ys: a floating or complex tensor, or a list of them; their gradients add up.
    xs: a tensor or a list: placeholders, variables or intermediate results, also repeated.
    grad_ys: cotangents, one for each of ys, of its type (None: ones).  A complex y needs one.
    stop_gradients: tensors taken as independent of what they were computed from.
    unconnected: what to do with an x that no y depends on: "raise" GradientError, give
        "zero" (zeros of its type) or "none" (None).

    Returns a list of tensors, one for each of xs, each of the type of its x.  For complex x
    it is d/d(real) + i d/d(imag) of a real y, so that minus it is a descent direction.
    The result can be differentiated again, to any order.

    Raises GradientError for integer tensors, for ops without a derivative, and for
    unconnected xs; GraphError if the tensors are not of one graph.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (), name="x")
    ...     (dx,) = sad.gradients(x**3, x)
    ...     (ddx,) = sad.gradients(dx, x)
    >>> with sad.Session(graph) as session:
    ...     print(*session.run([dx, ddx], {x: 2.0}))
    12.0 12.0
    """
    asked = "gradients"
    with asking(asked, keeps=True):
        targets = arguments.handles(ys, "ys", asked)
        sources = arguments.handles(xs, "xs", asked)
        stops = arguments.handles(stop_gradients, "stop_gradients", asked)
        if unconnected not in ("raise", "zero", "none"):
            raise GradientError(
                "unknown policy", asked=asked, expected="'raise', 'zero' or 'none'",
                found=repr(unconnected),
            )  # fmt: skip
        if not targets:
            raise GradientError(
                "ys is empty", asked=asked, expected="at least one tensor", found="none"
            )
        graph = arguments.common_graph([*targets, *sources, *stops], asked)
        if not sources:
            return []
        arguments.check_differentiable(graph, targets, "a y", asked)
        arguments.check_differentiable(graph, sources, "an x", asked)
        with graph.derived_from():
            cotangents = _start(
                graph, targets, arguments.seeds(graph, grad_ys, targets, "grad_y", asked)
            )
            found = pullback(graph, cotangents, [x.id for x in sources], [s.id for s in stops])
            return [
                found[x.id] if x.id in found else _absent(graph, targets, x, unconnected)
                for x in sources
            ]


def pullback(
    graph: Graph, cotangents: Mapping[int, Any], xs: Sequence[int], stops: Sequence[int] = ()
) -> dict[int, Any]:
    """The cotangents of those of xs that the values in `cotangents` depend on."""
    leaves_of = leaves_for(xs, stops)
    part = cone(graph, tuple(cotangents), xs, stops, leaves_of)
    active, halted, wanted = part.active, frozenset(stops), frozenset(xs)
    nodes = graph.nodes
    pending: dict[int, Any] = {v: g for v, g in cotangents.items() if v in active}
    sliced: dict[int, list[tuple[Node, Any]]] = {}
    multiplied: dict[int, list[tuple[Node, Any]]] = {}
    often = often_multiplied(graph, part.nodes) & active
    found: dict[int, Any] = {}
    with collection_paused(), graph.derived_from() as forward:
        for index in reversed(part.nodes):
            node = nodes[index]
            gs = []
            for v in node.outputs:
                g = pending.pop(v, None)
                for parts, joined in ((sliced, placed), (multiplied, one_product)):
                    if v in parts:
                        g = _joined(graph, forward, g, parts.pop(v), joined)
                gs.append(g)
            arrived = False
            for v, g in zip(node.outputs, gs, strict=True):
                if g is not None:
                    arrived = arrived or v not in halted
                    if v in wanted:
                        found[v] = g
            leaves = leaves_of(graph, node)
            if not arrived or not any(i in active for i in leaves):
                continue
            forward(node.forward_site or node.site)
            if node.op == "slice":
                sliced.setdefault(node.inputs[0], []).append((node, gs[0]))
                continue
            needed = [i in active for i in leaves]
            if node.op == "matmul" and leaves[1] in often:
                multiplied.setdefault(leaves[1], []).append((node, gs[0]))
                needed[1] = False
            for i, g in zip(leaves, _cotangents(graph, node, leaves, gs, needed), strict=True):
                if g is None:
                    continue
                g = to_operand(g, graph.types[i], node.op)
                earlier = pending.get(i)
                pending[i] = g if earlier is None else OPS["add"](earlier, g)
    # An x older than every visited node (they start at the oldest x's own) cannot remain.
    return found


def _joined(
    graph: Graph,
    forward: Callable[[int], None],
    g: Any | None,
    parts: Sequence[tuple[Node, Any]],
    joined: Callable[[Graph, Sequence[tuple[Node, Any]]], Any],
) -> Any:
    """The cotangent of a value: g, of what has given one already, and of what waited."""
    first, cotangent = parts[0]
    forward(first.forward_site or first.site)
    if len(parts) > 1:
        whole = joined(graph, parts)
    else:
        needed = [*[False] * (len(first.inputs) - 1), True]
        *_, whole = _cotangents(graph, first, first.inputs, [cotangent], needed)
        whole = to_operand(whole, graph.types[first.inputs[-1]], first.op)
    return whole if g is None else OPS["add"](g, whole)


def _cotangents(
    graph: Graph, node: Node, leaves: Sequence[int], gs: list[Any], needed: list[bool]
) -> Sequence[Any]:
    """One cotangent, or None, for each value that a node depends on: `leaves`."""
    definition = OPS[node.op]
    rule = definition.grad
    if isinstance(rule, Constant):
        return [None] * len(needed)
    if isinstance(rule, Undefined):
        raise no_derivative(graph, node, rule.why, "gradient")
    if node.op == "recompute_end" and leaves != node.inputs:
        again = repeated(graph, node, [g for g in gs if g is not None])
        return _through_expansion(again, leaves, gs, needed)
    inputs = [graph.handle(i) for i in node.inputs]
    if rule == "expand":
        return _through_expansion(expanded(graph, node, inputs), leaves, gs, needed)
    if rule == "bodies":
        if node.op == "implicit":
            return implicit_cotangents(graph, node, gs, needed, pullback)
        if node.op == "custom_rule":
            return ruled_cotangents(graph, node, gs, needed, pullback)
        if node.op == "while_loop":
            return _through_expansion(expanded(graph, node, inputs), leaves, gs, needed)
        through = switch_cotangents if node.op == "switch" else scan_cotangents
        return through(graph, node, leaves, gs, needed, pullback)
    outs = tuple(graph.handle(v) for v in node.outputs)
    out, g = (outs[0], gs[0]) if len(outs) == 1 else (outs, tuple(gs))
    if isinstance(rule, PerOperand):
        return [
            definition.call_rule(each, (*inputs, out, g), node.attributes)
            if wanted and each is not None
            else None
            for each, wanted in zip(rule.rules, needed, strict=True)
        ]
    given = (tuple(inputs),) if definition.variadic else tuple(inputs)
    result = definition.call_rule(rule, (*given, out, g), node.attributes)
    return [c if wanted else None for c, wanted in zip(result, needed, strict=True)]


def _through_expansion(
    outs: Sequence[Any], leaves: Sequence[int], gs: list[Any], needed: list[bool]
) -> list[Any]:
    """The cotangents through the same written in other ops, of what it was written over."""
    graph = outs[0].graph
    cotangents: dict[int, Any] = {}
    for out, g in zip(outs, gs, strict=True):
        if g is not None:
            earlier = cotangents.get(out.id)
            cotangents[out.id] = g if earlier is None else OPS["add"](earlier, g)
    wanted = sorted({i for i, asked in zip(leaves, needed, strict=True) if asked})
    found = pullback(graph, cotangents, wanted, wanted)
    # A leaf that stands twice gets its whole cotangent once.
    return [found.pop(i, None) if asked else None for i, asked in zip(leaves, needed, strict=True)]


def _start(graph: Graph, ys: list[Any], seeds: list[Any | None]) -> dict[int, Any]:
    """Cotangents of the ys, added where a y stands twice."""
    cotangents: dict[int, Any] = {}
    for y, seed in zip(ys, seeds, strict=True):
        if seed is None:
            if y.type.kind == "complex":
                raise GradientError(
                    "a complex y has no gradient by itself",
                    asked="gradients",
                    expected="a real y, or grad_ys",
                    found=y.describe(),
                    site=graph.site(graph.current_site()),
                    hint="differentiate its real or imaginary part, or its absolute value",
                )
            seed = filled(graph, 1.0, y.type)
        earlier = cotangents.get(y.id)
        cotangents[y.id] = seed if earlier is None else OPS["add"](earlier, seed)
    return cotangents


def _absent(graph: Graph, ys: list[Any], x: Any, unconnected: Unconnected) -> Any:
    if unconnected == "none":
        return None
    if unconnected == "zero":
        return filled(graph, 0.0, x.type)
    reasons = [explain_gradient(y, x) for y in ys]
    raise GradientError(
        "no y depends differentiably on an x",
        asked=f"gradients with respect to {graph.value_name(x.id)!r}",
        expected="a connected x, or unconnected='zero' or 'none'",
        found="; ".join(dict.fromkeys(r.reason for r in reasons)),
        site=graph.site(graph.current_site()),
        forward_site=x.site,
        hint=next((r.hint for r in reasons if r.hint), None),
    )
