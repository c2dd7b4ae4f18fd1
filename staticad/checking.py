"""What only a run can tell of what it is given: that its values are in a range."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Dim, Size
from staticad_schema.types import INT64

from . import sizes
from .building import build


def checked(
    x: Any, asked: str, problem: str, *, least: float, most: float | None = None, below: float = 0
) -> Any:
    """x, a real tensor; a run fails where an element is outside of the range, or NaN."""
    inside = build("greater_equal", (x, least))
    if most is not None:
        inside = build("logical_and", (inside, build("less_equal", (x, most))))
        expected = f"from {least} to {most}"
    else:
        inside = build("logical_and", (inside, build("less", (x, below))))
        expected = f"at least {least} and below {below}"
    message = f"{asked}: {problem}"
    return build("check", (inside, x), {"message": message, "expected": expected})


def counted(x: Any, asked: str, problem: str, end: Size) -> Any:
    """x, integers; a run fails where one is not from 0 to below `end`."""
    # Wrapped around, the largest of uint64 are negative.
    places = x.astype(INT64)
    limit = sizes.value(x.graph, end, INT64) if isinstance(end, Dim) else end
    inside = build("logical_and", (build("less", (places, limit)), places >= 0))
    last = end - 1 if isinstance(end, int) else dims.total((end, -1))
    attributes = {"message": f"{asked}: {problem}", "expected": f"from 0 to {last}"}
    return build("check", (inside, x), attributes)
