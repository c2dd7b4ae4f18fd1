"""Common subexpressions: when two nodes are the same computation."""

from __future__ import annotations

import struct
from collections.abc import Hashable
from typing import Any

import numpy as np

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
        tuple([_key(value) for value in attributes.values()]),
    )  # fmt: skip


def _key(value: Any) -> Hashable:
    kind = type(value)
    if kind is tuple:
        return tuple([_key(item) for item in value])
    if kind is float:
        return struct.pack("<d", value)
    if kind is np.ndarray:
        if value.nbytes > LARGE_BYTES:
            return id(value)
        return value.dtype, value.shape, value.tobytes()
    return value  # type: ignore[no-any-return]
