"""Convolution as a product of spectra, for long sequences."""

from __future__ import annotations

from typing import Any, Literal, get_args

from staticad_schema.dims import Size
from staticad_schema.errors import ShapeError
from staticad_schema.handle import floating
from staticad_schema.sites import asking
from staticad_schema.types import COMPLEX128, FLOAT64

from .. import dimensions, methods
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result, tensors
from ..ops.convolution import part
from ..options import choice
from ..tensor import Tensor
from .lengths import declared
from .real import irfftn, rfftn
from .spectra import fftn, ifftn

Mode = Literal["full", "same", "valid"]


def fftconvolve(
    x: Operand,
    y: Operand,
    /,
    mode: Mode = "full",
    axes: Axis = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The convolution of x with y along axes, by Fourier transforms; as `scipy.signal.fftconvolve`.

    x, y: numbers of one rank; integers become float32.  mode: "full", of n + m - 1 elements;
    "same", the middle of it, as many as x has; "valid", those for which all of the smaller one is
    in the other, which holds along each axis.  axes: all if None; along others x and y broadcast.
    Raises ShapeError for other ranks, and for axes of no elements.

    Computes in double precision.  Errors are relative to the largest results, of small ones too;
    `sad.convolve` adds up products.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.fftconvolve([1.0, 2.0, 3.0], [1.0, 10.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1., 12., 23., 30.], dtype=float32)
    """
    with asking("fftconvolve", name):
        a, b = floating(*tensors("fftconvolve", x, y))
        choice("mode", mode, get_args(Mode))
        if a.ndim != b.ndim:
            raise ShapeError(
                "operands of different ranks",
                expected="the same axes",
                found=f"{a.describe()} and {b.describe()}",
            )
        over = dimensions.axes_of(axes, a.ndim)
        for value in (a, b):
            if any(value.shape[axis] == 0 for axis in over):
                raise ShapeError(
                    "an axis without elements has no convolution",
                    expected="elements along each axis",
                    found=value.describe(),
                )
        if not over:
            return result(methods.computed(lambda p, q: p * q, a, b, label=name))
        parts = [(axis, *part(mode, a.shape[axis], b.shape[axis])) for axis in over]
        if mode == "valid":
            _check_nested(a, b, over)
        # In double precision, in which transforms compute anyway, to round once.
        wide = COMPLEX128 if a.type.kind == "complex" else FLOAT64
        found = _product(a.astype(wide), b.astype(wide), over)
        slices: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * a.ndim
        shape = list(found.type.shape)
        for axis, start, count in parts:
            if shape[axis] != count:
                slices[axis] = (start, start + count, 1)
                shape[axis] = count
        if tuple(shape) != found.type.shape:
            found = declared(build("slice", (found,), {"slices": tuple(slices)}), tuple(shape))
        return result(methods.cast(found, a.dtype, name))


def _product(a: Any, b: Any, axes: tuple[int, ...]) -> Any:
    """The convolution, perhaps with zeros behind it."""
    real = a.type.kind != "complex"
    points = tuple(_fast(a.type.shape[k] + b.type.shape[k] - 1, real) for k in axes)
    there, back = (rfftn, irfftn) if real else (fftn, ifftn)
    spectra = [there(_padded(x, axes, points), None, axes) for x in (a, b)]
    return back(spectra[0] * spectra[1], points, axes)


def _padded(x: Any, axes: tuple[int, ...], points: tuple[Size, ...]) -> Any:
    """x with zeros behind it; there are at least as many points as x has along each axis."""
    widths: list[tuple[Size, Size]] = [(0, 0)] * x.type.ndim
    for axis, size in zip(axes, points, strict=True):
        widths[axis] = (0, size - x.type.shape[axis])
    return build("pad", (x,), {"widths": tuple(widths), "value": 0.0})


def _fast(size: Size, real: bool) -> Size:
    """A size of at least this that is quickly transformed, where it is known."""
    if not isinstance(size, int):
        return size
    from scipy.fft import next_fast_len

    return int(next_fast_len(size, real))


def _check_nested(a: Tensor, b: Tensor, axes: tuple[int, ...]) -> None:
    """Raises ShapeError unless one operand may be the larger one along all axes."""
    gaps = [a.shape[k] - b.shape[k] for k in axes]
    known = [gap for gap in gaps if isinstance(gap, int)]
    if any(gap > 0 for gap in known) and any(gap < 0 for gap in known):
        raise ShapeError(
            "neither operand is the larger one along all axes",
            expected="one that is, for mode 'valid'",
            found=f"{a.describe()} and {b.describe()}",
        )
