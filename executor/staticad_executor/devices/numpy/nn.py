"""Kernels of the ops of neural networks, with as few passes and temporaries as their meaning
allows; equal to it bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_schema.ops.normalization import in_range
from staticad_schema.types import Array, TensorType

from .extrema import maximum_of_rows
from .meaning import meaning

Function = Callable[..., Any]
# NumPy's stubs do not know `out` and `keepdims` by position, which is the fastest way.
_sum: Any = np.add.reduce


def _maximum(x: Array, axis: int) -> Array:
    """The maximum along an axis, which stays with size 1; -inf where it is empty."""
    size = x.shape[axis]
    if axis in (-1, x.ndim - 1) and size and x.size > 4 * size:
        return maximum_of_rows(x)
    return np.asarray(np.maximum.reduce(x, axis, keepdims=True, initial=-np.inf))


def softmax(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """exp(x - max) over its sum."""
    axis = attributes["axis"]

    def run(x: Array, out: Array) -> None:
        np.subtract(x, _maximum(x, axis), out)
        np.exp(out, out)
        np.divide(out, _sum(out, axis, keepdims=True), out)

    return run


def _log_softmax_into(x: Array, out: Array, axis: int, spare: Array | None) -> None:
    np.subtract(x, _maximum(x, axis), out)
    total = _sum(np.exp(out, spare), axis, keepdims=True)
    np.subtract(out, np.log(total, total), out)


def log_softmax(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """x - max - log of the sum of its exponentials."""
    axis = attributes["axis"]

    def run(x: Array, out: Array, spare: Array | None = None) -> None:
        _log_softmax_into(x, out, axis, spare)

    return run


def cross_entropy(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """Minus the log_softmax at the labels, and the log_softmax."""
    axis = attributes["axis"]
    shape: Any = operands[0].shape
    classes = shape[axis]
    # For layouts without a kernel, and for its errors.
    by_meaning = meaning("cross_entropy", attributes, [operands[0]] * 2)
    if axis not in (-1, len(shape) - 1) or not classes:
        return by_meaning
    unsigned = np.dtype(f"u{operands[1].dtype.itemsize}")

    def run(
        logits: Array, labels: Array, losses: Array, logs: Array, spare: Array | None = None
    ) -> None:
        # Read as unsigned, a negative label is larger than any class.
        if not labels.size or np.maximum.reduce(labels.view(unsigned), None) >= classes:
            by_meaning(logits, labels, losses, logs)
            return
        _log_softmax_into(logits, logs, axis, spare)
        # Where each row begins in the flattened logits.
        rows = np.arange(0, logits.size, classes).reshape(labels.shape)
        places = np.add(rows, labels.astype(np.int64, copy=False))
        np.negative(logs.reshape(-1).take(places), losses)

    return run


def normalize(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """x with mean 0 and variance 1, and the scale."""
    axis, x_type = attributes["axis"], operands[0]
    count = x_type.dtype.type(math.prod(x_type.shape[a] for a in axis))
    epsilon = x_type.dtype.type(attributes["epsilon"])
    center = attributes["center"]
    by_meaning = meaning("normalize", attributes, [x_type] * 2)

    def run(x: Array, out: Array, scale: Array, spare: Array | None = None) -> None:
        distance = x
        if center:
            _sum(x, axis, None, scale, True)
            np.divide(scale, count, scale)
            distance = np.subtract(x, scale, out)
        _sum(np.multiply(distance, distance, spare), axis, None, scale, True)
        np.divide(scale, count, scale)
        np.add(scale, epsilon, scale)
        if not in_range(scale).all():
            by_meaning(x, out, scale)
            return
        np.sqrt(scale, scale)
        np.divide(1, scale, scale)
        np.multiply(distance, scale, out)

    return run


def logsumexp(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """The logarithm of the sum of exponentials."""
    axis, keepdims = attributes["axis"], attributes["keepdims"]

    def run(x: Array, out: Array, spare: Array | None = None) -> None:
        top = np.maximum.reduce(x, axis, keepdims=True, initial=-np.inf)
        top[~np.isfinite(top)] = 0
        powers = np.subtract(x, top, spare)
        total = _sum(np.exp(powers, powers), axis, keepdims=True)
        np.add(np.log(total, total), top, total)
        np.copyto(out, total if keepdims else total.reshape(out.shape))

    return run


MAKERS: dict[str, Callable[[Mapping[str, Any], Sequence[TensorType]], Function]] = {
    "softmax": softmax,
    "log_softmax": log_softmax,
    "cross_entropy": cross_entropy,
    "normalize": normalize,
    "logsumexp": logsumexp,
}
"""For each op what makes its kernel; operands have to be contiguous."""
