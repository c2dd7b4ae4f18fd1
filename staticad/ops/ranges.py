"""Numbers at equal distances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Dim
from staticad_schema.errors import ArgumentError, DTypeError, UsageError
from staticad_schema.handle import WEAK
from staticad_schema.sites import asking
from staticad_schema.types import (
    COMPLEX64,
    DEFAULT_FLOAT,
    FLOAT64,
    INT64,
    KINDS,
    REAL,
    DType,
    as_dtype,
    in_dtype,
    weak_array,
)

from .. import dimensions, methods, sizes
from ..building import build
from ..graph import current_graph
from ..numbers import real
from ..operands import result
from ..options import flag
from ..tensor import Tensor

__all__ = ["arange", "linspace"]

LISTED = 1 << 16
"""More integers than these are counted by the run: a file should not grow with them."""


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, dtype: Any = None, *, name: str | None = None
) -> Tensor:
    """start, start + step, ... before stop; from 0 to start if there is no stop.

    int64 for integers, float32 otherwise.  Start and stop of an integer range may be Dims.
    Raises ArgumentError for a step of 0, for what is not finite and for integers that the dtype
    does not hold.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", ("n",), name="x")
    ...     y = sad.arange(x.shape[0])
    >>> sad.Session(graph).run(y, {x: [0.5, 0.5, 0.5]})
    array([0, 1, 2])
    """
    with asking("arange", name):
        graph = current_graph("arange")
        low, high = (0, start) if stop is None else (start, stop)
        if isinstance(step, int | float | np.number) and step == 0:
            raise ArgumentError("the step is 0", expected="a step other than 0", found="0")
        if all(isinstance(v, int | np.integer) for v in (low, high, step)):
            wanted = INT64 if dtype is None else as_dtype(dtype)
            return _known(range(*map(int, (low, high, step))), wanted, name)
        if all(isinstance(v, Dim | int | np.integer) for v in (low, high, step)):
            wanted = _real(INT64 if dtype is None else as_dtype(dtype))
            return _symbolic(low, high, dimensions.integer(step), wanted, name)
        for value in (low, high, step):
            if not isinstance(value, int | float | np.integer | np.floating):
                raise UsageError("not a number", expected="a number", found=f"{value!r:.80}")
        low, high, step = (
            _finite(what, n) for what, n in (("start", low), ("stop", high), ("step", step))
        )
        wanted = DEFAULT_FLOAT if dtype is None else as_dtype(dtype)
        count = max(min((high - low) / step, 2.0**62), 0.0)
        length = dimensions.listed(math.ceil(count))
        steps = low + step * np.arange(length, dtype=np.float64)
        return result(graph.constant(in_dtype(steps, wanted), name))


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int | str | Dim,
    endpoint: bool = True,
    *,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """`num` numbers, evenly spaced from start to stop; float32, or complex64, unless told.

    num: an int, or a Dim or name that runs find; then the dtype is floating or complex.
    endpoint: whether stop is the last one.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linspace(0.0, 1.0, 5)
    >>> sad.Session(graph).run(y)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    with asking("linspace", name):
        for value in (start, stop):
            if not isinstance(value, WEAK):
                raise UsageError("not a number", expected="a number", found=f"{value!r:.80}")
        start, stop = _finite("start", start), _finite("stop", stop)
        length = dimensions.size(num)
        flag("endpoint", endpoint)
        usual = COMPLEX64 if np.iscomplexobj(start) or np.iscomplexobj(stop) else DEFAULT_FLOAT
        wanted = usual if dtype is None else as_dtype(dtype)
        if not isinstance(length, int):
            return result(
                methods.cast(_spaced(start, stop, length, endpoint, wanted), wanted, name)
            )
        dimensions.listed(length)
        values = np.linspace(start, stop, length, endpoint=endpoint)
        return result(current_graph("linspace").constant(in_dtype(values, wanted), name))


def _spaced(start: Any, stop: Any, count: Dim, endpoint: bool, dtype: DType) -> Any:
    """In double precision what `numpy.linspace` computes, of a count that runs find."""
    if KINDS[dtype] not in ("float", "complex"):
        raise DTypeError(
            f"a dtype for {count} numbers at equal distances",
            expected="floats or complex numbers, where num is no int",
            found=dtype.name,
        )
    if KINDS[dtype] == "float" and (np.iscomplexobj(start) or np.iscomplexobj(stop)):
        raise DTypeError(
            "complex numbers do not become real", expected="a complex dtype", found=dtype.name
        )
    graph = current_graph("linspace")
    k = graph.source("iota", {"shape": (count,), "axis": 0, "dtype": FLOAT64})
    last = dims.maximum(count - 1 if endpoint else count, 1)
    gaps = sizes.value(graph, last, FLOAT64) if isinstance(last, Dim) else k.coerce(float(last))
    spaced = k * ((stop - start) / gaps) + start
    if not endpoint:
        return spaced
    return build("where", (build("equal", (k, gaps)), spaced.coerce(stop), spaced))


def _known(numbers: range, dtype: DType, name: str | None) -> Tensor:
    """A range of integers: of many numbers one that the run counts, else a constant."""
    first, step = numbers.start, numbers.step
    count = max(-(-(numbers.stop - first) // step), 0)
    ends = (numbers[0], numbers[-1]) if count else ()
    for end in ends:
        weak_array(end, dtype)
    if count > LISTED and KINDS[dtype] in REAL:
        return _symbolic(first, numbers.stop, step, dtype, name)
    dimensions.listed(count)
    plain = count and all(-(1 << 63) <= n < 1 << 63 for n in (*ends, step))
    values = first + step * np.arange(count) if plain else np.array(numbers, object)
    return result(current_graph("arange").constant(in_dtype(values, dtype), name))


def _symbolic(low: Any, high: Any, step: int, dtype: DType, name: str | None) -> Tensor:
    """A range of integers between sizes."""
    graph = current_graph("arange")
    length = dims.ceildiv(high - low, step) if step > 0 else dims.ceildiv(low - high, -step)
    # A size is not negative; the distance of two may be.
    shape = (length if low == 0 and step > 0 else dims.maximum(length, 0),)
    plain = low == 0 and step == 1
    # Whole numbers until the end: the dtype may be short, or unsigned.
    attributes = {"shape": shape, "axis": 0, "dtype": dtype if plain else INT64}
    counted = graph.source("iota", attributes, name if plain else None)
    if plain:
        return result(counted)
    if step != 1:
        counted = counted * step
    if isinstance(low, Dim):
        counted = counted + sizes.value(graph, low, INT64)
    elif low != 0:
        counted = counted + int(low)
    return result(methods.cast(counted, dtype, name))


def _finite(what: str, value: Any) -> Any:
    """The number as a float, or as the complex number that it is."""
    number = value if isinstance(value, complex | np.complexfloating) else real(what, value)
    if not np.isfinite(number):
        raise ArgumentError(
            "numbers without an end", expected="finite numbers", found=f"{value!r:.80}"
        )
    return number


def _real(dtype: DType) -> DType:
    if KINDS[dtype] not in REAL:
        raise DTypeError("not a range's dtype", expected="integer or float", found=dtype.name)
    return dtype
