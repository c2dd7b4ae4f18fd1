"""Scans: each result element depends on all elements before it along an axis.

`linear_recurrence` is the one through which products and logarithms of sums are differentiated:
its gradient is again a linear recurrence, in the other direction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dims import Size
from ..op import Operand, each, op
from ..types import FLOATING, NUMERIC, Array, TensorType
from .checks import check_axes, check_equal_shapes, check_kind, same_dtype
from .pointwise import conjugated, pushed, scaled
from .recurrence import linear_recurrence_along
from .shape import batch_size, one_axis_on, with_batch
from .slicing import pad, slice_
from .special import share


def shifted(x: Any, axis: int, reverse: bool, value: float) -> Any:
    """x moved by one place along an axis, towards its end or (reverse) its start.

    The place that falls free takes `value`, the element that falls out is lost.
    """
    ndim, size = x.type.ndim, x.type.shape[axis]
    widths = [(0, 0)] * ndim
    slices: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * ndim
    widths[axis] = (0, 1) if reverse else (1, 0)
    slices[axis] = (1, size + 1, 1) if reverse else (0, size, 1)
    return slice_(pad(x, widths=tuple(widths), value=value), slices=tuple(slices))


def _check(x: Operand, axis: int) -> None:
    check_axes((axis,), x.ndim)
    check_kind(NUMERIC, x)


def _adjoint(a: Any, g: Any, axis: int, reverse: bool) -> Any:
    """The cotangent of b: what reaches each step through all later ones."""
    later = shifted(conjugated(a), axis, not reverse, 0.0)
    return linear_recurrence(later, g, axis=axis, reverse=not reverse)


def _jvp_recurrence(
    a: Any, b: Any, out: Any, tangents: Sequence[Any], *, axis: int, reverse: bool
) -> Any:
    da, db = tangents
    if da is not None:
        own = pushed(shifted(out, axis, reverse, 0.0), da)
        db = own if db is None else db + own
    return linear_recurrence(a, db, axis=axis, reverse=reverse)


def _batch_recurrence(a: Any, b: Any, batched: Sequence[bool], *, axis: int, reverse: bool) -> Any:
    size = batch_size((a, b), batched)
    a, b = with_batch(a, batched[0], size), with_batch(b, batched[1], size)
    return linear_recurrence(a, b, axis=axis + 1, reverse=reverse)


@op(
    numpy=lambda a, b, *, axis, reverse: linear_recurrence_along(a, b, axis, reverse),
    grad=each(
        lambda a, b, out, g, *, axis, reverse: scaled(
            shifted(out, axis, reverse, 0.0), _adjoint(a, g, axis, reverse)
        ),
        lambda a, b, out, g, *, axis, reverse: _adjoint(a, g, axis, reverse),
    ),
    jvp=_jvp_recurrence,
    batch=_batch_recurrence,
    widen=True,
)
def linear_recurrence(a: Operand, b: Operand, *, axis: int, reverse: bool) -> TensorType:
    """y with y[i] = a[i] * y[i - 1] + b[i] along an axis, y[-1] = 0; reverse: from the end.

    A product with 0 is 0, whatever the other factor: where a is 0 the recurrence begins anew,
    and a cotangent of 0 stays 0 on its way back.
    """
    same_dtype((a, b))
    _check(a, axis)
    check_equal_shapes(b.shape, a.shape, "b")
    return a


def _accumulated(ufunc: np.ufunc, x: Array, axis: int, reverse: bool) -> Array:
    if reverse:
        return np.flip(ufunc.accumulate(np.flip(x, axis), axis, dtype=x.dtype), axis)
    return np.asarray(ufunc.accumulate(x, axis, dtype=x.dtype))


def _cumulative_sum(x: Array, *, axis: int, reverse: bool) -> Array:
    return _accumulated(np.add, x, axis, reverse)


def _grad_cumulative_sum(x: Any, out: Any, g: Any, *, axis: int, reverse: bool) -> tuple[Any]:
    return (cumulative_sum(g, axis=axis, reverse=not reverse),)


@op(
    numpy=_cumulative_sum,
    grad=_grad_cumulative_sum,
    jvp="linear",
    batch=one_axis_on("cumulative_sum"),
    widen=True,
)
def cumulative_sum(x: Operand, *, axis: int, reverse: bool) -> TensorType:
    """The sum of the elements up to each one along an axis; reverse: from each one on."""
    _check(x, axis)
    return x


def _cumulative_prod(x: Array, *, axis: int, reverse: bool) -> Array:
    return _accumulated(np.multiply, x, axis, reverse)


def _grad_cumulative_prod(x: Any, out: Any, g: Any, *, axis: int, reverse: bool) -> tuple[Any]:
    # dx[k] = prod(x[:k]) * r[k], where r[k] = g[k] + x[k+1] * r[k+1] sums the later products.
    before = shifted(out, axis, reverse, 1.0)
    return (scaled(before, _adjoint(x, g, axis, reverse)),)


def _jvp_cumulative_prod(
    x: Any, out: Any, tangents: Sequence[Any], *, axis: int, reverse: bool
) -> Any:
    steps = pushed(shifted(out, axis, reverse, 1.0), tangents[0])
    return linear_recurrence(x, steps, axis=axis, reverse=reverse)


@op(
    numpy=_cumulative_prod,
    grad=_grad_cumulative_prod,
    jvp=_jvp_cumulative_prod,
    batch=one_axis_on("cumulative_prod"),
    widen=True,
)
def cumulative_prod(x: Operand, *, axis: int, reverse: bool) -> TensorType:
    """The product of the elements up to each one along an axis; reverse: from each one on."""
    _check(x, axis)
    return x


def _cumulative_logsumexp(x: Array, *, axis: int, reverse: bool) -> Array:
    return _accumulated(np.logaddexp, x, axis, reverse)


def _steps(x: Any, out: Any, axis: int, reverse: bool) -> tuple[Any, Any]:
    """How much each result turns with the one before, and with its own element.

    Neither where both are -inf, so that a masked prefix has gradient 0.
    """
    before = shifted(out, axis, reverse, -math.inf)
    return share(before, x), share(x, before)


def _grad_cumulative_logsumexp(x: Any, out: Any, g: Any, *, axis: int, reverse: bool) -> tuple[Any]:
    carried, own = _steps(x, out, axis, reverse)
    return (scaled(own, _adjoint(carried, g, axis, reverse)),)


def _jvp_cumulative_logsumexp(
    x: Any, out: Any, tangents: Sequence[Any], *, axis: int, reverse: bool
) -> Any:
    carried, own = _steps(x, out, axis, reverse)
    steps = pushed(own, tangents[0])
    return linear_recurrence(carried, steps, axis=axis, reverse=reverse)


@op(
    numpy=_cumulative_logsumexp,
    grad=_grad_cumulative_logsumexp,
    jvp=_jvp_cumulative_logsumexp,
    batch=one_axis_on("cumulative_logsumexp"),
    widen=True,
)
def cumulative_logsumexp(x: Operand, *, axis: int, reverse: bool) -> TensorType:
    """log(sum(exp)) of the elements up to each one along an axis, without overflow; reverse: from
    each one on.  Of nothing but -inf it is -inf, with gradient 0."""
    check_axes((axis,), x.ndim)
    check_kind(FLOATING, x)
    return x
