"""What is right where the two systems differ, or agree on NaN where a convention is finite.

Conventions are those of docs/conventions.md; "IEEE" and "limit" stand for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from staticad_schema.types import Array

from .cases import Case


@dataclass(frozen=True)
class Decision:
    """Whose array is right, and why; where neither is, by flat index of the element, the right
    gradient as a multiple of the cotangent of that element or row, or the right value."""

    of: Literal["torch", "jax"]
    why: str
    slopes: dict[int, float] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)


ABS = Decision("torch", "abs'(0) is 0")
STD = Decision("torch", "std of equal elements has gradient 0")
NAN_OPERAND = Decision("jax", "a NaN is neither the larger nor the smaller one, nor equal")
BOTH_INFINITE = Decision("torch", "logaddexp(inf, inf): 0.5 each", {5: 0.5})
_ATAN2 = "atan2'(0, 0) is 0, 0; limit: 0 at infinity"
HYPOT = Decision("torch", "limit: x / hypot(x, y), also where the squares overflow")
LOGIT = Decision("torch", "logit'(0) is +inf, also of -0; outside of 0 to 1 there is no slope")
NAN_SLOPE = Decision("jax", "the slope at NaN is NaN")

DECISIONS: dict[str, dict[str, Decision]] = {
    "abs.3": {"vjp0": ABS},
    "abs.6": {"vjp0": ABS},
    "norm_l1.10": {"vjp0": ABS},
    "clip.3": {"vjp0": Decision("torch", "clip passes the cotangent at its bounds")},
    "std.8": {"vjp0": STD},
    "std.9": {"vjp0": STD},
    "std.10": {"vjp0": STD},
    "maximum.11": {"vjp0": NAN_OPERAND, "vjp1": NAN_OPERAND},
    "minimum.11": {"vjp0": NAN_OPERAND, "vjp1": NAN_OPERAND},
    "logaddexp.11": {"vjp0": BOTH_INFINITE, "vjp1": BOTH_INFINITE},
    "atan2.11": {
        "vjp0": Decision("torch", _ATAN2, {5: 0.0}),
        "vjp1": Decision("torch", _ATAN2, {5: 0.0, 6: 0.0}),
    },
    "hypot.12": {"vjp0": HYPOT, "vjp1": HYPOT},
    "copysign.11": {
        "vjp0": Decision("torch", "0 at 0; limit: 1 or -1 at infinity", {5: 1.0, 6: -1.0})
    },
    "remainder.11": {
        "vjp1": Decision("torch", "the remainder of infinity is NaN, and so is the quotient")
    },
    "pow.12": {"vjp0": Decision("torch", "pow(0, 0): d/dbase is 0")},
    "log.6": {
        "out0": Decision("torch", "IEEE: subnormals are not flushed to zero"),
        "vjp0": Decision("torch", "IEEE: subnormals are not flushed to zero"),
    },
    "where_log_guard.0": {
        "vjp0": Decision("torch", "the side that where does not take has gradient 0", {1: 0.0})
    },
    "cummax.2": {"vjp0": Decision("torch", "the latest of equals takes all")},
    "cbrt.3": {"vjp0": Decision("jax", "limit: cbrt'(0) is +inf")},
    "logit.3": {"vjp0": LOGIT},
    "logit.4": {"vjp0": LOGIT},
    "logit.5": {"vjp0": LOGIT},
    "selu.4": {"vjp0": NAN_SLOPE},
    "silu.4": {
        "out0": Decision("torch", "limit: x exp(x) at -inf is 0", values={1: 0.0}),
        "vjp0": Decision("torch", "limits: 1 at inf, 0 at -inf", {0: 1.0, 1: 0.0}),
    },
    "hard_swish.4": {
        "out0": Decision("torch", "0 below -3, so also at -inf", values={1: 0.0}),
        "vjp0": NAN_SLOPE,
    },
    "leaky_relu.3": {"vjp0": Decision("torch", "leaky_relu'(0) is the negative slope")},
    "l1_loss.3": {"vjp0": ABS, "vjp1": ABS},
    "bce.3": {
        "vjp0": Decision("torch", "limit: y log(p) is 0 for all p where y is 0", {0: 1.0, 1: -1.0}),
        "vjp1": Decision("jax", "limit: log(1 - p) - log(p) at 0 and 1"),
    },
    "lgamma.6": {"vjp0": Decision("torch", "limit: digamma is -inf on the right of 0")},
    "digamma.6": {
        "out0": Decision("torch", "limit: -inf on the right of 0"),
        "vjp0": Decision("jax", "limit: +inf on both sides of -1"),
    },
    "logsumexp.11": {
        "vjp0": Decision(
            "jax",
            "of nothing but -inf: 0; limits: halves of large equals, all to the infinite one",
            {0: 0.0, 1: 0.0, 4: 1.0},
        )
    },
}


def expected(case: Case, name: str) -> Array:
    """The array that is right."""
    decision = DECISIONS.get(case.id, {}).get(name)
    if decision is None:
        return case.arrays[name]
    chosen = case.arrays[name]
    if decision.of == "jax":
        # Of the two dtypes the systems may differ in one only.
        chosen = case.arrays.get(f"{name}@jax", chosen)
    chosen = chosen.copy()
    for index, slope in decision.slopes.items():
        given = case.arrays["ct0"].reshape(-1)
        cotangent = given[index * given.size // chosen.size] if slope else 0.0
        chosen.reshape(-1)[index] = slope * cotangent
    for index, right in decision.values.items():
        chosen.reshape(-1)[index] = right
    return chosen
