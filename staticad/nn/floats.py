"""Operands that have to be floats, and half floats that compute in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from staticad_schema.errors import DTypeError
from staticad_schema.types import FLOATING, WIDENED, DType

from .. import methods
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
