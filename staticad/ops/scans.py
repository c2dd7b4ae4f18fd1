"""What has come together so far, at each element along an axis.

axis may be left out for a vector.  reverse scans from the end; exclusive leaves an element out
of its own result.
"""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.handle import floating
from staticad_schema.ops.scan import shifted
from staticad_schema.sites import asking
from staticad_schema.types import as_dtype

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, result, tensor
from ..options import flag
from ..tensor import Tensor

__all__ = ["cummax", "cummin", "cumulative_prod", "cumulative_sum", "logcumsumexp"]


def cumulative_sum(
    x: Operand,
    /,
    axis: int | None = None,
    *,
    dtype: Any = None,
    include_initial: bool = False,
    reverse: bool = False,
    exclusive: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum of the elements up to each one along an axis.

    x: numbers or bools.  axis: an int, or None for a vector.  dtype: of the result; small integers
    and bools are summed in 64 bits, half floats in float32.  include_initial: begin with the sum
    of nothing, which makes the result longer by 1.  Raises ShapeError for an axis that x does not
    have, UsageError for include_initial with exclusive.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cumulative_sum([1.0, 2.0, 3.0])
    >>> sad.Session(graph).run(y)
    array([1., 3., 6.], dtype=float32)
    """
    with asking("cumulative_sum", name):
        value, place = _begin("cumulative_sum", x, axis)
        value = value.astype(_accumulator(value, dtype))
        value = _moved(value, place, 0, include_initial, reverse, exclusive)
        return _scan("cumulative_sum", value, place, reverse, name)


def cumulative_prod(
    x: Operand,
    /,
    axis: int | None = None,
    *,
    dtype: Any = None,
    include_initial: bool = False,
    reverse: bool = False,
    exclusive: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of the elements up to each one along an axis; exact derivatives at zeros.

    x, axis, dtype, include_initial, errors: as in `cumulative_sum`; the product of nothing is 1.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cumulative_prod([2.0, 3.0, 4.0], reverse=True)
    >>> sad.Session(graph).run(y)
    array([24., 12.,  4.], dtype=float32)
    """
    with asking("cumulative_prod", name):
        value, place = _begin("cumulative_prod", x, axis)
        value = value.astype(_accumulator(value, dtype))
        value = _moved(value, place, 1, include_initial, reverse, exclusive)
        return _scan("cumulative_prod", value, place, reverse, name)


def logcumsumexp(
    x: Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    exclusive: bool = False,
    name: str | None = None,
) -> Tensor:
    """log(sum(exp)) of the elements up to each one along an axis, without overflow.

    x: floats; integers become float32.  axis: an int, or None for a vector.  Of nothing, and of
    nothing but -inf, it is -inf, with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logcumsumexp([1000.0, 1000.0])
    >>> sad.Session(graph).run(y).round(2)
    array([1000.  , 1000.69], dtype=float32)
    """
    with asking("logcumsumexp", name):
        value, place = _begin("logcumsumexp", x, axis)
        (value,) = floating(value)
        value = _moved(value, place, -math.inf, False, reverse, exclusive)
        return _scan("cumulative_logsumexp", value, place, reverse, name)


def cummax(
    x: Operand, /, axis: int | None = None, *, reverse: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The largest element up to each one along an axis, and its int64 index.

    x: any dtype but complex.  axis: an int, or None for a vector.  NaN from the first NaN on.  Of
    equal elements the latest counts, and takes the whole derivative.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     values, indices = sad.cummax([1.0, 3.0, 2.0, 3.0])
    >>> sad.Session(graph).run([values, indices])
    [array([1., 3., 3., 3.], dtype=float32), array([0, 1, 1, 3])]
    """
    with asking("cummax", name):
        return _extremum("cumulative_max", *_begin("cummax", x, axis), reverse, name)


def cummin(
    x: Operand, /, axis: int | None = None, *, reverse: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The smallest element up to each one along an axis, and its int64 index.

    x, axis, ties, NaN: as in `cummax`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     values, indices = sad.cummin([3.0, 1.0, 2.0])
    >>> sad.Session(graph).run([values, indices])
    [array([3., 1., 1.], dtype=float32), array([0, 1, 1])]
    """
    with asking("cummin", name):
        return _extremum("cumulative_min", *_begin("cummin", x, axis), reverse, name)


def _begin(asked: str, x: Operand, axis: Any) -> tuple[Any, int]:
    """x as a tensor, and the axis counted from the front."""
    value = tensor(asked, x)
    if axis is None:
        if value.ndim != 1:
            raise ShapeError("no axis", expected="axis=, or a vector", found=value.describe())
        axis = 0
    return value, dimensions.axis_of(axis, value.ndim)


def _accumulator(x: Any, dtype: Any) -> Any:
    return methods.accumulator(x.type.dtype) if dtype is None else as_dtype(dtype)


def _moved(
    x: Any, axis: int, nothing: float, include_initial: Any, reverse: Any, exclusive: Any
) -> Any:
    """x with the result of nothing put before its elements, so that the scan is as was asked."""
    include_initial = flag("include_initial", include_initial)
    exclusive = flag("exclusive", exclusive)
    if include_initial and exclusive:
        raise UsageError(
            "the results would not begin with the initial one twice",
            expected="include_initial or exclusive",
            found="both",
        )
    if exclusive:
        return shifted(x, axis, flag("reverse", reverse), nothing)
    if include_initial:
        widths = [(0, 0)] * x.type.ndim
        widths[axis] = (0, 1) if reverse else (1, 0)
        return build("pad", (x,), {"widths": tuple(widths), "value": nothing})
    return x


def _scan(op: str, x: Any, axis: int, reverse: Any, label: str | None) -> Tensor:
    return result(build(op, (x,), {"axis": axis, "reverse": flag("reverse", reverse)}, label=label))


def _extremum(op: str, x: Any, axis: int, reverse: Any, label: str | None) -> tuple[Tensor, Tensor]:
    values, indices = build(
        op, (x,), {"axis": axis, "reverse": flag("reverse", reverse)}, label=label
    )
    return result(values), result(indices)
