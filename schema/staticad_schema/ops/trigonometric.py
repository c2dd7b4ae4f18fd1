"""Elementwise trigonometric and hyperbolic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import OPS, Operand
from ..types import INEXACT, TensorType
from .arithmetic import add, multiply, negative, reciprocal, square, subtract
from .exponential import rsqrt, sqrt
from .plane import hypot
from .pointwise import pointwise, same


def _sin_slope(x: Any, out: Any) -> Any:
    return cos(x)


@pointwise(numpy=np.sin, expr="sin({x})", d=_sin_slope)
def sin(x: Operand) -> TensorType:
    """The sine of x radians."""
    return same(INEXACT, x)


@pointwise(numpy=np.cos, expr="cos({x})", d=lambda x, out: negative(sin(x)))
def cos(x: Operand) -> TensorType:
    """The cosine of x radians."""
    return same(INEXACT, x)


@pointwise(numpy=np.tan, expr="tan({x})", d=lambda x, out: add(multiply(out, out), 1))
def tan(x: Operand) -> TensorType:
    """The tangent of x radians."""
    return same(INEXACT, x)


def _one(x: Any) -> Any:
    """1 for a sum with x that keeps the sign of x's imaginary part, also of 0: it tells the
    sides of a branch cut apart."""
    return complex(1, -0.0) if x.type.kind == "complex" else 1


def _less_square(x: Any) -> Any:
    """1 - x * x of a real handle, with its digits near 1 and those of its derivative near 0.

    The value is that of a product, which does not cancel near 1, the derivative that of the
    square: the product's, a difference of infinite terms at 1, cancels near 0.
    """
    held = OPS["stop_gradient"]
    product, twice = multiply(subtract(1, x), add(x, 1)), square(x)
    return subtract(held(product), subtract(twice, held(twice)))


def _asin_slope(x: Any) -> Any:
    if x.type.kind == "complex":
        # The root of the product has other branches.
        return reciprocal(multiply(sqrt(subtract(_one(x), x)), sqrt(add(x, _one(x)))))
    return rsqrt(_less_square(x))


@pointwise(numpy=np.arcsin, expr="asin({x})", d=lambda x, out: _asin_slope(x))
def asin(x: Operand) -> TensorType:
    """The angle whose sine is x, from -pi/2 to pi/2."""
    return same(INEXACT, x)


@pointwise(numpy=np.arccos, expr="acos({x})", d=lambda x, out: negative(_asin_slope(x)))
def acos(x: Operand) -> TensorType:
    """The angle whose cosine is x, from 0 to pi."""
    return same(INEXACT, x)


def _atan_slope(x: Any) -> Any:
    if x.type.kind == "complex":
        # A product, because x * x overflows, and cancels near i.
        turned = multiply(x, 1j)
        return multiply(reciprocal(subtract(1, turned)), reciprocal(add(turned, 1)))
    # The square of a quotient: that of 1 + x * x loses its derivative where x**4 overflows.
    return square(reciprocal(hypot(x, 1)))


@pointwise(numpy=np.arctan, expr="atan({x})", d=lambda x, out: _atan_slope(x))
def atan(x: Operand) -> TensorType:
    """The angle whose tangent is x, from -pi/2 to pi/2."""
    return same(INEXACT, x)


def _sinh_slope(x: Any, out: Any) -> Any:
    return cosh(x)


@pointwise(numpy=np.sinh, expr="sinh({x})", d=_sinh_slope)
def sinh(x: Operand) -> TensorType:
    """The hyperbolic sine."""
    return same(INEXACT, x)


@pointwise(numpy=np.cosh, expr="cosh({x})", d=lambda x, out: sinh(x))
def cosh(x: Operand) -> TensorType:
    """The hyperbolic cosine."""
    return same(INEXACT, x)


# In the tails this slope is right to the rounding of 1, not to its own: 1 / cosh(x)**2 would
# be, but takes another exponential, which costs a training step more than it gives.
@pointwise(numpy=np.tanh, expr="tanh({x})", d=lambda x, out: subtract(1, multiply(out, out)))
def tanh(x: Operand) -> TensorType:
    """The hyperbolic tangent."""
    return same(INEXACT, x)


def _asinh_slope(x: Any) -> Any:
    if x.type.kind == "complex":
        return reciprocal(sqrt(add(multiply(x, x), _one(x))))
    return reciprocal(hypot(x, 1))


@pointwise(numpy=np.arcsinh, expr="asinh({x})", d=lambda x, out: _asinh_slope(x))
def asinh(x: Operand) -> TensorType:
    """The inverse of sinh."""
    return same(INEXACT, x)


def _acosh_slope(x: Any) -> Any:
    # Two roots, because x * x overflows; of |x|, so that the slope is infinite at -1 as at 1.
    size = x if x.type.kind == "complex" else OPS["abs"](x)
    below, above = sqrt(subtract(size, 1)), sqrt(add(size, _one(x)))
    return multiply(reciprocal(below), reciprocal(above))


@pointwise(numpy=np.arccosh, expr="acosh({x})", d=lambda x, out: _acosh_slope(x))
def acosh(x: Operand) -> TensorType:
    """The non-negative inverse of cosh; NaN below 1."""
    return same(INEXACT, x)


def _atanh_slope(x: Any) -> Any:
    below, above = reciprocal(subtract(1, x)), reciprocal(add(x, 1))
    if x.type.kind == "complex":
        return multiply(below, above)
    # A sum of what is infinite at 1 and at -1 stays so in all derivatives.
    return multiply(add(below, above), 0.5)


@pointwise(numpy=np.arctanh, expr="atanh({x})", d=lambda x, out: _atanh_slope(x))
def atanh(x: Operand) -> TensorType:
    """The inverse of tanh; infinite at -1 and 1."""
    return same(INEXACT, x)
