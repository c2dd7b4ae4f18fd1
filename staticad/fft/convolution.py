"""Convolution as a product of spectra, for long sequences."""

from __future__ import annotations

from functools import reduce
from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.dims import Size
from staticad_schema.errors import ShapeError
from staticad_schema.handle import floating
from staticad_schema.sites import asking
from staticad_schema.types import COMPLEX128, FLOAT64, INT64

from .. import dimensions, methods, sizes
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result, tensors
from ..ops.convolution import filled, part
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
    Raises ShapeError for other ranks, and for axes of no elements; where only the run tells which
    one is larger, mode "valid" fails then.

    Computes in double precision.  Errors are relative to the largest results, of small ones too;
    `sad.convolve` adds up products.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.fftconvolve([1.0, 2.0, 3.0], [1.0, 10.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 1., 12., 23., 30.], dtype=float32)
    """
    with asking("fftconvolve", name):
        a, b, over = _operands("fftconvolve", x, y, mode, axes)
        return _convolved(a, b, mode, over, name)


def correlate(
    x: Operand,
    y: Operand,
    /,
    mode: Mode = "full",
    axes: Axis = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The sums of x[j + k] conj(y[j]) over j along axes, by Fourier transforms.

    As `scipy.signal.correlate`, and as `fftconvolve` of x with y turned round and conjugated: the
    first element of mode "full" is that of k = 1 - m, for m elements of y.  x, y, mode, axes: as in
    `fftconvolve`.  `sad.correlate` adds up products.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fft.correlate([1.0, 2.0, 3.0], [1.0, 10.0])
    >>> sad.Session(graph).run(y).round(3)
    array([10., 21., 32.,  3.], dtype=float32)
    """
    with asking("correlate", name):
        a, b, over = _operands("correlate", x, y, mode, axes)
        turned: Any = build("flip", (b,), {"axis": over}) if over else b
        return _convolved(a, build("conj", (turned,)), mode, over, name)


def _operands(asked: str, x: Any, y: Any, mode: Any, axes: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """Both operands in one floating dtype, and the axes, counted from the front."""
    a, b = floating(*tensors(asked, x, y))
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
    return filled(a, over), filled(b, over), over


def _convolved(a: Any, b: Any, mode: Mode, over: tuple[int, ...], name: str | None) -> Tensor:
    if not over:
        return result(methods.computed(lambda p, q: p * q, a, b, label=name))
    if mode == "valid":
        a, b = _nested(a, b, over)
    n, m = a.type.shape, b.type.shape
    parts = [(axis, *part(mode, n[axis], m[axis])) for axis in over]
    # In double precision, in which transforms compute anyway, to round once.
    wide = COMPLEX128 if a.type.kind == "complex" else FLOAT64
    found = _product(a.astype(wide), b.astype(wide), over)
    slices: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * a.type.ndim
    shape = list(found.type.shape)
    for axis, start, count in parts:
        if shape[axis] != count:
            slices[axis] = (start, start + count, 1)
            shape[axis] = count
    if tuple(shape) != found.type.shape:
        found = declared(build("slice", (found,), {"slices": tuple(slices)}), tuple(shape))
    return result(methods.cast(found, a.type.dtype, name))


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


def _nested(a: Any, b: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Both, where one operand is the larger one along all axes.

    Raises ShapeError where it cannot be; what only sizes of the run tell, the run checks.
    """
    gaps = [gap for k in axes if (gap := a.type.shape[k] - b.type.shape[k]) != 0]
    known = [gap for gap in gaps if isinstance(gap, int)]
    message = "neither operand is the larger one along all axes"
    expected = "one that is, for mode 'valid'"
    if any(gap > 0 for gap in known) and any(gap < 0 for gap in known):
        found = f"{a.describe()} and {b.describe()}"
        raise ShapeError(message, expected=expected, found=found)
    if len(gaps) < 2 or len(known) == len(gaps):
        return a, b
    least, most = reduce(dims.minimum, gaps), reduce(dims.maximum, gaps)
    small, large = (
        a.coerce(gap) if isinstance(gap, int) else sizes.value(a.graph, gap, INT64)
        for gap in (least, most)
    )
    fits = build(
        "logical_or", (build("greater_equal", (small, 0)), build("less_equal", (large, 0)))
    )
    told = {"message": message, "expected": expected}
    # The gradient by one of them needs the other one alone.
    return build("check", (fits, a), told), build("check", (fits, b), told)
