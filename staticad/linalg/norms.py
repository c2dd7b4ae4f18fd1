"""Norms of vectors and matrices, finite wherever the norm is, with gradients at zeros and ties."""

from __future__ import annotations

import math
from typing import Any, Literal

from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import floating
from staticad_schema.sites import asking
from staticad_schema.types import REAL_OF, WIDENED

from .. import dimensions, methods
from ..building import build
from ..dimensions import Axis
from ..numbers import is_real
from ..operands import Operand, result, tensor
from ..options import flag
from ..tensor import Tensor

Order = float | Literal["fro", "nuc"] | None


def vector_norm(
    x: Operand,
    /,
    *,
    axis: Axis = None,
    keepdims: bool = False,
    ord: float = 2,
    name: str | None = None,
) -> Tensor:
    """sum(abs(x)**ord)**(1/ord); for ord inf the largest, -inf the smallest, 0 the count of others
    than 0.

    x: numbers or bools, integers count as float32.  axis: an int, several, or None for all;
    keepdims leaves them with size 1.  The result is real, and does not overflow within.  It is 0 of
    no elements, of which there is no smallest: ShapeError.

    The gradient is 0 where the norm is 0, and at elements that are 0; ties of the largest share it.
    So are second derivatives: where the norm is 0, that of norm**2 is 0 too, that of
    `sad.vecdot(x, x)` is the right one.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.vector_norm([3e200, 4e200])
    ...     z = sad.linalg.vector_norm(sad.constant([[3.0, 4.0], [-6.0, 8.0]]), axis=1)
    >>> sad.Session(graph).run(z)
    array([ 5., 10.], dtype=float32)
    """
    with asking("vector_norm", name):
        (value,) = floating(tensor("vector_norm", x))
        axes = dimensions.axes_of(axis, value.type.ndim)
        return result(p_norm(value, _order(ord), axes, flag("keepdims", keepdims), name))


def matrix_norm(
    x: Operand,
    /,
    *,
    keepdims: bool = False,
    ord: Order = "fro",
    name: str | None = None,
) -> Tensor:
    """A norm of each matrix of a stack, over the last two axes.

    ord: "fro", the root of the sum of the squares; 1, the largest sum of a column's absolute
    values, -1 the smallest; inf and -inf, of a row's; 2, the largest singular value, -2 the
    smallest, "nuc" the sum of all.  The largest of nothing is 0.  Raises ShapeError below rank 2,
    and for the smallest of nothing.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([[1.0, -2.0], [3.0, 4.0]])
    ...     y = sad.linalg.matrix_norm(x, ord=1)
    >>> sad.Session(graph).run(y)
    array(6., dtype=float32)
    """
    with asking("matrix_norm", name):
        (value,) = floating(tensor("matrix_norm", x))
        rank = value.type.ndim
        if rank < 2:
            raise ShapeError("not a matrix", expected="rank 2 or more", found=value.describe())
        return result(
            _matrix_norm(value, ord, rank - 2, rank - 1, flag("keepdims", keepdims), name)
        )


def norm(
    x: Operand,
    /,
    ord: Order = None,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    name: str | None = None,
) -> Tensor:
    """The norm of a vector, along an axis; or of a matrix, over two axes: as `numpy.linalg.norm`.

    ord: None is the root of the sum of the squares; others as in `vector_norm` and `matrix_norm`.
    axis: None is all axes, of which there may be any number if ord is None, else one or two.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.linalg.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([ 5., 10.], dtype=float32)
    """
    with asking("norm", name):
        (value,) = floating(tensor("norm", x))
        rank = value.type.ndim
        several = axis if isinstance(axis, tuple | list) else None if axis is None else (axis,)
        if several is None and ord is None:
            axes = tuple(range(rank))
            return result(p_norm(value, 2.0, axes, flag("keepdims", keepdims), name))
        chosen = (
            list(range(rank)) if several is None else [dimensions.axis_of(a, rank) for a in several]
        )
        if len(chosen) not in (1, 2) or len(set(chosen)) != len(chosen):
            raise ShapeError(
                "neither a vector nor a matrix",
                expected="one axis, or two different ones",
                found=f"axis={axis} of {value.describe()}",
            )
        if len(chosen) == 2:
            order = "fro" if ord is None else ord
            rows, columns = chosen
            return result(
                _matrix_norm(value, order, rows, columns, flag("keepdims", keepdims), name)
            )
        order = 2.0 if ord is None else _order(ord)
        return result(p_norm(value, order, (chosen[0],), flag("keepdims", keepdims), name))


def _order(ord: Any) -> float:
    if not is_real(ord) or math.isnan(ord):
        raise UsageError(
            "not the order of a vector's norm",
            expected="a number, inf or -inf",
            found=f"{ord!r:.80}",
        )
    return float(ord)


def _reduced(op: str, x: Any, axes: tuple[int, ...], keepdims: bool, name: str | None) -> Any:
    return build(op, (x,), {"axis": axes, "keepdims": keepdims}, label=name)


def _with_one_more(x: Any, axes: tuple[int, ...], value: float) -> Any:
    """x with an element more along each of the axes, in case there is none."""
    widths = tuple((0, int(a in axes)) for a in range(x.type.ndim))
    return build("pad", (x,), {"widths": widths, "value": value})


def largest(x: Any, axes: tuple[int, ...], keepdims: bool = False, name: str | None = None) -> Any:
    """The largest along axes of numbers that are not negative; 0 of none."""
    sizes = [x.type.shape[a] for a in axes]
    if 0 in sizes:
        return _reduced("sum", x, axes, keepdims, name)
    if not all(isinstance(size, int) for size in sizes):
        x = _with_one_more(x, axes, 0.0)
    return _reduced("max", x, axes, keepdims, name)


def _extreme(x: Any, order: float, axes: tuple[int, ...], keepdims: bool, name: str | None) -> Any:
    """The largest for a positive order, the smallest for a negative one."""
    if order > 0:
        return largest(x, axes, keepdims, name)
    return _reduced("min", x, axes, keepdims, name)


def p_norm(
    x: Any, order: float, axes: tuple[int, ...], keepdims: bool, name: str | None = None
) -> Any:
    """The norm of a vector of inexact numbers; 0 is how many are not 0, and has gradient 0."""
    if order == 2:
        return _reduced("norm", x, axes, keepdims, name)
    if order == 0:
        dtype = REAL_OF.get(x.type.dtype, x.type.dtype)
        return _reduced("sum", build("not_equal", (x, 0)).astype(dtype), axes, keepdims, name)
    size = build("abs", (x,))
    if order == 1:
        return _reduced("sum", size, axes, keepdims, name)
    if math.isinf(order):
        return _extreme(size, order, axes, keepdims, name)
    return _power_norm(size, order, axes, keepdims, name)


def _power_norm(
    size: Any, order: float, axes: tuple[int, ...], keepdims: bool, name: str | None
) -> Any:
    """sum(size**order)**(1/order), in units of the element that counts most."""
    dtype = size.type.dtype
    size = given = size.astype(WIDENED.get(dtype, dtype))
    infinite = build("isinf", (size,))
    if order > 0:
        size = build("where", (infinite, size.coerce(1.0), size))
    if any(size.type.shape[a] == 0 for a in axes):
        unit = size.coerce(1.0)
    else:
        elements = size
        if not all(isinstance(size.type.shape[a], int) for a in axes):
            # What counts least.
            elements = _with_one_more(size, axes, 0.0 if order > 0 else math.inf)
        unit = _reduced("max" if order > 0 else "min", elements, axes, True, None)
        usable = build("logical_and", (build("isfinite", (unit,)), build("greater", (unit, 0))))
        unit = build("stop_gradient", (build("where", (usable, unit, unit.coerce(1.0))),))
    # Powers of 0 have no slope, or an infinite one: they are left out and put back.
    zero = build("equal", (size, 0))
    ratio = build("where", (zero, size.coerce(1.0), build("divide", (size, unit))))
    lost = size.coerce(0.0 if order > 0 else math.inf)
    powers = build("where", (zero, lost, build("pow", (ratio, order))))
    total = _reduced("sum", powers, axes, True, None)
    flat = build("equal", (total, 0))
    root = build("pow", (build("where", (flat, total.coerce(1.0), total)), 1 / order))
    # The sum of negative powers is 0 where all elements are infinite, or there are none.
    nothing = root.coerce(0.0 if order > 0 else math.inf)
    found = build("where", (flat, nothing, build("multiply", (root, unit))))
    if order > 0:
        # Infinite elements outweigh all others, and share the gradient as large ones would.
        count = _reduced("sum", infinite.astype(size.type.dtype), axes, True, None)
        endless = build("where", (build("isfinite", (given,)), given.coerce(0.0), given))
        share = build("pow", (build("maximum", (count, count.coerce(1.0))), 1 / order - 1))
        endless = build("multiply", (_reduced("sum", endless, axes, True, None), share))
        found = build("where", (build("greater", (count, 0)), endless, found))
    if not keepdims:
        kept = tuple(s for a, s in enumerate(found.type.shape) if a not in axes)
        found = methods.reshape(found, kept)
    return methods.cast(found, dtype, name)


def _matrix_norm(
    x: Any, ord: Any, rows: int, columns: int, keepdims: bool, name: str | None
) -> Any:
    axes = (min(rows, columns), max(rows, columns))
    if ord == "fro":
        return _reduced("norm", x, axes, keepdims, name)
    if ord == "nuc" or (is_real(ord) and ord in (2, -2)):
        return _spectral_norm(x, ord, rows, columns, keepdims, name)
    if not (is_real(ord) and ord in (1, -1, math.inf, -math.inf)):
        raise ArgumentError(
            "not the order of a matrix's norm",
            expected="'fro', 'nuc', 1, -1, 2, -2, inf or -inf",
            found=f"{ord!r:.80}",
        )
    summed, chosen = (columns, rows) if math.isinf(ord) else (rows, columns)
    sums = _reduced("sum", build("abs", (x,)), (summed,), True, None)
    found = _extreme(sums, ord, (chosen,), True, None)
    if keepdims:
        return methods.cast(found, found.type.dtype, name)
    kept = tuple(s for a, s in enumerate(found.type.shape) if a not in axes)
    return methods.reshape(found, kept, name)


def _spectral_norm(
    x: Any, ord: Any, rows: int, columns: int, keepdims: bool, name: str | None
) -> Any:
    rank, dtype = x.type.ndim, x.type.dtype
    rest = tuple(a for a in range(rank) if a not in (rows, columns))
    axes = (*rest, rows, columns)
    if axes != tuple(range(rank)):
        x = build("permute_dims", (x,), {"axes": axes})
    # The slope of abs at 0 is 0: so is that of singular values of 0.
    values = build("abs", (build("svdvals", (x.astype(WIDENED.get(dtype, dtype)),)),))
    if ord == "nuc":
        found = _reduced("sum", values, (rank - 2,), False, None)
    else:
        found = _extreme(values, ord, (rank - 2,), False, None)
    if keepdims:
        kept = iter(found.type.shape)
        shape = tuple(1 if a in (rows, columns) else next(kept) for a in range(rank))
        found = methods.reshape(found, shape)
    return methods.cast(found, REAL_OF.get(dtype, dtype), name)
