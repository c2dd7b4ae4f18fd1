"""Functions of the user's as bodies, to be solved for their argument."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.calls import inline
from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.graph import Function
from staticad_schema.node import Node
from staticad_schema.op import FunctionRef
from staticad_schema.types import COMPLEX_OF, WIDENED, TensorType, fits

from ..building import renamed
from ..gradients.implicit import solution
from ..operands import graph_of, tensor
from ..ops.control import assert_
from ..trees import Tree, flattened, like, nested
from ..within import entered, free_name, require_function, traced

# The most products of conjugate gradients, and restarts of GMRES.
STEPS = {"cg": 10_000, "gmres": 200}


class Body(NamedTuple):
    """A function of nested tensors of one dtype.  starts: the tensors at which it begins, nested as
    `tree` is.  others: what it reads from outside."""

    graph: Any
    function: Function
    starts: list[Any]
    tree: Tree
    others: list[Any]

    @property
    def types(self) -> list[TensorType]:
        """Of its argument."""
        return [x.type for x in self.starts]

    def applied(self, xs: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """What it gives for these, in their graph."""
        return list(inline(xs[0].graph, [*xs, *others], self.function, 0))


Build = Callable[[list[Any], Any, Tree], Sequence[Any]]


def traced_body(asked: str, f: Callable[..., Any], x0: Any, name: str | None, build: Build) -> Body:
    """f as a body.  build: from the tensors of its argument, what f returns of them, and how they
    are nested, to the results of the body.

    Raises UsageError where f draws random numbers or reads variables by itself, DTypeError unless
    x0 is of float32 or float64.
    """
    require_function("f", f)
    values, tree = flattened(x0)
    if not values:
        raise UsageError("x0 is empty", expected="at least one tensor", found=str(tree))
    graph = graph_of(asked, *values)
    starts = [tensor(asked, value, graph) for value in values]
    for x in starts:
        if x.dtype not in COMPLEX_OF or x.dtype != starts[0].dtype:
            raise DTypeError(
                "x0 is not of one floating dtype",
                expected="tensors of float32, or of float64",
                found=", ".join(other.describe() for other in starts),
                hint="half floats have too few digits: use .astype('float32')"
                if x.dtype in WIDENED
                else None,
            )

    def built(*xs: Any) -> Sequence[Any]:
        return build(list(xs), f(nested(tree, xs)), tree)

    with graph.lock:
        (own,) = free_name(graph, name or asked, ("function",))
        part = traced(graph, own, [x.type for x in starts], built)
        _check(graph, part.nodes)
        bodies = entered(graph, [part])
    others = [graph.handle(v) for v in bodies.captured]
    return Body(graph, graph.function(bodies.functions[0]), starts, tree, others)


def _check(graph: Any, nodes: Sequence[Node]) -> None:
    """Raises UsageError for what is no function of operands, also in bodies that are called."""
    waiting = list(nodes)
    seen: set[str] = set()
    while waiting:
        node = waiting.pop()
        if node.op == "read_variable" or node.definition.effect == "random":
            reads = node.op == "read_variable"
            raise UsageError(
                "the function reads a variable by itself"
                if reads
                else "the function draws random numbers, which would differ in each iteration",
                expected="a variable, or what was read, from outside"
                if reads
                else "draws outside of it, whose results it may use",
                found=node.op,
            )
        for name in set(node.calls) - seen:
            seen.add(name)
            waiting += graph.function(name).body.nodes


def like_argument(
    tree: Tree, returned: Any, xs: Sequence[Any], what: str = "what f returns"
) -> list[Any]:
    """Tensors that are nested as xs are.  Raises UsageError for others, DTypeError, ShapeError."""
    made = [tensor("f", value, xs[0].graph) for value in like(tree, returned, what)]
    for found, x in zip(made, xs, strict=True):
        if found.dtype != x.dtype or not fits(found.type, x.type) or found.ndim != x.ndim:
            kind = DTypeError if found.dtype != x.dtype else ShapeError
            raise kind(
                f"{what} is of another type than x0", expected=str(x.type), found=found.describe()
            )
    return made


def checked(asked: str, value: Any, length: Any, most: Any) -> Any:
    """The value; the run fails if the residual is longer than it may be."""
    return assert_(length <= most, f"{asked} did not converge", value)


def precision(types: Sequence[TensorType]) -> float:
    """The distance of 1 and the next number."""
    return float(np.finfo(types[0].dtype).eps)


def known(
    body: Body, found: Sequence[Any], method: str, residual: FunctionRef, name: str | None
) -> Any:
    """The solutions, with their derivatives."""
    attributes = {
        "method": method, "rtol": 10 * precision(body.types), "iterations": STEPS[method],
    }  # fmt: skip
    made = solution(body.graph, found, body.others, residual, attributes)
    alone = len(made) == 1
    labels = [name if name is None or alone else f"{name}_{k}" for k in range(len(made))]
    return nested(body.tree, list(map(renamed, made, labels)))
