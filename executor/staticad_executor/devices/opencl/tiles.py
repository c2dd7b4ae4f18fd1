"""Convolution on GPUs: products of matrices that are never made.

A group of work-items has a tile of the result, some outputs by some windows, and goes through
the products of a sum a few at a time: of both operands what the tile needs is copied into local
memory, neighbouring items neighbouring elements, and each item multiplies a few rows by a few
columns of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from .code import Code, Var
from .lanes import CONTRACT, multiplied
from .memory import read, write
from .region import Kernel, Pointer, Recipe, Region
from .scalars import computed, is_half, literal, register_type
from .signature import Signature
from .spatial import Axis, Gather, gathers, seen_by_windows
from .strands import strands_total
from .target import Target
from .typed import rounded

MOST_ITEMS = 256
SIDE = 4
"""Rows, and columns, of an item."""
DEPTH = 16
STRANDS = 64
STRAND = 512
"""Products of a strand, at least, where the sum is over all images and windows."""
PARTS = 1 << 22
"""Elements of all strands' sums together, at most, if there is more than one strand."""


class Tile(NamedTuple):
    """rows by columns of work-items, each with SIDE by SIDE results; products at a time."""

    rows: int
    columns: int
    depth: int

    @property
    def items(self) -> int:
        """Work-items of the group."""
        return self.rows * self.columns

    @property
    def high(self) -> int:
        """Rows of the result."""
        return self.rows * SIDE

    @property
    def wide(self) -> int:
        """Columns of the result."""
        return self.columns * SIDE


def tile_of(outputs: int, itemsize: int, target: Target) -> Tile:
    """The tile for so many rows of a result, as far as group and local memory go."""
    items = max(1, min(target.work_group, MOST_ITEMS))
    rows = max(1, min(math.isqrt(items), -(-outputs // SIDE)))
    columns = items // rows
    while rows * columns > 1 and (rows + columns) * SIDE * itemsize > target.local_bytes:
        rows, columns = (rows, columns // 2) if columns >= rows else (rows // 2, columns)
    line = (rows + columns) * SIDE * itemsize
    return Tile(rows, columns, max(1, min(DEPTH, target.local_bytes // line)))


class Matrix(NamedTuple):
    """An operand.  own: writes what follows from a row or column.  element: from a product, the
    text of the element, which is 0 where it says so.  along: whether elements of products that
    follow each other lie side by side, not those of rows or columns."""

    own: Callable[[str], None]
    element: Callable[[str], str]
    along: bool


class Tiles:
    """The kernel of one product for all groups of channels."""

    def __init__(self, region: Region, gather: Gather, target: Target) -> None:
        self.region, self.gather, self.target = region, gather, target
        self.dtype = region.types[region.outputs[0]].dtype
        self.wide = computed(self.dtype)
        self.tile = tile_of(gather.outputs, self.wide.itemsize, target)
        size = gather.images * math.prod(a.length for a in gather.axes)
        self.signature = Signature(max(gather.largest, size) + MOST_ITEMS * SIDE * DEPTH)
        self.code = Code()

    def number(self, key: object, value: int) -> str:
        """The name of a number."""
        return self.signature.number(key, value)

    def let(self, stem: str, text: str) -> str:
        """A variable of the type of indices."""
        name = self.code.fresh(stem)
        self.code.line(f"const {self.signature.index_type} {name} = {text};")
        return name

    def apart(self, place: str, axes: tuple[Axis, ...], which: str) -> tuple[str, list[str]]:
        """What is left of a place, all axes counted as one, and the index along each axis.

        which: "length" or "taps".
        """
        found: list[str] = []
        for k in range(len(axes) - 1, -1, -1):
            size = getattr(axes[k], which)
            if size == 1:
                found.append("0")
                continue
            name = self.number((which, k), size)
            found.append(self.let("i", f"{place} % {name}"))
            place = self.let("r", f"{place} / {name}")
        return place, found[::-1]

    def sum_of(self, key: str, indices: list[str], factors: list[int]) -> str:
        """The text of the sum of indices by numbers."""
        terms = [
            text if factor == 1 else f"{text} * {self.number((key, k), factor)}"
            for k, (text, factor) in enumerate(zip(indices, factors, strict=True))
            if text != "0" and factor != 0
        ]
        return " + ".join(terms) or "0"

    def positions(self, windows: list[str], places: list[str]) -> tuple[str, str]:
        """The text of whether a place of a window lies in the source, and that of where."""
        tests, terms = [], []
        for k, (axis, i, j) in enumerate(zip(self.gather.axes, windows, places, strict=True)):
            text = f"{i} * {self.number(('step', k), axis.step)}"
            text += f" + {j} * {self.number(('move', k), axis.move)}"
            at = self.let("s", f"{text} + {self.number(('base', k), axis.base)}")
            if axis.low < 0 or axis.low + axis.reach(axis.length) > axis.size:
                tests.append(f"{at} >= 0 && {at} < {self.number(('size', k), axis.size)}")
            if axis.source:
                terms.append(f"{at} * {self.number(('source', k), axis.source)}")
        return " && ".join(tests) or "1", " + ".join(terms) or "0"

    def load(self, memory: str, matrix: Matrix, length: int) -> None:
        """Copy what a tile needs of an operand: [product][row or column]."""
        tile, code = self.tile, self.code
        kind = self.signature.index_type
        inner = min(tile.depth if matrix.along else length, tile.items)
        outer = tile.items // inner
        slow, fast = f"lid / {inner}", f"lid % {inner}"
        own = (slow, outer) if matrix.along else (fast, inner)
        deep = (fast, inner) if matrix.along else (slow, outer)
        guard = f"if (lid < {inner * outer}) " if inner * outer < tile.items else ""
        at = code.fresh("e")
        with code.block(f"{guard}for ({kind} {at} = {own[0]}; {at} < {length}; {at} += {own[1]})"):
            matrix.own(at)
            k = code.fresh("k")
            head = f"for ({kind} {k} = {deep[0]}; {k} < {tile.depth}; {k} += {deep[1]})"
            with code.block(head):
                code.line(f"{memory}[{k} * {length} + {at}] = {matrix.element(f'(at + {k})')};")

    def products(self, a: Matrix, b: Matrix, begin: str, end: str) -> None:
        """Sums of products from `begin` to `end` in variables c0_0 and on."""
        tile, code, wide = self.tile, self.code, self.wide
        kind = register_type(wide)
        rows = self.signature.local("rows", kind, tile.high * tile.depth, wide.itemsize)
        columns = self.signature.local("columns", kind, tile.wide * tile.depth, wide.itemsize)
        for i in range(SIDE):
            names = ", ".join(f"c{i}_{j} = {literal(0, wide)}" for j in range(SIDE))
            code.line(f"{kind} {names};")
        head = f"for ({self.signature.index_type} at = {begin}; at < {end}; at += {tile.depth})"
        with code.block(head):
            self.load(rows, a, tile.high)
            self.load(columns, b, tile.wide)
            code.line("barrier(CLK_LOCAL_MEM_FENCE);")
            with code.block(f"for (int k = 0; k < {tile.depth}; ++k)"):
                code.line(CONTRACT)
                for j in range(SIDE):
                    place = f"k * {tile.wide} + column + {j * tile.columns}"
                    code.line(f"const {kind} b{j} = {columns}[{place}];")
                for i in range(SIDE):
                    place = f"k * {tile.high} + row + {i * tile.rows}"
                    code.line(f"const {kind} a{i} = {rows}[{place}];")
                    for j in range(SIDE):
                        total = Var(f"c{i}_{j}", wide)
                        text = multiplied(Var(f"a{i}", wide), Var(f"b{j}", wide), total)
                        code.line(f"{total.text} = {text};")
            code.line("barrier(CLK_LOCAL_MEM_FENCE);")

    def begin(self, columns: int) -> tuple[int, str]:
        """Which tile a group has: variables m0, n0, and what is left of its number."""
        tile, code, g = self.tile, self.code, self.gather
        across, down = -(-columns // tile.wide), -(-g.outputs // tile.high)
        kind = self.signature.index_type
        code.line(f"const {kind} unit = get_group_id(0);")
        code.line("const int lid = get_local_id(0);")
        code.line(f"const int row = lid / {tile.columns}, column = lid % {tile.columns};")
        wide, high = self.number("across", across), self.number("down", down)
        code.line(f"const {kind} n0 = unit % {wide} * {tile.wide};")
        code.line(f"const {kind} m0 = unit / {wide} % {high} * {tile.high};")
        return across * down, self.let("r", f"unit / {wide} / {high}")

    def kernel(self, name: str, groups: int) -> Kernel:
        """The kernel of so many groups of work-items."""
        items = self.tile.items
        return self.signature.kernel(name, self.code, (groups * items,), (items,))


def tiles(region: Region, target: Target, name: str) -> Recipe:
    """The kernels of `conv` and `conv_input`."""
    kernels = [
        _gathered(Tiles(region, gather, target), f"{name}_tiles")
        for gather in gathers(region)
        if gather.results
    ]
    return Recipe(tuple(kernels), (), "tiles")


def _gathered(form: Tiles, name: str) -> Kernel:
    g, code, signature, region = form.gather, form.code, form.signature, form.region
    one, two = region.steps[0].inputs
    x = signature.pointer(region.source(one), form.dtype)
    w = signature.pointer(region.source(two), form.dtype)
    out = signature.pointer(region.goal(0), form.dtype)
    windows = g.images * math.prod(a.length for a in g.axes)
    count, rest = form.begin(windows)
    outputs, columns = form.number("m", g.outputs), form.number("n", windows)
    depth, taps = form.number("depth", g.depth), form.number("all taps", g.taps)
    of_group, of_result, of_source = (form.number(("w", k), n) for k, n in enumerate(g.weight))
    channels = form.number("channels", g.channels)
    of_image, of_channel = (form.number(("x", k), n) for k, n in enumerate(g.source))
    zero = literal(0, form.wide)
    state: dict[str, str] = {}
    places: dict[str, list[str]] = {}

    def weight_own(at: str) -> None:
        state["m"] = form.let("row", f"m0 + {at}")

    def weight(k: str) -> str:
        k = form.let("k", k)
        channel = form.let("c", f"{k} / {taps}")
        _, tap = form.apart(form.let("t", f"{k} % {taps}"), g.axes, "taps")
        at = form.sum_of("by", tap, [a.by * a.weight for a in g.axes])
        place = f"{w} + {form.number('w at', g.tap_at)} + {rest} * {of_group}"
        place += f" + {state['m']} * {of_result} + {channel} * {of_source} + {at}"
        test = f"{k} < {depth} && {state['m']} < {outputs}"
        return f"{test} ? {read(place, form.dtype, 1)} : {zero}"

    def source_own(at: str) -> None:
        state["n"] = form.let("col", f"n0 + {at}")
        state["image"], places["n"] = form.apart(state["n"], g.axes, "length")

    def source(k: str) -> str:
        k = form.let("k", k)
        channel = form.let("c", f"{k} / {taps}")
        _, tap = form.apart(form.let("t", f"{k} % {taps}"), g.axes, "taps")
        inside, at = form.positions(places["n"], tap)
        place = f"{x} + {state['image']} * {of_image}"
        place += f" + ({rest} * {channels} + {channel}) * {of_channel} + {at}"
        test = f"{k} < {depth} && {state['n']} < {columns} && {inside}"
        return f"{test} ? {read(place, form.dtype, 1)} : {zero}"

    form.products(Matrix(weight_own, weight, True), Matrix(source_own, source, False), "0", depth)
    result = [form.number(("out", k), n) for k, n in enumerate(g.result)]
    for j in range(SIDE):
        n = form.let("col", f"n0 + column + {j * form.tile.columns}")
        with code.block(f"if ({n} < {columns})"):
            image, at = form.apart(n, g.axes, "length")
            place = form.sum_of("to", at, [a.apart * a.result for a in g.axes])
            to = form.let("o", f"{form.number('out at', g.at)} + {image} * {result[0]} + {place}")
            for i in range(SIDE):
                m = form.let("row", f"m0 + row + {i * form.tile.rows}")
                value = rounded(code, Var(f"c{i}_{j}", form.dtype))
                where = f"{out} + {to} + ({rest} * {outputs} + {m}) * {result[1]}"
                code.line(f"if ({m} < {outputs}) {write(code, where, value.text, form.dtype, 1)};")
    return form.kernel(name, count * g.groups)


def weight_tiles(region: Region, target: Target, name: str) -> Recipe:
    """The kernels of `conv_weights`: the sum in strands, whose number is a function of the shape,
    and the sum of those."""
    gather = seen_by_windows(region)
    form = Tiles(region, gather, target)
    products = gather.images * math.prod(a.length for a in gather.axes)
    size = gather.groups * gather.outputs * gather.depth
    strands = max(1, min(-(-products // STRAND), STRANDS, PARTS // size))
    final = strands == 1 and not is_half(form.dtype)
    kernels = [_strands(form, products, strands, final, f"{name}_tiles")]
    if final:
        return Recipe(tuple(kernels), (), "tiles")
    kernels.append(strands_total(region, target, strands, f"{name}_total"))
    scratch = strands * size * form.wide.itemsize
    return Recipe(tuple(kernels), (scratch,), f"{strands} strands of tiles")


def _strands(form: Tiles, products: int, strands: int, final: bool, name: str) -> Kernel:
    g, code, signature, region = form.gather, form.code, form.signature, form.region
    one, two = region.steps[0].inputs
    x = signature.pointer(region.source(one), form.dtype)
    y = signature.pointer(region.source(two), form.dtype)
    out = signature.pointer(region.goal(0) if final else Pointer("scratch", 0), form.wide)
    count, rest = form.begin(g.depth)
    outputs, depth = form.number("m", g.outputs), form.number("depth", g.depth)
    taps, channels = form.number("all taps", g.taps), form.number("channels", g.channels)
    of_image, of_channel = (form.number(("x", k), n) for k, n in enumerate(g.source))
    result = [form.number(("y", k), n) for k, n in enumerate(g.result)]
    groups, all_products = form.number("groups", g.groups), form.number("products", products)
    number = form.number("strands", strands)
    group, strand = form.let("g", f"{rest} % {groups}"), form.let("s", f"{rest} / {groups}")
    kind = signature.index_type
    code.line(f"const {kind} begin = (long){strand} * {all_products} / {number};")
    code.line(f"const {kind} end = ((long){strand} + 1) * {all_products} / {number};")
    zero = literal(0, form.wide)
    state: dict[str, str] = {}
    places: dict[str, list[str]] = {}

    def given_own(at: str) -> None:
        state["m"] = form.let("row", f"m0 + {at}")

    def given(k: str) -> str:
        k = form.let("k", k)
        image, at = form.apart(k, g.axes, "length")
        place = f"{y} + {image} * {result[0]} + ({group} * {outputs} + {state['m']}) * {result[1]}"
        place += " + " + form.sum_of("to", at, [a.result for a in g.axes])
        test = f"{k} < end && {state['m']} < {outputs}"
        return f"{test} ? {read(place, form.dtype, 1)} : {zero}"

    def source_own(at: str) -> None:
        state["n"] = form.let("col", f"n0 + {at}")
        state["channel"] = form.let("c", f"{state['n']} / {taps}")
        tap = form.let("t", f"{state['n']} % {taps}")
        _, places["n"] = form.apart(tap, g.axes, "taps")

    def source(k: str) -> str:
        k = form.let("k", k)
        image, window = form.apart(k, g.axes, "length")
        inside, at = form.positions(window, places["n"])
        place = f"{x} + {image} * {of_image}"
        place += f" + ({group} * {channels} + {state['channel']}) * {of_channel} + {at}"
        test = f"{k} < end && {state['n']} < {depth} && {inside}"
        return f"{test} ? {read(place, form.dtype, 1)} : {zero}"

    form.products(Matrix(given_own, given, True), Matrix(source_own, source, True), "begin", "end")
    code.line(f"{out} += ({strand} * {groups} + {group}) * {outputs} * {depth};")
    for i in range(SIDE):
        m = form.let("row", f"m0 + row + {i * form.tile.rows}")
        for j in range(SIDE):
            n = form.let("col", f"n0 + column + {j * form.tile.columns}")
            to = f"{out}[{m} * {depth} + {n}]"
            code.line(f"if ({m} < {outputs} && {n} < {depth}) {to} = c{i}_{j};")
    return form.kernel(name, count * g.groups * strands)
