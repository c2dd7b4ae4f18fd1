"""The meaning of one op, applied to arrays.

This is what every device is tested against, and what folding, interpretation and checking
compute with.  It knows no graph and no plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .errors import ExecutionError
from .op import Op
from .types import WIDENED, Array, TensorType


def evaluate(
    definition: Op,
    arrays: Sequence[Array],
    attributes: Mapping[str, Any],
    types: Sequence[TensorType],
) -> tuple[Array, ...]:
    """The outputs of an op whose symbolic sizes are bound.

    arrays: one an operand.  types: the inferred types of the outputs; only their dtypes are
    used.  Half floats compute in float32 and are rounded once, if the op asks for that.
    Floating-point exceptions are values, not warnings.  An output may share its memory with an
    operand of an op that is pure; others are contiguous, so that the layout of values, which
    decides on the order of sums in products, is that of plans.  Raises ExecutionError for an op
    that has no meaning of its own.
    """
    if definition.numpy is None:
        raise ExecutionError(
            f"{definition.name} cannot be evaluated by itself",
            expected="an op that is a function of its operands",
            found=definition.name,
        )
    if definition.elementwise or definition.widen:
        # NumPy's loops may round differently when they walk backwards through memory.
        arrays = [a if min(a.strides, default=0) >= 0 else a.copy(order="C") for a in arrays]
    if definition.widen:
        arrays = [a.astype(WIDENED[a.dtype]) if a.dtype in WIDENED else a for a in arrays]
    with np.errstate(all="ignore"):
        result = definition.numpy(*arrays, **attributes)
        results = result if isinstance(result, tuple) else (result,)
        found = [
            np.asarray(r).astype(t.dtype, copy=False) for r, t in zip(results, types, strict=True)
        ]
    pure = definition.effect == "pure"
    return tuple(
        r
        if r.flags.c_contiguous or (pure and any(np.may_share_memory(r, a) for a in arrays))
        else r.copy(order="C")
        for r in found
    )
