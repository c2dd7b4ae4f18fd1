"""Solutions of equations, with derivatives of any order by the implicit function theorem.

How a solution was found does not matter to its derivatives: they solve linear equations at the
solution, by products with the derivative of the residual, and take the memory of one evaluation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.op import OPS, FunctionRef
from staticad_schema.sites import asking

from .. import dimensions
from ..gradients import gradients
from ..gradients.fit import filled
from ..gradients.forward import pushforward
from ..gradients.implicit import joined, parted
from ..gradients.iterating import entered, repeated_while
from ..gradients.krylov import Limits, count, dot, norm, solved_linearly
from ..operands import tensor
from ..options import number
from ..trees import Tree
from ..within import require_function
from .equations import STEPS, Body, checked, known, like_argument, precision, traced_body
from .products import scalar

# Halvings of a step before it is taken for one that does not help.
HALVINGS = 12
# A step has to gain this part of what the slope promises (Nocedal and Wright 2006, 3.1).
SUFFICIENT = 1e-4


def fixed_point(
    f: Callable[[Any], Any],
    x0: Any,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int = 1000,
    solver: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    name: str | None = None,
) -> Any:
    """x with f(x) = x, found by applying f again and again from x0.

    f: from a floating tensor, or nested tuples, lists and dicts of tensors of one dtype, to the
        same; it may use tensors and variables from outside, of which x is a function.  It is called
        once, and draws no random numbers.
    rtol, atol: it ends where x changes by at most atol + rtol * |x|, and by no less than half of
        the change before.  rtol is the dtype's epsilon to the power of 3/4 if None.
    max_iterations: the run raises ExecutionError where it takes more.
    solver: what finds x instead, any function from (f, x0) to x, built of tensors.

    Returns tensors nested as x0 is.  Their derivatives by what f uses do not go through the
    iterations, and are of any order; by x0 they are 0.  They are those of a point where the
    derivative of x - f(x) is regular.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.placeholder("float64", (), name="a")
    ...     root = sad.fixed_point(lambda x: (x + a / x) / 2, sad.ones((), dtype="float64"))
    ...     (slope,) = sad.gradients(root, a)
    >>> sad.Session(graph).run([root, slope], {a: 4.0})
    [array(2.), array(0.25)]
    """
    asked = "fixed_point"
    with asking(asked, name, keeps=True):
        body = traced_body(asked, f, x0, name, _differences)
        limits = _limits(body, rtol, 0.75, atol, max_iterations)
        found = _iterated(body, limits) if solver is None else _by_solver(body, f, x0, solver)
        return known(body, found, "gmres", FunctionRef(body.function.name), name)


def root(
    f: Callable[[Any], Any],
    x0: Any,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int = 50,
    solver: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    name: str | None = None,
) -> Any:
    """x with f(x) = 0, found by Newton's method from x0.

    f: as for `fixed_point`; it gives as many numbers as x has, nested alike.
    rtol, atol: it ends where |f(x)| is at most atol + rtol * |f(x0)|, and no longer halves.  rtol
        is the dtype's epsilon to the power of 2/3 if None.
    max_iterations: the run raises ExecutionError where it takes more.
    solver: what finds x instead, any function from (f, x0) to x, built of tensors.

    The steps solve their linear equations by GMRES, with products alone, and are halved until the
    residual becomes shorter.  What is returned, and its derivatives: as for `fixed_point`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.placeholder("float64", (), name="a")
    ...     found = sad.root(lambda x: x**3 - a, sad.ones((), dtype="float64"))
    ...     (slope,) = sad.gradients(found, a)
    >>> sad.Session(graph).run([found, slope], {a: 8.0})
    [array(2.), array(0.08333333)]
    """
    asked = "root"
    with asking(asked, name, keeps=True):
        body = traced_body(asked, f, x0, name, _alike)
        limits = _limits(body, rtol, 2 / 3, atol, max_iterations)
        found = _newton(body, limits) if solver is None else _by_solver(body, f, x0, solver)
        return known(body, found, "gmres", FunctionRef(body.function.name), name)


def minimize(
    f: Callable[[Any], Any],
    x0: Any,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    max_iterations: int = 100,
    solver: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    name: str | None = None,
) -> Any:
    """x at which f is least near x0, found by Newton's method.

    f: from tensors, as for `fixed_point`, to a real scalar, smooth and at x convex.
    rtol, atol: it ends where the gradient is at most atol + rtol times as long as that at x0, and
        no longer halves.  rtol is the dtype's epsilon to the power of 1/2 if None.
    max_iterations: the run raises ExecutionError where it takes more.
    solver: what finds x instead, any function from (f, x0) to x, built of tensors.

    The steps solve their linear equations by conjugate gradients, with products of the Hessian, go
    down the gradient where these lead up, and are halved until f becomes less.  What is returned,
    and its derivatives: as for `fixed_point`, those of a point with a Hessian above 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a = sad.placeholder("float64", (), name="a")
    ...     least = sad.minimize(lambda x: sad.exp(x) - a * x, sad.zeros((), dtype="float64"))
    ...     (slope,) = sad.gradients(least, a)
    >>> sad.Session(graph).run([sad.exp(least), slope], {a: 2.0})
    [array(2.), array(0.5)]
    """
    asked = "minimize"
    with asking(asked, name, keeps=True):

        def both(xs: list[Any], y: Any, tree: Tree) -> list[Any]:
            value = scalar(tensor(asked, y, xs[0].graph), "what f returns", asked)
            return [value, *gradients(value, xs, unconnected="zero")]

        body = traced_body(asked, f, x0, name, both)
        limits = _limits(body, rtol, 0.5, atol, max_iterations)
        found = _descended(body, limits) if solver is None else _by_solver(body, f, x0, solver)
        slopes = entered(
            body.graph, f"{body.function.name}/gradient", [*body.starts, *body.others],
            len(body.starts), lambda xs, others: body.applied(xs, others)[1:],
        )  # fmt: skip
        return known(body, found, "cg", slopes, name)


def _differences(xs: list[Any], y: Any, tree: Tree) -> list[Any]:
    """x - f(x)."""
    return [x - v for x, v in zip(xs, like_argument(tree, y, xs), strict=True)]


def _alike(xs: list[Any], y: Any, tree: Tree) -> list[Any]:
    return like_argument(tree, y, xs)


def _limits(
    body: Body, rtol: float | None, power: float, atol: float, max_iterations: int
) -> Limits:
    relative = precision(body.types) ** power if rtol is None else number("rtol", rtol, least=0.0)
    most = dimensions.integer(max_iterations)
    number("max_iterations", most, least=1)
    return Limits(relative, number("atol", atol, least=0.0), most)


def _by_solver(body: Body, f: Any, x0: Any, solver: Any) -> list[Any]:
    require_function("solver", solver)
    return like_argument(body.tree, solver(f, x0), body.starts, "what the solver returns")


def _unfinished(length: Any, before: Any, least: Any, k: Any, limits: Limits) -> Any:
    """Whether the residual is too long, or still halves.  NaN ends it."""
    return ((length > least) | ((length * 2.0 < before) & (length > 0.0))) & (k < limits.iterations)


def _iterated(body: Body, limits: Limits) -> list[Any]:
    """x becomes f(x), again and again."""
    size = len(body.starts)

    def least(xs: Sequence[Any]) -> Any:
        return norm(joined(xs)) * limits.rtol + limits.atol

    def test(carry: list[Any], others: list[Any]) -> list[Any]:
        length, before, k = carry[2 * size :]
        return [_unfinished(length, before, least(carry[:size]), k, limits)]

    def step(carry: list[Any], others: list[Any]) -> list[Any]:
        length, _, k = carry[2 * size :]
        xs = [x - r for x, r in zip(carry[:size], carry[size : 2 * size], strict=True)]
        rs = body.applied(xs, others)
        return [*xs, *rs, norm(joined(rs)), length, k + 1]

    rs = body.applied(body.starts, body.others)
    length = norm(joined(rs))
    carry = [*body.starts, *rs, length, _infinity(length), count(body.graph)]
    ended = repeated_while(body.graph, body.function.name, test, step, carry, body.others)
    xs = ended[:size]
    return [checked("fixed_point", xs[0], ended[2 * size], least(xs)), *xs[1:]]


def _newton(body: Body, limits: Limits) -> list[Any]:
    """Newton's method on vectors, with steps that make the residual shorter."""
    types, eps = body.types, precision(body.types)

    def residual(x: Any, others: Sequence[Any]) -> Any:
        return joined(body.applied(parted(x, types), others))

    def product(v: Any, given: list[Any]) -> Any:
        return _pushed(body, v, given, 0)

    def test(carry: list[Any], given: list[Any]) -> list[Any]:
        _, _, length, before, k = carry
        return [_unfinished(length, before, given[0], k, limits)]

    def step(carry: list[Any], given: list[Any]) -> list[Any]:
        x, r, length, _, k = carry
        others = given[1:]
        inner = Limits(10 * eps, 0.0, STEPS["gmres"])
        zero = filled(x.graph, 0.0, x.type)
        d = solved_linearly(x.graph, "gmres", product, -r, zero, [x, *others], inner)

        def fails(trial: list[Any], read: list[Any]) -> list[Any]:
            t, halved = trial
            x, d, length, *rest = read
            enough = norm(residual(x + t * d, rest)) <= (1.0 - SUFFICIENT * t) * length
            return [~enough & (halved < HALVINGS)]

        x = x + _stretch(x, fails, [x, d, length, *others]) * d
        r = residual(x, others)
        return [x, r, norm(r), length, k + 1]

    x = joined(body.starts)
    r = residual(x, body.others)
    length = norm(r)
    least = length * limits.rtol + limits.atol
    carry = [x, r, length, _infinity(length), count(body.graph)]
    ended = repeated_while(body.graph, body.function.name, test, step, carry, [least, *body.others])
    return parted(checked("root", ended[0], ended[2], least), types)


def _descended(body: Body, limits: Limits) -> list[Any]:
    """Newton's method on vectors, with steps that make the function less."""
    types, eps = body.types, precision(body.types)

    def both(x: Any, others: Sequence[Any]) -> tuple[Any, Any]:
        value, *slopes = body.applied(parted(x, types), others)
        return value, joined(slopes)

    def product(v: Any, given: list[Any]) -> Any:
        return _pushed(body, v, given, 1)

    def test(carry: list[Any], given: list[Any]) -> list[Any]:
        *_, length, before, k = carry
        return [_unfinished(length, before, given[0], k, limits)]

    def step(carry: list[Any], given: list[Any]) -> list[Any]:
        x, g, value, length, _, k = carry
        others = given[1:]
        inner = Limits(eps**0.5, 0.0, STEPS["cg"])
        zero = filled(x.graph, 0.0, x.type)
        d = solved_linearly(x.graph, "cg", product, -g, zero, [x, *others], inner)
        d = OPS["where"](dot(d, g) < 0.0, d, -g)

        def fails(trial: list[Any], read: list[Any]) -> list[Any]:
            t, halved = trial
            x, d, value, length, slope, *rest = read
            there, steep = both(x + t * d, rest)
            less = there <= value + SUFFICIENT * t * slope
            # Near the least value its digits say nothing any more, and the gradient does.
            flat = (there <= value + 8 * eps * abs(value)) & (norm(steep) < length)
            return [~(less | flat) & (halved < HALVINGS)]

        x = x + _stretch(x, fails, [x, d, value, length, dot(d, g), *others]) * d
        value, g = both(x, others)
        return [x, g, value, norm(g), length, k + 1]

    x = joined(body.starts)
    value, g = both(x, body.others)
    length = norm(g)
    least = length * limits.rtol + limits.atol
    carry = [x, g, value, length, _infinity(length), count(body.graph)]
    ended = repeated_while(body.graph, body.function.name, test, step, carry, [least, *body.others])
    return parted(checked("minimize", ended[0], ended[3], least), types)


def _pushed(body: Body, v: Any, given: list[Any], first: int) -> Any:
    """The derivative of the body's results, from `first` on, by x, times v.  given: x, others."""
    x, *others = given
    xs = parted(x, body.types)
    outs = body.applied(xs, others)[first:]
    tangents = {a.id: b for a, b in zip(xs, parted(v, body.types), strict=True)}
    found = pushforward(x.graph, tangents, [o.id for o in outs], tuple(tangents))
    return joined([found[o.id] if o.id in found else filled(x.graph, 0.0, o.type) for o in outs])


def _stretch(x: Any, fails: Any, given: list[Any]) -> Any:
    """1, or as many halves of it as it takes."""
    one = filled(x.graph, 1.0, x.type.with_shape(()))

    def halve(trial: list[Any], read: list[Any]) -> list[Any]:
        return [trial[0] * 0.5, trial[1] + 1]

    return repeated_while(x.graph, "stretch", fails, halve, [one, count(x.graph)], given)[0]


def _infinity(length: Any) -> Any:
    return filled(length.graph, math.inf, length.type)
