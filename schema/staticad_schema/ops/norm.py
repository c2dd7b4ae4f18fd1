"""The length of a vector: a reduction whose squares must not leave the range of the dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import OPS, Ints, Operand, op
from ..types import INEXACT, REAL_OF, Array, TensorType
from .arithmetic import multiply_no_nan
from .checks import check_kind
from .pointwise import conjugated, pushed, select
from .reduce import reduced, restored, sum_
from .shape import one_axis_on


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


def _direction(x: Any, out: Any, axis: Ints, keepdims: bool) -> Any:
    """x / norm(x), and 0 with all its derivatives where the norm is 0."""
    length = restored(out, x, axis, keepdims)
    flat = OPS["equal"](length, 0)
    safe = select(flat, length.coerce(1), length).astype(x.type.dtype)
    return select(flat, x.coerce(0), x / safe)


def _grad_norm(x: Any, out: Any, g: Any, *, axis: Ints, keepdims: bool) -> tuple[Any]:
    direction = _direction(x, out, axis, keepdims)
    return (multiply_no_nan(direction, restored(g, x, axis, keepdims).astype(x.type.dtype)),)


def _jvp_norm(x: Any, out: Any, tangents: Any, *, axis: Ints, keepdims: bool) -> Any:
    along = pushed(conjugated(_direction(x, out, axis, keepdims)), tangents[0])
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
