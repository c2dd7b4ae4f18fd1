"""What transforms are told beside a tensor: sizes, axes and norms, as NumPy takes them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Dim, Shape, Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.handle import floating
from staticad_schema.types import COMPLEX_OF

from .. import dimensions, methods
from ..building import build
from ..operands import tensor
from ..options import choice

Norm = Literal["backward", "ortho", "forward"]
Length = int | str | Dim | None
Lengths = tuple[Length, ...] | list[Length] | Length

_SCALES = {"backward": "1", "ortho": "1/sqrt(n)", "forward": "1/n"}
_INVERSE = {"backward": "1/n", "ortho": "1/sqrt(n)", "forward": "1"}


def scale(norm: Any, inverse: bool) -> str:
    """The factor of a transform, or of the inverse one.  Raises ArgumentError."""
    given = "backward" if norm is None else choice("norm", norm, get_args(Norm))
    return (_INVERSE if inverse else _SCALES)[given]


def length(n: Any) -> Size:
    """A number of points.  Raises UsageError, ShapeError for none, ArgumentError for a norm."""
    if isinstance(n, str) and n in _SCALES:
        raise ArgumentError(
            "a norm in the place of a size", expected="n", found=repr(n), hint=f"write norm={n!r}"
        )
    size = dimensions.size(n)
    if size == 0:
        raise ShapeError("a transform of no points", expected="n of at least 1", found=str(n))
    return size


def resized(x: Any, axis: int, n: Length) -> Any:
    """x with n elements along an axis: the first ones, or zeros behind all; None: as they are."""
    if n is None:
        return x
    size, wanted = x.type.shape[axis], length(n)
    kept = dims.minimum(size, wanted)
    if kept != size:
        slices: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * x.type.ndim
        slices[axis] = (0, wanted, 1)
        shape = (*x.type.shape[:axis], kept, *x.type.shape[axis + 1 :])
        # As short as n says it: what a slice infers of an n of unknown sign is long.
        x = declared(build("slice", (x,), {"slices": tuple(slices)}), shape)
    if kept != wanted:
        widths: list[tuple[Size, Size]] = [(0, 0)] * x.type.ndim
        widths[axis] = (0, wanted - kept)
        x = build("pad", (x,), {"widths": tuple(widths), "value": 0.0})
    return x


def declared(x: Any, shape: Shape) -> Any:
    """x, which has that shape, if perhaps by other expressions."""
    return x if x.type.shape == shape else build("expect_shape", (x,), {"shape": shape})


def pairs(x: Any, s: Any, axes: Any) -> list[tuple[int, Length]]:
    """Axes and the sizes that they are to have, in the caller's order.

    s: one size an axis, None for the usual one, -1 for as many as x has.
    axes: all if None; but the last ones if there is an s.  Raises ShapeError.
    """
    ndim = x.type.ndim
    sizes = None if s is None else list(s) if isinstance(s, tuple | list) else [s]
    if axes is None:
        count = ndim if sizes is None else len(sizes)
        if count > ndim:
            raise ShapeError("more sizes than axes", expected=f"{ndim} at most", found=f"{s!r:.80}")
        chosen = list(range(ndim - count, ndim))
    else:
        given = axes if isinstance(axes, tuple | list) else (axes,)
        chosen = [dimensions.axis_of(a, ndim) for a in given]
    if len(set(chosen)) != len(chosen):
        raise ShapeError("an axis is named twice", expected="distinct axes", found=str(axes))
    if sizes is None:
        sizes = [None] * len(chosen)
    if len(sizes) != len(chosen):
        raise ShapeError(
            "not one size an axis", expected=f"{len(chosen)} sizes", found=f"{s!r:.80}"
        )
    shape = x.type.shape
    return [
        (axis, shape[axis] if isinstance(n, int | np.integer) and n == -1 else n)
        for axis, n in zip(chosen, sizes, strict=True)
    ]


def real(asked: str, x: Any) -> Any:
    """x as float32 or float64.  Raises DTypeError for complex numbers."""
    (value,) = floating(tensor(asked, x))
    if value.type.kind == "complex":
        raise DTypeError(
            "not a real dtype",
            expected="floats or integers",
            found=value.describe(),
            hint=f"use sad.fft.{asked.replace('rfft', 'fft').replace('ihfft', 'ifft')}",
        )
    return methods.widened(value)


def complex_(asked: str, x: Any) -> Any:
    """x as complex numbers."""
    (value,) = floating(tensor(asked, x))
    wide = methods.widened(value)
    return wide.astype(COMPLEX_OF.get(wide.type.dtype, wide.type.dtype))


def some(pairs: list[Any], asked: Any) -> list[Any]:
    """The pairs themselves.  Raises ArgumentError if there are none."""
    if not pairs:
        raise ArgumentError(
            "no axis to transform", expected="at least one", found=f"axes={asked!r:.80}"
        )
    return pairs
