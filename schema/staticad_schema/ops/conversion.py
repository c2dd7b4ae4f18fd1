"""Elementwise changes of dtype, the parts of complex numbers among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..op import OPS, Operand
from ..types import KINDS, NUMERIC, REAL_OF, Array, DType, TensorType, require_dtype
from .pointwise import pointwise, same

_ALL_REAL = dict.fromkeys(("bool", "int", "uint", "float"), "({x})")


def converted(x: Array, *, dtype: DType) -> Array:
    """x in another dtype; of complex numbers that become real, the real part."""
    if x.dtype in REAL_OF and KINDS[dtype] not in ("complex", "bool"):
        x = x.real
    return x.astype(dtype)


def _cast_grad(x: Any, out: Any, g: Any) -> tuple[Any]:
    # Of a complex cotangent of a real x, the real part.
    return (g if g.type.dtype == x.type.dtype else cast(g, dtype=x.type.dtype),)


@pointwise(
    numpy=converted,
    expr=_ALL_REAL,
    grad=_cast_grad,
    jvp="linear",
    widen=False,
)
def cast(x: Operand, *, dtype: DType) -> TensorType:
    """x in another dtype.  A float becomes an integer by dropping its fraction, a complex number
    real by dropping its imaginary part, and bool by asking whether it is not 0.  What an integer
    dtype cannot hold becomes a value that depends on the machine."""
    return x.with_dtype(require_dtype(dtype))


def _conj_grad(x: Any, out: Any, g: Any) -> tuple[Any]:
    return (conj(g),)


@pointwise(
    numpy=np.conj,
    expr=_ALL_REAL,
    grad=_conj_grad,
    jvp="linear",
    widen=False,
)
def conj(x: Operand) -> TensorType:
    """The complex conjugate; x itself if it is real."""
    return same(NUMERIC, x)


@pointwise(
    numpy=lambda x: np.array(x.real),
    expr=_ALL_REAL,
    grad=lambda x, out, g: (g.astype(x.type.dtype),),
    jvp="linear",
    widen=False,
)
def real(x: Operand) -> TensorType:
    """The real part; x itself if it is real."""
    result = same(NUMERIC, x)
    return result.with_dtype(REAL_OF[x.dtype]) if x.dtype in REAL_OF else result


def _imag_grad(x: Any, out: Any, g: Any) -> tuple[Any]:
    return (OPS["multiply"](g.astype(x.type.dtype), 1j),)


@pointwise(numpy=lambda x: np.array(x.imag), expr={}, grad=_imag_grad, jvp="linear", widen=False)
def imag(x: Operand) -> TensorType:
    """The imaginary part of a complex number."""
    return same(frozenset({"complex"}), x).with_dtype(REAL_OF[x.dtype])
