"""Lengths and angles in the plane, also where squares of coordinates leave the range."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..op import Operand, each, op
from ..types import FLOATING, Array, TensorType
from .arithmetic import add, multiply, multiply_no_nan, negative, reciprocal, square, subtract
from .comparison import equal
from .pointwise import pointwise, pushed, same, scaled, select, total

MAX_ORDER = 50


def _direction(x: Array, y: Array) -> Array:
    length = np.hypot(x, y)
    usual = (length >= np.finfo(x.dtype).tiny) & (length < np.inf)
    cosine: Array = np.divide(x, length)
    return cosine if usual.all() else np.where(usual, cosine, _far_direction(x, y))


def _far_direction(x: Array, y: Array) -> Array:
    """The same where the length is 0, subnormal, or infinite, by an exact power of two."""
    top = np.maximum(np.abs(x), np.abs(y))
    _, power = np.frexp(top)
    x, y = (
        np.where(np.isinf(top), np.copysign(np.isinf(v).astype(v.dtype), v), np.ldexp(v, -power))
        for v in (x, y)
    )
    length = np.hypot(x, y)
    return np.where(length == 0, length, np.divide(x, length))


def _per_length(x: Any, y: Any) -> Any:
    """1 / hypot(x, y); 0 at the origin."""
    length = hypot(x, y)
    return select(equal(length, 0.0), x.coerce(0.0), reciprocal(length))


def _direction_along(x: Any, y: Any) -> Any:
    return multiply_no_nan(_per_length(x, y), square(direction(y, x)))


def _direction_across(x: Any, y: Any) -> Any:
    both = multiply(direction(x, y), direction(y, x))
    return negative(multiply_no_nan(_per_length(x, y), both))


@pointwise(
    numpy=_direction,
    expr=(
        "({x} != {x} || {y} != {y} ? {x} + {y} : fmax(fabs({x}), fabs({y})) == 0 ? 0"
        " : {x} - {x} != 0 ? copysign({y} - {y} != 0 ? 0.70710678118654752440 : 1.0, {x})"
        " : {y} - {y} != 0 ? copysign(0.0, {x})"
        " : {x} / fmax(fabs({x}), fabs({y}))"
        " / hypot({x} / fmax(fabs({x}), fabs({y})), {y} / fmax(fabs({x}), fabs({y}))))"
    ),
    d=(lambda x, y, out: _direction_along(x, y), lambda x, y, out: _direction_across(x, y)),
)
def direction(x: Operand, y: Operand) -> TensorType:
    """x / hypot(x, y), the cosine of the angle of the point (x, y), also where its length over- or
    underflows; that of infinite numbers is 1 or 0, of two of them sqrt(0.5), as for atan2.

    At the origin it and its derivatives count as 0.
    """
    return same(FLOATING, x, y)


@pointwise(
    numpy=np.hypot,
    expr="hypot({x}, {y})",
    d=(lambda x, y, out: direction(x, y), lambda x, y, out: direction(y, x)),
)
def hypot(x: Operand, y: Operand) -> TensorType:
    """sqrt(x * x + y * y) without overflow; its derivative at the origin is 0."""
    return same(FLOATING, x, y)


# ------------------------------------------------------------------ angles


def _inverse_power(x: Any, y: Any, *, order: int, imaginary: bool) -> Any:
    # Of 1 / z, which stands for a length and an angle.
    cosine, sine = direction(x, y), negative(direction(y, x))
    real, imag = cosine, sine
    for _ in range(order - 1):
        real, imag = (
            subtract(multiply(real, cosine), multiply(imag, sine)),
            add(multiply(real, sine), multiply(imag, cosine)),
        )
    part = imag if imaginary else real
    for _ in range(order):
        part = multiply_no_nan(_per_length(x, y), part)
    return part


def _power_slopes(x: Any, y: Any, order: int, imaginary: bool) -> tuple[Any, Any]:
    """Along x it is -order times the next one, along y i times as much."""
    ahead = inverse_power(x, y, order=order + 1, imaginary=imaginary)
    aside = inverse_power(x, y, order=order + 1, imaginary=not imaginary)
    return multiply(ahead, -order), multiply(aside, -order if imaginary else order)


def _power_grad(which: int) -> Any:
    def rule(x: Any, y: Any, out: Any, g: Any, *, order: int, imaginary: bool) -> Any:
        return scaled(_power_slopes(x, y, order, imaginary)[which], g)

    return rule


def _power_jvp(
    x: Any, y: Any, out: Any, tangents: tuple[Any, Any], *, order: int, imaginary: bool
) -> Any:
    slopes = _power_slopes(x, y, order, imaginary)
    return total(
        [None if t is None else pushed(d, t) for d, t in zip(slopes, tangents, strict=True)]
    )


@op(
    expand=_inverse_power,
    grad=each(_power_grad(0), _power_grad(1)),
    jvp=_power_jvp,
    batch="elementwise",
    elementwise=True,
    widen=True,
)
def inverse_power(x: Operand, y: Operand, *, order: int = 1, imaginary: bool = False) -> TensorType:
    """The real, or the imaginary, part of (x + i y)**-order, 0 at the origin.

    What angles are differentiated with, any number of times: products of lengths and directions
    would lose the zeros among them to infinite lengths.
    """
    if not 1 <= order <= MAX_ORDER:
        raise ArgumentError(
            "not an order of a power", expected=f"1 to {MAX_ORDER}", found=str(order)
        )
    return same(FLOATING, x, y)


@pointwise(
    numpy=np.arctan2,
    expr="atan2({y}, {x})",
    d=(
        lambda y, x, out: inverse_power(x, y),
        lambda y, x, out: inverse_power(x, y, imaginary=True),
    ),
)
def atan2(y: Operand, x: Operand) -> TensorType:
    """The angle of the point (x, y), from -pi to pi; its derivative at the origin is 0."""
    return same(FLOATING, y, x)
