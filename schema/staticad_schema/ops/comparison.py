"""Elementwise questions: their answers are bools, and carry no derivative."""

from __future__ import annotations

import numpy as np

from ..op import Operand, constant
from ..types import ANY, FLOATING, NUMERIC, REAL, TensorType
from .pointwise import pointwise, same, truth

_BOOL = frozenset({"bool"})


@pointwise(numpy=np.equal, expr="({x} == {y})", grad=constant)
def equal(x: Operand, y: Operand) -> TensorType:
    """Whether x and y are equal; NaN equals nothing."""
    return truth(ANY, x, y)


@pointwise(numpy=np.not_equal, expr="({x} != {y})", grad=constant)
def not_equal(x: Operand, y: Operand) -> TensorType:
    """Whether x and y differ; NaN differs from everything."""
    return truth(ANY, x, y)


@pointwise(numpy=np.less, expr="({x} < {y})", grad=constant)
def less(x: Operand, y: Operand) -> TensorType:
    """Whether x < y."""
    return truth(REAL, x, y)


@pointwise(numpy=np.less_equal, expr="({x} <= {y})", grad=constant)
def less_equal(x: Operand, y: Operand) -> TensorType:
    """Whether x <= y."""
    return truth(REAL, x, y)


@pointwise(numpy=np.greater, expr="({x} > {y})", grad=constant)
def greater(x: Operand, y: Operand) -> TensorType:
    """Whether x > y."""
    return truth(REAL, x, y)


@pointwise(numpy=np.greater_equal, expr="({x} >= {y})", grad=constant)
def greater_equal(x: Operand, y: Operand) -> TensorType:
    """Whether x >= y."""
    return truth(REAL, x, y)


@pointwise(numpy=np.isnan, expr="({x} != {x})", grad=constant)
def isnan(x: Operand) -> TensorType:
    """Whether each element is not a number."""
    return truth(NUMERIC, x)


@pointwise(numpy=np.isinf, expr="({x} == {x} && {x} - {x} != 0)", grad=constant)
def isinf(x: Operand) -> TensorType:
    """Whether each element is infinite, of either sign."""
    return truth(NUMERIC, x)


@pointwise(numpy=np.isfinite, expr="({x} - {x} == 0)", grad=constant)
def isfinite(x: Operand) -> TensorType:
    """Whether each element is neither infinite nor NaN."""
    return truth(NUMERIC, x)


@pointwise(numpy=np.signbit, expr="(signbit({x}) != 0)", grad=constant)
def signbit(x: Operand) -> TensorType:
    """Whether the sign bit is set, also that of -0 and NaN."""
    return truth(FLOATING, x)


@pointwise(numpy=np.logical_and, expr="({x} && {y})", grad=constant)
def logical_and(x: Operand, y: Operand) -> TensorType:
    """x and y, of bools."""
    return same(_BOOL, x, y)


@pointwise(numpy=np.logical_or, expr="({x} || {y})", grad=constant)
def logical_or(x: Operand, y: Operand) -> TensorType:
    """x or y, of bools."""
    return same(_BOOL, x, y)


@pointwise(numpy=np.logical_xor, expr="({x} != {y})", grad=constant)
def logical_xor(x: Operand, y: Operand) -> TensorType:
    """x or y but not both, of bools."""
    return same(_BOOL, x, y)


@pointwise(numpy=np.logical_not, expr="(!{x})", grad=constant)
def logical_not(x: Operand) -> TensorType:
    """Not x, of bools."""
    return same(_BOOL, x)
