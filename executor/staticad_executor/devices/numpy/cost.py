"""What calls take, about, from a table, the same on every machine: whether threads pay for it, and
what is cheaper to compute again.

A second thread begins some 40 µs after it is asked to, waits for the interpreter's lock, and the
first waits as long for it in the end.  Measured on two cores that were idle: what takes one thread
less than 0.35 to 0.4 ms takes two threads longer, up to three times as long.
"""

from __future__ import annotations

from collections.abc import Sequence

from staticad_schema.types import TensorType

from ...work import FLOPS, SPECIAL, count

PARALLEL_SECONDS = 4e-4
"""What takes longer is shared by threads."""

# Nanoseconds for an element of four bytes, in the cache, and for several passes all of them.
_PLAIN, _SPECIAL, _BY_MEANING = 0.12, 0.5, 5.0
_PASSES = {
    "cross_entropy": 2.0, "log_softmax": 1.6, "logsumexp": 1.2, "max_pool": 2.0, "normalize": 0.9,
    "random_bits": 3.0, "sigmoid": 1.1, "softmax": 1.6, "unpool": 1.5, "window_spread": 1.0,
    "window_sum": 1.0,
}  # fmt: skip
# A convolution on one core, its columns included; a product takes less.
_FLOPS_A_SECOND = 6e10


def nanoseconds(op: str, native: bool = True) -> float:
    """For an element of four bytes; native: whether there is a kernel for it."""
    if not native:
        return _BY_MEANING
    return _PASSES.get(op, _SPECIAL if op in SPECIAL else _PLAIN)


def seconds(op: str, operands: Sequence[TensorType], outputs: Sequence[TensorType]) -> float:
    """For a kernel of these static types, in one thread."""
    if op in FLOPS:
        return FLOPS[op](operands, outputs) / _FLOPS_A_SECOND
    words = max(count(t) * t.dtype.itemsize / 4 for t in (*operands, *outputs))
    return words * nanoseconds(op) * 1e-9
