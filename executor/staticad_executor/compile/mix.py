"""What "auto" takes from NumPy: where a session says nothing, by sizes alone.

Nodes with much to do go to an OpenCL device, if there is one, and so does what follows from them,
so that values do not move to and fro.  What is computed before them, or is small throughout, stays
on NumPy: enqueueing takes longer than that, and kernels have to be compiled.

On the processor itself a device gains nothing by a product: BLAS is as fast, and its threads go on
to spin behind each one for about 20 ms, which takes half the cores from kernels.  So there
products go along only where what they leave is large, and graphs of other products stay whole.

The choice for a node follows from its own shapes and from those of what it is computed from, not
from what else is asked for, nor from threads; so its bits do not depend on these either.  No device
is looked for before there is something for it to do.
"""

from __future__ import annotations

from staticad_schema.op import OPS

from ..devices.base import HOST
from ..program import ASKS_SIZES, GIVEN
from ..work import FLOPS, count, work
from .bind import Bound

# What is worth the seconds that compiling takes: on two cores with PoCL, these take NumPy 0.3 ms
# at least, and a training step has many of them.
LARGE = 1 << 18
"""Elements of one operand or result; of a product, of the result."""
MANY_FLOPS = 1 << 26
"""Operations of a product, for which NumPy has a library."""
CONVOLUTION_FLOPS = 1 << 24
_CONVOLUTIONS = frozenset({"conv", "conv_input", "conv_weights"})


def taken(bound: Bound, space: str = "") -> bytes | None:
    """For each node of a bound program whether it goes to a device; None if none does.
    space: the device's, where that is known."""
    graph, types = bound.grouped.program.graph, bound.types
    producers = graph.producers
    flags = bytearray(len(graph.nodes))
    for index, node in enumerate(graph.nodes):
        if node.op in GIVEN or node.op in ASKS_SIZES or not node.inputs:
            continue
        if any(flags[producers[v]] for v in node.inputs):
            flags[index] = 1
            continue
        operands, outputs = ([types[v] for v in side] for side in (node.inputs, node.outputs))
        if node.op in FLOPS:
            flops = work(node.op, operands, outputs).flops
            if node.op in _CONVOLUTIONS:
                flags[index] = flops >= CONVOLUTION_FLOPS
            else:
                many = space != HOST and flops >= MANY_FLOPS
                flags[index] = many or max(map(count, outputs)) >= LARGE
        elif not OPS[node.op].view:
            flags[index] = max(map(count, [*operands, *outputs]), default=0) >= LARGE
    return bytes(flags) if any(flags) else None


def told(name: str, space: str, flags: bytes) -> str:
    """What `explain` says of it."""
    products = "" if space == HOST else f", {MANY_FLOPS:,} operations of a product"
    return (
        f"auto: {sum(flags)} of {len(flags)} nodes on {name}: those with {LARGE:,} elements"
        f"{products} or {CONVOLUTION_FLOPS:,} operations of a convolution, and what follows"
    )
