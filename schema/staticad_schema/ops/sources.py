"""Ops without operands: where the values of a graph come from.

A placeholder and a variable's start value are given by whoever runs the graph; the rest is
computed from attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dims import Dim
from ..errors import ArgumentError, DTypeError, PlanError, ShapeError
from ..op import ArrayValue, SymbolicShape, op
from ..op import constant as no_gradient
from ..shapes import normalize_axis
from ..types import REAL, UINT64, Array, DType, TensorType, require_dtype


def declared(dtype: DType, shape: SymbolicShape) -> TensorType:
    """The type that two attributes declare.  Raises DTypeError, ShapeError."""
    require_dtype(dtype)
    for size in shape:
        if isinstance(size, Dim):
            continue
        if type(size) is not int or size < 0:
            raise ShapeError(
                "not a size",
                expected="integers of at least 0, or symbolic dimensions",
                found=repr(size),
            )
    return TensorType(dtype, tuple(shape))


def _not_fed(**attributes: Any) -> Array:
    raise PlanError("a placeholder is not fed", expected="a feed for it", found="none")


@op(numpy=lambda *, value: value, grad=no_gradient, batch="elementwise")
def constant(*, value: ArrayValue) -> TensorType:
    """An array that is part of the graph."""
    return declared(value.dtype, value.shape)


@op(numpy=_not_fed, grad=no_gradient, batch="elementwise")
def placeholder(*, dtype: DType, shape: SymbolicShape) -> TensorType:
    """A value that is fed when the graph runs."""
    return declared(dtype, shape)


@op(numpy=_not_fed, grad=no_gradient, batch="elementwise")
def parameter(*, index: int, dtype: DType, shape: SymbolicShape) -> TensorType:
    """The input number `index` of a function body."""
    if index < 0:
        raise ArgumentError("not an input's number", expected="at least 0", found=str(index))
    return declared(dtype, shape)


@op(grad=no_gradient, batch="elementwise", effect="reads")
def variable(*, variable: str, dtype: DType, shape: SymbolicShape) -> TensorType:
    """The value that a variable has at the start of the run."""
    return declared(dtype, shape)


@op(grad=no_gradient, batch="elementwise", effect="reads")
def read_variable(*, variable: str, dtype: DType, shape: SymbolicShape) -> TensorType:
    """The value that a variable has once the nodes in `after` have run."""
    return declared(dtype, shape)


@op(grad=no_gradient, batch="elementwise", effect="reads")
def run_number() -> TensorType:
    """The number of committed runs that drew random numbers: a uint64 scalar."""
    return TensorType(UINT64, ())


def _iota(*, shape: tuple[int, ...], axis: int, dtype: DType) -> Array:
    steps = np.arange(shape[axis]).astype(dtype)
    aligned = steps.reshape((-1,) + (1,) * (len(shape) - axis - 1))
    return np.ascontiguousarray(np.broadcast_to(aligned, shape))


@op(numpy=_iota, grad=no_gradient, batch="elementwise")
def iota(*, shape: SymbolicShape, axis: int, dtype: DType) -> TensorType:
    """Each element's index along `axis`, as an integer or float dtype."""
    result = declared(dtype, shape)
    if result.kind not in REAL:
        raise DTypeError(
            "indices need a real dtype", expected="an integer or float dtype", found=dtype.name
        )
    if normalize_axis(axis, result.ndim) != axis:
        raise ArgumentError("an axis counted from the back", expected="0 or more", found=str(axis))
    return result
