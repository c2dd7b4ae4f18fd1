"""The precision that factorisations need: half floats compute in float32."""

from __future__ import annotations

from typing import Any

from staticad_schema.handle import floating
from staticad_schema.types import REAL_OF, WIDENED, DType

from .. import methods
from ..building import build, part
from ..operands import Operand, result, tensor, tensors
from ..tensor import Tensor


def precise(asked: str, x: Operand) -> tuple[Any, DType]:
    """Inexact numbers with enough digits, and the dtype of the results: float32 of integers."""
    (value,) = floating(tensor(asked, x))
    dtype = value.type.dtype
    return value.astype(WIDENED.get(dtype, dtype)), dtype


def precise_pair(asked: str, a: Operand, b: Operand) -> tuple[Any, Any, DType]:
    """The same of two operands, brought to one dtype."""
    first, second = floating(*tensors(asked, a, b))
    dtype = first.type.dtype
    wide = WIDENED.get(dtype, dtype)
    return first.astype(wide), second.astype(wide), dtype


def rounded(x: Any, dtype: DType, label: str | None = None) -> Tensor:
    """A result in the dtype asked for; of complex numbers a real result stays real."""
    if x.type.kind != "complex":
        dtype = REAL_OF.get(dtype, dtype)
    elif dtype not in REAL_OF:
        dtype = x.type.dtype
    return result(methods.cast(x, dtype, label))


def applied(op: str, x: Any, attributes: dict[str, Any], dtype: DType, name: str | None) -> Tensor:
    """The named op of precise numbers, rounded."""
    if dtype in WIDENED:
        return rounded(build(op, (x,), attributes, label=part(name, "precise")), dtype, name)
    return result(build(op, (x,), attributes, label=name))
