"""Functions that are given by samples or by coefficients: differences, areas, values between."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import floating
from staticad_schema.ops.checks import check_kind
from staticad_schema.sites import asking
from staticad_schema.types import INT64, NUMERIC

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, result, tensor, tensors
from ..options import flag
from ..tensor import Tensor

# Orders of differences along an axis of unknown size: each is a node.
_MOST = 1000


def diff(
    x: Operand,
    /,
    n: int = 1,
    axis: int = -1,
    prepend: Operand | None = None,
    append: Operand | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The differences of neighbours along an axis, n times over; of bools, whether they differ.

    x: numbers (unsigned ones wrap) or bools.  prepend, append: what stands before and behind x,
    a scalar or a tensor of its shape but for the axis.  The axis gets shorter by n.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.diff([1, 4, 9, 16])
    >>> sad.Session(graph).run(y)
    array([3, 5, 7])
    """
    with asking("diff", name):
        given = [part for part in (prepend, append) if part is not None]
        value, *more = tensors("diff", x, *given)
        times = dimensions.integer(n)
        if times < 0:
            raise ArgumentError("a negative order", expected="0 or more", found=str(times))
        place = dimensions.axis_of(axis, value.ndim)
        one = (*value.shape[:place], 1, *value.shape[place + 1 :])
        parts = [
            build("broadcast_to", (part,), {"shape": one}) if part.ndim == 0 else part
            for part in more
        ]
        before = [parts.pop(0)] if prepend is not None else []
        whole: Any = value
        if more:
            whole = build("concat", (*before, value, *parts), {"axis": place})
        size = whole.type.shape[place]
        if isinstance(size, int):
            # Of fewer elements there are no further differences.
            times = min(times, size)
        elif times > _MOST:
            raise ArgumentError(
                "so many differences along an axis of unknown size",
                expected=f"{_MOST} or less",
                found=str(times),
            )
        # The first difference is rounded by its op.
        dtype, whole = whole.type.dtype, methods.widened(whole) if times > 1 else whole
        for _ in range(times):
            ahead, behind = _neighbours(whole, place)
            op = "not_equal" if whole.type.kind == "bool" else "subtract"
            whole = build(op, (ahead, behind))
        return result(methods.cast(whole, dtype, name))


def _neighbours(x: Any, axis: int) -> tuple[Any, Any]:
    """The elements behind the first along an axis, and those before the last."""
    return methods.slice_along(x, axis, 1, None), methods.slice_along(x, axis, None, -1)


def trapezoid(
    y: Operand,
    x: Operand | None = None,
    /,
    dx: Operand = 1.0,
    axis: int = -1,
    *,
    name: str | None = None,
) -> Tensor:
    """The area below samples y along an axis, by the trapezoidal rule.

    x: the places of the samples, a vector or of the shape of y; without, they are dx apart.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     area = sad.trapezoid([1.0, 2.0, 3.0], [4.0, 6.0, 8.0])
    >>> sad.Session(graph).run(area)
    array(8., dtype=float32)
    """
    with asking("trapezoid", name):
        value, places = floating(*tensors("trapezoid", y, dx if x is None else x))
        axis = dimensions.axis_of(axis, value.ndim)
        width = methods.widened(places)
        if x is not None:
            if places.ndim == 1:
                if dims.same_size(places.shape[0], value.shape[axis]) is False:
                    raise ShapeError(
                        "not a place for each sample",
                        expected=f"size {value.shape[axis]}, as {value.describe()}",
                        found=places.describe(),
                    )
                places = methods.reshape(places, (-1, *(1,) * (value.ndim - axis - 1)))
            along = axis - value.ndim + places.type.ndim
            wide = methods.widened(places)
            ahead, behind = _neighbours(wide, dimensions.axis_of(along, places.type.ndim))
            width = ahead - behind
        elif places.ndim:
            raise ShapeError(
                "a distance that is no scalar",
                expected="a number; places of samples are the second operand",
                found=places.describe(),
            )
        ahead, behind = _neighbours(methods.widened(value), axis)
        area = methods.reduce("sum", (ahead + behind) * 0.5 * width, axis, False)
        return result(methods.cast(area, value.dtype, name))


def interp(
    x: Operand,
    xp: Operand,
    fp: Operand,
    /,
    left: Operand | None = None,
    right: Operand | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The values at x of the polyline through the points (xp, fp).

    x: any shape.  xp: a vector in ascending order, which is not checked.  fp: as many values.
    left, right: the values before the first point and behind the last; without, those of these
    points.  At a point the slope is that of the line behind it.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.interp([0.0, 1.5, 9.0], [1.0, 2.0, 3.0], [3.0, 2.0, 0.0])
    >>> sad.Session(graph).run(y)
    array([3. , 2.5, 0. ], dtype=float32)
    """
    with asking("interp", name):
        ends = [end for end in (left, right) if end is not None]
        place, xs, ys, *outside = floating(*tensors("interp", x, xp, fp, *ends))
        for points in (xs, ys):
            if points.ndim != 1 or points.shape[0] == 0:
                raise ShapeError(
                    "not points of a polyline",
                    expected="two vectors of one size of at least 1",
                    found=points.describe(),
                )
        if dims.same_size(xs.shape[0], ys.shape[0]) is False:
            raise ShapeError(
                "not a value for each point",
                expected=f"size {xs.shape[0]}, as {xs.describe()}",
                found=ys.describe(),
            )
        first, last = xs[0], xs[-1]
        before = ys[0] if left is None else outside.pop(0)
        behind = final = ys[-1]
        if right is not None:
            above = build("greater", (place, last))
            behind = build("where", (above, outside.pop(0), final))
        found = methods.computed(_on_the_line, place, xs, ys)
        found = build("where", (build("less", (place, first)), before, found))
        beyond = build("greater_equal", (place, last))
        return result(build("where", (beyond, behind, found), label=name))


def _on_the_line(place: Any, xs: Any, ys: Any) -> Any:
    """The values on the lines between neighbouring points, of which there is one at least."""
    last = build("size_of", (xs,), {"axis": (0,), "dtype": INT64}) - 1
    low = build("searchsorted", (xs, place), {"right": True}) - 1
    low = build("maximum", (build("minimum", (low, last - 1)), 0))
    high = build("minimum", (low + 1, last))
    x0, x1, y0, y1 = (build("take", (v, i), {"axis": 0}) for v in (xs, ys) for i in (low, high))
    width = x1 - x0
    # Between points at one place the line is flat.
    flat = build("equal", (width, 0))
    slope = (y1 - y0) / build("where", (flat, width.coerce(1.0), width))
    return y0 + slope * (place - x0)


def polyval(coefficients: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The polynomial with these coefficients, that of the highest power first, at x.

    coefficients: a vector of known size.  x: any shape.  By Horner's rule.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.polyval([1.0, 0.0, -2.0], [0.0, 1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([-2., -1.,  2.], dtype=float32)
    """
    with asking("polyval", name):
        given, value = tensors("polyval", coefficients, x)
        if given.ndim != 1 or not isinstance(given.shape[0], int):
            raise ShapeError(
                "not the coefficients of a polynomial",
                expected="a vector of known size",
                found=given.describe(),
            )
        return result(methods.computed(_horner, given, value, label=name))


def _horner(coefficients: Any, x: Any) -> Any:
    total = build("broadcast_to", (x.coerce(0),), {"shape": x.type.shape})
    for k in range(coefficients.type.shape[0]):
        total = total * x + coefficients[k] if k else total + coefficients[k]
    return total


def vander(
    x: Operand, /, n: int | None = None, increasing: bool = False, *, name: str | None = None
) -> Tensor:
    """A matrix of powers, a row for each element of a vector: from x**(n - 1) down to 1.

    n: the number of columns, that of rows if None.  increasing: from 1 up.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.vander([2, 3], 3)
    >>> sad.Session(graph).run(y)
    array([[4, 2, 1],
           [9, 3, 1]])
    """
    with asking("vander", name):
        value = tensor("vander", x)
        if value.ndim != 1:
            raise ShapeError("not a vector", expected="rank 1", found=value.describe())
        check_kind(NUMERIC, value.type)
        count = dimensions.size(value.shape[0] if n is None else n)
        if not isinstance(count, int):
            raise UsageError("not a count", expected="n as an int", found=str(count))
        column = methods.widened(methods.reshape(value, (-1, 1)))
        one = build("broadcast_to", (column.coerce(1),), {"shape": column.type.shape})
        shape = (value.shape[0], max(count - 1, 0))
        factors = build("broadcast_to", (column,), {"shape": shape})
        if count:
            factors = build("concat", (one, factors), {"axis": 1})
        matrix = build("cumulative_prod", (factors,), {"axis": 1, "reverse": False})
        if not flag("increasing", increasing):
            matrix = build("flip", (matrix,), {"axis": (1,)})
        return result(methods.cast(matrix, value.dtype, name))
