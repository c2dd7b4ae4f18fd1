"""Elementwise choices between operands.

Their cotangents are chosen too, not multiplied: what is not taken contributes a plain 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DTypeError
from ..op import Operand, each
from ..shapes import broadcast_shapes
from ..types import ANY, BOOL, REAL, Array, TensorType
from .arithmetic import multiply
from .comparison import equal, greater, less, less_equal, logical_and
from .pointwise import pointwise, same, select


@pointwise(
    numpy=np.where,
    expr="({condition} ? {x} : {y})",
    grad=each(
        None,
        lambda condition, x, y, out, g: select(condition, g),
        lambda condition, x, y, out, g: select(condition, g.coerce(0.0), g),
    ),
    widen=False,
)
def where(condition: Operand, x: Operand, y: Operand) -> TensorType:
    """x where the condition, a bool, is true, else y."""
    if condition.dtype != BOOL:
        raise DTypeError("a condition that is no bool", expected="bool", found=str(condition))
    result = same(ANY, x, y)
    if condition.shape == result.shape:
        return result
    return result.with_shape(broadcast_shapes([condition.shape, result.shape]))


def _chosen(chosen: Any, x: Any, y: Any, g: Any) -> Any:
    """The cotangent of x: all of g where it was chosen, half of it in a tie."""
    return select(chosen, g, select(equal(x, y), multiply(g, 0.5)))


# In a tie (0 and -0) NumPy gives the second operand, and so does C here.
MAXIMUM = "({x} != {x} || {x} > {y} ? {x} : {y})"
MINIMUM = "({x} != {x} || {x} < {y} ? {x} : {y})"


@pointwise(
    numpy=np.maximum,
    expr=MAXIMUM,
    grad=each(
        lambda x, y, out, g: _chosen(greater(x, y), x, y, g),
        lambda x, y, out, g: _chosen(greater(y, x), x, y, g),
    ),
)
def maximum(x: Operand, y: Operand) -> TensorType:
    """The larger of x and y, or NaN if either is; in a tie each has half the derivative."""
    return same(REAL, x, y)


@pointwise(
    numpy=np.minimum,
    expr=MINIMUM,
    grad=each(
        lambda x, y, out, g: _chosen(less(x, y), x, y, g),
        lambda x, y, out, g: _chosen(less(y, x), x, y, g),
    ),
)
def minimum(x: Operand, y: Operand) -> TensorType:
    """The smaller of x and y, or NaN if either is; in a tie each has half the derivative."""
    return same(REAL, x, y)


def _clip(x: Array, min: Array, max: Array) -> Array:
    result: Array = np.minimum(np.maximum(x, min), max)
    return result


def _inside(x: Any, min: Any, max: Any) -> Any:
    return logical_and(less_equal(min, x), less_equal(x, max))


@pointwise(
    numpy=_clip,
    expr=MINIMUM.format(x=MAXIMUM.format(x="{x}", y="{min}"), y="{max}"),
    grad=each(
        lambda x, min, max, out, g: select(_inside(x, min, max), g),
        lambda x, min, max, out, g: select(logical_and(less(x, min), less_equal(min, max)), g),
        lambda x, min, max, out, g: select(less(max, maximum(x, min)), g),
    ),
)
def clip(x: Operand, min: Operand, max: Operand) -> TensorType:
    """x, raised to min and then lowered to max.  The derivative at a bound is that of x."""
    return same(REAL, x, min, max)
