"""Windows that move over the spatial axes of a tensor: their number, their checks, their views.

Spatial axes are those behind the first two, batch and channels.  A window takes every
`dilation`-th element and moves by `stride`; padding may be negative, which crops.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .. import dims
from ..dims import Shape, Size
from ..errors import ArgumentError, ShapeError
from ..op import Ints, Operand, Widths
from ..shapes import shape_text
from ..types import MAX_BYTES, Array

# ------------------------------------------------------------------ sizes


Length = TypeVar("Length", int, Size)


def extent(kernel: Length, dilation: int) -> Length:
    """How far a window of `kernel` elements reaches."""
    return (kernel - 1) * dilation + 1


def check_spatial(
    x: Operand, kernel: Shape, strides: Ints, padding: Widths, dilation: Ints
) -> Shape:
    """The spatial sizes of x.  Raises ShapeError, ArgumentError for what cannot move over it."""
    rank = x.ndim - 2
    if rank < 1:
        raise ShapeError(
            "there is no spatial axis",
            expected="rank 3 or more: batch, channels, and at least one spatial axis",
            found=str(x),
        )
    given = {
        "kernel size": kernel, "stride": strides, "pair of padding": padding, "dilation": dilation
    }  # fmt: skip
    for what, values in given.items():
        if len(values) != rank:
            raise ShapeError(
                f"not one {what} a spatial axis",
                expected=f"{rank}, for {x}",
                found=f"{len(values)}: {values}",
            )
    for what in ("kernel size", "stride", "dilation"):
        if any(isinstance(v, int) and not 1 <= v <= MAX_BYTES for v in given[what]):
            raise ArgumentError(
                f"a {what} is out of range",
                expected="from 1 to 2**63 - 1",
                found=str(given[what]),
            )
    return x.shape[2:]


def window_counts(
    sizes: Shape, kernel: Shape, strides: Ints, padding: Widths, dilation: Ints
) -> Shape:
    """How many windows there are along each axis.  Raises ShapeError where none fits.

    An axis without elements has no window of one element; longer ones do not fit.
    """
    if len(sizes) != len(kernel):
        raise ShapeError(
            "not one size a spatial axis", expected=f"{len(kernel)} sizes", found=shape_text(sizes)
        )
    counts: list[Size] = []
    known = 1
    for size, k, stride, (low, high), step in zip(
        sizes, kernel, strides, padding, dilation, strict=True
    ):
        padded, reach = size + low + high, extent(k, step)
        if isinstance(padded, int) and padded < 0:
            raise ShapeError(
                "negative padding crops more than there is",
                expected=f"at most {size} elements",
                found=f"padding {low}, {high}",
            )
        if isinstance(padded, int) and isinstance(reach, int) and reach > max(padded, 1):
            raise ShapeError(
                "the kernel is larger than the padded input",
                expected=f"a kernel that reaches over {padded} elements at most",
                found=f"{reach} elements: size {k} with dilation {step}, "
                f"on {shape_text(sizes)} with padding {low}, {high}",
            )
        counts.append(dims.floordiv(padded - reach, stride) + 1)
        known *= padded if isinstance(padded, int) and padded else 1
    if known > MAX_BYTES // 16:
        raise ShapeError(
            "the padded input is larger than any memory",
            expected="less than 2**59 elements along all spatial axes together",
            found=f"{known}: {shape_text(sizes)} with padding {padding}",
        )
    return tuple(counts)


def misses(size: int, count: int, kernel: int, stride: int, low: int, dilation: int) -> bool:
    """Whether a window along an axis has no place on it.  Takes no longer for large numbers."""
    if count < 1:
        return False
    last = (count - 1) * stride - low
    if last >= size or low >= extent(kernel, dilation):
        return True
    # Windows that begin before the axis step onto it, and over it where it is short: their first
    # places are multiples of the stride, modulo the dilation.
    before = min(count, -(-low // stride)) if low > 0 else 0
    if size >= dilation or before < 1:
        return False
    beyond = _floors(before, stride, dilation - size - low, dilation)
    return beyond > _floors(before, stride, -low, dilation)


def _floors(count: int, step: int, start: int, modulus: int) -> int:
    """The sum of (start + i * step) // modulus over i from 0 to count - 1, as Euclid would."""
    total = 0
    while count > 0:
        total += step // modulus * (count * (count - 1) // 2) + start // modulus * count
        step, start = step % modulus, start % modulus
        count, start = divmod(start + step * count, modulus)
        step, modulus = modulus, step
    return total


# ------------------------------------------------------------------ arrays


def pitches(sizes: Ints) -> list[int]:
    """How far apart neighbours along each axis are, all axes counted as one."""
    return [math.prod(sizes[a + 1 :]) for a in range(len(sizes))]


def shares(size: int, low: int, high: int) -> tuple[slice, slice]:
    """What one axis and its padded version share: in the padded one, in the axis."""
    kept = max(size - max(-low, 0) - max(-high, 0), 0)
    start = min(max(low, 0), size + low + high - kept)
    return slice(start, start + kept), slice(max(-low, 0), max(-low, 0) + kept)


def padded(x: Array, padding: Sequence[tuple[int, int]], value: float = 0) -> Array:
    """x with a value before and behind it on its last axes, or less of it; contiguous."""
    if not any(map(any, padding)):
        return np.ascontiguousarray(x)
    lead = x.shape[: x.ndim - len(padding)]
    sizes = x.shape[len(lead) :]
    shape = [n + low + high for n, (low, high) in zip(sizes, padding, strict=True)]
    pairs = [shares(n, *pair) for n, pair in zip(sizes, padding, strict=True)]
    out = np.full((*lead, *shape), value, x.dtype)
    inside: Any = (..., *(kept for kept, _ in pairs))
    source: Any = (..., *(kept for _, kept in pairs))
    out[inside] = x[source]
    return out


def windows_of(x: Array, kernel: Ints, strides: Ints, dilation: Ints, counts: Ints) -> Array:
    """A view of x, which is padded: its leading axes, then the kernel's, then the windows'."""
    lead = x.ndim - len(kernel)
    steps = x.strides[lead:]
    view: Any = as_strided(
        x,
        (*x.shape[:lead], *kernel, *counts),
        (
            *x.strides[:lead],
            # Where there is no next element the step to it may be any, also beyond all memory.
            *(s * d if k > 1 else s for s, d, k in zip(steps, dilation, kernel, strict=True)),
            *(s * t if n > 1 else s for s, t, n in zip(steps, strides, counts, strict=True)),
        ),
        writeable=False,
    )
    return np.asarray(view)
