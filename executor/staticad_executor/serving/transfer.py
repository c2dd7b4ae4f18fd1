"""Tensors on their way between two processes: in a message, behind it in pieces, or in memory
that both see.

What comes from elsewhere is checked before anything is allocated, and copied out of shared
memory before anything looks at it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from staticad_schema import run_pb2 as pb
from staticad_schema.errors import FormatError, LimitError
from staticad_schema.tensors import from_octets, octets_of
from staticad_schema.types import MAX_RANK, NAMES, UINT8, Array, DType

from ..pool import BlockPool
from .protocol import INLINE, PIECE

# In a region tensors begin on cache lines, and behind its mark.
ALIGNMENT = 64
Names = Sequence[str]
# NumPy makes a dtype's name anew each time.
_NAMES = {dtype: name for name, dtype in NAMES.items()}


def room(arrays: Iterable[Array]) -> int:
    """The bytes of a region that the arrays need."""
    return ALIGNMENT + sum(-(-a.nbytes // ALIGNMENT) * ALIGNMENT for a in arrays)


def is_small(arrays: Iterable[Array]) -> bool:
    """Whether the arrays travel within their message."""
    return sum(a.nbytes for a in arrays) <= INLINE


def inline(arrays: Sequence[Array], names: Names = ()) -> list[pb.Tensor]:
    """The arrays within a message."""
    made = _headers(arrays, names)
    for tensor, array in zip(made, arrays, strict=True):
        tensor.data = octets_of(array).tobytes()
    return made


def in_region(arrays: Sequence[Array], buffer: Array, names: Names = ()) -> list[pb.Tensor]:
    """The arrays, copied into a region that has room for them."""
    made, at = _headers(arrays, names), ALIGNMENT
    for tensor, array in zip(made, arrays, strict=True):
        tensor.offset = at
        buffer[at : at + array.nbytes] = octets_of(array)
        at += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    return made


def following(arrays: Sequence[Array], names: Names = ()) -> list[pb.Tensor]:
    """The arrays, to be sent behind their message by `pieces`."""
    made = _headers(arrays, names)
    for tensor in made:
        tensor.follows = True
    return made


def pieces(arrays: Iterable[Array]) -> Iterator[bytes]:
    """The bytes of arrays; no piece has bytes of two."""
    for array in arrays:
        octets = octets_of(array)
        for at in range(0, len(octets), PIECE):
            yield octets[at : at + PIECE].tobytes()


def _headers(arrays: Sequence[Array], names: Names) -> list[pb.Tensor]:
    return [
        pb.Tensor(dtype=_NAMES[a.dtype], shape=a.shape, name=names[k] if names else "")
        for k, a in enumerate(arrays)
    ]


def received(
    tensors: Sequence[pb.Tensor],
    buffer: Array | None,
    parts: Iterator[bytes],
    pool: BlockPool,
    limit: int | None = None,
) -> list[Array]:
    """The arrays of tensors, in memory of their own, of the pool.

    buffer: the call's region.  parts: what follows the message.  limit: bytes of all together.
    Raises FormatError, LimitError.
    """
    types = [_type(tensor) for tensor in tensors]
    total = sum(size for _, _, size in types)
    if limit is not None and total > limit:
        raise LimitError(
            "the tensors of a call are too large",
            expected=f"at most {limit:,} bytes",
            found=f"{total:,} bytes",
        )
    found = []
    for tensor, (dtype, shape, size) in zip(tensors, types, strict=True):
        place = tensor.WhichOneof("place")
        if place == "data":
            octets = np.frombuffer(tensor.data, UINT8).copy()
        elif place == "offset":
            octets = _copied(tensor.offset, size, buffer, pool)
        elif place == "follows":
            octets = _joined(parts, size, pool)
        else:
            raise FormatError("a tensor is nowhere", expected="data, offset or follows")
        found.append(from_octets(octets, dtype, shape))
    return found


def _type(tensor: pb.Tensor) -> tuple[DType, tuple[int, ...], int]:
    dtype, shape = NAMES.get(tensor.dtype), tuple(tensor.shape)
    if dtype is None or len(shape) > MAX_RANK:
        raise FormatError(
            "a tensor of no type that graphs have",
            expected=f"one of {', '.join(NAMES)}, of rank {MAX_RANK} at most",
            found=f"{tensor.dtype[:50]!r} of rank {len(shape)}",
        )
    return dtype, shape, 0 if 0 in shape else math.prod(shape) * dtype.itemsize


def _copied(offset: int, size: int, buffer: Array | None, pool: BlockPool) -> Array:
    if buffer is None or offset + size > buffer.size:
        raise FormatError(
            "a tensor lies outside of the call's region",
            expected="none" if buffer is None else f"at most {buffer.size:,} bytes",
            found=f"{size:,} bytes from {offset:,} on",
        )
    octets = pool.empty((size,), UINT8)
    octets[:] = buffer[offset : offset + size]
    return octets


def _joined(parts: Iterator[bytes], size: int, pool: BlockPool) -> Array:
    octets, at = pool.empty((size,), UINT8), 0
    while at < size:
        piece = next(parts, b"")
        if not 0 < len(piece) <= size - at:
            raise FormatError(
                "a tensor's bytes do not follow its message",
                expected=f"{size:,} bytes in pieces",
                found=f"{at + len(piece):,}",
            )
        octets[at : at + len(piece)] = np.frombuffer(piece, UINT8)
        at += len(piece)
    return octets
