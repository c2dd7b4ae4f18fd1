"""Discrete cosine and sine transforms, as SciPy has them."""

from __future__ import annotations

import math
from typing import Any, Literal

from staticad_schema.handle import floating
from staticad_schema.ops.cosine import TRANSPOSED, plain, weighted
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..dimensions import Axis
from ..operands import Operand, result, tensor
from ..options import choice, flag
from ..tensor import Tensor
from .lengths import Length, Lengths, Norm, pairs, resized, scale

Type = Literal[1, 2, 3, 4]


def dct(
    x: Operand,
    /,
    type: Type = 2,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of a type along an axis, as `scipy.fft.dct`.

    x: floats, or complex numbers; integers and half floats count as float32.  n: crops the axis,
    or puts zeros behind it.  norm: "backward" leaves the factor to `idct`; "ortho" shares it, and
    makes the matrix orthogonal unless orthogonalize is False; "forward" takes it.
    Raises ShapeError for an axis of no elements, or of one for type 1.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.dct([1.0, 1.0, 1.0, 1.0])
    >>> sad.Session(graph).run(y)
    array([8., 0., 0., 0.], dtype=float32)
    """
    return _one("dct", x, type, n, axis, norm, orthogonalize, name)


def idct(
    x: Operand,
    /,
    type: Type = 2,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct` of the same type along an axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.idct([8.0, 0.0, 0.0, 0.0])
    >>> sad.Session(graph).run(y)
    array([1., 1., 1., 1.], dtype=float32)
    """
    return _one("idct", x, type, n, axis, norm, orthogonalize, name)


def dst(
    x: Operand,
    /,
    type: Type = 2,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete sine transform of a type along an axis, as `scipy.fft.dst`; see `dct`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.dst([1.0, 0.0], type=1)
    >>> sad.Session(graph).run(y).round(3)
    array([1.732, 1.732], dtype=float32)
    """
    return _one("dst", x, type, n, axis, norm, orthogonalize, name)


def idst(
    x: Operand,
    /,
    type: Type = 2,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dst` of the same type along an axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.idst(sad.fft.dst([1.0, 2.0], norm="ortho"), norm="ortho")
    >>> sad.Session(graph).run(y).round(3)
    array([1., 2.], dtype=float32)
    """
    return _one("idst", x, type, n, axis, norm, orthogonalize, name)


def dctn(
    x: Operand,
    /,
    type: Type = 2,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """`dct` along several axes.

    s, axes: sizes and axes, as in `fftn`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.dctn(x, s=(8, 8)).shape
    (5, 8, 8)
    """
    return _several("dctn", x, type, s, axes, norm, orthogonalize, name)


def idctn(
    x: Operand,
    /,
    type: Type = 2,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dctn` along several axes.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.idctn(x).shape
    (5, 3, 4)
    """
    return _several("idctn", x, type, s, axes, norm, orthogonalize, name)


def dstn(
    x: Operand,
    /,
    type: Type = 2,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """`dst` along several axes.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.dstn(x, axes=(0, 2)).shape
    (5, 3, 4)
    """
    return _several("dstn", x, type, s, axes, norm, orthogonalize, name)


def idstn(
    x: Operand,
    /,
    type: Type = 2,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    orthogonalize: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dstn` along several axes.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.idstn(x).shape
    (5, 3, 4)
    """
    return _several("idstn", x, type, s, axes, norm, orthogonalize, name)


def _one(
    asked: str, x: Any, type: Any, n: Any, axis: Any, norm: Any, orthogonal: Any, name: str | None
) -> Tensor:
    with asking(asked, name):
        value = _numbers(asked, x)
        over = pairs(value, None if n is None else (n,), (axis,))
        return _transformed(asked, value, type, over, norm, orthogonal, name)


def _several(
    asked: str, x: Any, type: Any, s: Any, axes: Any, norm: Any, orthogonal: Any, name: str | None
) -> Tensor:
    with asking(asked, name):
        value = _numbers(asked, x)
        return _transformed(asked, value, type, pairs(value, s, axes), norm, orthogonal, name)


def _numbers(asked: str, x: Any) -> Any:
    (value,) = floating(tensor(asked, x))
    return methods.widened(value)


def _transformed(
    asked: str,
    x: Any,
    type: Any,
    over: list[tuple[int, Length]],
    norm: Any,
    orthogonal: Any,
    name: str | None,
) -> Tensor:
    kind = choice("type", dimensions.integer(type), TRANSPOSED)
    inverse = asked.startswith("i")
    factor = scale(norm, inverse)
    if orthogonal is None:
        orthogonal = norm == "ortho"
    flag("orthogonalize", orthogonal)
    kind = TRANSPOSED[kind] if inverse else kind
    op = "dst" if "dst" in asked else "dct"
    sine = op == "dst"
    weights = plain(sine, kind)
    if orthogonal:
        first, last = (math.sqrt(0.5) if meant else 1.0 for meant in weighted(sine, kind))
        weights = first, last
    for axis, n in over:
        x = resized(x, axis, n)
        attributes = {"axis": axis, "type": kind, "scale": factor, "weights": weights}
        x = build(op, (x,), attributes)
    return result(renamed(x, name))
