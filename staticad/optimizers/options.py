"""Numbers that optimizers and schedules are given, and which variables they hold for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.errors import ArgumentError, UsageError

from ..options import number
from ..variable import Variable
from .minimizer import checked

Mask = Sequence[Variable] | Callable[[Variable], bool]
"""Which variables: a list of them, or a function that says it of a variable."""


def share(name: str, value: Any) -> float:
    """A number from 0 to below 1.  Raises UsageError, ArgumentError."""
    return number(name, value, least=0, below=1)


def positive(name: str, value: Any) -> float:
    """A number above 0, perhaps infinite.  Raises UsageError, ArgumentError."""
    return number(name, value, above=0, finite=False)


def not_negative(name: str, value: Any) -> float:
    """A number from 0, perhaps infinite.  Raises UsageError, ArgumentError."""
    return number(name, value, least=0, finite=False)


def whole(name: str, value: Any) -> int:
    """A whole number from 1.  Raises UsageError, ArgumentError."""
    given = number(name, value, least=1)
    if given != int(given):
        raise ArgumentError(
            f"{name} is out of range", expected="a whole number from 1", found=repr(value)
        )
    return int(given)


def member(mask: Any) -> Callable[[Variable], bool]:
    """The mask as a function; None holds for all.  Raises UsageError."""
    if mask is None:
        return lambda v: True
    if callable(mask):
        return lambda v: _said(mask, v)
    names = {v.name for v in checked(mask)}
    return lambda v: v.name in names


def _said(mask: Callable[[Variable], Any], v: Variable) -> bool:
    answer = mask(v)
    if not isinstance(answer, bool):
        raise UsageError(
            "a mask says yes or no",
            expected="a function from a variable to a bool",
            found=f"{answer!r:.80}, a {type(answer).__name__}, for {v.describe()}",
        )
    return answer
