"""Diagonals of the last two axes, as the array API means them."""

from __future__ import annotations

from typing import Any

from ..operands import Operand
from ..ops import contractions, diagonals
from ..tensor import Tensor


def diagonal(x: Operand, /, *, offset: int = 0, name: str | None = None) -> Tensor:
    """The diagonal `offset` above the main one (below, if negative) of each matrix of a stack.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.linalg.diagonal(x, offset=1).shape
    (5, 3)
    """
    return diagonals.diagonal(x, offset, -2, -1, name=name)


def trace(x: Operand, /, *, offset: int = 0, dtype: Any = None, name: str | None = None) -> Tensor:
    """The sum of the diagonal `offset` of each matrix of a stack, in `dtype` as `sum` does.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((5, 3, 4))
    >>> sad.linalg.trace(x).shape
    (5,)
    """
    return contractions.trace(x, offset, -2, -1, dtype=dtype, name=name)
