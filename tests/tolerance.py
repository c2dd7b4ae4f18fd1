"""How far a result may be from the right value: so many units in the last place of its dtype."""

from __future__ import annotations

from typing import Any

import ml_dtypes

from staticad_schema.types import REAL_OF, as_dtype


def units(dtype: Any, count: float = 4) -> float:
    """`count` times the distance of 1 and the next number, for `rtol`."""
    given = as_dtype(dtype)
    info: Any = ml_dtypes.finfo(REAL_OF.get(given, given))  # type: ignore[no-untyped-call]
    return count * float(info.eps)
