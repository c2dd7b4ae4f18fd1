"""Sums at positions: rows added to the rows of a table, as the gradient of an embedding does."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_schema.ops.index import row_numbers
from staticad_schema.types import Array, TensorType

Function = Callable[..., None]

WORTHWHILE = 1 << 16
"""Updates of fewer elements do not earn back the time in which SciPy is imported."""


def scatter_add(attributes: Mapping[str, Any], operands: Sequence[TensorType]) -> Function | None:
    """x with updates added at positions; None where nothing is faster than the op's meaning.

    A matrix with a 1 a column, at the row that the update goes to, times the updates: the columns
    in order, so that the bits are those of adding one by one, ten times as fast.  SciPy has this
    product without a table of zeros to begin with only in its inner module.
    """
    axes = attributes["axes"]
    shape = tuple(int(s) for s in operands[0].shape)
    width = math.prod(size for a, size in enumerate(shape) if a not in axes)
    count = math.prod(shape[a] for a in axes)
    enough = width > 1 and math.prod(map(int, operands[1].shape)) >= WORTHWHILE
    if not enough or operands[0].dtype.kind not in "iufc":
        return None
    try:
        from scipy.sparse._sparsetools import csc_matvecs
    except ImportError:
        return None
    leading = axes == tuple(range(len(axes)))
    # A product of complex numbers would spoil infinite ones: their parts are added.
    parts = 2 if operands[0].dtype.kind == "c" else 1
    real = operands[0].dtype.type(0).real.dtype
    front = range(len(axes))

    def run(x: Array, updates: Array, *more: Array) -> None:
        *indices, out = more
        rows = row_numbers(shape, indices, axes)
        if leading:
            np.copyto(out, x)
            table = out
        else:
            table = np.array(np.moveaxis(x, axes, front), order="C")
        if rows.size:
            csc_matvecs(
                count,
                rows.size,
                width * parts,
                np.arange(rows.size + 1),
                rows,
                np.ones(rows.size, real),
                np.ascontiguousarray(updates).view(real).reshape(-1),
                table.reshape(-1).view(real),
            )
        if not leading:
            np.copyto(np.moveaxis(out, axes, front), table)

    return run
