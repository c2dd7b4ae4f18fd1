"""Fourier transforms of complex numbers."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking

from ..building import build, renamed
from ..dimensions import Axis
from ..operands import Operand, result
from ..tensor import Tensor
from .lengths import Length, Lengths, Norm, complex_, pairs, resized, scale


def fft(
    x: Operand,
    /,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The discrete Fourier transform along an axis: sum over j of x[j] exp(-2 pi i j k / n).

    x: numbers, of which real ones become complex: complex128 if they are float64, else complex64.
    n: crops the axis, or puts zeros behind it; a Dim or name, too.  norm: what is divided by n,
    "backward" the inverse, "forward" this one; "ortho" both by its root.  As `numpy.fft`.
    Raises ShapeError for an axis of no elements.

    The gradient of a real y is d/d(real) + i d/d(imag), so its negative descends; of a real x its
    real part.  Single precision computes in double within.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.fft([1.0, 2.0, 3.0, 4.0])
    ...     energy = sad.sum(sad.abs(y) ** 2)
    >>> sad.Session(graph).run([y, energy])
    [array([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64), array(120., dtype=float32)]
    """
    return _one("fft", x, n, axis, norm, False, name)


def ifft(
    x: Operand,
    /,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The inverse of `fft` along an axis: sum over k of x[k] exp(2 pi i j k / n) / n.

    x, n, norm: as in `fft`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.ifft([4.0, 0.0, 0.0, 0.0])
    >>> sad.Session(graph).run(y)
    array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _one("ifft", x, n, axis, norm, True, name)


def fftn(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The Fourier transform along several axes, one after the other.

    s: the size that each of them is to have, None or -1 to keep it.  axes: all; or, if s is given,
    as many of the last ones.  x, norm: as in `fft`.  Raises ShapeError unless sizes and axes pair
    up.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.fftn([[1.0, 2.0], [3.0, 4.0]])
    >>> sad.Session(graph).run(y)
    array([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _several("fftn", x, s, axes, norm, False, name)


def ifftn(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The inverse of `fftn` along several axes.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.ifftn([[4.0, 0.0], [0.0, 0.0]])
    >>> sad.Session(graph).run(y)
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]], dtype=complex64)
    """
    return _several("ifftn", x, s, axes, norm, True, name)


def fft2(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = (-2, -1),
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`fftn` along two axes, the last ones unless it is told others.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.fft2(x, s=(8, 8)).shape
    (5, 8, 8)
    """
    return _several("fft2", x, s, axes, norm, False, name)


def ifft2(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = (-2, -1),
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`ifftn` along two axes, the last ones unless it is told others.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.ifft2(x).shape
    (5, 3, 4)
    """
    return _several("ifft2", x, s, axes, norm, True, name)


def _one(
    asked: str, x: Any, n: Length, axis: Any, norm: Any, inverse: bool, name: str | None
) -> Tensor:
    with asking(asked, name):
        value = complex_(asked, x)
        over = pairs(value, None if n is None else (n,), (axis,))
        return _transformed(value, over, norm, inverse, name)


def _several(
    asked: str, x: Any, s: Any, axes: Any, norm: Any, inverse: bool, name: str | None
) -> Tensor:
    with asking(asked, name):
        value = complex_(asked, x)
        return _transformed(value, pairs(value, s, axes), norm, inverse, name)


def _transformed(
    x: Any, over: list[tuple[int, Length]], norm: Any, inverse: bool, name: str | None
) -> Tensor:
    factor = scale(norm, inverse)
    for axis, n in over:
        x = resized(x, axis, n)
    if not over:
        return result(renamed(x, name))
    attributes = {
        "axes": tuple(sorted(axis for axis, _ in over)), "inverse": inverse, "scale": factor
    }  # fmt: skip
    return result(build("fft", (x,), attributes, label=name))
