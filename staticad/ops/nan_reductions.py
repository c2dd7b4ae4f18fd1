"""Reductions that leave out NaN: complex numbers too, of which a part is NaN.

The gradient of what is left out is 0.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking
from staticad_schema.types import INEXACT

from .. import methods
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result, tensor
from ..options import flag
from ..tensor import Tensor
from .statistics import deviation, inexact, real_dtype, rounded, variance

__all__ = ["nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar"]


def nansum(
    x: Operand,
    /,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`sum` with 0 in place of NaN, which gets no gradient.

    x: numbers or bools; of complex ones those are NaN of which a part is.  axis, dtype, keepdims,
    errors: as in `sum`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nansum([1.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(4., dtype=float32)
    """
    with asking("nansum", name):
        value = _filled(tensor("nansum", x), 0.0)
        return result(methods.reduce("sum", value, axis, keepdims, name, dtype))


def nanprod(
    x: Operand,
    /,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`prod` with 1 in place of NaN, which gets no gradient.

    x, axis, dtype, keepdims, errors: as in `nansum`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanprod([2.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(6., dtype=float32)
    """
    with asking("nanprod", name):
        value = _filled(tensor("nanprod", x), 1.0)
        return result(methods.reduce("prod", value, axis, keepdims, name, dtype))


def nanmax(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The largest element that is not NaN; NaN where there is none.

    x, axis, keepdims, errors: as in `max`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanmax([1.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(3., dtype=float32)
    """
    with asking("nanmax", name):
        return _extremum("max", "nanmax", x, axis, keepdims, name)


def nanmin(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The smallest element that is not NaN; NaN where there is none.

    x, axis, keepdims, errors: as in `max`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanmin([1.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(1., dtype=float32)
    """
    with asking("nanmin", name):
        return _extremum("min", "nanmin", x, axis, keepdims, name)


def nanmean(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean of the elements that are not NaN; NaN where there are none.

    x, axis, keepdims, errors: as in `mean`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanmean([1.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(2., dtype=float32)
    """
    with asking("nanmean", name):
        value, wide, axes = inexact("nanmean", x, axis)
        return rounded("divide", _total_and_count(wide, axes, keepdims), value.type.dtype, name)


def nanvar(
    x: Operand,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`var` of the elements that are not NaN.

    x, axis, correction, keepdims: as in `var`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanvar([1.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(1., dtype=float32)
    """
    with asking("nanvar", name):
        value, wide, axes = inexact("nanvar", x, axis)
        count = _count(wide, axes, keepdims)
        size = variance(_distance(wide, axes), count, axes, correction, keepdims)
        return rounded("divide", size, real_dtype(value.type.dtype), name)


def nanstd(
    x: Operand,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """`std` of the elements that are not NaN.

    x, axis, correction, keepdims: as in `var`.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nanstd([1.0, math.nan, 3.0])
    >>> sad.Session(graph).run(y)
    array(1., dtype=float32)
    """
    with asking("nanstd", name):
        value, wide, axes = inexact("nanstd", x, axis)
        count = _count(wide, axes, keepdims)
        size = deviation(_distance(wide, axes), count, axes, correction, keepdims)
        return rounded("divide", size, real_dtype(value.type.dtype), name)


def _missing(x: Any) -> Any:
    return build("isnan", (x,))


def _filled(x: Any, value: float) -> Any:
    """x with a number in place of NaN; integers and bools as they are."""
    if x.type.kind not in INEXACT:
        return x
    return build("where", (_missing(x), x.coerce(value), x))


def _count(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """How many elements are not NaN, in the real dtype of x."""
    there = build("logical_not", (_missing(x),)).astype(real_dtype(x.type.dtype))
    return build("sum", (there,), {"axis": axes, "keepdims": flag("keepdims", keepdims)})


def _total_and_count(x: Any, axes: tuple[int, ...], keepdims: bool) -> tuple[Any, Any]:
    total = build("sum", (_filled(x, 0.0),), {"axis": axes, "keepdims": flag("keepdims", keepdims)})
    return total, _count(x, axes, keepdims).astype(x.type.dtype)


def _distance(x: Any, axes: tuple[int, ...]) -> Any:
    """The distances from the mean; 0 in place of NaN."""
    near = build("stop_gradient", (build("divide", _total_and_count(x, axes, True)),))
    rest = x - near
    # What rounding has left of the mean: of equal elements the distance is then exactly 0.
    mean = near + build("divide", _total_and_count(rest, axes, True))
    return build("where", (_missing(x), x.coerce(0.0), x - mean))


def _extremum(
    op: str, asked: str, x: Operand, axis: Axis, keepdims: bool, name: str | None
) -> Tensor:
    value = tensor(asked, x)
    if value.type.kind != "float":
        return result(methods.reduce(op, value, axis, keepdims, name))
    low, high = methods.limits(value.dtype)
    found = methods.reduce(op, _filled(value, low if op == "max" else high), axis, keepdims)
    nothing = methods.reduce("all", _missing(value), axis, keepdims)
    return result(build("where", (nothing, found.coerce(float("nan")), found), label=name))
