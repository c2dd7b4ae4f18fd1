"""Rules that may lose accuracy or the treatment of special values: only on request."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.node import Node
from staticad_schema.types import FLOATING, INEXACT, KINDS

from ..rules import Rewriting, rule, settled
from .algebra import factored
from .numbers import constant_like, is_scalar, split, uniform


@rule("fast", "divide")
def divide_by_constant(r: Rewriting, node: Node) -> int | None:
    """x / c → x * (1 / c): another rounding"""
    x, y = node.inputs
    element = uniform(r, y)
    if element is None or KINDS[node.types[0].dtype] not in FLOATING:
        return None
    if r.type(x) != node.types[0] or not np.isfinite(element) or element == 0:
        return None
    return r.add("multiply", (x, r.add("reciprocal", (y,), node)), node)


@rule("fast", "add")
def add_zero(r: Rewriting, node: Node) -> int | None:
    """x + 0 → x: -0 keeps its sign"""
    x, y = node.inputs
    if is_scalar(uniform(r, y), 0):
        return x
    return y if is_scalar(uniform(r, x), 0) else None


@rule("fast", "multiply")
def product_of_factors(r: Rewriting, node: Node) -> int | None:
    """(x * a) * b → x * (a * b) for numbers a and b"""
    outer = split(r, node)
    if outer is None:
        return None
    inner = r.producer(outer[0])
    found = split(r, inner) if inner.op == "multiply" and settled(r, inner) else None
    if found is None or r.type(found[0]) != node.types[0]:
        return None
    return r.add("multiply", (found[0], r.add("multiply", (found[1], outer[1]), node)), node)


@rule("fast", "add")
def factor_out(r: Rewriting, node: Node) -> int | None:
    """x * z + y * z → (x + y) * z"""
    first, second = (r.producer(v) for v in node.inputs)
    if first.op != "multiply" or second.op != "multiply":
        return None
    return factored(r, node, first, second)


@rule("fast", "matmul")
def order_of_products(r: Rewriting, node: Node) -> int | None:
    """(a @ b) @ c → a @ (b @ c), or the reverse, where that takes fewer multiplications, of
    matrices and vectors of known sizes"""
    left, right = node.inputs
    for k, value in enumerate((left, right)):
        inner = r.producer(value)
        if inner.op != "matmul":
            continue
        three = (*inner.inputs, right) if k == 0 else (left, *inner.inputs)
        shapes: list[Any] = [r.type(v).shape for v in three]
        known = all(len(s) in (1, 2) and all(isinstance(d, int) for d in s) for s in shapes)
        if not known or len(shapes[1]) != 2:
            continue
        rows = shapes[0][0] if len(shapes[0]) == 2 else 1
        columns = shapes[2][1] if len(shapes[2]) == 2 else 1
        m, n = shapes[1]
        from_left, from_right = rows * n * (m + columns), columns * m * (n + rows)
        a, b, c = three
        if k == 0 and from_right < from_left:
            return r.add("matmul", (a, r.add("matmul", (b, c), node)), node)
        if k == 1 and from_left < from_right:
            return r.add("matmul", (r.add("matmul", (a, b), node), c), node)
    return None


@rule("fast", "matmul")
def rows_by_number(r: Rewriting, node: Node) -> int | None:
    """one_hot(i) @ w → the rows of w at i; its gradient, transpose(one_hot(i)) @ g, → the rows of
    g added at i.  What is out of range counts as 0, and 0 * inf is no longer NaN"""
    left, right = node.inputs
    if len(r.type(right).shape) != 2 or KINDS[r.type(right).dtype] not in INEXACT:
        return None
    marks = r.producer(left)
    if marks.op == "one_hot":
        found = _numbered(r, marks, node)
        if found is None:
            return None
        inside, numbers = found
        rows = r.add("take", (right, numbers), node, axis=0)
        return r.add("where", (inside, rows, constant_like(r, right, 0, node)), node)
    if marks.op != "permute_dims" or marks.attributes["axes"] != (1, 0):
        return None
    marks = r.producer(marks.inputs[0])
    if marks.op == "reshape":
        marks = r.producer(marks.inputs[0])
    if marks.op != "one_hot":
        return None
    found = _numbered(r, marks, node)
    if found is None:
        return None
    zero = constant_like(r, right, 0, node)
    count = r.type(right).shape[0]
    inside = r.add("reshape", (found[0],), node, shape=(count, 1))
    rows = r.add("where", (inside, right, zero), node)
    table = r.add("broadcast_to", (zero,), node, shape=node.types[0].shape)
    numbers = r.add("reshape", (found[1],), node, shape=(count,))
    return r.add("scatter_add", (table, rows, numbers), node, axes=(0,))


def _numbered(r: Rewriting, marks: Node, like: Node) -> tuple[int, int] | None:
    """Of a one_hot of known depth which numbers are in range, with an axis of size 1 behind, and
    the numbers within it; None where their dtype cannot say that."""
    (numbers,), depth = marks.inputs, marks.attributes["depth"]
    dtype = r.type(numbers).dtype
    if not isinstance(depth, int) or not 0 < depth <= np.iinfo(dtype).max:
        return None
    low, high = (constant_like(r, numbers, bound, like) for bound in (0, depth - 1))
    above = r.add("greater_equal", (numbers, low), like)
    inside = r.add("logical_and", (above, r.add("less_equal", (numbers, high), like)), like)
    shape = (*r.type(numbers).shape, 1)
    return (
        r.add("reshape", (inside,), like, shape=shape),
        r.add("clip", (numbers, low, high), like),
    )
