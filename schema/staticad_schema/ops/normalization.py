"""Elements brought to mean 0 and variance 1, or to a mean square of 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..op import OPS, Ints, Operand, op
from ..types import FLOATING, Array, TensorType
from . import elementwise as e
from .checks import check_kind
from .pointwise import select, wide
from .reduce import reduced, sum_
from .shape import one_axis_on


def _mean(x: Any, axis: Ints) -> Any:
    """The mean along axes that stay, with size 1."""
    count = OPS["size_of"](x, axis=axis, dtype=x.type.dtype)
    return e.divide(sum_(x, axis=axis, keepdims=True), count)


def in_range(power: Array) -> Any:
    """Where a mean of squares has neither over- nor underflown."""
    limits = np.finfo(power.dtype)
    return (power >= limits.tiny / limits.eps) & (power < np.inf)


def _normalize(x: Array, *, axis: Ints, epsilon: float, center: bool) -> tuple[Array, Array]:
    x = np.asarray(x, order="C")
    distance, power = _spread(x, axis, center)
    power = power + x.dtype.type(epsilon)
    scale = 1 / np.sqrt(power)
    out = distance * scale
    far = ~in_range(power)
    if far.any():
        # In units of the largest element, a power of two.
        largest = np.max(np.abs(x), axis=axis, keepdims=True, initial=0)
        _, unit = np.frexp(largest)
        distance, power = _spread(np.ldexp(x, -unit), axis, center)
        inner = 1 / np.sqrt(power + np.ldexp(x.dtype.type(epsilon), -2 * unit))
        np.copyto(out, distance * inner, where=far)
        np.copyto(scale, np.ldexp(inner, -unit), where=far)
    return out, scale


def _spread(x: Array, axis: Ints, center: bool) -> tuple[Array, Array]:
    """(x less its mean, if that is wanted; the mean square of it)."""
    count = x.dtype.type(math.prod(x.shape[a] for a in axis))
    distance = x - np.sum(x, axis=axis, keepdims=True) / count if center else x
    return distance, np.sum(distance * distance, axis=axis, keepdims=True) / count


def _unit(x: Any, axis: Ints, epsilon: float) -> Any:
    """1, and the largest element where squares of it would leave the range."""
    widths = tuple((0, int(a in axis)) for a in range(x.type.ndim))
    # One more, which counts least, in case there is none.
    elements = OPS["pad"](e.abs(x), widths=widths, value=0)
    largest = OPS["max"](elements, axis=axis, keepdims=True)
    limits = np.finfo(x.type.dtype)
    far = e.greater(largest, x.coerce(float(np.sqrt(limits.max)) * 2.0**-20))
    if not epsilon:
        near = e.less(largest, x.coerce(float(np.sqrt(limits.tiny)) * 2.0**20))
        far = e.logical_or(far, near)
    usable = e.logical_and(e.greater(largest, x.coerce(0)), e.less(largest, x.coerce(math.inf)))
    return select(e.logical_and(far, usable), largest, x.coerce(1))


def _normalize_expansion(x: Any, *, axis: Ints, epsilon: float, center: bool) -> tuple[Any, Any]:
    unit = _unit(x, axis, epsilon)
    x = e.divide(x, unit)
    distance = e.subtract(x, _mean(x, axis)) if center else x
    variance = _mean(e.square(distance), axis)
    small = e.divide(e.divide(x.coerce(epsilon), unit), unit)
    scale = e.reciprocal(e.sqrt(e.add(variance, small)))
    return e.multiply(distance, scale), e.divide(scale, unit)


def _normalize_change(out: tuple[Any, Any], change: Any, axis: Ints, center: bool) -> Any:
    """The product of the Jacobian, which is symmetric, with a tangent or cotangent."""
    along = e.multiply(out[0], _mean(e.multiply(change, out[0]), axis))
    centred = e.subtract(change, _mean(change, axis)) if center else change
    return e.multiply(e.subtract(centred, along), out[1])


def _scale_slope(x: Any, out: tuple[Any, Any], axis: Ints) -> Any:
    """d scale / dx: -scale^2 times the normalised x, over the number of elements."""
    count = OPS["size_of"](x, axis=axis, dtype=out[1].type.dtype)
    return e.negative(e.divide(e.multiply(e.square(out[1]), out[0]), count))


def _grad_normalize(
    x: Any, out: tuple[Any, Any], g: tuple[Any, Any], *, axis: Ints, center: bool
) -> tuple[Any]:
    out, g = (wide(out[0]), wide(out[1])), (wide(g[0]), wide(g[1]))
    change = None if g[0] is None else _normalize_change(out, g[0], axis, center)
    if g[1] is not None:
        through = e.multiply(_scale_slope(x, out, axis), g[1])
        change = through if change is None else e.add(change, through)
    return (change if change is None else change.astype(x.type.dtype),)


def _jvp_normalize(
    x: Any, out: tuple[Any, Any], tangents: Sequence[Any], *, axis: Ints, center: bool
) -> tuple[Any, Any]:
    out, tangent = (wide(out[0]), wide(out[1])), wide(tangents[0])
    slope = e.multiply(_scale_slope(x, out, axis), tangent)
    both = _normalize_change(out, tangent, axis, center), sum_(slope, axis=axis, keepdims=True)
    return both[0].astype(x.type.dtype), both[1].astype(x.type.dtype)


@op(
    numpy=_normalize,
    expand=_normalize_expansion,
    grad=_grad_normalize,
    jvp=_jvp_normalize,
    batch=one_axis_on("normalize"),
    widen=True,
)
def normalize(
    x: Operand, *, axis: Ints, epsilon: float, center: bool = True
) -> tuple[TensorType, TensorType]:
    """(x with mean 0 and variance 1 along axes, 1 / sqrt(variance + epsilon)).

    The second output has size 1 on those axes.  This is what layer norm scales and shifts.
    center: without it the mean stays, and the mean square is 1, as for rms norm.  Squares that
    over- or underflow do no harm.
    """
    check_kind(FLOATING, x)
    return x, reduced(x, axis, True)
