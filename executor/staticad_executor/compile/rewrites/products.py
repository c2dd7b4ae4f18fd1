"""Rules for contractions.

A product of matrices has the same bound of its error in whatever order it adds its terms: with n
of them and the rounding u it is n u / (1 - n u) times the product of absolute values (Higham,
Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
"""

from __future__ import annotations

from staticad_schema.node import Node
from staticad_schema.types import INEXACT, KINDS, WIDENED

from ..rules import Rewriting, rule
from .parts import MOST_OPERANDS


@rule("stable", "matmul")
def product_with_transpose(r: Rewriting, node: Node) -> int | None:
    """a @ transpose(b) → matmul_transposed(a, b) for a matrix b: the same terms, in an order that
    follows from the sizes"""
    a, value = node.inputs
    turned = r.producer(value)
    if turned.op != "permute_dims" or turned.attributes["axes"] != (1, 0):
        return None
    dtype = r.type(a).dtype
    if len(r.type(a).shape) < 2 or KINDS[dtype] not in INEXACT or dtype in WIDENED:
        return None
    return r.add("matmul_transposed", (a, turned.inputs[0]), node)


@rule("fast", "add")
def joined_products(r: Rewriting, node: Node) -> int | None:
    """transpose(a) @ b + transpose(c) @ d → transpose(concat(a, c)) @ concat(b, d), as the steps of
    a sequence add up for one matrix.  What is added term by term is rounded more often than what
    is summed up in products first: the error may be twice as large"""
    before, product = node.inputs
    last = _factors(r, product)
    if last is None or r.type(before) != node.types[0]:
        return None
    rest: tuple[int, ...] = ()
    first = _factors(r, before)
    inner = r.producer(before)
    if inner.op == "add" and r.type(inner.inputs[0]) == node.types[0]:
        rest, first = inner.inputs[:1], _factors(r, inner.inputs[1])
    if first is None or len(first[0]) + len(last[0]) > MOST_OPERANDS:
        return None
    a, b = (r.add("concat", (*x, *y), node, axis=0) for x, y in zip(first, last, strict=True))
    turned = r.add("permute_dims", (a,), node, axes=(1, 0))
    joined = r.add("matmul", (turned, b), node)
    return r.add("add", (*rest, joined), node) if rest else joined


def _factors(r: Rewriting, value: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The matrices of which transpose(concat(...)) @ concat(...) is the value; else None."""
    product = r.producer(value)
    if product.op != "matmul" or KINDS[r.type(value).dtype] not in INEXACT:
        return None
    left, right = product.inputs
    turned = r.producer(left)
    if turned.op != "permute_dims" or turned.attributes["axes"] != (1, 0):
        return None
    if len(r.type(right).shape) != 2:
        return None
    sides = tuple(r.producer(v) for v in (turned.inputs[0], right))
    if all(side.op == "concat" and side.attributes["axis"] == 0 for side in sides):
        sizes = [[r.type(v).shape[0] for v in side.inputs] for side in sides]
        if sizes[0] == sizes[1]:
            return sides[0].inputs, sides[1].inputs
    return turned.inputs, (right,)
