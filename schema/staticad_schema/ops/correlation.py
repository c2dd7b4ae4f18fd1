"""Convolution of arrays by matrix products of columns.

What is written here is the meaning of the ops and the NumPy device's kernels alike: functions
of the operands that write into an array.

Shapes: x (batch, channels, *sizes), w (outputs, channels / groups, *kernel),
g (batch, outputs, *counts).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..op import Ints
from ..types import Array
from .columns import BLOCK, SLAB, Joined, Runs, blocks, run_length, seen, slabs
from .windows import padded, shares, windows_of

Pairs = Sequence[tuple[int, int]]

LONG = 256
"""Windows of an image that are enough for a product by themselves."""

WIDER = 2.5
"""How many more columns gathering what reaches an element may have than spreading what leaves one.
"""


def conv(
    x: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
    """out = the cross-correlation of x with w."""
    kernel, counts = w.shape[2:], out.shape[2:]
    if not out.size:
        return
    if not w.size:
        out.fill(0)
        return
    depth, width = math.prod(w.shape[1:]), math.prod(counts)
    left = np.ascontiguousarray(w).reshape(groups, -1, depth)
    result = out.reshape(len(x), groups, -1, width)
    if math.prod(kernel) == 1 and width == math.prod(x.shape[2:]) and not any(map(any, padding)):
        np.matmul(left, np.ascontiguousarray(x).reshape(len(x), groups, depth, width), result)
        return
    x = padded(x, padding)
    if _are_sequences(x, w, strides, dilation):
        # NumPy conjugates the second one.
        np.copyto(out[0, 0], np.correlate(x[0, 0], w[0, 0].conj(), "valid"))
        return
    parts = slabs(counts, groups * depth)
    if len(parts) > 1:
        none = ((0, 0),) * len(counts)
        for some in parts:
            found = np.empty((*out.shape[:2], some.stop - some.start, *counts[1:]), out.dtype)
            part = seen(x, some, kernel[0], strides[0], dilation[0])
            conv(part, w, found, strides, none, dilation, groups)
            out[:, :, some] = found
        return
    run = run_length(x, strides, counts)
    if run:
        _conv_runs(x, w, out, Runs(x, kernel, dilation, counts, groups, run))
        return
    if width >= LONG and groups == 1:
        for some, columns in blocks(windows_of(x, kernel, strides, dilation, counts)):
            np.matmul(left, columns.reshape(len(columns), groups, depth, width), result[some])
        return
    joined = Joined(x, kernel, strides, dilation, counts)
    for some, columns in joined.blocks():
        products = np.matmul(left, columns.reshape(groups, depth, -1))
        target = joined.apart(result[some])
        target[...] = products.reshape(target.shape)


def _are_sequences(x: Array, y: Array, strides: Ints, dilation: Ints) -> bool:
    """Whether both are one row, of which no columns need to be made."""
    one = x.shape[:2] == y.shape[:2] == (1, 1)
    return one and tuple(strides) == tuple(dilation) == (1,)


def _conv_runs(x: Array, w: Array, out: Array, runs: Runs) -> None:
    groups, outputs = runs.groups, len(w) // runs.groups
    parted = w.reshape(groups, outputs, -1, runs.parts, runs.inner)
    left = parted.transpose(3, 0, 1, 2, 4).reshape(runs.parts, groups, outputs, -1)
    products = np.empty((runs.size, groups, outputs, *runs.grid), x.dtype)
    inside = products[runs.kept]
    flat = products.reshape(runs.size, groups, outputs, -1)[..., : runs.run]
    more = np.empty(flat.shape, x.dtype) if runs.parts > 1 else flat
    target = out.reshape(len(x), groups, outputs, *out.shape[2:])
    for some, columns in runs.blocks():
        count = len(columns[0])
        np.matmul(left[0], columns[0], flat[:count])
        for weights, part in zip(left[1:], columns[1:], strict=True):
            np.matmul(weights, part, more[:count])
            flat[:count] += more[:count]
        target[some] = inside[:count]


def conv_input(
    g: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
    """out = the transpose, in x, of `conv`, applied to g."""
    if not out.size:
        return
    if not (g.size and w.size):
        out.fill(0)
        return
    spreading = math.prod(w.shape[1:]) * groups * math.prod(g.shape[2:])
    gathering = len(w) * math.prod(w.shape[2:]) * math.prod(out.shape[2:]) / math.prod(strides)
    if spreading <= SLAB and gathering > WIDER * spreading:
        _conv_input_spread(g, w, out, strides, padding, dilation, groups)
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
            direct = target.flags.c_contiguous
            found = target if direct else np.empty(target.shape, out.dtype)
            pads = [one.padding for one in phase]
            steps = tuple(one.dilation for one in phase)
            conv(g, weights, found, (1,) * len(phase), pads, steps, groups)
            if not direct:
                target[...] = found


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
    g: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
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
    size = min(len(g), max(1, BLOCK // (groups * depth * width)))
    columns = np.empty((size, groups, depth, width), g.dtype)
    whole = [n + low + high for n, (low, high) in zip(sizes, padding, strict=True)]
    sums = np.empty((size, out.shape[1], *whole), g.dtype)
    for first in range(0, len(g), size):
        count = min(size, len(g) - first)
        np.matmul(left, right[first : first + count], columns[:count])
        spread(
            columns[:count].reshape(count, -1, *kernel, *counts), sums[:count], strides, dilation
        )
        out[first : first + count][source] = sums[:count][inside]


def spread(columns: Array, out: Array, strides: Ints, dilation: Ints) -> None:
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


def conv_weights(
    x: Array, g: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> None:
    """out = the transpose, in w, of `conv`, applied to g."""
    if not out.size:
        return
    if not g.size:
        out.fill(0)
        return
    kernel, counts = out.shape[2:], g.shape[2:]
    x = padded(x, padding)
    if _are_sequences(x, g, strides, dilation):
        np.copyto(out[0, 0], np.correlate(x[0, 0], g[0, 0].conj(), "valid"))
        return
    parts = slabs(counts, groups * math.prod(out.shape[1:]))
    if len(parts) > 1:
        none, found = ((0, 0),) * len(counts), np.empty_like(out)
        out.fill(0)
        for some in parts:
            part = seen(x, some, kernel[0], strides[0], dilation[0])
            conv_weights(part, g[:, :, some], found, strides, none, dilation, groups)
            out += found
        return
    run = run_length(x, strides, counts)
    if run and _weights_runs(x, g, out, Runs(x, kernel, dilation, counts, groups, run)):
        return
    depth, width = math.prod(out.shape[1:]), math.prod(counts)
    given = np.ascontiguousarray(g).reshape(len(g), groups, -1, width)
    # The products are made transposed, (depth, outputs): BLAS is faster at tall ones.
    total = np.zeros((groups, depth, given.shape[2]), out.dtype)
    joined = Joined(x, kernel, strides, dilation, counts)
    for some, columns in joined.blocks():
        right = joined.apart(given[some]).reshape(groups, given.shape[2], -1).swapaxes(1, 2)
        total += np.matmul(columns.reshape(groups, depth, -1), right)
    np.copyto(out.reshape(groups, -1, depth), total.swapaxes(1, 2))


def _weights_runs(x: Array, g: Array, out: Array, runs: Runs) -> bool:
    """Whether it could be done: windows that are not wanted are multiplied with 0, which is no
    way to leave out an infinite element."""
    groups, outputs = runs.groups, len(out) // runs.groups
    wide = np.zeros((runs.size, groups, outputs, *runs.grid), g.dtype)
    inside = wide[runs.kept]
    right = wide.reshape(runs.size, groups, outputs, -1)[..., : runs.run].swapaxes(2, 3)
    given = g.reshape(len(g), groups, outputs, *g.shape[2:])
    depth = math.prod(out.shape[1:]) // runs.parts
    total = np.zeros((runs.parts, groups, depth, outputs), out.dtype)
    for some, columns in runs.blocks():
        count = len(columns[0])
        inside[:count] = given[some]
        for sums, part in zip(total, columns, strict=True):
            sums += np.matmul(part, right[:count]).sum(axis=0, dtype=out.dtype)
    if not np.isfinite(total).all():
        return False
    found = total.reshape(runs.parts, groups, -1, runs.inner, outputs).transpose(1, 4, 2, 0, 3)
    np.copyto(out.reshape(groups, outputs, -1, runs.parts, runs.inner), found)
    return True
