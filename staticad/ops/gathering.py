"""Elements at integer positions: read, written, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.shapes import broadcast_shapes, product, shape_text
from staticad_schema.sites import asking
from staticad_schema.types import DEFAULT_FLOAT, INT64, INTEGER, as_dtype

from .. import dimensions
from ..building import build, renamed
from ..index_parts import check_positions
from ..numbers import stored
from ..operands import Operand, graph_of, result, tensor
from ..options import choice
from ..tensor import Tensor

Reduction = Literal["set", "add", "multiply", "max", "min"]
"""How an update and what stands at its place become one."""


def take(
    x: Operand, indices: Operand, /, axis: int | None = None, *, name: str | None = None
) -> Tensor:
    """x at integer positions along an axis, which may be left out for a vector.

    indices: integers of any shape, from the end if negative.  The result has their shape in
    place of the axis.  A position outside fails: ShapeError, or ExecutionError when it runs.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.take([10.0, 20.0, 30.0], [2, 0, -1])
    >>> sad.Session(graph).run(y)
    array([30., 10., 30.], dtype=float32)
    """
    with asking("take", name):
        graph = graph_of("take", x, indices)
        value = tensor("take", x, graph)
        places = positions("take", indices, graph)
        if axis is None and value.ndim != 1:
            raise UsageError(
                "no axis to take from",
                expected="axis=, for what is no vector",
                found=value.describe(),
                hint="reshape it to (-1,) to take from all of it",
            )
        attributes = {"axis": dimensions.axis_of(axis or 0, value.ndim)}
        check_positions(value, (places,), (attributes["axis"],))
        return result(build("take", (value, places), attributes, label=name))


def take_along_axis(
    x: Operand, indices: Operand, /, axis: int = -1, *, name: str | None = None
) -> Tensor:
    """For each position of `indices`, the element of x there but for `axis`.

    indices: integers of as many axes as x, broadcasting but along `axis`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.take_along_axis([[1.0, 2.0], [3.0, 4.0]], [[1], [0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([[2.],
           [3.]], dtype=float32)
    """
    with asking("take_along_axis", name):
        graph = graph_of("take_along_axis", x, indices)
        value = tensor("take_along_axis", x, graph)
        places = positions("take_along_axis", indices, graph)
        attributes = {"axis": dimensions.axis_of(axis, value.ndim)}
        check_positions(value, (places,), (attributes["axis"],))
        return result(build("take_along_axis", (value, places), attributes, label=name))


def gather_elements(
    x: Operand, indices: Operand, /, axis: int = -1, *, name: str | None = None
) -> Tensor:
    """x at the position of each element of `indices`, but for `axis`, where the index says.

    indices: integers, of x's rank, on other axes not larger than x: it is the first elements of x
    there that are read.  As GatherElements of ONNX and `torch.gather`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.gather_elements([[1, 2], [3, 4], [5, 6]], [[1, 0]], axis=0)
    >>> sad.Session(graph).run(y)
    array([[3, 2]])
    """
    with asking("gather_elements", name):
        graph = graph_of("gather_elements", x, indices)
        value = tensor("gather_elements", x, graph)
        places = positions("gather_elements", indices, graph)
        at = _elements(value, places, axis)
        axes = tuple(range(value.ndim))
        check_positions(value, at, axes)
        return result(build("gather", (value, *at), {"axes": axes}, label=name))


def scatter_elements(
    x: Operand,
    indices: Operand,
    updates: Operand,
    /,
    axis: int = -1,
    *,
    reduction: Reduction = "set",
    name: str | None = None,
) -> Tensor:
    """x with each element of `updates` put where `gather_elements` reads it.

    indices: integers, of x's rank.  updates: a tensor of their shape, or a number, of x's dtype.
    reduction: "set" (of several for one place the last stays), "add", "multiply", "max", "min".
    As ScatterElements of ONNX and `torch.scatter_reduce`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.scatter_elements(sad.zeros((2, 3)), [[0, 2], [1, 1]], 1.0, reduction="add")
    >>> sad.Session(graph).run(y)
    array([[1., 0., 1.],
           [0., 2., 0.]], dtype=float32)
    """
    with asking("scatter_elements", name):
        graph = graph_of("scatter_elements", x, indices, updates)
        value = tensor("scatter_elements", x, graph)
        places = positions("scatter_elements", indices, graph)
        at = _elements(value, places, axis)
        return _put(value, at, tuple(range(value.ndim)), updates, reduction, name)


def put_along_axis(
    x: Operand,
    indices: Operand,
    values: Operand,
    /,
    axis: int = -1,
    *,
    reduction: Reduction = "set",
    name: str | None = None,
) -> Tensor:
    """x with `values` put where `take_along_axis` reads: indices broadcast but along `axis`.

    values: broadcast to the indices, of x's dtype.  reduction: as in `scatter_elements`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.put_along_axis([[10, 30, 20], [60, 40, 50]], [[1], [0]], 99)
    >>> sad.Session(graph).run(y)
    array([[10, 99, 20],
           [99, 40, 50]])
    """
    with asking("put_along_axis", name):
        graph = graph_of("put_along_axis", x, indices, values)
        value = tensor("put_along_axis", x, graph)
        places = positions("put_along_axis", indices, graph)
        place = dimensions.axis_of(axis, value.ndim)
        _same_rank(value, places)
        at = [places if a == place else _along(value, value.shape[a], a) for a in range(value.ndim)]
        return _put(value, at, tuple(range(value.ndim)), values, reduction, name)


def _same_rank(x: Tensor, indices: Tensor) -> None:
    if indices.ndim != x.ndim:
        raise ShapeError(
            "indices of another rank", expected=f"rank {x.ndim}", found=indices.describe()
        )


def _along(x: Tensor, size: Size, axis: int) -> Any:
    """0, 1, ... along an axis of as many axes as x has."""
    shape = (*(1,) * axis, size, *(1,) * (x.ndim - axis - 1))
    return x.graph.source("iota", {"shape": shape, "axis": axis, "dtype": INT64})


def _elements(x: Tensor, indices: Tensor, axis: Any) -> list[Any]:
    """The index tensors of all axes of x.  Raises ShapeError."""
    _same_rank(x, indices)
    place = dimensions.axis_of(axis, x.ndim)
    for a, (size, most) in enumerate(zip(indices.shape, x.shape, strict=True)):
        if a != place and isinstance(size, int) and isinstance(most, int) and size > most:
            raise ShapeError(
                "more indices than elements",
                expected=f"at most {most} on axis {a}, as {x.describe()} has",
                found=indices.describe(),
            )
    return [indices if a == place else _along(x, indices.shape[a], a) for a in range(x.ndim)]


def _put(
    x: Tensor, indices: Sequence[Any], axes: tuple[int, ...], updates: Any, how: Any, name: Any
) -> Tensor:
    """x with updates put at the places that `gather` reads."""
    choice("reduction", how, get_args(Reduction))
    check_positions(x, indices, axes)
    block = broadcast_shapes(i.type.shape for i in indices)
    shape = block + tuple(size for a, size in enumerate(x.shape) if a not in axes)
    ready = stored(x, updates)
    if ready.type.shape != shape:
        ready = build("broadcast_to", (ready,), {"shape": shape})
    return result(build(f"scatter_{how}", (x, ready, *indices), {"axes": axes}, label=name))


def gather_nd(
    x: Operand, indices: Operand, /, *, batch_axes: int = 0, name: str | None = None
) -> Tensor:
    """x at the points whose coordinates are the last axis of `indices`.

    indices: integers, (..., k) for the first k axes of x.  batch_axes: so many leading axes are
    the same in both, and the coordinates begin behind them.  As GatherND of ONNX.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 1]])
    >>> sad.Session(graph).run(y)
    array([2, 4])
    """
    with asking("gather_nd", name):
        graph = graph_of("gather_nd", x, indices)
        value = tensor("gather_nd", x, graph)
        points = positions("gather_nd", indices, graph)
        at, axes = _coordinates(value, points, dimensions.integer(batch_axes))
        if not axes:
            shape = points.shape[:-1] + value.shape
            return result(build("broadcast_to", (value,), {"shape": shape}, label=name))
        return result(build("gather", (value, *at), {"axes": axes}, label=name))


def scatter_nd(
    x: Operand,
    indices: Operand,
    updates: Operand,
    /,
    *,
    reduction: Reduction = "set",
    name: str | None = None,
) -> Tensor:
    """x with `updates` put at the points that `gather_nd` reads.

    updates: of the shape that it gives, or broadcast to it, of x's dtype.  reduction: as in
    `scatter_elements`.  As ScatterND of ONNX.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.scatter_nd(sad.zeros(4), [[1], [3], [1]], [1.0, 2.0, 3.0], reduction="add")
    >>> sad.Session(graph).run(y)
    array([0., 4., 0., 2.], dtype=float32)
    """
    with asking("scatter_nd", name):
        graph = graph_of("scatter_nd", x, indices, updates)
        value = tensor("scatter_nd", x, graph)
        points = positions("scatter_nd", indices, graph)
        at, axes = _coordinates(value, points, 0)
        if not axes:
            raise ShapeError(
                "points without coordinates",
                expected="indices whose last axis is not empty",
                found=points.describe(),
            )
        return _put(value, at, axes, updates, reduction, name)


def _coordinates(x: Tensor, points: Tensor, lead: int) -> tuple[list[Any], tuple[int, ...]]:
    """An index tensor for each coordinate of the points, and the axes of x that they are on."""
    count = points.shape[-1] if points.ndim else None
    if not isinstance(count, int):
        raise ShapeError(
            "the number of coordinates is not known",
            expected="indices whose last axis has a known size",
            found=points.describe(),
        )
    if not 0 <= lead < points.ndim or count + lead > x.ndim:
        raise ShapeError(
            "more coordinates than axes",
            expected=f"at most {x.ndim}, the rank of {x.describe()}",
            found=f"{count} of {points.describe()}" + (f" behind {lead} axes" if lead else ""),
        )
    for size, other in zip(points.shape[:lead], x.shape[:lead], strict=True):
        if dims.same_size(size, other) is False:
            raise ShapeError(
                "the leading axes differ", expected=x.describe(), found=points.describe()
            )
    depth = points.ndim - 1
    at: list[Any] = []
    for a in range(lead if count else 0):
        shape = (*(1,) * a, points.shape[a], *(1,) * (depth - a - 1))
        at.append(x.graph.source("iota", {"shape": shape, "axis": a, "dtype": INT64}))
    columns = [points[..., k] for k in range(count)]
    axes = tuple(range(lead + count if count else 0))
    if points.node.op == "constant":
        fixed = points.node.attributes["value"]
        columns = [x.graph.constant(np.ascontiguousarray(fixed[..., k])) for k in range(count)]
        check_positions(x, columns, axes[lead:])
    return at + columns, axes


def one_hot(
    indices: Operand, /, depth: Any, *, dtype: Any = DEFAULT_FLOAT, name: str | None = None
) -> Tensor:
    """A new last axis of size `depth` that is 1 at the index, else 0.

    indices: integers; one outside of 0 to depth - 1 gives zeros only.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.one_hot([2, 0], 3)
    >>> sad.Session(graph).run(y)
    array([[0., 0., 1.],
           [1., 0., 0.]], dtype=float32)
    """
    with asking("one_hot", name):
        places = positions("one_hot", indices, graph_of("one_hot", indices))
        attributes = {"depth": dimensions.size(depth), "dtype": as_dtype(dtype)}
        return result(build("one_hot", (places,), attributes, label=name))


def unravel_index(
    indices: Operand, shape: Any, /, *, name: str | None = None
) -> tuple[Tensor, ...]:
    """The coordinates, in a tensor of that shape, of positions in its flattened elements.

    indices: integers; they are not checked to be within the shape.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     rows, columns = sad.unravel_index([1, 5], (2, 3))
    >>> sad.Session(graph).run([rows, columns])
    [array([0, 1]), array([1, 2])]
    """
    with asking("unravel_index", name):
        rest: Any = positions("unravel_index", indices, graph_of("unravel_index", indices))
        rest = rest.astype(INT64)
        sizes = dimensions.shape_of(shape)
        found = []
        for k in range(len(sizes)):
            inner = product(sizes[k + 1 :])
            found.append(result(renamed(rest // inner, name)))
            rest = rest % inner
        return tuple(found)


def ravel_multi_index(
    coordinates: Sequence[Operand], shape: Any, /, *, name: str | None = None
) -> Tensor:
    """The positions in the flattened elements of a tensor of that shape of given coordinates.

    coordinates: one tensor of integers an axis, which broadcast; they are not checked.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
    >>> sad.Session(graph).run(y)
    array([1, 5])
    """
    with asking("ravel_multi_index", name):
        sizes = dimensions.shape_of(shape)
        given: Any = coordinates
        if not isinstance(given, tuple | list) or len(given) != len(sizes) or not sizes:
            raise ShapeError(
                "not one tensor of coordinates an axis",
                expected=f"{len(sizes)} for {shape_text(sizes)}" if sizes else "a shape with axes",
                found=f"{coordinates!r:.80}",
            )
        graph = graph_of("ravel_multi_index", *given)
        total: Any = None
        for size, each in zip(sizes, given, strict=True):
            place: Any = positions("ravel_multi_index", each, graph).astype(INT64)
            total = place if total is None else total * size + place
        return result(renamed(total, name))


def positions(asked: str, indices: Operand, graph: Any) -> Tensor:
    """A tensor of integers.  Raises DTypeError for another."""
    empty = isinstance(indices, list | tuple) and not indices
    places = tensor(asked, graph.constant([], dtype=INT64) if empty else indices, graph)
    if places.type.kind not in INTEGER:
        raise DTypeError(
            "positions are integers",
            expected="a tensor of an integer dtype",
            found=places.describe(),
            hint="cast it to int64",
        )
    return places
