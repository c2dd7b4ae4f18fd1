"""Ops of neural networks whose stable value or gradient is not that of a composite.

Each but relu has an expansion, which is what a device without a kernel for it runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Size
from ..errors import DTypeError, ExecutionError, ShapeError
from ..op import OPS, Ints, Operand, op
from ..shapes import normalize_axis, same_shape
from ..types import FLOATING, INTEGER, REAL, WIDENED, Array, TensorType
from . import elementwise as e
from .checks import check_axes, check_kind
from .pointwise import pointwise, same, select
from .reduce import max_, reduced, sum_
from .shape import batch_size, moved_axis, reshape, with_batch
from .take import one_hot, take_along_axis

# ------------------------------------------------------------------ activations


def _relu(x: Array) -> Array:
    return np.maximum(x, np.zeros((), x.dtype))


@pointwise(
    numpy=_relu,
    expr="({x} <= 0 ? 0 : {x})",
    grad=lambda x, out, g: (select(e.less_equal(x, x.coerce(0)), g.coerce(0), g),),
    widen=False,
)
def relu(x: Operand) -> TensorType:
    """x where it is above 0, else 0; NaN stays NaN.  The derivative at 0 is 0."""
    return same(REAL, x)


# Beyond this gelu is x or 0 in every dtype, and the powers of x are within that of float16.
_FAR = 40.0


def _gelu_expansion(x: Any, *, approximate: bool) -> Any:
    near = e.clip(x, x.coerce(-_FAR), x.coerce(_FAR))
    if approximate:
        cubic = e.add(near, e.multiply(e.multiply(e.square(near), near), x.coerce(0.044715)))
        # (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh is near -1.
        share = e.sigmoid(e.multiply(cubic, x.coerce(2 * math.sqrt(2.0 / math.pi))))
    else:
        # erfc keeps its digits where 1 + erf has lost them.
        share = e.multiply(e.erfc(e.multiply(near, x.coerce(-math.sqrt(0.5)))), x.coerce(0.5))
    return e.multiply_no_nan(x, share)


def _gelu(x: Array, *, approximate: bool) -> Array:
    near = np.clip(x, -_FAR, _FAR)
    if approximate:
        cubic = near + x.dtype.type(0.044715) * (near * near * near)
        share: Array = _numpy("sigmoid")(x.dtype.type(2 * math.sqrt(2.0 / math.pi)) * cubic)
    else:
        share = _numpy("erfc")(near * x.dtype.type(-math.sqrt(0.5))) * x.dtype.type(0.5)
    result: Array = _numpy("multiply_no_nan")(x, share)
    return result


def _numpy(name: str) -> Any:
    """The meaning of another op."""
    return OPS[name].numpy


@op(
    numpy=_gelu,
    expand=_gelu_expansion,
    grad="expand",
    batch="elementwise",
    widen=True,
)
def gelu(x: Operand, *, approximate: bool = False) -> TensorType:
    """x times the normal distribution's share below x (Hendrycks and Gimpel 2016).

    approximate: the tanh form, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
    """
    return same(FLOATING, x)


# ------------------------------------------------------------------ softmax


def _shifted(x: Array, axis: int) -> Array:
    x = np.asarray(x, order="C")
    shifted: Array = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted


def _softmax(x: Array, *, axis: int) -> Array:
    out = np.exp(_shifted(x, axis))
    out /= np.sum(out, axis=axis, keepdims=True)
    return out


def _log_softmax(x: Array, *, axis: int) -> Array:
    out = _shifted(x, axis)
    out -= np.log(np.sum(np.exp(out), axis=axis, keepdims=True))
    return out


def _floating_on(x: Operand, axis: int) -> TensorType:
    check_kind(FLOATING, x)
    check_axes((normalize_axis(axis, x.ndim),), x.ndim)
    return x


def _shifted_expansion(x: Any, axis: int) -> Any:
    return e.subtract(x, max_(x, axis=(axis,), keepdims=True))


def _softmax_expansion(x: Any, *, axis: int) -> Any:
    if x.type.shape[axis] == 0:
        return OPS["identity"](x)
    powers = e.exp(_shifted_expansion(x, axis))
    return e.divide(powers, sum_(powers, axis=(axis,), keepdims=True))


def _log_softmax_expansion(x: Any, *, axis: int) -> Any:
    if x.type.shape[axis] == 0:
        return OPS["identity"](x)
    shifted = _shifted_expansion(x, axis)
    return e.subtract(shifted, e.log(sum_(e.exp(shifted), axis=(axis,), keepdims=True)))


def _softmax_change(out: Any, change: Any, axis: int) -> Any:
    """The product of softmax's Jacobian, which is symmetric, with a tangent or cotangent."""
    weighted = sum_(e.multiply_no_nan(out, change), axis=(axis,), keepdims=True)
    return e.multiply_no_nan(out, e.subtract(change, weighted))


@op(
    numpy=_softmax,
    expand=_softmax_expansion,
    grad=lambda x, out, g, *, axis: (_softmax_change(out, g, axis),),
    jvp=lambda x, out, tangents, *, axis: _softmax_change(out, tangents[0], axis),
    batch=lambda x, batched, *, axis: OPS["softmax"](x, axis=axis + 1),
    widen=True,
)
def softmax(x: Operand, *, axis: int) -> TensorType:
    """exp(x) over its sum along `axis`; where all of x is -inf: NaN."""
    return _floating_on(x, axis)


@op(
    numpy=_log_softmax,
    expand=_log_softmax_expansion,
    grad=lambda x, out, g, *, axis: (
        e.subtract(g, e.multiply(e.exp(out), sum_(g, axis=(axis,), keepdims=True))),
    ),
    jvp=lambda x, out, tangents, *, axis: e.subtract(
        tangents[0],
        sum_(e.multiply_no_nan(e.exp(out), tangents[0]), axis=(axis,), keepdims=True),
    ),
    batch=lambda x, batched, *, axis: OPS["log_softmax"](x, axis=axis + 1),
    widen=True,
)
def log_softmax(x: Operand, *, axis: int) -> TensorType:
    """The logarithm of softmax along `axis`, without overflow; where all of x is -inf: NaN."""
    return _floating_on(x, axis)


# ------------------------------------------------------------------ cross entropy


def _cross_entropy(logits: Array, labels: Array, *, axis: int) -> tuple[Array, Array]:
    classes = logits.shape[axis]
    outside = (labels < 0) | (labels >= classes)
    if outside.any():
        raise ExecutionError(
            "a label names no class",
            expected=f"labels from 0 to {classes - 1}",
            found=str(labels[outside].flat[0]),
        )
    logs = _log_softmax(logits, axis=axis)
    places = np.expand_dims(labels.astype(np.int64), axis)
    return -np.squeeze(np.take_along_axis(logs, places, axis), axis), logs


def _cross_entropy_expansion(logits: Any, labels: Any, *, axis: int) -> tuple[Any, Any]:
    logs = _log_softmax_expansion(logits, axis=axis)
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
    weighted = e.multiply_no_nan(e.exp(out[1]), tangents[0])
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
    _floating_on(logits, axis)
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


# ------------------------------------------------------------------ normalisation


def _mean(x: Any, axis: Ints) -> Any:
    """The mean along axes that stay, with size 1."""
    count = OPS["size_of"](x, axis=axis, dtype=x.type.dtype)
    return e.divide(sum_(x, axis=axis, keepdims=True), count)


def _normalize(x: Array, *, axis: Ints, epsilon: float) -> tuple[Array, Array]:
    x = np.asarray(x, order="C")
    count = x.dtype.type(math.prod(x.shape[a] for a in axis))
    distance = x - np.sum(x, axis=axis, keepdims=True) / count
    variance = np.sum(distance * distance, axis=axis, keepdims=True) / count
    scale = 1 / np.sqrt(variance + x.dtype.type(epsilon))
    return distance * scale, scale


def _normalize_expansion(x: Any, *, axis: Ints, epsilon: float) -> tuple[Any, Any]:
    distance = e.subtract(x, _mean(x, axis))
    variance = _mean(e.square(distance), axis)
    scale = e.reciprocal(e.sqrt(e.add(variance, x.coerce(epsilon))))
    return e.multiply(distance, scale), scale


def _normalize_change(out: tuple[Any, Any], change: Any, axis: Ints) -> Any:
    """The product of the Jacobian, which is symmetric, with a tangent or cotangent."""
    along = e.multiply(out[0], _mean(e.multiply(change, out[0]), axis))
    centred = e.subtract(e.subtract(change, _mean(change, axis)), along)
    return e.multiply(centred, out[1])


def _scale_slope(x: Any, out: tuple[Any, Any], axis: Ints) -> Any:
    """d scale / dx: -scale^2 times the normalised x, over the number of elements."""
    count = OPS["size_of"](x, axis=axis, dtype=out[1].type.dtype)
    return e.negative(e.divide(e.multiply(e.square(out[1]), out[0]), count))


def _wide(x: Any) -> Any:
    """A half float as float32: sums of many, and squares, leave its range."""
    return None if x is None else x.astype(WIDENED.get(x.type.dtype, x.type.dtype))


def _grad_normalize(x: Any, out: tuple[Any, Any], g: tuple[Any, Any], *, axis: Ints) -> tuple[Any]:
    out, g = (_wide(out[0]), _wide(out[1])), (_wide(g[0]), _wide(g[1]))
    change = None if g[0] is None else _normalize_change(out, g[0], axis)
    if g[1] is not None:
        through = e.multiply(_scale_slope(x, out, axis), g[1])
        change = through if change is None else e.add(change, through)
    return (change if change is None else change.astype(x.type.dtype),)


def _jvp_normalize(
    x: Any, out: tuple[Any, Any], tangents: Sequence[Any], *, axis: Ints
) -> tuple[Any, Any]:
    out, tangent = (_wide(out[0]), _wide(out[1])), _wide(tangents[0])
    slope = e.multiply(_scale_slope(x, out, axis), tangent)
    both = _normalize_change(out, tangent, axis), sum_(slope, axis=axis, keepdims=True)
    return both[0].astype(x.type.dtype), both[1].astype(x.type.dtype)


@op(
    numpy=_normalize,
    expand=_normalize_expansion,
    grad=_grad_normalize,
    jvp=_jvp_normalize,
    batch=lambda x, batched, *, axis, epsilon: OPS["normalize"](
        x, axis=tuple(a + 1 for a in axis), epsilon=epsilon
    ),
    widen=True,
)
def normalize(x: Operand, *, axis: Ints, epsilon: float) -> tuple[TensorType, TensorType]:
    """(x with mean 0 and variance 1 along axes, 1 / sqrt(variance + epsilon)).

    The second output has size 1 on those axes.  This is what layer norm scales and shifts.
    """
    check_kind(FLOATING, x)
    return x, reduced(x, axis, True)
