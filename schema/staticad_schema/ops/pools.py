"""Pooling of arrays, into arrays: the meaning of the ops and the NumPy device's kernels alike.

Loops go over the places of a window; each step sees all windows at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ExecutionError
from ..op import Ints
from ..types import Array
from .windows import padded, pitches, shares, windows_of

Pairs = Sequence[tuple[int, int]]

BLOCK = 1 << 16
"""Windows that are compared at a time, so that they stay in the cache."""


def first_places(count: int, stride: int, low: int, dilation: int) -> Array:
    """For each window along an axis the first place of it that is not in the padding."""
    starts = np.arange(count) * stride - low
    return np.maximum(-(starts // dilation), 0)


def max_pool(
    x: Array, values: Array, indices: Array, window: Ints, strides: Ints, padding: Pairs,
    dilation: Ints,
) -> None:  # fmt: skip
    """values = the largest element of each window; indices = its place in x, all spatial axes
    counted as one.  Of equal ones the first counts; NaN is the largest."""
    if not values.size:
        return
    counts, sizes = values.shape[2:], x.shape[2:]
    axes = tuple(zip(counts, strides, padding, dilation, strict=True))
    firsts = [first_places(n, s, low, d) for n, s, (low, _), d in axes]
    ahead = any(f.any() for f in firsts)
    places = list(itertools.product(*map(range, window)))
    steps = pitches(sizes)
    table = np.array([_flat([k * d for k, d in zip(p, dilation, strict=True)], steps)
                      for p in places])  # fmt: skip
    base = _grid([np.arange(n) * s - low for n, s, (low, _), _ in axes], steps)
    starts = _grid(firsts, pitches(window)).astype(np.min_scalar_type(len(places) - 1))
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    view = windows_of(padded(x, padding, lowest), window, strides, dilation, counts)
    guarded = x.dtype.kind == "f" and bool(np.isnan(np.max(x)))
    size = min(len(x), max(1, BLOCK // math.prod(values.shape[1:])))
    shape = (size, *values.shape[1:])
    scratch = np.empty(shape, x.dtype), np.empty(shape, bool), *(
        np.empty(shape, starts.dtype) for _ in range(2)
    )  # fmt: skip
    for first in range(0, len(x), size):
        some: Any = slice(first, first + size)
        best = values[some]
        candidates, better, which, marks = (array[: len(best)] for array in scratch)
        np.copyto(which, starts)
        if ahead:
            best.fill(lowest)
        else:
            np.copyto(best, view[(some, slice(None), *places[0])])
        for k, place in enumerate(places):
            if k == 0 and not ahead:
                continue
            np.copyto(candidates, view[(some, slice(None), *place)])
            np.greater(candidates, best, better)
            if guarded:
                better |= (candidates != candidates) & (best == best)
            np.maximum(best, candidates, out=best)
            # Later places have larger numbers: the largest one that was better is the last.
            np.multiply(better, starts.dtype.type(k), marks)
            np.maximum(which, marks, out=which)
        target = indices[some]
        np.take(table, which, out=target, mode="clip")
        target += base


def _flat(place: Sequence[int], steps: Sequence[int]) -> int:
    return sum(p * step for p, step in zip(place, steps, strict=True))


def _grid(along: Sequence[Array], steps: Sequence[int]) -> Array:
    """The flat places of all combinations of places along the axes."""
    total: Any = 0
    for a, (places, step) in enumerate(zip(along, steps, strict=True)):
        total = total + (places * step).reshape(-1, *(1,) * (len(along) - 1 - a))
    return np.asarray(total)


def unpool(g: Array, indices: Array, out: Array) -> None:
    """out = at each place the sum of the elements of g whose index it is.

    g and indices: (batch, channels, *counts).  Raises ExecutionError for an index out of range.
    """
    size = math.prod(out.shape[2:])
    if g.size and (indices.min() < 0 or indices.max() >= size):
        raise ExecutionError(
            "an index is out of range",
            expected=f"indices from 0 to {size - 1}" if size else "no index: there is no element",
            found=f"{indices.min()} to {indices.max()}",
        )
    maps = math.prod(out.shape[:2])
    if not (g.size and out.size):
        out.fill(0)
        return
    rows = np.arange(0, maps * size, size)[:, None]
    places = (indices.reshape(maps, -1) + rows).reshape(-1)
    flat, given = out.reshape(-1), g.reshape(-1)
    if out.dtype.kind == "f":
        # Sums in float64, at a third of the time of add.at.
        flat[:] = np.bincount(places, given, maps * size)
    else:
        flat.fill(0)
        np.add.at(flat, places, given)


def window_sum(
    x: Array, out: Array, window: Ints, strides: Ints, padding: Pairs, dilation: Ints
) -> None:
    """out = the sum of each window: along one axis after the other."""
    if not out.size:
        return
    sums = padded(x, padding)
    for a, n in enumerate(out.shape[2:]):
        parts = [
            sums[(slice(None),) * (2 + a) + (_reached(k, n, strides[a], dilation[a]),)]
            for k in range(window[a])
        ]
        sums = np.array(parts[0])
        for part in parts[1:]:
            sums += part
    np.copyto(out, sums)


def window_spread(
    g: Array, out: Array, window: Ints, strides: Ints, padding: Pairs, dilation: Ints
) -> None:
    """out = at each element the sum over the windows that contain it: the transpose."""
    if not (g.size and out.size):
        out.fill(0)
        return
    spread = g
    for a, size in enumerate(out.shape[2:]):
        low, high = padding[a]
        lead, count = (slice(None),) * (2 + a), spread.shape[2 + a]
        whole = np.zeros(
            (*spread.shape[: 2 + a], size + low + high, *spread.shape[3 + a :]), g.dtype
        )
        for k in range(window[a]):
            target = whole[(*lead, _reached(k, count, strides[a], dilation[a]))]
            target += spread
        inside, source = shares(size, low, high)
        if source != slice(0, size):
            spread = np.zeros((*whole.shape[: 2 + a], size, *whole.shape[3 + a :]), g.dtype)
            spread[(*lead, source)] = whole[(*lead, inside)]
        else:
            spread = whole[(*lead, inside)]
    np.copyto(out, spread)


def _reached(place: int, count: int, stride: int, dilation: int) -> slice:
    """The elements of a padded axis at one place of each window."""
    start = place * dilation
    return slice(start, start + max(count - 1, 0) * stride + min(count, 1), stride)
