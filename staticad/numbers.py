"""Data that callers give as Python numbers and nested lists of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.errors import ArgumentError, DTypeError, UsageError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.sites import warn
from staticad_schema.types import INT64, PYTHON, UINT64, Array, as_dtype, in_dtype, weak_array


def is_real(value: Any) -> bool:
    """Whether it is a real number of Python's or NumPy's, and no bool."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool)


def real(name: str, value: Any) -> float:
    """A real number of Python's or NumPy's as a float.  Raises UsageError for anything else,
    ArgumentError for an integer beyond all floats."""
    if not is_real(value):
        raise UsageError(
            f"{name} is no number",
            expected="a number",
            found=f"{value!r:.80}, a {type(value).__name__}",
        )
    try:
        return float(value)
    except OverflowError:
        # Python refuses to write out what is very long.
        found = f"one of {int(value).bit_length()} bits"
        raise ArgumentError(
            f"{name} is too large", expected="a number below 2**1024", found=found
        ) from None


class RoundingWarning(UserWarning):
    """A number became zero or infinite in the dtype that it was given, or stands beside."""


def warn_of_rounding(value: float | complex, array: Array) -> None:
    """Warn of a number that is 0 or infinite as a 0-d array, though it was not: an epsilon of
    1e-8 in float16 guards nothing."""
    finite = isinstance(value, int) or np.isfinite(value)
    if value and finite and (not array or not np.isfinite(array)):
        rounded = "infinite" if array else "0"
        warn(f"the number {value!r} is {rounded} in {array.dtype.name}", RoundingWarning)


def weak_list(values: list[Any] | tuple[Any, ...]) -> Array | None:
    """A nested list of numbers as an array, None if it is not one.

    Raises ArgumentError for an integer beyond 64 bits.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    if array.dtype == object or (array.dtype == np.float64 and not (np.abs(array) < 2**63).all()):
        # NumPy makes objects or floats of integers that have no dtype in common.
        leaves = np.asarray(values, dtype=object).reshape(-1).tolist()
        if leaves and all(type(x) in (int, bool) for x in leaves):
            dtype = UINT64 if min(leaves) >= 0 else INT64
            weak_array(max(leaves, key=abs), dtype)
            array = np.asarray(values, dtype)
    return array if array.dtype.kind in "biufc" else None


def as_array(value: Any, dtype: Any = None) -> Array:
    """The array of a constant: arrays keep their dtype, Python numbers take the defaults.

    Raises UsageError for what is no data, ArgumentError for an integer that does not fit.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Handle):
        raise UsageError(
            "it is a tensor already", expected="an array or a number", found=value.describe()
        )
    if isinstance(value, WEAK):
        kind = next(k for k in PYTHON if isinstance(value, k))
        array = weak_array(value, wanted or PYTHON[kind])
        warn_of_rounding(value, array)
        return array
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
    else:
        plain = weak_list(value) if isinstance(value, list | tuple) else None
        if plain is None:
            raise UsageError(
                "not a constant",
                expected="an array, a number, or a nested list of numbers of equal lengths",
                found=f"{value!r:.80}, a {type(value).__name__}",
            )
        array = plain
        leaf = _leaf(value)
        if isinstance(leaf, WEAK) or not isinstance(leaf, np.ndarray | np.generic):
            array = in_dtype(plain, wanted or PYTHON[type(plain.dtype.type(0).item())])
    return array if wanted is None else in_dtype(array, wanted)


def stored(target: Handle, given: Any) -> Any:
    """What a caller gives to be stored in `target`, as a tensor of its dtype.

    Data convert as an assignment to an array would (NumPy's same_kind rule), and integers are
    checked for range; a tensor of another dtype raises DTypeError, as other data do.
    """
    dtype = target.type.dtype
    data = given
    if isinstance(given, np.ndarray | np.generic) and not isinstance(given, WEAK):
        array = np.asarray(given)
        if array.dtype != dtype and np.can_cast(array.dtype, dtype, "same_kind"):
            data = in_dtype(array, dtype)
    x = target.coerce(data)
    if x is NotImplemented:
        raise UsageError(
            "not a value to store",
            expected="a tensor, an array or a scalar",
            found=f"{given!r:.80}, a {type(given).__name__}",
        )
    if x.type.dtype != dtype:
        raise DTypeError(
            "the value to store has another dtype",
            expected=f"{dtype.name}, as {target.describe()}",
            found=x.describe(),
            hint=f"use .astype({dtype.name!r})",
        )
    return x


def _leaf(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value
