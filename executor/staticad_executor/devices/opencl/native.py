"""Which ops run as generated kernels, for which dtypes; everything else runs elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT64, KINDS, WIDENED, TensorType

from .body import PLACED, RENAMED
from .combine import REDUCTIONS
from .decompose import DECOMPOSED
from .scans import SCANS
from .target import Target


def native(
    op: str,
    attributes: Mapping[str, Any],
    inputs: Sequence[TensorType],
    outputs: Sequence[TensorType],
    target: Target,
) -> bool:
    """Whether a step of a region can be that op on operands of these types."""
    return why_not(op, attributes, inputs, outputs, target) is None


def why_not(
    op: str,
    attributes: Mapping[str, Any],
    inputs: Sequence[TensorType],
    outputs: Sequence[TensorType],
    target: Target,
) -> str | None:
    """Why an op is no step of a region; None if it is."""
    for type_ in (*inputs, *outputs):
        if not target.holds(type_.dtype):
            return f"the device does not compute with {type_.dtype.name}"
    if op == "cast":
        # By way of float32 it would be rounded twice.
        twice = inputs[0].dtype == FLOAT64 and outputs[0].dtype in (FLOAT16, BFLOAT16)
        return "float64 to a half float is rounded once" if twice else None
    definition = OPS[op]
    if op in RENAMED or op in PLACED or op in REDUCTIONS:
        return None
    if op in DECOMPOSED or op in SCANS:
        return None
    if not definition.elementwise:
        return "it is not elementwise"
    kind = KINDS[inputs[-1].dtype]
    if definition.expression(kind) is None and op != "pow":
        return f"it has no expression for {kind}"
    if op == "nextafter" and inputs[0].dtype in WIDENED:
        return "the neighbour of a half float is not that of a float32"
    return None
