"""Derivatives of adjugates, also of singular matrices: numerical code without types.

The adjugate adj(a), whose elements are the cofactors of the transpose, is det(a) inverse(a) where
there is an inverse.  Its elements are polynomials, so it has derivatives everywhere.  With singular
values s, a = u s vh, and in these bases

    adj(s)_ii = the product of all s but s_i
    d adj(s)_ij = -e_ij q_ij,  d adj(s)_ii = sum over j of q_ij e_jj,

q_ij the product of all s but s_i and s_j: no division, so a singular value of 0 is one like others.
Derivatives of a higher order along e1, e2, ... are coefficients of t1 t2 ... in the adjugate of
s + t1 e1 + t2 e2 + ..., computed with polynomials in which the squares of t1, t2, ... are 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Array
from .lapack import factors
from .matrices import adjoint_of

_REGULAR = 1e4
"""The condition up to which det(a) inverse(a) has lost no more than four digits."""


def derivative(a: Array, along: Sequence[Array]) -> Array:
    """The adjugates of a stack of square matrices, differentiated along each of these stacks.

    All have one shape, and the dtype float64 or complex128.
    """
    size = a.shape[-1]
    if not a.size or len(along) > size - 1:
        # The elements are polynomials of degree size - 1.
        return np.zeros_like(a)
    flat = a.reshape(-1, size, size)
    es = [e.reshape(-1, size, size) for e in along]
    out = np.full_like(flat, np.nan)
    finite = np.asarray(np.isfinite(flat).all((1, 2)))
    rest = finite
    if len(es) < 2:
        rest = finite.copy()
        rest[finite] = ~_by_inverse(flat, es, finite, out)
    if rest.any():
        u, s, vh = np.linalg.svd(flat[rest])
        inner = [adjoint_of(u) @ e[rest] @ adjoint_of(vh) for e in es]
        unit = (_unit_determinant(u) * _unit_determinant(vh))[:, None, None]

        def in_place(adjugate: Array) -> Array:
            return np.asarray(unit * (adjoint_of(vh) @ adjugate @ adjoint_of(u)))

        if len(es) < 2:
            adjugate = (_adjugate, _first)[len(es)]
            products = (_all_but_one, _all_but_two)[len(es)](s)
            # Products beyond the range add nothing, not NaN, to elements that they are no part of.
            small, large, power = _in_and_beyond_range(products)
            found = in_place(adjugate(small, inner))
            found += shifted(in_place(adjugate(large, inner)), power[:, None, None])
        else:
            found = in_place(_higher(s, inner))
        out[rest] = found
    return out.reshape(a.shape)


def _unit_determinant(q: Array) -> Array:
    """The determinants of unitary matrices."""
    found = factors(q)
    diagonal = np.diagonal(found.upper, 0, -2, -1)
    return np.asarray(np.prod(np.sign(diagonal), -1) * found.parity)


def _by_inverse(a: Array, es: Sequence[Array], finite: Array, out: Array) -> Array:
    """Writes those that an inverse gives without loss; of all that are finite, which these are."""
    some = a[finite]
    det = np.linalg.det(some)[:, None, None]
    size = np.abs(det)
    normal = (size > np.finfo(np.float64).tiny) & np.isfinite(size)
    inverse = np.linalg.inv(np.where(normal, some, np.eye(some.shape[-1])))
    condition = np.abs(some).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
    good = normal[:, 0, 0] & (condition < _REGULAR)
    found = det * inverse
    if es:
        moved = inverse @ es[0][finite]
        trace = np.trace(moved, axis1=-2, axis2=-1)[:, None, None]
        found = trace * found - moved @ found
        good &= np.isfinite(found).all((1, 2))
    places = np.flatnonzero(finite)[good]
    out[places] = found[good]
    return np.asarray(good)


# ------------------------------------------------------------------ products


@dataclass(frozen=True)
class _Scaled:
    """factor * 2**power: numbers that may be beyond the range of floats."""

    factor: Array
    power: Array

    def __mul__(self, other: _Scaled) -> _Scaled:
        return _Scaled(self.factor * other.factor, self.power + other.power)

    def __getitem__(self, place: Any) -> _Scaled:
        return _Scaled(self.factor[place], self.power[place])


def _cumulative(s: Array) -> _Scaled:
    """The products of the first 0, 1, 2, ... elements of each row, but not of all."""
    factor, power = np.frexp(s[:, :-1])
    # Between the roots of 1/2 and 2, of which a product of a thousand has not left the range.
    low = factor < math.sqrt(0.5)
    factor, power = np.where(low, 2 * factor, factor), power.astype(np.int64) - low
    start = np.zeros((len(s), 1), np.int64)
    return _Scaled(
        np.cumprod(np.concatenate([start + 1.0, factor], 1), 1),
        np.cumsum(np.concatenate([start, power], 1), 1),
    )


def _all_but_one(s: Array) -> _Scaled:
    """The products of all elements of each row but one."""
    return _cumulative(s) * _cumulative(s[:, ::-1])[:, ::-1]


def _all_but_two(s: Array) -> _Scaled:
    """The products of all elements of each row but two, a symmetric matrix with zeros on the
    diagonal."""
    count, size = s.shape
    factor = np.zeros((count, size, size))
    power = np.zeros((count, size, size), np.int64)
    before, behind = _cumulative(s), _cumulative(s[:, ::-1])[:, ::-1]
    for i in range(size - 1):
        rest = (slice(None), slice(i + 1, None))
        found = before[:, i, None] * _cumulative(s[rest]) * behind[rest]
        factor[:, i, i + 1 :] = factor[:, i + 1 :, i] = found.factor
        power[:, i, i + 1 :] = power[:, i + 1 :, i] = found.power
    return _Scaled(factor, power)


def _in_and_beyond_range(x: _Scaled) -> tuple[Array, Array, Array]:
    """Numbers, with 0 for those that are too large; these, with 0 for the others, over a power of
    2; and the power, for each of the first axis."""
    plain = shifted(x.factor, x.power)
    beyond = ~np.isfinite(plain)
    axes = tuple(range(1, plain.ndim))
    power = np.max(x.power, axes, initial=0, where=beyond)
    scaled = shifted(x.factor, x.power - power.reshape(-1, *(1,) * len(axes)))
    return np.where(beyond, 0, plain), np.where(beyond, scaled, 0), power


def shifted(x: Array, power: Array) -> Array:
    """x times powers of 2."""
    # Far beyond what there is between the least and the greatest float.
    power = np.clip(power, -(2**20), 2**20).astype(np.int32)
    if x.dtype.kind != "c":
        return np.asarray(np.ldexp(x, power))
    out = np.empty(np.broadcast_shapes(x.shape, power.shape), x.dtype)
    out.real, out.imag = np.ldexp(x.real, power), np.ldexp(x.imag, power)
    return out


# ------------------------------------------------------------------ of diagonals


def _adjugate(products: Array, es: Sequence[Array]) -> Array:
    return np.asarray(products[..., None] * np.eye(products.shape[-1]))


def _first(products: Array, es: Sequence[Array]) -> Array:
    (e,) = es
    out = -products * e
    diagonal = np.arange(e.shape[-1])
    of_diagonal = e[:, diagonal, diagonal, None]
    out[:, diagonal, diagonal] = (products @ of_diagonal)[..., 0]
    return out


# ------------------------------------------------------------------ polynomials
#
# A polynomial of matrices is an array of its coefficients, of which number k is that of the product
# of those t whose bits are set in k.


def _times(x: Array, y: Array) -> Array:
    """The product of two polynomials of matrices."""
    out: Array = np.zeros((len(x), *np.matmul(x[0], y[0]).shape), np.result_type(x, y))
    for k in range(len(x)):
        for part in _subsets(k):
            out[k] += x[part] @ y[k ^ part]
    return out


def _subsets(k: int) -> list[int]:
    """The numbers of which no bit is set but of k."""
    found, part = [0], k
    while part:
        found.append(part)
        part = (part - 1) & k
    return found


def _higher(s: Array, es: Sequence[Array]) -> Array:
    """The coefficient of t1 t2 ... in the adjugate of diag(s) + t1 e1 + t2 e2 + ...

    Blocks m = [[m11, m12], [m21, m22]], m22 of as many of the smallest s as the degree can reach,
    so that nothing is divided by them:  r = m22 - m21 inverse(m11) m12,  det m = det m11 det r.
    """
    order = len(es)
    count, size = s.shape
    last = min(order + 1, size)
    first = size - last
    m = np.zeros((1 << order, count, size, size), es[0].dtype)
    m[0] = s[..., None] * np.eye(size)
    for k, e in enumerate(es):
        m[1 << k] = e
    if not first:
        return np.asarray(_small_adjugate(m)[-1])
    # Where one of the others is 0 too, there is no term without it.
    alive = s[:, first - 1] > s[:, 0] * size * np.finfo(s.dtype).eps
    safe = np.where(alive[:, None], s[:, :first], 1.0)
    inverse = np.zeros_like(m[..., :first, :first])
    inverse[0] = (1 / safe)[..., None] * np.eye(first)
    for k in range(1, 1 << order):
        for part in _subsets(k):
            if part:
                inverse[k] -= inverse[0] @ m[part, :, :first, :first] @ inverse[k ^ part]
    right = _times(inverse, m[..., :first, first:])
    left = _times(m[..., first:, :first], inverse)
    r = m[..., first:, first:] - _times(m[..., first:, :first], right)
    det = _determinant(m[..., :first, :first], safe)[..., None, None]
    inner = _small_adjugate(r)
    upper = _times(right, inner)
    whole = _small_determinant(r)[..., None, None]
    corner = _scaled(whole, inverse) + _times(upper, left)
    rows = [
        np.concatenate([corner, -upper], -1),
        np.concatenate([-_times(inner, left), inner], -1),
    ]
    found = _scaled(det, np.concatenate(rows, -2))[-1]
    return np.where(alive[:, None, None], found, 0)


def _scaled(c: Array, x: Array) -> Array:
    """A polynomial of numbers times one of matrices."""
    out: Array = np.zeros(np.broadcast_shapes(c.shape, x.shape), np.result_type(c, x))
    for k in range(len(x)):
        for part in _subsets(k):
            out[k] += c[part] * x[k ^ part]
    return out


def _determinant(m: Array, s: Array) -> Array:
    """det(m), m[0] = diag(s): det(m[0]) exp(trace(log(inverse(m[0]) m)))."""
    degree = len(m).bit_length() - 1
    change = m / s[..., None]
    change[0] = 0
    total = np.zeros(m.shape[:2], m.dtype)
    power = change
    for j in range(1, degree + 1):
        total += (-1) ** (j + 1) / j * np.trace(power, axis1=-2, axis2=-1)
        power = _times(power, change)
    out = np.zeros_like(total)
    out[0] = 1
    term = out
    for j in range(1, degree + 1):
        term = _scaled(term, total) / j
        out = out + term
    return np.asarray(out * np.prod(s, -1))


def _small_determinant(m: Array) -> Array:
    """The determinant of small matrices, as the sum over permutations."""
    size = m.shape[-1]
    out = np.zeros(m.shape[:-2], m.dtype)
    for order in itertools.permutations(range(size)):
        term = np.zeros_like(out)
        term[0] = _sign(order)
        for i, j in enumerate(order):
            term = _scaled(term, m[..., i, j])
        out += term
    return out


def _sign(order: Sequence[int]) -> int:
    pairs = itertools.combinations(order, 2)
    return math.prod(1 if a < b else -1 for a, b in pairs)


def _small_adjugate(m: Array) -> Array:
    size = m.shape[-1]
    out = np.zeros_like(m)
    for i, j in itertools.product(range(size), repeat=2):
        minor = np.delete(np.delete(m, j, -2), i, -1)
        out[..., i, j] = (-1) ** (i + j) * _small_determinant(minor)
    return out
