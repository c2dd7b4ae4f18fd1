"""Reductions as accumulators: what they begin with, take up and become.

A NaN stays; integers wrap; half floats accumulate in float32.  Every accumulator can be written
to memory and read again, as a part of a longer reduction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from staticad_schema.types import BOOL, INT64, KINDS, WIDENED, DType

from .code import Code, Var
from .region import Step
from .scalars import register_type
from .typed import arithmetic, both, cast, choose, compare, constant, rounded, spread

REDUCTIONS = frozenset({"sum", "prod", "max", "min", "any", "all", "argmax", "argmin"})
PLACES = frozenset({"argmax", "argmin"})


class Accumulator(NamedTuple):
    """The variables of one reduction: its value so far, and for places where that was found."""

    op: str
    dtype: DType
    value: str
    place: str
    lanes: int

    @property
    def parts(self) -> tuple[tuple[str, DType], ...]:
        """Its variables, and their dtypes in memory."""
        first = (self.value, self.dtype)
        return (first, (self.place, INT64)) if self.place else (first,)


def accumulated(step: Step, operand: DType) -> DType:
    """The dtype in which a reduction of an operand is accumulated."""
    return BOOL if step.op in ("any", "all") else WIDENED.get(operand, operand)


def identity(op: str, dtype: DType) -> Var:
    """What changes nothing."""
    if op in ("sum", "any"):
        return constant(0, dtype)
    if op in ("prod", "all"):
        return constant(1, dtype)
    low = op in ("max", "argmax")
    if KINDS[dtype] == "float":
        return constant(-math.inf if low else math.inf, dtype)
    if dtype == BOOL:
        return constant(not low, dtype)
    limits = np.iinfo(dtype)
    return constant(limits.min if low else limits.max, dtype)


def begin(code: Code, op: str, dtype: DType, lanes: int) -> Accumulator:
    """Variables that have taken up nothing."""
    name = code.fresh("a")
    start = spread(identity(op, dtype), lanes)
    code.line(f"{register_type(dtype, lanes)} {name} = {start};")
    place = ""
    if op in PLACES:
        place = code.fresh("at")
        code.line(f"long {place} = -1;")
    return Accumulator(op, dtype, name, place, lanes)


def take(code: Code, a: Accumulator, value: Var, place: str = "", count: str | None = None) -> None:
    """Take up an element a lane; of the last lanes only `count`."""
    value = cast(code, value, a.dtype)
    if a.place:
        better = _better(a, value.text, a.value, f"{a.place} < 0")
        code.line(f"if ({better}) {{ {a.value} = {value.text}; {a.place} = {place}; }}")
        return
    here = Var(a.value, a.dtype, a.lanes)
    text = spread(value, a.lanes)
    if a.lanes > 1 and count is not None:
        numbers = ", ".join(map(str, range(a.lanes)))
        inside = f"((int{a.lanes})({numbers}) < (int{a.lanes})({count}))"
        kept = choose(code, Var(inside, BOOL, a.lanes), value, identity(a.op, a.dtype))
        text = f"{count} >= {a.lanes} ? {text} : {kept.text}"
        text = code.named(text, a.dtype, a.lanes).text
    code.line(f"{a.value} = {combined(a.op, here, Var(text, a.dtype, a.lanes))};")


def _better(a: Accumulator, x: str, y: str, unset: str) -> str:
    sign = ">" if a.op == "argmax" else "<"
    nan = f" || ({x} != {x} && {y} == {y})" if KINDS[a.dtype] == "float" else ""
    return f"{unset} || {x} {sign} {y}{nan}"


def combined(op: str, x: Var, y: Var) -> str:
    """The text of two values combined; without names, since x is a variable that changes."""
    lanes = max(x.lanes, y.lanes)
    if op in ("sum", "prod"):
        return arithmetic("+" if op == "sum" else "*", x, y).text
    if op in ("any", "all"):
        return both("|" if op == "any" else "&", x, y).text
    test = compare(">" if op == "max" else "<", y, x)
    if KINDS[x.dtype] == "float":
        test = both("|", test, compare("!=", y, y))
    if lanes == 1:
        return f"({test.text} ? {y.text} : {x.text})"
    mask = test.text if x.dtype.itemsize == 4 else f"convert_{_mask(x.dtype, lanes)}({test.text})"
    return f"select({x.text}, {y.text}, {mask})"


def _mask(dtype: DType, lanes: int) -> str:
    return {1: "char", 2: "short", 4: "int", 8: "long"}[dtype.itemsize] + str(lanes)


def merge(code: Code, a: Accumulator, value: str, place: str) -> None:
    """Take up another accumulator of one lane, which came behind this one."""
    if a.place:
        # Neither may have taken up anything; of equal values the first place counts.
        better = _better(a, value, a.value, f"{a.place} < 0")
        sooner = f"({value} == {a.value} || ({value} != {value} && {a.value} != {a.value}))"
        sooner = f"{sooner} && {place} < {a.place}"
        code.line(
            f"if ({place} >= 0 && ({better} || ({sooner})))"
            f" {{ {a.value} = {value}; {a.place} = {place}; }}"
        )
        return
    x, y = Var(a.value, a.dtype), Var(value, a.dtype)
    code.line(f"{a.value} = {combined(a.op, x, y)};")


def folded(code: Code, a: Accumulator) -> Accumulator:
    """The same of one lane: halves of the vector are combined until one element is left."""
    lanes, name = a.lanes, a.value
    while lanes > 1:
        lanes //= 2
        high, low = (f"{name}.{half}" for half in ("hi", "lo"))
        x, y = Var(low, a.dtype, lanes), Var(high, a.dtype, lanes)
        if a.dtype == BOOL and lanes == 1:
            x, y = Var(f"({low} != 0)", BOOL), Var(f"({high} != 0)", BOOL)
        text = combined(a.op, x, y)
        name = code.fresh("a")
        code.line(f"{register_type(a.dtype, lanes)} {name} = {text};")
    return a._replace(value=name, lanes=1)


def across(code: Code, accumulators: Sequence[Accumulator], memories: Sequence[str]) -> None:
    """Combine those of all work-items of a group, and give each of them the result.

    memories: local memory of as many elements as there are work-items, one for each variable.
    """
    own = [name for a in accumulators for name, _ in a.parts]
    for memory, name in zip(memories, own, strict=True):
        code.line(f"{memory}[lid] = {name};")
    code.line("barrier(CLK_LOCAL_MEM_FENCE);")
    with code.block("for (int width = group; width > 1; )"):
        # Of any number: the middle one of an odd number waits.
        code.line("const int rest = (width + 1) / 2;")
        with code.block("if (lid + rest < width)"):
            given = iter(memories)
            for a in accumulators:
                names = [next(given) for _ in a.parts]
                mine = a._replace(
                    value=f"{names[0]}[lid]", place=f"{names[1]}[lid]" if a.place else ""
                )
                other = [f"{name}[lid + rest]" for name in names]
                merge(code, mine, other[0], other[1] if a.place else "")
        code.line("width = rest;")
        code.line("barrier(CLK_LOCAL_MEM_FENCE);")
    for memory, name in zip(memories, own, strict=True):
        code.line(f"{name} = {memory}[0];")
    # Nobody writes there again before all have read.
    code.line("barrier(CLK_LOCAL_MEM_FENCE);")


def result(code: Code, a: Accumulator, dtype: DType) -> Var:
    """The value of a reduction, in the dtype of its result."""
    if a.place:
        return code.named(a.place, dtype)
    found = Var(a.value, dtype, a.lanes)
    return rounded(code, found) if dtype != a.dtype else found
