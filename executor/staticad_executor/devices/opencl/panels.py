"""Convolution on CPUs: register tiles of several outputs by a few vectors along the last axis.

A work-item copies what its results see of the source, all channels, into memory of its own, with
zeros where the padding is: from there every vector is read from one line.  Where windows move by
more than one element, every such phase of the last axis has a line of its own.  Weights are laid
out before, those of a tile's outputs side by side.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from staticad_schema.types import FLOAT32, INT32, DType

from .boxes import LISTED, box_of, boxes_of_unit, copy_box, list_vectors, memory, tap_places
from .code import Code, Var
from .lanes import CONTRACT, lanes_of, multiplied, registers
from .memory import read, stored_type, write
from .region import Kernel, Pointer, Recipe, Region
from .scalars import computed, literal, register_type
from .signature import Signature
from .spatial import Gather, gathers, operands_of
from .target import Target

PANEL_BYTES = 128 << 10
"""What a work-item copies at a time, at most, if a line of results sees no more: a part of the
second cache."""


class Tile(NamedTuple):
    """outputs by vectors of so many lanes, in registers."""

    outputs: int
    vectors: int
    lanes: int


def tile_of(outputs: int, vectors: int, lanes: int, target: Target) -> Tile:
    """The tile for so many outputs of a group and vectors of a work-item."""
    most = registers(target)
    high = 8 if most >= 24 else 6
    tiles = -(-outputs // high)
    rows = -(-outputs // tiles)
    across = max(1, min(most // rows, 2 if rows > 3 else 4, vectors))
    return Tile(rows, across, lanes)


def panels(region: Region, target: Target, name: str) -> Recipe:
    """The kernels of `conv` and `conv_input`."""
    kernels: list[Kernel] = []
    sizes = [0, 0, 0]
    for gather in gathers(region):
        if not gather.results:
            continue
        form = Panels(region, gather, target)
        kernels += [form.weights_kernel(f"{name}_weights"), form.kernel(f"{name}_panels")]
        sizes = [max(pair) for pair in zip(sizes, form.scratch, strict=True)]
    return Recipe(tuple(kernels), tuple(max(1, n) for n in sizes), "panels")


class Panels:
    """The kernels of one gather."""

    def __init__(self, region: Region, gather: Gather, target: Target) -> None:
        self.region, self.gather, self.target = region, gather, target
        self.source, self.weights = operands_of(region)
        self.dtype = region.types[region.outputs[0]].dtype
        self.wide = computed(self.dtype)
        axes = gather.axes
        lanes = lanes_of(axes[-1].length, self.dtype, target)
        # Two boxes for each unit; the tables of vectors take a part of the memory.
        units = -(-2 * target.units // (gather.images * gather.groups))
        most = min(PANEL_BYTES, target.local_bytes)
        channels = gather.channels if gather.taps else 0
        self.box = box_of(axes, channels, lanes, most, self.wide.itemsize, units)
        vectors = self.box.vectors(lanes)
        self.tile = tile_of(gather.outputs, vectors, lanes, target)
        self.tiles = -(-gather.outputs // self.tile.outputs)
        self.panel = channels * self.box.channel
        self.boxes = self.box.blocks(axes)
        self.units = gather.images * gather.groups * math.prod(self.boxes)
        local = self.panel * self.wide.itemsize + vectors * LISTED
        self.is_local = local <= target.local_bytes
        self.vectors = vectors

    @property
    def scratch(self) -> tuple[int, int, int]:
        """Bytes: weights, offsets of products, panels that are too large for local memory."""
        weights = self.gather.groups * self.tiles * self.gather.depth * self.tile.outputs
        panels = 0 if self.is_local else self.units * self.panel * self.wide.itemsize
        return weights * self.wide.itemsize, self.gather.depth * 4, panels

    # -------------------------------------------------------------- weights

    def weights_kernel(self, name: str) -> Kernel:
        """Lay out the weights: for each group and tile of outputs, by channel and place, its
        outputs side by side; and say where each product's element lies in a panel."""
        g, box = self.gather, self.box
        signature = Signature(g.largest + self.panel)
        code, kind = Code(), signature.index_type
        w = signature.pointer(self.region.source(self.region.steps[0].inputs[1]), self.dtype)
        laid = signature.pointer(Pointer("scratch", 0), self.wide)
        places = signature.pointer(Pointer("scratch", 1), INT32)
        taps, channels = signature.number("taps", g.taps), signature.number("channels", g.channels)
        tiles, outputs = signature.number("tiles", self.tiles), signature.number("m", g.outputs)
        strides = [signature.number(("weight", k), n) for k, n in enumerate(g.weight)]
        rows = self.tile.outputs
        code.line(f"const {kind} unit = get_global_id(0);")
        code.line(f"const {kind} first = unit % {tiles} * {rows};")
        at = signature.number("at", g.tap_at)
        code.line(
            f"const __global {stored_type(self.dtype)} *own = {w} + {at}"
            f" + unit / {tiles} * {strides[0]} + first * {strides[1]};"
        )
        code.line(f"{laid} += (ulong)unit * {channels} * {taps} * {rows};")
        with code.block(f"for ({kind} tap = 0; tap < {taps}; ++tap)"):
            weight, place = tap_places(code, signature, g.axes, box)
            with code.block(f"for ({kind} r = 0; r < {channels}; ++r)"):
                span = signature.number("span", box.channel)
                code.line(f"if (unit == 0) {places}[r * {taps} + tap] = r * {span} + {place};")
                with code.block(f"for (int k = 0; k < {rows}; ++k)"):
                    element = read(f"own + k * {strides[1]} + r * {strides[2]} + {weight}",
                                   self.dtype, 1)  # fmt: skip
                    code.line(
                        f"{laid}[(r * {taps} + tap) * {rows} + k] ="
                        f" first + k < {outputs} ? {element} : {literal(0, self.wide)};"
                    )
        return signature.kernel(name, code, (g.groups * self.tiles,), (1,))

    # -------------------------------------------------------------- products

    def kernel(self, name: str) -> Kernel:
        """The work-items copy what they see and multiply."""
        g, box, tile = self.gather, self.box, self.tile
        signature = Signature(g.largest + self.panel)
        code, kind = Code(), signature.index_type
        source = self.region.source(self.region.steps[0].inputs[0])
        x = signature.pointer(source, self.dtype)
        laid = signature.pointer(Pointer("scratch", 0), self.wide)
        places = signature.pointer(Pointer("scratch", 1), INT32)
        out = signature.pointer(self.region.goal(0), self.dtype)
        code.line(f"const {kind} unit = get_global_id(0);")
        starts, lengths, rest = boxes_of_unit(code, signature, g.axes, box)
        groups = signature.number("groups", g.groups)
        code.line(f"const {kind} group = {rest} % {groups}, image = {rest} / {groups};")
        channels = signature.number("channels", g.channels if g.taps else 0)
        panel = memory(code, signature, self.wide, self.panel, None if self.is_local else 2)
        pitches = [signature.number(("source", k), n) for k, n in enumerate(g.source)]
        code.line(
            f"const __global {stored_type(self.dtype)} *seen = {x}"
            f" + image * {pitches[0]} + group * {channels} * {pitches[1]};"
        )
        copy_box(
            code, signature, self.source, g.axes, box, self.target,
            (f"{channels}", pitches[1], starts, lengths, "seen", panel),
            self.is_local,
        )  # fmt: skip
        at = signature.local("at", "int", self.vectors, 4)
        goal = signature.local("goal", kind, self.vectors, 8)
        width = signature.local("width", "int", self.vectors, 4)
        code.line("int count = 0;")
        list_vectors(code, signature, g.axes, box, tile.lanes, (starts, lengths, at, goal, width))
        result = [signature.number(("result", k), n) for k, n in enumerate(g.result)]
        outputs = signature.number("m", g.outputs)
        code.line(
            f"{out} += {signature.number('at', g.at)} + image * {result[0]}"
            f" + group * {outputs} * {result[1]};"
        )
        depth = signature.number("depth", g.depth)
        tiles = signature.number("tiles", self.tiles)
        code.line(f"{laid} += (ulong)group * {tiles} * {depth} * {tile.outputs};")
        with code.block(f"for (int v = 0; v < count; v += {tile.vectors})"):
            for j in range(tile.vectors):
                place = f"min(v + {j}, count - 1)" if j else "v"
                code.line(f"const int p{j} = {at}[{place}];")
            code.line(f"const __global {register_type(self.wide)} *w = {laid};")
            with code.block(f"for ({kind} m = 0; m < {outputs}; m += {tile.outputs})"):
                self._products(code, panel, places, depth)
                self._store(code, out, result[1], outputs, goal, width, signature)
        return signature.kernel(name, code, (self.units,), (1,))

    def _products(self, code: Code, panel: str, places: str, depth: str) -> None:
        tile, wide = self.tile, self.wide
        kind = register_type(wide, tile.lanes)
        zero = f"({kind})({literal(0, wide)})" if tile.lanes > 1 else literal(0, wide)
        for i in range(tile.outputs):
            names = ", ".join(f"a{i}_{j} = {zero}" for j in range(tile.vectors))
            code.line(f"{kind} {names};")
        with code.block(f"for (int k = 0; k < {depth}; ++k, w += {tile.outputs})"):
            space = "__local" if self.is_local else "__global"
            code.line(CONTRACT)
            code.line(f"const {space} {register_type(wide)} *p = {panel} + {places}[k];")
            for j in range(tile.vectors):
                code.line(f"const {kind} x{j} = {read(f'p + p{j}', wide, tile.lanes, space)};")
            for i in range(tile.outputs):
                code.line(f"const {register_type(wide)} w{i} = w[{i}];")
                for j in range(tile.vectors):
                    a = Var(f"a{i}_{j}", wide, tile.lanes)
                    x, w = Var(f"x{j}", wide, tile.lanes), Var(f"w{i}", wide)
                    code.line(f"{a.text} = {multiplied(x, w, a)};")

    def _store(
        self, code: Code, out: str, pitch: str, outputs: str, goal: str, width: str,
        signature: Signature,
    ) -> None:  # fmt: skip
        tile, wide = self.tile, self.wide
        lanes = tile.lanes
        code.line(f"{register_type(wide)} t[{tile.outputs * tile.vectors * lanes}];")
        for i in range(tile.outputs):
            for j in range(tile.vectors):
                place = f"t + {(i * tile.vectors + j) * lanes}"
                code.line(write(code, place, f"a{i}_{j}", wide, lanes, "__private") + ";")
        put = put_function(code, self.dtype, lanes)
        last = self.gather.axes[-1]
        apart = signature.number("lanes apart", last.apart * last.result)
        code.line(f"const int some = min((int)({outputs} - m), {tile.outputs});")
        loop = f"for (int j = 0; j < {tile.vectors} && v + j < count; ++j)"
        with code.block(f"{loop} for (int i = 0; i < some; ++i)"):
            code.line(
                f"{put}({out} + {goal}[v + j] + (m + i) * {pitch},"
                f" t + (i * {tile.vectors} + j) * {lanes}, {apart}, {width}[v + j]);"
            )


def put_function(code: Code, dtype: DType, lanes: int) -> str:
    """A function that writes some lanes of a vector to elements that lie apart."""
    element, kind = stored_type(dtype), register_type(dtype)
    name = f"put_apart_{dtype.name}_{lanes}"
    whole = ""
    if lanes > 1:
        vector = read("t", FLOAT32 if kind == "float" else dtype, lanes, "__private")
        stored = write(code, "p", vector, dtype, lanes)
        whole = f"  if (count == {lanes} && apart == 1) {{ {stored}; return; }}\n"
    single = write(code, "p + k * apart", "t[k]", dtype, 1)
    return code.function(
        name,
        f"\nvoid {name}(__global {element} *p, const {kind} *t, long apart, int count) {{\n{whole}"
        f"  for (int k = 0; k < count; ++k) {single};\n}}\n",
    )
