"""Operands that have to be floats, and half floats that compute in float32."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from staticad_schema.errors import ArgumentError, DTypeError, UsageError
from staticad_schema.types import FLOATING, WIDENED, DType

from .. import methods
from ..numbers import real
from ..operands import result, tensors
from ..tensor import Tensor


def floats(asked: str, *values: Any) -> tuple[Tensor, ...]:
    """Tensors of one graph and one floating dtype.  Raises GraphError."""
    made = tensors(asked, *values)
    if made[0].type.kind not in FLOATING:
        raise DTypeError(
            "not floating",
            expected="a floating dtype",
            found=" and ".join(x.describe() for x in made),
            hint="use .astype('float32')",
        )
    return made


def float_tensor(asked: str, value: Any) -> Tensor:
    """A tensor of a floating dtype.  Raises GraphError."""
    return floats(asked, value)[0]


def wide_dtype(dtype: DType) -> DType:
    """float32 for half floats, which compute in it; else the dtype itself."""
    return WIDENED.get(dtype, dtype)


def widened(*xs: Any) -> tuple[Any, ...]:
    """The tensors in the dtype that they compute in."""
    return tuple(map(methods.widened, xs))


def computed(function: Callable[..., Any], *xs: Any, label: str | None) -> Tensor:
    """The function of tensors of one dtype; of half floats, rounded once."""
    return result(methods.computed(function, *xs, label=label))


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


def choice(name: str, value: Any, options: Iterable[Any]) -> Any:
    """The value itself.  Raises ArgumentError unless it is one of the options."""
    allowed = tuple(options)
    if not isinstance(value, str | int) or value not in allowed:
        raise ArgumentError(
            f"not a {name}", expected=", ".join(map(repr, allowed)), found=f"{value!r:.80}"
        )
    return value
