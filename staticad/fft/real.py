"""Fourier transforms of real numbers, which have half a spectrum, and of such spectra."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.sites import asking

from .. import dimensions
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result
from ..tensor import Tensor
from .lengths import Length, Lengths, Norm, complex_, length, pairs, real, resized, scale, some


def rfft(
    x: Operand,
    /,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The first n // 2 + 1 coefficients of the Fourier transform of real numbers along an axis.

    x: floats; integers and half floats count as float32.  The others are conjugates of these.
    n, norm: as in `fft`.  Raises DTypeError for complex numbers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.rfft([1.0, 2.0, 3.0, 4.0])
    >>> sad.Session(graph).run(y)
    array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    with asking("rfft", name):
        value = real("rfft", x)
        axis = dimensions.axis_of(axis, value.type.ndim)
        return result(halved(resized(value, axis, n), axis, scale(norm, False), name))


def irfft(
    x: Operand,
    /,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The inverse of `rfft` along an axis: n real numbers of n // 2 + 1 coefficients.

    n: of m coefficients 2 (m - 1) by default; odd sizes are to be given.  x is cropped, or gets
    zeros behind it.  The imaginary parts of the first coefficient, and of the last one of an even
    n, have no effect, and their gradient is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.irfft([10 + 100j, -2 + 2j, -2.0])
    >>> sad.Session(graph).run(y)
    array([1., 2., 3., 4.], dtype=float32)
    """
    with asking("irfft", name):
        value = complex_("irfft", x)
        axis = dimensions.axis_of(axis, value.type.ndim)
        return result(doubled(value, axis, n, scale(norm, True), name))


def rfftn(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`rfft` along the last of several axes, then `fft` along the others.

    s, axes: as in `fftn`; at least one axis.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.rfftn(x).shape
    (5, 3, 3)
    """
    with asking("rfftn", name):
        return result(forwards("rfftn", x, s, axes, scale(norm, False), name))


def irfftn(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The inverse of `rfftn`: `ifft` along all but the last of several axes, then `irfft`.

    s: the sizes of the result, as in `fftn`: of -1 as many as x has.  The last one is 2 (m - 1) by
    default.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 3))
    >>> sad.fft.irfftn(x, s=(3, 5)).shape
    (5, 3, 5)
    """
    with asking("irfftn", name):
        return result(backwards(complex_("irfftn", x), s, axes, scale(norm, True), name))


def rfft2(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = (-2, -1),
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`rfftn` along two axes, the last ones unless it is told others.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.rfft2(x).shape
    (5, 3, 3)
    """
    with asking("rfft2", name):
        return result(forwards("rfft2", x, s, axes, scale(norm, False), name))


def irfft2(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = (-2, -1),
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`irfftn` along two axes, the last ones unless it is told others.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 3))
    >>> sad.fft.irfft2(x).shape
    (5, 3, 4)
    """
    with asking("irfft2", name):
        return result(backwards(complex_("irfft2", x), s, axes, scale(norm, True), name))


def halved(x: Any, axis: int, factor: str, name: str | None) -> Any:
    """The first half of the spectrum of x along an axis."""
    return build("rfft", (x,), {"axis": axis, "scale": factor, "twice": False}, label=name)


def doubled(x: Any, axis: int, n: Length, factor: str, name: str | None) -> Any:
    """`irfft` of x, with as many coefficients as n needs."""
    size = length(2 * (x.type.shape[axis] - 1) if n is None else n)
    if n is not None:
        x = resized(x, axis, dims.floordiv(size, 2) + 1)
    attributes = {"axis": axis, "size": size, "scale": factor, "twice": True}
    return build("irfft", (x,), attributes, label=name)


def forwards(asked: str, x: Any, s: Any, axes: Any, factor: str, name: str | None) -> Any:
    """`rfftn`, with a factor for each axis."""
    value = real(asked, x)
    over = some(pairs(value, s, axes), axes)
    for axis, n in over:
        value = resized(value, axis, n)
    *others, last = (axis for axis, _ in over)
    value = halved(value, last, factor, None if others else name)
    return _along(value, others, False, factor, name)


def backwards(x: Any, s: Any, axes: Any, factor: str, name: str | None) -> Any:
    """`irfftn` of complex numbers, with a factor for each axis."""
    *others, (last, n) = some(pairs(x, s, axes), axes)
    for axis, size in others:
        x = resized(x, axis, size)
    x = _along(x, [axis for axis, _ in others], True, factor, None)
    return doubled(x, last, n, factor, name)


def _along(x: Any, axes: list[int], inverse: bool, factor: str, name: str | None) -> Any:
    if not axes:
        return x
    attributes = {"axes": tuple(sorted(axes)), "inverse": inverse, "scale": factor}
    return build("fft", (x,), attributes, label=name)
