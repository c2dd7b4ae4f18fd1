"""Elementwise activations whose stable value or gradient is not that of a composite.

Those that are x times a share of it between 0 and 1 compute the share of an x held so near to 0
that it is finite with all its derivatives; further out they are x, or 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..op import Operand, meaning, op
from ..types import FLOATING, REAL, Array, TensorType
from . import elementwise as e
from .pointwise import pointwise, same, scaled, select, wide


def _relu(x: Array) -> Array:
    return np.maximum(x, np.zeros((), x.dtype))


@pointwise(
    numpy=_relu,
    expr="({x} <= 0 ? 0 : {x})",
    grad=lambda x, out, g: (select(e.less_equal(x, x.coerce(0)), g.coerce(0), g),),
    widen=False,
)
def relu(x: Operand) -> TensorType:
    """x where it is above 0, else 0; NaN stays NaN.  The derivative at 0 is 0."""
    return same(REAL, x)


# ------------------------------------------------------------------ a share of x

# Beyond this gelu is x or 0 in every dtype, and the powers of x are within that of float16.
_FAR = 40.0
# Beyond this silu and mish are x or 0 in every dtype: exp(-800) is.
_FAR_EXP = 800.0


def _near(x: Any, far: float) -> Any:
    """x within -far and far.  Not `clip`, whose derivative at NaN is 0: here it stays NaN."""
    above, below = x.coerce(far), x.coerce(-far)
    low = e.where(e.less(x, below), below, x)
    return e.where(e.greater(x, above), above, low)


def _by_slope(slope: Callable[..., Any]) -> dict[str, Any]:
    """The rules of an op by its derivative at x, which half floats compute in float32."""

    def product(x: Any, change: Any, given: dict[str, Any]) -> Any:
        d = slope(wide(x), **given)
        return scaled(d.astype(x.type.dtype), change)

    def grad(x: Any, out: Any, g: Any, **given: Any) -> tuple[Any]:
        return (product(x, g, given),)

    def jvp(x: Any, out: Any, tangents: tuple[Any], **given: Any) -> Any:
        return product(x, tangents[0], given)

    return {"grad": grad, "jvp": jvp}


def _gelu_logit(near: Any) -> Any:
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh is near -1.
    cubic = e.add(near, e.multiply(e.multiply(e.square(near), near), 0.044715))
    return e.multiply(cubic, 2 * math.sqrt(2.0 / math.pi))


def _gelu_share(near: Any) -> Any:
    # erfc keeps its digits where 1 + erf has lost them.
    return e.multiply(e.erfc(e.multiply(near, -math.sqrt(0.5))), 0.5)


def _gelu_expansion(x: Any, *, approximate: bool) -> Any:
    near = _near(x, _FAR)
    share = e.sigmoid(_gelu_logit(near)) if approximate else _gelu_share(near)
    return e.multiply_no_nan(x, share)


def _gelu_slope(x: Any, *, approximate: bool) -> Any:
    near = _near(x, _FAR)
    if approximate:
        logit = _gelu_logit(near)
        share = e.sigmoid(logit)
        rising = e.add(e.multiply(e.square(near), 3 * 0.044715), 1.0)
        rising = e.multiply(rising, 2 * math.sqrt(2.0 / math.pi))
        steepness = e.multiply(e.multiply(share, e.sigmoid(e.negative(logit))), rising)
    else:
        share = _gelu_share(near)
        bell = e.exp(e.multiply(e.square(near), -0.5))
        steepness = e.multiply(bell, 1 / math.sqrt(2 * math.pi))
    return e.add(share, e.multiply(near, steepness))


def _gelu(x: Array, *, approximate: bool) -> Array:
    near = np.clip(x, -_FAR, _FAR)
    if approximate:
        cubic = near + x.dtype.type(0.044715) * (near * near * near)
        share: Array = meaning("sigmoid")(x.dtype.type(2 * math.sqrt(2.0 / math.pi)) * cubic)
    else:
        share = meaning("erfc")(near * x.dtype.type(-math.sqrt(0.5))) * x.dtype.type(0.5)
    result: Array = meaning("multiply_no_nan")(x, share)
    return result


@op(
    numpy=_gelu,
    expand=_gelu_expansion,
    **_by_slope(_gelu_slope),
    batch="elementwise",
    widen=True,
)
def gelu(x: Operand, *, approximate: bool = False) -> TensorType:
    """x times the normal distribution's share below x (Hendrycks and Gimpel 2016).

    approximate: the tanh form, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
    """
    return same(FLOATING, x)


def _silu_expansion(x: Any) -> Any:
    return e.multiply_no_nan(x, e.sigmoid(_near(x, _FAR_EXP)))


def _silu(x: Array) -> Array:
    result: Array = meaning("multiply_no_nan")(x, meaning("sigmoid")(x))
    return result


def _silu_slope(x: Any) -> Any:
    near = _near(x, _FAR_EXP)
    rest = e.multiply(near, e.sigmoid(e.negative(near)))
    return e.multiply(e.sigmoid(near), e.add(rest, 1.0))


@op(
    numpy=_silu,
    expand=_silu_expansion,
    **_by_slope(_silu_slope),
    batch="elementwise",
    widen=True,
)
def silu(x: Operand) -> TensorType:
    """x times sigmoid(x), also called swish (Elfwing et al. 2017); 0 at -inf."""
    return same(FLOATING, x)


def _mish_shares(near: Any, negative: Any, zero: Any, exp: Any, where: Any) -> tuple[Any, Any]:
    """(tanh(log(1 + exp(x))), its distance from 1).

    For n = exp(x) they are n (n + 2) / (n (n + 2) + 2) and 2 / (n (n + 2) + 2); for x from 0 on in
    powers of m = exp(-x): neither side overflows, or loses the digits of its derivatives.
    """
    n, m = exp(where(negative, near, zero)), exp(where(negative, zero, -near))
    below, above = n * (n + 2), m * m * 2
    far = above / (above + m * 2 + 1)
    rest = where(negative, 2 / (below + 2), far)
    return where(negative, below / (below + 2), 1 - far), rest


def _mish_of(x: Any) -> tuple[Any, Any, Any]:
    near = _near(x, _FAR_EXP)
    zero = x.coerce(0.0)
    share, rest = _mish_shares(near, e.less(near, zero), zero, e.exp, e.where)
    return near, share, rest


def _mish_expansion(x: Any) -> Any:
    return e.multiply_no_nan(x, _mish_of(x)[1])


def _mish(x: Array) -> Array:
    share, _ = _mish_shares(x, x < 0, np.zeros((), x.dtype), np.exp, np.where)
    result: Array = meaning("multiply_no_nan")(x, share)
    return result


def _mish_slope(x: Any) -> Any:
    near, share, rest = _mish_of(x)
    steepness = e.multiply(e.multiply(rest, e.add(share, 1.0)), e.sigmoid(near))
    return e.add(share, e.multiply(near, steepness))


@op(
    numpy=_mish,
    expand=_mish_expansion,
    **_by_slope(_mish_slope),
    batch="elementwise",
    widen=True,
)
def mish(x: Operand) -> TensorType:
    """x times tanh(log(1 + exp(x))) (Misra 2019); 0 at -inf."""
    return same(FLOATING, x)


# ------------------------------------------------------------------ softsign


def _softsign(x: Array) -> Array:
    size = np.abs(x)
    return np.where(np.isinf(size), np.sign(x), x / (1 + size))


@pointwise(
    numpy=_softsign,
    expr="({x} == {x} && {x} - {x} != 0 ? copysign(1, {x}) : {x} / (1 + fabs({x})))",
    # Not the derivative of the quotient, a difference of nearly equal numbers far out.
    # A square of a quotient, for the quotient of a square loses its own derivative further out.
    d=lambda x, out: e.square(e.reciprocal(e.add(e.abs(x), 1))),
)
def softsign(x: Operand) -> TensorType:
    """x / (1 + abs(x)), and 1 or -1 at infinity."""
    return same(FLOATING, x)
