"""Elements gathered by number: sums, products and extrema of segments, and counts of bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.dims import Dim, Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import same_shape, shape_text
from staticad_schema.sites import asking
from staticad_schema.types import BOOL, FLOAT32, FLOAT64, INEXACT, INT64, INTEGER, NUMERIC, REAL

from .. import dimensions, methods
from ..building import build, renamed
from ..finding import found
from ..index_parts import reshaped
from ..numbers import is_real
from ..operands import Operand, graph_of, result, tensor, tensors
from ..options import flag
from ..tensor import Tensor
from .gathering import positions
from .joining import concat


def segment_sum(
    x: Operand, segments: Operand, /, num_segments: Any, *, name: str | None = None
) -> Tensor:
    """The sums of the elements of x, or of its slices along the first axes, by segment.

    segments: integers from 0 to num_segments - 1, in any order, of the shape of x's first axes: the
    number of the segment that each belongs to.  num_segments: an int or a Dim.  Returns
    (num_segments, *the other axes of x) in x's dtype; the sum of nothing is 0.
    Raises ShapeError for shapes that do not fit and, as the run does, for numbers out of range.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.segment_sum([1.0, 2.0, 3.0], [0, 2, 0], 3)
    >>> sad.Session(graph).run(y)
    array([4., 0., 2.], dtype=float32)
    """
    with asking("segment_sum", name):
        value, places, count = _segments("segment_sum", x, segments, num_segments)
        return _scattered("scatter_add", value, 0, places, count, name)


def segment_mean(
    x: Operand, segments: Operand, /, num_segments: Any, *, name: str | None = None
) -> Tensor:
    """The arithmetic means by segment, as in `segment_sum`; the mean of nothing is NaN.

    Integers and bools become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.segment_mean([1.0, 2.0, 3.0], [0, 1, 0], 2)
    >>> sad.Session(graph).run(y)
    array([2., 2.], dtype=float32)
    """
    with asking("segment_mean", name):
        value, places, count = _segments("segment_mean", x, segments, num_segments)
        dtype = value.type.dtype if value.type.kind in INEXACT else FLOAT32
        # The sum of half floats may leave their range, where the mean does not.
        wide = methods.widened(value.astype(dtype))
        total: Any = _scattered("scatter_add", wide, 0, places, count, None)
        ones = build("broadcast_to", (places.coerce(1),), {"shape": places.type.shape})
        number: Any = _scattered("scatter_add", ones.astype(INT64), 0, places, count, None)
        number = reshaped(number, (count, *(1,) * (total.type.ndim - 1)))
        mean = total / number.astype(total.type.dtype)
        return result(methods.cast(mean, dtype, name))


def segment_prod(
    x: Operand, segments: Operand, /, num_segments: Any, *, name: str | None = None
) -> Tensor:
    """The products by segment, as in `segment_sum`; the product of nothing is 1.

    The derivatives are exact where elements are 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.segment_prod([1.0, 2.0, 3.0], [0, 2, 0], 3)
    >>> sad.Session(graph).run(y)
    array([3., 1., 2.], dtype=float32)
    """
    with asking("segment_prod", name):
        value, places, count = _segments("segment_prod", x, segments, num_segments)
        return _scattered("scatter_multiply", value, 1, places, count, name)


def segment_max(
    x: Operand, segments: Operand, /, num_segments: Any, *, name: str | None = None
) -> Tensor:
    """The largest elements by segment, as in `segment_sum`; NaN where there is one.

    Of nothing: -inf, or the least integer.  The derivative is shared among ties.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.segment_max([1.0, 2.0, 3.0], [0, 2, 0], 3)
    >>> sad.Session(graph).run(y)
    array([  3., -inf,   2.], dtype=float32)
    """
    with asking("segment_max", name):
        return _extreme("segment_max", "scatter_max", 0, x, segments, num_segments, name)


def segment_min(
    x: Operand, segments: Operand, /, num_segments: Any, *, name: str | None = None
) -> Tensor:
    """The smallest elements by segment, as in `segment_sum`; NaN where there is one.

    Of nothing: inf, or the largest integer.  The derivative is shared among ties.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.segment_min([1.0, 2.0, 3.0], [0, 2, 0], 3)
    >>> sad.Session(graph).run(y)
    array([ 1., inf,  2.], dtype=float32)
    """
    with asking("segment_min", name):
        return _extreme("segment_min", "scatter_min", 1, x, segments, num_segments, name)


def _segments(asked: str, x: Any, segments: Any, count: Any) -> tuple[Any, Any, Size]:
    """The values, the checked numbers of their segments, and how many segments there are."""
    graph = graph_of(asked, x, segments)
    value = tensor(asked, x, graph)
    if value.type.kind not in NUMERIC:
        raise DTypeError("not numbers", expected="a numeric dtype", found=value.describe())
    places = positions(asked, segments, graph)
    lead = value.shape[: places.ndim]
    if places.ndim > value.ndim or same_shape(places.shape, lead) is False:
        raise ShapeError(
            "not one segment each",
            expected=f"a shape that {value.describe()} begins with",
            found=places.describe(),
        )
    total = dimensions.size(count)
    return value, _counted(places, total, "a segment"), total


def _counted(places: Any, size: Size, what: str) -> Any:
    """The numbers, of which none is negative: here those do not count from the end."""
    if places.node.op == "constant":
        array = places.node.attributes["value"]
        if array.size and int(array.min()) < 0:
            raise ArgumentError(
                f"{what} of a negative number", expected="0 or more", found=str(array.min())
            )
        if isinstance(size, int) and array.size and int(array.max()) >= size:
            raise ShapeError(
                f"{what} out of range", expected=f"below {size}", found=str(array.max())
            )
        return places
    if places.type.kind == "uint":
        return places
    fine = build("greater_equal", (places, places.coerce(0)))
    message = f"{what} of a negative number"
    return build("check", (fine, places), {"message": message})


def _scattered(
    op: str, value: Any, start: Any, places: Any, count: Size, name: str | None, **more: Any
) -> Tensor:
    shape = (count, *value.type.shape[places.type.ndim :])
    empty = value.graph.handle(value.graph.scalar(start, value.type.dtype))
    empty = build("broadcast_to", (empty,), {"shape": shape})
    return result(build(op, (empty, value, places), {"axes": (0,), **more}, label=name))


def _extreme(
    asked: str, op: str, end: int, x: Any, segments: Any, count: Any, name: str | None
) -> Tensor:
    value, places, total = _segments(asked, x, segments, count)
    if value.type.kind not in REAL:
        raise DTypeError(
            "numbers without an order", expected="a real dtype", found=value.describe()
        )
    start = methods.limits(value.type.dtype)[end]
    return _scattered(op, value, start, places, total, name, include_self=False)


# ------------------------------------------------------------------ bins


def bincount(
    x: Operand,
    /,
    weights: Operand | None = None,
    minlength: int | Dim = 0,
    *,
    length: Any = None,
    name: str | None = None,
) -> Tensor:
    """How often each of the numbers from 0 occurs in x, or the sum of its weights.

    x: integers of any shape.  weights: numbers of the same shape.  length: how many numbers to
    count, an int or a Dim; without it each run finds the size, up to the largest number in x and
    `minlength` at least.  Returns int64 counts, or sums in the dtype of the weights.
    Raises ArgumentError, ShapeError, or fails when it runs, for numbers out of range.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.bincount([0, 2, 2], length=4)
    >>> sad.Session(graph).run(y)
    array([1, 0, 2, 0])
    """
    with asking("bincount", name):
        graph = graph_of("bincount", x, weights)
        places = positions("bincount", x, graph)
        least = dimensions.size(minlength)
        size = _found_length(places, least) if length is None else dimensions.size(length)
        if weights is None:
            number = graph.handle(graph.scalar(1, INT64))
            values = build("broadcast_to", (number,), {"shape": places.shape})
        else:
            values = tensor("bincount", weights, graph)
            if values.type.kind not in NUMERIC:
                raise DTypeError("not weights", expected="numbers", found=values.describe())
            if same_shape(values.type.shape, places.shape) is False:
                raise ShapeError(
                    "weights of another shape",
                    expected=shape_text(places.shape),
                    found=values.describe(),
                )
        return _scattered("scatter_add", values, 0, _counted(places, size, "an entry"), size, name)


def _found_length(places: Any, least: Size) -> Size:
    """The size that holds all of the numbers, which each run finds."""
    numbers = methods.reshape(places.astype(INT64), -1) + 1
    shortest = methods.reshape(tensor("bincount", least, places.graph), (1,)).astype(INT64)
    largest = build("max", (concat([numbers, shortest]),), {"axis": (0,), "keepdims": True})
    length: Size = found("repeated_positions", largest).type.shape[0]
    return length


def histogram(
    x: Operand,
    /,
    bins: Any = 10,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: Operand | None = None,
    *,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(how many elements of x, or what weights, fall into each bin; the edges of the bins).

    x: real numbers of any shape, integers as float64.  bins: how many of equal width in `range`, of
    the smallest to the largest element if that is None; or their edges in ascending order, a
    vector.  Of each bin the left edge belongs to it, of the last one the right edge too; what is
    outside, and NaN, is not counted.  density: divided by the widths and the total.  As
    `numpy.histogram`.
    Differentiable with respect to the weights.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     counts, edges = sad.histogram([0.0, 1.0, 1.5, 2.0, 5.0], 2, (0.0, 2.0))
    >>> sad.Session(graph).run([counts, edges])
    [array([1, 3]), array([0., 1., 2.], dtype=float32)]
    """
    with asking("histogram", name):
        flag("density", density)
        graph = graph_of("histogram", x, weights, bins)
        value: Any = tensor("histogram", x, graph)
        if value.type.kind == "complex" or value.dtype == BOOL:
            raise DTypeError("not real numbers", expected="a real dtype", found=value.describe())
        value = methods.reshape(value, (-1,))
        # Integers of 64 bits are not told apart in float32.
        value = value if value.type.kind == "float" else value.astype(FLOAT64)
        edges = _edges(value, bins, range)
        value, edges = tensors("histogram", value, edges)
        last = edges.shape[0] - 1
        place: Any = build("searchsorted", (edges, value), {"right": True}) - 1
        on_top = build("equal", (value, edges[-1]))
        place = build("where", (on_top, place.coerce(0) + (last - 1), place))
        # What is outside goes to a bin of its own, which is not shown.
        inside = build(
            "logical_and",
            (build("greater_equal", (value, edges[0])), build("less_equal", (value, edges[-1]))),
        )
        place = build("where", (inside, place, place.coerce(0) + last))
        if weights is None:
            one = graph.handle(graph.scalar(1, INT64))
            values = build("broadcast_to", (one,), {"shape": value.shape})
        else:
            values = tensor("histogram", weights, graph)
            if values.type.kind not in NUMERIC:
                raise DTypeError("not weights", expected="numbers", found=values.describe())
            values = reshaped(methods.reshape(values, (-1,)), value.shape)
        counts: Any = _scattered("scatter_add", values, 0, place, last + 1, None)[:last]
        if density:
            widths = edges[1:] - edges[:-1]
            share = counts.astype(widths.dtype if counts.type.kind != "float" else counts.dtype)
            total = build("sum", (share,), {"axis": (0,), "keepdims": False})
            counts = share / widths.astype(share.type.dtype) / total
        return result(renamed(counts, name)), edges


MOST_BINS = 1 << 24
"""The edges of more would be a constant of gigabytes."""


def _edges(value: Any, bins: Any, limits: Any) -> Any:
    """The edges of the bins: an array, or a tensor.  Raises GraphError."""
    if isinstance(bins, Handle | list | tuple | np.ndarray):
        edges = tensor("histogram", bins, value.graph)
        if edges.ndim != 1 or edges.type.kind not in (*INTEGER, "float"):
            raise ShapeError("not edges", expected="a vector of numbers", found=edges.describe())
        if isinstance(edges.shape[0], int) and edges.shape[0] < 2:
            raise ShapeError("not a bin", expected="two edges or more", found=edges.describe())
        if not isinstance(bins, Handle) and (np.diff(np.asarray(bins)) < 0).any():
            raise ArgumentError(
                "edges out of order", expected="ascending edges", found=f"{bins!r:.80}"
            )
        return edges
    count = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
    if not count or not 1 <= dimensions.integer(bins) <= MOST_BINS:
        raise ArgumentError(
            "not a number of bins",
            expected=f"from 1 to {MOST_BINS}, or their edges",
            found=f"{bins!r:.80}",
        )
    if limits is None:
        if value.type.shape[0] == 0:
            limits = (0.0, 1.0)
        else:
            ends = {"axis": (0,), "keepdims": False}
            low, high = (build(op, (value,), ends) for op in ("min", "max"))
            flat = build("equal", (low, high))
            low, high = (
                build("where", (flat, end + shift, end))
                for end, shift in ((low, -0.5), (high, 0.5))
            )
            steps = value.graph.source(
                "iota", {"shape": (bins + 1,), "axis": 0, "dtype": value.type.dtype}
            )
            inner = low + steps * ((high - low) / bins)
            return build("where", (build("equal", (steps, steps.coerce(bins))), high, inner))
    if not isinstance(limits, tuple | list) or len(limits) != 2 or not all(map(is_real, limits)):
        raise UsageError("not a range", expected="(least, largest)", found=f"{limits!r:.80}")
    low, high = map(float, limits)
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ArgumentError("not a range", expected="finite, ascending ends", found=str(limits))
    if low == high:
        low, high = low - 0.5, high + 0.5
    exact = np.linspace(low, high, int(bins) + 1)
    return value.graph.constant(exact.astype(value.type.dtype))
