"""The transpose of a convolution in its weights on CPUs: sums over all images and windows.

Images are divided into strands, which is a function of the shape.  A work-item goes through the
chunks of a strand, each some images or a part of one: it copies what windows see, as `panels`
does, and multiplies a few outputs by a few places of the kernel at a time, in vectors along the
windows.  A second kernel adds up the strands in order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from staticad_schema.types import KINDS

from .boxes import (
    LISTED,
    box_of,
    boxes_of_unit,
    copy_box,
    line_function,
    list_vectors,
    memory,
    tap_places,
)
from .code import Code, Var
from .lanes import CONTRACT, lanes_of, multiplied, registers
from .memory import read, stored_type
from .region import Kernel, Pointer, Recipe, Region
from .scalars import computed, is_half, literal, mask_type, register_type
from .signature import Signature
from .spatial import Gather, operands_of, seen_by_windows
from .strands import strands_total
from .target import Target
from .typed import arithmetic

PANEL_BYTES = 192 << 10
POINTERS = 7
VECTORS = 32
"""Vectors of a chunk, at least, if there are images enough: each sum ends in one across lanes."""
STRANDS = 16
PARTS = 1 << 21
"""Elements of all strands' sums together, at most, if there is more than one strand."""


class Tile(NamedTuple):
    """Outputs by places, in registers."""

    outputs: int
    places: int


def tile_of(outputs: int, depth: int, target: Target) -> Tile:
    """The tile that takes the fewest instructions.

    Each output and each place needs a pointer, of which a processor holds few.
    """
    most = registers(target)

    def cost(tile: Tile) -> tuple[float, int]:
        a, b = tile
        tiles = -(-outputs // a) * -(-depth // b)
        # A sum of one tile waits for the one before, some cycles long.
        return tiles * (max(a * b, (a + 1.5 * b) / 1.5, 5) + 2), a * b

    options = [
        Tile(a, b)
        for a in range(1, min(6, outputs) + 1)
        for b in range(1, min(9, depth) + 1)
        if a * (b + 1) < most + 4 and (a == 1 or a + b <= POINTERS)
    ]
    return min(options, key=cost)


def conv_weights(region: Region, target: Target, name: str) -> Recipe:
    """The kernels of `conv_weights`; there is something to sum."""
    form = Weights(region, seen_by_windows(region), target)
    kernels = [form.kernel(f"{name}_strands")]
    if not form.is_final:
        kernels.append(strands_total(region, target, form.strands, f"{name}_total"))
    return Recipe(tuple(kernels), form.scratch, f"{form.strands} strands of panels")


class Weights:
    """The kernels, and how the sum is divided."""

    def __init__(self, region: Region, gather: Gather, target: Target) -> None:
        self.region, self.gather, self.target = region, gather, target
        self.x, self.g = operands_of(region)
        self.dtype = region.types[region.outputs[0]].dtype
        self.wide = computed(self.dtype)
        g, item = gather, self.wide.itemsize
        self.lanes = lanes_of(g.axes[-1].length, self.dtype, target)
        self.tile = tile_of(g.outputs, g.depth, target)
        most = min(PANEL_BYTES, max(0, target.local_bytes - 4 * g.depth))
        self.box = box_of(g.axes, g.channels, self.lanes, most, item, 1)
        self.panel = g.channels * self.box.channel
        boxes = math.prod(self.box.blocks(g.axes))
        vectors = self.box.vectors(self.lanes)
        images = 1
        if boxes == 1:
            image = self.panel * item + vectors * LISTED
            images = max(1, min(-(-VECTORS // vectors), most // image, g.images))
        blocks = -(-g.images // images)
        self.images = -(-g.images // blocks)
        self.chunks = -(-g.images // self.images) * boxes
        self.vectors = self.images * vectors
        size = g.groups * g.outputs * g.depth
        self.strands = max(1, min(self.chunks, STRANDS, PARTS // size))
        # Windows that lie side by side are read where they are.
        whole = g.axes[-1].length % self.lanes == self.box.counts[-1] % self.lanes == 0
        beside = g.axes[-1].result == 1 and not is_half(self.dtype)
        self.copies = not (whole and beside)
        self.masks = not whole and KINDS[self.wide] == "float"
        units = self.strands * g.groups
        tiles = -(-g.outputs // self.tile.outputs)
        self.splits = min(tiles, max(1, -(-2 * target.units // units)))
        self.units = units * self.splits
        self.own = -(-tiles // self.splits) * self.tile.outputs
        self.elements = self.images * self.panel
        if self.copies:
            self.elements += self.own * self.vectors * self.lanes
        tables = LISTED * self.vectors + 4 * g.depth
        self.is_local = self.elements * item + tables <= target.local_bytes
        self.is_final = self.strands == 1 and self.dtype == self.wide

    @property
    def scratch(self) -> tuple[int, int]:
        """Bytes: sums of the strands, panels that are too large for local memory."""
        g, item = self.gather, self.wide.itemsize
        sums = 0 if self.is_final else self.strands * g.groups * g.outputs * g.depth * item
        panels = 0 if self.is_local else self.units * self.elements * item
        return max(1, sums), max(1, panels)

    def kernel(self, name: str) -> Kernel:
        """Sums of the strands."""
        g, box = self.gather, self.box
        signature = Signature(g.largest + self.elements)
        code, kind = Code(), signature.index_type
        one, two = self.region.steps[0].inputs
        x = signature.pointer(self.region.source(one), self.dtype)
        given = signature.pointer(self.region.source(two), self.dtype)
        goal = self.region.goal(0) if self.is_final else Pointer("scratch", 0)
        sums = signature.pointer(goal, self.wide)
        splits, groups = signature.number("splits", self.splits), signature.number("g", g.groups)
        strands = signature.number("strands", self.strands)
        outputs, depth = signature.number("m", g.outputs), signature.number("depth", g.depth)
        channels = signature.number("channels", g.channels)
        own = signature.number("own", self.own)
        code.line(f"const {kind} unit = get_global_id(0);")
        code.line(f"const {kind} group = unit / {splits} % {groups};")
        code.line(f"const {kind} strand = unit / {splits} / {groups};")
        code.line(f"const {kind} begin = unit % {splits} * {own};")
        code.line(f"const {kind} end = min(begin + {own}, {outputs});")
        panel = memory(code, signature, self.wide, self.elements, None if self.is_local else 1)
        tables = [
            signature.local("at", "int", self.vectors, 4),
            signature.local("goal", kind, self.vectors, 8),
            signature.local("width", "int", self.vectors, 4),
        ]
        places = signature.local("places", "int", g.depth, 4)
        code.line(f"{sums} += (strand * {groups} + group) * {outputs} * {depth};")
        with code.block(f"for ({kind} k = 0; k < {depth}; ++k)"):
            taps = signature.number("taps", g.taps)
            code.line(f"const {kind} tap = k % {taps};")
            place = tap_places(code, signature, g.axes, box)[1]
            span = signature.number("span", box.channel)
            code.line(f"{places}[k] = k / {taps} * {span} + {place};")
        chunks = signature.number("chunks", self.chunks)
        code.line(f"const {kind} first = strand * {chunks} / {strands};")
        code.line(f"const {kind} last = (strand + 1) * {chunks} / {strands};")
        with code.block(f"for ({kind} chunk = first; chunk < last; ++chunk)"):
            starts, lengths, rest = boxes_of_unit(code, signature, g.axes, box, "chunk")
            each, images = signature.number("each", self.images), signature.number("n", g.images)
            code.line(f"const {kind} image = {rest} * {each};")
            code.line(f"const {kind} some = min({each}, {images} - image);")
            steps = [signature.number(("source", k), n) for k, n in enumerate(g.source)]
            pitches = [signature.number(("result", k), n) for k, n in enumerate(g.result)]
            size = signature.number("panel of an image", self.panel)
            code.line("int count = 0;")
            with code.block(f"for ({kind} b = 0; b < some; ++b)"):
                code.line(
                    f"const __global {stored_type(self.dtype)} *seen = {x}"
                    f" + (image + b) * {steps[0]} + group * {channels} * {steps[1]};"
                )
                copy_box(
                    code, signature, self.x, g.axes, box, self.target,
                    (channels, steps[1], starts, lengths, "seen", f"{panel} + b * {size}"),
                    self.is_local,
                )  # fmt: skip
                list_vectors(
                    code, signature, g.axes, box, self.lanes,
                    (starts, lengths, tables[0], tables[1], tables[2]),
                    (f"b * {size}", f"(image + b) * {pitches[0]}"),
                )  # fmt: skip
            code.line(
                f"const __global {stored_type(self.dtype)} *given = {given}"
                f" + group * {outputs} * {pitches[1]};"
            )
            if self.copies:
                self._copy(code, signature, panel, tables, pitches[1])
            # Windows of a few outputs stay in the first cache while channels pass by.
            with (
                code.block(f"for ({kind} m = begin; m < end; m += {self.tile.outputs})"),
                code.block(f"for ({kind} k = 0; k < {depth}; k += {self.tile.places})"),
            ):
                for j in range(self.tile.places):
                    which = f"min(k + {j}, {depth} - 1)" if j else "k"
                    code.line(f"const int c{j} = {places}[{which}];")
                self._products(code, signature, panel, tables, pitches[1])
                self._add(code, sums, depth)
        return signature.kernel(name, code, (self.units,), (1,))

    def _copy(
        self, code: Code, signature: Signature, panel: str, tables: list[str], pitch: str
    ) -> None:
        """Vectors of windows behind the panels, with zeros in lanes that are none."""
        space = "__local" if self.is_local else "__global"
        line = line_function(code, self.dtype, self.target, space)
        at = signature.number("panels", self.images * self.panel)
        code.line(f"{space} {register_type(self.wide)} *copied = {panel} + {at};")
        stride = signature.number("beside", self.gather.axes[-1].result)
        vectors = signature.number("vectors", self.vectors)
        with code.block(f"for ({signature.index_type} m = begin; m < end; ++m)"):
            code.line(
                f"for (int v = 0; v < count; ++v) {line}(copied + ((m - begin) * {vectors} + v)"
                f" * {self.lanes}, given + m * {pitch} + {tables[1]}[v], {stride}, 0,"
                f" {tables[2]}[v], {self.lanes});"
            )

    def _products(
        self, code: Code, signature: Signature, panel: str, tables: list[str], pitch: str
    ) -> None:
        tile, wide, lanes = self.tile, self.wide, self.lanes
        kind, element = register_type(wide, lanes), register_type(wide)
        zero = f"({kind})({literal(0, wide)})" if lanes > 1 else literal(0, wide)
        space = "__local" if self.is_local else "__global"
        for i in range(tile.outputs):
            names = ", ".join(f"a{i}_{j} = {zero}" for j in range(tile.places))
            code.line(f"{kind} {names};")
            row = f"min(m + {i}, end - 1)" if i else "m"
            if self.copies:
                vectors = signature.number("vectors", self.vectors)
                text = f"const {space} {element} *g{i} = copied + ({row} - begin) * {vectors}"
                code.line(f"{text} * {lanes};")
            else:
                code.line(f"const __global {element} *g{i} = given + {row} * {pitch};")
        with code.block("for (int v = 0; v < count; ++v)"):
            code.line(CONTRACT)
            code.line(f"const {space} {element} *p = {panel} + {tables[0]}[v];")
            code.line(
                f"const {signature.index_type} q = "
                + (f"v * {lanes};" if self.copies else f"{tables[1]}[v];")
            )
            where = space if self.copies else "__global"
            for i in range(tile.outputs):
                text = read(f"g{i} + q", wide, lanes, where)
                code.line(f"const {kind} y{i} = {text};")
            if self.masks:
                mask = mask_type(wide, lanes)
                numbers = ", ".join(map(str, range(lanes)))
                code.line(f"const {mask} keep = ({mask})({numbers}) < ({mask})({tables[2]}[v]);")
            for j in range(tile.places):
                text = read(f"p + c{j}", wide, lanes, space)
                if self.masks:
                    # Behind the last window lies anything, also what is not finite.
                    text = f"select({zero}, {text}, keep)"
                code.line(f"const {kind} x{j} = {text};")
                for i in range(tile.outputs):
                    a = Var(f"a{i}_{j}", wide, lanes)
                    x, y = Var(f"x{j}", wide, lanes), Var(f"y{i}", wide, lanes)
                    code.line(f"{a.text} = {multiplied(x, y, a)};")

    def _add(self, code: Code, sums: str, depth: str) -> None:
        tile, wide = self.tile, self.wide
        element = register_type(wide)
        across = self._across(code)
        code.line(f"{element} t[{tile.outputs * tile.places}];")
        for i in range(tile.outputs):
            for j in range(tile.places):
                place = i * tile.places + j
                code.line(f"t[{place}] = {f'{across}(a{i}_{j})' if across else f'a{i}_{j}'};")
        code.line(f"const int rows = min((int)(end - m), {tile.outputs});")
        code.line(f"const int columns = min((int)({depth} - k), {tile.places});")
        loops = "for (int i = 0; i < rows; ++i) for (int j = 0; j < columns; ++j)"
        with code.block(loops):
            code.line(f"__global {element} *to = {sums} + (m + i) * {depth} + k + j;")
            code.line(f"const {element} own = t[i * {tile.places} + j];")
            total = arithmetic("+", Var("*to", wide), Var("own", wide)).text
            code.line(f"*to = chunk == first ? own : {total};")

    def _across(self, code: Code) -> str:
        """A function that adds up the lanes of a vector."""
        if self.lanes == 1:
            return ""
        wide, lanes = self.wide, self.lanes
        name = f"lanes_{wide.name}_{lanes}"
        lines, text = [], "a"
        while lanes > 1:
            lanes //= 2
            halves = Var(f"{text}.lo", wide, lanes), Var(f"{text}.hi", wide, lanes)
            total = arithmetic("+", *halves).text
            lines.append(f"  const {register_type(wide, lanes)} a{lanes} = {total};\n")
            text = f"a{lanes}"
        return code.function(
            name,
            f"\n{register_type(wide)} {name}(const {register_type(wide, self.lanes)} a) {{\n"
            f"{''.join(lines)}  return a1;\n}}\n",
        )
