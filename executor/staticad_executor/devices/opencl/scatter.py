"""Scatters: updates that meet one place are combined one by one, in their order.

On CPUs a work-item owns a range of places, or of columns, and goes through all updates.  On GPUs
the updates are ordered by their places first, and each element goes through those of its own.
Without atomics, so that results are the same in each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from staticad_schema.shapes import broadcast_shapes
from staticad_schema.types import UINT32, UINT64, WIDENED, DType

from .body import LANE, Body, Index
from .code import Var
from .combine import combined, identity
from .elementwise import largest
from .memory import load, store
from .places import Choice, checked, unravelled
from .region import Kernel, Pointer, Recipe, Region, row_major, shape_of
from .scalars import is_half
from .signature import Signature
from .sorting import SCRATCH, Sorting
from .target import Target
from .typed import cast, constant, rounded, spread

_COMBINED = {
    "scatter_set": "", "scatter_add": "sum", "scatter_multiply": "prod", "scatter_max": "max",
    "scatter_min": "min",
}  # fmt: skip
# Columns of a work-item that are worth going through all indices for.
_COLUMNS = 64
# Parts of the work for a group that does all of it.
_PARTS_ALONE = 64
_WIDE = Pointer("scratch", 0)

# What becomes of the element at a pointer, by the index of an update.
_Change = Callable[[Body, str, DType, Index], Var]


class Scatter:
    """A region that is one scatter."""

    def __init__(self, region: Region, target: Target) -> None:
        self.region, self.target = region, target
        (step,) = region.steps
        self.step, self.number = step, len(region.operands)
        self.x, self.updates, *self.indices = step.inputs
        self.shape = shape_of(step.types[0])
        self.axes: tuple[int, ...] = step.attributes["axes"]
        self.rest = tuple(a for a in range(len(self.shape)) if a not in self.axes)
        block = broadcast_shapes(region.types[v].shape for v in self.indices)
        self.block = tuple(int(n) for n in block if isinstance(n, int))
        self.count = math.prod(self.block)
        self.places = math.prod(self.shape[a] for a in self.axes)
        self.kind = _COMBINED[step.op]
        self.with_x = step.attributes.get("include_self", True)
        self.dtype = step.types[0].dtype
        self.wide = WIDENED.get(self.dtype, self.dtype) if self.kind else self.dtype

    def recipe(self, name: str) -> Recipe:
        """The kernels."""
        if self.target.many_items and not self.target.alone:
            return self._ordered(name)
        held = self._rounds and self.wide != self.dtype
        sizes = (math.prod(self.shape) * self.wide.itemsize,) if held else ()
        return Recipe((self._walk(name, held),), sizes)

    @property
    def _rounds(self) -> bool:
        """Whether what is combined has more digits than the result."""
        return self.kind in ("sum", "prod")

    # -------------------------------------------------------------- what both ways need

    def _place(self, body: Body, index: Index) -> tuple[str, str, dict[int, str]]:
        """(whether an update's indices are in range, its place, its index on each axis)."""
        tests, own = [], {}
        for axis, v in zip(self.axes, self.indices, strict=True):
            at = body.value(v, body.projected(v, index))
            fits, own[axis] = checked(body, self.number, at, self.shape[axis], ("axis", axis))
            tests.append(fits)
        return " && ".join(tests), self._among(body, own), own

    def _among(self, body: Body, own: dict[int, str]) -> str:
        """The number of a place, of its index on each axis."""
        sizes = [self.shape[a] for a in self.axes]
        return self._sum(body, [own[a] for a in self.axes], row_major(sizes), "place")

    def _sum(self, body: Body, index: list[str], strides: tuple[int, ...], key: str) -> str:
        terms = []
        for axis, (text, stride) in enumerate(zip(index, strides, strict=True)):
            if text != "0" and stride:
                factor = body.signature.number((key, axis), stride)
                terms.append(text if factor == "1" else f"{text} * {factor}")
        return " + ".join(terms) or "0"

    def _taken(self, before: Var, update: Var) -> Var:
        """What becomes of a place's value and an update, in the wide dtype."""
        if not self.kind:
            return update
        lanes = max(before.lanes, update.lanes)
        text = combined(self.kind, before, update)
        return Var(text, self.wide, lanes)

    def _worst(self) -> Var:
        return identity(self.kind, self.wide)

    # -------------------------------------------------------------- all updates in turn

    def _walk(self, name: str, held: bool) -> Kernel:
        """One kernel.  held: results are collected in scratch, and rounded at the end."""
        last = len(self.shape) - 1
        inner = self.shape[last] if last in self.rest else 1
        lanes = self.target.lanes(frozenset({self.dtype, self.wide})) if inner > 1 else 1
        while lanes > 1 and lanes > inner:
            lanes //= 2
        signature = Signature(largest(self.region) + _COLUMNS)
        body = Body(self.region, self.target, signature, lanes)
        code, kind = body.code, signature.index_type
        wanted = self._wanted()
        columns = inner >= _COLUMNS * wanted
        size = inner if columns else self.places
        whole = max(1, -(-size // wanted))
        chunk = -(-whole // lanes) * lanes if columns else whole
        units = max(1, -(-size // chunk))
        n, p = signature.number("inner", inner), signature.number("places", self.places)
        signature.word("chunk", kind, np.int32(chunk) if kind == "int" else np.int64(chunk))
        code.line(f"const {kind} unit = get_global_id(0);")
        mine = "unit * chunk", f"min((unit + 1) * chunk, ({kind}){n if columns else p})"
        first, stop = mine if not columns else ("0", p)
        code.line(f"const {kind} first = {first}, last = {stop};")
        first, stop = mine if columns else ("0", n)
        code.line(f"const {kind} start = {first}, stop = {stop};")
        goal = _WIDE if held else self.region.goal(0)
        dtype = self.wide if held else self.dtype
        memory = signature.pointer(goal, dtype)
        self._begin(body, memory, dtype, inner)
        if not self.with_x:
            self._all_updates(body, memory, dtype, inner, self._replace)
        self._all_updates(body, memory, dtype, inner, self._combine)
        if held:
            self._round(body, memory, inner)
        return signature.kernel(name, code, (units,), (1,))

    def _wanted(self) -> int:
        """Into how many parts the work is cut."""
        if self.target.many_items:
            return _PARTS_ALONE
        # Whose an update is cannot be foreseen: that takes longer than a few columns.
        width = math.prod(self.shape[a] for a in self.rest)
        return self.target.units if width >= 8 or self.target.units > 4 else 1

    @contextmanager
    def _columns(self, body: Body, inner: int) -> Iterator[list[str]]:
        """Loops over the axes that are not indexed; the index on them."""
        code, kind = body.code, body.signature.index_type
        sizes = tuple(self.shape[a] for a in self.rest)
        straight = inner > 1 or (bool(self.rest) and self.rest[-1] == len(self.shape) - 1)
        outer = sizes[:-1] if straight else sizes
        count = body.signature.number("outer", math.prod(outer))
        with code.block(f"for ({kind} o = 0; o < {count}; ++o)"):
            index = list(unravelled(body, "o", outer, "outer"))
            if not straight:
                yield index
                return
            with code.block(f"for ({kind} {LANE} = start; {LANE} < stop; {LANE} += {body.lanes})"):
                body.count = None
                if body.lanes > 1 and inner % body.lanes:
                    code.line(f"const int count = min(stop - {LANE}, ({kind}){body.lanes});")
                    body.count = "count"
                yield [*index, LANE if inner != 1 else "0"]

    def _joined(self, own: dict[int, str], rest: list[str]) -> Index:
        every = {**own, **dict(zip(self.rest, rest, strict=True))}
        return tuple(every[a] for a in range(len(self.shape)))

    def _at(self, body: Body, index: Index) -> str:
        return self._sum(body, list(index), row_major(self.shape), "out")

    @contextmanager
    def _own_elements(self, body: Body, inner: int) -> Iterator[Index]:
        """Loops over what a work-item owns."""
        code, kind = body.code, body.signature.index_type
        sizes = tuple(self.shape[a] for a in self.axes)
        with code.block(f"for ({kind} p = first; p < last; ++p)"):
            own = dict(zip(self.axes, unravelled(body, "p", sizes, "sizes"), strict=True))
            with self._columns(body, inner) as rest:
                yield self._joined(own, rest)

    def _begin(self, body: Body, memory: str, dtype: DType, inner: int) -> None:
        """x, where a work-item owns it."""
        with self._own_elements(body, inner) as index:
            value = cast(body.code, body.value(self.x, index), dtype)
            store(body.code, f"{memory} + {self._at(body, index)}", value, body.lanes, body.count)

    def _round(self, body: Body, memory: str, inner: int) -> None:
        code = body.code
        out = body.signature.pointer(self.region.goal(0), self.dtype)
        with self._own_elements(body, inner) as index:
            at = self._at(body, index)
            found = load(code, f"{memory} + {at}", self.wide, body.lanes, "1", body.count)
            value = rounded(code, Var(found.text, self.dtype, found.lanes))
            store(code, f"{out} + {at}", value, body.lanes, body.count)

    def _all_updates(
        self, body: Body, memory: str, dtype: DType, inner: int, change: _Change
    ) -> None:
        code, kind = body.code, body.signature.index_type
        count = body.signature.number("count", self.count)
        with code.block(f"for ({kind} k = 0; k < {count}; ++k)"):
            lead = unravelled(body, "k", self.block, "block")
            fits, place, own = self._place(body, lead)
            code.line(f"if (!({fits})) continue;")
            place = code.index(place, kind)
            code.line(f"if ({place} < first || {place} >= last) continue;")
            with self._columns(body, inner) as rest:
                at = f"{memory} + {self._at(body, self._joined(own, rest))}"
                value = change(body, at, dtype, (*lead, *rest))
                store(code, at, value, body.lanes, body.count)

    def _replace(self, body: Body, at: str, dtype: DType, index: Index) -> Var:
        worst = Var(self._worst().text, dtype)
        return Var(spread(worst, body.lanes), dtype, body.lanes)

    def _combine(self, body: Body, at: str, dtype: DType, index: Index) -> Var:
        code = body.code
        update = cast(code, body.value(self.updates, index), self.wide)
        if not self.kind:
            return update
        before = cast(code, load(code, at, dtype, body.lanes, "1", body.count), self.wide)
        return self._taken(before, update)._replace(dtype=dtype)

    # -------------------------------------------------------------- ordered by place

    def _ordered(self, name: str) -> Recipe:
        """Kernels that order the updates, and one in which each element takes up its own."""
        sorting = Sorting(
            self.region, self.target, 1, self.count, self.count, self.places >= (1 << 32) - 1
        )
        wide = sorting.entry.words > 1

        def key(body: Body, line: str, at: str) -> Var:
            lead = unravelled(body, at, self.block, "block")
            fits, place, _ = self._place(body, lead)
            # What has no place stands behind all.
            beyond = body.signature.number("places", self.places)
            dtype, kind = (UINT64, "ulong") if wide else (UINT32, "uint")
            text = f"({fits}) ? ({kind})({place}) : ({kind}){beyond}"
            return body.code.named(text, dtype)

        kernels = sorting.kernels(key, name)
        kernels.append(self._own_updates(sorting, name))
        return Recipe(tuple(kernels), (sorting.nbytes,))

    def _own_updates(self, sorting: Sorting, name: str) -> Kernel:
        signature = Signature(sorting.index_limit)
        body = Body(self.region, self.target, signature, 1)
        code, kind = body.code, signature.index_type
        entry = sorting.entry
        entry.declare(code)
        scratch = signature.pointer(SCRATCH, UINT64)
        signature.word("begins", "long", np.int64(sorting.begins))
        size = math.prod(self.shape)
        total, count = signature.number("size", size), signature.number("count", self.count)
        code.line(f"const {kind} at = get_global_id(0);")
        code.line(f"if (at >= {total}) return;")
        index = unravelled(body, "at", self.shape, "shape")
        place = code.index(self._among(body, {a: index[a] for a in self.axes}), kind)
        code.line(f"{kind} low = 0, high = {count};")
        with code.block("while (low < high)"):
            code.line(f"const {kind} mid = low + (high - low) / 2;")
            found = entry.key(entry.get(scratch, "begins + mid"))
            # Behind its last update, of which no other is asked for; else before its first.
            test = "<=" if not self.kind else "<"
            code.line(f"if ({found} {test} (ulong){place}) low = mid + 1; else high = mid;")
        result = Choice(body, self.dtype, constant(0, self.dtype))
        value = self._last if not self.kind else self._in_turn
        result.set(value(body, index, place, entry.get(scratch, "begins + {}"), sorting))
        out = signature.pointer(self.region.goal(0), self.dtype)
        store(code, f"{out} + at", result.var, 1, None)
        local = max(1, min(self.target.work_group, 64, size))
        return signature.kernel(name, code, (-(-size // local) * local,), (local,))

    def _update(self, body: Body, entry: str, index: Index, sorting: Sorting) -> Var:
        kind = body.signature.index_type
        number = body.code.index(f"({kind}){sorting.entry.place(entry)}", kind)
        lead = unravelled(body, number, self.block, "block")
        rest = tuple(index[a] for a in self.rest)
        return cast(body.code, body.value(self.updates, (*lead, *rest)), self.wide)

    def _last(self, body: Body, index: Index, place: str, get: str, sorting: Sorting) -> Var:
        code, entry = body.code, sorting.entry
        found = Choice(body, self.dtype, constant(0, self.dtype))
        code.line(
            f"const {entry.kind} e = {get.format(f'max(low - 1, ({body.signature.index_type})0)')};"
        )
        with code.block(f"if (low > 0 && {entry.key('e')} == (ulong){place})"):
            found.set(self._update(body, "e", index, sorting))
        with code.block("else"):
            found.set(body.value(self.x, index))
        return found.var

    def _in_turn(self, body: Body, index: Index, place: str, get: str, sorting: Sorting) -> Var:
        code, entry = body.code, sorting.entry
        count = body.signature.number("count", self.count)
        total = Choice(body, self.wide, cast(code, body.value(self.x, index), self.wide))
        if not self.with_x:
            any_ = f"low < {count} && {entry.key(get.format('low'))} == (ulong){place}"
            code.line(f"if ({any_}) {total.name} = {self._worst().text};")
        with code.block(f"for (; low < {count}; ++low)"):
            code.line(f"const {entry.kind} e = {get.format('low')};")
            code.line(f"if ({entry.key('e')} != (ulong){place}) break;")
            total.set(self._taken(total.var, self._update(body, "e", index, sorting)))
        found = total.var._replace(dtype=self.dtype)
        return rounded(code, found) if is_half(self.dtype) and self._rounds else found


def scatter(region: Region, target: Target, name: str = "scatter") -> Recipe:
    """The kernels of a region that is one scatter."""
    return Scatter(region, target).recipe(name)


SCATTERS = dict.fromkeys(_COMBINED, scatter)
