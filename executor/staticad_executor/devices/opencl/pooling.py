"""Pooling: the largest element of each window, sums of windows, and their transposes.

A work-item takes some rows of results on CPUs, one result on GPUs.  What goes back to elements is
gathered for each element, or added window by window in their order by the one work-item that has
the element: without atomics, so that results are the same in each run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

from staticad_schema.types import INT64, KINDS

from .code import Code, Var
from .combine import identity
from .memory import read, write
from .region import Pointer, Recipe, Region, row_major, shape_of, size_of
from .scalars import computed, literal, register_type
from .signature import Signature
from .spatial import Axis, axes_of_windows, operands_of
from .target import Target
from .typed import arithmetic, cast, rounded

RUN = 1024
"""Results of a work-item on a CPU, about."""
OUTER, LAST = slice(-1), slice(-1, None)
"""Axes that are the same for a row, and the one along it."""
SEGMENTS = 64
"""Parts of a map's elements, each with a work-item of its own, on GPUs."""


class Results:
    """A kernel that computes each result by itself: the loops around, and its place.

    map: the text of the number of a result's image and channel.  index: of its place on each
    spatial axis.  place: among all results.
    """

    def __init__(self, region: Region, target: Target, largest: int) -> None:
        (step,) = region.steps
        self.region, self.step, self.target = region, step, target
        self.shape = shape_of(step.types[0])
        self.dtype = step.types[0].dtype
        self.wide = computed(self.dtype)
        self.source = operands_of(region)[0]
        self.signature = Signature(largest + size_of(self.shape) + RUN)
        self.code = Code()
        self.kind = self.signature.index_type
        self.x = self.signature.pointer(region.source(step.inputs[0]), self.source.dtype)
        self.place = "place"
        self.index = [f"i{k}" for k in range(len(self.shape) - 2)]

    def number(self, key: object, value: int) -> str:
        """The name of a number."""
        return self.signature.number(key, value)

    def recipe(self, name: str, outer: Callable[[], None], body: Callable[[], None]) -> Recipe:
        """The kernel with these in its loops: once a row, and once a result."""
        code, kind = self.code, self.kind
        inner = self.shape[-1]
        rows = size_of(self.shape[:-1])
        each = 1 if self.target.many_items else max(1, RUN // max(1, inner))
        count, length = self.number("rows", rows), self.number("inner", inner)
        if self.target.many_items:
            units = rows * inner
            code.line(f"const {kind} place = get_global_id(0);")
            code.line(f"if (place >= {self.number('units', units)}) return;")
            code.line(f"const {kind} row = place / {length}, {self.index[-1]} = place % {length};")
            self._row()
            outer()
            body()
        else:
            units = -(-rows // each)
            many = self.number("each", each)
            code.line(f"const {kind} first = get_global_id(0) * {many};")
            code.line(f"const {kind} last = min(first + {many}, {count});")
            with code.block(f"for ({kind} row = first; row < last; ++row)"):
                self._row()
                outer()
                own = self.index[-1]
                with code.block(f"for ({kind} {own} = 0; {own} < {length}; ++{own})"):
                    code.line(f"const {kind} place = row * {length} + {own};")
                    body()
        local = max(1, min(self.target.work_group, 64, units)) if self.target.many_items else 1
        size = (-(-units // local) * local,)
        return Recipe((self.signature.kernel(name, code, size, (local,)),), (), "window by window")

    def _row(self) -> None:
        """Where a row lies: its image and channel, its place on each spatial axis but the last."""
        rest = "row"
        for k in range(len(self.shape) - 2, 0, -1):
            name = self.index[k - 2] if k > 1 else "b"
            size = self.number(("shape", k), self.shape[k])
            self.code.line(
                f"const {self.kind} {name} = {rest} % {size}, rest{k} = {rest} / {size};"
            )
            rest = f"rest{k}"
        one, two = (self.number(("map", k), self.source.strides[k]) for k in range(2))
        self.code.line(f"const {self.kind} map = {rest} * {one} + b * {two};")

    def write(self, value: Var, output: int = 0) -> None:
        """Write a result."""
        out = self.signature.pointer(self.region.goal(output), value.dtype)
        text = write(self.code, f"{out} + place", value.text, value.dtype, 1)
        self.code.line(text + ";")

    def ranges(self, axes: tuple[Axis, ...], which: slice) -> None:
        """For some axes the places of a window that lie on the source: `begin` the first, `end`
        behind the last; the window's own place is `s`."""
        code, kind = self.code, self.kind
        for k, (axis, i) in list(enumerate(zip(axes, self.index, strict=True)))[which]:
            step, base = self.number(("step", k), axis.step), self.number(("base", k), axis.base)
            move, taps = self.number(("move", k), axis.move), self.number(("taps", k), axis.taps)
            size = self.number(("size", k), axis.size)
            code.line(f"const {kind} s{k} = {i} * {step} + {base};")
            begin, end = "0", taps
            if axis.low < 0:
                begin = f"min(s{k} < 0 ? (-s{k} + {move} - 1) / {move} : 0, ({kind}){taps})"
            if axis.low + axis.reach(axis.length) > axis.size:
                rest = f"s{k} < {size} ? ({size} - s{k} + {move} - 1) / {move} : 0"
                end = f"min({rest}, ({kind}){taps})"
            code.line(f"const {kind} begin{k} = {begin}, end{k} = {end};")

    def element(self, places: list[str], axes: tuple[Axis, ...]) -> Var:
        """The element of the source at a place on each axis."""
        terms = [
            f"{text} * {self.number(('stride', k), axis.source)}"
            for k, (text, axis) in enumerate(zip(places, axes, strict=True))
        ]
        text = read(f"{self.x} + map + {' + '.join(terms)}", self.source.dtype, 1)
        return Var(text, self.source.dtype)


def _largest(region: Region, axes: tuple[Axis, ...]) -> int:
    sizes = [size_of(t.shape) for t in region.types]
    for operand in region.operands:
        pairs = zip(operand.strides, operand.shape, strict=True)
        sizes.append(sum(abs(s) * n for s, n in pairs))
    sizes += [
        abs(a.base) + a.reach(a.length) + abs(a.move) * a.taps + a.step + a.size for a in axes
    ]
    return max(sizes)


def max_pool(region: Region, target: Target, name: str) -> Recipe:
    """The kernel of `max_pool`.  Of equal elements the first counts; a NaN is the largest."""
    axes = axes_of_windows(region, region.steps[0].types[0])
    form = Results(region, target, _largest(region, axes))
    code, kind, dtype = form.code, form.kind, form.dtype
    pitches = row_major(form.source.shape[2:])

    def body() -> None:
        element = register_type(dtype)
        code.line(f"{element} best = {identity('max', dtype).text};")
        code.line(f"{kind} found = -1;")
        form.ranges(axes, LAST)
        places = []
        for k in range(len(axes)):
            code.line(f"for ({kind} j{k} = begin{k}; j{k} < end{k}; ++j{k}) {{")
            code.line(
                f"const {kind} at{k} = s{k} + j{k} * {form.number(('move', k), axes[k].move)};"
            )
            places.append(f"at{k}")
        code.line(f"const {element} x = {form.element(places, axes).text};")
        # Without branches, which nobody could foresee.
        better = "(found < 0) | (x > best)"
        if KINDS[dtype] == "float":
            better += " | ((x != x) & (best == best))"
        flat = [
            f"{at} * {form.number(('pitch', k), pitch)}"
            for k, (at, pitch) in enumerate(zip(places, pitches, strict=True))
        ]
        code.line(f"const int better = {better};")
        code.line("best = better ? x : best;")
        code.line(f"found = better ? {' + '.join(flat)} : found;")
        code.line("}" * len(axes))
        # The region's outputs may be one of the two.
        count = len(region.operands)
        for output, value in enumerate(region.outputs):
            form.write(Var("best", dtype) if value == count else Var("(long)found", INT64), output)

    return form.recipe(f"{name}_max", lambda: form.ranges(axes, OUTER), body)


def window_sum(region: Region, target: Target, name: str) -> Recipe:
    """The kernel of `window_sum`."""
    axes = axes_of_windows(region, region.steps[0].types[0])
    form = Results(region, target, _largest(region, axes))
    code, kind, wide = form.code, form.kind, form.wide

    def body() -> None:
        form.ranges(axes, LAST)
        start = literal(0, wide)
        if KINDS[wide] == "float":
            # The sum of -0 alone is -0; padding is 0.
            whole = " && ".join(
                f"begin{k} == 0 && end{k} == {form.number(('taps', k), axis.taps)}"
                for k, axis in enumerate(axes)
            )
            start = f"{whole} ? {literal(-0.0, wide)} : {start}"
        code.line(f"{register_type(wide)} sum = {start};")
        places = []
        for k in range(len(axes)):
            code.line(f"for ({kind} j{k} = begin{k}; j{k} < end{k}; ++j{k}) {{")
            places.append(f"(s{k} + j{k} * {form.number(('move', k), axes[k].move)})")
        x = cast(code, form.element(places, axes), wide)
        code.line(f"sum = {arithmetic('+', Var('sum', wide), x).text};")
        code.line("}" * len(axes))
        form.write(rounded(code, Var("sum", form.dtype)))

    return form.recipe(f"{name}_sum", lambda: form.ranges(axes, OUTER), body)


def window_spread(region: Region, target: Target, name: str) -> Recipe:
    """The kernel of `window_spread`: each element adds up the windows that contain it."""
    axes = axes_of_windows(region, region.types[region.steps[0].inputs[0]])
    form = Results(region, target, _largest(region, axes))
    code, kind, wide = form.code, form.kind, form.wide

    def reached(which: slice) -> None:
        for k, axis in list(enumerate(axes))[which]:
            # Windows from the first that reaches the element to the last that begins before it.
            step, base = form.number(("step", k), axis.step), form.number(("base", k), -axis.base)
            back = form.number(("back", k), axis.back)
            last = form.number(("last", k), axis.length - 1)
            code.line(f"const {kind} t{k} = {form.index[k]} + {base};")
            first = f"(t{k} - {back} + {step} - 1) / {step}"
            code.line(f"const {kind} begin{k} = t{k} > {back} ? {first} : 0;")
            code.line(f"const {kind} end{k} = t{k} < 0 ? -1 : min(t{k} / {step}, ({kind}){last});")

    def body() -> None:
        reached(LAST)
        code.line(f"{register_type(wide)} sum = {literal(0, wide)};")
        for k, axis in enumerate(axes):
            code.line(f"for ({kind} w{k} = begin{k}; w{k} <= end{k}; ++w{k}) {{")
            if axis.move != 1:
                step, move = (
                    form.number(("step", k), axis.step),
                    form.number(("move", k), axis.move),
                )
                code.line(f"if ((t{k} - w{k} * {step}) % {move}) continue;")
        places = [f"w{k}" for k in range(len(axes))]
        strides = form.source.strides[2:]
        terms = [
            f"{text} * {form.number(('stride', k), stride)}"
            for k, (text, stride) in enumerate(zip(places, strides, strict=True))
        ]
        x = Var(read(f"{form.x} + map + {' + '.join(terms)}", form.dtype, 1), form.dtype)
        code.line(f"sum = {arithmetic('+', Var('sum', wide), cast(code, x, wide)).text};")
        code.line("}" * len(axes))
        form.write(rounded(code, Var("sum", form.dtype)))

    return form.recipe(f"{name}_spread", lambda: reached(OUTER), body)


def unpool(region: Region, target: Target, name: str) -> Recipe:
    """The kernel of `unpool`: a work-item has a part of the elements of a map, and goes through
    the map's windows in order."""
    (step,) = region.steps
    g, indices = operands_of(region)
    shape, dtype = shape_of(step.types[0]), step.types[0].dtype
    wide = computed(dtype)
    maps, size = math.prod(shape[:2]), size_of(shape[2:])
    signature = Signature(max(_largest(region, ()), size_of(shape), size_of(g.shape)) + SEGMENTS)
    code, kind = Code(), signature.index_type
    given = signature.pointer(region.source(step.inputs[0]), dtype)
    places = signature.pointer(region.source(step.inputs[1]), INT64)
    out = signature.pointer(region.goal(0), dtype)
    # Sums of half floats have more digits than they.
    sums = out if dtype == wide else signature.pointer(Pointer("scratch", 0), wide)
    flag = signature.flag()
    wanted = SEGMENTS if target.many_items else -(-2 * target.units // maps)
    parts = max(1, min(wanted, size))
    length = -(-size // parts)
    n, p = signature.number("size", size), signature.number("parts", parts)
    part = signature.number("length", length)
    code.line(f"const {kind} unit = get_global_id(0);")
    if target.many_items:
        code.line(f"if (unit >= {signature.number('units', maps * parts)}) return;")
    code.line(f"const {kind} map = unit / {p};")
    code.line(f"const {kind} first = unit % {p} * {part};")
    code.line(f"const {kind} last = min(first + {part}, {n});")
    code.line(f"__global {register_type(wide)} *own = {sums} + map * {n};")
    code.line(f"for ({kind} k = first; k < last; ++k) own[k] = {literal(0, wide)};")
    channels = signature.number("channels", shape[1])
    terms: list[list[str]] = [[], []]
    for which, operand in enumerate((g, indices)):
        one, two = (signature.number((which, k), operand.strides[k]) for k in range(2))
        terms[which].append(f"map / {channels} * {one} + map % {channels} * {two}")
    rank = len(g.shape) - 2
    for k in range(rank):
        count = signature.number(("count", k), g.shape[2 + k])
        code.line(f"for ({kind} i{k} = 0; i{k} < {count}; ++i{k}) {{")
        for which, operand in enumerate((g, indices)):
            stride = signature.number((which, 2 + k), operand.strides[2 + k])
            terms[which].append(f"i{k} * {stride}")
    code.line(f"const long place = {places}[{' + '.join(terms[1])}];")
    code.line(f"if (place < 0 || place >= {n}) atomic_max({flag}, {step.number or 1}U);")
    x = Var(read(f"{given} + {' + '.join(terms[0])}", dtype, 1), dtype)
    total = arithmetic("+", Var("own[place]", wide), cast(code, x, wide))
    code.line(f"else if (place >= first && place < last) own[place] = {total.text};")
    code.line("}" * rank)
    if dtype != wide:
        value = Var("own[k]", dtype)
        with code.block(f"for ({kind} k = first; k < last; ++k)"):
            text = write(code, f"{out} + map * {n} + k", rounded(code, value).text, dtype, 1)
            code.line(text + ";")
    units = maps * parts
    local = max(1, min(target.work_group, SEGMENTS)) if target.many_items else 1
    kernel = signature.kernel(f"{name}_unpool", code, (-(-units // local) * local,), (local,))
    held = (maps * max(1, size) * wide.itemsize,) if dtype != wide else ()
    return Recipe((kernel,), held, "window by window")


def pooling(region: Region, target: Target, name: str = "pooling") -> Recipe:
    """The kernels of a region whose one step is an op of pooling."""
    (step,) = region.steps
    results = size_of(shape_of(step.types[0]))
    if step.op == "unpool":
        # Indices into nothing are out of range.
        nothing = size_of(operands_of(region)[0].shape) == 0 and results == 0
    else:
        nothing = results == 0
    return Recipe(()) if nothing else _WAYS[step.op](region, target, name)


Way = Callable[[Region, Target, str], Recipe]
_WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "max_pool": max_pool,
        "unpool": unpool,
        "window_sum": window_sum,
        "window_spread": window_spread,
    }
)
POOLS: Mapping[str, Way] = MappingProxyType(dict.fromkeys(_WAYS, pooling))
