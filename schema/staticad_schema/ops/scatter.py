"""Ops that combine updates with what stands at integer positions: products and extrema.

Several updates may meet one place.  `index` has the scatters that set and add.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dims import Size
from ..op import OPS, Ints, Operand, op
from ..shapes import broadcast_shapes, product
from ..types import BOOL, INT64, NUMERIC, REAL, WIDENED, Array, TensorType
from .arithmetic import multiply_no_nan
from .checks import check_equal_shapes, check_kind, same_dtype
from .comparison import equal
from .index import (
    along,
    batch_scatter,
    check_indexed,
    combined,
    gather,
    rows_of,
    scatter_add,
    scatter_set,
    table_of,
    tangent_of,
)
from .pointwise import pushed, scaled, select
from .scan import linear_recurrence, shifted
from .shape import broadcast_to, reshape, zeros


def _check(kinds: frozenset[str], operands: Sequence[Operand], axes: Ints) -> Operand:
    x, updates, *indices = operands
    same_dtype((x, updates))
    check_kind(kinds, x)
    check_equal_shapes(updates.shape, check_indexed(x, indices, axes), "updates")
    return x


# ------------------------------------------------------------------ extrema


def _extremum(ufunc: Any, last: Callable[[np.iinfo[Any]], int], infinite: float) -> Any:
    """The meaning, of which `last` and `infinite` are what any update replaces."""

    def meaning(x: Array, updates: Array, *indices: Array, axes: Ints, include_self: bool) -> Array:
        out, rows = rows_of(x, indices, axes)
        if not include_self:
            worst = last(np.iinfo(x.dtype)) if x.dtype.kind in "iu" else infinite
            table_of(out, axes)[rows] = worst
        return combined(ufunc, out, rows, updates, axes)

    return meaning


def _shares(operands: Sequence[Any], out: Any, axes: Ints, include_self: bool) -> tuple[Any, Any]:
    """1/k at each of the k elements of x and of the updates that attain their place's extremum,
    0 at the others."""
    x, updates, *indices = operands
    blank = zeros(out, out.type.shape).astype(BOOL)
    every = OPS["logical_not"](zeros(updates, updates.type.shape).astype(BOOL))
    met = scatter_set(blank, every, *indices, axes=axes)
    own = OPS["logical_not"](met)
    if include_self:
        own = OPS["logical_or"](own, equal(x, out))
    new = equal(updates, gather(out, *indices, axes=axes))
    # Counted as integers: a half float does not count beyond its precision.
    count = scatter_add(own.astype(INT64), new.astype(INT64), *indices, axes=axes)
    share = select(equal(count, 0), out.coerce(0.0), 1 / count.astype(x.type.dtype))
    return select(own, share), select(new, gather(share, *indices, axes=axes))


def _grad_extremum(
    operands: Sequence[Any], out: Any, g: Any, *, axes: Ints, include_self: bool
) -> tuple[Any, ...]:
    _, _, *indices = operands
    own, new = _shares(operands, out, axes, include_self)
    read = gather(g, *indices, axes=axes)
    return (multiply_no_nan(own, g), multiply_no_nan(new, read), *(None for _ in indices))


def _jvp_extremum(
    operands: Sequence[Any],
    out: Any,
    tangents: Sequence[Any],
    *,
    axes: Ints,
    include_self: bool,
) -> Any:
    x, updates, *indices = operands
    own, new = _shares(operands, out, axes, include_self)
    dx = pushed(own, tangent_of(tangents[0], x))
    du = pushed(new, tangent_of(tangents[1], updates))
    return scatter_add(dx, du, *indices, axes=axes)


@op(
    numpy=_extremum(np.maximum, lambda limits: int(limits.min), -np.inf),
    grad=_grad_extremum,
    jvp=_jvp_extremum,
    batch=batch_scatter("scatter_max"),
    widen=True,
)
def scatter_max(
    x: Operand, updates: Operand, *indices: Operand, axes: Ints, include_self: bool = True
) -> TensorType:
    """x raised to each update at the places that `gather` of it reads; NaN where one is.

    The derivative is shared among equal largest ones, x among them.  Without include_self x counts
    only where there is no update.
    """
    return _check(REAL, (x, updates, *indices), axes)


@op(
    numpy=_extremum(np.minimum, lambda limits: int(limits.max), np.inf),
    grad=_grad_extremum,
    jvp=_jvp_extremum,
    batch=batch_scatter("scatter_min"),
    widen=True,
)
def scatter_min(
    x: Operand, updates: Operand, *indices: Operand, axes: Ints, include_self: bool = True
) -> TensorType:
    """x lowered to each update at the places that `gather` of it reads; NaN where one is.

    The derivative is shared among equal smallest ones, x among them.  Without include_self x
    counts only where there is no update.
    """
    return _check(REAL, (x, updates, *indices), axes)


# ------------------------------------------------------------------ products


def _number_of_place(x: Any, indices: Sequence[Any], axes: Ints) -> Any:
    """For each update the number of its place in row-major order, as one axis."""
    shape = broadcast_shapes(i.type.shape for i in indices)
    sizes = tuple(x.type.shape[a] for a in axes)
    numbers = reshape(along(x, product(sizes), 0, 1), shape=sizes)
    found = gather(numbers, *indices, axes=tuple(range(len(axes))))
    return reshape(found, shape=(product(shape),))


def _products_of_others(operands: Sequence[Any], axes: Ints) -> Any:
    """For each update the product of x at its place and of all other updates of that place.

    In the order of their places, updates that meet stand side by side: products from the left
    and from the right, begun anew where the place changes.  Nothing is divided, so zeros are
    exact, also in derivatives of this.
    """
    x, updates, *indices = operands
    shape, dtype = updates.type.shape, x.type.dtype
    wide = WIDENED.get(dtype, dtype)
    depth = len(broadcast_shapes(i.type.shape for i in indices))
    count: Size = product(shape[:depth])
    places, order = OPS["sort"](_number_of_place(x, indices, axes), axis=0, descending=False)
    rows = reshape(updates.astype(wide), shape=(count, *shape[depth:]))
    rows = gather(rows, order, axes=(0,))
    around = gather(x, *indices, axes=axes).astype(wide)
    for reverse in (False, True):
        first = OPS["not_equal"](places, shifted(places, 0, reverse, -1))
        first = reshape(first, shape=(count, *(1,) * (len(shape) - depth)))
        first = broadcast_to(first, shape=rows.type.shape)
        zero, one = (broadcast_to(rows.coerce(v), shape=rows.type.shape) for v in (0.0, 1.0))
        before = linear_recurrence(
            OPS["where"](first, zero, shifted(rows, 0, reverse, 1.0)),
            OPS["where"](first, one, zero),
            axis=0,
            reverse=reverse,
        )
        back = scatter_set(zeros(before, before.type.shape), before, order, axes=(0,))
        around = multiply_no_nan(reshape(back, shape=shape), around)
    return around.astype(dtype)


def _multiplied(x: Array, updates: Array, *indices: Array, axes: Ints) -> Array:
    return combined(np.multiply, *rows_of(x, indices, axes), updates, axes)


def _product_of_updates(operands: Sequence[Any], axes: Ints) -> Any:
    x, updates, *indices = operands
    ones = broadcast_to(x.coerce(1.0), shape=x.type.shape)
    return scatter_multiply(ones, updates, *indices, axes=axes)


def _grad_multiply(operands: Sequence[Any], out: Any, g: Any, *, axes: Ints) -> tuple[Any, ...]:
    _, _, *indices = operands
    return (
        scaled(_product_of_updates(operands, axes), g),
        scaled(_products_of_others(operands, axes), gather(g, *indices, axes=axes)),
        *(None for _ in indices),
    )


def _jvp_multiply(operands: Sequence[Any], out: Any, tangents: Sequence[Any], *, axes: Ints) -> Any:
    x, _, *indices = operands
    moved = zeros(x, x.type.shape)
    if tangents[0] is not None:
        moved = pushed(_product_of_updates(operands, axes), tangents[0])
    if tangents[1] is None:
        return moved
    around = pushed(_products_of_others(operands, axes), tangents[1])
    return scatter_add(moved, around, *indices, axes=axes)


@op(
    numpy=_multiplied,
    grad=_grad_multiply,
    jvp=_jvp_multiply,
    batch=batch_scatter("scatter_multiply"),
    widen=True,
)
def scatter_multiply(x: Operand, updates: Operand, *indices: Operand, axes: Ints) -> TensorType:
    """x times each update at the places that `gather` of it reads.

    The derivatives are exact where factors are 0.
    """
    return _check(NUMERIC, (x, updates, *indices), axes)
