"""Elements put around a tensor."""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking

from .. import dimensions
from ..building import build
from ..operands import Operand, result, tensor
from ..tensor import Tensor


def pad(x: Operand, /, widths: Any, *, value: float = 0.0, name: str | None = None) -> Tensor:
    """x with `value` around it: widths is a number, a (before, after), or one such an axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.pad([1.0, 2.0], (1, 2), value=-1.0)
    >>> sad.Session(graph).run(y)
    array([-1.,  1.,  2., -1., -1.], dtype=float32)
    """
    with asking("pad", name):
        inner = tensor("pad", x)
        attributes = {"widths": _widths(widths, inner.ndim), "value": float(value)}
        return result(build("pad", (inner,), attributes, label=name))


def _widths(widths: Any, ndim: int) -> tuple[tuple[dims.Size, dims.Size], ...]:
    if not isinstance(widths, tuple | list):
        return ((dimensions.size(widths),) * 2,) * ndim
    if widths and not isinstance(widths[0], tuple | list):
        widths = [widths] * ndim
    if len(widths) != ndim or any(len(w) != 2 for w in widths):
        raise ShapeError(
            "not one (before, after) an axis", expected=f"{ndim} pairs", found=str(widths)
        )
    return tuple((dimensions.size(low), dimensions.size(high)) for low, high in widths)
