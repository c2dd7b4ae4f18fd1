"""Choosing elements by condition, and their dtype."""

from __future__ import annotations

from typing import Any, overload

from staticad_schema.errors import ArgumentError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking

from .. import finding, methods, operands
from ..building import build
from ..operands import Operand, graph_of, result, tensor, tensors
from ..options import flag
from ..tensor import Tensor


def cast(x: Operand, /, dtype: Any, *, name: str | None = None) -> Tensor:
    """x in another dtype; floats to integers round towards zero.

    dtype: a name, a NumPy dtype, or float, int, bool or complex, which are the defaults.
    Raises DTypeError for complex to real (use real, imag or abs).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cast([-1.5, 0.0, 2.5], "int32")
    >>> sad.Session(graph).run(y)
    array([-1,  0,  2], dtype=int32)
    """
    with asking("cast", name):
        return result(methods.cast(tensor("cast", x), dtype, name))


def astype(x: Operand, dtype: Any, /, *, copy: bool = True, name: str | None = None) -> Tensor:
    """The same as `cast`, by its name in the array API.

    copy: has no effect, for a tensor is a value.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     y = sad.astype([1.5], "float64")
    >>> y.dtype
    dtype('float64')
    """
    with asking("astype", name):
        flag("copy", copy)
        return result(methods.cast(tensor("astype", x), dtype, name))


@overload
def where(condition: Operand, /, *, name: str | None = None) -> tuple[Tensor, ...]: ...
@overload
def where(condition: Operand, x: Operand, y: Operand, /, *, name: str | None = None) -> Tensor: ...
def where(
    condition: Operand,
    x: Operand | None = None,
    y: Operand | None = None,
    /,
    *,
    name: str | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """x where the condition is true, y elsewhere; the side not taken has gradient 0.

    condition: bools.  x, y: any dtype; all three broadcast.  Returns a tensor of the common
    dtype of x and y; of the condition alone its `nonzero`.  Raises DTypeError for a condition
    that is no bool, ArgumentError for one of x and y.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([-1.0, 4.0])
    ...     y = sad.where(x > 0, sad.sqrt(x), 0.0)
    >>> sad.Session(graph).run(y)
    array([0., 2.], dtype=float32)
    """
    with asking("where", name):
        if x is None and y is None:
            return tuple(map(result, finding.nonzero(tensor("where", condition), name)))
        if x is None or y is None:
            raise ArgumentError(
                "one of two sides", expected="x and y, or neither", found="x" if y is None else "y"
            )
        graph = graph_of("where", condition, x, y)
        chosen = operands.condition("where", condition, graph)
        if not isinstance(x, Handle) and not isinstance(y, Handle):
            x = tensor("where", x, graph)
        left, right = tensors("where", x, y)
        return result(build("where", (chosen, left, right), label=name))


def clip(
    x: Operand,
    /,
    min: Operand | None = None,
    max: Operand | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """x, but not below `min` nor above `max`; the gradient is 1 inside, bounds included.

    x: integers or floats.  min, max: numbers or tensors that broadcast; None is no bound.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.clip([-1.0, 0.5, 3.0], 0.0, 1.0)
    >>> sad.Session(graph).run(y)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    with asking("clip", name):
        given = [bound for bound in (min, max) if bound is not None]
        value, *bounds = tensors("clip", x, *given)
        if not bounds:
            return result(build("identity", (value,), label=name))
        infinite = _limits(value)
        low = bounds.pop(0) if min is not None else infinite[0]
        high = bounds.pop(0) if max is not None else infinite[1]
        return result(build("clip", (value, low, high), label=name))


def _limits(x: Tensor) -> tuple[Any, Any]:
    """The least and the greatest value of x's dtype, as tensors."""
    low, high = methods.limits(x.dtype)
    return (
        x.graph.handle(x.graph.scalar(low, x.dtype)),
        x.graph.handle(x.graph.scalar(high, x.dtype)),
    )
