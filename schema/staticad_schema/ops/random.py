"""Random bits.  All else that is random is composed from them.

In a body that runs many times the path is a value, which the iteration is a part of.
"""

from __future__ import annotations

import numpy as np

from ..calls import check_path, inner_path
from ..errors import ArgumentError, DTypeError
from ..op import Operand, SymbolicShape, constant, op
from ..types import UINT32, UINT64, Array, DType, TensorType
from . import philox
from .sources import declared


def _random_bits(run: Array, *, key: int, path: int, shape: tuple[int, ...], dtype: DType) -> Array:
    draw = philox.bits32 if dtype == UINT32 else philox.bits64
    result: Array = draw(shape, key=key, path=path, run=int(run))
    return result


@op(numpy=_random_bits, grad=constant, batch="map", effect="random")
def random_bits(
    run: Operand, *, key: int, path: int, shape: SymbolicShape, dtype: DType
) -> TensorType:
    """Uniformly random uint32 or uint64, by Philox 4x32-10.

    run: the run number, a uint64 scalar.  key: 64 bits that tell the graph's random nodes
    apart.  path: 32 bits that tell the calls of a body apart.  A shorter shape draws a prefix
    of what a longer one does.
    """
    _check_draw(run, key, dtype)
    check_path(path)
    return declared(dtype, shape)


def _check_draw(run: TensorType, key: int, dtype: DType) -> None:
    if run != TensorType(UINT64, ()):
        raise DTypeError("not a run number", expected=str(TensorType(UINT64, ())), found=str(run))
    if dtype not in (UINT32, UINT64):
        raise DTypeError("not a dtype of random bits", expected="uint32, uint64", found=str(dtype))
    if not 0 <= key < 1 << 64:
        raise ArgumentError("key is out of range", expected="64 bits", found=str(key))


def _check_path_value(path: TensorType) -> None:
    if path != TensorType(UINT32, ()):
        raise DTypeError("not a call path", expected=str(TensorType(UINT32, ())), found=str(path))


def _bits_at(run: Array, path: Array, *, key: int, shape: tuple[int, ...], dtype: DType) -> Array:
    return _random_bits(run, key=key, path=int(path), shape=shape, dtype=dtype)


@op(numpy=_bits_at, grad=constant, batch="map", effect="random")
def random_bits_at(
    run: Operand, path: Operand, *, key: int, shape: SymbolicShape, dtype: DType
) -> TensorType:
    """random_bits whose path, a uint32 scalar, is computed."""
    _check_draw(run, key, dtype)
    _check_path_value(path)
    return declared(dtype, shape)


@op(
    numpy=lambda outer, *, path: np.array(inner_path(int(outer), path), np.uint32),
    grad=constant,
    batch="map",
)
def path_within(outer: Operand, *, path: int) -> TensorType:
    """The call path of what has this path in a body that is called by `outer`."""
    _check_path_value(outer)
    check_path(path)
    return outer
