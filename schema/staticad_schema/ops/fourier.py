"""Discrete Fourier transforms: of complex numbers, and between real ones and half a spectrum.

    transform of x:  y[k] = sum over j of x[j] exp(-2 pi i j k / n)

`scale` is a factor for each axis, of its size n.  Each op's transpose has the same scale: that of
`fft` is the inverse one, and `rfft` and `irfft` are each other's if both count the inner
coefficients once, or both twice.  So derivatives of any order are transforms again, of odd and
even sizes alike.

Single precision computes in double and rounds once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from .. import dims
from ..dims import Dim
from ..errors import DTypeError, ShapeError
from ..op import Ints, Operand, op
from ..types import COMPLEX_OF, REAL_OF, Array, TensorType
from .checks import agree, check_axes, check_kind, check_shape

_COMPLEX = frozenset({"complex"})

# What NumPy and SciPy call the factor in the transform, and in the inverse one.
_FORWARDS: dict[str, Any] = {"1": "backward", "1/sqrt(n)": "ortho", "1/n": "forward"}
_BACKWARDS: dict[str, Any] = {"1": "forward", "1/sqrt(n)": "ortho", "1/n": "backward"}


def check_points(x: Operand, axes: Ints) -> None:
    """Raises ShapeError unless these are ascending axes with elements."""
    for axis in check_axes(axes, x.ndim):
        if x.shape[axis] == 0:
            raise ShapeError(
                "an axis without elements has no Fourier transform",
                expected=f"elements along axis {axis}",
                found=str(x),
            )


def _inner(size: int, axis: int) -> tuple[slice, ...]:
    """The coefficients of half a spectrum that stand for their conjugates, too."""
    return (*(slice(None),) * axis, slice(1, (size + 1) // 2))


# ------------------------------------------------------------------ complex numbers


def _fft(x: Array, *, axes: Ints, inverse: bool, scale: str) -> Array:
    wide = x.astype(np.complex128, copy=False)
    norm = (_BACKWARDS if inverse else _FORWARDS)[scale]
    out: Array
    if len(axes) == 1:
        out = (np.fft.ifft if inverse else np.fft.fft)(wide, axis=axes[0], norm=norm)
        return out.astype(x.dtype, copy=False)
    # Several axes take SciPy half the time; its import would take one half a second.
    from scipy import fft as transforms

    out = (transforms.ifftn if inverse else transforms.fftn)(wide, axes=axes, norm=norm)
    return out.astype(x.dtype, copy=False)


def _grad_fft(x: Any, out: Any, g: Any, *, axes: Ints, inverse: bool, scale: str) -> tuple[Any]:
    return (fft(g, axes=axes, inverse=not inverse, scale=scale),)


def _batch_fft(x: Any, batched: Sequence[bool], *, axes: Ints, inverse: bool, scale: str) -> Any:
    return fft(x, axes=tuple(a + 1 for a in axes), inverse=inverse, scale=scale)


@op(
    numpy=_fft,
    grad=_grad_fft,
    jvp="linear",
    batch=_batch_fft,
)
def fft(
    x: Operand,
    *,
    axes: Ints,
    inverse: bool,
    scale: Literal["1", "1/sqrt(n)", "1/n"],
) -> TensorType:
    """The Fourier transform along axes, or (inverse) that with exp(+2 pi i j k / n), scaled."""
    check_kind(_COMPLEX, x)
    check_points(x, axes)
    return x


# ------------------------------------------------------------------ real numbers


def _rfft(x: Array, *, axis: int, scale: str, twice: bool) -> Array:
    wide = x.astype(np.float64, copy=False)
    out: Array = np.fft.rfft(wide, axis=axis, norm=_FORWARDS[scale])
    if twice:
        out[_inner(x.shape[axis], axis)] *= 2
    return out.astype(COMPLEX_OF[x.dtype], copy=False)


def _grad_rfft(x: Any, out: Any, g: Any, *, axis: int, scale: str, twice: bool) -> tuple[Any]:
    return (irfft(g, axis=axis, size=x.type.shape[axis], scale=scale, twice=twice),)


def _batch_rfft(x: Any, batched: Sequence[bool], *, axis: int, scale: str, twice: bool) -> Any:
    return rfft(x, axis=axis + 1, scale=scale, twice=twice)


@op(
    numpy=_rfft,
    grad=_grad_rfft,
    jvp="linear",
    batch=_batch_rfft,
)
def rfft(
    x: Operand,
    *,
    axis: int,
    scale: Literal["1", "1/sqrt(n)", "1/n"],
    twice: bool,
) -> TensorType:
    """The first n // 2 + 1 coefficients of the transform of real numbers along an axis.

    twice: those count twice whose conjugates are left out.
    """
    if x.dtype not in COMPLEX_OF:
        raise DTypeError(
            "a dtype that the op does not admit",
            expected="float32, float64",
            found=str(x),
            hint="use fft" if x.kind == "complex" else "use .astype('float32')",
        )
    check_points(x, (axis,))
    count = dims.floordiv(x.shape[axis], 2) + 1
    return TensorType(COMPLEX_OF[x.dtype], (*x.shape[:axis], count, *x.shape[axis + 1 :]))


def _irfft(x: Array, *, axis: int, size: int, scale: str, twice: bool) -> Array:
    wide = x.astype(np.complex128, copy=twice is False)
    if not twice:
        wide[_inner(size, axis)] *= 0.5
    out: Array = np.fft.irfft(wide, size, axis, norm=_BACKWARDS[scale])
    return out.astype(REAL_OF[x.dtype], copy=False)


def _grad_irfft(x: Any, out: Any, g: Any, *, axis: int, scale: str, twice: bool) -> tuple[Any]:
    return (rfft(g, axis=axis, scale=scale, twice=twice),)


def _batch_irfft(
    x: Any, batched: Sequence[bool], *, axis: int, size: int | Dim, scale: str, twice: bool
) -> Any:
    return irfft(x, axis=axis + 1, size=size, scale=scale, twice=twice)


@op(
    numpy=_irfft,
    grad=_grad_irfft,
    jvp="linear",
    batch=_batch_irfft,
)
def irfft(
    x: Operand,
    *,
    axis: int,
    size: int | Dim,
    scale: Literal["1", "1/sqrt(n)", "1/n"],
    twice: bool,
) -> TensorType:
    """The `size` real numbers along an axis whose spectrum begins with these coefficients, as far
    as exp(+2 pi i j k / n) is concerned, scaled.

    twice: the others are the conjugates of these; if not, they are 0, and the real part is
    taken.  The imaginary part of the first coefficient, and of the last one of an even size,
    has no effect.
    """
    check_kind(_COMPLEX, x)
    check_points(x, (axis,))
    if size == 0:
        raise ShapeError("an empty transform", expected="a size of at least 1", found="0")
    check_shape((size,))
    agree(dims.floordiv(size, 2) + 1, x.shape[axis], f"{size} // 2 + 1 and axis {axis} of {x}")
    return TensorType(REAL_OF[x.dtype], (*x.shape[:axis], size, *x.shape[axis + 1 :]))
