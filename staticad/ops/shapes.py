"""The same elements in another shape: reshaping, axes of size 1, broadcasting."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ShapeError
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, result, tensor
from ..tensor import Tensor


def reshape(x: Operand, /, shape: Any, *, name: str | None = None) -> Tensor:
    """x in another shape of as many elements; one -1 stands for what is left over.

    shape: ints, names of sizes or Dims.  Raises ShapeError if the number of elements changes;
    for sizes that are not known yet, the run does.

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
    x: Operand, /, *, axis: int | tuple[int, ...] = 0, name: str | None = None
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


def squeeze(x: Operand, /, axis: int | tuple[int, ...], *, name: str | None = None) -> Tensor:
    """x without the axes `axis`, which must have size 1.  Raises ShapeError if one has another.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 1, 3))
    >>> sad.squeeze(x, 1).shape
    (2, 3)
    """
    with asking("squeeze", name):
        value = tensor("squeeze", x)
        gone = dimensions.axes_of(axis, value.ndim)
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
        attributes = {"shape": broadcast_shapes(v.shape for v in values)}
        return [result(build("broadcast_to", (v,), attributes, label=name)) for v in values]
