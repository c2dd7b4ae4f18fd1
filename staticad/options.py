"""What functions are given beside tensors: numbers in a range, switches, words to choose from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from staticad_schema.errors import ArgumentError, UsageError, near_miss

from .numbers import real


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    finite: bool = True,
) -> float:
    """A number of Python's in a range.  Raises UsageError, ArgumentError outside of it."""
    given = real(name, value)
    bounds = []
    if finite:
        bounds.append((math.isfinite(given), "finite"))
    if above is not None:
        bounds.append((given > above, f"above {above:g}"))
    if least is not None:
        bounds.append((given >= least, f"at least {least:g}"))
    if below is not None:
        bounds.append((given < below, f"below {below:g}"))
    if not all(holds for holds, _ in bounds):
        raise ArgumentError(
            f"{name} is out of range",
            expected=" and ".join(text for _, text in bounds),
            found=f"{value!r}",
        )
    return given


def flag(name: str, value: Any) -> bool:
    """A bool.  Raises UsageError for anything else."""
    if not isinstance(value, bool | np.bool_):
        raise UsageError(
            f"{name} is no bool",
            expected="True or False",
            found=f"{value!r:.80}, a {type(value).__name__}",
        )
    return bool(value)


def choice(
    name: str, value: Any, options: Iterable[Any], elsewhere: dict[str, str] | None = None
) -> Any:
    """The value itself.  Raises ArgumentError unless it is one of the options.

    elsewhere: hints for what other libraries call them.
    """
    allowed = tuple(options)
    if not isinstance(value, str | int) or value not in allowed:
        hint = None
        if isinstance(value, str):
            hint = (elsewhere or {}).get(value) or near_miss(value, map(str, allowed))
        raise ArgumentError(
            f"not {'an' if name[0] in 'aeiou' else 'a'} {name}",
            expected=", ".join(map(repr, allowed)),
            found=f"{value!r:.80}",
            hint=hint,
        )
    return value
