"""Losses whose stable value or gradient is not that of a composite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Size
from ..errors import DTypeError, ExecutionError, ShapeError
from ..op import OPS, Operand, op
from ..shapes import same_shape
from ..types import INTEGER, Array, TensorType
from . import elementwise as e
from .pointwise import pushed
from .reduce import sum_
from .shape import batch_size, moved_axis, reshape, with_batch
from .softmax import floating_on, log_softmax_expansion, log_softmax_meaning
from .take import one_hot, take_along_axis


def _cross_entropy(logits: Array, labels: Array, *, axis: int) -> tuple[Array, Array]:
    classes = logits.shape[axis]
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        raise ExecutionError(
            "a label names no class",
            expected=f"labels from 0 to {classes - 1}",
            found=str(labels[outside].flat[0]),
        )
    logs = log_softmax_meaning(logits, axis=axis)
    places = np.expand_dims(labels.astype(np.int64), axis)
    return -np.squeeze(np.take_along_axis(logs, places, axis), axis), logs


def _cross_entropy_expansion(logits: Any, labels: Any, *, axis: int) -> tuple[Any, Any]:
    logs = log_softmax_expansion(logits, axis=axis)
    places = OPS["cast"](labels, dtype=np.dtype(np.int64))
    # A negative label would count from the end; it is made one that is out of range.
    size = OPS["size_of"](logits, axis=(axis,), dtype=np.dtype(np.int64))
    places = OPS["where"](e.less(places, places.coerce(0)), size, places)
    shape = _with_axis(labels.type.shape, axis)
    picked = take_along_axis(logs, reshape(places, shape=shape), axis=axis)
    return e.negative(reshape(picked, shape=labels.type.shape)), logs


def _with_axis(shape: tuple[Size, ...], axis: int) -> tuple[Size, ...]:
    return (*shape[:axis], 1, *shape[axis:])


def _indicator(logits: Any, labels: Any, axis: int) -> Any:
    """1 at the label, 0 at the other classes."""
    depth = logits.type.shape[axis]
    hot = one_hot(labels, depth=depth, dtype=logits.type.dtype)
    return moved_axis(hot, logits.type.ndim - 1, axis)


def _grad_cross_entropy(
    logits: Any, labels: Any, out: tuple[Any, Any], g: tuple[Any, Any], *, axis: int
) -> tuple[Any, None]:
    change = None
    if g[0] is not None:
        spread = reshape(g[0], shape=_with_axis(labels.type.shape, axis))
        error = e.subtract(e.exp(out[1]), _indicator(logits, labels, axis))
        change = e.multiply_no_nan(error, spread)
    if g[1] is not None:
        total = sum_(g[1], axis=(axis,), keepdims=True)
        through_logs = e.subtract(g[1], e.multiply(e.exp(out[1]), total))
        change = through_logs if change is None else e.add(change, through_logs)
    return change, None


def _jvp_cross_entropy(
    logits: Any, labels: Any, out: tuple[Any, Any], tangents: Sequence[Any], *, axis: int
) -> tuple[Any, Any]:
    weighted = pushed(e.exp(out[1]), tangents[0])
    logs = e.subtract(tangents[0], sum_(weighted, axis=(axis,), keepdims=True))
    picked = e.multiply_no_nan(logs, _indicator(logits, labels, axis))
    return e.negative(sum_(picked, axis=(axis,), keepdims=False)), logs


def _batch_cross_entropy(
    logits: Any, labels: Any, batched: Sequence[bool], *, axis: int
) -> tuple[Any, ...]:
    size = batch_size((logits, labels), batched)
    result: tuple[Any, ...] = cross_entropy(
        with_batch(logits, batched[0], size), with_batch(labels, batched[1], size), axis=axis + 1
    )
    return result


@op(
    numpy=_cross_entropy,
    expand=_cross_entropy_expansion,
    grad=_grad_cross_entropy,
    jvp=_jvp_cross_entropy,
    batch=_batch_cross_entropy,
    widen=True,
)
def cross_entropy(logits: Operand, labels: Operand, *, axis: int) -> tuple[TensorType, TensorType]:
    """(-log softmax(logits) at the labels, log softmax(logits)) along `axis`.

    labels: integers of the shape of logits without `axis`; others than 0 to size - 1 fail.
    """
    floating_on(logits, axis)
    if labels.kind not in INTEGER:
        raise DTypeError("labels are not integers", expected="an integer dtype", found=str(labels))
    rest = logits.shape[:axis] + logits.shape[axis + 1 :]
    if same_shape(rest, labels.shape) is False:
        raise ShapeError(
            "labels do not fit the logits",
            expected=str(labels.with_shape(rest)),
            found=str(labels),
        )
    return logits.with_shape(rest), logits
