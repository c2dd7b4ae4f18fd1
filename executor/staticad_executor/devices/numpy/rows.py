"""Kernels that take a block of rows, each along the trailing axes, for tiles of a region.

They are written so that a row's bits depend on that row alone; axes are counted from the end,
because a block of rows has other leading axes than the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.ops.blocks import Block, block_sums
from staticad_schema.types import BOOL, WIDENED, Array, TensorType

from . import nn
from .cost import nanoseconds
from .elementwise import Elementwise
from .extrema import extrema

Function = Callable[..., Any]


class RowKernel(NamedTuple):
    """kernel: called with the operands, the outputs, and `spare` arrays like the first operand,
    the first of them contiguous."""

    kernel: Elementwise
    spare: int


_UFUNCS = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    "any": np.logical_or, "all": np.logical_and,
}  # fmt: skip
# How many arrays like the first operand each needs meanwhile.
_SPARE = {"softmax": 0, "log_softmax": 1, "cross_entropy": 1, "normalize": 1, "logsumexp": 1}


ROW_KERNELS = frozenset({*_UFUNCS, *_SPARE})
"""The ops that have such a kernel."""


def takes_rows(op: str, operand: TensorType) -> bool:
    """Whether the kernel of one of these ops, or the one that sums blocks for `sum` and `sum_to`,
    has the bits of the meaning for such an operand: half floats are widened by that alone."""
    if operand.dtype in WIDENED:
        return False
    return op not in ("any", "all") or operand.dtype == BOOL


def row_kernel(
    op: str, attributes: Mapping[str, Any], operands: Sequence[TensorType], rows: int
) -> RowKernel:
    """The kernel of an op that works row by row, for arrays whose axes behind the rows are those
    of the operands behind the first `rows`."""
    trailing = tuple(range(rows - len(operands[0].shape), 0))
    ufunc = _UFUNCS.get(op)
    if op in ("max", "min"):
        row = math.prod(map(int, operands[0].shape[rows:]))
        return RowKernel(Elementwise(partial(extrema, ufunc, row), False, True, True), 0)
    if ufunc is not None:
        return RowKernel(_reduction(ufunc, trailing, attributes["keepdims"]), 0)
    alone = isinstance(attributes["axis"], int)
    given = {**attributes, "axis": -1 if alone else trailing}
    function = nn.MAKERS[op](given, operands)
    spreads = op in ("softmax", "log_softmax", "logsumexp")
    kernel = Elementwise(function, op == "softmax", True, spreads, None, nanoseconds(op))
    return RowKernel(kernel, _SPARE[op])


def sum_of_blocks(block: Block) -> Elementwise:
    """The kernel that sums whole blocks of rows, each to one."""
    words = math.prod(block.row) / block.width
    cost = nanoseconds("sum") * words * block.size
    return Elementwise(partial(block_sums, block), False, True, True, None, cost)


def _reduction(ufunc: np.ufunc, axis: tuple[int, ...], keepdims: bool) -> Elementwise:
    reduce: Any = ufunc.reduce

    def run(x: Array, out: Array) -> None:
        reduce(x, axis, x.dtype, out, keepdims)

    return Elementwise(run, False, True, True)


def _spread(x: Array, out: Array) -> None:
    np.copyto(out, x if x.ndim == out.ndim else x.reshape(out.shape))


SPREAD = Elementwise(_spread, False, True, True)
"""x, broadcast along the row; or reshaped, where nothing but axes of size 1 tells the shapes
apart."""
