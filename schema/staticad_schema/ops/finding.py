"""Ops with results of a size that only a run knows: it depends on data.

Each finds one size, for which its attribute holds the symbol.  They give positions, so that
values are read by `gather` and `take`, which have derivatives; positions have none.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..errors import ExecutionError, GraphError, ShapeError
from ..op import Operand, RunTimeSize, constant, op
from ..types import INT64, INTEGER, WIDENED, Array, TensorType
from .checks import check_kind


def _no_batch(x: Any, batched: Any) -> NoReturn:
    raise GraphError(
        "each example would have a result of another size",
        asked="mapping over a batch axis",
        expected="results of one size for all examples",
        found=x.describe(),
        hint="where(mask, x, 0) keeps the size, and so does multiplying by the mask",
    )


@op(numpy=lambda x, *, count: np.nonzero(x), grad=constant, batch=_no_batch)
def nonzero(x: Operand, *, count: RunTimeSize) -> tuple[TensorType, ...]:
    """The positions of the elements that are not zero: for each axis a vector, in row-major order.

    `count` is the symbol of how many there are.  NaN is not zero, and -0 is.
    """
    if not x.ndim:
        raise ShapeError(
            "a scalar has no positions", expected="at least one axis", found=str(x),
            hint="reshape it to (1,)",
        )  # fmt: skip
    return (TensorType(INT64, (count,)),) * x.ndim


MOST_POSITIONS = 1 << 48
"""Positions that could be addressed."""


def _repeated_positions(counts: Array, *, total: RunTimeSize) -> Array:
    if counts.size and counts.min() < 0:
        raise ExecutionError(
            "a number of repeats is negative", expected="0 or more", found=str(counts.min())
        )
    # NumPy adds them up without looking for an overflow, and then writes anywhere.
    if counts.sum(dtype=np.float64) > MOST_POSITIONS:
        raise ExecutionError(
            "more repeats than any memory holds",
            expected=f"counts of at most {MOST_POSITIONS} together",
            found=f"{counts.size} counts, the largest {counts.max()}",
        )
    return np.repeat(np.arange(counts.size), counts.astype(np.int64))


@op(numpy=_repeated_positions, grad=constant, batch=_no_batch)
def repeated_positions(counts: Operand, *, total: RunTimeSize) -> TensorType:
    """Each position of a vector as often as its element says, in order.

    `total` is the symbol of the sum of the counts.
    """
    check_kind(INTEGER, counts)
    if counts.ndim != 1:
        raise ShapeError("counts are no vector", expected="one axis", found=str(counts))
    return TensorType(INT64, (total,))


def _unique(x: Array, *, count: RunTimeSize, equal_nan: bool) -> tuple[Array, Array, Array]:
    wide = x.astype(WIDENED.get(x.dtype, x.dtype))
    _, first, inverse, counts = np.unique(
        wide, return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan
    )
    return first, inverse.reshape(x.shape), counts


@op(numpy=_unique, grad=constant, batch=_no_batch)
def unique(x: Operand, *, count: RunTimeSize, equal_nan: bool) -> tuple[TensorType, ...]:
    """The distinct elements, ascending: the first position of each among those of x in row-major
    order; for each element of x which of them it is; how often each occurs.

    `count` is the symbol of how many there are.  -0 and 0 are one element; NaNs come last, as one
    element or as different ones.
    """
    found = TensorType(INT64, (count,))
    return found, TensorType(INT64, x.shape), found
