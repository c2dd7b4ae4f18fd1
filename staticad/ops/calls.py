"""Functions of the user's that are traced once, and called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from staticad_schema.errors import UsageError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking

from ..current import surroundings
from ..operands import graph_of, tensor
from ..trees import Tree, flattened, nested
from ..within import entered, free_name, require_function, traced


class _Body(NamedTuple):
    """A trace.  captured: what the body reads from outside.  tree: how its results are nested."""

    name: str
    captured: list[Any]
    tree: Tree


def function(f: Callable[..., Any], /, *, name: str | None = None) -> Callable[..., Any]:
    """f, but traced once for each signature into a body of the graph, which every call enters.

    f: from tensors, nested tuples, lists and dicts of them, and anything else that can be a key of
        a dict, to tensors, nested likewise.  It may use tensors and variables from outside, and
        draw random numbers, others in each call; it makes and writes no variables.
    name: of the body (None: that of f).

    A signature is how the arguments are nested, the types of the tensors among them, and the
    others.  Arrays are constants that are given to the body, and numbers a part of the signature.
    A graph holds a body once, however often it is called; runs and derivatives are the same as if
    f had been called each time.

    Raises UsageError for arguments that are no keys of a dict, or results that are no tensors;
    GraphError for writes.

    >>> import staticad as sad
    >>> @sad.function
    ... def block(x, power):
    ...     return sad.tanh(x) ** power
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (), name="x")
    ...     y = block(block(x, 2), 2)
    ...     (dy,) = sad.gradients(y, x)
    >>> list(graph.functions)
    ['block/body']
    >>> sad.Session(graph).run([y, dy], {x: 0.0})
    [array(0.), array(0.)]
    """
    with asking("function", name):
        require_function("f", f)
    base = name or getattr(f, "__name__", "function").strip("<>")
    bodies: WeakKeyDictionary[Any, dict[Any, _Body]] = WeakKeyDictionary()
    entering: set[Any] = set()

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        with asking("function", base):
            values, tree = flattened([list(args), kwargs])
            graph = graph_of("function", *values)
            at = [k for k, v in enumerate(values) if _is_data(v)]
            given = [tensor("function", values[k], graph) for k in at]
            fixed = [None if k in set(at) else _fixed(v) for k, v in enumerate(values)]
            key = (tree, tuple(fixed), tuple(x.type for x in given), surroundings())
        with graph.lock:
            own = bodies.setdefault(graph, {})
            with asking("function", base):
                found = _known(graph, own, key)
            if found is None:

                def run(tensors: Sequence[Any]) -> Any:
                    whole = list(values)
                    for k, x in zip(at, tensors, strict=True):
                        whole[k] = x
                    positional, keywords = nested(tree, whole)
                    return f(*positional, **keywords)

                with asking("function", base):
                    _require_new(entering, (graph, key), base)
                entering.add((graph, key))
                try:
                    found = _traced(graph, base, run, given)
                finally:
                    entering.discard((graph, key))
                own[graph.tracing, key] = found
            with asking("function", base):
                made = graph.call(found.name, *given, *found.captured)
            return nested(found.tree, list(made) if isinstance(made, tuple) else [made])

    return call


def _is_data(value: Any) -> bool:
    return isinstance(value, Handle) or hasattr(value, "__array__")


def _fixed(value: Any) -> tuple[Any, ...]:
    """What is a part of a signature: 1 is not True, and -0.0 is not 0.0."""
    return type(value), value, str(value) if isinstance(value, float | complex) else ""


def _known(graph: Any, bodies: dict[Any, _Body], key: Any) -> _Body | None:
    """What was traced here, or in what this stands in: what it reads is there as well."""
    place = graph.tracing
    while True:
        try:
            found = bodies.get((place, key))
        except TypeError as error:
            raise UsageError(
                "an argument cannot be a part of a signature",
                expected="tensors, and what can be a key of a dict",
                found=str(error),
            ) from None
        if found is not None or place is None:
            return found
        place = place.outer


def _require_new(entering: set[Any], key: Any, base: str) -> None:
    if key in entering:
        raise UsageError(
            "the function calls itself with arguments of the same types",
            expected="a body that is complete when it is called",
            found=base,
            hint="use sad.while_loop, or sad.scan",
        )


def _traced(
    graph: Any, base: str, run: Callable[[Sequence[Any]], Any], given: Sequence[Any]
) -> _Body:
    trees: list[Tree] = []

    def build(*parameters: Any) -> list[Any]:
        returned, tree = flattened(run(parameters))
        wrong = [r for r in returned if not isinstance(r, Handle)]
        if wrong or not returned:
            raise UsageError(
                "the function returns what is no tensor",
                asked=f"function {base!r}",
                expected="a tensor, or nested tuples, lists and dicts of tensors",
                found=f"{wrong[0]!r:.80}, a {type(wrong[0]).__name__}" if wrong else "nothing",
            )
        trees.append(tree)
        return returned

    (own,) = free_name(graph, base, ("body",))
    bodies = entered(graph, [traced(graph, own, [x.type for x in given], build)])
    captured = [graph.handle(v) for v in bodies.captured]
    return _Body(str(bodies.functions[0]), captured, trees[0])
