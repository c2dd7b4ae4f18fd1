"""Convolution of arrays by matrix products of columns.

What is written here is the meaning of the ops and the NumPy device's kernels alike: functions
of the operands that write into an array.

Shapes: x (batch, channels, *sizes), w (outputs, channels / groups, *kernel),
g (batch, outputs, *counts).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..op import Ints
from ..types import Array
from .columns import Joined, blocks, seen, slabs
from .runs import (
    BLOCK,
    FAST,
    NARROW,
    Columns,
    Grid,
    Runs,
    Spread,
    divided,
    evenly,
    in_turn,
    runs_of,
    small,
    staggered,
    tall,
)  # fmt: skip
from .windows import padded, windows_of

Pairs = Sequence[tuple[int, int]]

LONG = 256
"""Windows of an image that are enough for a product by themselves."""

FEW_LINES = 4
"""Rows of columns that are multiplied at a time, at least, where all outputs are."""

SQUARE = 1152
"""Results of a product of columns and cotangents: with more of them a BLAS copies both before it
begins, at 70 % of the speed."""

STRANDS = 8
"""Parts of a sum over columns, for several threads."""

STRANDS_BLOCK = 1 << 20
"""Elements of all parts of the sum together, at most."""


def conv(
    x: Array, w: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int,
    spread: Spread = in_turn,
) -> None:  # fmt: skip
    """out = the cross-correlation of x with w."""
    if not out.size:
        return
    if not w.size:
        out.fill(0)
        return
    # A mirrored kernel is no operand of BLAS.
    w = np.ascontiguousarray(w)
    way, runs = conv_way(x.shape, w.shape, out.shape, strides, padding, dilation, groups)
    if runs is not None:
        _conv_runs(np.ascontiguousarray(x), w, out, runs, spread)
    elif not out.flags.c_contiguous:
        found = np.empty(out.shape, out.dtype)
        conv(x, w, found, strides, padding, dilation, groups, spread)
        np.copyto(out, found)
    elif way == "product":
        _conv_product(x, w, out, groups, spread)
    elif way == "correlate":
        # NumPy conjugates the second one.
        found = np.correlate(padded(x, padding)[0, 0], w[0, 0].conj(), "valid")
        np.copyto(out[0, 0], found)
    else:
        _conv_columns(padded(x, padding), w, out, strides, dilation, groups)


def conv_way(
    x: Ints, w: Ints, out: Ints, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> tuple[str, Runs | None]:
    """How a convolution is computed, by a table of the shapes of operands and result."""
    if 0 in (*out, *w):
        return "fill", None
    kernel = math.prod(w[2:])
    if kernel == 1 and out[2:] == x[2:] and not any(map(any, padding)):
        return "product", None
    if _are_sequences(x, w, strides, dilation):
        return "correlate", None
    outputs, depth = w[0] // groups, w[1] * kernel
    deep = small(tall(outputs, depth), depth) < NARROW
    return _way(runs_of(x, w[2:], strides, _pairs(padding), dilation, out[2:], groups, deep))


def _way(runs: Runs | None) -> tuple[str, Runs | None]:
    return ("columns", None) if runs is None else (runs.text(), runs)


def _pairs(padding: Pairs) -> tuple[tuple[int, int], ...]:
    return tuple((low, high) for low, high in padding)


def _conv_product(x: Array, w: Array, out: Array, groups: int, spread: Spread) -> None:
    """A kernel of one element: a product for each image."""
    outputs, depth, width = len(w) // groups, w.shape[1], math.prod(out.shape[2:])
    rows = tall(outputs, depth)
    left = w.reshape(groups, outputs // rows, rows, depth)
    right = np.ascontiguousarray(x).reshape(len(x), groups, 1, depth, width)
    result = out.reshape(len(x), groups, outputs // rows, rows, width)
    most = small(rows, depth)
    if most < NARROW:
        whole = left.reshape(groups, outputs, depth)
        np.matmul(whole, right[:, :, 0], result.reshape(len(x), groups, outputs, width))
        return
    if most > FAST:
        most -= most % FAST
    blocks = [slice(k, k + most) for k in range(0, width, most)]
    images = evenly(len(x), max(1, BLOCK // (groups * depth * width)))

    def work(parts: Iterator[int]) -> None:
        for k in parts:
            some = slice(k * images, (k + 1) * images)
            for block in blocks:
                np.matmul(left, right[some, ..., block], result[some, ..., block])

    spread(work, -(-len(x) // images))


def _conv_runs(x: Array, w: Array, out: Array, runs: Runs, spread: Spread) -> None:
    groups, outputs = runs.groups, len(w) // runs.groups
    rows = outputs if runs.deep else tall(outputs, runs.depth)
    width = runs.block(rows, runs.depth)
    number, rest = divmod(runs.width, width)
    used, stride = number * width, staggered(runs.width)
    left = w.reshape(groups, outputs // rows, 1, rows, runs.depth)

    def work(parts: Iterator[int]) -> None:
        columns = Columns(runs, x.dtype, stride)
        products = np.empty((len(w), stride), x.dtype)
        grid = Grid(runs, products)
        right = columns.matrix.reshape(groups, 1, 1, runs.depth, stride)
        result = products.reshape(groups, -1, 1, rows, stride)
        last = slice(used, used + rest)
        pairs = [(right[..., last], result[..., last])] if rest else []
        pairs.append((_in_blocks(right[..., :used], width), _in_blocks(result[..., :used], width)))
        for k in parts:
            part = runs.part(k)
            columns.make(x, part)
            for columns_of, products_of in pairs:
                np.matmul(left, columns_of, products_of)
            out[part.first : part.stop, :, part.rows] = grid.of(part)

    runs.spread(work, runs.count, spread)


def _in_blocks(matrix: Array, width: int) -> Array:
    """(*, 1, rows, columns) as blocks of so many columns: (*, blocks, rows, width)."""
    *lead, _, rows, columns = matrix.shape
    return matrix.reshape(*lead, rows, columns // width, width).swapaxes(-3, -2)


def _conv_columns(
    x: Array, w: Array, out: Array, strides: Ints, dilation: Ints, groups: int
) -> None:
    """By columns whose copies follow the windows, of x with its padding."""
    kernel, counts = w.shape[2:], out.shape[2:]
    depth, width = math.prod(w.shape[1:]), math.prod(counts)
    parts = slabs(counts, groups * depth)
    if len(parts) > 1:
        for some in parts:
            found = np.empty((*out.shape[:2], some.stop - some.start, *counts[1:]), out.dtype)
            part = seen(x, some, kernel[0], strides[0], dilation[0])
            _conv_columns(part, w, found, strides, dilation, groups)
            out[:, :, some] = found
        return
    left = w.reshape(groups, -1, depth)
    if width >= LONG and groups == 1:
        result = out.reshape(len(x), groups, -1, width)
        for some, columns in blocks(windows_of(x, kernel, strides, dilation, counts)):
            np.matmul(left, columns.reshape(len(columns), groups, depth, width), result[some])
        return
    result = out.reshape(len(x), groups, -1, width)
    joined = Joined(x, kernel, strides, dilation, counts)
    for some, columns in joined.blocks():
        products = np.matmul(left, columns.reshape(groups, depth, -1))
        target = joined.apart(result[some])
        target[...] = products.reshape(target.shape)


def _are_sequences(x: Ints, y: Ints, strides: Ints, dilation: Ints) -> bool:
    """Whether both are one row, of which no columns need to be made."""
    one = tuple(x[:2]) == tuple(y[:2]) == (1, 1)
    return one and tuple(strides) == tuple(dilation) == (1,)


def conv_weights(
    x: Array, g: Array, out: Array, strides: Ints, padding: Pairs, dilation: Ints, groups: int,
    spread: Spread = in_turn,
) -> None:  # fmt: skip
    """out = the transpose, in w, of `conv`, applied to g."""
    if not out.size:
        return
    if not g.size:
        out.fill(0)
        return
    way, runs = weights_way(x.shape, g.shape, out.shape, strides, padding, dilation, groups)
    if runs is not None and _weights_runs(np.ascontiguousarray(x), g, out, runs, spread):
        return
    if way == "correlate":
        found = np.correlate(padded(x, padding)[0, 0], g[0, 0].conj(), "valid")
        np.copyto(out[0, 0], found)
        return
    _weights_columns(padded(x, padding), g, out, strides, dilation, groups)


def weights_way(
    x: Ints, g: Ints, out: Ints, strides: Ints, padding: Pairs, dilation: Ints, groups: int
) -> tuple[str, Runs | None]:
    """As `conv_way`, for `conv_weights`."""
    if 0 in (*out, *g):
        return "fill", None
    if _are_sequences(x, g, strides, dilation):
        return "correlate", None
    outputs, depth = out[0] // groups, math.prod(out[1:])
    deep = small(_lines(depth, outputs), outputs) < NARROW
    return _way(runs_of(x, out[2:], strides, _pairs(padding), dilation, g[2:], groups, deep))


def _lines(depth: int, outputs: int) -> int:
    return divided(depth, max(FEW_LINES, SQUARE // outputs))


def _weights_columns(
    x: Array, g: Array, out: Array, strides: Ints, dilation: Ints, groups: int
) -> None:
    kernel, counts = out.shape[2:], g.shape[2:]
    parts = slabs(counts, groups * math.prod(out.shape[1:]))
    if len(parts) > 1:
        found = np.empty_like(out)
        out.fill(0)
        for some in parts:
            part = seen(x, some, kernel[0], strides[0], dilation[0])
            _weights_columns(part, g[:, :, some], found, strides, dilation, groups)
            out += found
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


def _weights_runs(x: Array, g: Array, out: Array, runs: Runs, spread: Spread) -> bool:
    """Whether it could be done: windows that are not wanted are multiplied with 0, which is no
    way to leave out an infinite element."""
    groups, outputs, depth = runs.groups, len(out) // runs.groups, runs.depth
    lines = depth if runs.deep else _lines(depth, outputs)
    number, width = runs.stretches(lines, outputs)
    used = number * width
    # The strands into which the sum is divided depend on shapes only.
    strands = max(1, min(runs.count, STRANDS, STRANDS_BLOCK // out.size))
    totals = np.zeros((strands, groups, depth // lines, lines, outputs), out.dtype)

    def work(numbers: Iterator[int]) -> None:
        columns = Columns(runs, x.dtype, staggered(used))
        wide = np.zeros((len(out), staggered(used)), g.dtype)
        grid = Grid(runs, wide)
        left = columns.matrix[:, :used].reshape(groups, -1, lines, number, width)
        right = wide[:, :used].reshape(groups, 1, outputs, number, width)
        left, right = left.transpose(3, 0, 1, 2, 4), right.transpose(3, 0, 1, 4, 2)
        sums = np.empty((number, *totals.shape[1:]), out.dtype)
        some = np.empty(totals.shape[1:], out.dtype)
        kind = None
        for n in numbers:
            for k in range(n * runs.count // strands, (n + 1) * runs.count // strands):
                part = runs.part(k)
                columns.make(x, part)
                wanted = grid.of(part)
                if kind != wanted.shape:
                    wide.fill(0)
                    kind = wanted.shape
                np.copyto(wanted, g[part.first : part.stop, :, part.rows])
                np.matmul(left, right, sums)
                totals[n] += np.add.reduce(sums, 0, out.dtype, out=some) if number > 1 else sums[0]

    runs.spread(work, strands, spread)
    found = np.add.reduce(totals, 0, out.dtype)
    if not np.isfinite(found).all():
        return False
    np.copyto(
        out.reshape(groups, outputs, depth), found.reshape(groups, depth, outputs).swapaxes(1, 2)
    )
    return True
