"""Convolution on CPUs: register tiles of several outputs by a few vectors along the last axis.

A work-item copies what its results see of the source, all channels, into memory of its own, with
zeros where the padding is: from there every vector is read from one line.  Where windows move by
more than one element, every such phase of the last axis has a line of its own.  Weights are laid
out before, those of a tile's outputs side by side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from staticad_schema.types import FLOAT32, INT32, KINDS, DType

from .code import Code, Var
from .memory import declare_read, read, stored_type, write
from .region import Kernel, Operand, Pointer, Recipe, Region
from .scalars import computed, literal, register_type
from .signature import Signature
from .spatial import Axis, Gather, gathers, operands_of
from .target import Target
from .typed import arithmetic

PANEL_BYTES = 128 << 10
"""What a work-item copies at a time, at most, if a line of results sees no more: a part of the
second cache."""

LISTED = 16
"""Bytes of a vector in the tables of a box."""

CONTRACT = "#pragma OPENCL FP_CONTRACT ON"
"""First in a block of products.  PoCL's fma is a call on some processors, its contraction not."""


class Tile(NamedTuple):
    """outputs by vectors of so many lanes, in registers."""

    outputs: int
    vectors: int
    lanes: int


def vector_bytes(target: Target) -> int:
    """Of explicit vectors: also where the driver would make them of work-items."""
    return target.vector_bytes if target.vector_bytes > 4 else 32


def registers(target: Target) -> int:
    """Vectors that a processor has at hand, for accumulators: behind AVX2 there are 32."""
    return 24 if vector_bytes(target) >= 64 else 12


def lanes_of(count: int, dtype: DType, target: Target) -> int:
    """Lanes along an axis of so many results: those that leave the fewest unused, where vectors of
    less than 32 bytes take as long as such."""
    size = max(4, computed(dtype).itemsize)
    options = [n for n in (16, 8, 4, 2, 1) if n <= vector_bytes(target) // size]
    return min(options, key=lambda n: (-(-count // n) * max(n, 32 // size), -n))


def tile_of(outputs: int, vectors: int, lanes: int, target: Target) -> Tile:
    """The tile for so many outputs of a group and vectors of a work-item."""
    most = registers(target)
    high = 8 if most >= 24 else 6
    tiles = -(-outputs // high)
    rows = -(-outputs // tiles)
    across = max(1, min(most // rows, 2 if rows > 3 else 4, vectors))
    return Tile(rows, across, lanes)


class Box(NamedTuple):
    """The results of a work-item, and what they see, as it lies in the work-item's memory.

    counts: results along each axis.  pitch: elements between neighbours along each axis but the
    last one.  line: elements of a line; there are as many, one behind the other, as windows move
    by along the last axis.  channel: elements of a channel.
    """

    counts: tuple[int, ...]
    pitch: tuple[int, ...]
    line: int
    channel: int

    @staticmethod
    def of(axes: Sequence[Axis], counts: Sequence[int], lanes: int) -> Box:
        """That of so many results along each axis."""
        seen = tuple(axis.reach(n) for axis, n in zip(axes, counts, strict=True))
        last = axes[-1]
        line = -(-counts[-1] // lanes) * lanes + abs(last.back) // last.step
        pitch = [last.step * line]
        for n in reversed(seen[1:-1]):
            pitch.insert(0, pitch[0] * n)
        return Box(tuple(counts), tuple(pitch), line, pitch[0] * seen[0])

    def vectors(self, lanes: int) -> int:
        """Vectors of its results."""
        return math.prod(self.counts[:-1]) * -(-self.counts[-1] // lanes)

    def blocks(self, axes: Sequence[Axis]) -> tuple[int, ...]:
        """How many boxes there are along each axis."""
        return tuple(-(-a.length // n) for a, n in zip(axes, self.counts, strict=True))


def box_of(
    axes: Sequence[Axis], channels: int, lanes: int, nbytes: int, itemsize: int, units: int
) -> Box:
    """The largest box whose memory is at most that, and that leaves so many boxes.  Its vectors
    are listed in the same memory."""
    counts = [a.length for a in axes]

    def shrink(axis: int, least: int) -> bool:
        if counts[axis] <= least:
            return False
        parts = -(-axes[axis].length // counts[axis]) + 1
        counts[axis] = max(least, min(counts[axis] - 1, -(-axes[axis].length // parts)))
        return True

    def size() -> int:
        box = Box.of(axes, counts, lanes)
        return box.channel * channels * itemsize + box.vectors(lanes) * LISTED

    order = [(k, 1) for k in range(len(axes) - 1)] + [(len(axes) - 1, lanes)]
    for axis, least in order:
        while size() > nbytes and shrink(axis, least):
            pass
    while math.prod(Box.of(axes, counts, lanes).blocks(axes)) < units:
        if not shrink(0, 1) and not (len(axes) > 2 and shrink(1, 1)):
            break
    return Box.of(axes, counts, lanes)


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


def tap_places(code: Code, signature: Signature, axes: Sequence[Axis], box: Box) -> tuple[str, str]:
    """Where place `tap` of the kernel, all axes counted as one, lies among weights, and where its
    element lies in a panel."""
    kind = signature.index_type
    weights, places = ["0"], ["0"]
    rest = "tap"
    real = [k for k, a in enumerate(axes) if a.taps != 1]
    for k in reversed(real):
        axis = axes[k]
        if k == real[0]:
            own = rest
        else:
            own = f"j{k}"
            size = signature.number(("taps", k), axis.taps)
            code.line(f"const {kind} {own} = {rest} % {size}, rest{k} = {rest} / {size};")
            rest = f"rest{k}"
        weights.append(f"{own} * {signature.number(('by', k), axis.by * axis.weight)}")
        move = signature.number(("move", k), axis.move)
        back = signature.number(("back", k), -min(0, axis.back))
        seen = f"({own} * {move} + {back})"
        if k == len(axes) - 1:
            step = signature.number("pace", axis.step)
            line = signature.number("line", box.line)
            places.append(f"{seen} % {step} * {line} + {seen} / {step}")
        else:
            places.append(f"{seen} * {signature.number(('pitch', k), box.pitch[k])}")
    return " + ".join(weights), " + ".join(places)


def multiplied(x: Var, y: Var, total: Var) -> str:
    """total + x * y, rounded once behind `CONTRACT` where the device does that fast."""
    lanes = total.lanes
    if KINDS[total.dtype] != "float":
        product = arithmetic("*", x, y)
        return arithmetic("+", total, product).text
    texts = [
        v.text if v.lanes == lanes else f"({register_type(v.dtype, lanes)})({v.text})"
        for v in (x, y)
    ]
    return f"{total.text} + {texts[0]} * {texts[1]}"


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


def boxes_of_unit(
    code: Code, signature: Signature, axes: Sequence[Axis], box: Box, rest: str = "unit"
) -> tuple[list[str], list[str], str]:
    """Where the box of a unit begins along each axis, how many results it has there, and the text
    of the number that is left of the unit's."""
    kind = signature.index_type
    starts, lengths = [], []
    for k, (axis, own) in enumerate(zip(axes, box.counts, strict=True)):
        count = signature.number(("count", k), axis.length)
        blocks = -(-axis.length // own)
        if blocks == 1:
            starts.append("0")
            lengths.append(count)
            continue
        size = signature.number(("box", k), own)
        number = signature.number(("blocks", k), blocks)
        code.line(
            f"const {kind} start{k} = {rest} % {number} * {size}, left{k} = {rest} / {number};"
        )
        code.line(f"const {kind} length{k} = min({count} - start{k}, {size});")
        starts.append(f"start{k}")
        lengths.append(f"length{k}")
        rest = f"left{k}"
    return starts, lengths, rest


def memory(code: Code, signature: Signature, dtype: DType, count: int, scratch: int | None) -> str:
    """The panel of a unit: local memory, or a part of a scratch."""
    kind = register_type(dtype)
    if scratch is None:
        return signature.local("panel", kind, max(1, count), dtype.itemsize)
    base = signature.pointer(Pointer("scratch", scratch), dtype)
    size = signature.number("panel", count)
    code.line(f"__global {kind} *panel = {base} + (ulong)unit * {size};")
    return "panel"


def list_vectors(
    code: Code, signature: Signature, axes: Sequence[Axis], box: Box, lanes: int,
    given: tuple[Sequence[str], Sequence[str], str, str, str], offsets: tuple[str, str] = ("", ""),
) -> None:  # fmt: skip
    """Tables of the vectors of a box, up to `count`: where each begins in the panel and among
    results, how many of its lanes there are.

    given: starts and lengths of the box, the tables.  offsets: texts to add to the places.
    """
    starts, lengths, at, goal, width = given
    kind, last = signature.index_type, len(axes) - 1
    of_panel = [text for text in offsets[:1] if text] + ["i_last"]
    of_result = [text for text in offsets[1:] if text]
    for k, axis in enumerate(axes):
        name, by = ("i_last", lanes) if k == last else (f"i{k}", 1)
        stride = signature.number(("goal", k), axis.apart * axis.result)
        of_result.append(f"({starts[k]} + {name}) * {stride}")
        if k != last:
            pace = signature.number(("pace", k), axis.step * box.pitch[k])
            of_panel.append(f"{name} * {pace}")
        code.line(f"for ({kind} {name} = 0; {name} < {lengths[k]}; {name} += {by}) {{")
    code.line(f"  {at}[count] = {' + '.join(of_panel)};")
    code.line(f"  {goal}[count] = {' + '.join(of_result)};")
    code.line(f"  {width}[count++] = min({lengths[-1]} - i_last, ({kind}){lanes});")
    code.line("}" * len(axes))


def copy_box(
    code: Code, signature: Signature, source: Operand, axes: Sequence[Axis], box: Box,
    target: Target, given: tuple[str, str, Sequence[str], Sequence[str], str, str],
    is_local: bool,
) -> None:  # fmt: skip
    """Copy what a box sees into a panel, with zeros where there is nothing.

    given: channels, the stride between them, starts and lengths of the box, the pointers to the
    source and to the panel.
    """
    channels, pitch, starts, lengths, seen, panel = given
    kind, dtype = signature.index_type, source.dtype
    space = "__local" if is_local else "__global"
    line_of = line_function(code, dtype, target, space)
    last = len(axes) - 1
    closing = 0
    code.line(f"for ({kind} r = 0; r < {channels}; ++r) {{")
    tests, places, goals = [], [f"r * {pitch}"], [f"r * {signature.number('span', box.channel)}"]
    for k, axis in enumerate(axes[:-1]):
        reach = f"({lengths[k]} - 1) * {signature.number(('step', k), axis.step)}"
        reach += f" + {signature.number(('reach', k), axis.reach(1))}"
        low = signature.number(("low", k), axis.low)
        step = signature.number(("step", k), axis.step)
        code.line(f"for ({kind} y{k} = 0; y{k} < {reach}; ++y{k}) {{")
        closing += 1
        code.line(f"const {kind} s{k} = {starts[k]} * {step} + {low} + y{k};")
        if axis.low < 0 or axis.low + axis.reach(axis.length) > axis.size:
            tests.append(f"s{k} >= 0 && s{k} < {signature.number(('size', k), axis.size)}")
        places.append(f"s{k} * {signature.number(('stride', k), axis.source)}")
        goals.append(f"y{k} * {signature.number(('pitch', k), box.pitch[k])}")
    axis = axes[last]
    step, low = signature.number("pace", axis.step), signature.number("low", axis.low)
    size = signature.number("size", axis.size)
    inside = " && ".join(tests)
    line, stride = signature.number("line", box.line), signature.number("stride", axis.source)
    code.line(f"const {kind} from = {' + '.join(places)};")
    code.line(f"const {kind} to = {' + '.join(goals)};")
    with code.block(f"for (int phase = 0; phase < {step}; ++phase)"):
        code.line(f"const {kind} s = {starts[last]} * {step} + {low} + phase;")
        # A line's first elements lie before the source, its last ones behind it.
        code.line(f"{kind} begin = s < 0 ? (-s + {step} - 1) / {step} : 0;")
        code.line(f"{kind} end = s < {size} ? ({size} - 1 - s) / {step} + 1 : 0;")
        code.line(f"end = min(end, ({kind}){line});")
        code.line("begin = min(begin, end);")
        if inside:
            code.line(f"if (!({inside})) begin = end = 0;")
        code.line(
            f"{line_of}({panel} + to + phase * {line}, {seen} + from + (s + begin * {step})"
            f" * {stride}, {step} * {stride}, begin, end, {line});"
        )
    code.line("}" * (closing + 1))


def line_function(code: Code, dtype: DType, target: Target, space: str) -> str:
    """A function that writes a line: zeros, elements that lie apart, zeros."""
    wide = computed(dtype)
    lanes = min(8, vector_bytes(target) // max(4, wide.itemsize))
    declare_read(code, dtype, lanes)
    name = f"line_{dtype.name}_{space.strip('_')}"
    vector = f"vstore{lanes}({read('x + k', dtype, lanes)}, 0, p + begin + k)"
    kind, zero = register_type(dtype), literal(0, wide)
    return code.function(
        name,
        f"\nvoid {name}({space} {kind} *p, const __global {stored_type(dtype)} *x, long apart,"
        " long begin, long end, long count) {\n"
        f"  long k = 0;\n"
        f"  for (long i = 0; i < begin; ++i) p[i] = {zero};\n"
        f"  if (apart == 1) for (; k + {lanes} <= end - begin; k += {lanes}) {vector};\n"
        f"  for (; k < end - begin; ++k) p[begin + k] = {read('x + k * apart', dtype, 1)};\n"
        f"  for (long i = end; i < count; ++i) p[i] = {zero};\n}}\n",
    )
