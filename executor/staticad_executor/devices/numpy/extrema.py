"""Maxima and minima of rows: an extremum has no rounding, so there is a choice of ways."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.types import Array

# Measured: of rows up to this size a transposed copy is the quickest way.
SHORT_ROW = 32


def extrema(ufunc: Any, size: int, x: Array, out: Array) -> None:
    """The maximum or minimum of each `size` elements, at least one, of a contiguous array, into a
    contiguous one.

    NumPy reduces pieces of a flat array twice as fast as the last axis of an array: in the same
    order, so that of zeros the same one is left.
    """
    starts = np.arange(0, x.size, size)
    ufunc.reduceat(x.reshape(-1), starts, 0, None, out.reshape(-1, copy=False))


def maximum_of_rows(x: Array) -> Array:
    """The maximum along the last axis, not empty, of a contiguous array; the axis stays with
    size 1.  Of zeros of both signs any one is left."""
    size = x.shape[-1]
    if size <= SHORT_ROW:
        turned = np.array(x.reshape(-1, size).T, order="C")
        top: Array = np.maximum.reduce(turned, 0).reshape(*x.shape[:-1], 1)
        return top
    out: Array = np.empty((*x.shape[:-1], 1), x.dtype)
    extrema(np.maximum, size, x, out)
    return out
