"""A decorator for functions whose meaning is computed in float64, whatever float they are asked in.

They are no data for C-like devices: their series, fractions and quadratures run on NumPy, most of
them SciPy's.  A derivative is given, as in `pointwise`, as what the cotangent is multiplied by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..op import Constant, Op, PerOperand, Types, op
from ..types import Array
from .pointwise import pushed, scaled, total

# `(operands..., out, **attributes) -> d`, a handle or 1; None: the derivative is 0 everywhere.
Slope = Callable[..., Any] | None


def in_double(
    numpy: Callable[..., Array], d: Slope | tuple[Slope, ...] | Constant
) -> Callable[[Callable[..., Types]], Op]:
    """Define a function of broadcast floats by its meaning in float64 and its derivatives `d`, one
    an operand, which know the attributes too; or `constant`."""

    def meaning(*arrays: Array, **attributes: Any) -> Array:
        wide = [np.asarray(a, np.float64, order="C") for a in arrays]
        found: Array = np.asarray(numpy(*wide, **attributes)).astype(arrays[0].dtype)
        return found

    if isinstance(d, Constant):
        return op(numpy=meaning, grad=d, batch="elementwise", widen=True)
    slopes = d if isinstance(d, tuple) else (d,)
    return op(
        numpy=meaning,
        grad=PerOperand(*map(_rule, slopes)),
        jvp=_tangent(slopes),
        batch="elementwise",
        widen=True,
    )


def _rule(slope: Slope) -> Callable[..., Any] | None:
    if slope is None:
        return None

    def rule(*args: Any, **attributes: Any) -> Any:
        *operands, out, g = args
        return scaled(slope(*operands, out, **attributes), g)

    return rule


def _tangent(slopes: tuple[Slope, ...]) -> Callable[..., Any]:
    def rule(*args: Any, **attributes: Any) -> Any:
        *operands, out, tangents = args
        return total(
            [
                None
                if t is None or slope is None
                else pushed(slope(*operands, out, **attributes), t)
                for slope, t in zip(slopes, tangents, strict=True)
            ]
        )

    return rule


def check_order(order: int, limit: int, least: int = 0) -> None:
    """Raises ArgumentError for an order outside of the range."""
    if not least <= order <= limit:
        raise ArgumentError("not an order", expected=f"{least} to {limit}", found=str(order))
