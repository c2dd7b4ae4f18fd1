"""The length of a vector: a reduction whose squares must not leave the range of the dtype."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..op import OPS, Ints, Operand, op
from ..types import FLOATING, INEXACT, REAL_OF, Array, TensorType
from .arithmetic import multiply_no_nan
from .checks import check_equal_shapes, check_kind
from .pointwise import conjugated, pushed, select, total
from .reduce import reduced, restored, sum_
from .shape import batch_size, one_axis_on, with_batch


def _norm(x: Array, *, axis: Ints, keepdims: bool) -> Array:
    shape = x.shape
    if x.dtype.kind == "c":
        # The parts of a complex number are two more numbers to square.
        x = np.stack((x.real, x.imag), -1)
        axis = (*axis, x.ndim - 1)
    x = np.asarray(x, order="C")
    total = np.sum(np.square(x), axis=axis, keepdims=True)
    out = np.asarray(np.sqrt(total))
    limits = np.finfo(x.dtype)
    count = math.prod(x.shape[a] for a in axis)
    safe = (total > max(count, 1) * limits.tiny / limits.eps) & (total < np.inf)
    if not safe.all():
        np.copyto(out, _scaled_norm(x, axis), where=~safe)
    if x.ndim != len(shape):
        out, axis = out[..., 0], axis[:-1]
    return out if keepdims else np.reshape(out, [s for a, s in enumerate(shape) if a not in axis])


def _scaled_norm(x: Array, axis: Ints) -> Array:
    """The same of numbers whose squares over- or underflow, by an exact power of two."""
    _, power = np.frexp(np.max(np.abs(x), axis=axis, keepdims=True, initial=0))
    scaled = np.square(np.ldexp(x, -power))
    root: Array = np.ldexp(np.sqrt(np.sum(scaled, axis=axis, keepdims=True)), power)
    return root


def _norm_direction(x: Array, length: Array, *, axis: Ints) -> Array:
    usual = (length >= np.finfo(x.dtype).tiny) & (length < np.inf)
    direction: Array = x / length
    if usual.all():
        return direction
    if x.dtype.kind != "c":
        return np.where(usual, direction, _far_direction(x, axis))
    parts = _far_direction(np.stack((x.real, x.imag), -1), (*axis, x.ndim))
    return np.where(usual, direction, (parts[..., 0] + 1j * parts[..., 1]).astype(x.dtype))


def _far_direction(x: Array, axis: Ints) -> Array:
    """The same of vectors whose length is 0, subnormal, or infinite."""
    top = np.max(np.abs(x), axis=axis, keepdims=True, initial=0)
    _, power = np.frexp(top)
    infinite = np.copysign(np.isinf(x).astype(x.dtype), x)
    x = np.where(np.isinf(top), infinite, np.ldexp(x, -power))
    length = np.sqrt(np.sum(np.square(x), axis=axis, keepdims=True))
    direction: Array = np.where(length == 0, length, x / length)
    return direction


def _per_length(length: Any) -> Any:
    return select(OPS["not_equal"](length, 0), OPS["reciprocal"](length))


def _longer(x: Any, length: Any, out: Any, change: Any, axis: Ints) -> Any:
    """How a cotangent of the direction reaches the length."""
    along = multiply_no_nan(conjugated(out), change)
    along = OPS["real"](along) if x.type.kind == "complex" else along
    summed = sum_(along, axis=axis, keepdims=True)
    return OPS["negative"](multiply_no_nan(_per_length(length), summed))


def _grad_direction(x: Any, length: Any, out: Any, g: Any, *, axis: Ints) -> tuple[Any, Any]:
    shorter = multiply_no_nan(_per_length(length).astype(x.type.dtype), g)
    return shorter, _longer(x, length, out, g, axis)


def _jvp_direction(x: Any, length: Any, out: Any, tangents: Any, *, axis: Ints) -> Any:
    per_length = _per_length(length)
    moved, longer = tangents
    terms = [None if moved is None else pushed(per_length.astype(x.type.dtype), moved)]
    if longer is not None:
        change = OPS["negative"](pushed(per_length, longer)).astype(x.type.dtype)
        terms.append(pushed(out, change))
    return total(terms)


def _batch_direction(x: Any, length: Any, batched: Sequence[bool], *, axis: Ints) -> Any:
    size = batch_size((x, length), batched)
    x, length = (with_batch(v, b, size) for v, b in zip((x, length), batched, strict=True))
    return norm_direction(x, length, axis=tuple(a + 1 for a in axis))


@op(
    numpy=_norm_direction,
    grad=_grad_direction,
    jvp=_jvp_direction,
    batch=_batch_direction,
    widen=True,
)
def norm_direction(x: Operand, length: Operand, *, axis: Ints) -> TensorType:
    """x / length, for the norm of x along axes that stay with size 1; also where it over- or
    underflows.

    Where the norm is 0, so is the direction; of infinite numbers they share it alike.
    """
    check_kind(INEXACT, x)
    expected = reduced(x, axis, True)
    check_kind(FLOATING, length)
    check_equal_shapes(length.shape, expected.shape, "a length")
    return x


def _grad_norm(x: Any, out: Any, g: Any, *, axis: Ints, keepdims: bool) -> tuple[Any]:
    direction = norm_direction(x, restored(out, x, axis, keepdims), axis=axis)
    return (multiply_no_nan(direction, restored(g, x, axis, keepdims).astype(x.type.dtype)),)


def _jvp_norm(x: Any, out: Any, tangents: Any, *, axis: Ints, keepdims: bool) -> Any:
    direction = norm_direction(x, restored(out, x, axis, keepdims), axis=axis)
    along = pushed(conjugated(direction), tangents[0])
    along = OPS["real"](along) if x.type.kind == "complex" else along
    return sum_(along, axis=axis, keepdims=keepdims)


@op(
    numpy=_norm,
    grad=_grad_norm,
    jvp=_jvp_norm,
    batch=one_axis_on("norm"),
    widen=True,
)
def norm(x: Operand, *, axis: Ints, keepdims: bool) -> TensorType:
    """sqrt(sum(abs(x)**2)) over the given axes, where the squares over- or underflow too.

    Where it is 0 its first and second derivatives count as 0.
    """
    check_kind(INEXACT, x)
    return reduced(x, axis, keepdims).with_dtype(REAL_OF.get(x.dtype, x.dtype))
