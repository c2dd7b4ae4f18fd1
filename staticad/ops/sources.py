"""Functions that need no operand: they build in the graph of the enclosing `with graph:`."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.dims import Dim
from staticad_schema.errors import DTypeError, UsageError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.sites import asking
from staticad_schema.types import (
    DEFAULT_FLOAT,
    INT64,
    KINDS,
    DType,
    as_dtype,
    weak_array,
)

from .. import dimensions, methods
from ..building import build
from ..graph import current_graph
from ..numbers import as_array
from ..operands import Operand, graph_of, result, tensor
from ..tensor import Tensor
from ..variable import Variable

LISTED = 1 << 16
"""Larger matrices are not held by a graph: a file should not grow with them."""


def placeholder(dtype: Any, shape: Any, name: str | None = None) -> Tensor:
    """A value that each run is fed.

    shape: ints, names of sizes ("batch"), Dims, or None for a size of its own; a scalar has ().
    Sizes of one name are equal.  Raises GraphError outside of a `with graph:`, and for a name
    that is taken.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", ("batch", 2), name="x")
    ...     y = sad.sum(x, axis=1)
    >>> sad.Session(graph).run(y, {x: [[1.0, 2.0], [3.0, 4.0]]})
    array([3., 7.], dtype=float32)
    """
    return current_graph("placeholder").placeholder(dtype, shape, name)


def variable(
    initial: Any, name: str | None = None, trainable: bool = True, shape: Any = None
) -> Variable:
    """State that a Session holds, beginning with `initial`: a tensor, an array or a number.

    trainable: whether optimizers update it.  shape: where sizes may change between runs, the
    shape with names for those sizes.  Raises GraphError if the initial value needs a feed.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     count = sad.variable(0, name="count", trainable=False)
    ...     step = count.assign_add(1)
    >>> session = sad.Session(graph)
    >>> [int(session.run(step)) for _ in range(3)]
    [1, 2, 3]
    """
    return graph_of("variable", initial).variable(initial, name, trainable, shape)


def constant(value: Any, name: str | None = None, dtype: Any = None) -> Tensor:
    """A copy of an array, a number or a nested list of numbers; of a Dim, its value in each run.

    Arrays keep their dtype; Python numbers take int64, float32, complex64 or bool.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph():
    ...     a, b = sad.constant([1.0, 2.0]), sad.constant(np.arange(3, dtype=np.int8))
    >>> a.dtype, b.dtype
    (dtype('float32'), dtype('int8'))
    """
    return result(current_graph("constant").constant(value, name, dtype))


def asarray(
    obj: Operand, /, dtype: Any = None, *, copy: bool | None = None, name: str | None = None
) -> Tensor:
    """A tensor as it is, or in another dtype; of other data their `constant`.

    copy: has no effect, for a tensor is a value.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.asarray([1.0, 2.0])
    ...     y = sad.asarray(x, dtype="float64")
    >>> sad.asarray(x) is x, y.dtype
    (True, dtype('float64'))
    """
    with asking("asarray", name):
        if isinstance(obj, Handle | Dim):
            x = tensor("asarray", obj)
            return result(methods.cast(x, x.dtype if dtype is None else dtype, name))
        return result(current_graph("asarray").constant(as_array(obj, dtype), name))


def from_dlpack(x: Any, /, *, copy: bool | None = None, name: str | None = None) -> Tensor:
    """A constant of an array of another library, which has `__dlpack__`.

    copy: has no effect, for a constant is a copy.  Raises UsageError for what is no such array.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.from_dlpack(np.ones(3, np.float32))
    >>> y.shape, y.dtype
    ((3,), dtype('float32'))
    """
    with asking("from_dlpack", name):
        try:
            array = np.from_dlpack(x)
        except (AttributeError, BufferError, RuntimeError, TypeError) as error:
            raise UsageError(
                "not an array that can be read",
                expected="an array in memory, with __dlpack__",
                found=f"{x!r:.80}, a {type(x).__name__}: {error}",
            ) from None
        return result(current_graph("from_dlpack").constant(as_array(array), name))


def full(shape: Any, fill_value: Any, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """A tensor of that shape, every element `fill_value`, which may be a scalar tensor.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.full((2, 2), 7)
    >>> sad.Session(graph).run(y)
    array([[7, 7],
           [7, 7]])
    """
    with asking("full", name):
        if isinstance(fill_value, Tensor):
            scalar = fill_value if dtype is None else fill_value.astype(dtype)
            return _filled(scalar, shape, name)
        graph = current_graph("full")
        if isinstance(fill_value, (*WEAK, np.generic)) and dtype is not None:
            return _number("full", shape, fill_value, dtype, name)
        # as_array outside of `constant`, so that an error says what was asked.
        value = fill_value if isinstance(fill_value, Dim) else as_array(fill_value, dtype)
        return _filled(graph.constant(value, dtype=dtype), shape, name)


def empty(shape: Any, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """A tensor of that shape whose elements may be anything: they are zeros, in every run alike.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.empty((2, 3))
    >>> y.shape, y.dtype
    ((2, 3), dtype('float32'))
    """
    return _number("empty", shape, 0, dtype, name)


def empty_like(x: Operand, /, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """A tensor of the shape of x, and of its dtype unless told, of any elements: zeros.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.empty_like([1.0, 2.0])
    >>> y.shape, y.dtype
    ((2,), dtype('float32'))
    """
    return _like("empty_like", x, 0, dtype, name)


def zeros(shape: Any, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """Zeros of that shape, whose sizes are ints, names or Dims; float32 unless told.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.zeros((2, 3), dtype="int32")
    >>> sad.Session(graph).run(y)
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    return _number("zeros", shape, 0, dtype, name)


def ones(shape: Any, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """Ones of that shape, whose sizes are ints, names or Dims; float32 unless told.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.ones(3)
    >>> sad.Session(graph).run(y)
    array([1., 1., 1.], dtype=float32)
    """
    return _number("ones", shape, 1, dtype, name)


def full_like(
    x: Operand, /, fill_value: Any, dtype: Any = None, *, name: str | None = None
) -> Tensor:
    """A tensor of the shape of x, and of its dtype unless told, every element `fill_value`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.full_like([1.0, 2.0], 3)
    >>> sad.Session(graph).run(y)
    array([3., 3.], dtype=float32)
    """
    return _like("full_like", x, fill_value, dtype, name)


def zeros_like(x: Operand, /, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """Zeros of the shape of x, and of its dtype unless told.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float16", ("n", 3), name="x")
    >>> y = sad.zeros_like(x)
    >>> y.shape, y.dtype
    ((Dim('n'), 3), dtype('float16'))
    """
    return _like("zeros_like", x, 0, dtype, name)


def ones_like(x: Operand, /, dtype: Any = None, *, name: str | None = None) -> Tensor:
    """Ones of the shape of x, and of its dtype unless told.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float16", ("n", 3), name="x")
    >>> y = sad.ones_like(x, dtype="bool")
    >>> y.shape, y.dtype
    ((Dim('n'), 3), dtype('bool'))
    """
    return _like("ones_like", x, 1, dtype, name)


def eye(
    n_rows: int | Dim,
    n_cols: int | Dim | None = None,
    /,
    k: int = 0,
    dtype: Any = None,
    *,
    name: str | None = None,
) -> Tensor:
    """Ones on the diagonal k, zeros elsewhere; the sizes may be Dims.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.eye(2, 3, k=1)
    >>> sad.Session(graph).run(y)
    array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    with asking("eye", name):
        graph = current_graph("eye")
        rows = dimensions.size(n_rows)
        columns = rows if n_cols is None else dimensions.size(n_cols)
        offset = dimensions.diagonal_of(k, rows, columns)
        wanted = DEFAULT_FLOAT if dtype is None else as_dtype(dtype)
        if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= LISTED:
            return result(graph.constant(np.eye(rows, columns, offset, wanted), name))
        row, column = (
            graph.source("iota", {"shape": shape, "axis": axis, "dtype": INT64})
            for axis, shape in enumerate(((rows, 1), (1, columns)))
        )
        diagonal = build("equal", (row + offset, column))
        return result(build("cast", (diagonal,), {"dtype": wanted}, label=name))


def _number(asked: str, shape: Any, value: Any, dtype: Any, name: str | None) -> Tensor:
    with asking(asked, name):
        graph = current_graph(asked)
        wanted = DEFAULT_FLOAT if dtype is None else as_dtype(dtype)
        scalar = graph.handle(graph.scalar(_bare(value, wanted), wanted))
        return _filled(scalar, shape, name)


def _like(asked: str, x: Operand, value: Any, dtype: Any, name: str | None) -> Tensor:
    with asking(asked, name):
        like = tensor(asked, x)
        if isinstance(value, Tensor):
            return _filled(value.astype(dtype or like.dtype), like.shape, name)
        wanted = like.dtype if dtype is None else as_dtype(dtype)
        scalar = like.graph.handle(like.graph.scalar(_bare(value, wanted), wanted))
        return _filled(scalar, like.shape, name)


def _bare(value: Any, dtype: DType) -> Any:
    """The fill value as a number that `dtype` can hold.  Raises GraphError."""
    if not isinstance(value, (*WEAK, np.generic)):
        raise UsageError("not a fill value", expected="a number", found=f"{value!r:.80}")
    plain = value.item() if isinstance(value, np.generic) else value
    kind = KINDS[dtype]
    if kind == "bool":
        return bool(plain)
    if (isinstance(plain, complex) and kind != "complex") or (
        isinstance(plain, float) and kind in ("int", "uint")
    ):
        raise DTypeError("the fill value does not fit", expected=dtype.name, found=repr(plain))
    weak_array(plain, dtype)
    return plain


def _filled(scalar: Any, shape: Any, name: str | None) -> Tensor:
    return result(
        build("broadcast_to", (scalar,), {"shape": dimensions.shape_of(shape)}, label=name)
    )
