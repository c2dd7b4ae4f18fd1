"""Exact rules for `where`, maximum and minimum."""

from __future__ import annotations

from staticad_schema.node import Node

from ..rules import Rewriting, fits, rule, settled
from .numbers import constant_like, is_integer, uniform

# What where(x ? a, a, x) is for a number a, by the comparison; and the comparison mirrored.
_BOUNDS = {
    "less": "maximum", "less_equal": "maximum", "greater": "minimum", "greater_equal": "minimum",
}  # fmt: skip
_MIRRORED = {
    "less": "greater", "less_equal": "greater_equal",
    "greater": "less", "greater_equal": "less_equal",
}  # fmt: skip
_OPPOSITE = {"maximum": "minimum", "minimum": "maximum"}


def _is_bound(r: Rewriting, value: int) -> bool:
    """Whether maximum and minimum with a value do no more than compare with one number: NaN is
    no bound, and which of two zeros they choose is not said."""
    element = uniform(r, value)
    if element is None:
        return False
    return is_integer(r, value) or bool(element == element and element != 0)


def _is_same(r: Rewriting, value: int, number: int) -> bool:
    """Whether a value is the number that a bound is."""
    own = uniform(r, value)
    return own is not None and bool(own == uniform(r, number))


@rule("exact", "where")
def where_of_bound(r: Rewriting, node: Node) -> int | None:
    """where(x < a, a, x) → maximum(x, a) for a number a, not 0 or NaN, and its mirror images: they
    give x where x is NaN.  Also where(x > b, b, maximum(x, a)) → minimum(maximum(x, a), b) for
    a <= b; and where(x > a, x, a) of integers"""
    condition, chosen, other = node.inputs
    test = r.producer(condition)
    compare = test.op
    if compare not in _BOUNDS:
        return None
    x, number = test.inputs
    if uniform(r, number) is None:
        x, number, compare = number, x, _MIRRORED[compare]
    if not _is_bound(r, number):
        return None
    name = _BOUNDS[compare]
    if _is_same(r, chosen, number) and (other == x or _is_bounded(r, other, x, number, name)):
        return r.add(name, (other, number), node)
    if chosen == x and is_integer(r, x) and _is_same(r, other, number):
        return r.add(_OPPOSITE[name], (x, number), node)
    return None


def _is_bounded(r: Rewriting, value: int, x: int, number: int, name: str) -> bool:
    """Whether a value is x bounded on the other side by what is not beyond the number."""
    inner = r.producer(value)
    if inner.op != _OPPOSITE[name] or x not in inner.inputs:
        return False
    (other,) = [v for v in inner.inputs if v != x] or [x]
    if not _is_bound(r, other):
        return False
    a, b = uniform(r, other), uniform(r, number)
    return bool(a <= b if name == "minimum" else a >= b)


@rule("exact", "where")
def where_of_constant(r: Rewriting, node: Node) -> int | None:
    """where(true, x, y) → x; where(false, x, y) → y"""
    condition, x, y = node.inputs
    element = uniform(r, condition)
    if element is None:
        return None
    value, shape = x if element else y, node.types[0].shape
    if r.type(value).shape == shape:
        return value
    return r.add("broadcast_to", (value,), node, shape=shape)


@rule("exact", "where")
def where_of_negation(r: Rewriting, node: Node) -> int | None:
    """where(not c, x, y) → where(c, y, x)"""
    condition, x, y = node.inputs
    test = r.producer(condition)
    return r.add("where", (test.inputs[0], y, x), node) if test.op == "logical_not" else None


@rule("exact", "where")
def where_of_where(r: Rewriting, node: Node) -> int | None:
    """where(c, where(c, x, y), z) → where(c, x, z); where(c, x, where(c, y, z)) → where(c, x, z)"""
    condition, x, y = node.inputs
    for k, value in enumerate((x, y)):
        inner = r.producer(value)
        if inner.op == "where" and inner.inputs[0] == condition:
            kept = inner.inputs[1 + k]
            # The other branch may be what made the inner one larger, or fail to fit.
            if fits(r.type(inner.inputs[2 - k]).shape, r.type(kept).shape):
                return r.add(
                    "where", (condition, kept, y) if k == 0 else (condition, x, kept), node
                )
    return None


@rule("exact", "maximum", "minimum")
def bounds_of_bound(r: Rewriting, node: Node) -> int | None:
    """maximum(maximum(x, a), b) → maximum(x, c), where c is the larger one of the numbers a and b;
    the same of minimum"""
    x, number = node.inputs
    if uniform(r, number) is None:
        x, number = number, x
    inner = r.producer(x)
    if inner.op != node.op or uniform(r, number) is None or not settled(r, inner):
        return None
    below, first = inner.inputs
    if uniform(r, first) is None:
        below, first = first, below
    if not (_is_bound(r, first) and _is_bound(r, number)):
        return None
    a, b = uniform(r, first), uniform(r, number)
    decides = max(a, b) if node.op == "maximum" else min(a, b)
    return r.add(node.op, (below, constant_like(r, below, decides, node)), node)


@rule("exact", "maximum", "minimum")
def bound_beyond(r: Rewriting, node: Node) -> int | None:
    """maximum(minimum(x, a), b) → b broadcast, for integers a <= b; and the mirror image"""
    x, number = node.inputs
    if uniform(r, number) is None:
        x, number = number, x
    inner, b = r.producer(x), uniform(r, number)
    if inner.op != _OPPOSITE[node.op] or not is_integer(r, x) or b is None:
        return None
    if not settled(r, inner):
        return None
    bounds = [uniform(r, v) for v in inner.inputs]
    a = next((e for e in bounds if e is not None), None)
    if a is None or (a > b if node.op == "maximum" else a < b):
        return None
    return r.add("broadcast_to", (constant_like(r, x, b, node),), node, shape=node.types[0].shape)
