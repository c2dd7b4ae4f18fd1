"""The elementwise arithmetic of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..op import OPS, Operand, constant, each
from ..types import FLOATING, INEXACT, NUMERIC, REAL, REAL_OF, Array, TensorType
from .conversion import conj, converted, imag, real
from .pointwise import conjugated, pointwise, pushed, same, scaled, select, tangent


@pointwise(numpy=np.add, expr="({x} + {y})", d=(lambda x, y, out: 1, lambda x, y, out: 1))
def add(x: Operand, y: Operand) -> TensorType:
    """x + y; integers wrap."""
    return same(NUMERIC, x, y)


def _negative_grad(x: Any, out: Any, g: Any) -> tuple[Any]:
    return (negative(g),)


@pointwise(
    numpy=np.negative,
    expr="(-{x})",
    grad=_negative_grad,
    jvp="linear",
)
def negative(x: Operand) -> TensorType:
    """-x; integers wrap."""
    return same(NUMERIC, x)


@pointwise(
    numpy=np.subtract,
    expr="({x} - {y})",
    grad=each(lambda x, y, out, g: g, lambda x, y, out, g: negative(g)),
)
def subtract(x: Operand, y: Operand) -> TensorType:
    """x - y; integers wrap."""
    return same(NUMERIC, x, y)


@pointwise(numpy=np.multiply, expr="({x} * {y})", d=(lambda x, y, out: y, lambda x, y, out: x))
def multiply(x: Operand, y: Operand) -> TensorType:
    """x * y; integers wrap."""
    return same(NUMERIC, x, y)


def _multiply_zero(x: Array, y: Array) -> Array:
    result = np.multiply(x, y)
    spoiled = np.isnan(result) & ((x == 0) | (y == 0))
    return np.where(spoiled, np.zeros((), x.dtype), result) if spoiled.any() else result


def _multiply_zero_left(x: Any, y: Any, out: Any, up: Any) -> Any:
    return multiply_zero(conjugated(y), up)


def _multiply_zero_right(x: Any, y: Any, out: Any, up: Any) -> Any:
    return multiply_zero(conjugated(x), up)


@pointwise(
    numpy=_multiply_zero,
    expr="(({x} == 0 || {y} == 0) && {x} * {y} != 0 ? 0 : {x} * {y})",
    grad=each(_multiply_zero_left, _multiply_zero_right),
)
def multiply_zero(x: Operand, y: Operand) -> TensorType:
    """x * y, but 0 where either is 0, even if the other is infinite or NaN.

    What products of the chain rule are differentiated with: where the cotangent of such a product
    is 0, its derivative must be, too, even by a slope that is infinite.
    """
    return same(INEXACT, x, y)


def _multiply_no_nan(d: Array, g: Array) -> Array:
    result = np.multiply(d, g)
    # A product with zero is NaN exactly where the other factor is not finite.
    spoiled = np.isnan(result) & (g == 0)
    return np.where(spoiled, g, result) if spoiled.any() else result


@pointwise(
    numpy=_multiply_no_nan,
    expr="({g} == 0 && !({d} - {d} == 0) ? {g} : {d} * {g})",
    grad=each(_multiply_zero_left, lambda d, g, out, up: scaled(d, up)),
    jvp=tangent(lambda d, g, out: g, lambda d, g, out: d),
)
def multiply_no_nan(d: Operand, g: Operand) -> TensorType:
    """d * g, but 0 where g is 0, even if d is infinite or NaN: the product of the chain rule."""
    return same(INEXACT, d, g)


@pointwise(
    numpy=np.reciprocal,
    expr="(1 / {x})",
    d=lambda x, out: negative(multiply(out, out)),
)
def reciprocal(x: Operand) -> TensorType:
    """1 / x."""
    return same(INEXACT, x)


def _divisor_slope(x: Any, y: Any, out: Any) -> Any:
    return negative(divide(out, y))


@pointwise(
    numpy=np.divide,
    expr="({x} / {y})",
    d=(lambda x, y, out: reciprocal(y), _divisor_slope),
)
def divide(x: Operand, y: Operand) -> TensorType:
    """x / y, of floating or complex dtype; IEEE-754 at zero divisors."""
    return same(INEXACT, x, y)


@pointwise(numpy=np.positive, expr="({x})", d=lambda x, out: 1, jvp="linear", widen=False)
def positive(x: Operand) -> TensorType:
    """+x, which is x."""
    return same(NUMERIC, x)


@pointwise(numpy=np.square, expr="({x} * {x})", d=lambda x, out: add(x, x))
def square(x: Operand) -> TensorType:
    """x * x; integers wrap."""
    return same(NUMERIC, x)


# The quotient of NumPy's floor_divide: from the exact remainder, not from a rounded quotient.
_FMOD = "fmod({x}, {y})"
_QUOTIENT = f"(({{x}} - {_FMOD}) / {{y}} - ({_FMOD} != 0 && ({_FMOD} < 0) != ({{y}} < 0)))"
_FLOOR_DIVIDE = {
    "float": (
        f"({{y}} == 0 ? {{x}} / {{y}} : {_QUOTIENT} != 0"
        f" ? floor({_QUOTIENT}) + (({_QUOTIENT} - floor({_QUOTIENT})) * 2 > 1)"
        " : copysign({x} * 0, {x} / {y}))"
    ),
    "int": (
        "({y} == 0 ? 0 : {y} == -1 ? 0 - {x}"
        " : {x} / {y} - ({x} % {y} != 0 && ({x} < 0) != ({y} < 0)))"
    ),
    "uint": "({y} == 0 ? 0 : {x} / {y})",
}
_REMAINDER = {
    "float": (
        f"({_FMOD} != 0 ? ({_FMOD} < 0) != ({{y}} < 0) ? {_FMOD} + {{y}} : {_FMOD}"
        f" : copysign({_FMOD}, {{y}}))"
    ),
    "int": (
        "({y} == 0 || {y} == -1 ? 0"
        " : {x} % {y} + ({x} % {y} != 0 && ({x} < 0) != ({y} < 0) ? {y} : 0))"
    ),
    "uint": "({y} == 0 ? 0 : {x} % {y})",
}


@pointwise(numpy=np.floor_divide, expr=_FLOOR_DIVIDE, grad=constant)
def floor_divide(x: Operand, y: Operand) -> TensorType:
    """x / y rounded down.  Integers: 0 where y is 0; wraps at the lowest integer by -1."""
    return same(REAL, x, y)


@pointwise(
    numpy=np.remainder,
    expr=_REMAINDER,
    d=(lambda x, y, out: 1, lambda x, y, out: negative(floor_divide(x, y))),
)
def remainder(x: Operand, y: Operand) -> TensorType:
    """x - y * floor(x / y), of the sign of y.  Integers: 0 where y is 0."""
    return same(REAL, x, y)


def _truncated_quotient(x: Any, y: Any, out: Any) -> Any:
    # From the exact remainder: a rounded x / y may lie on the other side of an integer.
    exact = OPS["where"](OPS["isnan"](out), x, subtract(x, out))
    return OPS["round"](divide(exact, y))


@pointwise(
    numpy=np.fmod,
    expr={
        "float": _FMOD,
        "int": "({y} == 0 || {y} == -1 ? 0 : {x} % {y})",
        "uint": "({y} == 0 ? 0 : {x} % {y})",
    },
    d=(lambda x, y, out: 1, lambda x, y, out: negative(_truncated_quotient(x, y, out))),
)
def fmod(x: Operand, y: Operand) -> TensorType:
    """x - y * trunc(x / y), of the sign of x, as C's.  Integers: 0 where y is 0."""
    return same(REAL, x, y)


def _root(x: Array, out: Array) -> None:
    # C's pow(-0, 0.5) is 0 and pow(-inf, 0.5) is inf; the square roots are -0 and NaN.
    np.add(x, 0, out)
    np.sqrt(out, out)
    lowest = np.equal(x, -np.inf)
    if lowest.any():
        np.copyto(out, np.inf, where=lowest)


_EXACT_POWERS: dict[float, Callable[[Array, Array], Any]] = {
    -1.0: np.reciprocal, 0.5: _root, 1.0: np.positive, 2.0: np.square,
}  # fmt: skip


def float_power(x: Array, y: Array, out: Array) -> None:
    """x to the power of y, of real floats, into an array of their broadcast shape.

    C's pow, and correctly rounded for exponents of -1, 1/2, 1 and 2.  NumPy takes these ways only
    where an exponent is repeated along an axis; here the result follows from the two numbers.
    """
    if y.ndim == 0:
        exact = _EXACT_POWERS.get(y.item())
        if exact is None:
            np.power(x, y, out)
        else:
            exact(x, out)
        return
    np.power(x, y, out)
    for exponent, exact in _EXACT_POWERS.items():
        chosen = np.equal(y, exponent)
        if chosen.any():
            powers = np.empty_like(x)
            exact(x, powers)
            np.copyto(out, powers, where=chosen)


def _pow(x: Array, y: Array) -> Array:
    if x.dtype.kind == "f":
        out = np.empty(np.broadcast_shapes(x.shape, y.shape), x.dtype)
        float_power(x, y, out)
        return out
    if y.dtype.kind != "i" or not (y < 0).any():
        return np.power(x, y)
    # 1 / x**-y, rounded towards zero.
    odd = (y & 1).astype(bool)
    below = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0)).astype(x.dtype)
    return np.where(y < 0, below, np.power(x, np.maximum(y, 0)))


def constant_scalar(x: Any) -> Any:
    """The value of a handle if it is a constant of one element, else None; casts seen through."""
    node, casts = x.node, []
    while node.op == "cast":
        casts.append(node.attributes["dtype"])
        node = x.graph.handle(node.inputs[0]).node
    if node.op != "constant" or node.attributes["value"].size != 1:
        return None
    value = node.attributes["value"]
    for dtype in reversed(casts):
        value = converted(value, dtype=dtype)
    return value.item()


def _pow_base_slope(x: Any, y: Any, out: Any) -> Any:
    p = constant_scalar(y)
    if p is None or isinstance(p, complex):
        # 0 where y is 0, even if x**(y - 1) is infinite.
        return multiply_no_nan(pow(x, subtract(y, 1)), y)
    if p == 0:
        return x.coerce(0.0)
    if p == 1:
        return 1
    if p == 2:
        return add(x, x)
    power = multiply(x, x) if p == 3 else pow(x, p - 1)
    return multiply(power, p)


def _pow_base(x: Any, y: Any, out: Any, g: Any) -> Any:
    if constant_scalar(y) == 0:
        # Also of an infinite cotangent.
        return multiply_no_nan(g, g.coerce(0.0))
    return scaled(_pow_base_slope(x, y, out), g)


def _pow_exponent_slope(x: Any, y: Any, out: Any) -> Any:
    # At x = 0 the power is 0 for all positive y, so all its derivatives are; and at 0**0 the
    # slope is taken as that of all y to the right.
    right = y if y.type.kind != "complex" else real(y)
    flat = OPS["logical_and"](OPS["equal"](x, 0), OPS["greater_equal"](right, 0))
    logarithm = OPS["log"](OPS["where"](flat, x.coerce(1), x))
    # Chosen, not multiplied: where the power is 0 an infinite logarithm has no part in curvature.
    return select(OPS["equal"](out, 0), out.coerce(0.0), multiply(logarithm, out))


@pointwise(
    numpy=_pow,
    expr={"float": "pow({x}, {y})"},
    grad=each(_pow_base, lambda x, y, out, g: scaled(_pow_exponent_slope(x, y, out), g)),
    jvp=tangent(_pow_base_slope, _pow_exponent_slope),
)
def pow(x: Operand, y: Operand) -> TensorType:
    """x to the power of y.  Integers wrap, and round towards zero for negative y (0**-1 is 0)."""
    return same(NUMERIC, x, y)


def _sign_tangent(x: Any, out: Any, t: Any) -> Any:
    # x / |x| turns with the part of t that is at right angles to x.
    across = imag(multiply(conj(out), t))
    # At 0, where x / |x| has no derivative, 0 turns by 0.
    turning = multiply_no_nan(reciprocal(abs(x)), across).astype(x.type.dtype)
    return pushed(multiply(out, 1j), turning)


def _sign_jvp(x: Any, out: Any, tangents: tuple[Any]) -> Any:
    return _sign_tangent(x, out, tangents[0]) if x.type.kind == "complex" else None


def _sign_grad(x: Any, out: Any, g: Any) -> tuple[Any]:
    # The map of tangents is symmetric.
    return (_sign_jvp(x, out, (g,)),)


@pointwise(
    numpy=np.sign,
    expr="({x} > 0 ? 1 : {x} < 0 ? -1 : {x} == 0 ? 0 : {x})",
    grad=_sign_grad,
    jvp=_sign_jvp,
)
def sign(x: Operand) -> TensorType:
    """-1, 0 or 1; of a complex number x / |x|, and 0 at 0; NaN of NaN."""
    return same(NUMERIC, x)


def _abs_grad(x: Any, out: Any, g: Any) -> tuple[Any]:
    direction = sign(x)
    return (multiply_no_nan(direction, g.astype(direction.type.dtype)),)


def _abs_jvp(x: Any, out: Any, tangents: tuple[Any]) -> Any:
    product = pushed(conjugated(sign(x)), tangents[0])
    return real(product) if x.type.kind == "complex" else product


@pointwise(
    numpy=np.abs,
    expr="({x} > 0 ? {x} : 0 - {x})",
    grad=_abs_grad,
    jvp=_abs_jvp,
)
def abs(x: Operand) -> TensorType:
    """The absolute value, real also for complex x; the lowest integer wraps to itself."""
    result = same(NUMERIC, x)
    return result.with_dtype(REAL_OF[x.dtype]) if x.dtype in REAL_OF else result


def _copysign_slope(x: Any, y: Any, out: Any) -> Any:
    return multiply(sign(x), copysign(1.0, y))


@pointwise(
    numpy=np.copysign,
    expr="copysign({x}, {y})",
    d=(_copysign_slope, None),
)
def copysign(x: Operand, y: Operand) -> TensorType:
    """The magnitude of x with the sign of y; its derivative at x = 0 is 0."""
    return same(FLOATING, x, y)
