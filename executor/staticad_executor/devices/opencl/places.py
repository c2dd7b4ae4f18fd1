"""Ops whose elements are those of operands at other places, or follow from their own place."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from staticad_schema.types import FLOAT64, INT64, KINDS, UINT64, DType

from .body import PLACED, Body, Index
from .code import Var
from .region import Shape, Step, row_major, shape_of
from .scalars import register_type, vector
from .typed import arithmetic, both, cast, choose, compare, constant, rounded


def linear(body: Body, index: Index, shape: Shape, key: object) -> str:
    """The place in row-major order of an index."""
    terms = []
    for axis, (text, stride) in enumerate(zip(index, row_major(shape), strict=True)):
        if text != "0":
            factor = body.signature.number((key, "row-major", axis), stride)
            terms.append(text if factor == "1" else f"{text} * {factor}")
    return body.code.index(" + ".join(terms) or "0", body.signature.index_type)


def unravelled(body: Body, place: str, shape: Shape, key: object) -> Index:
    """The index along each axis of a place in row-major order."""
    found: list[str] = []
    kind = body.signature.index_type
    real = [a for a, n in enumerate(shape) if n != 1]
    for axis in range(len(shape) - 1, -1, -1):
        if shape[axis] == 1:
            found.append("0")
        elif axis == real[0]:
            found.append(place)
        else:
            size = body.signature.number((key, axis), shape[axis])
            found.append(body.code.index(f"{place} % {size}", kind))
            place = body.code.index(f"{place} / {size}", kind)
    return tuple(reversed(found))


class Choice:
    """A variable that one of several blocks sets."""

    def __init__(self, body: Body, dtype: DType, start: Var) -> None:
        self.body = body
        self.name = body.code.fresh("v")
        self.dtype = dtype
        body.code.line(f"{register_type(dtype)} {self.name} = {start.text};")

    def set(self, value: Var) -> None:
        self.body.code.line(f"{self.name} = {value.text};")

    @property
    def var(self) -> Var:
        return Var(self.name, self.dtype)


def _zero(dtype: DType) -> Var:
    return constant(0, dtype)


def _at(body: Body, text: str) -> str:
    return body.code.index(text, body.signature.index_type)


# ------------------------------------------------------------------ views


def _reshape(body: Body, number: int, step: Step, index: Index) -> Var:
    source = step.inputs[0]
    shape, wanted = shape_of(step.types[0]), shape_of(body.region.types[source])
    if [n for n in shape if n != 1] == [n for n in wanted if n != 1]:
        texts = iter([text for n, text in zip(shape, index, strict=True) if n != 1])
        return body.value(source, tuple("0" if n == 1 else next(texts) for n in wanted))
    place = linear(body, index, shape, number)
    return body.value(source, unravelled(body, place, wanted, (number, "size")))


def _permute_dims(body: Body, number: int, step: Step, index: Index) -> Var:
    axes: Sequence[int] = step.attributes["axes"]
    moved = [""] * len(axes)
    for text, axis in zip(index, axes, strict=True):
        moved[axis] = text
    return body.value(step.inputs[0], tuple(moved))


def _flip(body: Body, number: int, step: Step, index: Index) -> Var:
    shape = shape_of(step.types[0])
    moved = list(index)
    for axis in step.attributes["axis"]:
        if shape[axis] != 1:
            last = body.signature.number((number, "last", axis), shape[axis] - 1)
            moved[axis] = _at(body, f"{last} - {index[axis]}")
    return body.value(step.inputs[0], tuple(moved))


def _extents(slices: Sequence[tuple[int, int, int]], shape: Shape) -> list[range]:
    return [range(n)[slice(*bounds)] for bounds, n in zip(slices, shape, strict=True)]


def _slice(body: Body, number: int, step: Step, index: Index) -> Var:
    source = step.inputs[0]
    extents = _extents(step.attributes["slices"], shape_of(body.region.types[source]))
    moved = []
    for axis, (text, extent) in enumerate(zip(index, extents, strict=True)):
        first = body.signature.number((number, "first", axis), extent.start)
        by = body.signature.number((number, "step", axis), extent.step)
        moved.append(first if text == "0" else _at(body, f"{first} + {text} * {by}"))
    return body.value(source, tuple(moved))


def _iota(body: Body, number: int, step: Step, index: Index) -> Var:
    text = index[step.attributes["axis"]]
    return cast(body.code, body.code.named(f"(long)({text})", INT64), step.types[0].dtype)


# ------------------------------------------------------------------ parts side by side


def _inside(body: Body, key: object, index: Index, extents: Sequence[range], shape: Shape) -> str:
    """The text of whether an index lies in a slice of a tensor of that shape."""
    tests = []
    for axis, (text, extent, size) in enumerate(zip(index, extents, shape, strict=True)):
        if extent == range(size):
            continue
        low, high = sorted((extent[0], extent[-1])) if extent else (1, 0)
        first = body.signature.number((key, "low", axis), low)
        last = body.signature.number((key, "high", axis), high)
        tests.append(f"{text} >= {first} && {text} <= {last}")
        if abs(extent.step) != 1:
            by = body.signature.number((key, "by", axis), abs(extent.step))
            tests.append(f"({text} - {first}) % {by} == 0")
    return " && ".join(tests) or "1"


def _within(body: Body, key: object, index: Index, extents: Sequence[range], shape: Shape) -> Index:
    """The index in the part of what lies in a slice."""
    own = []
    for axis, (text, extent, size) in enumerate(zip(index, extents, shape, strict=True)):
        if extent == range(size):
            own.append(text)
        elif len(extent) == 1:
            own.append("0")
        else:
            first = body.signature.number((key, "start", axis), extent.start)
            by = body.signature.number((key, "step", axis), extent.step)
            own.append(_at(body, f"({text} - {first}) / {by}"))
    return tuple(own)


def _pad(body: Body, number: int, step: Step, index: Index) -> Var:
    dtype = step.types[0].dtype
    widths = step.attributes["widths"]
    inner, shape = shape_of(body.region.types[step.inputs[0]]), shape_of(step.types[0])
    extents = [range(low, low + n) for (low, _), n in zip(widths, inner, strict=True)]
    fill = rounded(body.code, constant(step.attributes["value"], dtype))
    chosen = Choice(body, dtype, fill)
    with body.code.block(f"if ({_inside(body, number, index, extents, shape)})"):
        own = _within(body, number, index, extents, shape)
        chosen.set(body.value(step.inputs[0], own))
    return chosen.var


def _concat(body: Body, number: int, step: Step, index: Index) -> Var:
    axis, dtype = step.attributes["axis"], step.types[0].dtype
    chosen = Choice(body, dtype, _zero(dtype))
    start = 0
    for k, source in enumerate(step.inputs):
        size = shape_of(body.region.types[source])[axis]
        if size:
            first = body.signature.number((number, "from", k), start)
            stop = body.signature.number((number, "to", k), start + size)
            text = index[axis]
            with body.code.block(f"if ({text} >= {first} && {text} < {stop})"):
                own = "0" if size == 1 else _at(body, f"{text} - {first}")
                chosen.set(body.value(source, (*index[:axis], own, *index[axis + 1 :])))
        start += size
    return chosen.var


def _slice_set(body: Body, number: int, step: Step, index: Index) -> Var:
    x, updates = step.inputs
    shape, dtype = shape_of(step.types[0]), step.types[0].dtype
    extents = _extents(step.attributes["slices"], shape)
    chosen = Choice(body, dtype, _zero(dtype))
    with body.code.block(f"if ({_inside(body, number, index, extents, shape)})"):
        chosen.set(body.value(updates, _within(body, number, index, extents, shape)))
    with body.code.block("else"):
        chosen.set(body.value(x, index))
    return chosen.var


def _place(body: Body, number: int, step: Step, index: Index) -> Var:
    shape, dtype = shape_of(step.types[0]), step.types[0].dtype
    rank = len(shape)
    total = Choice(body, dtype, _zero(dtype))
    for k, part in enumerate(step.inputs):
        extents = _extents(step.attributes["slices"][k * rank : (k + 1) * rank], shape)
        key = (number, k)
        with body.code.block(f"if ({_inside(body, key, index, extents, shape)})"):
            own = body.value(part, _within(body, key, index, extents, shape))
            total.set(arithmetic("+", total.var, own))
    return rounded(body.code, total.var)


# ------------------------------------------------------------------ places that data names


def checked(body: Body, number: int, index: Var, size: int, key: object) -> tuple[str, str]:
    """(whether an index is in range, the index counted from the front); the flag says if not."""
    code = body.code
    n = body.signature.number((key, "size"), size)
    if index.dtype == UINT64:
        fits = code.index(f"{index.text} < (ulong){n}", "int")
    else:
        wide = f"(long){index.text}"
        fits = code.index(f"{wide} >= -(long){n} && {wide} < (long){n}", "int")
    flag = body.signature.flag()
    maker = body.region.makers[number - len(body.region.operands)][0]
    named = body.region.steps[maker].number or maker + 1
    code.line(f"if (!{fits}) atomic_max({flag}, {named}U);")
    kind = body.signature.index_type
    place = code.index(f"({kind}){index.text}", kind)
    return fits, code.index(f"{place} < 0 ? {place} + {n} : {place}", kind)


def _read(body: Body, step: Step, number: int, places: dict[int, Var], rest: dict[int, str]) -> Var:
    """The element of the first operand at checked indices on some axes."""
    source = step.inputs[0]
    shape, dtype = shape_of(body.region.types[source]), step.types[0].dtype
    own = dict(rest)
    tests = []
    for axis, index in places.items():
        fits, own[axis] = checked(body, number, index, shape[axis], (number, axis))
        tests.append(fits)
    chosen = Choice(body, dtype, _zero(dtype))
    with body.code.block(f"if ({' && '.join(tests)})"):
        chosen.set(body.value(source, tuple(own[a] for a in range(len(shape)))))
    return chosen.var


def _gather(body: Body, number: int, step: Step, index: Index) -> Var:
    axes = step.attributes["axes"]
    rank = len(shape_of(body.region.types[step.inputs[0]]))
    depth = len(index) - (rank - len(axes))
    lead, behind = index[:depth], iter(index[depth:])
    places = {
        axis: body.value(v, body.projected(v, lead))
        for axis, v in zip(axes, step.inputs[1:], strict=True)
    }
    rest = {a: next(behind) for a in range(rank) if a not in axes}
    return _read(body, step, number, places, rest)


def _take(body: Body, number: int, step: Step, index: Index) -> Var:
    axis = step.attributes["axis"]
    x, indices = step.inputs
    depth = len(shape_of(body.region.types[indices]))
    rank = len(shape_of(body.region.types[x]))
    place = body.value(indices, index[axis : axis + depth])
    kept = iter((*index[:axis], *index[axis + depth :]))
    rest = {a: next(kept) for a in range(rank) if a != axis}
    return _read(body, step, number, {axis: place}, rest)


def _take_along_axis(body: Body, number: int, step: Step, index: Index) -> Var:
    axis = step.attributes["axis"]
    x, indices = step.inputs
    place = body.value(indices, body.projected(indices, index))
    own = body.projected(x, index)
    rest = {a: text for a, text in enumerate(own) if a != axis}
    return _read(body, step, number, {axis: place}, rest)


def _one_hot(body: Body, number: int, step: Step, index: Index) -> Var:
    at = body.value(step.inputs[0], index[:-1])
    here = cast(body.code, body.code.named(f"(long)({index[-1]})", INT64), at.dtype)
    # A number that the dtype of the indices cannot hold is none of them.
    limit = np.iinfo(at.dtype).max
    hit = compare("==", at, here)
    if limit < 1 << 30:
        hit = Var(f"({hit.text} && {index[-1]} <= {limit})", hit.dtype)
    return cast(body.code, hit, step.types[0].dtype)


def _size_of(body: Body, number: int, step: Step, index: Index) -> Var:
    shape = shape_of(body.region.types[step.inputs[0]])
    count = int(np.prod([shape[a] for a in step.attributes["axis"]], dtype=np.int64))
    name = body.signature.number((number, "count"), count)
    return cast(body.code, body.code.named(f"(long){name}", INT64), step.types[0].dtype)


def _shape_of(body: Body, number: int, step: Step, index: Index) -> Var:
    code = body.code
    text = "0L"
    for axis, size in enumerate(shape_of(body.region.types[step.inputs[0]])):
        n = body.signature.number((number, "of", axis), size)
        text = f"{index[0]} == {axis} ? (long){n} : {text}"
    return cast(code, code.named(text, INT64), step.types[0].dtype)


def _searchsorted(body: Body, number: int, step: Step, index: Index) -> Var:
    """Bisection; NaN is behind all numbers."""
    code, kind = body.code, body.signature.index_type
    ordered, values = step.inputs
    *lead, size = shape_of(body.region.types[ordered])
    wanted = body.value(values, index)
    low, high = code.fresh("low"), code.fresh("high")
    n = body.signature.number((number, "size"), size)
    code.line(f"{kind} {low} = 0, {high} = {n};")
    with code.block(f"while ({low} < {high})"):
        middle = code.index(f"{low} + ({high} - {low}) / 2", kind)
        row = tuple("0" if n == 1 else t for n, t in zip(lead, index[: len(lead)], strict=True))
        found = body.value(ordered, (*row, middle))
        if step.attributes["right"]:
            later = f"!({_before(wanted, found)})"
        else:
            later = _before(found, wanted)
        code.line(f"if ({later}) {low} = {middle} + 1; else {high} = {middle};")
    return cast(code, code.named(f"(long){low}", INT64), step.types[0].dtype)


def _before(x: Var, y: Var) -> str:
    test = f"{x.text} < {y.text}"
    nan = f" || ({x.text} == {x.text} && {y.text} != {y.text})"
    return test + nan if KINDS[x.dtype] == "float" else test


def _number(body: Body, number: int, step: Step, index: Index) -> Var:
    return rounded(body.code, constant(step.attributes["value"], step.types[0].dtype))


def _power_of_two(body: Body, number: int, step: Step, index: Index) -> Var:
    """From the bits of the exponent: 1 over it has those of twice the bias, less these."""
    largest = body.value(step.inputs[0], index)
    double = largest.dtype == FLOAT64
    kind, digits, bias = ("long", 52, 1023) if double else ("int", 23, 127)
    limits = np.finfo(np.float64 if double else np.float32)
    low, high = np.sqrt(limits.tiny) * 2.0**20, np.sqrt(limits.max) * 2.0**-20
    far = compare(">", largest, constant(high, largest.dtype))
    if step.attributes["small"]:
        far = both("|", far, compare("<", largest, constant(low, largest.dtype)))
    usable = compare("<", largest, constant(math.inf, largest.dtype))
    usable = both("&", usable, compare(">", largest, constant(0, largest.dtype)))
    lanes = largest.lanes
    exponent = f"(as_{vector(kind, lanes)}({largest.text}) >> {digits})"
    held = f"clamp({exponent}, ({kind})1, ({kind}){2 * bias - 1})"
    bits = f"(({vector(kind, lanes)})({2 * bias}) - {held}) << {digits}"
    inverse = Var(f"as_{register_type(largest.dtype, lanes)}({bits})", largest.dtype, lanes)
    return choose(body.code, both("&", far, usable), inverse, constant(1, largest.dtype))


PLACED.update(
    number=_number, power_of_two=_power_of_two,
    reshape=_reshape, permute_dims=_permute_dims, flip=_flip, slice=_slice, iota=_iota, pad=_pad,
    concat=_concat, slice_set=_slice_set, place=_place, gather=_gather, take=_take,
    take_along_axis=_take_along_axis, one_hot=_one_hot, size_of=_size_of, shape_of=_shape_of,
    searchsorted=_searchsorted,
)  # fmt: skip
