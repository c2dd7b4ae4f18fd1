"""Reductions and changes of shape and dtype: what methods, functions and layers are made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from staticad_schema import dims
from staticad_schema.dims import Dim, Size
from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.handle import floating
from staticad_schema.shapes import product, shape_text
from staticad_schema.types import (
    BOOL,
    INT64,
    INTEGER,
    KINDS,
    UINT64,
    WIDENED,
    DType,
    as_dtype,
)

from .building import build, renamed
from .dimensions import Axis, axes_of, integer, shape_of
from .options import flag


def accumulator(dtype: DType) -> DType:
    """The dtype in which the array API sums values of `dtype`."""
    kind = KINDS[dtype]
    if kind in ("bool", "int"):
        return INT64
    return UINT64 if kind == "uint" else dtype


def reduce(
    op: str, x: Any, axis: Axis, keepdims: bool, label: str | None = None, dtype: Any = None
) -> Any:
    """The named reduction; sum and prod of small integers in 64 bits, or in `dtype`."""
    if op in ("sum", "prod"):
        x = x.astype(accumulator(x.type.dtype) if dtype is None else as_dtype(dtype))
    axes = axes_of(axis, x.type.ndim)
    return build(op, (x,), {"axis": axes, "keepdims": flag("keepdims", keepdims)}, label=label)


def count(x: Any, axes: tuple[int, ...], dtype: DType) -> Any:
    """The number of elements along axes: a constant, or a scalar tensor if sizes are symbolic."""
    total = product(tuple(x.type.shape[a] for a in axes))
    if isinstance(total, int):
        return x.graph.handle(x.graph.scalar(float(total), dtype))
    return build("size_of", (x,), {"axis": axes, "dtype": dtype})


def mean(x: Any, axis: Axis, keepdims: bool, label: str | None = None) -> Any:
    """The arithmetic mean; NaN over no elements.  Half floats are summed in float32."""
    (x,) = floating(x)
    dtype = x.type.dtype
    axes = axes_of(axis, x.type.ndim)
    # A float16 sum may overflow where the mean does not.
    wide = widened(x)
    real = wide.type.dtype if wide.type.kind == "float" else np.zeros(0, dtype).real.dtype
    total = build("sum", (wide,), {"axis": axes, "keepdims": flag("keepdims", keepdims)})
    length = count(wide, axes, real).astype(wide.type.dtype)
    if wide is x:
        return build("divide", (total, length), label=label)
    return cast(build("divide", (total, length)), dtype, label)


def cast(x: Any, dtype: Any, label: str | None = None) -> Any:
    """x in another dtype.  Complex numbers do not become real ones: raises DTypeError."""
    dtype = as_dtype(dtype)
    if x.type.dtype == dtype:
        return renamed(x, label)
    if x.type.kind == "complex" and KINDS[dtype] != "complex" and dtype != BOOL:
        raise DTypeError(
            "a complex tensor cannot be cast to a real dtype",
            expected="a complex dtype, or the function real, imag or abs",
            found=f"{x.describe()} to {dtype.name}",
        )
    return build("cast", (x,), {"dtype": dtype}, label=label)


def widened(x: Any) -> Any:
    """Half floats in float32; else x."""
    return x.astype(WIDENED.get(x.type.dtype, x.type.dtype))


def computed(function: Callable[..., Any], *xs: Any, label: str | None = None) -> Any:
    """The function of tensors of one dtype; half floats compute in float32 and are rounded once."""
    return cast(function(*map(widened, xs)), xs[0].type.dtype, label)


def reshape(x: Any, shape: Any, label: str | None = None) -> Any:
    """x in another shape; one -1 stands for what is left over.  Raises GraphError."""
    given = list(shape) if isinstance(shape, tuple | list) else [shape]
    free = [i for i, s in enumerate(given) if not isinstance(s, str | Dim) and integer(s) == -1]
    if len(free) > 1:
        raise ShapeError("more than one size is -1", expected="one at most", found=str(shape))
    total = product(x.type.shape)
    for i in free:
        given[i] = 1
        rest = product(shape_of(given))
        exact = None if rest == 0 else dims.divide_exactly(total, rest)
        if exact is None:
            known = isinstance(total, int) and isinstance(rest, int)
            if known or rest == 0:
                raise ShapeError(
                    "the size of -1 is not determined",
                    expected=f"sizes whose product divides {total}",
                    found=f"{shape_text(tuple(shape))} for {x.describe()}",
                )
            exact = dims.floordiv(total, rest)
        given[i] = exact
    target = shape_of(given)
    if target == x.type.shape:
        return renamed(x, label)
    return build("reshape", (x,), {"shape": target}, label=label)


def matrix_transpose(x: Any, label: str | None = None) -> Any:
    """x with its last two axes exchanged.  Raises ShapeError below rank 2."""
    n = x.type.ndim
    if n < 2:
        raise ShapeError(
            "there are no two axes to exchange",
            expected="a tensor of rank 2 or more",
            found=x.describe(),
        )
    return build("permute_dims", (x,), {"axes": (*range(n - 2), n - 1, n - 2)}, label=label)


def permute(x: Any, axes: tuple[int, ...], label: str | None = None) -> Any:
    """x with its axes in another order."""
    if axes == tuple(range(len(axes))):
        return renamed(x, label)
    return build("permute_dims", (x,), {"axes": axes}, label=label)


def slice_along(
    x: Any, axis: int, start: Size | None, stop: Size | None, label: str | None = None
) -> Any:
    """x from `start` to before `stop` along an axis counted from the front."""
    slices: list[tuple[Size | None, Size | None, int]] = [(None, None, 1)] * x.type.ndim
    slices[axis] = (start, stop, 1)
    return build("slice", (x,), {"slices": tuple(slices)}, label=label)


def limits(dtype: DType) -> tuple[Any, Any]:
    """The least and the greatest value of a real dtype."""
    if KINDS[dtype] == "float":
        return -math.inf, math.inf
    if KINDS[dtype] not in INTEGER:
        raise DTypeError("values without an order", expected="a real dtype", found=dtype.name)
    whole = np.iinfo(dtype)
    return int(whole.min), int(whole.max)
