"""Regions that reduce rows: a row is what stays when the reduced axes vary.

A row is gone through as often as reductions wait for each other: once for a sum, three times for
a softmax.  On CPUs a work-item takes whole rows, by vectors; on GPUs a group takes a row.  What
takes long to compute and is asked for in several passes is kept in local memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from staticad_schema.op import OPS
from staticad_schema.types import DType

from .body import LANE, Body, Index
from .code import Var
from .combine import (
    PLACES,
    REDUCTIONS,
    Accumulator,
    accumulated,
    across,
    begin,
    folded,
    result,
    take,
)
from .decompose import decomposed
from .elementwise import computed_dtypes, largest, no_vector
from .memory import store
from .places import unravelled
from .region import Kernel, Recipe, Region, Shape, Step, shape_of
from .scalars import register_type
from .signature import Signature
from .target import Target, compute_size

_RUN = 4096
# Vectors that are summed before their sum is: rounding then grows with the root of the length.
_BLOCK = 128


class Split(NamedTuple):
    """The shape that is reduced, its axes that stay and those that vary along a row."""

    shape: Shape
    kept: tuple[int, ...]
    gone: tuple[int, ...]

    @property
    def rows(self) -> int:
        return math.prod(self.shape[a] for a in self.kept)

    @property
    def length(self) -> int:
        return math.prod(self.shape[a] for a in self.gone)


def split_of(region: Region) -> Split:
    """The rows of a region.  Raises ValueError where its reductions have not one in common."""
    found = {
        (shape_of(region.types[s.inputs[0]]), axes_of(s))
        for s in region.steps
        if s.op in REDUCTIONS
    }
    if len(found) != 1:
        raise ValueError(f"one way to reduce is wanted, not {found}")
    ((shape, gone),) = found
    return Split(shape, tuple(a for a in range(len(shape)) if a not in gone), gone)


def axes_of(step: Step) -> tuple[int, ...]:
    """The axes that a step reduces."""
    axis = step.attributes["axis"]
    return (axis,) if isinstance(axis, int) else tuple(axis)


def rows(region: Region, target: Target, name: str = "rows") -> Recipe:
    """The kernel of a region whose reductions all take the same rows.

    Outputs have the shape that is reduced, or one element a row.  Raises ValueError for others.
    """
    region = decomposed(region)
    return Recipe((_Rows(region, target, split_of(region)).kernel(name),))


class _Rows:
    """One kernel under construction."""

    def __init__(self, region: Region, target: Target, split: Split) -> None:
        self.region, self.target, self.split = region, target, split
        self.levels = levels(region)
        last = len(split.shape) - 1
        straight = [a for a in split.gone if split.shape[a] != 1] in ([last], [])
        lanes = (
            target.lanes(computed_dtypes(region)) if straight and split.gone[-1:] == (last,) else 1
        )
        while lanes > 1 and lanes > split.length:
            lanes //= 2
        if any(no_vector(region, s, lanes) or s.op in PLACES for s in region.steps):
            lanes = 1
        self.lanes = lanes
        self.signature = Signature(largest(region) + _RUN)
        self.body = Body(region, target, self.signature, lanes)
        self.group = self._group()
        self.stash: dict[int, str] = {}
        self.memories: dict[tuple[int, DType], str] = {}

    def _group(self) -> int:
        if not self.target.many_items:
            return 1
        vectors = max(1, -(-self.split.length // self.lanes))
        return max(1, min(self.target.work_group, 256, vectors))

    def kernel(self, name: str) -> Kernel:
        split, signature, body = self.split, self.signature, self.body
        code, kind = body.code, signature.index_type
        self.n = signature.number("length", split.length)
        count = signature.number("rows", split.rows)
        each = (
            1 if self.group > 1 or self.target.many_items else max(1, _RUN // max(1, split.length))
        )
        step = signature.number("rows each", each)
        code.line(f"const {kind} first = get_group_id(0) * {step};")
        code.line(f"const {kind} last = min(first + {step}, {count});")
        if self.group > 1:
            code.line("const int lid = get_local_id(0);")
            code.line("const int group = get_local_size(0);")
        self._choose_stash()
        with code.block(f"for ({kind} row = first; row < last; ++row)"):
            kept = unravelled(body, "row", tuple(split.shape[a] for a in split.kept), "kept")
            self.kept = dict(zip(split.kept, kept, strict=True))
            for level in range(max(self.levels, default=0) + 1):
                self._pass(level)
            self._row_outputs()
        groups = -(-split.rows // each)
        return signature.kernel(name, code, (groups * self.group,), (self.group,))

    # -------------------------------------------------------------- what is where

    def _full(self, value: int) -> bool:
        return shape_of(self.region.types[value]) == self.split.shape and bool(
            self.split.length != 1 or self.levels[value] == 0
        )

    def _reductions(self, level: int) -> list[int]:
        """The reductions whose operands are there in a pass."""
        return [
            v for v, step in self._made() if step.op in REDUCTIONS and self.levels[v] == level + 1
        ]

    def _made(self) -> Iterator[tuple[int, Step]]:
        for k, (maker, _) in enumerate(self.region.makers):
            yield len(self.region.operands) + k, self.region.steps[maker]

    def _memory(self, place: int, dtype: DType) -> str:
        """Local memory of one element a work-item, for the parts of a reduction."""
        known = self.memories.get((place, dtype))
        if known is None:
            kind = register_type(dtype)
            known = self.signature.local(
                f"shared{len(self.memories)}", kind, self.group, compute_size(dtype)
            )
            self.memories[place, dtype] = known
        return known

    def _full_outputs(self, level: int) -> list[tuple[int, int]]:
        return [
            (k, v)
            for k, v in enumerate(self.region.outputs)
            if self._full(v) and self.levels[v] == level
        ]

    def _choose_stash(self) -> None:
        """Values that several passes ask for and that take long to compute."""
        room = self.target.local_bytes // 2
        last = max(self.levels, default=0)
        for level in range(last):
            now = self._reached(level)
            later = set().union(*(self._reached(k) for k in range(level + 1, last + 1)))
            for v in sorted(now & later):
                step = self.region.step_of(v)
                dtype = self.region.types[v].dtype
                size = -(-self.split.length // self.lanes) * self.lanes * compute_size(dtype)
                if step is not None and v not in self.stash and slow(step) and size <= room:
                    room -= size
                    kind = register_type(dtype)
                    padded = size // compute_size(dtype)
                    name = self.signature.local(f"kept{v}", kind, padded, compute_size(dtype))
                    self.stash[v] = name

    def _reached(self, level: int) -> set[int]:
        """The full values that a pass computes or reads."""
        found: set[int] = set()
        waiting = [v for _, v in self._full_outputs(level)]
        for v in self._reductions(level):
            step = self.region.step_of(v)
            assert step is not None
            waiting.append(step.inputs[0])
        while waiting:
            v = waiting.pop()
            step = self.region.step_of(v)
            if v in found or step is None or step.op in REDUCTIONS or not self._full(v):
                continue
            found.add(v)
            if v not in self.stash:
                waiting += step.inputs
        return found

    # -------------------------------------------------------------- passes

    def _pass(self, level: int) -> None:
        code, kind = self.body.code, self.signature.index_type
        reductions, outputs = self._reductions(level), self._full_outputs(level)
        if not reductions and not outputs:
            return
        accumulators = []
        for v in reductions:
            step = self.region.step_of(v)
            assert step is not None
            dtype = accumulated(step, self.region.types[step.inputs[0]].dtype)
            accumulators.append(begin(code, step.op, dtype, self.lanes))
        stride = f"{self.lanes}" if self.group == 1 else f"{self.lanes} * group"
        start = "0" if self.group == 1 else f"lid * {self.lanes}"
        sums = [a.op == "sum" and a.dtype.kind not in "iub" for a in accumulators]
        if any(sums) and self.split.length > _BLOCK * self.lanes:
            with code.block(
                f"for ({kind} block = {start}; block < {self.n}; block += {stride} * {_BLOCK})"
            ):
                inner = [
                    begin(code, a.op, a.dtype, a.lanes) if s else a
                    for a, s in zip(accumulators, sums, strict=True)
                ]
                code.line(f"const {kind} stop = min(block + {stride} * {_BLOCK}, {self.n});")
                self._loop("block", "stop", stride, inner, reductions, outputs, level)
                for a, b, s in zip(accumulators, inner, sums, strict=True):
                    if s:
                        code.line(f"{a.value} += {b.value};")
        else:
            self._loop(start, self.n, stride, accumulators, reductions, outputs, level)
        if reductions:
            whole = [folded(code, a) for a in accumulators]
            if self.group > 1:
                dtypes = [dtype for a in whole for _, dtype in a.parts]
                across(code, whole, [self._memory(k, d) for k, d in enumerate(dtypes)])
            for v, a in zip(reductions, whole, strict=True):
                self._bind(v, result(code, a, self.region.types[v].dtype))

    def _loop(
        self, start: str, stop: str, stride: str, accumulators: Sequence[Accumulator],
        reductions: Sequence[int], outputs: Sequence[tuple[int, int]], level: int,
    ) -> None:  # fmt: skip
        body, code, kind = self.body, self.body.code, self.signature.index_type
        with code.block(f"for ({kind} {LANE} = {start}; {LANE} < {stop}; {LANE} += {stride})"):
            body.count = None
            if self.lanes > 1 and self.split.length % self.lanes:
                code.line(f"const int count = min({self.n} - {LANE}, ({kind}){self.lanes});")
                body.count = "count"
            index = self._index()
            for v, a in zip(reductions, accumulators, strict=True):
                step = self.region.step_of(v)
                assert step is not None
                value = self._value(step.inputs[0], index, level)
                take(code, a, value, f"(long){LANE}", body.count)
            for k, v in outputs:
                value = self._value(v, index, level)
                out = self.signature.pointer(self.region.goal(k), value.dtype)
                if self.straight:
                    place = f"row * {self.n} + {LANE}"
                else:
                    place = self._linear(index)
                store(code, f"{out} + {place}", value, self.lanes, body.count)
            self._keep(index, level)

    def _value(self, value: int, index: Index, level: int) -> Var:
        """A value in a pass, from local memory where an earlier pass left it."""
        for v, name in self.stash.items():
            if self.written.get(v, level) < level and v not in self.body.bound:
                self.body.bound[v] = self._reader(v, name, index)
        return self.body.value(value, index)

    @property
    def written(self) -> dict[int, int]:
        """The pass that first computes each value that is kept."""
        found: dict[int, int] = {}
        for level in range(max(self.levels, default=0), -1, -1):
            for v in self._reached(level) & set(self.stash):
                found[v] = level
        return found

    def _reader(self, value: int, name: str, here: Index) -> Callable[[Index], Var | None]:
        dtype = self.region.types[value].dtype

        def read(index: Index) -> Var | None:
            if index != here:
                return None
            place = f"{name} + {LANE}"
            text = f"vload{self.lanes}(0, {place})" if self.lanes > 1 else f"{name}[{LANE}]"
            return self.body.code.named(text, dtype, self.lanes)

        return read

    def _keep(self, index: Index, level: int) -> None:
        code = self.body.code
        for v, name in self.stash.items():
            if self.written.get(v) == level:
                value = self.body.value(v, index)
                if self.lanes > 1:
                    code.line(f"vstore{self.lanes}({value.text}, 0, {name} + {LANE});")
                else:
                    code.line(f"{name}[{LANE}] = {value.text};")

    def _index(self) -> Index:
        """The index of the element at `LANE` of this row."""
        if self.straight:
            gone = dict.fromkeys(self.split.gone, "0")
            gone[len(self.split.shape) - 1] = LANE if self.split.length != 1 else "0"
        else:
            sizes = tuple(self.split.shape[a] for a in self.split.gone)
            places = unravelled(self.body, LANE, sizes, "gone")
            gone = dict(zip(self.split.gone, places, strict=True))
        own = {**self.kept, **gone}
        return tuple(own[a] for a in range(len(self.split.shape)))

    def _linear(self, index: Index) -> str:
        terms = []
        step = 1
        for axis in range(len(index) - 1, -1, -1):
            if index[axis] != "0":
                factor = self.signature.number(("out", axis), step)
                terms.append(f"{index[axis]} * {factor}")
            step *= self.split.shape[axis]
        return " + ".join(terms) or "0"

    def _bind(self, value: int, var: Var) -> None:
        self.body.bound[value] = lambda index: var

    def _row_outputs(self) -> None:
        """What there is one of a row, written by the first work-item."""
        outputs = [(k, v) for k, v in enumerate(self.region.outputs) if not self._full(v)]
        if not outputs:
            return
        code = self.body.code
        with code.block("if (lid == 0)" if self.group > 1 else ""):
            for k, v in outputs:
                rank = len(shape_of(self.region.types[v]))
                index = self._row_index(rank)
                value = self.body.value(v, index)
                out = self.signature.pointer(self.region.goal(k), value.dtype)
                store(code, f"{out} + row", value, 1, None)

    def _row_index(self, rank: int) -> Index:
        if rank == len(self.split.shape):
            return tuple(self.kept.get(a, "0") for a in range(rank))
        if rank == len(self.split.kept):
            return tuple(self.kept[a] for a in self.split.kept)
        raise ValueError(f"an output of rank {rank} is neither a row nor one element of it")


def levels(region: Region) -> list[int]:
    """For each value how many reductions stand one behind the other before it."""
    found = [0] * len(region.operands)
    for step in region.steps:
        level = max((found[v] for v in step.inputs), default=0) + (step.op in REDUCTIONS)
        found += [level] * len(step.types)
    return found


def slow(step: Step) -> bool:
    """Whether a value is kept rather than computed again."""
    definition = OPS.get(step.op)
    if definition is None or not definition.elementwise or definition.expr is None:
        return False
    texts = [definition.expr] if isinstance(definition.expr, str) else [*definition.expr.values()]
    return any(word in text for text in texts for word in _SLOW)


_SLOW = ("exp", "log", "sin", "cos", "tan", "pow", "erf", "fmod", "cbrt", "hypot", " / ")
