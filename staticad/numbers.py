"""Data that callers give as Python numbers and nested lists of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.errors import UsageError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.types import PYTHON, Array, as_dtype, weak_array


def weak_list(values: list[Any] | tuple[Any, ...]) -> Array | None:
    """A nested list of numbers as an array, None if it is not one."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array if array.dtype.kind in "biufc" else None


def as_array(value: Any, dtype: Any = None) -> Array:
    """The array of a constant: arrays keep their dtype, Python numbers take the defaults.

    Raises UsageError for what is no data.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Handle):
        raise UsageError(
            "it is a tensor already", expected="an array or a number", found=value.describe()
        )
    if isinstance(value, WEAK):
        kind = next(k for k in PYTHON if isinstance(value, k))
        return weak_array(value, wanted or PYTHON[kind])
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
            array = plain.astype(PYTHON[type(plain.dtype.type(0).item())])
    return array if wanted is None else array.astype(wanted)


def _leaf(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value
