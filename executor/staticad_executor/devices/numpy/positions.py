"""Kernels of reading and adding at positions: the rows of an embedding, and their gradient."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_schema.ops.index import in_range, row_numbers
from staticad_schema.types import Array, TensorType

Function = Callable[..., None]

WORTHWHILE = 1 << 16
"""Updates of fewer elements do not earn back the time in which SciPy is imported."""


def take(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function:
    """The op's meaning, without a copy of its result."""
    axis = attributes["axis"]
    size = int(operands[0].shape[axis])

    def run(x: Array, indices: Array, out: Array) -> None:
        # In range already; NumPy checks them again in every mode but this one's.
        np.take(x, in_range(indices, size, axis), axis, out, "clip")

    return run


def gather(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function | None:
    """The op's meaning, without a copy of its result, where the first axes are indexed."""
    axes = attributes["axes"]
    if axes != tuple(range(len(axes))):
        return None
    shape = tuple(int(s) for s in operands[0].shape)
    rest = shape[len(axes) :]

    def run(x: Array, *more: Array) -> None:
        *indices, out = more
        rows = row_numbers(shape, indices, axes)
        np.take(x.reshape(-1, *rest), rows, 0, out.reshape(len(rows), *rest), "clip")

    return run if math.prod(shape) else None


def scatter_add(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function | None:
    """x with updates added at positions; None where nothing is faster than the op's meaning.

    What is touched, beside the updates: a matrix with a 1 a column, at the row that the column's
    operand goes to, times both, is ten times as fast.  The columns are in order, so that the bits
    are those of adding one by one, except of -0, which is no sum that begins with 0.
    """
    axes = attributes["axes"]
    shape = tuple(int(s) for s in operands[0].shape)
    width = math.prod(size for a, size in enumerate(shape) if a not in axes)
    enough = width > 1 and math.prod(map(int, operands[1].shape)) >= WORTHWHILE
    if not enough or operands[0].dtype.kind not in "iufc":
        return None
    from scipy.sparse import csc_array

    leading = axes == tuple(range(len(axes)))
    # A product of complex numbers would spoil infinite ones: their parts are added.
    parts = 2 if operands[0].dtype.kind == "c" else 1
    real = operands[0].dtype.type(0).real.dtype
    front = range(len(axes))

    def add(table: Array, rows: Array, updates: Array) -> None:
        touched, places = np.unique(rows, return_inverse=True)
        before = table[touched]
        if real.kind == "f" and np.any(np.signbit(before) & (before == 0)):
            np.add.at(table, rows, updates)
            return
        count = len(touched)
        columns = count + len(rows)
        ones = np.ones(columns, real)
        at = np.concatenate([np.arange(count), places])
        matrix = csc_array((ones, at, np.arange(columns + 1)), shape=(count, columns))
        table[touched] = matrix @ np.concatenate([before, updates])

    def run(x: Array, updates: Array, *more: Array) -> None:
        *indices, out = more
        rows = row_numbers(shape, indices, axes)
        if leading:
            np.copyto(out, x)
            table = out
        else:
            table = np.array(np.moveaxis(x, axes, front), order="C")
        if rows.size:
            given = np.ascontiguousarray(updates).view(real).reshape(-1, width * parts)
            add(table.view(real).reshape(-1, width * parts), rows, given)
        if not leading:
            np.copyto(np.moveaxis(out, axes, front), table)

    return run
