"""Sizes, shapes and axes as callers give them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Dim, Shape, Size
from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.shapes import normalize_axes, normalize_axis

Axis = int | tuple[int, ...] | list[int] | None


def size(value: Any) -> Size:
    """One dimension: an int that is not negative, a name, or a Dim.  Raises GraphError."""
    if isinstance(value, Dim):
        return value
    if isinstance(value, str):
        return dims.symbol(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise UsageError("not a size", expected="an int, a name or a Dim", found=f"{value!r:.80}")
    if value < 0:
        raise ShapeError("a size is negative", expected="0 or more", found=str(value))
    return int(value)


def shape_of(shape: Any) -> Shape:
    """A shape given as one size or several.  Raises GraphError."""
    if isinstance(shape, tuple | list):
        return tuple(map(size, shape))
    if not isinstance(shape, int | np.integer | str | Dim):
        raise UsageError(
            "not a shape",
            expected="a size, or a tuple of sizes: ints, names or Dims",
            found=f"{shape!r:.80}, a {type(shape).__name__}",
        )
    return (size(shape),)


def axis_of(axis: Any, ndim: int) -> int:
    """One axis, counted from the front.  Raises GraphError."""
    return normalize_axis(integer(axis), ndim)


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """Axes given as None, an int or several ints, ascending from the front.  Raises GraphError."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    return normalize_axes(tuple(map(integer, given)), ndim)


def integer(value: Any) -> int:
    """An axis or count.  Raises UsageError for what is no integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError("not an integer", expected="an int", found=f"{value!r:.80}") from None
