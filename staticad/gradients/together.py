"""Cotangents that many nodes of a kind give one value, brought together at once.

Added one by one, each would be an array of the size of the whole value: of the steps of a sequence
as large as the sequence, of the products of a recurrence as large as the weights.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS
from staticad_schema.ops.contract import flattened, swapped
from staticad_schema.ops.pointwise import conjugated
from staticad_schema.types import TensorType

MANY = 8
"""Products of sizes that are not known are one product from so many on."""


def placed(graph: Graph, sliced: Sequence[tuple[Node, Any]]) -> Any:
    """The cotangent of a value of which there are slices, each with its cotangent."""
    shape = graph.types[sliced[0][0].inputs[0]].shape
    slices = [triple for node, _ in sliced for triple in node.attributes["slices"]]
    parts = [part for _, part in sliced]
    return OPS["place"](*parts, slices=tuple(slices), shape=shape)


def often_multiplied(graph: Graph, nodes: Sequence[int]) -> frozenset[int]:
    """The matrices that so many products have on the right that one product over all their rows
    costs less than one of each and their sum."""
    lefts: dict[int, list[int]] = {}
    counts: Counter[int] = Counter()
    for index in nodes:
        node = graph.nodes[index]
        if node.op == "matmul":
            left, right = node.inputs
            counts[right] += 1
            if graph.types[right].ndim == 2 <= graph.types[left].ndim:
                lefts.setdefault(right, []).append(left)
    return frozenset(
        right
        for right, used in lefts.items()
        if len(used) == counts[right] > 1 and _pays(graph, used, right)
    )


def _pays(graph: Graph, lefts: Sequence[int], right: int) -> bool:
    types = [graph.types[v] for v in lefts]
    if not (graph.types[right].is_static and all(t.is_static for t in types)):
        return len(lefts) >= MANY
    inner, columns = (int(size) for size in graph.types[right].shape)
    rows = sum(math.prod(int(size) for size in t.shape[:-1]) for t in types)
    return _moves_less(rows, inner, columns, len(lefts) - 1)


def _moves_less(rows: int, inner: int, columns: int, sums: int) -> bool:
    """Whether one product over these rows moves less memory than so many sums of matrices."""
    # Rows are read and written once more; a sum reads two matrices and writes one.
    return 2 * rows * (inner + columns) < 3 * sums * inner * columns


def pays(left: TensorType, right: TensorType) -> bool:
    """Whether products left.T @ right, one in each iteration, are better done as one."""
    if not (left.is_static and right.is_static):
        return True
    (rows, inner), columns = map(int, left.shape), int(right.shape[1])
    return _moves_less(rows, inner, columns, 1)


def one_product(graph: Graph, products: Sequence[tuple[Node, Any]]) -> Any:
    """The cotangent of the matrix that is on the right in these products, each with its own."""
    lefts = [flattened(graph.handle(node.inputs[0])) for node, _ in products]
    cotangents = [flattened(g) for _, g in products]
    rows, below = OPS["concat"](*lefts, axis=0), OPS["concat"](*cotangents, axis=0)
    return OPS["matmul"](swapped(conjugated(rows)), below)


def summed_products(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """The sum of a.T @ b over the iterations, of which both stack the matrices."""
    total = None
    for a, b in pairs:
        term = OPS["matmul"](swapped(flattened(a)), flattened(b))
        total = term if total is None else OPS["add"](total, term)
    return total
