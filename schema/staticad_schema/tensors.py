"""Arrays as bytes, and the safetensors format: a length, a header in JSON, then the bytes of the
tensors end to end.

What the tensors are for, and the checksums over them, their callers know.  They are written and
read in pieces, so that they may be as large as memory.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .errors import FormatError
from .types import BOOL, MAX_RANK, NAMES, Array, DType

# Makes the error for a damaged file of what was expected and what was found.
Damaged = Callable[[str, str], FormatError]

PIECE = 1 << 20
METADATA = "__metadata__"

# The names of dtypes.  The format lacks complex128, and older readers complex64: callers store
# those as something else with one axis more.
TAGS: dict[DType, str] = {
    NAMES[name]: tag
    for name, tag in {
        "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
        "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
        "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    }.items()
}  # fmt: skip
_DTYPES = {tag: dtype for dtype, tag in TAGS.items()}


class Entry(NamedTuple):
    """What a header says of a tensor."""

    name: str
    dtype: DType
    shape: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """The size of its elements."""
        return math.prod(self.shape) * self.dtype.itemsize


def from_octets(octets: Array, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The array of little-endian bytes, a view of them where that can be.

    Raises FormatError for another number of bytes, or a bool that is neither 0 nor 1.
    """
    # Sizes may be anybody's, so that their product may be beyond all bounds.
    nbytes = 0 if 0 in shape else math.prod(shape) * dtype.itemsize
    if octets.size != nbytes:
        raise FormatError(
            f"not the elements of {dtype.name} of shape {str(shape)[:100]}",
            expected=f"{nbytes} bytes",
            found=f"{octets.size} bytes",
        )
    if dtype == BOOL and octets.max(initial=0) > 1:
        raise FormatError(
            "not the elements of a bool array", expected="0 or 1", found=str(octets.max())
        )
    array = octets.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
    try:
        return array.reshape(shape)
    except (ValueError, OverflowError) as error:
        raise FormatError(
            "no array has this shape", expected="sizes that NumPy admits", found=str(error)
        ) from None


def octets_of(array: Array) -> Array:
    """The little-endian bytes of an array in C order, a view of it where that can be."""
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8)


def pieces(arrays: Iterable[Array]) -> Iterator[Array]:
    """The bytes of arrays in order, in pieces."""
    for array in arrays:
        octets = octets_of(array)
        for at in range(0, len(octets), PIECE):
            yield octets[at : at + PIECE]


def header(entries: Iterable[Entry], metadata: Mapping[str, str] | None = None) -> bytes:
    """The text of the header, its length not yet before it."""
    table: dict[str, Any] = {} if metadata is None else {METADATA: metadata}
    at = 0
    for entry in entries:
        table[entry.name] = {
            "dtype": TAGS[entry.dtype],
            "shape": entry.shape,
            "data_offsets": (at, at + entry.nbytes),
        }
        at += entry.nbytes
    text = json.dumps(table, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % 8)


def framed(text: bytes) -> bytes:
    """The header with its length before it."""
    return len(text).to_bytes(8, "little") + text


def read_table(text: bytes, damaged: Damaged) -> dict[str, Any]:
    """The JSON object of a header; its entries may be anything."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        raise damaged("a header in JSON", repr(text[:50])) from None
    if not isinstance(table, dict):
        raise damaged("a safetensors header", repr(text[:50]))
    return table


def read_entries(table: Mapping[str, Any], room: int, damaged: Damaged) -> list[Entry]:
    """The entries of a header by offset; they fill the `room` behind it, end to end."""
    found = [_entry(n, e, damaged) for n, e in table.items() if n != METADATA]
    found.sort(key=lambda item: item[1])
    at = 0
    for entry, offsets in found:
        if offsets != (at, at + entry.nbytes):
            raise damaged(
                f"{entry.nbytes} bytes of {entry.name[:50]!r} from {at} on", f"offsets {offsets}"
            )
        at += entry.nbytes
    if at != room:
        raise damaged(f"{room} bytes of tensors", f"{at}")
    return [entry for entry, _ in found]


def _entry(name: str, entry: Any, damaged: Damaged) -> tuple[Entry, tuple[int, int]]:
    try:
        dtype, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise damaged("dtype, shape and two offsets", repr(entry)[:100]) from None
    numbers = (*shape, begin, end)
    # One axis more than arrays have, for the parts of complex numbers.
    if len(shape) > MAX_RANK + 1 or not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
        raise damaged("sizes and offsets", repr(numbers)[:100])
    return Entry(name, dtype, shape), (begin, end)


def read_octets(
    file: BinaryIO, entry: Entry, seen: Callable[[Any], object], damaged: Damaged
) -> Array:
    """The bytes of the tensor that comes next; runs of zeros stay unallocated.

    seen: called with each piece that was read, as for a checksum.
    """
    octets = np.zeros(entry.nbytes, np.uint8)
    for at in range(0, len(octets), PIECE):
        target = octets[at : at + PIECE]
        piece = np.frombuffer(file.read(len(target)), np.uint8)
        if len(piece) < len(target):
            raise damaged(f"{entry.nbytes} bytes of {entry.name[:50]!r}", "the end of the file")
        seen(piece.data)
        if piece.any():
            target[:] = piece
    return octets
