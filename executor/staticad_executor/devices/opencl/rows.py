"""Kernels that reduce rows: a row is what stays when the reduced axes vary.

A row is gone through as often as reductions wait for each other: once for a sum, three times for
a softmax.  On CPUs a work-item takes whole rows, by vectors; on GPUs a group takes a row.  Where
neighbours in memory are of different rows, a vector holds an element of each, and a work-item
takes as many rows.  What takes long to compute and is asked for in several passes is kept in local
memory.

Reductions across rows are finished elsewhere: a group leaves what its own rows come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from staticad_schema.types import DType

from .body import LANE, Body, Index
from .code import Var
from .combine import (
    REDUCTIONS,
    Accumulator,
    accumulated,
    across,
    begin,
    combined,
    folded,
    result,
    take,
)
from .elementwise import largest
from .loops import Loops
from .memory import load, store
from .region import Kernel, Pointer, Region, Shape, Step, shape_of
from .scalars import register_type
from .signature import Signature
from .split import Split, levels, made, slow
from .target import Target, compute_size
from .typed import cast, spread
from .walk import walk

_RUN = 4096
# The most groups that each leave something for another kernel to combine.
_COLUMN_UNITS, _TOTAL_UNITS = 64, 256


class Rows:
    """One kernel under construction.  scratch: the number of the first one that it fills."""

    def __init__(self, region: Region, target: Target, split: Split, scratch: int = 0) -> None:
        self.region, self.target, self.split = region, target, split
        self.levels = levels(region, split.partial)
        self.walk = walk(region, target, split)
        self.lanes = self.walk.lanes
        self.signature = Signature(largest(region) + _RUN)
        self.body = Body(region, target, self.signature, self.lanes)
        self.group = self._group()
        self.stash: dict[int, str] = {}
        self.first_pass: dict[int, int] = {}
        self.scratch = {v: scratch + k for k, v in enumerate(split.partial)}
        self.totals: dict[int, Accumulator] = {}
        self.stashed = LANE
        self.memories: dict[tuple[int, DType], str] = {}
        self.loops = Loops(self.body, split, self.walk, self.group)

    def _group(self) -> int:
        if not self.target.many_items or self.target.alone or self.walk.across:
            return 1
        vectors = max(1, -(-self.walk.steps * self.walk.vectors // self.split.parts))
        return max(1, min(self.target.work_group, 256, vectors))

    def kernel(self, name: str) -> Kernel:
        """The kernel."""
        walk, signature, code = self.walk, self.signature, self.body.code
        kind = signature.index_type
        self.loops.rows(self.each)
        if self.group > 1:
            code.line("const int lid = get_local_id(0);")
            code.line("const int group = get_local_size(0);")
        self._choose_stash()
        for v, what in self.split.partial.items():
            if what == "whole":
                self.totals[v] = self._begin(v)
        with code.block(f"for ({kind} row = first; row < last; ++row)"):
            self.loops.place_row()
            for level in range(max(self.levels, default=0) + 1):
                self._pass(level)
            self._row_outputs()
        self._write_totals()
        local = self.group
        if walk.across and self.target.many_items and not self.target.alone:
            local = max(1, min(self.target.work_group, 64, self.units))
        total = -(-self.units // local) * local if walk.across else self.units * self.group
        return signature.kernel(name, code, (total,), (local,))

    # -------------------------------------------------------------- sizes

    @property
    def each(self) -> int:
        """Rows of a unit, or vectors of them."""
        split, walk = self.split, self.walk
        own = walk.steps * (self.lanes if walk.across else walk.length)
        if not split.partial:
            return 1 if self.target.many_items else max(1, _RUN // max(1, own))
        if split.parts > 1:
            return 1
        # Few groups where each of them writes a whole row of sums, or a sum that is read again.
        most = _COLUMN_UNITS if "column" in split.partial.values() else _TOTAL_UNITS
        return max(1, _RUN // max(1, own), -(-walk.rows // most))

    @property
    def units(self) -> int:
        """Groups, or work-items that work alone."""
        return -(-self.walk.rows // self.each) * self.split.parts

    def accumulated(self, value: int) -> DType:
        """The dtype of what a reduction has so far."""
        step = made(self.region, value)
        return accumulated(step, self.region.types[step.inputs[0]].dtype)

    def left(self, value: int) -> Shape:
        """What a partial reduction leaves: how many, then the shape of the result."""
        used = self.units
        if self.split.partial[value] == "part":
            used = self.loops.outer * self.loops.inner
        return (used, *shape_of(self.region.types[value]))

    # -------------------------------------------------------------- what is where

    def _full(self, value: int) -> bool:
        shape = shape_of(self.region.types[value])
        return shape == self.split.shape and (self.split.length != 1 or self.levels[value] == 0)

    def _made(self) -> Iterator[tuple[int, Step]]:
        for k, (maker, _) in enumerate(self.region.makers):
            yield len(self.region.operands) + k, self.region.steps[maker]

    def _reductions(self, level: int) -> list[int]:
        """The reductions of rows whose operands are there in a pass."""
        return [
            v
            for v, step in self._made()
            if step.op in REDUCTIONS and self.levels[v] == level + 1 and v not in self.split.partial
        ]

    def _partial(self, level: int, *kinds: str) -> list[int]:
        """The partial reductions whose operands are there in a pass."""
        return [
            v
            for v, what in self.split.partial.items()
            if what in kinds and self.levels[made(self.region, v).inputs[0]] == level
        ]

    def _full_outputs(self, level: int) -> list[tuple[int, int]]:
        return [
            (k, v)
            for k, v in enumerate(self.region.outputs)
            if self._full(v) and self.levels[v] == level
        ]

    def _memory(self, place: int, dtype: DType) -> str:
        """Local memory of one element a work-item, for the parts of a reduction."""
        known = self.memories.get((place, dtype))
        if known is None:
            name, kind = f"shared{len(self.memories)}", register_type(dtype)
            known = self.signature.local(name, kind, self.group, compute_size(dtype))
            self.memories[place, dtype] = known
        return known

    def _choose_stash(self) -> None:
        """Values that several passes ask for and that take long to compute."""
        walk = self.walk
        if walk.across and self.target.many_items:
            return
        room = self.target.local_bytes // 2
        vectors = walk.steps * (1 if walk.across else walk.vectors)
        last = max(self.levels, default=0)
        for level in range(last):
            now = self._reached(level)
            later = set().union(*(self._reached(k) for k in range(level + 1, last + 1)))
            for v in sorted(now & later):
                step = self.region.step_of(v)
                dtype = self.region.types[v].dtype
                padded = vectors * self.lanes
                size = padded * compute_size(dtype)
                if step is not None and v not in self.stash and slow(step) and size <= room:
                    room -= size
                    kind = register_type(dtype)
                    self.first_pass[v] = level
                    self.stash[v] = self.signature.local(
                        f"kept{v}", kind, padded, compute_size(dtype)
                    )

    def _reached(self, level: int) -> set[int]:
        """The full values that a pass computes or reads."""
        found: set[int] = set()
        waiting = [v for _, v in self._full_outputs(level)]
        for v in self._reductions(level) + self._partial(level, "column", "whole", "part"):
            waiting.append(made(self.region, v).inputs[0])
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

    def _begin(self, value: int) -> Accumulator:
        step = made(self.region, value)
        return begin(self.body.code, step.op, self.accumulated(value), self.lanes)

    def _pass(self, level: int) -> None:
        code = self.body.code
        own, outputs = self._reductions(level), self._full_outputs(level)
        others, parts = self._partial(level, "whole"), self._partial(level, "part")
        columns = self._partial(level, "column")
        mine = own + parts
        if not mine and not others and not outputs and not columns:
            return
        started = [self._begin(v) for v in mine]
        accumulators = started + [self.totals[v] for v in others]
        reductions = mine + others

        def element(index: Index, step: str, taking: Sequence[Accumulator]) -> None:
            self._element(index, step, taking, reductions, outputs, level)

        self.loops.through(accumulators, bool(others), element)
        if not mine:
            return
        whole = started if self.walk.across else self._whole(started)
        for v, a in zip(own, whole, strict=False):
            self._bind(v, result(code, a, self.region.types[v].dtype))
        for v, a in zip(parts, whole[len(own) :], strict=True):
            with code.block("if (lid == 0)" if self.group > 1 else ""):
                out = self.signature.pointer(Pointer("scratch", self.scratch[v]), a.dtype)
                rows = self.signature.number("all rows", self.split.rows)
                place = f"{out} + part * {rows} + {self.loops.row}"
                store(code, place, Var(a.value, a.dtype, a.lanes), a.lanes, self._tail)

    @property
    def _tail(self) -> str | None:
        """How many rows a vector holds; None for all, and where it holds one."""
        return self.body.count if self.walk.across else None

    def _element(
        self, index: Index, step: str, accumulators: Sequence[Accumulator],
        reductions: Sequence[int], outputs: Sequence[tuple[int, int]], level: int,
    ) -> None:  # fmt: skip
        """What there is to do at one element of the row, or at a vector of them."""
        body, code, walk = self.body, self.body.code, self.walk
        self.stashed = self.loops.within(step)
        for v, a in zip(reductions, accumulators, strict=True):
            value = self._value(made(self.region, v).inputs[0], index, level)
            # Lanes past the last row are never stored.
            whole = walk.across and v not in self.totals
            take(code, a, value, self.loops.number(step), None if whole else body.count)
        for v in self._partial(level, "column"):
            value = self._value(made(self.region, v).inputs[0], index, level)
            self._column(v, value, LANE if step == "0" else f"{step} * {self.loops.n} + {LANE}")
        for k, v in outputs:
            value = self._value(v, index, level)
            out = self.signature.pointer(self.region.goal(k), value.dtype)
            store(code, f"{out} + {self.loops.linear(index)}", value, self.lanes, body.count)
        self._keep(index, level)

    def _column(self, value: int, found: Var, place: str) -> None:
        """Add the elements of a row to those of the rows before, in memory."""
        body, code, lanes = self.body, self.body.code, self.lanes
        dtype = self.accumulated(value)
        out = self.signature.pointer(Pointer("scratch", self.scratch[value]), dtype)
        key = "length" if self.walk.steps == 1 else "row"
        pointer = f"{out} + unit * {self.signature.number(key, self.split.length)} + {place}"
        name = code.fresh("a")
        own = spread(cast(code, found, dtype), lanes)
        code.line(f"{register_type(dtype, lanes)} {name} = {own};")
        mine = Var(name, dtype, lanes)
        with code.block("if (row != first)"):
            before = load(code, pointer, dtype, lanes, "1", body.count)
            code.line(f"{name} = {combined(made(self.region, value).op, before, mine)};")
        store(code, pointer, mine, lanes, body.count)

    def _whole(self, accumulators: Sequence[Accumulator]) -> list[Accumulator]:
        """Vectors folded, and combined over the work-items of the group."""
        code = self.body.code
        whole = [folded(code, a) for a in accumulators]
        if self.group > 1:
            dtypes = [dtype for a in whole for _, dtype in a.parts]
            across(code, whole, [self._memory(k, d) for k, d in enumerate(dtypes)])
        return whole

    def _write_totals(self) -> None:
        """What is left of whole reductions, by the first work-item."""
        code, signature = self.body.code, self.signature
        if not self.totals:
            return
        whole = self._whole(list(self.totals.values()))
        with code.block("if (lid == 0)" if self.group > 1 else ""):
            for v, a in zip(self.totals, whole, strict=True):
                out = signature.pointer(Pointer("scratch", self.scratch[v]), a.dtype)
                store(code, f"{out} + unit", Var(a.value, a.dtype), 1, None)

    # -------------------------------------------------------------- values

    def _value(self, value: int, index: Index, level: int) -> Var:
        """A value in a pass, from local memory where an earlier pass left it."""
        for v, name in self.stash.items():
            if self.first_pass[v] < level:
                self.body.bound[v] = self._reader(v, name, index)
        return self.body.value(value, index)

    def _reader(self, value: int, name: str, here: Index) -> Callable[[Index], Var | None]:
        dtype, place = self.region.types[value].dtype, f"{name} + {self.stashed}"

        def read(index: Index) -> Var | None:
            if index != here:
                return None
            text = f"vload{self.lanes}(0, {place})" if self.lanes > 1 else f"*({place})"
            return self.body.code.named(text, dtype, self.lanes)

        return read

    def _keep(self, index: Index, level: int) -> None:
        code = self.body.code
        for v, name in self.stash.items():
            if self.first_pass[v] == level:
                text = spread(self.body.value(v, index), self.lanes)
                if self.lanes > 1:
                    code.line(f"vstore{self.lanes}({text}, 0, {name} + {self.stashed});")
                else:
                    code.line(f"{name}[{self.stashed}] = {text};")

    def _bind(self, value: int, var: Var) -> None:
        self.body.bound[value] = lambda index: var

    def _row_outputs(self) -> None:
        """What there is one of a row, written by the first work-item."""
        outputs = [
            (k, v)
            for k, v in enumerate(self.region.outputs)
            if not self._full(v) and self.levels[v] >= 0
        ]
        if not outputs:
            return
        code, lanes = self.body.code, self.lanes if self.walk.across else 1
        with code.block("if (lid == 0)" if self.group > 1 else ""):
            for k, v in outputs:
                value = self.body.value(v, self.loops.row_index(shape_of(self.region.types[v])))
                out = self.signature.pointer(self.region.goal(k), value.dtype)
                store(code, f"{out} + {self.loops.row}", value, lanes, self._tail)
