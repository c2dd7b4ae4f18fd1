"""The largest or smallest element so far along an axis, and where it is.

Of equal elements it is the latest, and once there is a NaN, the latest NaN.  Values are those
that the indices name, as those of a sort.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..op import Operand, op
from ..types import INT64, REAL, Array, TensorType
from .checks import check_axes, check_kind
from .shape import one_axis_on
from .sort import taken_grad, taken_jvp


def _extremum(ufunc: np.ufunc, x: Array, axis: int, reverse: bool) -> tuple[Array, Array]:
    if reverse:
        values, indices = _extremum(ufunc, np.flip(x, axis), axis, False)
        return np.flip(values, axis), np.flip(x.shape[axis] - 1 - indices, axis)
    attained = x == ufunc.accumulate(x, axis)
    if x.dtype.kind == "f":
        attained |= np.isnan(x)
    shape = [1] * x.ndim
    shape[axis] = -1
    places = np.where(attained, np.arange(x.shape[axis]).reshape(shape), 0)
    indices = np.maximum.accumulate(places, axis)
    return np.take_along_axis(x, indices, axis), indices


def _meaning(ufunc: np.ufunc) -> Callable[..., tuple[Array, Array]]:
    return lambda x, *, axis, reverse: _extremum(ufunc, x, axis, reverse)


def _types(x: Operand, axis: int) -> tuple[TensorType, TensorType]:
    check_axes((axis,), x.ndim)
    check_kind(REAL | {"bool"}, x)
    return x, x.with_dtype(INT64)


@op(
    numpy=_meaning(np.maximum),
    grad=taken_grad,
    jvp=taken_jvp,
    batch=one_axis_on("cumulative_max"),
    widen=True,
)
def cumulative_max(x: Operand, *, axis: int, reverse: bool) -> tuple[TensorType, TensorType]:
    """The largest element up to each one along an axis, and its index; reverse: from each one on.

    NaN from the first NaN on.  The latest of equal elements takes the derivative.
    """
    return _types(x, axis)


@op(
    numpy=_meaning(np.minimum),
    grad=taken_grad,
    jvp=taken_jvp,
    batch=one_axis_on("cumulative_min"),
    widen=True,
)
def cumulative_min(x: Operand, *, axis: int, reverse: bool) -> tuple[TensorType, TensorType]:
    """The smallest element up to each one along an axis, and its index; reverse: from each one on.

    NaN from the first NaN on.  The latest of equal elements takes the derivative.
    """
    return _types(x, axis)
