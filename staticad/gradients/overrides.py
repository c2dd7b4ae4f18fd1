"""Rules of one's own for the ops that are built in a scope."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any
from weakref import WeakKeyDictionary

from staticad_schema.attributes import identity
from staticad_schema.errors import ShapeError, UnknownNameError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.node import Node
from staticad_schema.op import OPS, Constant, Op
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking
from staticad_schema.types import INEXACT, TensorType

from ..current import DEVICE, OVERRIDES
from ..graph import Graph
from ..within import require_function
from .custom import Known, appended_rule, rule_body
from .fit import to_operand

Rule = Callable[..., Any]


@contextmanager
def override_gradients(rules: Mapping[str, Rule]) -> Iterator[None]:
    """Ops of these names that are built inside have the gradients that the rules say.

    rules: names of ops, as `tensor.node.op` tells them, to rules.  A rule takes the operands, the
    result and its cotangent (tuples of them where an op has several), and by keyword those
    attributes of the op that it names; it returns a cotangent for each operand, in a tuple if there
    are several, as a rule of `custom_gradient` does, and is kept in files as that is.  Scopes nest:
    the innermost that names an op counts.  Nodes of derivatives are not overridden.

    Nodes that have nothing differentiable about them, as sums of integers, stay as they are.  What
    a rule returns for an elementwise op may be as large as the result: it is summed over what was
    broadcast.

    Raises UnknownNameError for what is no op, and for a keyword that is no attribute of it;
    UsageError for an op whose results are no functions of operands, or never floating.

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
        own = {name: _Override(_checked(name), rule) for name, rule in rules.items()}
    token = OVERRIDES.set({**OVERRIDES.get(), **own})
    try:
        yield
    finally:
        OVERRIDES.reset(token)


def _checked(name: Any) -> Op:
    definition = OPS.get(name) if isinstance(name, str) else None
    if definition is None:
        raise UnknownNameError(
            "there is no such op", expected="the name of an op, as tensor.node.op tells it",
            found=repr(name), hint=_near(str(name), OPS),
        )  # fmt: skip
    if definition.effect != "pure" or definition.bodies or not definition.inputs:
        raise _without_gradient(definition)
    return definition


def _near(name: str, names: Iterable[str]) -> str | None:
    near = get_close_matches(name, names, 1)
    return f"did you mean {near[0]!r}?" if near else None


def _without_gradient(definition: Op) -> UsageError:
    return UsageError(
        f"{definition.name} has no gradient to override",
        expected="an op with floating results, that are a function of its operands",
        found=f"{definition.name}, which is none",
    )


class _Override:
    """A rule for the nodes of an op."""

    def __init__(self, definition: Op, rule: Rule) -> None:
        require_function(f"the rule of {definition.name!r}", rule)
        self.definition, self.rule = definition, rule
        parameters = inspect.signature(rule).parameters.values()
        self.named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        for name in self.named:
            if name not in definition.parameters:
                raise UnknownNameError(
                    f"{definition.name} has no such attribute",
                    asked=f"the rule of {definition.name!r}",
                    expected=", ".join(definition.parameters) or "no keywords: there are none",
                    found=name, hint=_near(name, definition.parameters),
                )  # fmt: skip
        # By graph, attributes and types.
        self.known: WeakKeyDictionary[Graph, dict[Any, Known]] = WeakKeyDictionary()

    def __call__(self, graph: Graph, node: Node, name: str | None) -> Node | None:
        """The mark around a node whose op is overridden, in its place; None if it needs none."""
        if not any(graph.types[v].kind in INEXACT for v in node.inputs):
            return None
        if not any(t.kind in INEXACT for t in node.types):
            if isinstance(self.definition.grad, Constant):
                raise _without_gradient(self.definition)
            return None
        attributes = {key: node.attributes[key] for key in self.named}
        arguments = [graph.handle(v) for v in node.inputs]
        results = [graph.handle(v) for v in node.outputs]

        def build(xs: Any, ys: Any, gs: Any) -> Any:
            one = len(results) == 1
            first, flow = (ys[0], gs[0]) if one else (tuple(ys), tuple(gs))
            return self.fitted(self.rule(*xs, first, flow, **attributes), xs)

        key = (
            identity(tuple(attributes.values()), sys.maxsize),
            tuple(x.type for x in (*arguments, *results)),
            DEVICE.get(),
        )
        bodies = self.known.setdefault(graph, {})
        known = bodies.get(key)
        others: tuple[int, ...] = ()
        asked = f"the rule of {node.op!r} in override_gradients"
        with asking(asked):
            if known is None or known.rule not in graph.functions:
                known, others = rule_body(
                    graph, asked, f"override/{node.op}", build, arguments, results, forward=False
                )
                if not others:
                    bodies[key] = known
            appended_rule(graph, known, arguments, others, results, forward=False, name=name)
        return graph.nodes[-1]

    def fitted(self, returned: Any, xs: Sequence[Any]) -> Any:
        """What the rule returned, for an op that broadcasts: summed over what was broadcast."""
        if not self.definition.elementwise:
            return returned
        if isinstance(returned, tuple | list):
            pairs = zip(returned, xs, strict=False)
            return (*(_fitted(g, x.type) for g, x in pairs), *returned[len(xs) :])
        return _fitted(returned, xs[0].type) if len(xs) == 1 else returned


def _fitted(g: Any, wanted: TensorType) -> Any:
    if not isinstance(g, Handle) or g.type.dtype != wanted.dtype:
        return g
    try:
        broadcast_shapes((g.type.shape, wanted.shape))
    except ShapeError:
        return g
    return to_operand(g, wanted, "the override")
