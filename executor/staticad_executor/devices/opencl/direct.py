"""Convolution without anything shared: each result by itself, in any order.

Where work-items may not work together, and for the transposes of which too many phases would be a
launch each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .code import Code, Var
from .lanes import CONTRACT, multiplied
from .memory import read, write
from .region import Recipe, Region, shape_of, size_of
from .scalars import computed, literal, register_type
from .signature import Signature
from .spatial import operands_of
from .target import Target
from .typed import rounded

RUN = 16
"""Results of a work-item on a CPU."""


class Walk(NamedTuple):
    """An axis of a sum: what is added up over, how often, what its neighbours are apart in the
    first and in the second operand."""

    name: str
    length: int
    first: int
    second: int


class Place(NamedTuple):
    """A spatial axis: a place of the first operand is (i * step + j * move + base) / by, where
    that is whole and from 0 to size - 1.  i and j are texts."""

    i: str
    j: str
    step: int
    move: int
    base: int
    by: int
    size: int
    stride: int


class Lead(NamedTuple):
    """A part of where a result's sum begins in both operands: an index by so many elements.
    `{m}` in its text stands for the results of a group."""

    text: str
    first: int
    second: int


def direct(region: Region, target: Target, name: str) -> Recipe:
    """The kernel of any of the three ops, whose results are at least one."""
    (step,) = region.steps
    shape = shape_of(step.types[0])
    one, two = operands_of(region)
    groups: int = step.attributes["groups"]
    rank = len(shape) - 2
    strides, dilation = step.attributes["strides"], step.attributes["dilation"]
    lows = [low for low, _ in step.attributes["padding"]]
    index = [f"i{k}" for k in range(rank)]
    kernel = shape[2:] if step.op == "conv_weights" else two.shape[2:]
    if step.op == "conv":
        outputs = shape[1] // groups if groups else 0
        walks = [Walk("c", two.shape[1], one.strides[1], two.strides[1])]
        walks += [Walk(f"j{k}", kernel[k], 0, two.strides[2 + k]) for k in range(rank)]
        places = [
            Place(index[k], f"j{k}", strides[k], dilation[k], -lows[k], 1,
                  one.shape[2 + k], one.strides[2 + k])
            for k in range(rank)
        ]  # fmt: skip
        lead = [
            Lead("a", one.strides[0], 0),
            Lead("b / {m}", two.shape[1] * one.strides[1], 0),
            Lead("b", 0, two.strides[0]),
        ]
        per = outputs
    elif step.op == "conv_input":
        outputs, each = one.shape[1] // groups if groups else 0, two.shape[1]
        walks = [Walk("c", outputs, one.strides[1], two.strides[0])]
        walks += [Walk(f"j{k}", kernel[k], 0, two.strides[2 + k]) for k in range(rank)]
        places = [
            Place(index[k], f"j{k}", 1, -dilation[k], lows[k], strides[k],
                  one.shape[2 + k], one.strides[2 + k])
            for k in range(rank)
        ]  # fmt: skip
        lead = [
            Lead("a", one.strides[0], 0),
            Lead("b / {m}", outputs * one.strides[1], outputs * two.strides[0]),
            Lead("b % {m}", 0, two.strides[1]),
        ]
        per = each
    else:
        each = shape[1]
        outputs = shape[0] // groups if groups else 0
        walks = [Walk("n", one.shape[0], one.strides[0], two.strides[0])]
        walks += [Walk(f"j{k}", two.shape[2 + k], 0, two.strides[2 + k]) for k in range(rank)]
        places = [
            Place(f"j{k}", index[k], strides[k], dilation[k], -lows[k], 1,
                  one.shape[2 + k], one.strides[2 + k])
            for k in range(rank)
        ]  # fmt: skip
        lead = [
            Lead("a / {m}", each * one.strides[1], 0),
            Lead("b", one.strides[1], 0),
            Lead("a", 0, two.strides[1]),
        ]
        per = outputs
    return _kernel(region, target, name, walks, places, lead, per)


def _kernel(
    region: Region, target: Target, name: str, walks: Sequence[Walk], places: Sequence[Place],
    lead: Sequence[Lead], per: int,
) -> Recipe:  # fmt: skip
    (step,) = region.steps
    shape = shape_of(step.types[0])
    dtype = step.types[0].dtype
    wide = computed(dtype)
    size = size_of(shape)
    signature = Signature(_largest(region, places) + RUN * 64)
    code, kind = Code(), signature.index_type
    first = signature.pointer(region.source(step.inputs[0]), dtype)
    second = signature.pointer(region.source(step.inputs[1]), dtype)
    out = signature.pointer(region.goal(0), dtype)
    run = 1 if target.many_items else RUN
    count = signature.number("size", size)
    code.line(f"const {kind} start = get_global_id(0) * {run};")
    code.line(f"const {kind} stop = min(start + {run}, {count});")
    with code.block(f"for ({kind} e = start; e < stop; ++e)"):
        rest = "e"
        for k in range(len(shape) - 1, -1, -1):
            axis = ("a", "b", *(f"i{k}" for k in range(len(shape) - 2)))[k]
            length = signature.number(("shape", k), shape[k])
            text = f"{rest} % {length}" if k else rest
            code.line(f"const {kind} {axis} = {text};")
            if k:
                code.line(f"const {kind} rest{k} = {rest} / {length};")
                rest = f"rest{k}"
        m = signature.number("per group", per)
        ones, twos = ["0"], ["0"]
        for k, own in enumerate(lead):
            text = own.text.format(m=m)
            ones.append(f"{text} * {signature.number(('lead', 1, k), own.first)}")
            twos.append(f"{text} * {signature.number(('lead', 2, k), own.second)}")
        code.line(f"const {kind} at1 = {' + '.join(ones)};")
        code.line(f"const {kind} at2 = {' + '.join(twos)};")
        code.line(f"{register_type(wide)} sum = {literal(0, wide)};")
        for walk in walks:
            number = signature.number(("walk", walk.name), walk.length)
            head = f"for ({kind} {walk.name} = 0; {walk.name} < {number}; ++{walk.name}) {{"
            code.line(head)
        code.line(CONTRACT)
        ones, twos, tests = ["at1"], ["at2"], []
        for k, walk in enumerate(walks):
            if walk.first:
                ones.append(f"{walk.name} * {signature.number(('first', k), walk.first)}")
            if walk.second:
                twos.append(f"{walk.name} * {signature.number(('second', k), walk.second)}")
        for k, place in enumerate(places):
            text = f"{place.i} * {signature.number(('step', k), place.step)}"
            text += f" + {place.j} * {signature.number(('move', k), place.move)}"
            code.line(f"{kind} s{k} = {text} + {signature.number(('base', k), place.base)};")
            if place.by != 1:
                by = signature.number(("by", k), place.by)
                code.line(f"if (s{k} < 0 || s{k} % {by}) continue;")
                code.line(f"s{k} /= {by};")
                code.line(f"if (s{k} >= {signature.number(('size', k), place.size)}) continue;")
            else:
                tests.append(f"s{k} >= 0 && s{k} < {signature.number(('size', k), place.size)}")
            ones.append(f"s{k} * {signature.number(('stride', k), place.stride)}")
        x = read(f"{first} + {' + '.join(ones)}", dtype, 1)
        # The padding is a factor 0, of which something infinite makes NaN.
        inside = " && ".join(tests)
        kind_ = register_type(wide)
        code.line(f"const {kind_} x = {f'{inside} ? {x} : {literal(0, wide)}' if inside else x};")
        code.line(f"const {kind_} y = {read(f'{second} + ' + ' + '.join(twos), dtype, 1)};")
        code.line(f"sum = {multiplied(Var('x', wide), Var('y', wide), Var('sum', wide))};")
        code.line("}" * len(walks))
        value = rounded(code, Var("sum", dtype))
        code.line(write(code, f"{out} + e", value.text, dtype, 1) + ";")
    units = -(-size // run)
    local = max(1, min(target.work_group, 64, units)) if target.many_items else 1
    kernel = signature.kernel(name, code, (-(-units // local) * local,), (local,))
    return Recipe((kernel,), (), "each result by itself")


def _largest(region: Region, places: Sequence[Place]) -> int:
    sizes = [size_of(t.shape) for t in region.types]
    for operand in region.operands:
        pairs = zip(operand.strides, operand.shape, strict=True)
        sizes.append(sum(abs(s) * n for s, n in pairs))
    (step,) = region.steps
    kernel, windows = shape_of(region.types[step.inputs[1]]), shape_of(step.types[0])
    if step.op == "conv_weights":
        kernel, windows = windows, kernel
    for k, place in enumerate(places):
        # What multiplies an index of 0 counts, too: it is an argument.
        reach = abs(place.step) * (windows[2 + k] - 1) + abs(place.move) * (kernel[2 + k] - 1)
        sizes.append(reach + abs(place.base) + place.by + abs(place.step) + abs(place.move))
    return max(sizes)
