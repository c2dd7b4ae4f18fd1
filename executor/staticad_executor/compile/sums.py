"""Sums over leading axes in a region: which it computes, in blocks of rows, and which are left.

A tile sums the blocks of rows that it has; what these are summed to is a value like others, in
memory of the arena, and one instruction behind the region adds it up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from staticad_schema.graph import Graph
from staticad_schema.ops.blocks import Blocks, blocks, summed_axes
from staticad_schema.types import Array, TensorType

from ..devices.numpy.region import TILE_ELEMENTS
from .bind import Bound
from .rows import SUMS, sums_rows

# A tile has whole blocks, but not more elements than these for that.
_MOST = 2 * TILE_ELEMENTS


class Values(Protocol):
    """What is known of values and nodes."""

    graph: Graph
    types: list[TensorType]
    bound: Bound

    def model(self, value: int) -> Array:
        """An array of the value's shape and strides that must not be read."""
        ...


class Divided(NamedTuple):
    """A region of rows.  members: its nodes but for sums of rows that it does not compute.
    leaving: the values that others need, these sums among them.  inside: how the sums that it
    computes are divided, by value.  behind: the nodes of the others."""

    members: tuple[int, ...]
    leaving: Sequence[int]
    inside: dict[int, Blocks]
    behind: tuple[int, ...]


def divided(
    values: Values, members: Sequence[int], leaving: Sequence[int], rows: int, longest: int
) -> Divided:
    """The region of these nodes.  longest: the elements of its longest row, 0 if it does not go
    by rows."""
    nodes, types = values.graph.nodes, values.types
    ends = [i for i in members if nodes[i].op in SUMS and sums_rows(nodes[i])]
    if not ends:
        return Divided(tuple(members), leaving, {}, ())
    inside: dict[int, Blocks] = {}
    behind: list[int] = []
    needed = set(leaving)
    merged: tuple[int, ...] | None = None
    for index in ends:
        node = nodes[index]
        shape: Any = types[node.inputs[0]].shape
        want: Any = types[node.start].shape
        if node.op == "sum":
            parts = blocks(shape, values.bound.node_attributes(index)["axis"])
        else:
            parts = blocks(shape, summed_axes(shape, want))
        if node.start not in needed:
            # Somebody asks for nothing but its size.
            continue
        fits = parts is not None and parts.number > 1 and parts.rows == math.prod(shape[:rows])
        if fits and parts is not None and longest:
            if merged is None:
                merged = _merged(values, members, shape[:rows])
            if _tile_rows(merged, parts.block.size) * longest <= _MOST:
                inside[node.start] = parts
                continue
        behind.append(index)
    gone = set(ends).difference(i for i in ends if nodes[i].start in inside)
    more = dict.fromkeys(v for i in behind for v in nodes[i].inputs if v not in needed)
    return Divided(
        tuple([i for i in members if i not in gone]),
        [*leaving, *more],
        inside,
        tuple(behind),
    )


def _merged(values: Values, members: Iterable[int], rows: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of rows as tiles cut them: as one, if all operands walk through them as one."""
    if len(rows) == 1:
        return rows
    nodes, types = values.graph.nodes, values.types
    for value in {v for i in members for v in nodes[i].inputs}:
        shape: Any = types[value].shape
        lead = shape[: len(rows)]
        repeated = len(shape) < len(rows) or math.prod(lead) == 1
        if not repeated and not (lead == rows and values.model(value).flags.c_contiguous):
            return rows
    return (math.prod(rows),)


def _tile_rows(rows: tuple[int, ...], size: int) -> int:
    """The rows of the smallest tile of whole blocks of that size."""
    inner = 1
    for own in reversed(rows[1:]):
        if own * inner % size == 0:
            break
        inner *= own
    return math.lcm(size, inner)
