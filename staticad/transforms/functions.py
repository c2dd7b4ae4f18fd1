"""Functions of tensors to functions that compute their derivatives, to any order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from staticad_schema.errors import ArgumentError, UsageError
from staticad_schema.op import OPS
from staticad_schema.sites import asking

from ..gradients import arguments, gradients
from ..operands import graph_of, tensor
from ..options import flag
from ..trees import Tree, flattened, nested
from ..within import require_function
from .jacobians import Mode, matrices
from .products import scalar

Argnums = int | Sequence[int]


def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that gives the gradient of f by an argument, or by several.

    f: from tensors, or nested tuples, lists and dicts of them, to a real scalar; with has_aux to
        (scalar, anything), and what is returned then gives (gradient, anything).
    argnums: the position of the argument, or several: then a tuple of gradients.

    Each gradient is nested as its argument is; zeros for what f does not depend on.  The other
    arguments, and those by keyword, are given to f as they are.  Tensors from outside that f uses
    count as constants, also where they are arguments at the same time.  It can be applied to what
    it returns.  Raises GradientError for another result of f, and for integers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (), name="x")
    ...     slopes = [sad.grad(sad.sin)(x), sad.grad(sad.grad(sad.sin))(x)]
    >>> sad.Session(graph).run(slopes, {x: 0.0})
    [array(1.), array(-0.)]
    """
    both = _value_and_grad("grad", f, argnums, has_aux)

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return transformed


def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """As `grad`, but what is returned gives (value of f, gradient); with has_aux the value is
    (scalar, anything).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     two, one = (sad.placeholder("float64", (), name=n) for n in ("two", "one"))
    ...     w = {"slope": two, "shift": one}
    ...     square = lambda w, x: (w["slope"] * x + w["shift"]) ** 2
    ...     value, slopes = sad.value_and_grad(square)(w, 3.0)
    >>> sad.Session(graph).run([value, slopes], {two: 2.0, one: 1.0})
    [array(49.), {'slope': array(42.), 'shift': array(14.)}]
    """
    return _value_and_grad("value_and_grad", f, argnums, has_aux)


def _value_and_grad(
    asked: str, f: Callable[..., Any], argnums: Argnums, has_aux: bool
) -> Callable[..., Any]:
    positions = _checked(asked, f, argnums, has_aux)

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with asking(asked, keeps=True):
            call = _entered(asked, args, positions)
        returned = f(*call.arguments, **kwargs)
        with asking(asked, keeps=True):
            value = _without_aux(returned, has_aux)
            target = scalar(_as_tensor(asked, value, call.graph), "the result", asked)
            found = gradients(target, call.sources, unconnected="zero")
            made = nested(call.tree, found)
            given = (target, returned[1]) if has_aux else target
            return given, (made if isinstance(argnums, int) else tuple(made))

    return transformed


def jacfwd(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives the Jacobian of f by an argument, column by column: forward mode.

    f: from tensors to tensors, either nested; with has_aux to (tensors, anything), and what is
    returned then gives (Jacobian, anything).  argnums: as for `grad`.

    A Jacobian has the shape [*y.shape, *x.shape], nested as the result of f is, and in that as the
    argument is.  It suits few elements of x; `jacrev` suits few of y.  Both compose, so that
    `jacfwd(jacrev(f))` and `jacfwd(grad(f))` are Hessians.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([3.0, 5.0], dtype="float64")
    ...     matrix = sad.jacfwd(sad.grad(lambda x: x[0] ** 2 * x[1]))(x)
    >>> sad.Session(graph).run(matrix)
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    return _jacobian("jacfwd", "forward", f, argnums, has_aux)


def jacrev(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The function that gives the Jacobian of f by an argument, row by row: reverse mode.

    As `jacfwd`, for few elements of y.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x, y = sad.constant([1.0, 2.0]), sad.constant([3.0, 4.0])
    ...     row = sad.jacrev(lambda x, y: sad.sum(x * y), argnums=1)(x, y)
    >>> sad.Session(graph).run(row)
    array([1., 2.], dtype=float32)
    """
    return _jacobian("jacrev", "reverse", f, argnums, has_aux)


def _jacobian(
    asked: str, mode: Mode, f: Callable[..., Any], argnums: Argnums, has_aux: bool
) -> Callable[..., Any]:
    positions = _checked(asked, f, argnums, has_aux)

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        with asking(asked, keeps=True):
            call = _entered(asked, args, positions)
        returned = f(*call.arguments, **kwargs)
        with asking(asked, keeps=True):
            values, shape = flattened(_without_aux(returned, has_aux))
            targets = [_as_tensor(asked, value, call.graph) for value in values]
            rows = matrices(targets, call.sources, mode, False, asked)
            made = [nested(call.tree, row) for row in rows]
            found = nested(shape, [m if isinstance(argnums, int) else tuple(m) for m in made])
            return (found, returned[1]) if has_aux else found

    return transformed


class _Call(NamedTuple):
    """The arguments of one call.  sources: what is differentiated by, each a tensor of its own, so
    that nothing else depends on it.  tree: how they are nested."""

    graph: Any
    arguments: list[Any]
    sources: list[Any]
    tree: Tree


def _entered(asked: str, args: Sequence[Any], positions: int | tuple[int, ...]) -> _Call:
    several = (positions,) if isinstance(positions, int) else positions
    count = len(args)
    for position in several:
        if not -count <= position < count:
            raise ArgumentError(
                "there is no argument of that position",
                asked=asked,
                expected=f"argnums below {count}, the number of arguments by position",
                found=str(position),
            )
    graph = graph_of(asked, *flattened(list(args))[0])
    given, tree = flattened(args[positions] if isinstance(positions, int)
                            else tuple(args[p] for p in several))  # fmt: skip
    ready = [tensor(asked, value, graph) for value in given]
    arguments.check_differentiable(graph, ready, "an argument", asked)
    sources = [OPS["identity"](x) for x in ready]
    made = list(args)
    inside = nested(tree, sources)
    for k, position in enumerate(several):
        made[position] = inside if isinstance(positions, int) else inside[k]
    return _Call(graph, made, sources, tree)


def _checked(asked: str, f: Any, argnums: Argnums, has_aux: bool) -> int | tuple[int, ...]:
    with asking(asked):
        require_function("f", f)
        flag("has_aux", has_aux)
        several = [argnums] if isinstance(argnums, int) else argnums
        if (
            not isinstance(several, list | tuple)
            or not several
            or not all(isinstance(p, int) and not isinstance(p, bool) for p in several)
        ):
            raise UsageError(
                "argnums says no arguments",
                expected="the position of an argument, or a tuple of positions",
                found=f"{argnums!r:.80}",
            )
        if len(set(several)) != len(several):
            raise UsageError(
                "argnums names an argument twice", expected="different positions",
                found=f"{argnums!r:.80}",
            )  # fmt: skip
        return argnums if isinstance(argnums, int) else tuple(argnums)


def _without_aux(returned: Any, has_aux: bool) -> Any:
    if not has_aux:
        return returned
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        raise UsageError(
            "the function does not return two things",
            expected="(what is differentiated, anything), as has_aux=True says",
            found=f"{returned!r:.80}, a {type(returned).__name__}",
        )
    return returned[0]


def _as_tensor(asked: str, value: Any, graph: Any) -> Any:
    """A result; a number is a constant."""
    if value is None:
        raise UsageError("the function returns nothing", expected="tensors", found="None")
    return tensor(asked, value, graph)
