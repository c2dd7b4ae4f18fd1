"""Functions whose derivative is given by another function, which the graph keeps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from staticad_schema.errors import DTypeError, GraphError, ShapeError, UsageError
from staticad_schema.graph import Graph as SchemaGraph
from staticad_schema.handle import Handle
from staticad_schema.op import CALLERS, OPS, FunctionRef
from staticad_schema.ops.structured import same
from staticad_schema.sites import asking
from staticad_schema.types import INEXACT, TensorType

from ..current import DEVICE, OVERRIDES
from ..graph import Graph
from ..operands import graph_of, tensor
from ..trees import VALUE, Tree, flattened, like, nested
from ..within import entered, free_name, require_function, traced
from .calls import dependencies
from .derived import variables_read

Function = Callable[..., Any]

NUMBERS = (bool, int, float, complex)


def custom_gradient(function: Function, /) -> Callable[[Function], Function]:
    """A function with a gradient of one's own: custom_gradient(f)(rule) does what f does.

    f: from tensors, also nested in tuples, lists and dicts, to tensors, nested likewise.  Numbers
    beside tensors stay numbers; keyword arguments are Python values, handed to f and to the rule.
    What f is differentiable in are its arguments: it may not use other floating tensors from
    outside but constants.

    rule: takes the arguments of f, its result, and the cotangent of that, nested as the result is
    (None for integers); returns a cotangent for each argument, of its type and nested as it is, in
    a tuple if there are several.  None is no cotangent, and what it gives for a number is dropped.
    It may use tensors from outside, but not the function that it is the rule of: it has the result.

    The rule is traced once for each kind of arguments that a graph has for it, to a body of the
    graph's table of functions: a file holds it, whoever loads the file
    differentiates by it, and it is differentiated itself for higher orders.  Forward mode takes its
    transpose, which is there if the rule is linear in the cotangent.

    Raises GraphError for an f that uses tensors from outside; UsageError, DTypeError, ShapeError
    for a rule that returns something else.

    >>> import staticad as sad
    >>> @sad.custom_gradient(lambda x: sad.log(1.0 + sad.exp(x)))
    ... def softplus(x, y, g):
    ...     return g * sad.sigmoid(x)
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     (dx,) = sad.gradients(softplus(x), x)
    >>> print(sad.Session(graph).run(dx, {x: 200.0}))
    1.0
    """
    return _with_rule("custom_gradient", function, forward=False)


def custom_jvp(function: Function, /) -> Callable[[Function], Function]:
    """A function with a forward derivative of one's own: custom_jvp(f)(rule) does what f does.

    f: as for `custom_gradient`.  rule: takes the arguments of f, its result, and a tuple of the
    tangents of the arguments, each nested as its argument (None for integers); returns the tangent
    of the result, nested as it is, where None is no tangent.  Reverse mode takes its transpose,
    which is there if the rule is linear in the tangents.

    >>> import staticad as sad
    >>> @sad.custom_jvp(sad.sqrt)
    ... def root(x, y, tangents):
    ...     return 0.5 * tangents[0] / y
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (), name="x")
    ...     y = root(x)
    ...     derivatives = [*sad.jvp(y, x), *sad.gradients(y, x)]
    >>> print(*sad.Session(graph).run(derivatives, {x: 4.0}))
    0.25 0.25
    """
    return _with_rule("custom_jvp", function, forward=True)


class Known(NamedTuple):
    """A rule that has been traced: the body, and for which positions it gives derivatives."""

    rule: FunctionRef
    given: tuple[int, ...]


# Stands for a rule while it is traced.
BEING_TRACED = Known(FunctionRef(""), ())


def _with_rule(asked: str, function: Function, forward: bool) -> Callable[[Function], Function]:
    with asking(asked):
        require_function("the function", function)

    def with_rule(rule: Function, /) -> Function:
        with asking(asked):
            if not callable(rule):
                raise UsageError(
                    "the rule is no function",
                    expected=f"{asked}(function)(rule), which is called with tensors",
                    found=f"{rule!r:.80}, a {type(rule).__name__}",
                )
        known: WeakKeyDictionary[Graph, dict[Any, Known]] = WeakKeyDictionary()

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return _Call(asked, rule, forward, args, kwargs).result(function, known)

        return call

    return with_rule


class _Call:
    """A call of a function that has a rule."""

    def __init__(
        self, asked: str, rule: Function, forward: bool, args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:  # fmt: skip
        self.asked, self.rule, self.forward, self.kwargs = asked, rule, forward, kwargs
        with asking(asked):
            self.values, self.tree = flattened(args)
            self.graph = graph_of(asked, *self.values)
            numbers = {k: v for k, v in enumerate(self.values) if type(v) in NUMBERS}
            # Of numbers alone a result is wanted as well.
            self.numbers = numbers if len(numbers) < len(self.values) else {}
            self.places = [k for k in range(len(self.values)) if k not in self.numbers]
            self.arguments = [tensor(asked, self.values[k], self.graph) for k in self.places]
            if not self.arguments:
                raise UsageError(
                    "a function without arguments has no derivative",
                    expected="at least one tensor as a positional argument", found="none",
                )  # fmt: skip

    def result(self, function: Function, known: WeakKeyDictionary[Graph, dict[Any, Known]]) -> Any:
        """What the function returns, with the rule."""
        graph = self.graph
        with graph.lock:
            first = len(graph.nodes)
            with graph:
                returned = function(*self._nested(self.arguments), **self.kwargs)
            with asking(self.asked):
                results, shape = self._results(returned)
                _check_closed(graph, self.asked, first, self.arguments, results)
                outputs = self._node(results, shape, known.setdefault(graph, {}))
        return nested(shape, outputs)

    def _nested(self, xs: Sequence[Any], number: Callable[[Any], Any] = lambda v: v) -> Any:
        """Values in the places of the arguments, with the numbers among them."""
        whole = [number(value) for value in self.values]
        for k, x in zip(self.places, xs, strict=True):
            whole[k] = x
        return nested(self.tree, whole)

    def _results(self, returned: Any) -> tuple[list[Any], Tree]:
        values, shape = flattened(returned)
        if not values or any(value is None for value in values):
            raise UsageError(
                "the function returns no tensors",
                expected="a tensor, or tensors nested in tuples, lists and dicts",
                found=str(returned),
            )
        return [tensor(self.asked, value, self.graph) for value in values], shape

    def _node(self, results: list[Any], shape: Tree, known: dict[Any, Known]) -> list[Any]:
        graph = self.graph
        types = [x.type for x in (*self.arguments, *results)]
        numbers = tuple((k, type(v), repr(v)) for k, v in self.numbers.items())
        key = None if self.kwargs else (self.tree, shape, tuple(types), numbers, DEVICE.get())
        found = known.get(key) if key is not None else None
        others: tuple[int, ...] = ()
        if found is BEING_TRACED:
            raise UsageError(
                "a rule calls the function that it is the rule of, itself or by another's rule",
                expected="a rule that uses the result, which it is given behind the arguments, or "
                "functions without such a rule",
                found=", ".join(x.describe() for x in self.arguments),
            )
        if found is None or found.rule not in graph.functions:
            if key is not None:
                known[key] = BEING_TRACED
            try:
                found, others = self._traced(results, shape)
            finally:
                known.pop(key, None)
            if key is not None and not others:
                known[key] = found
        return appended_rule(graph, found, self.arguments, others, results, self.forward, None)

    def _traced(self, results: list[Any], shape: Tree) -> tuple[Known, tuple[int, ...]]:
        """The rule as a body, and what it reads from outside."""

        def build(xs: Sequence[Any], ys: Sequence[Any], flows: Sequence[Any]) -> Any:
            moving = self._nested(flows, lambda v: None) if self.forward else nested(shape, flows)
            return self.rule(*self._nested(xs), nested(shape, ys), moving, **self.kwargs)

        return rule_body(
            self.graph, self.asked, self.asked, build, self.arguments, results, self.forward,
            shape if self.forward else self.tree, None if self.forward else self.places,
        )  # fmt: skip


def rule_body(
    graph: Graph,
    asked: str,
    base: str,
    build: Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Any],
    arguments: Sequence[Any],
    results: Sequence[Any],
    forward: bool,
    tree: Tree | None = None,
    places: Sequence[int] | None = None,
) -> tuple[Known, tuple[int, ...]]:
    """A rule as a body, and the values that it reads beside its operands.

    build(arguments, results, flows) is what the rule returns: a derivative, or None, for each
    argument, or each result if it goes forward.  tree: how they are nested, by default side by
    side; places: where in it they are, by default all there is.
    """
    first, count = len(arguments), len(arguments) + len(results)
    through, wanted = (arguments, results) if forward else (results, arguments)
    moving = [k for k, x in enumerate(through) if x.type.kind in INEXACT]
    types = [x.type for x in (*arguments, *results, *(through[k] for k in moving))]
    given: list[int] = []

    def traced_rule(*parameters: Any) -> list[Any]:
        flows: list[Any] = [None] * len(through)
        for k, flow in zip(moving, parameters[count:], strict=True):
            flows[k] = flow
        returned = build(parameters[:first], parameters[first:count], flows)
        goal = Tree(tuple, (), (VALUE,) * len(wanted)) if tree is None else tree
        entries = _entries(goal, returned, forward)
        entries = entries if places is None else [entries[k] for k in places]
        made = []
        for k, (entry, x) in enumerate(zip(entries, wanted, strict=True)):
            if entry is not None:
                given.append(k)
                made.append(_derivative(graph, asked, entry, x.type, k))
        return made

    token = OVERRIDES.set({})
    try:
        (name,) = free_name(graph, base, ("rule",))
        bodies = entered(graph, [traced(graph, name, types, traced_rule)])
    finally:
        OVERRIDES.reset(token)
    return Known(bodies.functions[0], tuple(given)), bodies.captured


def appended_rule(
    graph: Graph, known: Known, arguments: Sequence[Any], others: Sequence[int],
    results: Sequence[Any], forward: bool, name: str | None,
) -> list[Any]:  # fmt: skip
    """The results, of a node that has the rule."""
    operands = [*(x.id for x in arguments), *others, *(x.id for x in results)]
    attributes = {
        "rule": known.rule, "arguments": len(arguments), "others": len(others),
        "given": known.given, "forward": forward, "path": graph.next_path(known.rule),
    }  # fmt: skip
    # What is built here is the mark itself, not what an override looks for.
    node = SchemaGraph.append(graph, OPS["custom_rule"], operands, attributes, name=name)
    return [graph.handle(v) for v in node.outputs]


def _entries(tree: Tree, returned: Any, whole: bool) -> list[Any]:
    """What a rule returned, one derivative or None for each value of the tree.

    whole: the tree is that of a result; else that of arguments, of which one may stand alone.
    """
    if returned is None:
        return [None] * _size(tree)
    if whole:
        return like(tree, _filled(tree, returned), "what the rule returns")
    parts = tree.parts
    if len(parts) == 1 and not (
        isinstance(returned, tuple) and len(returned) == 1 and parts[0].kind is not tuple
    ):
        returned = (returned,)
    if not isinstance(returned, tuple | list) or len(returned) != len(parts):
        raise UsageError(
            "a rule returns one cotangent for each argument",
            expected=f"a tuple of {len(parts)}, None where there is none",
            found=f"{returned!r:.80}, a {type(returned).__name__}",
        )
    found: list[Any] = []
    for position, (part, entry) in enumerate(zip(parts, returned, strict=True)):
        found += like(part, _filled(part, entry), f"the cotangent of argument {position}")
    return found


def _filled(tree: Tree, given: Any) -> Any:
    """None for a whole tree as None for each of its values."""
    if given is not None or tree == VALUE:
        return given
    return nested(tree, [None] * _size(tree))


def _size(tree: Tree) -> int:
    return 1 if tree.kind is None else sum(map(_size, tree.parts))


def _derivative(graph: Graph, asked: str, entry: Any, type_: TensorType, position: int) -> Any:
    """A derivative that a rule returned.  Raises DTypeError, ShapeError for another type."""
    if type_.kind not in INEXACT:
        raise DTypeError(
            "a rule gives a derivative of what has none",
            asked=f"{asked}: derivative {position}",
            expected=f"None for {type_}",
            found=entry.describe() if isinstance(entry, Handle) else f"{entry!r:.80}",
        )
    made = entry if isinstance(entry, Handle) else graph.constant(entry, dtype=type_.dtype)
    if made.type.dtype != type_.dtype:
        raise DTypeError(
            "a rule gives a derivative of another dtype",
            asked=f"{asked}: derivative {position}",
            expected=str(type_),
            found=made.describe(),
        )
    if not same(made.type, type_):
        raise ShapeError(
            "a rule gives a derivative of another shape",
            asked=f"{asked}: derivative {position}",
            expected=str(type_),
            found=made.describe(),
            hint="sum over what was broadcast; sad.broadcast_to makes a scalar as large",
        )
    return made


def _check_closed(
    graph: Graph, asked: str, first: int, arguments: Sequence[Any], results: Sequence[Any]
) -> None:
    """Raises GraphError where the results depend on what the rule says nothing of."""
    nodes, producers = graph.nodes, graph.producers
    inside = {x.id for x in arguments}
    waiting = [x.id for x in results]
    seen = {*inside, *waiting}
    waiting = [v for v in waiting if v not in inside]
    while waiting:
        value = waiting.pop()
        index = producers[value]
        node = nodes[index]
        if graph.types[value].kind not in INEXACT or node.op in ("constant", "stop_gradient"):
            continue
        state = node.op in CALLERS and bool(variables_read(graph, node))
        if index < first or state or node.op in ("variable", "read_variable"):
            raise GraphError(
                "a function with a rule of its own uses a tensor from outside",
                asked=asked,
                expected="what it is differentiable in as arguments, of which the rule knows",
                found=graph.handle(value).describe(),
                site=graph.site(node.site),
                hint="make it an argument, or cut it off by sad.stop_gradient outside",
            )
        new = [v for v in dependencies(graph, node) if v not in seen]
        seen.update(new)
        waiting += new
