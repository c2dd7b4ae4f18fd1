"""What log densities share: operands of one dtype, and what lies outside of the support.

Outside the density is 0, its logarithm -inf, and all derivatives 0: the formula is computed at a
place inside instead, so that nothing of it reaches a result or a gradient.  NaN stays NaN, and
parameters that a run finds out of their range make NaN.
"""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.errors import ArgumentError
from staticad_schema.handle import Handle, floating
from staticad_schema.ops.checks import check_kind
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.types import FLOAT64, FLOATING

from ...building import build
from ...numbers import as_array
from ...operands import Operand, tensors

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def operands(function: str, *values: Operand) -> tuple[Any, ...]:
    """Tensors of one dtype of floats that broadcast; integers become float32.

    Raises GraphError.
    """
    made = floats(function, *values)
    broadcast_shapes(x.type.shape for x in made)
    return made


def floats(function: str, *values: Operand) -> tuple[Any, ...]:
    """Tensors of one dtype of floats; integers become float32.  Raises GraphError."""
    made = floating(*tensors(f"random.logpdf.{function}", *values))
    check_kind(FLOATING, *(x.type for x in made))
    return made


def above(what: str, given: Operand, value: Any) -> Any:
    """A parameter above 0: ArgumentError if it is known not to be, NaN where a run finds so."""
    return _checked(what, given, value, "above 0", lambda v: v > 0)


def not_negative(what: str, given: Operand, value: Any) -> Any:
    """A parameter from 0 on; as `above`."""
    return _checked(what, given, value, "at least 0", lambda v: v >= 0)


def probability(given: Operand, value: Any) -> Any:
    """A parameter p from 0 to 1; as `above`."""
    return _checked("p", given, value, "0 to 1", lambda v: (v >= 0) & (v <= 1))


def _checked(what: str, given: Operand, value: Any, expected: str, holds: Any) -> Any:
    if not isinstance(given, Handle):
        if not holds(as_array(given, FLOAT64)).all():
            raise ArgumentError(
                f"{what} is out of range", expected=expected, found=f"{given!r:.80}"
            )
        return value
    return build("where", (holds(value), value, value.coerce(math.nan)))


def supported(x: Any, inside: Any, place: float) -> Any:
    """x inside, `place` outside; NaN as it is.  A 0 is that above which the support lies, not -0,
    at which slopes such as 1 / x would have the other sign."""
    return build("where", (inside | build("isnan", (x,)), x + 0.0, x.coerce(place)))


def power_of_ratio(exponent: Any, x: Any, width: Any) -> Any:
    """exponent * log(x / width), also where the quotient is 0: there the slope in the width is not
    0 times that of the logarithm, which is infinite."""
    ratio = x / width
    flat = build("equal", (ratio, 0.0))
    apart = build("xlogy", (exponent, x)) - build("xlogy", (exponent, width))
    joined = build("xlogy", (exponent, build("where", (flat, ratio.coerce(1.0), ratio))))
    return build("where", (flat, apart, joined))


def bounded(x: Any, inside: Any, value: Any, name: str | None) -> Any:
    """The value inside, -inf outside; NaN where x or, for a bad parameter, the value is NaN."""
    kept = inside | build("isnan", (x,)) | build("isnan", (value,))
    return build("where", (kept, value, value.coerce(-math.inf)), label=name)


def is_count(x: Any) -> Any:
    """Whether x is an integer from 0 on."""
    return (x >= 0) & (x < math.inf) & build("equal", (x, build("floor", (x,))))


def log(x: Any) -> Any:
    """The natural logarithm."""
    return build("log", (x,))
