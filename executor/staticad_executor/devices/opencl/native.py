"""Which ops run as generated kernels, for which dtypes; everything else runs elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.op import OPS
from staticad_schema.types import KINDS, TensorType

from .body import PLACED, RENAMED
from .combine import REDUCTIONS
from .decompose import DECOMPOSED, PASSED
from .expansions import NUMBER, expands, expansion
from .heavy import HEAVY
from .scans import SCANS
from .special.library import SPECIAL, why_not_special
from .target import Target

_LINEAR, _TRANSFORM = "linear algebra runs on NumPy", "Fourier transforms run on NumPy"
_ELSEWHERE = {
    **dict.fromkeys(
        (
            "cholesky", "commutators", "determinant", "lu", "matrix_functions", "orthogonal",
            "singular", "solving", "spectral", "triangular",
        ),
        _LINEAR,
    ),
    **dict.fromkeys(("cosine", "fourier"), _TRANSFORM),
    "finding": "the run finds the size of its result",
    "quantiles": "quantiles of counts are searched for on NumPy",
    "control": "it computes nothing",
    "sources": "it computes nothing",
    "state": "it computes nothing",
}  # fmt: skip
"""Why ops of a family run elsewhere."""


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
    if op in RENAMED or op in PASSED or op in PLACED or op in REDUCTIONS:
        return None
    if op in DECOMPOSED or op in SCANS or op in HEAVY:
        return None
    definition = OPS[op]
    if expands(op):
        return _within(op, attributes, inputs, target)
    if op in SPECIAL:
        return why_not_special(op, attributes) if target.fp64 else "it is computed in float64"
    if not definition.elementwise:
        expanded = definition.expand is not None
        otherwise = "it is expanded into other ops" if expanded else "it has no kernel"
        return _ELSEWHERE.get(definition.family, otherwise)
    kind = KINDS[inputs[-1].dtype]
    if definition.expression(kind) is None and op != "pow":
        return f"it has no expression for {kind}"
    return None


def _within(
    op: str, attributes: Mapping[str, Any], inputs: Sequence[TensorType], target: Target
) -> str | None:
    """Why one of the steps in which an op is written is no step of a region."""
    made = expansion(op, attributes, inputs)
    types = list(inputs)
    for step in made.steps:
        if step.op != NUMBER:
            given = [types[v] for v in step.inputs]
            why = why_not(step.op, step.attributes, given, step.types, target)
            if why is not None:
                return f"{step.op} within it: {why}"
        types += step.types
    return None
