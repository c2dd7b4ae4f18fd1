"""Constant folding: nodes that can be computed when the program is compiled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from staticad_schema.errors import StaticadError
from staticad_schema.evaluate import evaluate
from staticad_schema.node import Node
from staticad_schema.types import Array, array_type, nbytes

from ...work import operations

# A folded value is kept for the life of the plan, so it may not be much larger than what it
# replaces; and compiling may not take longer than a few runs would.
SMALL_BYTES = 4096
NODE_FLOPS = 1_000_000
TOTAL_FLOPS = 100_000_000

FAILURES = (StaticadError, ArithmeticError, ValueError, IndexError, TypeError, MemoryError)
"""What a meaning may raise."""


def is_transpose(node: Node) -> bool:
    """Whether a node swaps the rows and columns of matrices."""
    if node.op != "permute_dims":
        return False
    rank = len(node.attributes["axes"])
    return bool(node.attributes["axes"] == (*range(rank - 2), rank - 1, rank - 2))


def may_be_kept(out_bytes: int, operands: Sequence[Array]) -> bool:
    """Whether a result of so many bytes is not much larger than what it is computed from."""
    return out_bytes <= max(SMALL_BYTES, 2 * sum(a.nbytes for a in operands))


class Budget:
    """What folding may still spend, over one program."""

    def __init__(self) -> None:
        self.flops = TOTAL_FLOPS

    def take(self, node: Node, operands: Sequence[Array]) -> bool:
        """Whether the node's result and its computation are small enough; spends if so."""
        out_bytes = sum(nbytes(t) for t in node.types)
        if not may_be_kept(out_bytes, operands):
            return False
        flops = operations(node.op, [array_type(a) for a in operands], node.types)
        if flops > min(NODE_FLOPS, self.flops):
            return False
        self.flops -= flops
        return True


def folded(node: Node, operands: Sequence[Array]) -> tuple[Array, ...] | None:
    """The node's outputs, read-only; None where computing them fails: the node is then left
    to fail when it runs, where the error names the user's line."""
    try:
        arrays = evaluate(node.definition, operands, node.attributes, node.types)
    except FAILURES:
        return None
    return kept(arrays)


def kept(arrays: Sequence[Array]) -> tuple[Array, ...]:
    """Read-only copies."""
    copies = tuple(np.array(array, order="C", copy=True) for array in arrays)
    for array in copies:
        array.flags.writeable = False
    return copies
