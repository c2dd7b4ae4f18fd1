"""Kernels that reduce rows: a row is what stays when the reduced axes vary.

A row is gone through as often as reductions wait for each other: once for a sum, three times for
a softmax.  On CPUs a work-item takes whole rows, by vectors; on GPUs a group takes a row.  What
takes long to compute and is asked for in several passes is kept in local memory.

Reductions across rows are finished elsewhere: a group leaves what its own rows come to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

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
    combined,
    folded,
    result,
    take,
)
from .elementwise import computed_dtypes, keeps_last, largest, no_vector
from .memory import load, store
from .places import unravelled
from .region import Kernel, Pointer, Region, Shape, Step, shape_of
from .scalars import register_type
from .signature import Signature
from .split import Split, levels, made, slow
from .target import Target, compute_size
from .typed import cast, spread

_RUN = 4096
# Vectors that are summed before their sum is: rounding then grows with the root of the length.
_BLOCK = 128
# The most groups that each leave something for another kernel to combine.
_COLUMN_UNITS, _TOTAL_UNITS = 64, 256


class Rows:
    """One kernel under construction."""

    def __init__(self, region: Region, target: Target, split: Split) -> None:
        self.region, self.target, self.split = region, target, split
        self.levels = levels(region, split.partial)
        last = len(split.shape) - 1
        long = [a for a in split.gone if split.shape[a] != 1]
        # Whether a row's elements are counted along the last axis.
        self.straight = long in ([last], []) and split.gone[-1:] == (last,)
        vectors = self.straight and not self._turns()
        lanes = target.lanes(computed_dtypes(region)) if vectors else 1
        while lanes > 1 and lanes > split.length:
            lanes //= 2
        if any(no_vector(region, s, lanes) or s.op in PLACES for s in region.steps):
            lanes = 1
        self.lanes = lanes
        self.signature = Signature(largest(region) + _RUN)
        self.body = Body(region, target, self.signature, lanes)
        self.group = self._group()
        self.stash: dict[int, str] = {}
        self.first_pass: dict[int, int] = {}
        self.scratch = {v: k for k, v in enumerate(split.partial)}
        self.totals: dict[int, Accumulator] = {}
        self.memories: dict[tuple[int, DType], str] = {}
        self.kept: dict[int, str] = {}
        self.n = self.signature.number("length", split.length)

    def _turns(self) -> bool:
        """Whether a value along a row is read at another place of its last axis."""
        waiting = [v for v in self.region.outputs if self._full(v)]
        waiting += [s.inputs[0] for s in self.region.steps if s.op in REDUCTIONS]
        seen: set[int] = set()
        while waiting:
            v = waiting.pop()
            step, shape = self.region.step_of(v), shape_of(self.region.types[v])
            if v in seen or step is None or step.op in REDUCTIONS or shape[-1:] in ((), (1,)):
                continue
            seen.add(v)
            if not keeps_last(step):
                return True
            waiting += step.inputs
        return False

    def _group(self) -> int:
        if not self.target.many_items or self.target.alone:
            return 1
        vectors = max(1, -(-self.split.length // (self.lanes * self.split.parts)))
        return max(1, min(self.target.work_group, 256, vectors))

    def kernel(self, name: str) -> Kernel:
        """The kernel."""
        split, signature, body = self.split, self.signature, self.body
        code, kind = body.code, signature.index_type
        count = signature.number("rows", split.rows)
        each = signature.number("rows each", self.each)
        code.line(f"const {kind} unit = get_group_id(0);")
        if split.parts > 1:
            parts = signature.number("parts", split.parts)
            chunk = signature.number("chunk", self.chunk)
            code.line(f"const {kind} first = unit / {parts};")
            code.line(f"const {kind} start = unit % {parts} * {chunk};")
            code.line(f"const {kind} stop = min(start + {chunk}, {self.n});")
        else:
            code.line(f"const {kind} first = unit * {each};")
        code.line(f"const {kind} last = min(first + {each}, {count});")
        if self.group > 1:
            code.line("const int lid = get_local_id(0);")
            code.line("const int group = get_local_size(0);")
        self._choose_stash()
        for v, what in split.partial.items():
            if what != "column":
                self.totals[v] = self._begin(v)
        with code.block(f"for ({kind} row = first; row < last; ++row)"):
            kept = unravelled(body, "row", tuple(split.shape[a] for a in split.kept), "kept")
            self.kept = dict(zip(split.kept, kept, strict=True))
            for level in range(max(self.levels, default=0) + 1):
                self._pass(level)
            self._row_outputs()
        self._write_totals()
        return signature.kernel(name, code, (self.units * self.group,), (self.group,))

    # -------------------------------------------------------------- sizes

    @property
    def each(self) -> int:
        """Rows of a group."""
        split = self.split
        if not split.partial:
            return 1 if self.target.many_items else max(1, _RUN // max(1, split.length))
        if split.parts > 1:
            return 1
        # Few groups where each of them writes a whole row of sums, or a sum that is read again.
        most = _COLUMN_UNITS if "column" in split.partial.values() else _TOTAL_UNITS
        return max(1, _RUN // max(1, split.length), -(-split.rows // most))

    @property
    def units(self) -> int:
        """Groups."""
        return -(-self.split.rows // self.each) * self.split.parts

    @property
    def chunk(self) -> int:
        """Elements of a part of a row: whole vectors for each work-item."""
        step = self.lanes * self.group
        return -(-self.split.length // (self.split.parts * step)) * step

    def accumulated(self, value: int) -> DType:
        """The dtype of what a reduction has so far."""
        step = made(self.region, value)
        return accumulated(step, self.region.types[step.inputs[0]].dtype)

    def scratch_shape(self, value: int) -> Shape:
        """What a partial reduction leaves: first how many, then their shape."""
        split, what = self.split, self.split.partial[value]
        if what == "part":
            return (split.parts, *(split.shape[a] for a in split.kept))
        own = tuple(split.shape[a] for a in split.gone) if what == "column" else ()
        return (self.units, *own)

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
        room = self.target.local_bytes // 2
        last = max(self.levels, default=0)
        for level in range(last):
            now = self._reached(level)
            later = set().union(*(self._reached(k) for k in range(level + 1, last + 1)))
            for v in sorted(now & later):
                step = self.region.step_of(v)
                dtype = self.region.types[v].dtype
                padded = -(-self.split.length // self.lanes) * self.lanes
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
        code, kind = self.body.code, self.signature.index_type
        own, outputs = self._reductions(level), self._full_outputs(level)
        others, columns = self._partial(level, "whole", "part"), self._partial(level, "column")
        reductions = own + others
        if not reductions and not outputs and not columns:
            return
        accumulators = [self._begin(v) for v in own] + [self.totals[v] for v in others]
        stride = f"{self.lanes}" if self.group == 1 else f"{self.lanes} * group"
        start, stop = ("start", "stop") if self.split.parts > 1 else ("0", self.n)
        if self.group > 1:
            start = f"{start} + lid * {self.lanes}"
        sums = [a.op == "sum" and a.dtype.kind not in "iub" for a in accumulators]
        if any(sums) and (others or self.split.length > _BLOCK * self.lanes):
            with code.block(
                f"for ({kind} block = {start}; block < {stop}; block += {stride} * {_BLOCK})"
            ):
                inner = [
                    begin(code, a.op, a.dtype, a.lanes) if s else a
                    for a, s in zip(accumulators, sums, strict=True)
                ]
                code.line(f"const {kind} end = min(block + {stride} * {_BLOCK}, {stop});")
                self._loop("block", "end", stride, inner, reductions, outputs, level)
                for a, b, s in zip(accumulators, inner, sums, strict=True):
                    if s:
                        code.line(f"{a.value} += {b.value};")
        else:
            self._loop(start, stop, stride, accumulators, reductions, outputs, level)
        if own:
            whole = self._whole(accumulators[: len(own)])
            for v, a in zip(own, whole, strict=True):
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
                value = self._value(made(self.region, v).inputs[0], index, level)
                take(code, a, value, f"(long){LANE}", body.count)
            for v in self._partial(level, "column"):
                self._column(v, self._value(made(self.region, v).inputs[0], index, level))
            for k, v in outputs:
                value = self._value(v, index, level)
                out = self.signature.pointer(self.region.goal(k), value.dtype)
                place = f"row * {self.n} + {LANE}" if self.straight else self._linear(index)
                store(code, f"{out} + {place}", value, self.lanes, body.count)
            self._keep(index, level)

    def _column(self, value: int, found: Var) -> None:
        """Add the elements of a row to those of the rows before, in memory."""
        body, code, lanes = self.body, self.body.code, self.lanes
        dtype = self.accumulated(value)
        out = self.signature.pointer(Pointer("scratch", self.scratch[value]), dtype)
        pointer = f"{out} + unit * {self.n} + {LANE}"
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
        place = "unit"
        if self.split.parts > 1:
            parts = signature.number("parts", self.split.parts)
            place = f"unit % {parts} * {signature.number('rows', self.split.rows)} + first"
        with code.block("if (lid == 0)" if self.group > 1 else ""):
            for v, a in zip(self.totals, whole, strict=True):
                out = signature.pointer(Pointer("scratch", self.scratch[v]), a.dtype)
                store(code, f"{out} + {place}", Var(a.value, a.dtype), 1, None)

    def _value(self, value: int, index: Index, level: int) -> Var:
        """A value in a pass, from local memory where an earlier pass left it."""
        for v, name in self.stash.items():
            if self.first_pass[v] < level:
                self.body.bound[v] = self._reader(v, name, index)
        return self.body.value(value, index)

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
            if self.first_pass[v] == level:
                text = spread(self.body.value(v, index), self.lanes)
                if self.lanes > 1:
                    code.line(f"vstore{self.lanes}({text}, 0, {name} + {LANE});")
                else:
                    code.line(f"{name}[{LANE}] = {text};")

    # -------------------------------------------------------------- indices

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
        outputs = [
            (k, v)
            for k, v in enumerate(self.region.outputs)
            if not self._full(v) and self.levels[v] >= 0
        ]
        if not outputs:
            return
        code = self.body.code
        with code.block("if (lid == 0)" if self.group > 1 else ""):
            for k, v in outputs:
                index = self._row_index(len(shape_of(self.region.types[v])))
                value = self.body.value(v, index)
                out = self.signature.pointer(self.region.goal(k), value.dtype)
                store(code, f"{out} + row", value, 1, None)

    def _row_index(self, rank: int) -> Index:
        if rank == len(self.split.shape):
            return tuple(self.kept.get(a, "0") for a in range(rank))
        if rank == len(self.split.kept):
            return tuple(self.kept[a] for a in self.split.kept)
        raise ValueError(f"an output of rank {rank} is neither a row nor one element of it")
