"""Forward mode: `jvp` walks from xs to ys and adds the nodes of the tangents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from staticad_schema.collection import collection_paused
from staticad_schema.errors import GradientError
from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, Constant, Op, PerOperand, Undefined
from staticad_schema.sites import asking

from . import arguments
from .calls import dependencies, expanded
from .choices import switch_tangents
from .cone import cone, is_inexact, no_derivative, passes
from .fit import broadcast, filled
from .implicit import implicit_tangents
from .loops import scan_tangents
from .reverse import pullback
from .rules import ruled_tangents

if TYPE_CHECKING:
    from ..tensor import Tensor


def jvp(ys: Any, xs: Any, tangents: Any = None, *, stop_gradients: Any = ()) -> list[Tensor]:
    """The directional derivative of each of ys along `tangents`, as new nodes of the graph.

    ys: a floating or complex tensor, or a list of them.  xs: a tensor or a list of them.
    tangents: the direction, one tensor, array or scalar for each of xs, of its type (None:
    ones).  stop_gradients: tensors taken as independent of what they were computed from.

    Returns one tensor for each of ys, of the type of its y; zeros where y does not depend on
    any x.  One pass, whatever the number of ys; `gradients` is one pass whatever the number
    of xs.  Raises GradientError for integer tensors and ops without a derivative.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (3,), name="x")
    ...     (dy,) = sad.jvp(sad.sum(x * x), x, [[1.0, 0.0, 0.0]])
    >>> with sad.Session(graph) as session:
    ...     print(session.run(dy, {x: [3.0, 4.0, 5.0]}))
    6.0
    """
    asked = "jvp"
    with asking(asked, keeps=True):
        targets = arguments.handles(ys, "ys", asked)
        sources = arguments.handles(xs, "xs", asked)
        stops = arguments.handles(stop_gradients, "stop_gradients", asked)
        if not targets or not sources:
            raise GradientError(
                f"{'xs' if targets else 'ys'} is empty",
                asked=asked,
                expected="at least one tensor",
                found="none",
            )
        graph = arguments.common_graph([*targets, *sources, *stops], asked)
        arguments.check_differentiable(graph, targets, "a y", asked)
        arguments.check_differentiable(graph, sources, "an x", asked)
        with graph.derived_from():
            given: dict[int, Any] = {}
            for x, t in zip(
                sources, arguments.seeds(graph, tangents, sources, "tangent", asked), strict=True
            ):
                t = filled(graph, 1.0, x.type) if t is None else t
                given[x.id] = t if x.id not in given else OPS["add"](given[x.id], t)
            found = pushforward(graph, given, [y.id for y in targets], [s.id for s in stops])
            return [found[y.id] if y.id in found else filled(graph, 0.0, y.type) for y in targets]


def pushforward(
    graph: Graph, tangents: Mapping[int, Any], ys: Sequence[int], stops: Sequence[int] = ()
) -> dict[int, Any]:
    """The tangents of those of ys that depend on the values in `tangents`.

    A value that is given a tangent and also depends on another one that is gets the sum.
    """
    part = cone(graph, ys, tuple(tangents), stops)
    found: dict[int, Any] = dict(tangents)
    halted = frozenset(stops)
    nodes = graph.nodes
    with collection_paused(), graph.derived_from() as forward:
        for index in part.nodes:
            node = nodes[index]
            if all(v in halted or v not in part.active for v in node.outputs):
                continue
            leaves = dependencies(graph, node)
            if not any(i in found for i in leaves):
                continue
            forward(node.forward_site or node.site)
            tangents_out = _output_tangents(graph, node, leaves, found)
            for v, t in zip(node.outputs, tangents_out, strict=True):
                if t is None or v not in part.active:
                    continue
                t = broadcast(t, graph.types[v])
                found[v] = OPS["add"](found[v], t) if v in tangents else t
    return {y: found[y] for y in ys if y in found}


def _output_tangents(
    graph: Graph, node: Node, leaves: Sequence[int], found: Mapping[int, Any]
) -> Sequence[Any]:
    """One tangent, or None, for each output, from those of what the node depends on."""
    definition = OPS[node.op]
    inputs = [graph.handle(i) for i in node.inputs]
    given = [found.get(i) if passes(definition, k) else None for k, i in enumerate(leaves)]
    nothing: list[Any] = [None] * len(node.types)
    if all(t is None for t in given) or isinstance(definition.grad, Constant):
        return nothing
    if isinstance(definition.grad, Undefined) and not callable(definition.jvp):
        raise no_derivative(graph, node, definition.grad.why, "tangent")
    if callable(definition.jvp):
        outs = tuple(graph.handle(v) for v in node.outputs)
        operands = (tuple(inputs),) if definition.variadic else tuple(inputs)
        out = outs[0] if len(outs) == 1 else outs
        result = definition.call_rule(
            definition.jvp, (*operands, out, tuple(given)), node.attributes
        )
    elif definition.jvp == "linear":
        result = definition(
            *(
                filled(graph, 0.0, x.type) if t is None else t
                for x, t in zip(inputs, given, strict=True)
            ),
            **node.attributes,
        )
    elif definition.jvp == "multilinear":
        result = _sum(
            [
                definition(*inputs[:k], t, *inputs[k + 1 :], **node.attributes)
                for k, t in enumerate(given)
                if t is not None
            ]
        )
    elif node.op == "implicit":
        return implicit_tangents(graph, node, given, pushforward)
    elif node.op == "custom_rule":
        return ruled_tangents(graph, node, given, pullback)
    elif definition.grad == "bodies" and node.op != "while_loop":
        through = switch_tangents if node.op == "switch" else scan_tangents
        return through(graph, node, leaves, given, pushforward)
    elif definition.grad in ("expand", "bodies"):
        outs = expanded(graph, node, inputs)
        known = {i: t for i, t in zip(leaves, given, strict=True) if t is not None}
        ends = [o.id for o in outs if is_inexact(graph, o.id)]
        reached = pushforward(graph, known, ends, tuple(known))
        return [reached.get(o.id) for o in outs]
    else:
        result = _elementwise(graph, definition, node, inputs, given)
    return result if isinstance(result, tuple) else (result,)


def _elementwise(
    graph: Graph, definition: Op, node: Node, inputs: list[Any], given: list[Any]
) -> Any:
    """The tangent of an elementwise op from its gradient rule.

    Its Jacobian is diagonal, hence symmetric: the rule that maps a cotangent of the output
    to one of an operand maps a tangent of that operand to one of the output.  A holomorphic
    function's rule multiplies by the conjugate derivative, so there the tangent goes in and
    comes out conjugated.
    """
    out = graph.handle(node.start)
    conjugate = out.type.kind == "complex"
    terms = []
    for k, t in enumerate(given):
        if t is None:
            continue
        t = broadcast(t, out.type)
        if conjugate:
            t = OPS["conj"](t)
        rule = definition.grad
        if isinstance(rule, PerOperand):
            one = rule.rules[k]
            assert one is not None  # operands that pass no derivative have no tangent
            term = definition.call_rule(one, (*inputs, out, t), node.attributes)
        else:
            assert callable(rule)
            term = definition.call_rule(rule, (*inputs, out, t), node.attributes)[k]
        terms.append(OPS["conj"](term) if conjugate else term)
    return _sum(terms)


def _sum(terms: list[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = OPS["add"](total, term)
    return total
