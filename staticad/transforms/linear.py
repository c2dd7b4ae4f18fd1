"""Linear equations that are known by products alone, solved by Krylov's methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.sites import asking

from .. import dimensions
from ..gradients.fit import filled
from ..gradients.implicit import joined, parted
from ..gradients.iterating import entered
from ..gradients.krylov import RESTART, Limits, bound, norm, solved_linearly
from ..operands import Operand, graph_of, tensor
from ..options import number
from ..trees import flattened, nested
from .equations import checked, known, like_argument, traced_body

Matrix = Operand | Callable[[Any], Any]


def cg(
    a: Matrix,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    max_iterations: int = 10_000,
    name: str | None = None,
) -> Any:
    """x in a x = b, by conjugate gradients, of a symmetric a with eigenvalues above 0.

    a: a matrix [n, n], or a function that gives its product with what is nested and typed as b is;
        it may use tensors and variables from outside, is called once, and draws no random numbers.
    b: a floating tensor, or nested tuples, lists and dicts of tensors of one dtype; with a matrix a
        vector [n].  x0: where it begins (None: zeros).
    rtol, atol: it ends where |b - a x| is at most the larger of rtol * |b| and atol.
    max_iterations: the run raises ExecutionError where it takes more.

    Returns tensors nested as b is.  Derivatives by b and by what a uses solve such an equation
    each, to nearly all digits, and are of any order; by x0 they are 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     d = sad.placeholder("float64", (3,), name="d")
    ...     x = sad.linalg.cg(lambda v: d * v, sad.ones(3, dtype="float64"))
    ...     (g,) = sad.gradients(x, d)
    >>> sad.Session(graph).run([x, g], {d: [1.0, 2.0, 4.0]})
    [array([1.  , 0.5 , 0.25]), array([-1.    , -0.25  , -0.0625])]
    """
    with asking("cg", name, keeps=True):
        limits = _limits(rtol, atol, max_iterations, RESTART)
        return _solved("cg", a, b, x0, limits, name)


def gmres(
    a: Matrix,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int = RESTART,
    max_iterations: int = 200,
    name: str | None = None,
) -> Any:
    """x in a x = b, by the generalised minimal residual method, of any regular a.

    restart: the most products, and vectors kept, between restarts.  max_iterations: the most
        restarts; it also ends where one does not halve the residual.  The others: as for `cg`.

    Returns tensors nested as b is, with derivatives as those of `cg`; the run raises ExecutionError
    where the residual stays longer than it may be.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     m = sad.constant([[2.0, 1.0], [0.0, 4.0]], dtype="float64")
    ...     x = sad.linalg.gmres(m, sad.constant([4.0, 8.0], dtype="float64"))
    >>> sad.Session(graph).run(sad.round(x, 12))
    array([1., 2.])
    """
    with asking("gmres", name, keeps=True):
        most = dimensions.integer(restart)
        number("restart", most, least=1)
        return _solved("gmres", a, b, x0, _limits(rtol, atol, max_iterations, most), name)


def _limits(rtol: float, atol: float, iterations: int, restart: int) -> Limits:
    most = dimensions.integer(iterations)
    number("max_iterations", most, least=1)
    return Limits(number("rtol", rtol, least=0.0), number("atol", atol, least=0.0), most, restart)


def _solved(method: str, a: Any, b: Any, x0: Any, limits: Limits, name: str | None) -> Any:
    values, tree = flattened(b)
    if not values:
        raise UsageError("b is empty", expected="at least one tensor", found=str(tree))
    with asking(method, name):
        graph = graph_of(method, a, *values)
        right = [tensor(method, value, graph) for value in values]
        product = a if callable(a) else _of_matrix(method, tensor(method, a, graph), right)
    body = traced_body(
        method, product, nested(tree, right), name, lambda xs, y, tree: like_argument(tree, y, xs)
    )
    types = body.types

    def flat(v: Any, given: list[Any]) -> Any:
        return joined(body.applied(parted(v, types), given))

    def residual(xs: list[Any], given: list[Any]) -> list[Any]:
        made = body.applied(xs, given[: len(body.others)])
        return [y - z for y, z in zip(made, given[len(body.others) :], strict=True)]

    vector = joined(right)
    if x0 is None:
        start = filled(graph, 0.0, vector.type)
    else:
        start = joined(like_argument(tree, x0, right, "x0"))
    found = solved_linearly(graph, method, flat, vector, start, body.others, limits)
    left = norm(vector - flat(found, body.others))
    # What is left is found anew here, with rounding of its own.
    found = checked(method, found, left, bound(vector, limits) * 2.0)
    others = [*body.others, *right]
    equation = entered(
        graph, f"{body.function.name}/residual", [*right, *others], len(right), residual
    )
    return known(body._replace(others=others), parted(found, types), method, equation, name)


def _of_matrix(asked: str, matrix: Any, right: list[Any]) -> Callable[[Any], Any]:
    if matrix.ndim != 2 or len(right) != 1 or right[0].ndim != 1:
        raise ShapeError(
            "a matrix times what is no vector",
            asked=asked,
            expected="a matrix [n, n] and a vector [n], or a function that multiplies",
            found=f"{matrix.describe()} and {', '.join(b.describe() for b in right)}",
        )

    def product(v: Any) -> Any:
        with asking(asked):
            return matrix @ v

    return product
