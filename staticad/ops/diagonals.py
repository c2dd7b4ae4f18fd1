"""Diagonals and triangles of matrices: taken out, put in, kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Shape, Size
from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking
from staticad_schema.types import DEFAULT_FLOAT, INT64, as_dtype

from .. import dimensions, methods
from ..building import build
from ..graph import current_graph
from ..numbers import stored
from ..operands import Operand, result, tensor
from ..tensor import Tensor


def diagonal(
    x: Operand, /, offset: int = 0, axis1: int = 0, axis2: int = 1, *, name: str | None = None
) -> Tensor:
    """The diagonal `offset` above the main one (below, if negative) of two axes, as a last axis.

    x: any dtype, rank 2 or more.  As `numpy.diagonal`; `sad.linalg.diagonal` takes the last axes.
    Raises ShapeError below rank 2 and for equal axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.diagonal([[1, 2, 3], [4, 5, 6]], 1)
    >>> sad.Session(graph).run(y)
    array([2, 6])
    """
    with asking("diagonal", name):
        value = tensor("diagonal", x)
        k = dimensions.integer(offset)
        first, second = _two_axes(value, axis1, axis2)
        rows, columns = value.shape[first], value.shape[second]
        length = _length(rows, columns, k)
        count = value.graph.source("iota", {"shape": (length,), "axis": 0, "dtype": INT64})
        # gather puts the diagonal first.
        found = build("gather", (value, count + max(-k, 0), count + max(k, 0)),
                      {"axes": (first, second)})  # fmt: skip
        order = (*range(1, found.type.ndim), 0)
        return result(methods.permute(found, order, name))


def _two_axes(x: Tensor, axis1: Any, axis2: Any) -> tuple[int, int]:
    _matrix(x)
    first, second = (dimensions.axis_of(a, x.ndim) for a in (axis1, axis2))
    if first == second:
        raise ShapeError(
            "a diagonal is of two axes", expected="two axes", found=f"{axis1} and {axis2}"
        )
    return first, second


def _matrix(x: Tensor) -> None:
    if x.ndim < 2:
        raise ShapeError("not a matrix", expected="rank 2 or more", found=x.describe())


def _length(rows: Size, columns: Size, k: int) -> Size:
    """The number of elements of the diagonal k."""
    return dims.maximum(dims.minimum(rows + min(k, 0), columns - max(k, 0)), 0)


def diag(x: Operand, /, k: int = 0, *, name: str | None = None) -> Tensor:
    """A matrix with the vector x as its diagonal k, or the diagonal k of the matrix x.

    Raises ShapeError for other ranks.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.diag([1, 2])
    ...     z = sad.diag(y)
    >>> session = sad.Session(graph)
    >>> session.run(y)
    array([[1, 0],
           [0, 2]])
    >>> session.run(z)
    array([1, 2])
    """
    with asking("diag", name):
        value = tensor("diag", x)
        if value.ndim not in (1, 2):
            raise ShapeError(
                "neither a vector nor a matrix", expected="rank 1 or 2", found=value.describe(),
                hint="diag_embed and diagonal take more axes",
            )  # fmt: skip
        if value.ndim == 2:
            return diagonal(value, k, name=name)
        return diag_embed(value, k, name=name)


def diagflat(x: Operand, /, k: int = 0, *, name: str | None = None) -> Tensor:
    """A matrix with the elements of x, in row-major order, as its diagonal k.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.diagflat([[1, 2], [3, 4]])
    >>> y.shape
    (4, 4)
    """
    with asking("diagflat", name):
        return diag_embed(methods.reshape(tensor("diagflat", x), (-1,)), k, name=name)


def diag_embed(
    x: Operand, /, offset: int = 0, axis1: int = -2, axis2: int = -1, *, name: str | None = None
) -> Tensor:
    """Square matrices with the last axis of x as their diagonal `offset`, zeros elsewhere.

    axis1, axis2: where the axes of the matrices stand in the result.
    Raises ShapeError for a scalar and for equal axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.diag_embed([[1, 2], [3, 4]], -1)
    >>> sad.Session(graph).run(y)[1]
    array([[0, 0, 0],
           [3, 0, 0],
           [0, 4, 0]])
    """
    with asking("diag_embed", name):
        value = tensor("diag_embed", x)
        if not value.ndim:
            raise ShapeError("a scalar", expected="rank 1 or more", found=value.describe())
        k = dimensions.integer(offset)
        rank = value.ndim + 1
        first, second = (dimensions.axis_of(a, rank) for a in (axis1, axis2))
        if first == second:
            raise ShapeError(
                "a matrix has two axes", expected="two axes", found=f"{axis1} and {axis2}"
            )
        *lead, n = value.shape
        # In rows of n + 1 each element stands one further to the right than the one above it, so
        # n zeros behind each make a square matrix of what is read in rows of n.
        none = ((0, 0),) * len(lead)
        column = build("reshape", (value,), {"shape": (*lead, n, 1)})
        column = build("pad", (column,), {"widths": (*none, (0, 0), (0, n)), "value": 0.0})
        flat = build("reshape", (column,), {"shape": (*lead, n * (n + 1))})
        whole = ((None, None, 1),) * len(lead)
        flat = build("slice", (flat,), {"slices": (*whole, (0, n * n, 1))})
        square = build("reshape", (flat,), {"shape": (*lead, n, n)})
        if k:
            widths = ((max(-k, 0), max(k, 0)), (max(k, 0), max(-k, 0)))
            square = build("pad", (square,), {"widths": (*none, *widths), "value": 0.0})
        order = list(range(len(lead)))
        for place, axis in sorted(((first, rank - 2), (second, rank - 1))):
            order.insert(place, axis)
        return result(methods.permute(square, tuple(order), name))


def fill_diagonal(x: Operand, value: Operand, /, *, name: str | None = None) -> Tensor:
    """x with `value` on the main diagonal of its last two axes.

    value: a number, or a tensor that broadcasts to the diagonal, of x's dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fill_diagonal([[1, 2], [3, 4]], 0)
    >>> sad.Session(graph).run(y)
    array([[0, 2],
           [3, 0]])
    """
    with asking("fill_diagonal", name):
        matrix = tensor("fill_diagonal", x)
        _matrix(matrix)
        *lead, rows, columns = matrix.shape
        fill = stored(matrix, value)
        shape = (*lead, _length(rows, columns, 0))
        if fill.type.shape != shape:
            fill = build("broadcast_to", (fill,), {"shape": shape})
        count = matrix.graph.source("iota", {"shape": shape[-1:], "axis": 0, "dtype": INT64})
        fill = methods.permute(fill, (len(lead), *range(len(lead))))
        axes = {"axes": (len(lead), len(lead) + 1)}
        return result(build("scatter_set", (matrix, fill, count, count), axes, label=name))


# ------------------------------------------------------------------ triangles


def _below(graph: Any, shape: Shape, k: int) -> Any:
    """Where a matrix's column is at most k right of the main diagonal."""
    rows, columns = shape[-2:]
    k = dimensions.diagonal_of(k, rows, columns)
    row = graph.source("iota", {"shape": (rows, 1), "axis": 0, "dtype": INT64})
    column = graph.source("iota", {"shape": (1, columns), "axis": 1, "dtype": INT64})
    return build("less_equal", (column, row + k if k else row))


def tril(x: Operand, /, k: int = 0, *, name: str | None = None) -> Tensor:
    """x with zeros above the diagonal k of its last two axes, whatever stood there.

    x: any dtype.  Raises ShapeError below rank 2.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tril([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[1, 0],
           [3, 4]])
    """
    with asking("tril", name):
        value = tensor("tril", x)
        _matrix(value)
        kept = _below(value.graph, value.shape, k)
        return result(build("where", (kept, value, value.coerce(False)), label=name))


def triu(x: Operand, /, k: int = 0, *, name: str | None = None) -> Tensor:
    """x with zeros below the diagonal k of its last two axes, whatever stood there.

    x: any dtype.  Raises ShapeError below rank 2.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.triu([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[1, 2],
           [0, 4]])
    """
    with asking("triu", name):
        value = tensor("triu", x)
        _matrix(value)
        gone = _below(value.graph, value.shape, dimensions.integer(k) - 1)
        return result(build("where", (gone, value.coerce(False), value), label=name))


def tri(
    n: Any, m: Any = None, /, k: int = 0, dtype: Any = DEFAULT_FLOAT, *, name: str | None = None
) -> Tensor:
    """An n by m matrix of ones up to the diagonal k and zeros above it.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.tri(2, 3)
    >>> sad.Session(graph).run(y)
    array([[1., 0., 0.],
           [1., 1., 0.]], dtype=float32)
    """
    with asking("tri", name):
        rows = dimensions.size(n)
        columns = rows if m is None else dimensions.size(m)
        ones = _below(current_graph("tri"), (rows, columns), k)
        return result(methods.cast(ones, as_dtype(dtype), name))


def tril_indices(
    n: int, k: int = 0, m: int | None = None, *, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The rows and columns of the lower triangle of an n by m matrix, up to the diagonal k.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     rows, columns = sad.tril_indices(2)
    >>> sad.Session(graph).run([rows, columns])
    [array([0, 1, 1]), array([0, 0, 1])]
    """
    with asking("tril_indices", name):
        return _indices("tril_indices", np.tril_indices, n, k, m)


def triu_indices(
    n: int, k: int = 0, m: int | None = None, *, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The rows and columns of the upper triangle of an n by m matrix, from the diagonal k on.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     rows, columns = sad.triu_indices(2, 1)
    >>> sad.Session(graph).run([rows, columns])
    [array([0]), array([1])]
    """
    with asking("triu_indices", name):
        return _indices("triu_indices", np.triu_indices, n, k, m)


def _indices(asked: str, function: Any, n: Any, k: Any, m: Any) -> tuple[Tensor, Tensor]:
    rows = _count(n)
    columns = rows if m is None else _count(m)
    graph = current_graph(asked)
    dimensions.listed(rows * columns)
    first, second = function(rows, dimensions.diagonal_of(k, rows, columns), columns)
    return result(graph.constant(first)), result(graph.constant(second))


def _count(size: Any) -> int:
    known = dimensions.size(size)
    if not isinstance(known, int):
        raise ShapeError("the number of indices is not known", expected="an int", found=str(size))
    return known
