"""How the functions of this namespace apply an op."""

from __future__ import annotations

from typing import Any

from staticad_schema.handle import floating
from staticad_schema.sites import asking

from ..building import build
from ..operands import Operand, result, tensors
from ..tensor import Tensor


def applied(asked: str, op: str, *operands: Operand, name: str | None, **attributes: Any) -> Tensor:
    """The op of operands of one dtype; integers become float32."""
    with asking(asked, name):
        return result(build(op, floating(*tensors(asked, *operands)), attributes, label=name))
