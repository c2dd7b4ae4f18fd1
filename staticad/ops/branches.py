"""One of several functions, chosen when the graph runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.op import OPS
from staticad_schema.sites import asking
from staticad_schema.types import BOOL

from ..graph import Graph
from ..operands import Operand, graph_of, tensor
from ..trees import Tree, flattened, like, nested
from ..within import entered, free_name, require_function, traced


def cond(
    pred: Operand,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    /,
    *operands: Any,
    name: str | None = None,
) -> Any:
    """true_fn(*operands) where `pred` is true, else false_fn(*operands); the other does not run.

    pred: a bool scalar.  operands: tensors, also nested in tuples, lists and dicts.  The functions
    may use tensors and variables from outside.  They return tensors of the same types, nested in
    the same way, and so does cond.  They write no variables.

    Raises DTypeError and ShapeError for another `pred`, and for results of different types;
    UsageError for results that are nested in different ways; GraphError for writes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     y = sad.cond(x > 0, lambda: sad.log(x), lambda: x)
    >>> session = sad.Session(graph)
    >>> print(session.run(y, {x: 1.0}), session.run(y, {x: -1.0}))
    0.0 -1.0
    """
    with asking("cond", name):
        require_function("true_fn", true_fn)
        require_function("false_fn", false_fn)
        values, tree = flattened(operands)
        graph = graph_of("cond", pred, *values)
        index = tensor("cond", pred, graph)
        if index.type.dtype != BOOL:
            raise DTypeError(
                "a condition that is no bool",
                expected="a bool of shape ()",
                found=index.describe(),
                hint="compare it: x > 0, x != 0",
            )
        _require_scalar(index, "pred")
        return _chosen(
            graph, "cond", index, (true_fn, false_fn), ("true", "false"), values, tree, name
        )


def switch(
    index: Operand,
    functions: Sequence[Callable[..., Any]],
    /,
    *operands: Any,
    name: str | None = None,
) -> Any:
    """What the function at position `index` gives for the operands; the others do not run.

    index: an integer scalar; below 0 it is the first function, beyond the last the last.
    operands, and what functions may do: as for `cond`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     k = sad.placeholder("int64", (), name="k")
    ...     y = sad.switch(k, [lambda x: x, lambda x: x * x, lambda x: -x], 3.0)
    >>> session = sad.Session(graph)
    >>> print(*(session.run(y, {k: value}) for value in (0, 1, 2, 7)))
    3.0 9.0 -3.0 -3.0
    """
    with asking("switch", name):
        chosen = list(functions) if isinstance(functions, list | tuple) else []
        if not chosen:
            raise UsageError(
                "there is nothing to choose from",
                expected="a list of at least one function",
                found=f"{functions!r:.80}",
            )
        for position, function in enumerate(chosen):
            require_function(f"functions[{position}]", function)
        values, tree = flattened(operands)
        graph = graph_of("switch", index, *values)
        which = tensor("switch", index, graph)
        if which.type.kind not in ("int", "uint"):
            raise DTypeError(
                "what chooses a function is no integer",
                expected="an integer of shape ()",
                found=which.describe(),
            )
        _require_scalar(which, "index")
        roles = [str(position) for position in range(len(chosen))]
        return _chosen(graph, "switch", which, chosen, roles, values, tree, name)


def _require_scalar(x: Any, what: str) -> None:
    if x.type.ndim:
        raise ShapeError(
            f"{what} is no scalar",
            expected="shape (): one choice for all",
            found=x.describe(),
            hint="sad.where chooses for each element",
        )


def _chosen(
    graph: Graph,
    op: str,
    index: Any,
    functions: Sequence[Callable[..., Any]],
    roles: Sequence[str],
    values: Sequence[Any],
    tree: Tree,
    name: str | None,
) -> Any:
    """The node that chooses, and its results as the functions nest them."""
    ready = [tensor(op, value, graph) for value in values]
    types = [x.type for x in ready]
    returned: list[tuple[Tree, list[Any]]] = []

    def results(function: Callable[..., Any], role: str) -> Callable[..., list[Any]]:
        def build(*parameters: Any) -> list[Any]:
            result = function(*nested(tree, parameters))
            if returned:
                given = like(returned[0][0], result, f"the result of branch {role!r}")
                own = returned[0]
            else:
                given, shape = flattened(result)
                own = shape, []
            if not given:
                raise UsageError(
                    "a branch returns nothing",
                    expected="at least one tensor",
                    found=str(own[0]),
                )
            made = [
                value
                if isinstance(value, Handle)
                else graph.constant(value, dtype=own[1][k].dtype if own[1] else None)
                for k, value in enumerate(given)
            ]
            if not returned:
                returned.append((own[0], [x.type for x in made]))
            return made

        return build

    with graph.lock:
        names = free_name(graph, name or op, roles)
        parts = [
            traced(graph, body, types, results(function, role))
            for body, function, role in zip(names, functions, roles, strict=True)
        ]
        bodies = entered(graph, parts)
        operands = [index.id, *[x.id for x in ready], *bodies.captured]
        # A bool is an index: of two branches true takes the second.
        chosen = bodies.functions[::-1] if op == "cond" else bodies.functions
        node = graph.make(OPS["switch"], operands, {"functions": chosen}, name=name)
    return nested(returned[0][0], [graph.handle(v) for v in node.outputs])
