"""Pooling of arrays, into arrays: the meaning of the ops and the NumPy device's kernels alike.

Loops go over the places of a window; each step sees all windows at once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import ExecutionError
from ..op import Ints
from ..types import Array
from .runs import Spread, evenly, in_turn
from .windows import padded, pitches, shares, windows_of

Pairs = Sequence[tuple[int, int]]

BLOCK = 1 << 15
"""Windows that are compared at a time, so that they stay in the cache; half as many take 15 %
longer for the cost of calls."""


def first_places(count: int, stride: int, low: int, dilation: int) -> Array:
    """For each window along an axis the first place of it that is not in the padding."""
    starts = np.arange(count) * stride - low
    return np.maximum(-(starts // dilation), 0)


def max_pool(
    x: Array, values: Array, indices: Array, window: Ints, strides: Ints, padding: Pairs,
    dilation: Ints, spread: Spread = in_turn,
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
    at: list[Any] = [(slice(None), *place) for place in places]
    steps = pitches(sizes)
    apart = [_flat([k * d for k, d in zip(p, dilation, strict=True)], steps) for p in places]
    base = _grid([np.arange(n) * s - low for n, s, (low, _), _ in axes], steps)
    # How far a place is from the first one says which it is, unless windows are wider than x.
    told = sorted(set(apart)) == apart
    marks = apart if told else range(len(places))
    if told:
        starts = _grid([f * d for f, d in zip(firsts, dilation, strict=True)], steps)
    else:
        starts = _grid(firsts, pitches(window))
    starts = starts.astype(np.min_scalar_type(max(marks)))
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    maps = math.prod(values.shape[:2])
    x, values, indices = (a.reshape(maps, *a.shape[2:]) for a in (x, values, indices))
    size = evenly(maps, max(1, BLOCK // math.prod(counts)))
    shape = (size, *counts)

    def work(parts: Iterator[int]) -> None:
        scratch = np.empty(shape, x.dtype), np.empty(shape, bool), *(
            np.empty(shape, starts.dtype) for _ in range(2)
        )  # fmt: skip
        for part in parts:
            some: Any = slice(part * size, (part + 1) * size)
            best, seen = values[some], x[some]
            candidates, better, which, later = (array[: len(best)] for array in scratch)
            guarded = x.dtype.kind == "f" and bool(np.isnan(np.max(seen)))
            view = windows_of(padded(seen, padding, lowest), window, strides, dilation, counts)
            np.copyto(which, starts)
            if ahead:
                best.fill(lowest)
            else:
                np.copyto(best, view[at[0]])
            for where, mark in zip(at, marks, strict=True):
                if mark == 0 and not ahead:
                    continue
                np.copyto(candidates, view[where])
                np.greater(candidates, best, better)
                if guarded:
                    better |= (candidates != candidates) & (best == best)
                np.maximum(best, candidates, out=best)
                # Later places have larger marks: the largest one that was better is the last.
                np.multiply(better, starts.dtype.type(mark), later)
                np.maximum(which, later, out=which)
            target = indices[some]
            if told:
                np.add(which, base, target)
            else:
                np.add(np.array(apart).take(which), base, target)

    spread(work, -(-maps // size))


def _flat(place: Sequence[int], steps: Sequence[int]) -> int:
    return sum(p * step for p, step in zip(place, steps, strict=True))


def _grid(along: Sequence[Array], steps: Sequence[int]) -> Array:
    """The flat places of all combinations of places along the axes."""
    total: Any = 0
    for a, (places, step) in enumerate(zip(along, steps, strict=True)):
        total = total + (places * step).reshape(-1, *(1,) * (len(along) - 1 - a))
    return np.asarray(total)


def unpool(g: Array, indices: Array, out: Array, spread: Spread = in_turn) -> None:
    """out = at each place the sum of the elements of g whose index it is.

    g and indices: (batch, channels, *counts).  Raises ExecutionError for an index out of range.
    """
    size = math.prod(out.shape[2:])
    # Read as unsigned, a negative index is larger than any size.
    if g.size and np.max(indices.view(np.uint64)) >= size:
        raise ExecutionError(
            "an index is out of range",
            expected=f"indices from 0 to {size - 1}" if size else "no index: there is no element",
            found=f"{indices.min()} to {indices.max()}",
        )
    if not (g.size and out.size):
        out.fill(0)
        return
    maps = math.prod(out.shape[:2])
    flat, given, places = (a.reshape(maps, -1) for a in (out, g, indices))
    few = evenly(maps, max(1, BLOCK // size))

    def work(parts: Iterator[int]) -> None:
        rows = np.arange(0, few * size, size)[:, None]
        for part in parts:
            some = slice(part * few, (part + 1) * few)
            sums, terms = flat[some], given[some].reshape(-1)
            reached = (places[some] + rows[: len(sums)]).reshape(-1)
            if out.dtype.kind == "f":
                # Sums in float64, at a third of the time of add.at.
                sums.reshape(-1)[:] = np.bincount(reached, terms, sums.size)
            else:
                sums.fill(0)
                np.add.at(sums.reshape(-1), reached, terms)

    spread(work, -(-maps // few))


def _in_blocks(x: Array, out: Array, spread: Spread, function: Callable[..., None]) -> None:
    """function(x, out) of some maps at a time."""
    maps = math.prod(x.shape[:2])
    x, out = (a.reshape(maps, 1, *a.shape[2:]) for a in (x, out))
    size = evenly(maps, max(1, 4 * BLOCK // max(math.prod(x.shape[1:]), math.prod(out.shape[1:]))))

    def work(parts: Iterator[int]) -> None:
        for part in parts:
            some = slice(part * size, (part + 1) * size)
            function(x[some], out[some])

    spread(work, -(-maps // size))


def window_sum(
    x: Array, out: Array, window: Ints, strides: Ints, padding: Pairs, dilation: Ints,
    spread: Spread = in_turn,
) -> None:  # fmt: skip
    """out = the sum of each window: along one axis after the other."""
    if out.size:
        given = window, strides, padding, dilation
        _in_blocks(x, out, spread, lambda some, sums: _window_sum(some, sums, *given))


def _window_sum(
    x: Array, out: Array, window: Ints, strides: Ints, padding: Pairs, dilation: Ints
) -> None:
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
    g: Array, out: Array, window: Ints, strides: Ints, padding: Pairs, dilation: Ints,
    spread: Spread = in_turn,
) -> None:  # fmt: skip
    """out = at each element the sum over the windows that contain it: the transpose."""
    if not (g.size and out.size):
        out.fill(0)
        return
    given = window, strides, padding, dilation
    _in_blocks(g, out, spread, lambda some, sums: _window_spread(some, sums, *given))


def _window_spread(
    g: Array, out: Array, window: Ints, strides: Ints, padding: Pairs, dilation: Ints
) -> None:
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
