"""Trees of expressions, and conversions, as typed code over scalars and vectors.

C's own rules are not relied on: integers wrap (in C an overflow of signed ones is undefined), a
division by 0 is not executed where another side of a choice is taken, and numbers have the type of
what they meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from staticad_schema.types import BOOL, FLOAT16, FLOAT32, FLOAT64, KINDS, UINT32, UINT64, DType

from .code import Code, Var
from .functions import NEXT, ROUND_BFLOAT, ROUND_HALF, SINE, TO_ODD
from .parse import Tree
from .scalars import (
    computed,
    is_half,
    literal,
    mask_type,
    register_type,
    unsigned_type,
    vector,
)

_COMPARE = frozenset({"==", "!=", "<", "<=", ">", ">="})


class Number(NamedTuple):
    """A number that has the type of what it meets."""

    value: float


Value = Var | Number


def spread(var: Var, lanes: int) -> str:
    """The text of a value as a vector of so many lanes."""
    if var.lanes == lanes:
        return var.text
    kind = register_type(var.dtype, lanes)
    return f"({kind})(-{var.text})" if var.dtype == BOOL else f"({kind})({var.text})"


def constant(value: Any, dtype: DType) -> Var:
    """A number of a dtype."""
    return Var(literal(value, dtype), dtype)


def mask_for(var: Var, dtype: DType, lanes: int) -> str:
    """A bool as the mask that selects between vectors of a dtype."""
    text, wanted = spread(var, lanes), mask_type(dtype, lanes)
    return text if wanted == vector("int", lanes) else f"convert_{wanted}({text})"


def choose(code: Code, condition: Var, x: Var, y: Var) -> Var:
    """x where the condition holds, else y; both of one dtype."""
    lanes = max(condition.lanes, x.lanes, y.lanes)
    a, b = spread(x, lanes), spread(y, lanes)
    if condition.lanes == 1:
        return code.named(f"{condition.text} ? {a} : {b}", x.dtype, lanes)
    mask = mask_for(condition, x.dtype, lanes)
    return code.named(f"select({b}, {a}, {mask})", x.dtype, lanes)


def compare(operator: str, x: Var, y: Var) -> Var:
    """A bool: what the comparison of two values of one dtype says."""
    lanes = max(x.lanes, y.lanes)
    text = f"({spread(x, lanes)} {operator} {spread(y, lanes)})"
    if lanes > 1 and mask_type(x.dtype, lanes) != vector("int", lanes):
        text = f"convert_int{lanes}{text}"
    return Var(text, BOOL, lanes)


def both(operator: str, x: Var, y: Var) -> Var:
    """x and y (&), or x or y (|), of bools."""
    lanes = max(x.lanes, y.lanes)
    return Var(f"({spread(x, lanes)} {operator} {spread(y, lanes)})", BOOL, lanes)


def arithmetic(operator: str, x: Var, y: Var) -> Var:
    """+, - or * of two numbers of one dtype."""
    lanes = max(x.lanes, y.lanes)
    dtype = x.dtype
    a, b = spread(x, lanes), spread(y, lanes)
    if KINDS[dtype] == "float":
        return Var(f"({a} {operator} {b})", dtype, lanes)
    whole, natural = register_type(dtype, lanes), unsigned_type(dtype, lanes)
    if lanes == 1:
        return Var(f"({whole})(({natural}){a} {operator} ({natural}){b})", dtype)
    if whole == natural:
        return Var(f"({a} {operator} {b})", dtype, lanes)
    return Var(f"as_{whole}(as_{natural}({a}) {operator} as_{natural}({b}))", dtype, lanes)


def rounded(code: Code, var: Var) -> Var:
    """The value as its dtype can hold it, if that is a half float."""
    if not is_half(var.dtype):
        return var
    text, stem = (ROUND_HALF, "to_half") if var.dtype == FLOAT16 else (ROUND_BFLOAT, "to_bfloat")
    name = with_lanes(code, stem, text, var.lanes)
    return code.named(f"{name}({var.text})", var.dtype, var.lanes)


def with_lanes(code: Code, stem: str, text: str, lanes: int) -> str:
    """The name of a function that is written for any number of lanes."""
    suffix = str(lanes) if lanes > 1 else ""
    body = text.replace("@", suffix)
    # A condition of a vector holds if it does in one lane.
    body = body.replace("ANY(", "any(" if lanes > 1 else "(")
    return code.function(f"{stem}{suffix}", body)


def cast(code: Code, x: Var, dtype: DType) -> Var:
    """x in another dtype, as NumPy converts where that is defined."""
    lanes = x.lanes
    if dtype == x.dtype:
        return x
    if dtype == BOOL:
        zero = constant(0, x.dtype)
        return compare("!=", x, zero)
    kind = register_type(dtype, lanes)
    if x.dtype == BOOL:
        if lanes == 1:
            return code.named(f"({kind}){x.text}", dtype)
        # A choice, not a conversion of the mask: oclgrind's arithmetic on bits of masks is wrong.
        return choose(code, x, constant(1, dtype), constant(0, dtype))
    if computed(dtype) == computed(x.dtype):
        return rounded(code, Var(x.text, dtype, lanes))
    if x.dtype == FLOAT64 and dtype == FLOAT16:
        odd = with_lanes(code, "to_odd", TO_ODD, lanes)
        return rounded(code, code.named(f"{odd}({x.text})", dtype, lanes))
    text = x.text
    if KINDS[x.dtype] == "float" and KINDS[dtype] in ("int", "uint"):
        if dtype == UINT64:
            # Below zero it wraps, as the integer of the same bits.
            signed = converted(text, "long", lanes)
            below = compare("<", x, constant(0, x.dtype))
            natural = code.named(converted(text, "ulong", lanes), dtype, lanes)
            wrapped = code.named(converted(signed, "ulong", lanes), dtype, lanes)
            return choose(code, below, wrapped, natural)
        if dtype.itemsize < 4:
            text = converted(text, "int", lanes)
        elif dtype == UINT32:
            text = converted(text, "long", lanes)
    text = f"({kind})({text})" if lanes == 1 else f"convert_{kind}({text})"
    return rounded(code, code.named(text, dtype, lanes))


def converted(text: str, kind: str, lanes: int) -> str:
    """The text of a conversion to a C type."""
    return f"({kind})({text})" if lanes == 1 else f"convert_{vector(kind, lanes)}({text})"


class Expression:
    """One expression over named values."""

    def __init__(
        self, code: Code, names: Mapping[str, Var], result: DType, vector_sine: bool
    ) -> None:
        self.code = code
        self.names = names
        self.result = result
        self.vector_sine = vector_sine
        self.done: dict[Tree, Value] = {}

    def value(self, tree: Tree) -> Value:
        """The value of a tree, computed once."""
        if tree not in self.done:
            self.done[tree] = self._value(tree)
        return self.done[tree]

    def _value(self, tree: Tree) -> Value:
        kind, *parts = tree
        if kind == "name":
            return self.names[parts[0]]
        if kind == "number":
            return Number(float(parts[0]) if "." in parts[0] else int(parts[0]))
        if kind == "size":
            operand = self.value(parts[0])
            assert isinstance(operand, Var)
            return Number(operand.dtype.itemsize)
        if kind == "call":
            return self.call(parts[0], [self.value(p) for p in parts[1:]])
        if kind == "?:":
            return self.choice(*parts)
        if kind in ("neg", "!", "~"):
            return self.unary(kind, self.value(parts[0]))
        return self.binary(kind, self.value(parts[0]), self.value(parts[1]))

    def final(self, tree: Tree) -> Var:
        """The value of the whole in the dtype of the result."""
        value = self.value(tree)
        if isinstance(value, Number):
            return constant(value.value, self.result)
        if value.dtype == BOOL != self.result:
            value = cast(self.code, value, self.result)
        return self.code.named(value.text, self.result, value.lanes)

    def typed(self, *values: Value) -> list[Var]:
        """All of one dtype: that of those that have one, numbers and bools among numbers too."""
        dtypes = [v.dtype for v in values if isinstance(v, Var)]
        numeric = [d for d in dtypes if d != BOOL]
        dtype = (numeric or dtypes or [self.result])[0]
        found = []
        for v in values:
            if isinstance(v, Number):
                found.append(constant(v.value, dtype))
            else:
                found.append(cast(self.code, v, dtype) if v.dtype == BOOL != dtype else v)
        return found

    def choice(self, condition: Tree, chosen: Tree, other: Tree) -> Var:
        test = self.value(condition)
        assert isinstance(test, Var)
        x, y = self.typed(self.value(chosen), self.value(other))
        return choose(self.code, test, x, y)

    def unary(self, operator: str, value: Value) -> Value:
        if isinstance(value, Number):
            return Number(-value.value)
        lanes = value.lanes
        if operator == "!" or (operator == "~" and value.dtype == BOOL):
            return Var(f"({'!' if lanes == 1 else '~'}{value.text})", BOOL, lanes)
        if operator == "~":
            cast_ = f"({register_type(value.dtype)})" if lanes == 1 else ""
            return Var(f"({cast_}~{value.text})", value.dtype, lanes)
        if KINDS[value.dtype] == "float":
            return Var(f"(-{value.text})", value.dtype, lanes)
        return arithmetic("-", constant(0, value.dtype), value)

    def binary(self, operator: str, a: Value, b: Value) -> Value:
        if isinstance(a, Number) and isinstance(b, Number):
            return Number(_FOLD[operator](a.value, b.value))
        if isinstance(a, Var) and a.dtype == BOOL and b == Number(0) and operator == "!=":
            return a
        x, y = self.typed(a, b)
        lanes = max(x.lanes, y.lanes)
        if operator in _COMPARE:
            return compare(operator, x, y)
        if operator in ("&&", "||"):
            return both(operator[0], x, y)
        if operator in "+-*":
            return arithmetic(operator, x, y)
        left, right = spread(x, lanes), spread(y, lanes)
        if operator in ("/", "%") and KINDS[x.dtype] != "float":
            # Both sides of a choice are computed, so what is divided by must never be wrong.
            y = self.divisor(y)
            right = spread(y, lanes)
        if operator == "<<":
            return self.left_shift(x, y, lanes)
        text = f"({left} {operator} {right})"
        if lanes == 1 and KINDS[x.dtype] != "float" and x.dtype != BOOL:
            text = f"(({register_type(x.dtype)}){text})"
        # Divisions cost: they get a name, so that equal ones are computed once.
        if operator in ("/", "%"):
            return self.code.named(text, x.dtype, lanes)
        return Var(text, x.dtype, lanes)

    def divisor(self, y: Var) -> Var:
        zero = compare("==", y, constant(0, y.dtype))
        if KINDS[y.dtype] == "int":
            zero = both("|", zero, compare("==", y, constant(-1, y.dtype)))
        return choose(self.code, zero, constant(1, y.dtype), y)

    def left_shift(self, x: Var, y: Var, lanes: int) -> Var:
        whole, natural = register_type(x.dtype, lanes), unsigned_type(x.dtype, lanes)
        a, b = spread(x, lanes), spread(y, lanes)
        if lanes == 1:
            # C's shift of an int by more than its width takes the count modulo the width.
            return Var(f"(({whole})(({natural}){a} << ({natural}){b}))", x.dtype)
        return Var(f"as_{whole}(as_{natural}({a}) << as_{natural}({b}))", x.dtype, lanes)

    def call(self, name: str, arguments: list[Value]) -> Var:
        values = self.typed(*arguments)
        lanes = max(v.lanes for v in values)
        dtype = values[0].dtype
        texts = [spread(v, lanes) for v in values]
        if name == "signbit":
            bits = f"(as_{mask_type(dtype, lanes)}({texts[0]}) < 0)"
            narrow = lanes > 1 and computed(dtype).itemsize == 8
            return Var(f"convert_int{lanes}{bits}" if narrow else bits, BOOL, lanes)
        if name == "nextafter" and is_half(dtype):
            name = with_lanes(self.code, f"next_{dtype.name}", NEXT[dtype.name], lanes)
        if name in SINE and computed(dtype) == FLOAT32 and self.vector_sine:
            name = with_lanes(self.code, f"vector_{name}", SINE[name], lanes)
        return self.code.named(f"{name}({', '.join(texts)})", dtype, lanes)


_FOLD: dict[str, Callable[[float, float], float]] = {
    "*": lambda a, b: a * b, "+": lambda a, b: a + b, "-": lambda a, b: a - b,
}  # fmt: skip
