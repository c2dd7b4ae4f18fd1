"""The memory that kernels take for themselves while they run, beyond operands and outputs.

It is not in the arena of a plan: NumPy allocates and frees it inside of a call.  What stands here
is an estimate from types; a test holds it against what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from staticad_schema.op import OPS
from staticad_schema.ops import pools
from staticad_schema.ops.blocks import blocks, summed_axes
from staticad_schema.ops.columns import BLOCK
from staticad_schema.ops.contract import turns
from staticad_schema.ops.correlation import conv_way, weights_way
from staticad_schema.types import WIDENED, TensorType, nbytes

from ...work import count

Types = Sequence[TensorType]
Estimate = Callable[[Mapping[str, Any], Types, Types], float]


def _bytes(types: Types) -> int:
    return sum(map(nbytes, types))


def _times(given: float, made: float) -> Estimate:
    """So many times the bytes of operands and of outputs."""
    return lambda attributes, operands, outputs: given * _bytes(operands) + made * _bytes(outputs)


def _of_first(factor: float) -> Estimate:
    return lambda attributes, operands, outputs: factor * nbytes(operands[0])


def _random_bits(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    # Words of 64 bits are made of halves, all of which there are before.
    return (3 if outputs[0].dtype.itemsize == 8 else 1.25) * nbytes(outputs[0])


def _transform(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    """A transform in double precision, of a copy in it, rounded at the end."""
    wide = 16 * max(count(operands[0]), count(outputs[0]))
    rounded = outputs[0].dtype.itemsize < (16 if outputs[0].kind == "complex" else 8)
    return (2 * wide if rounded else wide) + nbytes(outputs[0])


def _ordered(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    """Places of 64 bits, and what is read there."""
    return 8 * count(operands[0]) + nbytes(operands[0]) / 2


def _placed(each: int) -> Estimate:
    """The result, and so many bytes for each place that is added to."""
    return lambda attributes, operands, outputs: (
        _bytes(outputs) + each * max(map(count, operands[2:]), default=0)
    )


def _convolution(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    """Columns of a part and what they are made of, for each of two threads; where they are made
    window by window, a padded copy of the first operand and columns of a part of it."""
    if not all(map(count, (*operands, *outputs))):
        return 0
    given = {k: v for k, v in attributes.items() if k != "shape"}
    shapes: Any = [t.shape for t in (*operands, *outputs)]
    item = operands[0].dtype.itemsize
    kept = 0
    if len(attributes) == len(given):
        way, runs = conv_way(*shapes, **given)
    else:
        kept = 8 * nbytes(outputs[0])
        way, runs = weights_way(*shapes, **given)
    if runs is not None:
        lines = runs.lines + shapes[2 if kept == 0 else 1][1]
        elements = lines * runs.width + runs.combinations * runs.shape[1] * runs.length
        return kept + float(min(2, runs.count) * item * elements)
    if way != "columns":
        return 0
    copied = nbytes(operands[0]) if any(map(any, attributes["padding"])) else 0
    return kept + copied + _columns(operands, outputs)


def _columns(operands: Types, outputs: Types) -> float:
    block = 1.5 * BLOCK * operands[0].dtype.itemsize
    return min(block, 3 * _bytes(operands) + 3 * _bytes(outputs))


def _convolution_input(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    """A part of the result, for the phases of strides, and columns."""
    apart = max(attributes["strides"], default=1) > 1
    return (nbytes(outputs[0]) if apart else 0) + _columns(operands, outputs)


def _maps(each: int) -> Estimate:
    """So many bytes for each element of a block, or of an image if that is larger, for each of
    two threads; not more than for all elements."""

    def estimate(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
        block = pools.BLOCK
        sizes = []
        for t in (operands[0], outputs[0]):
            shape: Any = t.shape
            block = max(block, math.prod(shape[2:]))
            sizes.append(count(t))
        return each * min(2 * block, max(sizes))

    return estimate


def _added_rows(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    """What is touched, twice, beside the updates, and once more, and about 40 bytes for each place;
    the result in another order of axes."""
    table, updates = map(nbytes, operands[:2])
    axes = attributes["axes"]
    turned = 0 if axes == tuple(range(len(axes))) else table
    places = max(map(count, operands[2:]), default=0)
    return turned + updates + 3 * min(table, updates) + 40 * places


def _product_with_transpose(
    attributes: Mapping[str, Any], operands: Types, outputs: Types
) -> float:
    a, b = operands
    rows = count(a) // max(1, int(a.shape[-1]))
    return nbytes(outputs[0]) if turns(rows, count(b)) else 0


def _sums_of_blocks(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    shape: Any = operands[0].shape
    want: Any = attributes.get("shape")
    parts = blocks(shape, attributes["axis"] if want is None else summed_axes(shape, want))
    return 0 if parts is None else parts.number * parts.block.width * operands[0].dtype.itemsize


_KERNELS: dict[str, Estimate] = {
    "conv": _convolution,
    "conv_input": _convolution_input,
    "conv_weights": _convolution,
    "cross_entropy": _of_first(1),
    "log_softmax": _of_first(1),
    "matmul_transposed": _product_with_transpose,
    "normalize": _of_first(1),
    "max_pool": _maps(16),
    "scatter_add": _added_rows,
    "sum": _sums_of_blocks,
    "sum_to": _sums_of_blocks,
    "unpool": _maps(32),
    "window_sum": _maps(64),
    "window_spread": _maps(64),
}
"""For ops with a kernel of their own; of the others it takes nothing to speak of."""

_MEANINGS: dict[str, Estimate] = {
    "det": _of_first(3.3),
    "eigh": _times(3, 2),
    "fft": _transform,
    "gammaln": _of_first(6.25),
    "irfft": _transform,
    "logsumexp": _of_first(2),
    "lu": _times(1.2, 1),
    "norm": _of_first(1),
    "qr": _times(3.5, 1.75),
    "polygamma": _of_first(5),
    "random_bits": _random_bits,
    "rfft": _transform,
    "scatter_add": _placed(24),
    "sort": _times(0.25, 1),
    "svd": _times(3, 1.5),
    "top_k": _ordered,
}
"""For ops that run by their meaning: its results, if nothing else is said, are copied."""


def temporary_bytes(
    op: str, attributes: Mapping[str, Any], operands: Types, outputs: Types, meaning: bool
) -> int:
    """The bytes that the kernel of a node takes beyond its operands and outputs.

    meaning: whether it is the op's meaning, and not a kernel of the device.
    """
    if not meaning:
        own = _KERNELS.get(op)
        return int(own(attributes, operands, outputs)) if own is not None else 0
    estimate = _MEANINGS.get(op) or _times(0, 1)
    if not (OPS[op].widen and any(t.dtype in WIDENED for t in operands)):
        return int(estimate(attributes, operands, outputs))
    # Copies of twice the width, the result, and the result rounded.
    return int(2 * estimate(attributes, operands, outputs) + 2 * _bytes(operands) + _bytes(outputs))
