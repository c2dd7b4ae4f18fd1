"""Orders along an axis: runs that are sorted alone, then merged two by two.

What is sorted are entries: a key, an unsigned number that ascends as the elements are to, and the
place along the line, which tells equal keys apart, so that any algorithm is a stable one.  Keys of
32 bits stand above their place in one ulong, longer ones beside it.  On CPUs a work-item sorts a
run, on GPUs a group does, in local memory; where fewer than all are asked for, runs keep no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from staticad_schema.types import BOOL, FLOAT64, INT64, KINDS, UINT32, UINT64, DType

from .body import Body
from .code import Code, Var
from .elementwise import largest
from .memory import store
from .places import unravelled
from .region import Kernel, Pointer, Recipe, Region, Step, row_major, shape_of
from .signature import Signature
from .target import Target
from .typed import cast

# Elements that a work-item sorts alone, of that the first runs, and from where on a group is
# faster.
_RUN, _FIRST, _FEW = 4096, 8, 32
# The most of what is kept by inserting into a list.
_KEPT = 128
# Elements of a merged line that a work-item writes.
_PIECE_CPU, _PIECE_GPU = 4096, 8

SCRATCH = Pointer("scratch", 0)

# The key of an element at a place of a line: uint or ulong.
Key = Callable[[Body, str, str], Var]


class Entry(NamedTuple):
    """How entries lie in memory: words of 64 bits each."""

    words: int

    @property
    def kind(self) -> str:
        """The C type in registers."""
        return "ulong" if self.words == 1 else "ulong2"

    def declare(self, code: Code) -> None:
        """The functions that the texts below call."""
        kind, words = self.kind, self.words
        for space in ("global", "local"):
            read = "p[i]" if words == 1 else "vload2(i, p)"
            write = "p[i] = e" if words == 1 else "vstore2(e, i, p)"
            get, put = f"get_{space}{words}", f"put_{space}{words}"
            head = f"\n{kind} {get}(const __{space} ulong *p, const long i)"
            code.function(get, f"{head} {{ return {read}; }}\n")
            head = f"\nvoid {put}(__{space} ulong *p, const long i, const {kind} e)"
            code.function(put, f"{head} {{ {write}; }}\n")
        before = "a < b" if words == 1 else "a.x < b.x || (a.x == b.x && a.y < b.y)"
        head = f"\nint before{words}(const {kind} a, const {kind} b)"
        code.function(f"before{words}", f"{head} {{ return {before}; }}\n")

    def get(self, pointer: str, place: str, space: str = "global") -> str:
        """The text of an entry in memory."""
        return f"get_{space}{self.words}({pointer}, {place})"

    def put(self, pointer: str, place: str, entry: str, space: str = "global") -> str:
        """The text that writes one."""
        return f"put_{space}{self.words}({pointer}, {place}, {entry});"

    def before(self, a: str, b: str) -> str:
        """The text of whether one stands before another."""
        return f"before{self.words}({a}, {b})"

    def made(self, key: Var, place: str) -> str:
        """The text of an entry."""
        if self.words == 1:
            return f"((ulong){key.text} << 32 | (uint){place})"
        return f"(ulong2)((ulong){key.text}, (ulong){place})"

    @property
    def last(self) -> str:
        """The text of one that is behind all others."""
        return "0xffffffffffffffffUL" if self.words == 1 else "(ulong2)(0xffffffffffffffffUL)"

    def place(self, entry: str) -> str:
        """The text of an entry's place."""
        return f"({entry} & 0xffffffffUL)" if self.words == 1 else f"{entry}.y"

    def key(self, entry: str) -> str:
        """The text of an entry's key, as a ulong."""
        return f"({entry} >> 32)" if self.words == 1 else f"{entry}.x"


class Sorting:
    """The kernels that sort `lines` lines of n elements and keep the first k of each."""

    def __init__(
        self, region: Region, target: Target, lines: int, n: int, k: int, wide: bool
    ) -> None:
        """wide: whether keys have 64 bits."""
        self.region, self.target, self.lines, self.n, self.k = region, target, lines, n, k
        self.entry = Entry(2 if wide or n >= 1 << 32 else 1)
        self.together = target.many_items and not target.alone and n > _FEW
        self.run = self._run()
        self.runs = max(1, -(-n // self.run))
        # Where insertion or a group's memory keeps only the first, a run has no more room.
        self.selects = self.run <= 2 * _FIRST or (k <= _KEPT and 4 * k <= self.run)
        self.stride = min(k, self.run) if self.together or self.selects else self.run
        self.total = self.runs * self.stride
        self.passes = (self.runs - 1).bit_length()
        words = self.entry.words * 2 * lines * self.total
        self.index_limit = max(largest(region), words, 2 * self.run * self.runs)

    def _run(self) -> int:
        if not self.together:
            return max(1, self.n if self.target.alone else min(self.n, _RUN))
        size = max(2, min(4 * self.target.work_group, 2 * self.n - 1))
        while size > 2 and size * self.entry.words * 8 > self.target.local_bytes:
            size //= 2
        return 1 << (size.bit_length() - 1)

    @property
    def nbytes(self) -> int:
        """The scratch: entries twice, those that are read and those that are written."""
        return max(1, 2 * self.lines * self.total * self.entry.words * 8)

    @property
    def begins(self) -> int:
        """The entry of the scratch at which the sorted lines begin."""
        return self.passes % 2 * self.lines * self.total

    def kernels(self, key: Key, name: str) -> list[Kernel]:
        """All of them, in order.  key: of the element at a place of a line."""
        made = [self._together(key, name) if self.together else self._alone(key, name)]
        half = self.lines * self.total
        for step in range(self.passes):
            made.append(self._merge(step, (step % 2 * half, (step + 1) % 2 * half), name))
        return made

    def _begin(self) -> tuple[Body, Signature, str]:
        signature = Signature(self.index_limit)
        body = Body(self.region, self.target, signature, 1)
        self.entry.declare(body.code)
        return body, signature, signature.pointer(SCRATCH, UINT64)

    def _words(self, signature: Signature, **values: int) -> None:
        """Parameters by name, whatever their values are."""
        kind = signature.index_type
        for word, value in values.items():
            signature.word(word, kind, np.int32(value) if kind == "int" else np.int64(value))

    def _at(self, text: str) -> str:
        return text if self.entry.words == 1 else f"2 * ({text})"

    # -------------------------------------------------------------- runs

    def _alone(self, key: Key, name: str) -> Kernel:
        """A work-item sorts a run."""
        body, signature, scratch = self._begin()
        code, kind = body.code, signature.index_type
        self._words(
            signature, lines=self.lines, runs=self.runs, n=self.n, k=self.k, size=self.run,
            stride=self.stride, apart=self.lines * self.total,
        )  # fmt: skip
        code.line(f"const {kind} unit = get_global_id(0);")
        code.line("if (unit >= lines * runs) return;")
        code.line(f"const {kind} line = unit / runs, first = unit % runs * size;")
        code.line(f"const {kind} count = min(size, n - first);")
        begin = f"{scratch} + {self._at('unit * stride')}"
        code.line(f"__global ulong *out = {begin};")
        if self.selects:
            code.line(f"const {kind} keep = min(count, k);")
            self._insert(body, key, "0", "count", "keep", "out")
        else:
            # Small runs side by side, doubled from one memory to the other.
            place = self._at("apart + unit * stride")
            code.line(f"__global ulong *other = {scratch} + {place};")
            with code.block(f"for ({kind} from = 0; from < count; from += {_FIRST})"):
                code.line(f"const {kind} small = min(count - from, ({kind}){_FIRST});")
                code.line(f"__global ulong *run = out + {self._at('from')};")
                self._insert(body, key, "from", "small", "small", "run")
            with code.block(f"for ({kind} width = {_FIRST}; width < count; width *= 2)"):
                with code.block(f"for ({kind} from = 0; from < count; from += 2 * width)"):
                    code.line(f"{kind} i = from, j = min(from + width, count);")
                    code.line(f"const {kind} middle = j, stop = min(j + width, count);")
                    self._merged(code, kind, "from", "stop", "middle", "out", "other", "0")
                code.line("__global ulong *swap = out; out = other; other = swap;")
            # An odd number of doublings leaves them in the other memory.
            with code.block(f"if (out != {begin})"):
                copy = self.entry.put("other", "i", self.entry.get("out", "i"))
                code.line(f"for ({kind} i = 0; i < count; ++i) {copy}")
        units = self.lines * self.runs
        local = max(1, min(self.target.work_group, 64, units)) if self.target.many_items else 1
        return signature.kernel(name, code, (-(-units // local) * local,), (local,))

    def _insert(self, body: Body, key: Key, start: str, count: str, keep: str, out: str) -> None:
        """Elements one by one into an ordered list of no more than `keep`."""
        code, kind = body.code, body.signature.index_type
        held = code.fresh("held")
        code.line(f"{kind} {held} = 0;")
        with code.block(f"for ({kind} next = 0; next < {count}; ++next)"):
            code.line(f"const {kind} at = first + {start} + next;")
            made = code.fresh("e")
            text = self.entry.made(key(body, "line", "at"), "at")
            code.line(f"const {self.entry.kind} {made} = {text};")
            code.line(f"{kind} j = {held};")
            with code.block(f"if ({held} == {keep})"):
                worst = self.entry.get(out, f"{held} - 1")
                code.line(f"if (!{self.entry.before(made, worst)}) continue;")
                code.line("--j;")
            with code.block("else"):
                code.line(f"++{held};")
            with code.block("for (; j > 0; --j)"):
                code.line(f"const {self.entry.kind} high = {self.entry.get(out, 'j - 1')};")
                code.line(f"if (!{self.entry.before(made, 'high')}) break;")
                code.line(self.entry.put(out, "j", "high"))
            code.line(self.entry.put(out, "j", made))

    def _merged(
        self, code: Code, kind: str, start: str, stop: str, middle: str, read: str, write: str,
        second: str,
    ) -> None:  # fmt: skip
        """Entries from i up to the middle and from j on, in order; i and j are variables.

        second: where the entries that j counts begin.
        """
        entry = self.entry
        there, end = ("j", "stop") if second == "0" else (f"{second} + j", "right")
        first, other = entry.get(read, "i"), entry.get(read, there)
        code.line(f"{kind} o = {start};")
        # A choice, not a branch: which is first cannot be foreseen.
        with code.block(f"for (; i < {middle} && j < {end} && o < {stop}; ++o)"):
            code.line(f"const {entry.kind} a = {first}, b = {other};")
            code.line(f"const int sooner = {entry.before('a', 'b')};")
            code.line(entry.put(write, "o", "sooner ? a : b"))
            code.line("i += sooner;")
            code.line("j += 1 - sooner;")
        code.line(f"for (; i < {middle} && o < {stop}; ++i, ++o) {entry.put(write, 'o', first)}")
        code.line(f"for (; j < {end} && o < {stop}; ++j, ++o) {entry.put(write, 'o', other)}")

    def _together(self, key: Key, name: str) -> Kernel:
        """A group sorts a run in local memory, by the network of K. Batcher (1968)."""
        body, signature, scratch = self._begin()
        code, kind = body.code, signature.index_type
        entry = self.entry
        self._words(signature, runs=self.runs, n=self.n, size=self.run, stride=self.stride)
        group = max(1, min(self.target.work_group, self.run // 2))
        shared = signature.local("shared", "ulong", self.run * entry.words, 8)
        code.line(f"const {kind} unit = get_group_id(0);")
        code.line("const int lid = get_local_id(0), group = get_local_size(0);")
        code.line(f"const {kind} line = unit / runs, first = unit % runs * size;")
        with code.block("for (int k = lid; k < size; k += group)"):
            code.line(f"const {kind} at = first + k;")
            code.line(f"{entry.kind} e = {entry.last};")
            with code.block("if (at < n)"):
                code.line(f"e = {entry.made(key(body, 'line', 'at'), 'at')};")
            code.line(entry.put(shared, "k", "e", "local"))
        widths = "for (int both = 2; both <= size; both *= 2)"
        gaps = "for (int gap = both / 2; gap > 0; gap /= 2)"
        with code.block(widths), code.block(gaps):
            code.line("barrier(CLK_LOCAL_MEM_FENCE);")
            with code.block("for (int t = lid; t < size / 2; t += group)"):
                # The first step of a size compares from both ends, the others side by side.
                code.line("const int low = t / gap * 2 * gap + t % gap;")
                code.line("const int high = 2 * gap == both")
                code.line("  ? t / gap * both + both - 1 - t % gap : low + gap;")
                code.line(f"const {entry.kind} a = {entry.get(shared, 'low', 'local')};")
                code.line(f"const {entry.kind} b = {entry.get(shared, 'high', 'local')};")
                with code.block(f"if ({entry.before('b', 'a')})"):
                    code.line(entry.put(shared, "low", "b", "local"))
                    code.line(entry.put(shared, "high", "a", "local"))
        code.line("barrier(CLK_LOCAL_MEM_FENCE);")
        code.line(f"const {kind} count = min(stride, n - first);")
        code.line(f"__global ulong *out = {scratch} + {self._at('unit * stride')};")
        copy = entry.put("out", "k", entry.get(shared, "k", "local"))
        code.line(f"for (int k = lid; k < count; k += group) {copy}")
        units = self.lines * self.runs
        return signature.kernel(name, code, (units * group,), (group,))

    # -------------------------------------------------------------- merging

    def _merge(self, step: int, halves: tuple[int, int], name: str) -> Kernel:
        """Blocks two by two; a work-item writes a piece of what becomes of both."""
        body, signature, scratch = self._begin()
        code, kind = body.code, signature.index_type
        most = _PIECE_GPU if self.target.many_items else _PIECE_CPU
        span = self.run << step
        pairs = -(-self.runs // (2 << step))
        pieces = max(1, -(-min(self.k, 2 * span) // most))
        self._words(
            signature, lines=self.lines, pairs=pairs, pieces=pieces, piece=most, span=span,
            block_=self.stride << step, total=self.total, n=self.n, k=self.k,
            from_=halves[0], to_=halves[1],
        )  # fmt: skip
        code.line(f"const {kind} unit = get_global_id(0);")
        code.line("if (unit / pieces >= lines * pairs) return;")
        code.line(f"const {kind} pair = unit / pieces % pairs, line = unit / pieces / pairs;")
        code.line(f"const {kind} here = 2 * pair * span;")
        code.line(f"const {kind} left = min(k, min(span, n - here));")
        code.line(f"const {kind} right = min(k, clamp(n - here - span, ({kind})0, span));")
        code.line(f"const {kind} start = unit % pieces * piece;")
        code.line(f"const {kind} stop = min(start + piece, min(k, left + right));")
        code.line("if (start >= stop) return;")
        place = "line * total + 2 * pair * block_"
        code.line(f"const __global ulong *in = {scratch} + {self._at(f'from_ + {place}')};")
        code.line(f"__global ulong *out = {scratch} + {self._at(f'to_ + {place}')};")
        # How many of the first block are among what comes before the piece.
        code.line(f"{kind} i = max(({kind})0, start - right), high = min(start, left);")
        with code.block("while (i < high)"):
            code.line(f"const {kind} mid = (i + high) / 2;")
            other = self.entry.get("in", "block_ + start - 1 - mid")
            code.line(f"const int later = {self.entry.before(self.entry.get('in', 'mid'), other)};")
            code.line("if (later) i = mid + 1; else high = mid;")
        code.line(f"{kind} j = start - i;")
        self._merged(code, kind, "start", "stop", "left", "in", "out", "block_")
        units = self.lines * pairs * pieces
        local = max(1, min(self.target.work_group, 64, units)) if self.target.many_items else 1
        return signature.kernel(name, code, (-(-units // local) * local,), (local,))


# ------------------------------------------------------------------ sort, top_k


def is_wide(dtype: DType) -> bool:
    """Whether keys of a dtype have 64 bits."""
    return dtype == FLOAT64 or (KINDS[dtype] in ("int", "uint") and dtype.itemsize == 8)


def ascending(code: Code, x: Var, descending: bool) -> Var:
    """The key of an element: -0 and 0 are equal, NaN is last either way."""
    wide = is_wide(x.dtype)
    kind, digits, dtype = ("ulong", 63, UINT64) if wide else ("uint", 31, UINT32)
    ones = "0xffffffffffffffffUL" if wide else "0xffffffffU"
    top = f"(({kind})1 << {digits})"
    if KINDS[x.dtype] == "float":
        bits = code.named(f"as_{kind}({x.text})", dtype)
        key = f"{bits.text} >> {digits} ? ~{bits.text} : {bits.text} | {top}"
        key = f"{bits.text} << 1 == 0 ? {top} : {key}"
    elif KINDS[x.dtype] == "int" and x.dtype != BOOL:
        key = f"({kind}){x.text} ^ {top}"
    else:
        key = f"({kind}){x.text}"
    found = code.named(key, dtype)
    if descending:
        found = code.named(f"~{found.text}", dtype)
    if KINDS[x.dtype] == "float":
        found = code.named(f"{x.text} != {x.text} ? {ones} : {found.text}", dtype)
    return found


def sort(region: Region, target: Target, name: str = "sort") -> Recipe:
    """The kernels of a region that is one `sort` or `top_k`."""
    (step,) = region.steps
    source = step.inputs[0]
    shape, axis = shape_of(region.types[source]), step.attributes["axis"]
    descending = step.attributes.get("descending", step.attributes.get("largest", False))
    n = shape[axis]
    k = step.attributes.get("k", n)
    others = tuple(size for a, size in enumerate(shape) if a != axis)
    lines = math.prod(others)
    dtype = region.types[source].dtype
    sorting = Sorting(region, target, lines, n, k, is_wide(dtype))

    def element(body: Body, line: str, place: str) -> Var:
        index = list(unravelled(body, line, others, "others"))
        index.insert(axis, place)
        return body.value(source, tuple(index))

    def key(body: Body, line: str, place: str) -> Var:
        return ascending(body.code, element(body, line, place), descending)

    kernels = sorting.kernels(key, name) if k else []
    kernels.append(_write(region, target, step, sorting, element, name))
    return Recipe(tuple(kernels), (sorting.nbytes,))


def _write(
    region: Region, target: Target, step: Step, sorting: Sorting,
    element: Callable[[Body, str, str], Var], name: str,
) -> Kernel:  # fmt: skip
    """The elements in order, and where they were."""
    signature = Signature(sorting.index_limit)
    body = Body(region, target, signature, 1)
    code, kind = body.code, signature.index_type
    sorting.entry.declare(code)
    scratch = signature.pointer(SCRATCH, UINT64)
    shape, axis = shape_of(step.types[0]), step.attributes["axis"]
    count = math.prod(shape)
    signature.word("begins", "long", np.int64(sorting.begins))
    total = signature.number("total", sorting.total)
    each = 1 if target.many_items else _PIECE_CPU
    units = -(-count // each)
    run, size = signature.number("each", each), signature.number("count", count)
    code.line(f"const {kind} first = get_global_id(0) * {run};")
    code.line(f"const {kind} stop = min(first + {run}, ({kind}){size});")
    with code.block(f"for ({kind} at = first; at < stop; ++at)"):
        index = unravelled(body, "at", shape, "shape")
        others = [(a, text) for a, text in enumerate(index) if a != axis]
        strides = row_major([shape[a] for a, _ in others])
        terms = [
            f"{text} * {signature.number(('line', a), stride)}"
            for (a, text), stride in zip(others, strides, strict=True)
            if text != "0"
        ]
        line = code.index(" + ".join(terms) or "0", kind)
        where = f"begins + (long){line} * {total} + {index[axis]}"
        code.line(f"const {sorting.entry.kind} e = {sorting.entry.get(scratch, where)};")
        place = code.index(f"({kind}){sorting.entry.place('e')}", kind)
        for k, value in enumerate(region.outputs):
            if value == len(region.operands):
                found = element(body, line, place)
            else:
                found = cast(code, code.named(f"(long){place}", INT64), step.types[1].dtype)
            out = signature.pointer(region.goal(k), found.dtype)
            store(code, f"{out} + at", found, 1, None)
    local = max(1, min(target.work_group, 64, units)) if target.many_items else 1
    return signature.kernel(name, code, (-(-units // local) * local,), (local,))


SORTS = {"sort": sort, "top_k": sort}
