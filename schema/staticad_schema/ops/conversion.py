"""Elementwise changes of dtype, the parts of complex numbers among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError
from ..op import Operand, each
from ..types import (
    COMPLEX_OF,
    FLOATING,
    KINDS,
    NUMERIC,
    REAL_OF,
    Array,
    DType,
    TensorType,
    require_dtype,
)
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
    return (complex_(g.coerce(0.0), g),)


@pointwise(numpy=lambda x: np.array(x.imag), expr={}, grad=_imag_grad, jvp="linear", widen=False)
def imag(x: Operand) -> TensorType:
    """The imaginary part of a complex number."""
    return same(frozenset({"complex"}), x).with_dtype(REAL_OF[x.dtype])


def _complex(real: Array, imag: Array) -> Array:
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), COMPLEX_OF[real.dtype])
    out.real = real
    out.imag = imag
    return out


@pointwise(
    numpy=_complex,
    expr={},
    grad=each(lambda x, y, out, g: real(g), lambda x, y, out, g: imag(g)),
    jvp="linear",
    widen=False,
)
def complex_(real: Operand, imag: Operand) -> TensorType:
    """The complex number with these parts, which may be infinite or NaN each for itself."""
    result = same(FLOATING, real, imag)
    if result.dtype not in COMPLEX_OF:
        raise DTypeError(
            "no complex dtype has parts of this one",
            expected="float32, float64",
            found=f"{real}, {imag}",
            hint="use .astype('float32')",
        )
    return result.with_dtype(COMPLEX_OF[result.dtype])
