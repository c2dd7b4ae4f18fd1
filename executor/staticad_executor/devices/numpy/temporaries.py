"""The memory that kernels take for themselves while they run, beyond operands and outputs.

It is not in the arena of a plan: NumPy allocates and frees it inside of a call.  What stands here
is an estimate from types; a test holds it against what is measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from staticad_schema.op import OPS
from staticad_schema.ops.columns import BLOCK
from staticad_schema.types import WIDENED, TensorType, nbytes

Types = Sequence[TensorType]
Estimate = Callable[[Mapping[str, Any], Types, Types], float]


def _bytes(types: Types) -> int:
    return sum(map(nbytes, types))


def _elements(type_: TensorType) -> int:
    return math.prod(map(int, type_.shape))


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
    wide = 16 * max(_elements(operands[0]), _elements(outputs[0]))
    rounded = outputs[0].dtype.itemsize < (16 if outputs[0].kind == "complex" else 8)
    return (2 * wide if rounded else wide) + nbytes(outputs[0])


def _ordered(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
    """Places of 64 bits, and what is read there."""
    return 8 * _elements(operands[0]) + nbytes(operands[0]) / 2


def _placed(each: int) -> Estimate:
    """The result, and so many bytes for each place that is added to."""
    return lambda attributes, operands, outputs: (
        _bytes(outputs) + each * max(map(_elements, operands[2:]), default=0)
    )


def _columns(image: int) -> Estimate:
    """A padded copy of the operand that windows move over, and columns of a part of it."""

    def estimate(attributes: Mapping[str, Any], operands: Types, outputs: Types) -> float:
        block = 1.5 * BLOCK * operands[0].dtype.itemsize
        padding = attributes.get("padding", ())
        copied = nbytes(operands[image]) if any(map(any, padding)) else 0
        return copied + min(block, 3 * _bytes(operands) + 3 * _bytes(outputs))

    return estimate


_KERNELS: dict[str, Estimate] = {
    "conv": _columns(0),
    "conv_input": _columns(0),
    "conv_weights": _columns(0),
    "cross_entropy": _of_first(1),
    "log_softmax": _of_first(1),
    "normalize": _of_first(1),
    "max_pool": _times(0.5, 0),
    "scatter_add": _placed(24),
    "unpool": _times(0, 3),
    "window_sum": _times(2, 1),
    "window_spread": _times(2, 0),
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
