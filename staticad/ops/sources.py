"""Functions that need no operand: they build in the graph of the enclosing `with graph:`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.dims import Dim
from staticad_schema.errors import ArgumentError, DTypeError, UsageError
from staticad_schema.handle import WEAK
from staticad_schema.sites import asking
from staticad_schema.types import DEFAULT_FLOAT, INT64, KINDS, REAL, DType, as_dtype, weak_array

from .. import layout
from ..building import build
from ..graph import current_graph
from ..operands import Operand, graph_of, result, tensor
from ..tensor import Tensor
from ..variable import Variable


def placeholder(dtype: Any, shape: Any, name: str | None = None) -> Tensor:
    """A value that each run is fed; see `Graph.placeholder`."""
    return current_graph("placeholder").placeholder(dtype, shape, name)


def variable(
    initial: Any, name: str | None = None, trainable: bool = True, shape: Any = None
) -> Variable:
    """State that a Session holds; see `Graph.variable`."""
    return graph_of("variable", initial).variable(initial, name, trainable, shape)


def constant(value: Any, name: str | None = None, dtype: Any = None) -> Tensor:
    """A copy of an array, a number or a nested list of numbers; see `Graph.constant`."""
    return result(current_graph("constant").constant(value, name, dtype))


def full(shape: Any, fill_value: Any, *, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of that shape, every element `fill_value`, which may be a scalar tensor."""
    with asking("full", name):
        if isinstance(fill_value, Tensor):
            scalar = fill_value if dtype is None else fill_value.astype(dtype)
        else:
            graph = current_graph("full")
            scalar = graph.constant(fill_value, dtype=dtype)
        return _filled(scalar, shape, name)


def zeros(shape: Any, *, dtype: Any = DEFAULT_FLOAT, name: str | None = None) -> Tensor:
    """Zeros."""
    return _number("zeros", shape, 0, dtype, name)


def ones(shape: Any, *, dtype: Any = DEFAULT_FLOAT, name: str | None = None) -> Tensor:
    """Ones."""
    return _number("ones", shape, 1, dtype, name)


def full_like(
    x: Operand, /, fill_value: Any, *, dtype: Any = None, name: str | None = None
) -> Tensor:
    """A tensor of the shape of x, and of its dtype unless told, every element `fill_value`."""
    return _like("full_like", x, fill_value, dtype, name)


def zeros_like(x: Operand, /, *, dtype: Any = None, name: str | None = None) -> Tensor:
    """Zeros of the shape of x, and of its dtype unless told."""
    return _like("zeros_like", x, 0, dtype, name)


def ones_like(x: Operand, /, *, dtype: Any = None, name: str | None = None) -> Tensor:
    """Ones of the shape of x, and of its dtype unless told."""
    return _like("ones_like", x, 1, dtype, name)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, name: str | None = None
) -> Tensor:
    """start, start + step, ... before stop; from 0 to start if there is no stop.

    int64 for integers, float32 otherwise.  The stop of an integer range may be a Dim.
    """
    with asking("arange", name):
        graph = current_graph("arange")
        low, high = (0, start) if stop is None else (start, stop)
        if all(isinstance(v, int | np.integer) for v in (low, high, step)):
            wanted = INT64 if dtype is None else as_dtype(dtype)
            return result(graph.constant(np.arange(low, high, step).astype(wanted), name))
        if isinstance(low, int) and step == 1 and isinstance(high, Dim):
            wanted = _real(INT64 if dtype is None else as_dtype(dtype))
            attributes = {"shape": (high - low,), "axis": 0, "dtype": wanted}
            counted = graph.source("iota", attributes, name if low == 0 else None)
            if low == 0:
                return result(counted)
            shift = graph.handle(graph.scalar(low, wanted))
            return result(build("add", (counted, shift), label=name))
        for value in (low, high, step):
            if not isinstance(value, int | float | np.integer | np.floating):
                raise ArgumentError("not a number", expected="a number", found=f"{value!r:.80}")
        if step == 0:
            raise ArgumentError("the step is 0", expected="a step other than 0", found="0")
        wanted = DEFAULT_FLOAT if dtype is None else as_dtype(dtype)
        length = max(math.ceil((high - low) / step), 0)
        steps = low + step * np.arange(length, dtype=np.float64)
        return result(graph.constant(steps.astype(wanted), name))


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: Any = DEFAULT_FLOAT,
    endpoint: bool = True,
    name: str | None = None,
) -> Tensor:
    """`num` numbers, evenly spaced from start to stop."""
    with asking("linspace", name):
        for value in (start, stop):
            if not isinstance(value, WEAK):
                raise UsageError("not a number", expected="a number", found=f"{value!r:.80}")
        length = layout.size(num)
        if not isinstance(length, int):
            raise ArgumentError("not a count", expected="an int", found=repr(num))
        values = np.linspace(start, stop, length, endpoint=endpoint)
        return result(current_graph("linspace").constant(values.astype(as_dtype(dtype)), name))


def eye(
    n_rows: int | Dim,
    n_cols: int | Dim | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = DEFAULT_FLOAT,
    name: str | None = None,
) -> Tensor:
    """Ones on the diagonal k, zeros elsewhere; the sizes may be Dims."""
    with asking("eye", name):
        graph = current_graph("eye")
        rows = layout.size(n_rows)
        columns = rows if n_cols is None else layout.size(n_cols)
        if isinstance(rows, int) and isinstance(columns, int):
            return result(graph.constant(np.eye(rows, columns, k, as_dtype(dtype)), name))
        shape = (rows, columns)
        row, column = (
            graph.source("iota", {"shape": shape, "axis": axis, "dtype": INT64}) for axis in (0, 1)
        )
        diagonal = build("equal", (row + layout.integer(k), column))
        return result(build("cast", (diagonal,), {"dtype": as_dtype(dtype)}, label=name))


def _real(dtype: DType) -> DType:
    if KINDS[dtype] not in REAL:
        raise DTypeError("not a range's dtype", expected="integer or float", found=dtype.name)
    return dtype


def _number(asked: str, shape: Any, value: Any, dtype: Any, name: str | None) -> Tensor:
    with asking(asked, name):
        graph = current_graph(asked)
        wanted = as_dtype(dtype)
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
    return result(build("broadcast_to", (scalar,), {"shape": layout.shape_of(shape)}, label=name))
