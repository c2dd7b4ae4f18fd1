"""Random bits.  All else that is random is composed from them."""

from __future__ import annotations

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
    if run != TensorType(UINT64, ()):
        raise DTypeError("not a run number", expected=str(TensorType(UINT64, ())), found=str(run))
    if dtype not in (UINT32, UINT64):
        raise DTypeError("not a dtype of random bits", expected="uint32, uint64", found=str(dtype))
    for name, value, width in (("key", key, 64), ("path", path, 32)):
        if not 0 <= value < 1 << width:
            raise ArgumentError(
                f"{name} is out of range", expected=f"{width} bits", found=str(value)
            )
    return declared(dtype, shape)
