"""The code of one tile: calls over cells, with few registers.

Cells are numbered: operands, outputs, registers.  Values are numbered: operands, then the
results of the parts in order.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from staticad_schema.types import DType

from .elementwise import Elementwise, has_nan
from .tiles import Shape

Call = tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]]]


class Result(NamedTuple):
    """What a part writes.  tail: its axes behind the rows.  output: which of the region's
    outputs it is, or -1.  block: of an output that has one row for so many, how many; else 0."""

    dtype: DType
    tail: Shape
    output: int
    block: int = 0

    @property
    def like(self) -> tuple[DType, Shape]:
        """What results have in common that fit into one register."""
        return self.dtype, self.tail


class Part(NamedTuple):
    """One node of a region, by its place in it.  inputs: values.  results: what the kernel writes,
    the node's outputs and then memory that it needs meanwhile."""

    node: int
    kernel: Elementwise
    inputs: tuple[int, ...]
    results: tuple[Result, ...]


class SpoiledError(Exception):
    """A tile has a NaN that may come from a product with zero."""


class Code(NamedTuple):
    """Calls, and the place of the node of each in the region."""

    calls: list[Call]
    nodes: list[int]


class TileCode(NamedTuple):
    """registers: what each register holds.  hopeful: the calls of a tile without guards.
    guarded: the calls to make after a SpoiledError."""

    registers: list[tuple[DType, Shape]]
    hopeful: Code
    guarded: Code


def compile_tile(parts: Sequence[Part], operands: int, early: Sequence[bool]) -> TileCode:
    """The code of a tile.  early: the outputs that may hold other values before their own."""
    count = operands + len(early)
    results = [result for part in parts for result in part.results]
    last = [-1] * (operands + len(results))
    for position, part in enumerate(parts):
        for k in part.inputs:
            last[k] = position
    cell = list(range(operands)) + [-1] * len(results)
    leading = _leading(parts, operands, early, last)
    registers: list[tuple[DType, Shape]] = []
    free: dict[tuple[DType, Shape], list[int]] = {}
    calls: list[Call] = []
    value = operands
    for position, part in enumerate(parts):
        dying = [
            k
            for k in dict.fromkeys(part.inputs)
            if k >= operands and last[k] == position and cell[k] >= count
        ]
        first = value
        for result in part.results:
            target = operands + result.output if result.output >= 0 else leading.get(value, -1)
            if target < 0 and part.kernel.overlap:
                same = [k for k in dying if results[k - operands].like == result.like]
                if same:
                    target = cell[same[0]]
                    dying.remove(same[0])
            if target < 0 and free.get(result.like):
                target = free[result.like].pop()
            if target < 0:
                target = count + len(registers)
                registers.append(result.like)
            cell[value] = target
            value += 1
        for k in range(first, value):
            if last[k] < 0 and cell[k] >= count:
                dying.append(k)
        for k in dying:
            free.setdefault(results[k - operands].like, []).append(cell[k])
        picked = [*[cell[k] for k in part.inputs], *cell[first:value]]
        calls.append((part.kernel.function, operator.itemgetter(*picked)))
    guarded = Code(calls, [part.node for part in parts])
    return TileCode(registers, _unguarded(parts, calls, operands, cell), guarded)


def _leading(
    parts: Sequence[Part], operands: int, early: Sequence[bool], last: Sequence[int]
) -> dict[int, int]:
    """Values to be computed in the memory of the output that they lead up to, in place step
    by step: less memory is touched than with registers."""
    maker = [position for position, part in enumerate(parts) for _ in part.results]
    made = [result for part in parts for result in part.results]
    found: dict[int, int] = {}
    for value, result in enumerate(made, start=operands):
        if result.output < 0 or not early[result.output]:
            continue
        at = maker[value - operands]
        while parts[at].kernel.overlap:
            steps = [
                k
                for k in parts[at].inputs
                if k >= operands
                and last[k] == at
                and k not in found
                and made[k - operands].output < 0
                and made[k - operands].like == result.like
            ]
            if not steps:
                break
            found[steps[0]] = operands + result.output
            at = maker[steps[0] - operands]
    return found


def _unguarded(
    parts: Sequence[Part], calls: Sequence[Call], operands: int, cell: Sequence[int]
) -> Code:
    """The calls of a tile with guarded products left unguarded.

    NaN spreads: where none of the values that products flow into last is NaN, no product was,
    and nothing needed correction.  So only those last values are looked at; if one is NaN,
    SpoiledError says that the tile has to be computed again with the guards.
    """
    # Kernels of several results are asked whether their operands are NaN, and so spread none.
    tainted = bytearray(len(cell))
    flows_on = bytearray(len(cell))
    value = operands
    for part in parts:
        if part.kernel.unguarded is not None:
            tainted[value] = 1
        if part.kernel.spreads_nan:
            for k in part.inputs:
                if tainted[k]:
                    tainted[value] = flows_on[k] = 1
        value += len(part.results)
    code = Code([], [])
    value = operands
    for part, (function, pick) in zip(parts, calls, strict=True):
        code.calls.append((part.kernel.unguarded or function, pick))
        if tainted[value] and not flows_on[value]:
            looked_at = slice(cell[value], cell[value] + 1)
            code.calls.append((_require_no_nan, operator.itemgetter(looked_at)))
        code.nodes.extend([part.node] * (len(code.calls) - len(code.nodes)))
        value += len(part.results)
    return code


def _require_no_nan(array: Any) -> None:
    if has_nan(array):
        raise SpoiledError
