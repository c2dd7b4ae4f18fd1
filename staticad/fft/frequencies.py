"""The frequencies that the coefficients of a transform belong to, and their order."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Dim, Size
from staticad_schema.errors import ArgumentError, DTypeError, UsageError
from staticad_schema.sites import asking
from staticad_schema.types import DEFAULT_FLOAT, FLOAT64, KINDS, as_dtype

from .. import dimensions, methods, sizes
from ..building import build
from ..dimensions import Axis
from ..graph import current_graph
from ..operands import Operand, result, tensor
from ..ops.reordering import roll
from ..options import number
from ..tensor import Tensor
from .lengths import length


def fftfreq(
    n: int | str | Dim, d: float | Tensor = 1.0, *, dtype: Any = None, name: str | None = None
) -> Tensor:
    """The frequencies of the coefficients of `fft`: 0, 1, ..., -2, -1 over n d.

    n: the number of points, a Dim or name too.  d: their distance, a number or a scalar tensor, as
    length / sad.constant(n, dtype="float64").  dtype: float32 by default.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     f = sad.fft.fftfreq(5, d=0.1)
    >>> sad.Session(graph).run(f)
    array([ 0.,  2.,  4., -4., -2.], dtype=float32)
    """
    return _frequencies("fftfreq", n, d, dtype, name)


def rfftfreq(
    n: int | str | Dim, d: float | Tensor = 1.0, *, dtype: Any = None, name: str | None = None
) -> Tensor:
    """The frequencies of the coefficients of `rfft`: 0, 1, ..., n // 2 over n d.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     f = sad.fft.rfftfreq(5, d=0.1)
    >>> sad.Session(graph).run(f)
    array([0., 2., 4.], dtype=float32)
    """
    return _frequencies("rfftfreq", n, d, dtype, name)


def fftshift(x: Operand, /, axes: Axis = None, *, name: str | None = None) -> Tensor:
    """x with the coefficient of frequency 0 in the middle, of `axes`, or of all.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.fftshift([0, 1, 2, -2, -1])
    >>> sad.Session(graph).run(y)
    array([-2, -1,  0,  1,  2])
    """
    return _shifted("fftshift", x, axes, 1, name)


def ifftshift(x: Operand, /, axes: Axis = None, *, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`, which differs from it for odd sizes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.ifftshift([-2, -1, 0, 1, 2])
    >>> sad.Session(graph).run(y)
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted("ifftshift", x, axes, -1, name)


def _frequencies(asked: str, n: Any, d: Any, dtype: Any, name: str | None) -> Tensor:
    with asking(asked, name):
        graph = current_graph(asked)
        size = length(n)
        distance = _distance(d)
        wanted = DEFAULT_FLOAT if dtype is None else as_dtype(dtype)
        if KINDS[wanted] != "float":
            raise DTypeError("not a dtype of frequencies", expected="floats", found=wanted.name)
        count: Size = size if asked == "fftfreq" else dims.floordiv(size, 2) + 1
        k = graph.source("iota", {"shape": (count,), "axis": 0, "dtype": FLOAT64})
        points = (
            sizes.value(graph, size, FLOAT64) if isinstance(size, Dim) else k.coerce(float(size))
        )
        if asked == "fftfreq":
            upper = build("greater_equal", (k + k, points))
            k = build("where", (upper, k - points, k))
        return result(methods.cast(k / (points * distance), wanted, name))


def _distance(d: Any) -> Any:
    """The distance of points, a number or a scalar.  Raises UsageError, GraphError."""
    if isinstance(d, Tensor):
        if d.ndim or d.type.kind not in ("float", "int", "uint"):
            raise UsageError("not a distance", expected="a real scalar", found=d.describe())
        return d.astype(FLOAT64)
    distance = number("d", d)
    if distance == 0:
        raise ArgumentError("points at one place", expected="d other than 0", found=str(d))
    return distance


def _shifted(asked: str, x: Any, axes: Axis, sign: int, name: str | None) -> Tensor:
    with asking(asked, name):
        value = tensor(asked, x)
        chosen = dimensions.axes_of(axes, value.ndim)
        shifts = tuple(sign * dims.floordiv(value.shape[a], 2) for a in chosen)
        return roll(value, shifts, chosen, name=name)
