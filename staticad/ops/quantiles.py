"""Medians and other quantiles: elements of what is sorted, and what lies between two of them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle, floating
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64, FLOATING, INT64, KINDS, REAL, Array

from .. import dimensions, methods
from ..building import build
from ..checking import checked
from ..dimensions import Axis
from ..finding import at_least
from ..numbers import as_array
from ..operands import Operand, result, tensor
from ..options import choice, flag
from ..tensor import Tensor

Method = Literal["linear", "lower", "higher", "midpoint", "nearest"]


def median(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The middle element, or the mean of the two middle ones, half of the gradient to each.

    x: integers (which count as float32) or floats; NaN if one is NaN.  axis, keepdims: as in
    `sum`.  Raises ShapeError along an empty axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.median([[3.0, 1.0, 2.0], [4.0, 9.0, 6.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([2., 6.], dtype=float32)
    """
    with asking("median", name):
        return _quantile("median", x, 0.5, axis, "linear", keepdims, False, name)


def quantile(
    x: Operand,
    /,
    q: Operand,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The value that the share q of the elements does not exceed, between two of them if need be.

    x: as in `median`.  q: numbers from 0 to 1, or a tensor; its axes come first in the result.
    method: what lies between two elements: "linear" interpolates, "lower" and "higher" take one
    of them, "midpoint" their mean, "nearest" the nearer one.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.quantile([4.0, 1.0, 3.0, 2.0], [0.0, 0.5, 0.75])
    >>> sad.Session(graph).run(y)
    array([1.  , 2.5 , 3.25], dtype=float32)
    """
    with asking("quantile", name):
        return _quantile("quantile", x, q, axis, method, keepdims, False, name)


def percentile(
    x: Operand,
    /,
    q: Operand,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`quantile` of q / 100.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.percentile([4.0, 1.0, 3.0, 2.0], 75)
    >>> sad.Session(graph).run(y)
    array(3.25, dtype=float32)
    """
    with asking("percentile", name):
        return _quantile("percentile", x, q, axis, method, keepdims, False, name, 100)


def nanmedian(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """`median` of the elements that are not NaN; NaN where there are none.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanmedian([3.0, math.nan, 1.0])
    >>> sad.Session(graph).run(y)
    array(2., dtype=float32)
    """
    with asking("nanmedian", name):
        return _quantile("nanmedian", x, 0.5, axis, "linear", keepdims, True, name)


def nanquantile(
    x: Operand,
    /,
    q: Operand,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`quantile` of the elements that are not NaN; NaN where there are none.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanquantile([3.0, math.nan, 1.0], 0.25)
    >>> sad.Session(graph).run(y)
    array(1.5, dtype=float32)
    """
    with asking("nanquantile", name):
        return _quantile("nanquantile", x, q, axis, method, keepdims, True, name)


def nanpercentile(
    x: Operand,
    /,
    q: Operand,
    axis: Axis = None,
    *,
    method: Method = "linear",
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`nanquantile` of q / 100.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanpercentile([3.0, math.nan, 1.0], 25)
    >>> sad.Session(graph).run(y)
    array(1.5, dtype=float32)
    """
    with asking("nanpercentile", name):
        return _quantile("nanpercentile", x, q, axis, method, keepdims, True, name, 100)


def _reals(q: Any) -> Array:
    """Numbers given as such, in float64.  Raises UsageError."""
    if KINDS.get(as_array(q).dtype) not in REAL:
        raise UsageError("not shares", expected="real numbers", found=f"{q!r:.80}")
    return as_array(q, FLOAT64)


def _quantile(
    asked: str,
    x: Operand,
    q: Any,
    axis: Axis,
    method: str,
    keepdims: bool,
    skip: bool,
    name: str | None,
    whole: int = 1,
) -> Tensor:
    """The quantiles; `skip`: of what is not NaN.  whole: the share that is all."""
    choice("method", method, get_args(Method))
    value = tensor(asked, x)
    if value.type.kind not in REAL:
        raise DTypeError("values without an order", expected="a real dtype", found=value.describe())
    (value,) = floating(value)
    axes = dimensions.axes_of(axis, value.ndim)
    if any(value.shape[a] == 0 for a in axes):
        raise ShapeError(
            "a quantile of no elements",
            expected="reduced axes of size 1 or more",
            found=value.describe(),
        )
    value = at_least(value, tuple(int(a in axes) for a in range(value.ndim)))
    kept = [a for a in range(value.ndim) if a not in axes]
    row = methods.permute(methods.widened(value), (*kept, *axes))
    lead = tuple(value.shape[a] for a in kept)
    row = methods.reshape(row, (*lead, product(tuple(value.shape[a] for a in axes))))
    ordered, _ = build("sort", (row,), {"axis": len(kept), "descending": False})
    asked_for, shape = _shares(asked, q, whole, ordered)
    found = _between(ordered, asked_for, method, skip)
    # The axes of q come first, then those of x.
    found = methods.permute(found, (len(kept), *range(len(kept))))
    reduced = tuple(1 if a in axes else s for a, s in enumerate(value.shape))
    final = (*shape, *(reduced if flag("keepdims", keepdims) else lead))
    return result(methods.cast(methods.reshape(found, final), value.dtype, name))


def _shares(asked: str, q: Any, whole: int, like: Any) -> tuple[Any, tuple[Any, ...]]:
    """q as a vector of shares of 1, an array if it is known, and its shape.  Raises GraphError."""
    problem = "a share outside of the whole"
    if isinstance(q, Handle):
        like.graph.check_owner(q, asked, like)
        if q.type.kind not in (FLOATING if whole == 1 else REAL):
            raise DTypeError("not shares", expected="a floating dtype", found=q.describe())
        inside = checked(q, asked, problem, least=0, most=whole).astype(FLOAT64)
        shares = inside if whole == 1 else inside / float(whole)
        return methods.reshape(shares, (-1,)), q.type.shape
    array = _reals(q)
    if not ((array >= 0) & (array <= whole)).all():
        raise ArgumentError(problem, expected=f"numbers from 0 to {whole}", found=f"{q!r:.80}")
    return array.reshape(-1) / whole, array.shape


def _between(ordered: Any, q: Any, method: str, skip: bool) -> Any:
    """The quantiles, along a last axis, of what is sorted along its last axis, NaN last."""
    axis = ordered.type.ndim - 1
    size = ordered.type.shape[axis]
    if isinstance(q, np.ndarray) and isinstance(size, int) and not skip:
        low, high, t = _positions(q * (size - 1), method)
        graph = ordered.graph
        below = build("take", (ordered, graph.constant(low)), {"axis": axis})
        if not t.any():
            found = below
        else:
            above = build("take", (ordered, graph.constant(high)), {"axis": axis})
            found = _mixed(below, above, graph.constant(t.astype(ordered.type.dtype)))
    else:
        found = _counted(ordered, q, method, skip)
    if skip:
        return found
    last = methods.slice_along(ordered, axis, -1, None)
    return build("where", (build("isnan", (last,)), last, found))


def _positions(place: Any, method: str) -> tuple[Any, Any, Any]:
    """The two neighbours of places among elements, and how far behind the first they lie."""
    low, high = np.floor(place), np.ceil(place)
    if method == "linear":
        t = place - low
    elif method == "midpoint":
        t = np.where(low == high, 0.0, 0.5)
    else:
        low = high = {"lower": low, "higher": high, "nearest": np.rint(place)}[method]
        t = np.zeros_like(place)
    return low.astype(np.int64), high.astype(np.int64), t


def _counted(ordered: Any, q: Any, method: str, skip: bool) -> Any:
    """The same where a run finds how many elements there are, or which shares are asked for."""
    axis = ordered.type.ndim - 1
    if isinstance(q, np.ndarray):
        q = ordered.graph.constant(q)
    if skip:
        there = build("logical_not", (build("isnan", (ordered,)),))
        over = {"axis": (axis,), "keepdims": True}
        count = build("sum", (there.astype(INT64),), over).astype(FLOAT64)
        last = build("maximum", (count - 1.0, 0))
    else:
        last = build("size_of", (ordered,), {"axis": (axis,), "dtype": FLOAT64}) - 1.0
    place = q * last
    low, high = build("floor", (place,)), build("ceil", (place,))
    t = place - low
    if method == "midpoint":
        t = build("where", (t > 0.0, t.coerce(0.5), t.coerce(0.0)))
    elif method == "nearest":
        low = high = build("round", (place,))
    elif method != "linear":
        low = high = low if method == "lower" else high
    read = "take_along_axis" if skip else "take"
    below = build(read, (ordered, low.astype(INT64)), {"axis": axis})
    if method in ("lower", "higher", "nearest"):
        return below
    above = build(read, (ordered, high.astype(INT64)), {"axis": axis})
    return _mixed(below, above, t.astype(ordered.type.dtype))


def _mixed(a: Any, b: Any, t: Any) -> Any:
    """a + (b - a) * t for a <= b, also where they are infinite or their distance is."""
    gap = b - a
    plain = build("isfinite", (gap,))
    near = a + build("where", (plain, gap, gap.coerce(0.0))) * t
    # 0 * inf is to be 0 here.
    far = build("multiply_no_nan", (a, 1.0 - t)) + build("multiply_no_nan", (b, t))
    return build("where", (plain, near, far))
