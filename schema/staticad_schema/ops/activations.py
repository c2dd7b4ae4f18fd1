"""Elementwise activations whose stable value or gradient is not that of a composite.

Those that are x times a share of it between 0 and 1 compute the share of an x held so near to 0
that it is finite with all its derivatives; further out they are x, or 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..op import OPS, Operand, op
from ..types import FLOATING, REAL, Array, TensorType
from . import elementwise as e
from .pointwise import pointwise, same, select


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


def _gelu_expansion(x: Any, *, approximate: bool) -> Any:
    near = e.clip(x, x.coerce(-_FAR), x.coerce(_FAR))
    if approximate:
        cubic = e.add(near, e.multiply(e.multiply(e.square(near), near), x.coerce(0.044715)))
        # (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh is near -1.
        share = e.sigmoid(e.multiply(cubic, x.coerce(2 * math.sqrt(2.0 / math.pi))))
    else:
        # erfc keeps its digits where 1 + erf has lost them.
        share = e.multiply(e.erfc(e.multiply(near, x.coerce(-math.sqrt(0.5)))), x.coerce(0.5))
    return e.multiply_no_nan(x, share)


def _gelu(x: Array, *, approximate: bool) -> Array:
    near = np.clip(x, -_FAR, _FAR)
    if approximate:
        cubic = near + x.dtype.type(0.044715) * (near * near * near)
        share: Array = _numpy("sigmoid")(x.dtype.type(2 * math.sqrt(2.0 / math.pi)) * cubic)
    else:
        share = _numpy("erfc")(near * x.dtype.type(-math.sqrt(0.5))) * x.dtype.type(0.5)
    result: Array = _numpy("multiply_no_nan")(x, share)
    return result


def _numpy(name: str) -> Any:
    """The meaning of another op."""
    return OPS[name].numpy


@op(
    numpy=_gelu,
    expand=_gelu_expansion,
    grad="expand",
    batch="elementwise",
    widen=True,
)
def gelu(x: Operand, *, approximate: bool = False) -> TensorType:
    """x times the normal distribution's share below x (Hendrycks and Gimpel 2016).

    approximate: the tanh form, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
    """
    return same(FLOATING, x)


def _near(x: Any) -> Any:
    return e.clip(x, x.coerce(-_FAR_EXP), x.coerce(_FAR_EXP))


def _silu_expansion(x: Any) -> Any:
    return e.multiply_no_nan(x, e.sigmoid(_near(x)))


def _silu(x: Array) -> Array:
    result: Array = _numpy("multiply_no_nan")(x, _numpy("sigmoid")(x))
    return result


@op(
    numpy=_silu,
    expand=_silu_expansion,
    grad="expand",
    batch="elementwise",
    widen=True,
)
def silu(x: Operand) -> TensorType:
    """x times sigmoid(x), also called swish (Elfwing et al. 2017); 0 at -inf."""
    return same(FLOATING, x)


def _mish_share(near: Any, negative: Any, zero: Any, exp: Any, where: Any) -> Any:
    """tanh(log(1 + exp(x))), which for n = exp(x) is n (n + 2) / (n (n + 2) + 2).

    For x from 0 on in powers of m = exp(-x), as the difference from 1: neither side overflows, or
    loses the digits of its derivatives.
    """
    n, m = exp(where(negative, near, zero)), exp(where(negative, zero, -near))
    below, above = n * (n + 2), m * m * 2
    return where(negative, below / (below + 2), 1 - above / (above + m * 2 + 1))


def _mish_expansion(x: Any) -> Any:
    near = _near(x)
    zero = x.coerce(0.0)

    return e.multiply_no_nan(x, _mish_share(near, e.less(near, zero), zero, e.exp, e.where))


def _mish(x: Array) -> Array:
    share = _mish_share(x, x < 0, np.zeros((), x.dtype), np.exp, np.where)
    result: Array = _numpy("multiply_no_nan")(x, share)
    return result


@op(
    numpy=_mish,
    expand=_mish_expansion,
    grad="expand",
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
    d=lambda x, out: e.reciprocal(e.square(e.add(e.abs(x), 1))),
)
def softsign(x: Operand) -> TensorType:
    """x / (1 + abs(x)), and 1 or -1 at infinity."""
    return same(FLOATING, x)
