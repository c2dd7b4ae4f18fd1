"""Rules that may lose accuracy or the treatment of special values: only on request."""

from __future__ import annotations

import numpy as np

from staticad_schema.node import Node
from staticad_schema.types import FLOATING, KINDS

from ..rules import Rewriting, rule
from .exact import is_scalar, uniform


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
