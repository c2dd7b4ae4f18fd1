"""Determinants, and their logarithms.

The derivative of the determinant are the cofactors, which there are where a has no inverse, too.
That of its logarithm is the inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..op import OPS, Operand, op
from ..shapes import broadcast_shapes
from ..types import REAL_OF, Array, TensorType
from .adjugate import derivative, shifted
from .arithmetic import multiply_no_nan
from .checks import same_dtype
from .lapack import factors
from .lu import lu
from .matrices import check_square, diagonal_of, expected_square, identity_like, transposed
from .pointwise import conjugated, select, total
from .reduce import prod, sum_
from .shape import aligned, reshape, zeros
from .solving import solve


def _column(x: Any) -> Any:
    """Numbers, one a matrix, as matrices of one element."""
    return reshape(x, shape=(*x.type.shape, 1, 1))


# ------------------------------------------------------------------ cofactors


def _cofactors(a: Array, *directions: Array) -> Array:
    wide = np.result_type(a.dtype, np.float64)
    given = [np.asarray(x, wide) for x in (a, *directions)]
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in given))
    stacks = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in given]
    return transposed(derivative(stacks[0], stacks[1:]))


def _grad_cofactors(xs: Sequence[Any], out: Any, g: Any) -> tuple[Any, ...]:
    # The derivatives of a determinant do not depend on the order of the directions.
    along = conjugated(g)
    first = conjugated(cofactors(*xs, along))
    others = [conjugated(cofactors(*xs[:k], *xs[k + 1 :], along)) for k in range(1, len(xs))]
    return (first, *others)


def _jvp_cofactors(xs: Sequence[Any], out: Any, tangents: Sequence[Any]) -> Any:
    terms = [None if tangents[0] is None else cofactors(*xs, tangents[0])]
    for k in range(1, len(xs)):
        t = tangents[k]
        terms.append(None if t is None else cofactors(*xs[:k], t, *xs[k + 1 :]))
    return total(terms)


def _batch_cofactors(xs: Sequence[Any], batched: Sequence[bool]) -> Any:
    return cofactors(*aligned(xs, batched))


@op(
    numpy=_cofactors,
    grad=_grad_cofactors,
    jvp=_jvp_cofactors,
    batch=_batch_cofactors,
)
def cofactors(*xs: Operand) -> TensorType:
    """The derivatives of the determinant of x0 in its elements, differentiated along x1, x2, ...

    Stacks of square matrices broadcast.
    """
    dtype = same_dtype(xs)
    sizes = [check_square(x) for x in xs]
    shapes = [(*x.shape[:-2], size, size) for x, size in zip(xs, sizes, strict=True)]
    return TensorType(dtype, broadcast_shapes(shapes))


# ------------------------------------------------------------------ det


def _product(x: Array) -> Array:
    """The product along the last axis, that may leave the range of the dtype only at the end."""
    out = np.asarray(np.prod(x, -1))
    limits = np.finfo(x.dtype)
    size = np.abs(out)
    lost = ((size < limits.tiny) | ~np.isfinite(size)) & np.isfinite(x).all(-1)
    if not lost.any():
        return out
    rows = x[lost]
    found = np.ones(len(rows), x.dtype)
    power = np.zeros(len(rows), np.int64)
    for column in np.moveaxis(rows, -1, 0):
        found = found * column
        _, exponent = np.frexp(np.abs(found))
        found = shifted(found, -exponent)
        power += exponent
    out = np.array(out)
    out[lost] = shifted(found, power)
    return out


def _det(a: Array) -> Array:
    found = factors(a)
    # Never -0, which would say nothing but how many rows were swapped.
    product = _product(np.diagonal(found.upper, 0, -2, -1))
    return np.asarray(np.where(found.parity < 0, -product, product) + a.dtype.type(0))


def _batch_det(a: Any, batched: Sequence[bool]) -> Any:
    return det(a)


@op(
    numpy=_det,
    grad=lambda a, out, g: (multiply_no_nan(conjugated(cofactors(a)), _column(g)),),
    jvp=lambda a, out, tangents: sum_(
        cofactors(a) * tangents[0], axis=(a.type.ndim - 2, a.type.ndim - 1), keepdims=False
    ),
    batch=_batch_det,
)
def det(a: Operand) -> TensorType:
    """The determinant of each matrix of a stack; 1 of a matrix without elements."""
    check_square(a)
    return a.with_shape(a.shape[:-2])


# ------------------------------------------------------------------ slogdet


def _slogdet_expansion(a: Any) -> tuple[Any, Any]:
    _, upper, _, parity = lu(expected_square(a))
    diagonal = diagonal_of(upper)
    axis = (diagonal.type.ndim - 1,)
    sign = prod(OPS["sign"](diagonal), axis=axis, keepdims=False) * parity.astype(a.type.dtype)
    return sign, sum_(OPS["log"](OPS["abs"](diagonal)), axis=axis, keepdims=False)


def _grad_slogdet(a: Any, out: Sequence[Any], g: Sequence[Any]) -> tuple[Any]:
    sign, _ = out
    of_sign, of_log = g
    is_complex = a.type.kind == "complex"
    weight = None if of_log is None else of_log.astype(a.type.dtype)
    if of_sign is not None and is_complex:
        # d sign = i sign imag(trace(inverse(a) da))
        turned = OPS["imag"](conjugated(sign) * of_sign).astype(a.type.dtype)
        weight = total([weight, turned * a.coerce(1j)])
    if weight is None:
        return (zeros(a, a.type.shape),)
    found = solve(a, _column(weight) * identity_like(a), adjoint=True, strict=False)
    # Singular matrices of which nothing is used take no part, to any order: their inverses, which
    # are not finite, would make NaN of a cotangent of this.
    used = OPS["not_equal"](sign, sign.coerce(0.0)) | OPS["not_equal"](weight, weight.coerce(0.0))
    return (select(_column(used), found),)


def _jvp_slogdet(a: Any, out: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    change = diagonal_of(solve(a, tangents[0], adjoint=False, strict=False))
    rate = sum_(change, axis=(change.type.ndim - 1,), keepdims=False)
    if a.type.kind != "complex":
        return None, rate
    turning = OPS["imag"](rate).astype(a.type.dtype) * a.coerce(1j)
    return out[0] * turning, OPS["real"](rate)


def _batch_slogdet(a: Any, batched: Sequence[bool]) -> Any:
    return slogdet(a)


@op(
    expand=_slogdet_expansion,
    grad=_grad_slogdet,
    jvp=_jvp_slogdet,
    batch=_batch_slogdet,
)
def slogdet(a: Operand) -> tuple[TensorType, TensorType]:
    """The sign (of a complex matrix the phase) of the determinant, and log(abs(det)).

    0 and -inf of a singular matrix, where the gradient is not finite, but 0 if its cotangent is.
    """
    check_square(a)
    one = a.with_shape(a.shape[:-2])
    return one, one.with_dtype(REAL_OF.get(a.dtype, a.dtype))
