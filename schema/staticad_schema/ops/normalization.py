"""Elements brought to mean 0 and variance 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..op import OPS, Ints, Operand, op
from ..types import FLOATING, Array, TensorType
from . import elementwise as e
from .checks import check_kind
from .pointwise import wide
from .reduce import reduced, sum_
from .shape import one_axis_on


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


def _grad_normalize(x: Any, out: tuple[Any, Any], g: tuple[Any, Any], *, axis: Ints) -> tuple[Any]:
    out, g = (wide(out[0]), wide(out[1])), (wide(g[0]), wide(g[1]))
    change = None if g[0] is None else _normalize_change(out, g[0], axis)
    if g[1] is not None:
        through = e.multiply(_scale_slope(x, out, axis), g[1])
        change = through if change is None else e.add(change, through)
    return (change if change is None else change.astype(x.type.dtype),)


def _jvp_normalize(
    x: Any, out: tuple[Any, Any], tangents: Sequence[Any], *, axis: Ints
) -> tuple[Any, Any]:
    out, tangent = (wide(out[0]), wide(out[1])), wide(tangents[0])
    slope = e.multiply(_scale_slope(x, out, axis), tangent)
    both = _normalize_change(out, tangent, axis), sum_(slope, axis=axis, keepdims=True)
    return both[0].astype(x.type.dtype), both[1].astype(x.type.dtype)


@op(
    numpy=_normalize,
    expand=_normalize_expansion,
    grad=_grad_normalize,
    jvp=_jvp_normalize,
    batch=one_axis_on("normalize"),
    widen=True,
)
def normalize(x: Operand, *, axis: Ints, epsilon: float) -> tuple[TensorType, TensorType]:
    """(x with mean 0 and variance 1 along axes, 1 / sqrt(variance + epsilon)).

    The second output has size 1 on those axes.  This is what layer norm scales and shifts.
    """
    check_kind(FLOATING, x)
    return x, reduced(x, axis, True)
