"""The values of a region at a place: text that computes them, asked for by index.

A value is asked for at an index, one text an axis.  In a vector the last index of the region's
space is `LANE`: it counts along the lanes, and what does not turn with it is computed once for all
of them.
"""

from __future__ import annotations

from collections.abc import Callable

from staticad_schema.op import OPS
from staticad_schema.types import KINDS

from .code import Code, Var
from .functions import INTEGER_POWER
from .memory import load
from .parse import parse
from .region import Region, Step
from .scalars import register_type
from .signature import Signature
from .special.library import SPECIAL, call, needed
from .target import Target
from .typed import Expression, cast, rounded

Index = tuple[str, ...]

LANE = "c"

# What is elementwise on this device and has no expression of its own.
RENAMED = frozenset({"identity", "stop_gradient", "positive", "broadcast_to", "expect_shape"})


class Body:
    """The values of a region in one kernel.

    lanes: of a vector.  count: the text of how many of them there are at the end of a row; None
    where there are always all.  bound: values that are there already, by number.
    """

    def __init__(self, region: Region, target: Target, signature: Signature, lanes: int) -> None:
        self.region = region
        self.target = target
        self.signature = signature
        self.lanes = lanes
        self.code = Code()
        self.count: str | None = None
        self.bound: dict[int, Callable[[Index], Var | None]] = {}

    def value(self, number: int, index: Index) -> Var:
        """The value at an index; names what it computes."""
        key = (number, index)
        known = self.code.known(key)
        if isinstance(known, Var):
            return known
        found = self._value(number, index)
        self.code.learn(key, found)
        return found

    def _value(self, number: int, index: Index) -> Var:
        bound = self.bound.get(number)
        if bound is not None:
            there = bound(index)
            if there is not None:
                return there
        step = self.region.step_of(number)
        if step is None:
            return self.operand(number, index)
        if step.op == "cast":
            x = self.value(step.inputs[0], self.projected(step.inputs[0], index))
            return cast(self.code, x, step.types[0].dtype)
        if step.op in RENAMED:
            return self.value(step.inputs[0], self.projected(step.inputs[0], index))
        placed = PLACED.get(step.op)
        return (
            self.elementwise(step, index) if placed is None else placed(self, number, step, index)
        )

    def projected(self, number: int, index: Index) -> Index:
        """The index of a value that is broadcast to where another is asked for."""
        shape = self.region.types[number].shape
        own = index[len(index) - len(shape) :]
        return tuple("0" if size == 1 else text for size, text in zip(shape, own, strict=True))

    def operand(self, number: int, index: Index) -> Var:
        """An element of memory, or as many as there are lanes."""
        operand = self.region.operands[number]
        base = self.signature.pointer(self.region.source(number), operand.dtype)
        lanes, stride = 1, "0"
        terms = []
        for axis, (text, step) in enumerate(zip(index, operand.strides, strict=True)):
            if text == "0" or step == 0:
                continue
            factor = self.signature.number(("stride", number, axis), step)
            if text == LANE and self.lanes > 1:
                lanes, stride = self.lanes, factor
            terms.append(text if factor == "1" else f"{text} * {factor}")
        pointer = " + ".join([base, *terms])
        return load(self.code, pointer, operand.dtype, lanes, stride, self.count)

    def elementwise(self, step: Step, index: Index) -> Var:
        """One op on each element."""
        definition = OPS[step.op]
        given = [self.value(v, self.projected(v, index)) for v in step.inputs]
        if step.op in SPECIAL:
            return self.special(step, given)
        kind = KINDS[given[-1].dtype]
        out = step.types[0].dtype
        expression = definition.expression(kind)
        if expression is None and step.op == "pow":
            return self.integer_power(*given)
        if expression is None:
            raise ValueError(f"{step.op} is not computed element by element")
        names = dict(zip(definition.inputs, given, strict=True))
        writer = Expression(self.code, names, out, self.target.vector_sine)
        found = writer.final(parse(expression))
        return rounded(self.code, found) if definition.widen else found

    def special(self, step: Step, given: list[Var]) -> Var:
        """A function of float64, rounded to the dtype of the result."""
        name, numbers = call(step.op, step.attributes)
        for function, text in needed(name):
            self.code.function(function, text)
        arguments = ", ".join([*(f"(double){v.text}" for v in given), *map(str, numbers)])
        out = step.types[0].dtype
        text = f"({register_type(out)}){name}({arguments})"
        return rounded(self.code, self.code.named(text, out))

    def integer_power(self, x: Var, y: Var) -> Var:
        """The one elementwise op of integers that is no expression but a loop."""
        c_type = register_type(x.dtype)
        name = f"integer_power_{c_type}"
        self.code.function(name, INTEGER_POWER.format(kind=c_type))
        return self.code.named(f"{name}({x.text}, {y.text})", x.dtype)


Placed = Callable[[Body, int, Step, Index], Var]
PLACED: dict[str, Placed] = {}
"""How ops are computed that are not elementwise, but of which each element is an expression."""
