"""Boxes of results, and panels: the memory into which a work-item copies what a box sees.

A panel has the channels one behind the other, with zeros where the padding is, so that every vector
is read from one line.  Where windows move by more than one element along the last axis, the
elements of each such phase have a line of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from staticad_schema.types import DType

from .code import Code
from .memory import declare_read, read, stored_type
from .region import Operand, Pointer
from .scalars import computed, literal, register_type
from .signature import Signature
from .spatial import Axis
from .target import Target

LISTED = 16
"""Bytes of a vector in the tables of a box."""


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
    lanes = min(8, target.explicit_bytes // max(4, wide.itemsize))
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
