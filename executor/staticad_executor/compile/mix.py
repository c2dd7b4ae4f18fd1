"""What "auto" chooses: where a session says nothing, by sizes alone.

NumPy runs everything.  An OpenCL device on the processor, which works in the same memory, takes
what has many elements and no library for it: regions and reductions of `LARGE` elements or more.
A device with memory of its own takes a whole program, if that takes the processor long.

The choice follows from a node's own shapes, not from what else is asked for, so that its bits do
not either; and no device is looked for before there is something for it to do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..devices.auto import Auto
from ..work import work
from .bind import Bound
from .draft import Draft
from .group import Group
from .rows import ROW_OPS

if TYPE_CHECKING:
    from ..devices.opencl.device import OpenCLDevice

LARGE = 1 << 16
LONG_SECONDS = 2e-3
# About what the processor does in a second, to tell what takes long: operations of products, bytes
# of memory, special functions.
_FLOPS, _BYTES, _SPECIAL = 5e10, 1e10, 2e9


def near_device(
    auto: Auto, draft: Draft, group: Group, members: Sequence[int]
) -> OpenCLDevice | None:
    """The device on the processor that runs a group of NumPy's; None if NumPy does."""
    nodes, types = draft.graph.nodes, draft.types
    if group.kind != "region" and group.rows < 0 and nodes[members[0]].op not in ROW_OPS:
        return None
    shapes: list[Any] = [types[v].shape for i in members for v in nodes[i].outputs]
    shapes += [types[v].shape for i in members for v in nodes[i].inputs]
    return auto.near if max(map(math.prod, shapes)) >= LARGE else None


def far_device(auto: Auto, bound: Bound) -> OpenCLDevice | None:
    """The device that a whole program goes to; None if it stays on the processor."""
    types = bound.types
    seconds = 0.0
    for node in bound.grouped.program.graph.nodes:
        operands, outputs = ([types[v] for v in side] for side in (node.inputs, node.outputs))
        done = work(node.op, operands, outputs)
        seconds += done.flops / _FLOPS + done.traffic / _BYTES + done.special / _SPECIAL
    return auto.far if seconds >= LONG_SECONDS else None


def told(device: OpenCLDevice) -> str:
    """What `explain` says where the device on the processor is used."""
    return f"auto: {device.name} for regions of {LARGE:,} elements or more, else numpy"
