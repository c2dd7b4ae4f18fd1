"""Elementwise steps to a neighbouring integer or float."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..op import Operand, constant, undefined
from ..types import FLOATING, NUMERIC, REAL, Array, TensorType
from .pointwise import pointwise, same


def _meaning(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The function, on floats only: some releases of NumPy turn integers into floats."""
    return lambda x: np.positive(x) if x.dtype.kind in "iu" else function(x)


def _expr(function: str) -> dict[str, str]:
    return {"float": f"{function}({{x}})", "int": "({x})", "uint": "({x})"}


@pointwise(numpy=_meaning(np.ceil), expr=_expr("ceil"), grad=constant)
def ceil(x: Operand) -> TensorType:
    """The smallest integer that is at least x, in x's dtype."""
    return same(REAL, x)


@pointwise(numpy=_meaning(np.floor), expr=_expr("floor"), grad=constant)
def floor(x: Operand) -> TensorType:
    """The largest integer that is at most x, in x's dtype."""
    return same(REAL, x)


@pointwise(numpy=_meaning(np.trunc), expr=_expr("trunc"), grad=constant)
def trunc(x: Operand) -> TensorType:
    """x without its fraction."""
    return same(REAL, x)


@pointwise(numpy=_meaning(np.rint), expr=_expr("rint"), grad=constant)
def round(x: Operand) -> TensorType:
    """The nearest integer, in x's dtype; the even one of two equally near."""
    return same(NUMERIC, x)


@pointwise(
    numpy=np.nextafter,
    expr="nextafter({x}, {y})",
    grad=undefined("the next float is a property of the number format, not of a real function"),
    # The neighbour in the dtype itself, not in the one that it computes in.
    widen=False,
)
def nextafter(x: Operand, y: Operand) -> TensorType:
    """The float next to x in the direction of y."""
    return same(FLOATING, x, y)
