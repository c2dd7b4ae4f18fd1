"""Sums of products over axes that are given by number, and products of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import as_dtype

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor
from .einsum import contract
from .subscripts import Subscripts


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


def tensordot(
    x1: Operand, x2: Operand, /, axes: int | tuple[Any, Any] = 2, *, name: str | None = None
) -> Tensor:
    """The sum of products over axes of x1 paired with axes of x2; then come the axes left over.

    x1, x2: numbers, brought to one dtype.  axes: how many of the last of x1 are paired with the
    first of x2, or two lists of axes (an int stands for a list of one).  Raises ShapeError for
    axes that do not pair up or differ in size.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y = sad.zeros((2, 3, 4)), sad.zeros((4, 3, 5))
    >>> sad.tensordot(x, y, axes=((1, 2), (1, 0))).shape
    (2, 5)
    """
    with asking("tensordot", name):
        a, b = tensors("tensordot", x1, x2)
        mine, others = _paired(a, b, axes)
        for k, n in zip(mine, others, strict=True):
            b = agreeing(a, k, b, n)
        labels = {axis: f"s{k}" for k, axis in enumerate(mine)}
        left = tuple(labels.get(k, f"a{k}") for k in range(a.ndim))
        labels = {axis: f"s{k}" for k, axis in enumerate(others)}
        right = tuple(labels.get(k, f"b{k}") for k in range(b.ndim))
        kept = tuple(i for i in left + right if not i.startswith("s"))
        return result(contract((a, b), Subscripts((left, right), kept), name))


def _paired(a: Tensor, b: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    """The axes to sum over, pairwise.  Raises ShapeError."""
    if isinstance(axes, tuple | list):
        if len(axes) != 2:
            raise ShapeError(
                "axes of other than two operands",
                expected="a number, or a list of axes of x1 and one of x2",
                found=str(axes),
            )
        lists = [side if isinstance(side, tuple | list) else (side,) for side in axes]
        mine, others = (
            [dimensions.axis_of(axis, x.ndim) for axis in side]
            for x, side in zip((a, b), lists, strict=True)
        )
        if len(mine) != len(others) or any(len(set(s)) != len(s) for s in (mine, others)):
            raise ShapeError(
                "the axes do not pair up",
                expected="as many axes of x1 as of x2, none twice",
                found=str(axes),
            )
    else:
        count = dimensions.integer(axes)
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise ShapeError(
                "not as many axes as are to be summed over",
                expected=f"axes from 0 to {min(a.ndim, b.ndim)}",
                found=f"{count}, for {a.describe()} and {b.describe()}",
            )
        mine, others = list(range(a.ndim - count, a.ndim)), list(range(count))
    return mine, others


def agreeing(a: Tensor, k: int, b: Tensor, n: int) -> Tensor:
    """b, whose axis n is to be summed together with axis k of a, and does not broadcast.

    Raises ShapeError where their sizes are certain to differ; else the run does, if they do.
    """
    wanted, size = a.shape[k], b.shape[n]
    same = dims.same_size(wanted, size)
    if same is False:
        raise ShapeError(
            "the axes to sum over differ in size",
            expected=f"size {wanted}, as axis {k} of {a.describe()}",
            found=f"size {size}, axis {n} of {b.describe()}",
        )
    shape = (*b.shape[:n], wanted, *b.shape[n + 1 :])
    return b if same else result(build("expect_shape", (b,), {"shape": shape}))


def outer(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """The products of all pairs of elements of two vectors, a matrix.

    Raises ShapeError for operands that are no vectors; `multiply` broadcasts.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.outer([1, 2], [3, 4, 5])
    >>> sad.Session(graph).run(y)
    array([[ 3,  4,  5],
           [ 6,  8, 10]])
    """
    with asking("outer", name):
        a, b = tensors("outer", x1, x2)
        for x in (a, b):
            if x.ndim != 1:
                raise ShapeError(
                    "not a vector",
                    expected="rank 1",
                    found=x.describe(),
                    hint="use ravel first",
                )
        return result(contract((a, b), Subscripts((("i",), ("j",)), ("i", "j")), name))


def inner(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """The sums of products over the last axes, for all pairs of the others; x1 * x2 for a scalar.

    As `numpy.inner`: nothing is conjugated (see `vecdot`), nothing broadcasts.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.inner([1.0, 2.0], [[3.0, 4.0], [5.0, 6.0]])
    >>> sad.Session(graph).run(y)
    array([11., 17.], dtype=float32)
    """
    with asking("inner", name):
        a, b = tensors("inner", x1, x2)
        return _over(a, a.ndim - 1, b, b.ndim - 1, name)


def dot(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """The sums of products over the last axis of x1 and the last but one of x2, for all pairs of
    the others; x1 * x2 for a scalar.

    As `numpy.dot`; for matrices and vectors it is `matmul`, for stacks of matrices it is not.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.dot([1.0, 2.0], [3.0, 4.0])
    >>> sad.Session(graph).run(y)
    array(11., dtype=float32)
    """
    with asking("dot", name):
        a, b = tensors("dot", x1, x2)
        return _over(a, a.ndim - 1, b, max(b.ndim - 2, 0), name)


def _over(a: Tensor, k: int, b: Tensor, n: int, name: str | None) -> Tensor:
    """The sums over one axis of each."""
    if not (a.ndim and b.ndim):
        return result(build("multiply", (a, b), label=name))
    b = agreeing(a, k, b, n)
    left = tuple("k" if axis == k else f"a{axis}" for axis in range(a.ndim))
    right = tuple("k" if axis == n else f"b{axis}" for axis in range(b.ndim))
    kept = tuple(i for i in left + right if i != "k")
    return result(contract((a, b), Subscripts((left, right), kept), name))


def kron(x1: Operand, x2: Operand, /, *, name: str | None = None) -> Tensor:
    """The Kronecker product: x2 in the place of each element of x1, multiplied by it.

    Of any ranks; axes that one operand lacks count as leading axes of size 1.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.kron([1, 10], [[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[ 1,  2, 10, 20],
           [ 3,  4, 30, 40]])
    """
    with asking("kron", name):
        a, b = tensors("kron", x1, x2)
        rank = max(a.ndim, b.ndim)
        shapes = [(1,) * (rank - x.ndim) + x.shape for x in (a, b)]
        left: tuple[Size, ...] = ()
        right: tuple[Size, ...] = ()
        whole: tuple[Size, ...] = ()
        for m, n in zip(*shapes, strict=True):
            left, right, whole = (*left, m, 1), (*right, 1, n), (*whole, m * n)
        product = build("multiply", (methods.reshape(a, left), methods.reshape(b, right)))
        return result(methods.reshape(product, whole, name))


def trace(
    x: Operand,
    /,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The sum of the diagonal `offset` above the main one (below, if negative) of two axes.

    Summed in `dtype`; small integers and bools in 64 bits, as `sum` does.  As `numpy.trace`;
    `sad.linalg.trace` takes the last axes.  Raises ShapeError below rank 2 and for equal axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.trace([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array(5)
    """
    with asking("trace", name):
        value = tensor("trace", x)
        if value.ndim < 2:
            raise ShapeError("not a matrix", expected="rank 2 or more", found=value.describe())
        k = dimensions.integer(offset)
        first, second = (dimensions.axis_of(a, value.ndim) for a in (axis1, axis2))
        if first == second:
            raise ShapeError(
                "a diagonal is of two axes", expected="two axes", found=f"{axis1} and {axis2}"
            )
        wide = value.astype(methods.accumulator(value.dtype) if dtype is None else as_dtype(dtype))
        square = _square(wide, first, second, k)
        labels = tuple("i" if a in (first, second) else f"a{a}" for a in range(value.ndim))
        kept = tuple(i for i in labels if i != "i")
        return result(contract((square,), Subscripts((labels,), kept), name))


def _square(x: Any, rows: int, columns: int, offset: int) -> Any:
    """The part of a stack of matrices whose main diagonal is their diagonal `offset`."""
    shape = x.type.shape
    low, left = max(-offset, 0), max(offset, 0)
    size = dims.maximum(dims.minimum(shape[rows] - low, shape[columns] - left), 0)
    if offset == 0 and shape[rows] == shape[columns]:
        return x
    slices: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * len(shape)
    slices[rows], slices[columns] = (low, low + size, 1), (left, left + size, 1)
    part = build("slice", (x,), {"slices": tuple(slices)})
    # What a slice has is said in other words than the size of a diagonal.
    wanted = tuple(size if a in (rows, columns) else s for a, s in enumerate(shape))
    return part if part.type.shape == wanted else build("reshape", (part,), {"shape": wanted})


def multi_dot(xs: Sequence[Operand], /, *, name: str | None = None) -> Tensor:
    """The product of two or more matrices, in the order that takes the fewest multiplications.

    The first may be a vector, a row; the last too, a column.  Raises ShapeError for other ranks
    and for sizes that do not fit.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x, y, z = sad.zeros((10, 100)), sad.zeros((100, 5)), sad.zeros(5)
    >>> sad.linalg.multi_dot([x, y, z]).shape
    (10,)
    """
    with asking("multi_dot", name):
        if isinstance(xs, Handle) or not isinstance(xs, tuple | list):
            raise UsageError(
                "not a sequence of matrices",
                expected="a list or tuple of tensors",
                found=xs.describe() if isinstance(xs, Handle) else f"{xs!r:.80}",
            )
        if len(xs) < 2:
            raise ArgumentError("nothing to multiply", expected="two or more", found=str(len(xs)))
        values = [*tensors("multi_dot", *xs)]
        terms: list[tuple[str, ...]] = []
        for k, x in enumerate(values):
            ends = k in (0, len(values) - 1)
            if x.ndim != 2 and not (ends and x.ndim == 1):
                raise ShapeError(
                    f"operand {k} is no matrix",
                    expected="rank 2" + (", or 1 for a vector" if ends else ""),
                    found=x.describe(),
                )
            if k:
                values[k] = agreeing(values[k - 1], values[k - 1].ndim - 1, x, 0)
            row = x.ndim == 1 and k == 0
            terms.append((f"{k + 1}",) if row else (f"{k}", f"{k + 1}")[: x.ndim])
        kept = terms[0][:-1] + terms[-1][1:]
        return result(contract(values, Subscripts(tuple(terms), kept), name))
