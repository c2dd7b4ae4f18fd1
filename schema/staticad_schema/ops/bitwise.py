"""Elementwise ops on the bits of integers and bools."""

from __future__ import annotations

import numpy as np

from ..op import Operand, constant
from ..types import INTEGER, TensorType
from .pointwise import pointwise, same

_BITS = INTEGER | {"bool"}


@pointwise(numpy=np.bitwise_and, expr="({x} & {y})", grad=constant)
def bitwise_and(x: Operand, y: Operand) -> TensorType:
    """The bits set in both x and y."""
    return same(_BITS, x, y)


@pointwise(numpy=np.bitwise_or, expr="({x} | {y})", grad=constant)
def bitwise_or(x: Operand, y: Operand) -> TensorType:
    """The bits set in x or y."""
    return same(_BITS, x, y)


@pointwise(numpy=np.bitwise_xor, expr="({x} ^ {y})", grad=constant)
def bitwise_xor(x: Operand, y: Operand) -> TensorType:
    """The bits set in exactly one of x and y."""
    return same(_BITS, x, y)


@pointwise(
    numpy=np.invert,
    expr={"bool": "(!{x})", "int": "(~{x})", "uint": "(~{x})"},
    grad=constant,
)
def bitwise_invert(x: Operand) -> TensorType:
    """All bits flipped; of a bool, not x."""
    return same(_BITS, x)


# In C a shift by the width of the type, or by a negative number, is undefined.
_WITHIN = "{y} >= 0 && {y} < 8 * (int)sizeof({x})"


@pointwise(
    numpy=np.left_shift,
    expr={
        "int": f"({_WITHIN} ? {{x}} << {{y}} : 0)",
        "uint": "({y} < 8 * sizeof({x}) ? {x} << {y} : 0)",
    },
    grad=constant,
)
def bitwise_left_shift(x: Operand, y: Operand) -> TensorType:
    """x shifted left by y bits; 0 where y is negative or at least the width of the dtype."""
    return same(INTEGER, x, y)


@pointwise(
    numpy=np.right_shift,
    expr={
        "int": f"({_WITHIN} ? {{x}} >> {{y}} : {{x}} < 0 ? -1 : 0)",
        "uint": "({y} < 8 * sizeof({x}) ? {x} >> {y} : 0)",
    },
    grad=constant,
)
def bitwise_right_shift(x: Operand, y: Operand) -> TensorType:
    """x shifted right by y bits, keeping the sign; all sign where y is negative or at least
    the width of the dtype."""
    return same(INTEGER, x, y)
