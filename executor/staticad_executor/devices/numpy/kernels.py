"""Kernels that are not elementwise: functions of the operands and then the output arrays.

Each equals the op's meaning bit for bit, but writes into memory it is given.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.op import OPS
from staticad_schema.ops.blocks import Block, Blocks, blocks, leading_sum, summed_axes, total
from staticad_schema.ops.contract import BY_DOT, matmul_into, transposed_into, turns
from staticad_schema.types import BOOL, INEXACT, WIDENED, Array, TensorType

from . import nn, placing, positions
from .cost import PARALLEL_SECONDS, seconds
from .extrema import extrema
from .meaning import meaning
from .shares import Cut, cut_passes, cut_reduction, shared, sharing
from .spatial import spatial_kernel
from .temporaries import temporary_bytes
from .workers import spread_over

Function = Callable[..., Any]
MEANING = "meaning"


class Kernel(NamedTuple):
    """function: called with the operands and then the outputs.  contiguous: whether the
    operands have to be contiguous, so that the order of reduction follows from the shape.
    algorithm: what to call it in `explain`.  temporary_bytes: what it allocates while it runs.
    cut: how threads can share it.  has_parts: whether the function takes `spread`, which shares
    its parts among threads.  apart: the function for operands that share no memory, if that is
    another one.  seconds: about what one thread takes for it.  watches: whether the function takes
    first, in a list, the event by which a run is cancelled."""

    function: Function
    contiguous: bool
    algorithm: str
    temporary_bytes: int = 0
    cut: Cut | None = None
    has_parts: bool = False
    apart: Function | None = None
    seconds: float = 0.0
    watches: bool = False

    def for_threads(self, threads: int) -> Function:
        """The function, shared by so many threads if it can be and that pays."""
        threads = self._paying(threads)
        if self.has_parts:
            return partial(self.function, spread=spread_over(threads))
        return self.function if self.cut is None else shared(self.function, self.cut, threads)

    def _paying(self, threads: int) -> int:
        return threads if self.seconds >= PARALLEL_SECONDS else 1

    def text(self, threads: int) -> str:
        """The algorithm and its threads, for `explain`."""
        threads = self._paying(threads)
        if self.cut is not None and sharing(self.cut, threads) > 1:
            return f"{self.algorithm}, {sharing(self.cut, threads)} threads"
        if self.has_parts and threads > 1:
            return f"{self.algorithm}, up to {threads} threads"
        return self.algorithm


def kernel(
    op: str,
    attributes: Mapping[str, Any],
    operands: Sequence[TensorType],
    outputs: Sequence[TensorType],
) -> Kernel:
    """The kernel of a node with static types and bound attributes."""
    made = _kernel(op, attributes, operands, outputs)
    taken = temporary_bytes(op, attributes, operands, outputs, made.algorithm == MEANING)
    if taken:
        made = made._replace(temporary_bytes=taken)
    if made.cut is not None or made.has_parts:
        made = made._replace(seconds=seconds(op, operands, outputs))
    return made


def _kernel(
    op: str,
    attributes: Mapping[str, Any],
    operands: Sequence[TensorType],
    outputs: Sequence[TensorType],
) -> Kernel:
    if not any(t.dtype in WIDENED for t in operands) or not OPS[op].widen:
        spatial = spatial_kernel(op, attributes, operands, outputs)
        if spatial is not None:
            function, algorithm, has_parts = spatial
            return Kernel(function, True, algorithm, has_parts=has_parts)
        of_networks = nn.MAKERS.get(op)
        if of_networks is not None:
            cut = _cut(attributes["axis"], operands, outputs) if op in _PASSES else None
            return Kernel(of_networks(attributes, operands), True, op, cut=cut)
        maker = _MAKERS.get(op)
        made = maker(attributes, operands, outputs) if maker is not None else None
        if made is not None:
            return made
    return Kernel(meaning(op, attributes, outputs), False, MEANING)


# Of several passes, whose operands and outputs all have the axes of the first operand.
_PASSES = frozenset({"softmax", "log_softmax", "normalize"})


def _cut(axis: Any, operands: Sequence[TensorType], outputs: Sequence[TensorType]) -> Cut | None:
    shape: Any = operands[0].shape
    axes = (axis,) if isinstance(axis, int) else axis
    return cut_passes(shape, axes, len(operands) + len(outputs)) if axes else None


def copy_kernel() -> Kernel:
    """A plain copy of one operand of the output's shape."""
    return Kernel(_copy, False, "copy")


def _copy(x: Array, out: Array) -> None:
    np.copyto(out, x)


Made = Kernel | None
Maker = Callable[[Mapping[str, Any], Sequence[TensorType], Sequence[TensorType]], Made]


def _matmul(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    algorithm = "BLAS" if operands[0].kind in INEXACT else "loops"
    # A function between costs a tenth of the call on small matrices.
    flat = len(operands[0].shape) == 2 == len(operands[1].shape)
    plain = flat and operands[0].dtype in BY_DOT
    return Kernel(matmul_into, False, algorithm, apart=np.dot if plain else None)


def _matmul_transposed(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    a, b = (t.shape for t in operands)
    turned = turns(math.prod(a[:-1]), math.prod(b))
    if len(a) == 2 and operands[0].dtype in BY_DOT and not turned:
        return Kernel(transposed_into, False, "BLAS", apart=_dot_transposed)
    algorithm = "BLAS" if operands[0].kind in INEXACT else "loops"
    return Kernel(transposed_into, False, algorithm + (", turned" if turned else ""))


def _dot_transposed(a: Array, b: Array, out: Array) -> None:
    np.dot(a, b.T, out)


def _matmul_no_nan(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    if not attributes["value"]:
        return _matmul(attributes, operands, outputs)
    right: Any = OPS["matmul_no_nan"].numpy

    def run(a: Array, b: Array, out: Array) -> None:
        # Each element of b is in every row of the product, which is not finite where that is not;
        # and a sum of squares is finite only if all of them are.
        matmul_into(a, b, out)
        if not np.isfinite(np.vdot(out, out)):
            np.copyto(out, right(a, b, value=True))

    return Kernel(run, False, "BLAS")


def _reduction(ufunc: np.ufunc, fixed: bool) -> Maker:
    def make(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
        axis, keepdims = attributes["axis"], attributes["keepdims"]
        if not axis:
            return copy_kernel()
        dtype = operands[0].dtype if fixed else None
        shape = operands[0].shape
        if ufunc is np.add and (parts := blocks(shape, axis)) is not None:
            return _in_blocks(parts)
        reduce: Any = ufunc.reduce
        kept = itertools.accumulate((a not in axis for a in range(len(shape))), initial=0)
        places = range(len(shape)) if keepdims else list(kept)
        cut = cut_reduction(shape, axis, places)

        def run(x: Array, out: Array) -> None:
            reduce(x, axis, dtype, out, keepdims)

        lead = len(shape) - len(axis)
        rows, row = math.prod(shape[:lead]), math.prod(shape[lead:])
        if ufunc in (np.maximum, np.minimum) and axis[0] == lead and rows >= SEVERAL_ROWS:
            run = partial(extrema, ufunc, row)
        return Kernel(run, True, ufunc.__name__ + ".reduce", cut=cut)

    return make


def _in_blocks(parts: Blocks) -> Kernel:
    algorithm = f"sums of {parts.number} blocks" if parts.number > 1 else "sum of wide rows"
    return Kernel(partial(leading_sum, parts=parts), True, algorithm, has_parts=True)


def total_kernel(block: Block) -> Kernel:
    """What adds up the sums of blocks."""
    return Kernel(partial(total, block), True, "sum of blocks")


# Of fewer rows an index of them costs more than it saves.
SEVERAL_ROWS = 16


def _truth(ufunc: np.ufunc) -> Maker:
    make = _reduction(ufunc, False)
    return lambda attributes, operands, outputs: (
        make(attributes, operands, outputs) if operands[0].dtype == BOOL else None
    )


def _sum_to(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    have, want = operands[0].shape, outputs[0].shape
    lead, axis, dtype = len(have) - len(want), summed_axes(have, want), operands[0].dtype
    if not axis:
        return copy_kernel()
    if (parts := blocks(have, axis)) is not None:
        return _in_blocks(parts)
    reduce: Any = np.add.reduce
    padding = (None,) * lead

    def run(x: Array, out: Array) -> None:
        reduce(x, axis, dtype, out[padding], True)

    cut = cut_reduction(have, axis, range(-lead, len(want)))
    return Kernel(run, True, "add.reduce", cut=cut)


def _concat(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    axis = attributes["axis"]

    def run(*arrays: Array) -> None:
        np.concatenate(arrays[:-1], axis, out=arrays[-1])

    return Kernel(run, False, "concatenate")


def _arg(function: Callable[..., Any]) -> Maker:
    def make(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
        axis, keepdims = attributes["axis"], attributes["keepdims"]

        def run(x: Array, out: Array) -> None:
            function(x, axis, out, keepdims=keepdims)

        return Kernel(run, False, function.__name__)

    return make


# Of more classes it is quicker to write zeros than to compare.
FEW_CLASSES = 64


def _one_hot(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    if outputs[0].dtype in WIDENED or outputs[0].kind == "complex":
        return None
    depth, dtype = attributes["depth"], operands[0].dtype
    if depth > FEW_CLASSES:
        return Kernel(partial(_ones_at, depth), False, "ones at places")
    # Comparing in the indices' own dtype saves a conversion of each.
    classes = np.arange(depth, dtype=dtype)

    def run(indices: Array, out: Array) -> None:
        np.equal(indices[..., None], classes, out, casting="unsafe")

    return Kernel(run, False, "equal")


def _ones_at(depth: int, indices: Array, out: Array) -> None:
    out.fill(0)
    classes = indices.reshape(-1)
    rows = np.flatnonzero((classes >= 0) & (classes < depth))
    out.reshape(-1, depth)[rows, classes[rows].astype(np.intp)] = 1


def _pad(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    shape, value = operands[0].shape, attributes["value"]
    inside = tuple(
        slice(low, low + size)
        for size, (low, _) in zip(shape, attributes["widths"], strict=True)
    )  # fmt: skip

    def run(x: Array, out: Array) -> None:
        out.fill(value)
        out[inside] = x

    return Kernel(run, False, "fill")


def _reshape(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
    shape = operands[0].shape

    def run(x: Array, out: Array) -> None:
        np.copyto(out.reshape(shape), x)

    return Kernel(run, False, "copy")


def _positions(function: Callable[..., Any], algorithm: str) -> Maker:
    def make(attributes: Mapping[str, Any], operands: Any, outputs: Any) -> Made:
        run = function(attributes, operands)
        return None if run is None else Kernel(run, False, algorithm)

    return make


_MAKERS: dict[str, Maker] = {
    "matmul": _matmul,
    "matmul_no_nan": _matmul_no_nan,
    "matmul_transposed": _matmul_transposed,
    "sum": _reduction(np.add, True),
    "prod": _reduction(np.multiply, True),
    "max": _reduction(np.maximum, False),
    "min": _reduction(np.minimum, False),
    "any": _truth(np.logical_or),
    "all": _truth(np.logical_and),
    "sum_to": _sum_to,
    "concat": _concat,
    "argmax": _arg(np.argmax),
    "argmin": _arg(np.argmin),
    "one_hot": _one_hot,
    "pad": _pad,
    "place": _positions(placing.place, "place"),
    "reshape": _reshape,
    "take": _positions(positions.take, "take"),
    "gather": _positions(positions.gather, "take"),
    "scatter_add": _positions(positions.scatter_add, "sparse product"),
}
