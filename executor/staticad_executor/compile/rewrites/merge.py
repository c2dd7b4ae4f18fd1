"""Common subexpressions: when two nodes are the same computation."""

from __future__ import annotations

from collections.abc import Hashable

from staticad_schema.attributes import identity
from staticad_schema.node import Node

# Of these the operands may change places: not maximum and minimum, of which it may decide
# which of two zeros they are.
_COMMUTATIVE = frozenset(
    {
        "add", "multiply", "equal", "not_equal", "logical_and", "logical_or", "logical_xor",
        "bitwise_and", "bitwise_or", "bitwise_xor",
    }
)  # fmt: skip

# Larger constants are compared by identity: hashing them costs more than a duplicate does.
LARGE_BYTES = 1 << 16


def node_key(node: Node) -> Hashable:
    """Equal for nodes that compute the same: op, inputs, attributes, device and what they
    wait for.  Floats and arrays are compared by their bits."""
    attributes = node.attributes
    if not attributes:
        inputs = node.inputs
        # The products in a complex one are added in another order then.
        if node.op in _COMMUTATIVE and inputs[0] > inputs[1] and node.types[0].dtype.kind != "c":
            inputs = (inputs[1], inputs[0])
        return node.op, inputs, node.device, node.after
    return (
        node.op, node.inputs, node.device, node.after,
        tuple([identity(value, LARGE_BYTES) for value in attributes.values()]),
    )  # fmt: skip
