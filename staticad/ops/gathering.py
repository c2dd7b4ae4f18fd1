"""Elements at integer positions: read, written, counted."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import DTypeError
from staticad_schema.shapes import normalize_axis
from staticad_schema.sites import asking
from staticad_schema.types import DEFAULT_FLOAT, INT64, INTEGER, as_dtype

from .. import dimensions
from ..building import build
from ..operands import Operand, graph_of, result, tensor
from ..tensor import Tensor


def take(
    x: Operand, indices: Operand, /, *, axis: int | None = None, name: str | None = None
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
        places = _positions("take", indices, graph)
        given = 0 if axis is None and value.ndim == 1 else dimensions.integer(axis)
        attributes = {"axis": normalize_axis(given, value.ndim)}
        return result(build("take", (value, places), attributes, label=name))


def take_along_axis(
    x: Operand, indices: Operand, /, *, axis: int = -1, name: str | None = None
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
        places = _positions("take_along_axis", indices, graph)
        attributes = {"axis": normalize_axis(dimensions.integer(axis), value.ndim)}
        return result(build("take_along_axis", (value, places), attributes, label=name))


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
        places = _positions("one_hot", indices, graph_of("one_hot", indices))
        attributes = {"depth": dimensions.size(depth), "dtype": as_dtype(dtype)}
        return result(build("one_hot", (places,), attributes, label=name))


def _positions(asked: str, indices: Operand, graph: Any) -> Tensor:
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
