"""The same elements in another shape: reshaping, axes of size 1, broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from staticad_schema import dims, shapes
from staticad_schema.dims import Shape, Size
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.shapes import product
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, graph_of, result, tensor
from ..tensor import Tensor


def reshape(
    x: Operand, /, shape: Any, *, copy: bool | None = None, name: str | None = None
) -> Tensor:
    """x in another shape of as many elements; one -1 stands for what is left over.

    shape: ints, names of sizes or Dims.  copy: has no effect, for a tensor is a value.
    Raises ShapeError if the number of elements changes; for sizes that are not known yet, the
    run does.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float32", ("batch", 2, 3), name="x")
    ...     y = sad.reshape(x, (-1, 6))
    >>> y.shape
    (Dim('batch'), 6)
    """
    with asking("reshape", name):
        return result(methods.reshape(tensor("reshape", x), shape, name))


def expand_dims(
    x: Operand, /, axis: int | tuple[int, ...] = 0, *, name: str | None = None
) -> Tensor:
    """x with axes of size 1 at the places `axis` of the result.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3))
    >>> sad.expand_dims(x, axis=(0, -1)).shape
    (1, 2, 3, 1)
    """
    with asking("expand_dims", name):
        value = tensor("expand_dims", x)
        several = axis if isinstance(axis, tuple | list) else (axis,)
        places = dimensions.axes_of(several, value.ndim + len(several))
        shape = list(value.shape)
        for place in places:
            shape.insert(place, 1)
        return result(methods.reshape(value, tuple(shape), name))


def squeeze(
    x: Operand, /, axis: int | tuple[int, ...] | None = None, *, name: str | None = None
) -> Tensor:
    """x without the axes `axis`, which must have size 1; None: all that are known to have.

    Raises ShapeError if one has another size.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 1, 3))
    >>> sad.squeeze(x, 1).shape
    (2, 3)
    """
    with asking("squeeze", name):
        value = tensor("squeeze", x)
        ones = tuple(a for a, size in enumerate(value.shape) if size == 1)
        gone = dimensions.axes_of(ones if axis is None else axis, value.ndim)
        for a in gone:
            if dims.same_size(value.shape[a], 1) is False:
                raise ShapeError(
                    "only an axis of size 1 can be dropped",
                    expected=f"size 1 on axis {a}",
                    found=value.describe(),
                )
        kept = tuple(s for a, s in enumerate(value.shape) if a not in gone)
        return result(methods.reshape(value, kept, name))


def broadcast_to(x: Operand, /, shape: Any, *, name: str | None = None) -> Tensor:
    """x repeated along axes of size 1, and along new leading ones, to `shape`.

    Raises ShapeError if the shapes do not fit.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.broadcast_to([1.0, 2.0], (2, 2))
    >>> sad.Session(graph).run(y)
    array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    with asking("broadcast_to", name):
        value = tensor("broadcast_to", x)
        attributes = {"shape": dimensions.shape_of(shape)}
        return result(build("broadcast_to", (value,), attributes, label=name))


def broadcast_arrays(*xs: Operand, name: str | None = None) -> list[Tensor]:
    """The operands, each broadcast to their common shape; dtypes stay.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y = sad.broadcast_arrays(sad.zeros((2, 1)), sad.ones(3))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
    """
    with asking("broadcast_arrays", name):
        values = [tensor("broadcast_arrays", x) for x in xs]
        attributes = {"shape": shapes.broadcast_shapes(v.shape for v in values)}
        return [result(build("broadcast_to", (v,), attributes, label=name)) for v in values]


def broadcast_shapes(*given: Any) -> Shape:
    """The shape to which tensors of these shapes broadcast.  Raises ShapeError if they do not.

    given: sizes, or tuples of them, as in `reshape`.

    >>> import staticad as sad
    >>> sad.broadcast_shapes((2, 1), 3, (1, 1, 1))
    (1, 2, 3)
    """
    with asking("broadcast_shapes"):
        return shapes.broadcast_shapes(map(dimensions.shape_of, given))


def flatten(
    x: Operand, /, start_axis: int = 0, end_axis: int = -1, *, name: str | None = None
) -> Tensor:
    """x with the axes from `start_axis` to `end_axis`, that one included, made one.

    A scalar becomes a vector of one element.  Raises ShapeError for axes in the wrong order.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float32", ("batch", 2, 3), name="x")
    >>> sad.flatten(x, 1).shape
    (Dim('batch'), 6)
    """
    with asking("flatten", name):
        value = tensor("flatten", x)
        rank = max(value.ndim, 1)
        first, last = (dimensions.axis_of(a, rank) for a in (start_axis, end_axis))
        if first > last:
            raise ShapeError(
                "the first axis comes after the last",
                expected="start_axis <= end_axis",
                found=f"{start_axis} and {end_axis} of {value.describe()}",
            )
        shape = value.shape
        joined = (*shape[:first], product(shape[first : last + 1]), *shape[last + 1 :])
        return result(methods.reshape(value, joined, name))


def ravel(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The elements of x in row-major order, as one axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.ravel([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([1, 2, 3, 4])
    """
    with asking("ravel", name):
        value = tensor("ravel", x)
        return result(methods.reshape(value, (product(value.shape),), name))


def atleast_1d(*xs: Operand, name: str | None = None) -> Any:
    """x, a scalar as a vector of one element; of several tensors, a list.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.atleast_1d(3.0)
    >>> y.shape
    (1,)
    """
    return _at_least("atleast_1d", xs, name, lambda shape: shape or (1,))


def atleast_2d(*xs: Operand, name: str | None = None) -> Any:
    """x with axes of size 1 in front, until it has two; of several tensors, a list.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.atleast_2d([1.0, 2.0])
    >>> y.shape
    (1, 2)
    """
    return _at_least("atleast_2d", xs, name, lambda shape: (1,) * (2 - len(shape)) + shape)


def atleast_3d(*xs: Operand, name: str | None = None) -> Any:
    """x with three axes: a matrix gets one behind, a vector one on either side; as NumPy.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y = sad.atleast_3d([1.0, 2.0], [[1.0, 2.0]])
    >>> x.shape, y.shape
    ((1, 2, 1), (1, 2, 1))
    """

    def shaped(shape: Shape) -> Shape:
        front = (1,) if len(shape) < 2 else ()
        return (front + (shape or (1,)) + (1,)) if len(shape) < 3 else shape

    return _at_least("atleast_3d", xs, name, shaped)


def _at_least(
    asked: str, xs: tuple[Operand, ...], name: str | None, shaped: Callable[[Shape], Shape]
) -> Any:
    with asking(asked, name):
        values = [tensor(asked, x) for x in xs]
        made = [result(methods.reshape(v, shaped(v.shape), name)) for v in values]
        return made[0] if len(made) == 1 else made


def meshgrid(
    *xs: Operand, indexing: Literal["xy", "ij"] = "xy", name: str | None = None
) -> list[Tensor]:
    """The coordinates of a grid: of n vectors, n tensors of rank n.

    xs: vectors, or numbers; dtypes stay.  indexing: "ij" puts the first vector along the first
    axis; "xy", of NumPy and the array API, along the second, and the second along the first.
    Raises ShapeError for other ranks.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x, y = sad.meshgrid([1, 2, 3], [4, 5])
    >>> session = sad.Session(graph)
    >>> session.run(x)
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> session.run(y)
    array([[4, 4, 4],
           [5, 5, 5]])
    """
    with asking("meshgrid", name):
        given: Any = indexing
        if not isinstance(given, str) or given not in ("xy", "ij"):
            raise ArgumentError("not an order", expected="'xy' or 'ij'", found=f"{indexing!r:.80}")
        graph = graph_of("meshgrid", *xs) if xs else None
        values = [tensor("meshgrid", x, graph) for x in xs]
        for v in values:
            if v.ndim > 1:
                raise ShapeError("not a vector", expected="rank 1", found=v.describe())
        count = len(values)
        shape: list[Size] = [v.shape[0] if v.ndim else 1 for v in values]
        order = list(range(count))
        if indexing == "xy" and count > 1:
            order[:2] = [1, 0]
        grid = tuple(shape[k] for k in order)
        made = []
        for k, v in enumerate(values):
            thin = [1] * order.index(k) + [shape[k]] + [1] * (count - order.index(k) - 1)
            row = methods.reshape(v, tuple(thin))
            made.append(result(build("broadcast_to", (row,), {"shape": grid}, label=name)))
        return made
