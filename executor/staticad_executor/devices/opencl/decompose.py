"""Ops over rows in terms of reductions and elementwise steps, which one kernel then fuses.

Unlike the expansions that graphs have, these know that a row is at hand: what would over- or
underflow is scaled by a power of two, which changes no digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from staticad_schema.op import OPS
from staticad_schema.types import WIDENED, DType, TensorType

from .expansions import NUMBER, expands, expansion
from .known import known
from .region import Region, Step, shape_of

SCALE = "power_of_two"
"""A step that only regions have: what to multiply with, so that the largest element is near 1,
where its square would leave the range, else 1."""

PASSED = frozenset({"identity", "after", "hold", "recompute_start", "recompute_end"})
"""Ops whose results are operands."""

Value = int


class Writer:
    """Steps under construction, over the values of another region."""

    def __init__(self, region: Region) -> None:
        self.source = region
        self.steps: list[Step] = []
        self.types: list[TensorType] = [TensorType(o.dtype, o.shape) for o in region.operands]
        self.values: list[Value] = list(range(len(region.operands)))

    def append(self, step: Step) -> Value:
        """One more step; its first output."""
        self.steps.append(step)
        self.types += step.types
        return len(self.types) - len(step.types)

    def add(self, op: str, *inputs: Value, **attributes: Any) -> Value:
        """A step of an op of the registry."""
        definition = OPS[op]
        complete = definition.attributes(attributes)
        types = definition.output_types([self.types[v] for v in inputs], complete)
        return self.append(Step(op, complete, inputs, types))

    def number(self, value: float, like: Value) -> Value:
        """A number of another value's dtype."""
        return self.append(Step(NUMBER, {"value": value}, (), (self.scalar(like),)))

    def count(self, value: int, like: Value) -> Value:
        """As `number`, for one that follows from sizes: the text of the kernel is the same for
        all of them."""
        type_ = self.scalar(like)
        return self.append(known(np.array(value, type_.dtype), type_))

    def scalar(self, like: Value) -> TensorType:
        return TensorType(self.types[like].dtype, ())

    def largest(self, x: Value, axis: tuple[int, ...]) -> Value:
        """The largest element along axes, which stay; of none of them, what is below all."""
        type_ = self.types[x]
        kept = tuple(1 if a in axis else n for a, n in enumerate(shape_of(type_)))
        if math.prod(shape_of(type_)[a] for a in axis):
            return self.add("max", x, axis=axis, keepdims=True)
        return self.append(Step(NUMBER, {"value": -math.inf}, (), (type_.with_shape(kept),)))

    def scale(self, largest: Value, small: bool) -> Value:
        attributes = {"small": small}
        return self.append(Step(SCALE, attributes, (largest,), (self.types[largest],)))

    def expand(self, step: Step, given: tuple[Value, ...]) -> list[Value]:
        """The outputs of a step that is written in others."""
        made = expansion(step.op, step.attributes, [self.types[v] for v in given])
        values = list(given)
        for part in made.steps:
            inputs = tuple(values[v] for v in part.inputs)
            if part.op in OPS and expands(part.op):
                values += self.expand(part, inputs)
            else:
                first = self.append(part._replace(inputs=inputs))
                values += range(first, first + len(part.types))
        return [values[v] for v in made.outputs]

    def cast(self, x: Value, dtype: DType) -> Value:
        return x if self.types[x].dtype == dtype else self.add("cast", x, dtype=dtype)


def decomposed(region: Region) -> Region:
    """The same region with the ops of this module, and those that expand, in other steps."""
    if not any(step.op in DECOMPOSED or _simpler(step.op) for step in region.steps):
        return region
    writer = Writer(region)
    for step in region.steps:
        given = tuple(writer.values[v] for v in step.inputs)
        if step.op in PASSED:
            writer.values += given[passed(step.op)]
            continue
        if _simpler(step.op):
            writer.values += writer.expand(step, given)
            continue
        rule = DECOMPOSED.get(step.op)
        if rule is None:
            first = writer.append(step._replace(inputs=given))
            writer.values += range(first, first + len(step.types))
            continue
        # Half floats: in float32, and rounded at the end, as the op's meaning is.
        dtypes = [writer.types[v].dtype for v in given]
        wide = [writer.cast(v, WIDENED.get(d, d)) for v, d in zip(given, dtypes, strict=True)]
        made = rule(writer, *wide, **step.attributes)
        for v, type_ in zip(made, step.types, strict=True):
            writer.values.append(writer.cast(v, type_.dtype))
    outputs = tuple(writer.values[v] for v in region.outputs)
    steps = tuple(writer.steps)
    return Region(region.operands, steps, outputs, region.sources, region.goals)


def passed(op: str) -> slice:
    """Which operands the results are, of an op that only passes them on."""
    if op == "recompute_start":
        return slice(None)
    return slice(1, None) if op == "recompute_end" else slice(1)


def _simpler(op: str) -> bool:
    return op in PASSED or (op in OPS and expands(op))


def _shifted(w: Writer, x: Value, axis: int) -> Value:
    return w.add("subtract", x, w.largest(x, (axis,)))


def _softmax(w: Writer, x: Value, *, axis: int) -> tuple[Value]:
    powers = w.add("exp", _shifted(w, x, axis))
    return (w.add("divide", powers, w.add("sum", powers, axis=(axis,), keepdims=True)),)


def _log_softmax(w: Writer, x: Value, *, axis: int) -> tuple[Value]:
    apart = _shifted(w, x, axis)
    total = w.add("sum", w.add("exp", apart), axis=(axis,), keepdims=True)
    return (w.add("subtract", apart, w.add("log", total)),)


def _masked_softmax(w: Writer, x: Value, keep: Value, *, axis: int) -> tuple[Value]:
    kept = w.add("where", keep, x, w.number(-math.inf, x))
    zero = w.number(0.0, x)
    powers = w.add("where", keep, w.add("exp", _shifted(w, kept, axis)), zero)
    total = w.add("sum", powers, axis=(axis,), keepdims=True)
    return (w.add("where", keep, w.add("divide", powers, total), zero),)


def _reduced(w: Writer, value: Value, x: Value, axis: tuple[int, ...], keepdims: bool) -> Value:
    if keepdims:
        return value
    shape = tuple(n for a, n in enumerate(shape_of(w.types[x])) if a not in axis)
    return w.add("reshape", value, shape=shape)


def _logsumexp(w: Writer, x: Value, *, axis: tuple[int, ...], keepdims: bool) -> tuple[Value]:
    top = w.largest(x, axis)
    top = w.add("where", w.add("isfinite", top), top, w.number(0.0, x))
    powers = w.add("exp", w.add("subtract", x, top))
    whole = w.add("log", w.add("sum", powers, axis=axis, keepdims=True))
    return (_reduced(w, w.add("add", whole, top), x, axis, keepdims),)


def _cross_entropy(w: Writer, x: Value, labels: Value, *, axis: int) -> tuple[Value, Value]:
    (logs,) = _log_softmax(w, x, axis=axis)
    shape = shape_of(w.types[labels])
    at = w.add("reshape", labels, shape=(*shape[:axis], 1, *shape[axis:]))
    # A negative label names no class: it is made one that is out of range.
    size = shape_of(w.types[x])[axis]
    wide = w.cast(at, np.dtype(np.int64))
    outside = w.add("less", wide, w.number(0, wide))
    at = w.add("where", outside, w.count(size, wide), wide)
    picked = w.add("take_along_axis", logs, at, axis=axis)
    return w.add("negative", w.add("reshape", picked, shape=shape)), logs


def _normalize(
    w: Writer, x: Value, *, axis: tuple[int, ...], epsilon: float, center: bool
) -> tuple[Value, Value]:
    largest = w.largest(w.add("abs", x), axis)
    scale = w.scale(largest, epsilon == 0)
    count = w.count(math.prod(shape_of(w.types[x])[a] for a in axis), x)
    near = w.add("multiply", x, scale)
    if center:
        total = w.add("sum", near, axis=axis, keepdims=True)
        near = w.add("subtract", near, w.add("divide", total, count))
    power = w.add("divide", w.add("sum", w.add("square", near), axis=axis, keepdims=True), count)
    small = w.add("multiply", w.add("multiply", w.number(epsilon, x), scale), scale)
    inner = w.add("rsqrt", w.add("add", power, small))
    return w.add("multiply", near, inner), w.add("multiply", inner, scale)


def _norm(w: Writer, x: Value, *, axis: tuple[int, ...], keepdims: bool) -> tuple[Value]:
    largest = w.largest(w.add("abs", x), axis)
    scale = w.scale(largest, True)
    near = w.add("multiply", x, scale)
    total = w.add("sum", w.add("square", near), axis=axis, keepdims=True)
    found = w.add("divide", w.add("sqrt", total), scale)
    return (_reduced(w, found, x, axis, keepdims),)


def _norm_direction(w: Writer, x: Value, length: Value, *, axis: tuple[int, ...]) -> tuple[Value]:
    zero, infinity = w.number(0.0, x), w.number(math.inf, x)
    largest = w.largest(w.add("abs", x), axis)
    near = w.add("multiply", x, w.scale(largest, True))
    # Infinite elements share the direction alike, and others have no part in it.
    one = w.add("where", w.add("isinf", x), w.number(1.0, x), zero)
    endless = w.add("equal", largest, infinity)
    near = w.add("where", endless, w.add("copysign", one, x), near)
    total = w.add("sum", w.add("square", near), axis=axis, keepdims=True)
    own = w.add("sqrt", total)
    far = w.add("where", w.add("equal", own, zero), own, w.add("divide", near, own))
    tiny = w.number(float(np.finfo(w.types[x].dtype).tiny), x)
    normal, finite = w.add("less_equal", tiny, length), w.add("less", length, infinity)
    usual = w.add("logical_and", normal, finite)
    return (w.add("where", usual, w.add("divide", x, length), far),)


def _sum_to(w: Writer, x: Value, *, shape: tuple[int, ...]) -> tuple[Value]:
    have = shape_of(w.types[x])
    lead = len(have) - len(shape)
    spread = tuple(lead + a for a, s in enumerate(shape) if s == 1 != have[lead + a])
    axis = (*range(lead), *spread)
    if not axis:
        return (x,)
    return (w.add("reshape", w.add("sum", x, axis=axis, keepdims=True), shape=shape),)


DECOMPOSED: dict[str, Callable[..., tuple[Value, ...]]] = {
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "masked_softmax": _masked_softmax,
    "logsumexp": _logsumexp,
    "cross_entropy": _cross_entropy,
    "normalize": _normalize,
    "norm": _norm,
    "norm_direction": _norm_direction,
    "sum_to": _sum_to,
}
