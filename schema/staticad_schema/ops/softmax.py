"""Softmax, its logarithm, and softmax of what a mask leaves: exponentials that cannot overflow,
over their sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import DTypeError
from ..op import OPS, Operand, op
from ..shapes import broadcast_shapes, normalize_axis
from ..types import BOOL, FLOATING, Array, TensorType
from . import elementwise as e
from .checks import check_axes, check_kind
from .pointwise import pushed, select
from .reduce import max_, sum_
from .shape import aligned, broadcast_to, one_axis_on


def _shifted(x: Array, axis: int) -> Array:
    x = np.asarray(x, order="C")
    shifted: Array = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    return shifted


def _softmax(x: Array, *, axis: int) -> Array:
    out = np.exp(_shifted(x, axis))
    out /= np.sum(out, axis=axis, keepdims=True)
    return out


def log_softmax_meaning(x: Array, *, axis: int) -> Array:
    """x - max - log(sum(exp(x - max)))."""
    out = _shifted(x, axis)
    out -= np.log(np.sum(np.exp(out), axis=axis, keepdims=True))
    return out


def floating_on(x: Operand, axis: int) -> TensorType:
    """x itself.  Raises DTypeError unless it is floating, ShapeError for an axis it lacks."""
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


def log_softmax_expansion(x: Any, *, axis: int) -> Any:
    """log_softmax in other ops."""
    if x.type.shape[axis] == 0:
        return OPS["identity"](x)
    shifted = _shifted_expansion(x, axis)
    return e.subtract(shifted, e.log(sum_(e.exp(shifted), axis=(axis,), keepdims=True)))


def softmax_change(
    out: Any, change: Any, axis: int, product: Callable[..., Any] = e.multiply_no_nan
) -> Any:
    """The product of softmax's Jacobian, which is symmetric, with a cotangent; with a tangent,
    if `pushed` makes the products."""
    weighted = sum_(product(out, change), axis=(axis,), keepdims=True)
    return product(out, e.subtract(change, weighted))


@op(
    numpy=_softmax,
    expand=_softmax_expansion,
    grad=lambda x, out, g, *, axis: (softmax_change(out, g, axis),),
    jvp=lambda x, out, tangents, *, axis: softmax_change(out, tangents[0], axis, pushed),
    batch=one_axis_on("softmax"),
    widen=True,
)
def softmax(x: Operand, *, axis: int) -> TensorType:
    """exp(x) over its sum along `axis`; where all of x is -inf: NaN."""
    return floating_on(x, axis)


@op(
    numpy=log_softmax_meaning,
    expand=log_softmax_expansion,
    grad=lambda x, out, g, *, axis: (
        e.subtract(g, e.multiply(e.exp(out), sum_(g, axis=(axis,), keepdims=True))),
    ),
    jvp=lambda x, out, tangents, *, axis: e.subtract(
        tangents[0],
        sum_(pushed(e.exp(out), tangents[0]), axis=(axis,), keepdims=True),
    ),
    batch=one_axis_on("log_softmax"),
    widen=True,
)
def log_softmax(x: Operand, *, axis: int) -> TensorType:
    """The logarithm of softmax along `axis`, without overflow; where all of x is -inf: NaN."""
    return floating_on(x, axis)


# ------------------------------------------------------------------ masked


def _masked_softmax(x: Array, keep: Array, *, axis: int) -> Array:
    shape = np.broadcast_shapes(x.shape, keep.shape)
    kept = np.array(np.where(keep, x, x.dtype.type(-np.inf)), order="C")
    top = np.max(kept, axis=axis, keepdims=True, initial=-np.inf)
    # Where all that is kept is -inf, the maximum is too, and the result NaN as softmax's is.
    out: Array = np.exp(kept - top)
    dropped = np.broadcast_to(~keep, shape)
    out[dropped] = 0
    out /= np.sum(out, axis=axis, keepdims=True)
    out[dropped] = 0
    return out


def _masked_softmax_expansion(x: Any, keep: Any, *, axis: int) -> Any:
    shape = broadcast_shapes((x.type.shape, keep.type.shape))
    if shape[axis] == 0:
        return broadcast_to(x, shape=shape)
    kept = e.where(keep, x, x.coerce(float("-inf")))
    powers = select(keep, e.exp(_shifted_expansion(kept, axis)))
    total = sum_(powers, axis=(axis,), keepdims=True)
    return select(keep, e.divide(powers, total))


def masked_change(
    keep: Any, out: Any, change: Any, axis: int, product: Callable[..., Any] = e.multiply_no_nan
) -> Any:
    """softmax_change, to which what is masked out adds nothing, whatever its change is."""
    return select(keep, softmax_change(out, select(keep, change), axis, product))


def _batch_masked(x: Any, keep: Any, batched: Sequence[bool], *, axis: int) -> Any:
    return masked_softmax(*aligned((x, keep), batched), axis=axis + 1)


@op(
    numpy=_masked_softmax,
    expand=_masked_softmax_expansion,
    grad=lambda x, keep, out, g, *, axis: (masked_change(keep, out, g, axis), None),
    jvp=lambda x, keep, out, tangents, *, axis: masked_change(keep, out, tangents[0], axis, pushed),
    batch=_batch_masked,
    widen=True,
)
def masked_softmax(x: Operand, keep: Operand, *, axis: int) -> TensorType:
    """Softmax along `axis`, of the common shape, over the elements that the bools `keep` name.

    The others are 0 and have no part in it, even if they are NaN; where none is kept: zeros.
    """
    check_kind(FLOATING, x)
    if keep.dtype != BOOL:
        raise DTypeError("a mask that is no bool", expected="bool", found=str(keep))
    return floating_on(x.with_shape(broadcast_shapes((x.shape, keep.shape))), axis)
