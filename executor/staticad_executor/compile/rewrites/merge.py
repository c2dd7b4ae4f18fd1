"""Common subexpressions: when two nodes are the same computation."""

from __future__ import annotations

from collections.abc import Hashable

from staticad_schema.attributes import identity
from staticad_schema.node import Node

# Larger constants are compared by identity: hashing them costs more than a duplicate does.
LARGE_BYTES = 1 << 16


def node_key(node: Node) -> Hashable:
    """Equal for nodes that compute the same: op, inputs, attributes, device and what they
    wait for.  Floats and arrays are compared by their bits."""
    attributes = node.attributes
    if not attributes:
        return node.op, node.inputs, node.device, node.after
    return (
        node.op, node.inputs, node.device, node.after,
        tuple([identity(value, LARGE_BYTES) for value in attributes.values()]),
    )  # fmt: skip
