"""What rules ask of numbers: constants of one element, also broadcast, and kinds of dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.node import Node
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INTEGER, KINDS, DType

from ..rules import Rewriting


def uniform(r: Rewriting, value: int) -> Any:
    """The one element that a constant, or a broadcast constant, consists of; else None."""
    node = r.producer(value)
    if node.op == "broadcast_to":
        node = r.producer(node.inputs[0])
    if node.op != "constant":
        return None
    array = node.attributes["value"]
    return array.reshape(())[()] if array.size == 1 else None


def is_scalar(element: Any, value: int, negative_zero: bool = False) -> bool:
    """Whether an element is the number `value`, with the given sign if that is zero."""
    if element is None or element != value:
        return False
    return value != 0 or bool(np.signbit(np.float64(element))) == negative_zero


def is_integer(r: Rewriting, value: int) -> bool:
    """Whether a value's dtype is an integer's."""
    return KINDS[r.type(value).dtype] in INTEGER


def constant_like(r: Rewriting, value: int, element: Any, like: Node) -> int:
    """A 0-d constant of a value's dtype."""
    array = np.array(element, r.type(value).dtype)
    array.flags.writeable = False
    return r.add("constant", (), like, value=array)


def split(r: Rewriting, node: Node) -> tuple[int, int] | None:
    """Of two operands the other one and the number, if one is a number."""
    x, y = node.inputs
    if uniform(r, y) is not None:
        return x, y
    return (y, x) if uniform(r, x) is not None else None


def computed(function: np.ufunc, *elements: Any) -> Any:
    """What an op makes of numbers; integers wrap, as in arrays."""
    with np.errstate(all="ignore"):
        return function(*(np.asarray(element).reshape(1) for element in elements))[0]


def is_power_of_two(element: Any) -> bool:
    """Whether a number is finite and plus or minus a power of two."""
    return bool(np.isfinite(element)) and abs(np.frexp(float(element))[0]) == 0.5


def is_float(r: Rewriting, value: int) -> bool:
    """Whether a value's dtype is that of real floats."""
    return KINDS[r.type(value).dtype] == "float"


def is_complex(r: Rewriting, value: int) -> bool:
    """Whether a value's dtype is that of complex numbers."""
    return KINDS[r.type(value).dtype] == "complex"


# The bits of a float's significand.
_DIGITS: dict[DType, int] = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}


def keeps_values(narrow: DType, wide: DType) -> bool:
    """Whether every value of a dtype is one of another."""
    before, after = KINDS[narrow], KINDS[wide]
    if before == "bool":
        return True
    if after == "float":
        if before == "float":
            return wide == FLOAT64 or (wide == FLOAT32 and narrow != FLOAT64)
        digits = 8 * narrow.itemsize - (before == "int")
        return wide != FLOAT16 and before in INTEGER and digits <= _DIGITS[wide]
    wider = before in INTEGER and wide.itemsize > narrow.itemsize
    return wider and (after == before or (before, after) == ("uint", "int"))
