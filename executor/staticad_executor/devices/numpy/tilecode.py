"""The code of one tile: calls over cells, with few registers.

Cells are numbered: operands, outputs, registers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.types import Array, DType

from .elementwise import Elementwise

Call = tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]]]


class Part(NamedTuple):
    """One node of a region.  inputs: positions of operands (below the number of operands) or
    results of earlier parts (after them).  output: which of the region's outputs it is, or -1."""

    kernel: Elementwise
    inputs: tuple[int, ...]
    dtype: DType
    output: int


class SpoiledError(Exception):
    """A tile has a NaN that may come from a product with zero."""


def compile_tile(
    parts: Sequence[Part], operands: int, early: Sequence[bool]
) -> tuple[list[Call], list[DType], list[int]]:
    """The calls of a tile, the dtypes of the registers they use, and where each writes.

    early: the outputs that may hold other values before their own.
    """
    count = operands + len(early)
    last = [-1] * (operands + len(parts))
    for position, part in enumerate(parts):
        for k in part.inputs:
            last[k] = position
    cell = list(range(operands)) + [-1] * len(parts)
    leading = _leading(parts, operands, early, last)
    registers: list[DType] = []
    free: dict[DType, list[int]] = {}
    calls: list[Call] = []
    for position, part in enumerate(parts):
        value = operands + position
        dying = [
            k
            for k in dict.fromkeys(part.inputs)
            if k >= operands and last[k] == position and cell[k] >= count
        ]
        target = operands + part.output if part.output >= 0 else leading.get(value, -1)
        if target < 0 and part.kernel.overlap:
            same = [k for k in dying if parts[k - operands].dtype == part.dtype]
            if same:
                target = cell[same[0]]
                dying.remove(same[0])
        if target < 0 and free.get(part.dtype):
            target = free[part.dtype].pop()
        if target < 0:
            target = count + len(registers)
            registers.append(part.dtype)
        cell[value] = target
        if last[value] < 0 and target >= count:
            dying.append(value)
        for k in dying:
            free.setdefault(parts[k - operands].dtype, []).append(cell[k])
        calls.append((part.kernel.function, operator.itemgetter(*[cell[k] for k in part.inputs],
                                                                target)))  # fmt: skip
    return calls, registers, cell[operands:]


def _leading(
    parts: Sequence[Part], operands: int, early: Sequence[bool], last: Sequence[int]
) -> dict[int, int]:
    """Values to be computed in the memory of the output that they lead up to, in place step
    by step: less memory is touched than with registers."""
    found: dict[int, int] = {}
    for position, part in enumerate(parts):
        if part.output < 0 or not early[part.output]:
            continue
        at = position
        while parts[at].kernel.overlap:
            steps = [
                k
                for k in parts[at].inputs
                if k >= operands
                and last[k] == at
                and k not in found
                and parts[k - operands].output < 0
                and parts[k - operands].dtype == part.dtype
            ]
            if not steps:
                break
            found[steps[0]] = operands + part.output
            at = steps[0] - operands
    return found


def unguarded(
    parts: Sequence[Part], calls: Sequence[Call], operands: int, targets: Sequence[int]
) -> list[Call]:
    """The calls of a tile with guarded products left unguarded.

    NaN spreads: where none of the values that products flow into last is NaN, no product was,
    and nothing needed correction.  So only those last values are looked at; if one is NaN,
    SpoiledError says that the tile has to be computed again with the guards.
    """
    tainted = bytearray(operands + len(parts))
    flows_on = bytearray(operands + len(parts))
    for k, part in enumerate(parts, start=operands):
        if part.kernel.unguarded is not None:
            tainted[k] = 1
        if part.kernel.spreads_nan:
            for value in part.inputs:
                if tainted[value]:
                    tainted[k] = flows_on[value] = 1
    result: list[Call] = []
    for k, part in enumerate(parts, start=operands):
        function, pick = calls[k - operands]
        result.append((part.kernel.unguarded or function, pick))
        if tainted[k] and not flows_on[k]:
            target = targets[k - operands]
            result.append((_require_no_nan, operator.itemgetter(slice(target, target + 1))))
    return result


def _require_no_nan(array: Array) -> None:
    # Any NaN makes the sum of squares NaN, at a fraction of the cost of `isnan`.
    square = np.vdot(array, array)
    if square != square:
        raise SpoiledError
