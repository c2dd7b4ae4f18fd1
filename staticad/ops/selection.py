"""Choosing elements, by position or by condition, and their dtype."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import DTypeError
from staticad_schema.handle import Handle
from staticad_schema.shapes import normalize_axis
from staticad_schema.sites import asking
from staticad_schema.types import DEFAULT_FLOAT, INT64, INTEGER, as_dtype

from .. import dimensions, methods, operands
from ..building import build
from ..operands import Operand, graph_of, result, tensor, tensors
from ..tensor import Tensor


def cast(x: Operand, /, dtype: Any, *, name: str | None = None) -> Tensor:
    """x in another dtype; floats to integers round towards zero.

    dtype: a name, a NumPy dtype, or float, int, bool or complex, which are the defaults.
    Raises DTypeError for complex to real (use real, imag or abs).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cast([-1.5, 0.0, 2.5], "int32")
    >>> sad.Session(graph).run(y)
    array([-1,  0,  2], dtype=int32)
    """
    with asking("cast", name):
        return result(methods.cast(tensor("cast", x), dtype, name))


astype = cast


def where(condition: Operand, x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor:
    """x where the condition is true, y elsewhere; the side not taken has gradient 0.

    condition: bools.  x, y: any dtype; all three broadcast.  Returns a tensor of the common
    dtype of x and y.  Raises DTypeError for a condition that is no bool.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([-1.0, 4.0])
    ...     y = sad.where(x > 0, sad.sqrt(x), 0.0)
    >>> sad.Session(graph).run(y)
    array([0., 2.], dtype=float32)
    """
    with asking("where", name):
        graph = graph_of("where", condition, x, y)
        chosen = operands.condition("where", condition, graph)
        if not isinstance(x, Handle) and not isinstance(y, Handle):
            x = tensor("where", x, graph)
        left, right = tensors("where", x, y)
        return result(build("where", (chosen, left, right), label=name))


def clip(
    x: Operand,
    /,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """x, but not below `min` nor above `max`; the gradient is 1 inside, bounds included.

    x: integers or floats.  min, max: numbers or tensors that broadcast; None is no bound.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.clip([-1.0, 0.5, 3.0], 0.0, 1.0)
    >>> sad.Session(graph).run(y)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    with asking("clip", name):
        given = [bound for bound in (min, max) if bound is not None]
        value, *bounds = tensors("clip", x, *given)
        if not bounds:
            return result(build("identity", (value,), label=name))
        infinite = _limits(value)
        low = bounds.pop(0) if min is not None else infinite[0]
        high = bounds.pop(0) if max is not None else infinite[1]
        return result(build("clip", (value, low, high), label=name))


def _limits(x: Tensor) -> tuple[Any, Any]:
    """The least and the greatest value of x's dtype, as tensors."""
    low, high = methods.limits(x.dtype)
    return (
        x.graph.handle(x.graph.scalar(low, x.dtype)),
        x.graph.handle(x.graph.scalar(high, x.dtype)),
    )


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


def matmul(a: Operand, b: Operand, /, *, name: str | None = None) -> Tensor:
    """The matrix product, as `a @ b`; vectors count as a row or a column, leading axes broadcast.

    a, b: numbers, brought to one dtype.  Raises ShapeError if the last axis of a and the last
    but one of b differ in size, or if one is a scalar.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0])
    >>> sad.Session(graph).run(y)
    array([3., 7.], dtype=float32)
    """
    with asking("matmul", name):
        return result(build("matmul", tensors("matmul", a, b), label=name))


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
