"""What a device is not trusted with: what needs an answer that its self-test found wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from staticad_schema.types import FLOAT16, FLOAT64, TensorType

from .combine import REDUCTIONS
from .decompose import DECOMPOSED
from .heavy import HEAVY
from .scans import SCANS

_EXTREMA = frozenset(
    {
        "maximum", "minimum", "max", "min", "argmax", "argmin", "clip", "relu", "relu6",
        "hard_tanh", "cumulative_max", "cumulative_min", "cumulative_logsumexp", "max_pool",
        "scatter_max", "scatter_min", "softmax", "log_softmax", "logsumexp", "masked_softmax",
        "cross_entropy", "sort", "top_k",
    }
)  # fmt: skip
_TOGETHER = frozenset({*REDUCTIONS, *DECOMPOSED, *SCANS, *HEAVY})
"""Ops for which work-items work together."""
_CHECKED = frozenset({"take", "gather", "take_along_axis", "cross_entropy", "unpool"})
"""Ops that raise the flag where an index is out of range."""
_SCATTERS = frozenset(op for op in HEAVY if op.startswith("scatter"))

# By check the ops that need what it asks for; any other check is about all of them.
_NEED: Mapping[str, frozenset[str]] = {
    "max": _EXTREMA,
    "reduce": _TOGETHER,
    "barriers": _TOGETHER,
    "scan": frozenset(SCANS),
    # Nothing that is generated uses these.
    "local atomics": frozenset(),
    "global atomics": _CHECKED | _SCATTERS,
    "scatter": _SCATTERS,
}
_DTYPES = {"doubles": FLOAT64, "halves": FLOAT16}


def ruled_out(
    failed: Mapping[str, str],
    op: str,
    operands: Sequence[TensorType],
    outputs: Sequence[TensorType],
) -> str | None:
    """Why a device of which these checks failed does not run a node; None if it may.

    failed: what was wrong, by the name of the check.
    """
    for name, problem in failed.items():
        if name in _DTYPES:
            needed = any(t.dtype == _DTYPES[name] for t in (*operands, *outputs))
        else:
            needed = name not in _NEED or op in _NEED[name]
        if needed:
            return f"its self-test failed: {name} ({problem})"
    return None
