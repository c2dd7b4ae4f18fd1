"""Fourier transforms to real numbers of sequences whose second half conjugates the first."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking

from .. import dimensions
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result
from ..tensor import Tensor
from .lengths import Length, Lengths, Norm, complex_, real, resized, scale
from .real import backwards, doubled, forwards, halved


def hfft(
    x: Operand,
    /,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The real transform of a sequence of which x is the first half, and its conjugates the other.

    n: the size of the result, as in `irfft`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.hfft([1.0, 2.0, 3.0])
    >>> sad.Session(graph).run(y)
    array([ 8., -2.,  0., -2.], dtype=float32)
    """
    with asking("hfft", name):
        value = build("conj", (complex_("hfft", x),))
        axis = dimensions.axis_of(axis, value.type.ndim)
        return result(doubled(value, axis, n, scale(norm, False), name))


def ihfft(
    x: Operand,
    /,
    n: Length = None,
    axis: int = -1,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The inverse of `hfft`: n // 2 + 1 complex numbers of n real ones.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.ihfft([8.0, -2.0, 0.0, -2.0])
    >>> sad.real(y).shape
    (3,)
    """
    with asking("ihfft", name):
        value = real("ihfft", x)
        axis = dimensions.axis_of(axis, value.type.ndim)
        half = halved(resized(value, axis, n), axis, scale(norm, True), None)
        return result(build("conj", (half,), label=name))


def hfftn(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`fft` along all but the last of several axes, then `hfft`; as `scipy.fft.hfftn`.

    s: the sizes of the result, as in `irfftn`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 3))
    >>> sad.fft.hfftn(x, s=(3, 5)).shape
    (5, 3, 5)
    """
    with asking("hfftn", name):
        return _several("hfftn", x, s, axes, norm, name)


def ihfftn(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = None,
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """The inverse of `hfftn`: `ihfft` along the last of several axes, then `ifft`.

    s, axes: as in `rfftn`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.ihfftn(x).shape
    (5, 3, 3)
    """
    with asking("ihfftn", name):
        return _inverse("ihfftn", x, s, axes, norm, name)


def hfft2(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = (-2, -1),
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`hfftn` along two axes, the last ones unless it is told others.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 3))
    >>> sad.fft.hfft2(x).shape
    (5, 3, 4)
    """
    with asking("hfft2", name):
        return _several("hfft2", x, s, axes, norm, name)


def ihfft2(
    x: Operand,
    /,
    s: Lengths = None,
    axes: Axis = (-2, -1),
    norm: Norm | None = "backward",
    *,
    name: str | None = None,
) -> Tensor:
    """`ihfftn` along two axes, the last ones unless it is told others.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.fft.ihfft2(x).shape
    (5, 3, 3)
    """
    with asking("ihfft2", name):
        return _inverse("ihfft2", x, s, axes, norm, name)


def _several(asked: str, x: Any, s: Any, axes: Any, norm: Any, name: str | None) -> Tensor:
    # Conjugating turns a transform into the inverse one, but for its factor.
    value = build("conj", (complex_(asked, x),))
    return result(backwards(value, s, axes, scale(norm, False), name))


def _inverse(asked: str, x: Any, s: Any, axes: Any, norm: Any, name: str | None) -> Tensor:
    spectrum = forwards(asked, x, s, axes, scale(norm, True), None)
    return result(build("conj", (spectrum,), label=name))
