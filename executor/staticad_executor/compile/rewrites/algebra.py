"""Exact rules of arithmetic: signs, powers of two, integers, conversions."""

from __future__ import annotations

import numpy as np

from staticad_schema.node import Node
from staticad_schema.types import (
    FLOAT32,
    FLOAT64,
    INTEGER,
    KINDS,
    WIDENED,
)

from ..rules import Rewriting, rule, settled
from .numbers import (
    computed,
    constant_like,
    is_complex,
    is_float,
    is_integer,
    is_power_of_two,
    is_scalar,
    keeps_values,
    split,
    uniform,
)


@rule("exact", "divide")
def divide_by_power_of_two(r: Rewriting, node: Node) -> int | None:
    """x / c → x * (1 / c) for c a power of two, by which both are rounded alike"""
    x, y = node.inputs
    element = uniform(r, y)
    if element is None or not is_float(r, x) or not is_power_of_two(element):
        return None
    with np.errstate(all="ignore"):
        inverse = r.type(y).dtype.type(1 / float(element))
    if float(inverse) * float(element) != 1:
        return None
    if r.type(x) != node.types[0]:
        return None
    return r.add("multiply", (x, constant_like(r, x, inverse, node)), node)


@rule("exact", "add")
def add_negative(r: Rewriting, node: Node) -> int | None:
    """x + -y → x - y; -x + y → y - x"""
    x, y = node.inputs
    if r.producer(y).op == "negative":
        return r.add("subtract", (x, r.producer(y).inputs[0]), node)
    if r.producer(x).op == "negative":
        return r.add("subtract", (y, r.producer(x).inputs[0]), node)
    return None


@rule("exact", "subtract")
def subtract_negative(r: Rewriting, node: Node) -> int | None:
    """x - -y → x + y"""
    x, y = node.inputs
    inner = r.producer(y)
    return r.add("add", (x, inner.inputs[0]), node) if inner.op == "negative" else None


@rule("exact", "multiply", "divide")
def signs_of_factors(r: Rewriting, node: Node) -> int | None:
    """-x * -y → x * y, and -x / -y → x / y; -x * c → x * -c for a number c"""
    x, y = node.inputs
    first, second = r.producer(x), r.producer(y)
    if "negative" not in (first.op, second.op) or is_complex(r, x):
        return None
    if first.op == second.op == "negative":
        return r.add(node.op, (first.inputs[0], second.inputs[0]), node)
    negated, other = (first, y) if first.op == "negative" else (second, x)
    element = uniform(r, other)
    if element is None or r.type(other).shape != ():
        return None
    opposite = constant_like(r, other, computed(np.negative, element), node)
    pair = (negated.inputs[0], opposite)
    return r.add(node.op, pair if other == y else pair[::-1], node)


@rule("exact", "negative")
def negative_of_product(r: Rewriting, node: Node) -> int | None:
    """-(x * c) → x * -c for a number c, and the same of quotients; -(x - y) → y - x of integers,
    where floats would give -0"""
    inner = r.producer(node.inputs[0])
    if inner.op == "subtract" and is_integer(r, inner.inputs[0]):
        return r.add("subtract", inner.inputs[::-1], node)
    if inner.op not in ("multiply", "divide") or is_complex(r, node.inputs[0]):
        return None
    for k, value in enumerate(inner.inputs):
        element = uniform(r, value)
        if element is not None and r.type(value).shape == ():
            opposite = constant_like(r, value, computed(np.negative, element), node)
            return r.add(inner.op, (*inner.inputs[:k], opposite, *inner.inputs[k + 1 :]), node)
    return None


@rule("exact", "multiply")
def multiply_by_minus_one(r: Rewriting, node: Node) -> int | None:
    """x * -1 → -x"""
    found = split(r, node)
    if found is None or not is_scalar(uniform(r, found[1]), -1) or is_complex(r, found[0]):
        return None
    return r.add("negative", (found[0],), node)


@rule("exact", "abs", "square")
def sign_dropped(r: Rewriting, node: Node) -> int | None:
    """abs(-x) → abs(x), square(-x) → square(x), and abs(x) for -x of real x; not abs(-x) of
    unsigned integers, where -x is not the negative of x"""
    inner = r.producer(node.inputs[0])
    if inner.op != "negative" and (inner.op != "abs" or is_complex(r, inner.inputs[0])):
        return None
    if node.op == "abs" and KINDS[node.types[0].dtype] == "uint":
        return None
    return r.add(node.op, inner.inputs, node)


@rule("exact", "multiply")
def multiply_by_zero(r: Rewriting, node: Node) -> int | None:
    """x * 0 → 0 broadcast, of integers"""
    if not is_integer(r, node.inputs[0]):
        return None
    found = split(r, node)
    if found is None or uniform(r, found[1]) != 0:
        return None
    zero = constant_like(r, found[0], 0, node)
    return r.add("broadcast_to", (zero,), node, shape=node.types[0].shape)


@rule("exact", "multiply")
def product_of_numbers(r: Rewriting, node: Node) -> int | None:
    """(x * a) * b → x * (a * b) of integers, and of floats where |b| >= 1 and a is a power of two
    that is at least 1: then nothing is rounded on the way, and what overflows does so in the end"""
    outer = split(r, node)
    if outer is None:
        return None
    inner = r.producer(outer[0])
    if inner.op != "multiply":
        return None
    found = split(r, inner)
    if found is None or not settled(r, inner):
        return None
    (_, number), (x, first) = outer, found
    a, b = uniform(r, first), uniform(r, number)
    if not is_integer(r, x):
        if not is_float(r, x) or not is_power_of_two(a) or abs(a) < 1 or not abs(b) >= 1:
            return None
        if r.type(x).dtype not in (FLOAT32, FLOAT64) or not np.isfinite(
            computed(np.multiply, a, b)
        ):
            return None
    return r.add("multiply", (x, constant_like(r, x, computed(np.multiply, a, b), node)), node)


@rule("exact", "add")
def sum_of_numbers(r: Rewriting, node: Node) -> int | None:
    """(x + a) + b → x + (a + b) of integers"""
    if not is_integer(r, node.inputs[0]):
        return None
    outer = split(r, node)
    if outer is None or r.producer(outer[0]).op != "add":
        return None
    inner = r.producer(outer[0])
    found = split(r, inner)
    if found is None or not settled(r, inner):
        return None
    total = computed(np.add, uniform(r, found[1]), uniform(r, outer[1]))
    return r.add("add", (found[0], constant_like(r, found[0], total, node)), node)


@rule("exact", "add")
def common_factor(r: Rewriting, node: Node) -> int | None:
    """x * z + y * z → (x + y) * z of integers"""
    first, second = (r.producer(v) for v in node.inputs)
    if first.op != "multiply" or second.op != "multiply" or not is_integer(r, node.inputs[0]):
        return None
    return factored(r, node, first, second)


def factored(r: Rewriting, node: Node, first: Node, second: Node) -> int | None:
    """(x + y) * z for the sum of x * z and y * z, where x and y have the shape of the result."""
    for x, z in (first.inputs, first.inputs[::-1]):
        for y, other in (second.inputs, second.inputs[::-1]):
            if z == other and r.type(x).shape == r.type(y).shape == node.types[0].shape:
                return r.add("multiply", (r.add("add", (x, y), node), z), node)
    return None


@rule("exact", "logical_not")
def negated_equality(r: Rewriting, node: Node) -> int | None:
    """not x == y → x != y; not x < y → x >= y of integers"""
    inner = r.producer(node.inputs[0])
    opposite = _NEGATED.get(inner.op)
    if opposite is None:
        return None
    exact = inner.op in ("equal", "not_equal") or is_integer(r, inner.inputs[0])
    return r.add(opposite, inner.inputs, node) if exact else None


_NEGATED = {
    "equal": "not_equal", "not_equal": "equal", "less": "greater_equal",
    "greater_equal": "less", "greater": "less_equal", "less_equal": "greater",
}  # fmt: skip


@rule("exact", "cast")
def cast_of_cast(r: Rewriting, node: Node) -> int | None:
    """A cast after one that loses nothing → one cast"""
    inner = r.producer(node.inputs[0])
    if inner.op != "cast":
        return None
    start, middle = r.type(inner.inputs[0]).dtype, r.type(node.inputs[0]).dtype
    if not keeps_values(start, middle):
        return None
    # There and back is cast_nothing's, which spares the bits of NaN.
    if start == node.attributes["dtype"]:
        return None
    kinds = KINDS[start], KINDS[middle], KINDS[node.attributes["dtype"]]
    # What an integer cannot hold depends on the dtype that it comes from.
    if kinds[2] in INTEGER and not set(kinds[:2]) <= {"bool", *INTEGER}:
        return None
    # Large integers may be rounded twice on their way to a half float.
    if node.attributes["dtype"] in WIDENED and kinds[0] in INTEGER and start.itemsize > 2:
        return None
    return r.add("cast", inner.inputs, node, dtype=node.attributes["dtype"])
