"""The transpose of a convolution in its input, into an array: by a convolution with the kernel
mirrored for each phase of the strides, or by columns that are added up.

Shapes are those of `correlation`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..op import Ints
from ..types import Array
from .columns import SLAB
from .correlation import Pairs, conv, conv_way
from .runs import BLOCK, SMALL, Spread, evenly, in_turn
from .windows import shares

WIDER = 8
"""How many more columns gathering what reaches an element may have than spreading what leaves one.
"""


def conv_input(
    g: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int,
    spread: Spread = in_turn,
) -> None:  # fmt: skip
    """out = the transpose, in x, of `conv`, applied to g."""
    if not out.size:
        return
    if not (g.size and w.size):
        out.fill(0)
        return
    if _spreads(g.shape, w.shape, out.shape, strides, groups):
        _conv_input_spread(g, w, out, strides, padding, dilation, groups, spread)
        return
    # What reaches an element comes from windows of g, through the kernel mirrored.
    parts = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2)
    turned = parts.reshape(-1, parts.shape[2], *w.shape[2:])
    axes = [
        _phases(*axis)
        for axis in zip(
            out.shape[2:], w.shape[2:], g.shape[2:], strides, padding, dilation, strict=True
        )
    ]
    for phase in itertools.product(*axes):
        places: Any = (..., *(one.elements for one in phase))
        target = out[places]
        kernel: Any = (..., *(one.kernel for one in phase))
        weights = turned[kernel]
        if not weights.size:
            target[...] = 0
        elif target.size:
            pads = [one.padding for one in phase]
            steps = tuple(one.dilation for one in phase)
            conv(g, weights, target, (1,) * len(phase), pads, steps, groups, spread)


def _spreads(g: Ints, w: Ints, out: Ints, strides: Ints, groups: int) -> bool:
    spreading = math.prod(w[1:]) * groups * math.prod(g[2:])
    gathering = w[0] * math.prod(w[2:]) * math.prod(out[2:]) / math.prod(strides)
    return spreading <= SLAB and gathering > WIDER * spreading


def input_way(
    g: Ints, w: Ints, out: Ints, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> str:
    """As `conv_way`, for `conv_input`."""
    if 0 in (*out, *g, *w):
        return "fill"
    if _spreads(g, w, out, strides, groups):
        return "columns added up"
    given = zip(out[2:], w[2:], g[2:], strides, padding, dilation, strict=True)
    axes = [_phases(*axis) for axis in given]
    count = math.prod(map(len, axes))
    if count > 1:
        return f"{count} convolutions"
    turned = (w[1] * groups, w[0] // groups, *w[2:])
    steps = tuple(axis[0].dilation for axis in axes)
    pads = [axis[0].padding for axis in axes]
    return conv_way(g, turned, out, (1,) * len(axes), pads, steps, groups)[0]


class _Phase(NamedTuple):
    """Elements along an axis that lie alike to the windows: they are reached by the same places
    of the kernel, and what reaches them is a convolution at stride 1."""

    elements: slice
    kernel: slice
    padding: tuple[int, int]
    dilation: int


def _phases(
    size: int, kernel: int, count: int, stride: int, pad: tuple[int, int], dilation: int
) -> list[_Phase]:
    """The phases of an axis of that size, over which there are `count` windows.

    Place k of window i lies on element a if a + pad[0] = i stride + k dilation.  So k is known
    up to multiples of `period`, with which i moves by `step`.
    """
    common = math.gcd(stride, dilation)
    period, step = stride // common, dilation // common
    inverse = pow(step, -1, period)
    phases = []
    for first in range(min(stride, size)):
        quotient, rest = divmod(first + pad[0], common)
        start = kernel if rest else quotient * inverse % period
        places = range(start, kernel, period)
        # Mirrored: the last such place comes first.
        taken = slice(places[-1], None, -period) if places else slice(0)
        reach = (len(places) - 1) * step
        low = reach - (first + pad[0] - start * dilation) // stride
        elements = slice(first, None, stride)
        length = len(range(first, size, stride))
        phases.append(_Phase(elements, taken, (low, length + reach - low - count), step))
    return phases


def _conv_input_spread(
    g: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int,
    spread: Spread,
) -> None:  # fmt: skip
    """By columns that are added up where they came from."""
    kernel, counts, sizes = w.shape[2:], g.shape[2:], out.shape[2:]
    depth, width = math.prod(w.shape[1:]), math.prod(counts)
    left = np.ascontiguousarray(w).reshape(groups, -1, depth).swapaxes(1, 2)
    right = np.ascontiguousarray(g).reshape(len(g), groups, -1, width)
    pairs = [shares(n, *pair) for n, pair in zip(sizes, padding, strict=True)]
    inside: Any = (..., *(kept for kept, _ in pairs))
    source: Any = (..., *(kept for _, kept in pairs))
    if any(kept.stop - kept.start < n for (_, kept), n in zip(pairs, sizes, strict=True)):
        out.fill(0)
    size = evenly(len(g), max(1, BLOCK // (groups * depth * width)))
    whole = [n + low + high for n, (low, high) in zip(sizes, padding, strict=True)]

    def work(parts: Iterator[int]) -> None:
        columns = np.empty((size, groups, depth, width), g.dtype)
        sums = np.empty((size, out.shape[1], *whole), g.dtype)
        for k in parts:
            some = slice(k * size, (k + 1) * size)
            given = right[some]
            count = len(given)
            np.matmul(left, given, columns[:count])
            apart = columns[:count].reshape(count, -1, *kernel, *counts)
            add_up(apart, sums[:count], strides, dilation)
            out[some][source] = sums[:count][inside]

    few = width * depth * left.shape[2] < SMALL
    (spread if few else in_turn)(work, -(-len(g) // size))


def add_up(columns: Array, out: Array, strides: Ints, dilation: Ints) -> None:
    """out = the sums, at each element, of the places of all windows that lie on it.

    columns: leading axes, then the kernel's, then the windows'.
    """
    rank = len(strides)
    kernel, counts = columns.shape[-2 * rank : -rank], columns.shape[-rank:]
    out.fill(0)
    for place in itertools.product(*map(range, kernel)):
        reached = tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(place, dilation, counts, strides, strict=True)
        )
        where: Any = (..., *reached)
        source: Any = (..., *place, *(slice(None),) * rank)
        out[where] += columns[source]
