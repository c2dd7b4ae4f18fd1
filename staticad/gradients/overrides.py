"""Rules of one's own for the ops that are built in a scope."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from typing import Any

from staticad_schema.errors import UnknownNameError, UsageError
from staticad_schema.node import Node
from staticad_schema.op import OPS, Constant
from staticad_schema.sites import asking

from ..current import OVERRIDES
from ..graph import Graph
from ..within import require_function
from .custom import appended_rule, rule_body

Rule = Callable[..., Any]


@contextmanager
def override_gradients(rules: Mapping[str, Rule]) -> Iterator[None]:
    """Ops of these names that are built inside have the gradients that the rules say.

    rules: names of ops, as `tensor.node.op` tells them, to rules.  A rule takes the operands, the
    result and its cotangent (tuples of them where an op has several), and by keyword those
    attributes of the op that it names; it returns a cotangent for each operand, in a tuple if there
    are several, as a rule of `custom_gradient` does, and is kept in files as that is.  Scopes nest:
    the innermost that names an op counts.  Nodes of derivatives are not overridden.

    Raises UnknownNameError for what is no op, UsageError for an op that has no derivative.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (3,), name="x")
    ...     with sad.override_gradients({"relu": lambda x, y, g: sad.nn.relu(g) * (x > 0)}):
    ...         y = sad.nn.relu(x)
    ...     (guided,) = sad.gradients(y, x, grad_ys=[[1.0, -1.0, 1.0]])
    >>> sad.Session(graph).run(guided, {x: [1.0, 2.0, -3.0]})
    array([1., 0., 0.], dtype=float32)
    """
    with asking("override_gradients"):
        if not isinstance(rules, Mapping):
            raise UsageError(
                "the rules are no mapping", expected="a dict from names of ops to rules",
                found=f"{rules!r:.80}, a {type(rules).__name__}",
            )  # fmt: skip
        own = {name: partial(_overridden, _checked(name, rule)) for name, rule in rules.items()}
    token = OVERRIDES.set({**OVERRIDES.get(), **own})
    try:
        yield
    finally:
        OVERRIDES.reset(token)


def _checked(name: Any, rule: Any) -> Rule:
    definition = OPS.get(name) if isinstance(name, str) else None
    if definition is None:
        near = get_close_matches(str(name), OPS, 1)
        raise UnknownNameError(
            "there is no such op", expected="the name of an op, as tensor.node.op tells it",
            found=repr(name), hint=f"did you mean {near[0]!r}?" if near else None,
        )  # fmt: skip
    if definition.effect != "pure" or definition.bodies or isinstance(definition.grad, Constant):
        raise UsageError(
            f"{name} has no gradient to override",
            expected="an op that is a differentiable function of its operands",
            found=f"{name}, which is none",
        )
    require_function(f"the rule of {name!r}", rule)
    return rule  # type: ignore[no-any-return]


def _overridden(rule: Rule, graph: Graph, node: Node, name: str | None) -> Node:
    """The mark around a node whose op is overridden, in its place."""
    named = [
        p.name for p in inspect.signature(rule).parameters.values() if p.kind is p.KEYWORD_ONLY
    ]
    attributes = {key: node.attributes[key] for key in named if key in node.attributes}
    arguments = [graph.handle(v) for v in node.inputs]
    results = [graph.handle(v) for v in node.outputs]

    def build(xs: Any, ys: Any, gs: Any) -> Any:
        one = len(results) == 1
        return rule(*xs, ys[0] if one else tuple(ys), gs[0] if one else tuple(gs), **attributes)

    asked = f"the rule of {node.op!r} in override_gradients"
    with asking(asked):
        known, others = rule_body(
            graph, asked, f"override/{node.op}", build, arguments, results, forward=False
        )
        appended_rule(graph, known, arguments, others, results, forward=False, name=name)
    return graph.nodes[-1]
