"""All first, or all second derivatives, as tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from staticad_schema.errors import GradientError, ShapeError
from staticad_schema.op import OPS
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import TensorType

from ..gradients import arguments, gradients, jvp
from ..ops.reductions import sum
from ..ops.sources import eye
from ..options import choice, flag
from ..tensor import Tensor
from ..trees import nested
from .products import require_differentiable, scalar, tensors
from .rows import for_each

Mode = Literal["auto", "forward", "reverse"]
MODES = ("auto", "forward", "reverse")


def jacobian(ys: Any, xs: Any, *, mode: Mode = "auto", one_by_one: bool = False) -> Any:
    """The derivatives of each element of ys by each of xs.

    ys, xs: floating tensors, or nested tuples, lists and dicts of them: placeholders, variables or
    intermediate results; ys may be complex where xs are real.
    mode: "forward" makes a column for each element of xs, "reverse" a row for each element of ys;
        "auto" is forward where xs have no more elements than ys, or ys are complex, and reverse
        otherwise, also where sizes are not known before the run.
    one_by_one: rows or columns are made in a loop, with the memory of one; else all at once.

    Returns tensors of shape [*y.shape, *x.shape], nested as ys are, and in each as xs are.  The
    number of nodes does not depend on the sizes.  Where an op has no rule for many rows at once
    (a loop, say), they are made one by one.  Raises GradientError for integers and complex xs.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (2,), name="x")
    ...     matrix = sad.jacobian(sad.stack([x[0] * x[1], x[0], x[1] ** 2]), x)
    >>> sad.Session(graph).run(matrix, {x: [2.0, 3.0]})
    array([[3., 2.],
           [1., 0.],
           [0., 6.]])
    """
    asked = "jacobian"
    with asking(asked, keeps=True):
        targets, shape = tensors(ys, "ys", asked)
        sources, tree = tensors(xs, "xs", asked)
        choice("mode", mode, MODES)
        flag("one_by_one", one_by_one)
        rows = matrices(targets, sources, mode, one_by_one, asked)
        return nested(shape, [nested(tree, row) for row in rows])


def matrices(
    ys: Sequence[Any], xs: Sequence[Any], mode: Mode, one_by_one: bool, asked: str
) -> list[list[Tensor]]:
    """The Jacobian of each of ys by each of xs."""
    graph = require_differentiable(ys, xs, asked)
    complex_ys = _check_kinds(graph, ys, xs, mode, asked)
    if mode == "forward" or complex_ys or (mode == "auto" and _size(xs) <= _size(ys)):
        by_x = [_columns(graph, ys, x, one_by_one) for x in xs]
        return [[column[k] for column in by_x] for k in range(len(ys))]
    return [_rows(graph, y, xs, one_by_one) for y in ys]


def _rows(graph: Any, y: Any, xs: Sequence[Any], one_by_one: bool) -> list[Tensor]:
    """Reverse mode: one pullback for each element of y."""
    made = for_each(
        graph, "jacobian", _units(graph, y.type),
        lambda unit: gradients([y], list(xs), [unit], unconnected="zero"), one_by_one,
    )  # fmt: skip
    return [_reshaped(m, (*y.shape, *x.shape)) for m, x in zip(made, xs, strict=True)]


def _columns(graph: Any, ys: Sequence[Any], x: Any, one_by_one: bool) -> list[Tensor]:
    """Forward mode: one pushforward for each element of x."""
    made = for_each(
        graph, "jacobian", _units(graph, x.type), lambda unit: jvp(list(ys), [x], [unit]),
        one_by_one,
    )  # fmt: skip
    found = []
    for m, y in zip(made, ys, strict=True):
        moved = OPS["permute_dims"](m, axes=(*range(1, m.ndim), 0))
        found.append(_reshaped(moved, (*y.shape, *x.shape)))
    return found


def hessian(y: Any, xs: Any, *, one_by_one: bool = False) -> Any:
    """The second derivatives of y by each two elements of xs.

    y: a real scalar.  xs, one_by_one: as for `jacobian`.

    Returns tensors of shape [*a.shape, *b.shape] for each two of xs, nested as xs are, twice.  It
    is the Jacobian of the gradient, by forward mode.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (2,), name="x")
    ...     matrix = sad.hessian(x[0] ** 2 * x[1], x)
    >>> sad.Session(graph).run(matrix, {x: [3.0, 5.0]})
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    asked = "hessian"
    with asking(asked, keeps=True):
        target = scalar(y, "y", asked)
        sources, tree = tensors(xs, "xs", asked)
        flag("one_by_one", one_by_one)
        require_differentiable([target], sources, asked)
        firsts = gradients(target, sources, unconnected="zero")
        rows = matrices(firsts, sources, "forward", one_by_one, asked)
        return nested(tree, [nested(tree, row) for row in rows])


def laplacian(y: Any, x: Any, *, one_by_one: bool = False) -> Tensor:
    """The sum of the second derivatives of y by the components of x.

    x: [..., d], points.  y: [...], a value at each point that depends on no other point, which is
    not checked; for one point [d] a scalar.  one_by_one: as for `jacobian`; the d directions.

    Returns a tensor of y's type.  Raises ShapeError for other shapes, GradientError for integers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", ("points", 3), name="x")
    ...     found = sad.laplacian(sad.sum(x**2, axis=-1), x)
    >>> sad.Session(graph).run(found, {x: [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]})
    array([6., 6.])
    """
    asked = "laplacian"
    with asking(asked, keeps=True):
        graph, (value, points) = _field([y, x], asked)
        _check_points(value, points, points.shape[:-1], asked)
        (slope,) = gradients([value], [points], [_ones(graph, value.type)], unconnected="zero")
        return _traced(graph, slope, points, one_by_one, asked)


def divergence(y: Any, x: Any, *, one_by_one: bool = False) -> Tensor:
    """The sum of the derivatives of y's components by those of x.

    x: [..., d], points.  y: [..., d], a vector at each point that depends on no other point, which
    is not checked.  one_by_one: as for `jacobian`; the d directions.

    Returns a tensor of shape [...].  Raises ShapeError for other shapes, GradientError for
    integers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float64", (2,), name="x")
    ...     found = sad.divergence(sad.stack([x[0] ** 2, x[0] * x[1]]), x)
    >>> sad.Session(graph).run(found, {x: [3.0, 5.0]})
    array(9.)
    """
    asked = "divergence"
    with asking(asked, keeps=True):
        graph, (value, points) = _field([y, x], asked)
        _check_points(value, points, points.shape, asked)
        return _traced(graph, value, points, one_by_one, asked)


def _traced(graph: Any, field: Any, points: Any, one_by_one: bool, asked: str) -> Tensor:
    """The sum over k of the derivative of the field's component k by that of the points."""
    flag("one_by_one", one_by_one)
    width = points.type.with_shape(points.shape[-1:])

    def component(unit: Any) -> list[Any]:
        along = OPS["broadcast_to"](unit, shape=points.shape)
        (tangent,) = jvp([field], [points], [along])
        return [sum(tangent * unit, axis=-1)]

    (made,) = for_each(graph, asked, _units(graph, width), component, one_by_one)
    return sum(made, axis=0)


def _field(given: list[Any], asked: str) -> tuple[Any, list[Any]]:
    y, x = (arguments.single(t, what, asked) for t, what in zip(given, "yx", strict=True))
    graph = require_differentiable([y], [x], asked)
    if "complex" in (y.type.kind, x.type.kind):
        raise GradientError(
            "complex fields are not meant", asked=asked, expected="real tensors",
            found=(y if y.type.kind == "complex" else x).describe(),
            hint="sad.view_as_real makes components of real and imaginary parts",
        )  # fmt: skip
    return graph, [y, x]


def _check_points(y: Any, x: Any, expected: Any, asked: str) -> None:
    if not x.ndim or tuple(y.shape) != tuple(expected):
        raise ShapeError(
            "values do not belong to points",
            asked=asked,
            expected="x of shape [..., d], and y of shape "
            + ("[...]" if asked == "laplacian" else "[..., d]"),
            found=f"{x.describe()} and {y.describe()}",
        )


def _check_kinds(graph: Any, ys: Sequence[Any], xs: Sequence[Any], mode: Mode, asked: str) -> bool:
    """Whether some y is complex.  Raises GradientError for what is no matrix."""
    odd = next((x for x in xs if x.type.kind == "complex"), None)
    complex_ys = next((y for y in ys if y.type.kind == "complex"), None)
    if odd is None and complex_ys is not None and mode == "reverse":
        odd = complex_ys
    if odd is not None:
        raise GradientError(
            "the derivatives of a complex number are no matrix of numbers",
            asked=asked,
            expected="real xs; complex ys in forward mode only",
            found=odd.describe(),
            site=graph.site(graph.current_site()),
            hint="sad.view_as_real makes components of real and imaginary parts",
        )
    return complex_ys is not None


def _size(tensors_: Sequence[Any]) -> float:
    """The number of elements; NaN, which is less than nothing, where it is not known."""
    sizes = [product(t.shape) for t in tensors_]
    return math.fsum(s for s in sizes) if all(isinstance(s, int) for s in sizes) else math.nan


def _units(graph: Any, type_: TensorType) -> Any:
    """[n, *shape]: for each element a tensor that is 1 there and 0 elsewhere."""
    count = product(type_.shape)
    with graph:
        units = eye(count, dtype=type_.dtype)
    return _reshaped(units, (count, *type_.shape))


def _ones(graph: Any, type_: TensorType) -> Any:
    scalar_one = graph.handle(graph.scalar(1.0, type_.dtype))
    return OPS["broadcast_to"](scalar_one, shape=type_.shape)


def _reshaped(x: Any, shape: Any) -> Any:
    return x if tuple(x.type.shape) == tuple(shape) else OPS["reshape"](x, shape=tuple(shape))
