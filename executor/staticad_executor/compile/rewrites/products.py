"""Rules for contractions.

A product of matrices has the same bound of its error in whatever order it adds its terms: with n
of them and the rounding u it is n u / (1 - n u) times the product of absolute values (Higham,
Accuracy and Stability of Numerical Algorithms, 2002, section 3.1).
"""

from __future__ import annotations

from staticad_schema.node import Node
from staticad_schema.types import INEXACT, KINDS, WIDENED

from ..rules import Rewriting, rule


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
