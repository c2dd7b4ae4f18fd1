"""Gated linear units: one half of the features lets the other half through (Shazeer 2020)."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build
from ..operands import Operand
from ..options import flag
from ..tensor import Tensor
from .floats import computed, float_tensor

__all__ = ["geglu", "glu", "swiglu"]


def glu(x: Operand, /, axis: int = -1, *, name: str | None = None) -> Tensor:
    """The first half of x along `axis` times sigmoid of the second (Dauphin et al. 2016).

    x: floats.  Returns a tensor with half of the elements along the axis.
    Raises ShapeError where their number is odd, or not known.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.glu([[1.0, 2.0, 0.0, 1000.0]])
    >>> sad.Session(graph).run(y)
    array([[0.5, 2. ]], dtype=float32)
    """
    with asking("glu", name):
        value, place = _halved("glu", x, axis)

        def gate(v: Any) -> Any:
            first, second = _halves(v, place)
            return first * build("sigmoid", (second,))

        return computed(gate, value, label=name)


def swiglu(x: Operand, /, axis: int = -1, *, name: str | None = None) -> Tensor:
    """silu of the first half of x along `axis` times the second (Shazeer 2020).

    x: floats.  Returns a tensor with half of the elements along the axis.
    Raises ShapeError where their number is odd, or not known.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.swiglu([[0.0, 1000.0, 2.0, 0.5]])
    >>> sad.Session(graph).run(y)
    array([[  0., 500.]], dtype=float32)
    """
    with asking("swiglu", name):
        value, place = _halved("swiglu", x, axis)

        def gate(v: Any) -> Any:
            first, second = _halves(v, place)
            return build("silu", (first,)) * second

        return computed(gate, value, label=name)


def geglu(
    x: Operand, /, axis: int = -1, *, approximate: bool = False, name: str | None = None
) -> Tensor:
    """gelu of the first half of x along `axis` times the second (Shazeer 2020).

    x: floats.  Returns a tensor with half of the elements along the axis.  approximate: as in
    gelu.  Raises ShapeError where their number is odd, or not known.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.geglu([[0.0, 1000.0, 2.0, 0.5]])
    >>> sad.Session(graph).run(y)
    array([[  0., 500.]], dtype=float32)
    """
    with asking("geglu", name):
        attributes = {"approximate": flag("approximate", approximate)}
        value, place = _halved("geglu", x, axis)

        def gate(v: Any) -> Any:
            first, second = _halves(v, place)
            return build("gelu", (first,), attributes) * second

        return computed(gate, value, label=name)


def _halved(asked: str, x: Operand, axis: int) -> tuple[Tensor, int]:
    value = float_tensor(asked, x)
    place = dimensions.axis_of(axis, value.ndim)
    size = value.shape[place]
    if not isinstance(size, int) or size % 2:
        raise ShapeError(
            "there are no two halves",
            expected=f"an even size, known, on axis {place}",
            found=value.describe(),
        )
    return value, place


def _halves(x: Any, axis: int) -> tuple[Any, Any]:
    half = x.type.shape[axis] // 2
    return methods.slice_along(x, axis, None, half), methods.slice_along(x, axis, half, None)
