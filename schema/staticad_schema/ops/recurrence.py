"""Evaluating y[i] = a[i] * y[i - 1] + b[i] along an axis, without a step for each element.

Long narrow recurrences are cut into blocks that advance side by side; then each block adds what
reaches it from the one before, times the product of its coefficients.
"""

from __future__ import annotations

import math

import numpy as np

from ..types import Array

# Below so many steps, and above so many elements a step, one step after the other is as fast.
_LONG, _WIDE = 64, 2048


def linear_recurrence_along(a: Array, b: Array, axis: int, reverse: bool) -> Array:
    """y along an axis, from its end if `reverse`.  A product with 0 is 0."""
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    if reverse:
        a, b = a[::-1], b[::-1]
    width = math.prod(b.shape[1:])
    out = _in_blocks(a, b, width) if len(b) >= _LONG and 0 < width <= _WIDE else None
    if out is None:
        out = np.array(b)
        _advance(a, out)
    return np.moveaxis(out[::-1] if reverse else out, 0, axis)


def _advance(a: Array, out: Array) -> None:
    """Turn b into y, step by step along the first axis."""
    if np.isfinite(a).all() and np.all(a):
        for i in range(1, len(out)):
            out[i] += a[i] * out[i - 1]
        return
    for i in range(1, len(out)):
        out[i] += _product(a[i], out[i - 1])


def _product(a: Array, b: Array) -> Array:
    return np.where((a == 0) | (b == 0), 0, a * b)


def _in_blocks(a: Array, b: Array, width: int) -> Array | None:
    """The same in about 2 sqrt(n) steps; None where a product of coefficients leaves the range
    in which they have all their digits, though the results may not."""
    count = len(b)
    length = math.isqrt(count - 1) + 1
    blocks = -(-count // length)
    whole = (blocks * length, width)
    coefficients, out = np.zeros(whole, a.dtype), np.zeros(whole, b.dtype)
    coefficients[:count] = a.reshape(count, width)
    out[:count] = b.reshape(count, width)
    # Blocks side by side: the steps of a block come first.
    steps = np.ascontiguousarray(coefficients.reshape(blocks, length, width).swapaxes(0, 1))
    y = np.ascontiguousarray(out.reshape(blocks, length, width).swapaxes(0, 1))
    reach = np.multiply.accumulate(steps, 0)
    if _loses_digits(reach, steps):
        return None
    _advance(steps, y)
    # What each block ends with is the same recurrence over blocks; all but the last hand it on.
    ends = y[-1].copy()
    _advance(reach[-1], ends)
    y[:, 1:] += _product(reach[:, 1:], ends[:-1])
    return y.swapaxes(0, 1).reshape(whole)[:count].reshape(b.shape)


def _loses_digits(reach: Array, steps: Array) -> bool:
    """Whether a product is infinite, NaN, or so small that digits are lost, but for a factor 0."""
    if reach.dtype.kind not in "fc":
        return False
    size = np.abs(reach)
    small = size < np.finfo(reach.dtype).tiny
    ended = np.logical_or.accumulate(steps == 0, 0)
    return not np.isfinite(size).all() or bool((small & ~ended).any())
