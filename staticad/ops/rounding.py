"""Rounding to decimal places."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking
from staticad_schema.types import COMPLEX128, FLOAT64, INTEGER, WIDENED

from .. import dimensions, methods
from ..building import build, renamed
from ..operands import Operand, result, tensor
from ..tensor import Tensor

__all__ = ["round"]


def round(x: Operand, /, decimals: int = 0, *, name: str | None = None) -> Tensor:
    """x to the nearest number of so many decimal places, halves to the even one.

    x: numbers.  decimals: if negative, to tens, hundreds, ... before the point.  Returns a tensor
    of the dtype of x.  As of every step the derivative is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.round([0.5, 1.5, -0.7])
    ...     z = sad.round([12.375, -0.125], 2)
    >>> session = sad.Session(graph)
    >>> session.run(y)
    array([ 0.,  2., -1.], dtype=float32)
    >>> session.run(z)
    array([12.38, -0.12], dtype=float32)
    """
    with asking("round", name):
        value = tensor("round", x)
        places = dimensions.integer(decimals)
        if places == 0 or (places > 0 and value.type.kind in INTEGER):
            return result(build("round", (value,), label=name))
        if value.type.kind in INTEGER:
            return result(renamed(_multiple(value, 10**-places), name))
        dtype = value.dtype
        if abs(places) > 30:
            # Such powers are infinite in single precision.
            wide = value.astype(COMPLEX128 if value.type.kind == "complex" else FLOAT64)
        else:
            wide = value.astype(WIDENED.get(dtype, dtype))
        return result(methods.cast(_decimals(wide, places), dtype, name))


def _decimals(x: Tensor, places: int) -> Any:
    power = 10.0 ** min(abs(places), 308)
    scaled = x * power if places > 0 else x / power
    whole = build("round", (scaled,))
    # What is whole already, also because it is too large for more, stays as it is.
    done = build("equal", (whole, scaled))
    fixed = build("stop_gradient", (x,))
    return build("where", (done, fixed, whole / power if places > 0 else whole * power))


def _multiple(x: Tensor, of: int) -> Any:
    """The nearest multiple of a power of ten, of integers."""
    _, limit = methods.limits(x.dtype)
    if of > limit:
        return x * 0
    quotient, rest = x // of, x % of
    # Twice the rest may not fit.
    more = (rest > of - rest) | ((rest == of - rest) & (quotient % 2 == 1))
    return (quotient + more.astype(x.dtype)) * of
