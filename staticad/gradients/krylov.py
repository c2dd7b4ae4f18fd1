"""Linear equations solved by products alone: conjugate gradients, and GMRES.

Unknowns are vectors; products are functions of handles, called once in the body of a loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.types import INT64

from .fit import filled
from .iterating import repeated_while

# (a vector, what is given) -> the matrix times the vector.
Product = Callable[[Any, list[Any]], Any]

RESTART = 20


class Limits(NamedTuple):
    """When to end.  rtol: of the residual, in relation to the right side.  iterations: the most
    products, of GMRES the most restarts.  restart: products between these."""

    rtol: float
    atol: float
    iterations: int
    restart: int = RESTART


def solved_linearly(
    graph: Graph,
    method: str,
    product: Product,
    b: Any,
    x: Any,
    given: Sequence[Any],
    limits: Limits,
) -> Any:
    """x in A x = b, a vector, from a first guess.

    cg: for a symmetric A whose eigenvalues are above 0.
    """
    solver = _conjugate_gradients if method == "cg" else _gmres
    return solver(graph, product, b, x, given, limits)


def dot(a: Any, b: Any) -> Any:
    """The sum of products of two vectors."""
    return OPS["sum"](a * b, axis=(0,), keepdims=False)


def norm(a: Any) -> Any:
    """The length of a vector."""
    return OPS["sqrt"](dot(a, a))


def bound(b: Any, limits: Limits) -> Any:
    """How long the residual may be."""
    return OPS["maximum"](
        norm(b) * limits.rtol, filled(b.graph, limits.atol, b.type.with_shape(()))
    )


def count(graph: Graph) -> Any:
    """Zero."""
    return graph.handle(graph.scalar(0, INT64))


def _conjugate_gradients(
    graph: Graph, product: Product, b: Any, x: Any, given: Sequence[Any], limits: Limits
) -> Any:
    """Hestenes and Stiefel 1952; Saad, "Iterative methods for sparse linear systems", 6.7."""
    r = b - product(x, list(given))
    least = bound(b, limits)

    def test(carry: list[Any], rest: list[Any]) -> list[Any]:
        *_, square, k = carry
        return [(square > rest[0] * rest[0]) & (k < limits.iterations)]

    def step(carry: list[Any], rest: list[Any]) -> list[Any]:
        x, r, p, square, k = carry
        q = product(p, rest[1:])
        length = square / dot(p, q)
        r_next = r - length * q
        after = dot(r_next, r_next)
        return [x + length * p, r_next, r_next + after / square * p, after, k + 1]

    carry = [x, r, r, dot(r, r), count(graph)]
    return repeated_while(graph, "cg", test, step, carry, [least, *given])[0]


def _gmres(
    graph: Graph, product: Product, b: Any, x: Any, given: Sequence[Any], limits: Limits
) -> Any:
    """Saad and Schultz 1986, with restarts; each vector is made orthogonal twice.

    It also ends where a restart does not halve the residual.
    """
    size = b.type.shape[0]
    basis = min(limits.restart, size) if isinstance(size, int) else limits.restart
    basis = max(basis, 1)
    least = bound(b, limits)
    r = b - product(x, list(given))

    def test(carry: list[Any], rest: list[Any]) -> list[Any]:
        _, _, length, before, k = carry
        # Written so that a NaN ends it.
        return [(length > rest[0]) & (length * 2.0 < before) & (k < limits.iterations)]

    def step(carry: list[Any], rest: list[Any]) -> list[Any]:
        x, r, length, _, k = carry
        right, others = rest[1], rest[2:]
        x = x + _correction(product, r, length, others, basis)
        r = right - product(x, others)
        return [x, r, norm(r), length, k + 1]

    start = filled(graph, math.inf, b.type.with_shape(()))
    carry = [x, r, norm(r), start, count(graph)]
    return repeated_while(graph, "gmres", test, step, carry, [least, b, *given])[0]


def _correction(product: Product, r: Any, length: Any, given: Sequence[Any], basis: int) -> Any:
    """What shortens the residual most, of the space that products span from it."""
    graph, dtype = r.graph, r.type.dtype
    rows = r.type.with_shape((basis + 1, r.type.shape[0]))
    begun = _unit(graph, count(graph), basis + 1, dtype)
    vectors = OPS["broadcast_to"](_column(begun), shape=rows.shape) * (r / length)
    square = filled(graph, 0.0, r.type.with_shape((basis + 1, basis)))

    def test(carry: list[Any], rest: list[Any]) -> list[Any]:
        _, _, last, k = carry
        return [(k < basis) & (last > float(np.finfo(dtype).eps))]

    def step(carry: list[Any], rest: list[Any]) -> list[Any]:
        vectors, square, _, k = carry
        here = _unit(vectors.graph, k, basis + 1, dtype)
        w = product(here @ vectors, rest)
        whole = norm(w)
        h = vectors @ w
        w = w - h @ vectors
        again = vectors @ w
        w = w - again @ vectors
        left = norm(w)
        there = _unit(vectors.graph, k + 1, basis + 1, dtype)
        # Where nothing is left the space holds the solution.
        new = OPS["multiply_no_nan"](OPS["reciprocal"](left), w)
        column = h + again + there * left
        at = _unit(vectors.graph, k, basis, dtype)
        return [
            vectors + _column(there) * new, square + _column(column) * at,
            left / OPS["maximum"](whole, left + float(np.finfo(dtype).tiny)), k + 1,
        ]  # fmt: skip

    one = filled(graph, 1.0, r.type.with_shape(()))
    vectors, square, *_ = repeated_while(
        graph, "arnoldi", test, step, [vectors, square, one, count(graph)], given
    )
    # The least squares of square y = (length, 0, ...).
    small = filled(graph, float(np.finfo(dtype).eps) * basis, r.type.with_shape((1, 1)))
    y = OPS["pinv"](square, small) @ (begun * length)
    padded = OPS["concat"](y, filled(graph, 0.0, y.type.with_shape((1,))), axis=0)
    return padded @ vectors


def _unit(graph: Graph, k: Any, size: int, dtype: Any) -> Any:
    """1 at position k of a vector, 0 elsewhere."""
    positions = graph.constant(np.arange(size))
    return OPS["cast"](OPS["equal"](positions, k), dtype=dtype)


def _column(v: Any) -> Any:
    return OPS["reshape"](v, shape=(v.type.shape[0], 1))
