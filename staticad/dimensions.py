"""Sizes, shapes and axes as callers give them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Dim, Shape, Size
from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.shapes import normalize_axes, normalize_axis
from staticad_schema.sites import asking
from staticad_schema.types import MAX_BYTES

Axis = int | tuple[int, ...] | list[int] | None


def size(value: Any) -> Size:
    """One dimension: an int that is not negative, a name, or a Dim.  Raises GraphError."""
    if isinstance(value, Dim):
        return value
    if isinstance(value, str):
        return dims.symbol(value)
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise UsageError("not a size", expected="an int, a name or a Dim", found=f"{value!r:.80}")
    known = integer(value)
    if known < 0:
        raise ShapeError("a size is negative", expected="0 or more", found=str(value))
    if known > MAX_BYTES:
        raise ShapeError(
            "a size larger than any memory", expected="less than 2**63", found=str(value)
        )
    return known


def ceildiv(a: int | Dim, b: int | Dim) -> int | Dim:
    """a / b, rounding up, of sizes; `a // b` rounds down.  Raises GraphError for what is no size.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.placeholder("float32", ("n",), name="x")
    >>> sad.ceildiv(7, 2), sad.ceildiv(x.shape[0], 2)
    (4, Dim('-floordiv(-n, 2)'))
    """
    with asking("ceildiv"):
        left, right = (n if isinstance(n, Dim) else integer(n) for n in (a, b))
        return dims.ceildiv(left, right)


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
    """An axis or count.  Raises UsageError for what is no integer, ArgumentError for one beyond
    64 bits."""
    try:
        known = operator.index(value)
    except TypeError:
        raise UsageError("not an integer", expected="an int", found=f"{value!r:.80}") from None
    if not -(1 << 63) <= known < 1 << 64:
        # Python refuses to write out what is very long.
        bits = known.bit_length()
        raise ArgumentError(
            "an integer beyond 64 bits",
            expected="from -2**63 to 2**64 - 1",
            found=str(known) if bits <= 256 else f"one of {bits} bits",
        )
    return known


def diagonal_of(k: Any, rows: Size, columns: Size) -> int:
    """The diagonal k of a matrix, counted from the main one up; beyond the corners all are alike.

    Sizes that are not known stay far below 2**62.
    """
    least = -rows if isinstance(rows, int) else -(1 << 62)
    return max(min(integer(k), columns if isinstance(columns, int) else 1 << 62), least)


MOST_LISTED = 1 << 30
"""More numbers than these are not listed in a graph: they would be a constant of gigabytes."""


def listed(count: int) -> int:
    """The count itself, of numbers that are to be listed.  Raises ShapeError if it is too large."""
    if count > MOST_LISTED:
        raise ShapeError(
            "more numbers than are listed in a graph",
            expected=f"{MOST_LISTED} at most",
            found=str(count),
        )
    return count
