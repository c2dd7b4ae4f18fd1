"""The safetensors file beside a `.sad` file, which holds its large constants.

It is named by its content, so that a file and its constants cannot be mixed up, and it is
written and read in pieces, so that constants may be as large as memory.  Runs of zeros
become holes on disk and stay unallocated in memory.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from .errors import FormatError
from .files import replacing
from .types import NAMES, DType

Array = np.ndarray[Any, Any]

PIECE = 1 << 20
MAX_HEADER = 1 << 24

# The names that safetensors has for our dtypes.  It lacks complex128 (and older readers
# complex64): those are stored as bytes, with one axis more.
TENSOR_DTYPES = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
    "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
    "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "complex64": "U8", "complex128": "U8",
}  # fmt: skip
_ITEMSIZES = {tag: NAMES[name].itemsize for name, tag in TENSOR_DTYPES.items() if tag != "U8"}
_ITEMSIZES["U8"] = 1


class Reference(NamedTuple):
    """What the graph says of its sidecar."""

    file: str
    size: int
    sha256: bytes


class Tensor(NamedTuple):
    """One entry of a sidecar, its elements still bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: Array

    def array(self, dtype: DType, shape: tuple[int, ...]) -> Array:
        """The elements as an array.  Raises FormatError if the entry holds something else."""
        if (self.dtype, self.shape) != _stored_as(dtype, shape):
            raise FormatError(
                "a constant and its tensor in the sidecar differ",
                expected=f"{dtype.name} of shape {shape}",
                found=f"{self.dtype} of shape {self.shape}",
            )
        native = self.data.view(dtype.newbyteorder("<")).astype(dtype, copy=False)
        return native.reshape(shape)


def file_name(sha256: bytes) -> str:
    """The name that a sidecar of this content has."""
    return f"constants-{sha256.hex()[:32]}.safetensors"


def write(folder: Path, arrays: Sequence[Array]) -> Reference:
    """Write the arrays, which get the names "0", "1", ....  Raises FormatError, OSError."""
    header = _header(arrays)
    digest = hashlib.sha256(header)
    for piece in _pieces(arrays):
        digest.update(piece.data)
    sha256 = digest.digest()
    size = len(header) + sum(a.nbytes for a in arrays)
    with replacing(folder / file_name(sha256)) as file:
        file.write(header)
        for piece in _pieces(arrays):
            if piece.any():
                file.write(piece.data)
            else:
                file.seek(len(piece), os.SEEK_CUR)
        file.truncate(size)
    return Reference(file_name(sha256), size, sha256)


def read(folder: Path, reference: Reference) -> dict[str, Tensor]:
    """All tensors of the sidecar.  Raises FormatError if it is not the one that was written."""
    if len(reference.sha256) != 32 or reference.file != file_name(reference.sha256):
        raise FormatError(
            "the name of the sidecar does not follow from its content",
            expected=file_name(reference.sha256[:32]),
            found=repr(reference.file[:100]),
        )
    path = folder / reference.file
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != reference.size:
                raise _damaged(path, f"{reference.size} bytes", f"{size} bytes")
            return _read(file, path, reference)
    except OSError as error:
        raise FormatError(
            "the file of large constants cannot be read",
            expected=f"{reference.file} in the folder of the graph's file",
            found=str(error),
        ) from None


def _read(file: BinaryIO, path: Path, reference: Reference) -> dict[str, Tensor]:
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > min(MAX_HEADER, reference.size - 8):
        raise _damaged(path, "the length of the header in the first 8 bytes", f"{length}")
    text = file.read(length)
    digest = hashlib.sha256(start + text)
    tensors = {}
    at = 0
    for name, dtype, shape, begin, end in _entries(text, path):
        if begin != at or end - begin != math.prod(shape) * _ITEMSIZES[dtype]:
            raise _damaged(path, "tensors end to end", f"{name[:50]!r} from {begin} to {end}")
        if end > reference.size - 8 - length:
            raise _damaged(path, "tensors inside the file", f"{name[:50]!r} up to {end}")
        data = np.zeros(end - begin, np.uint8)
        for offset in range(0, len(data), PIECE):
            target = data[offset : offset + PIECE]
            piece = np.frombuffer(file.read(len(target)), np.uint8)
            if len(piece) < len(target):
                raise _damaged(path, f"{end - begin} bytes of {name[:50]!r}", "the end")
            digest.update(piece.data)
            if piece.any():
                target[:] = piece
        data.flags.writeable = False
        tensors[name] = Tensor(dtype, shape, data)
        at = end
    if at != reference.size - 8 - length:
        raise _damaged(path, f"{reference.size - 8 - length} bytes of tensors", f"{at}")
    if digest.digest() != reference.sha256:
        raise _damaged(path, f"sha256 {reference.sha256.hex()}", digest.hexdigest())
    return tensors


def _entries(text: bytes, path: Path) -> list[tuple[str, str, tuple[int, ...], int, int]]:
    """Name, dtype, shape and offsets of each tensor, by offset; of the right Python types."""
    try:
        header = json.loads(text)
        entries = [
            (str(name), str(e["dtype"]), tuple(e["shape"]), *e["data_offsets"])
            for name, e in header.items()
            if name != "__metadata__"
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _damaged(path, "a safetensors header", repr(text[:50])) from None
    for entry in entries:
        numbers = (*entry[2], *entry[3:])
        if len(entry) != 5 or entry[1] not in _ITEMSIZES or len(entry[2]) > 65:
            raise _damaged(path, "dtype, shape and two offsets", repr(entry)[:100])
        if not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
            raise _damaged(path, "sizes and offsets", repr(numbers)[:100])
    return sorted(entries, key=lambda entry: entry[3:])


def _damaged(path: Path, expected: str, found: str) -> FormatError:
    return FormatError(
        "the file of large constants is damaged", asked=path.name, expected=expected, found=found
    )


def _stored_as(dtype: DType, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    complex_ = dtype.kind == "c"
    return TENSOR_DTYPES[dtype.name], (*shape, dtype.itemsize) if complex_ else shape


def _header(arrays: Sequence[Array]) -> bytes:
    entries: dict[str, Any] = {}
    at = 0
    for k, array in enumerate(arrays):
        dtype, shape = _stored_as(array.dtype, array.shape)
        entries[str(k)] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": (at, at + array.nbytes),
        }
        at += array.nbytes
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        raise FormatError(
            "too many large constants",
            expected=f"a header of {MAX_HEADER} bytes",
            found=str(len(text)),
        )
    return len(text).to_bytes(8, "little") + text


def _pieces(arrays: Sequence[Array]) -> Iterator[Array]:
    """The bytes of the arrays in order, little-endian, in pieces."""
    for array in arrays:
        flat = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
        octets = flat.view(np.uint8)
        for at in range(0, len(octets), PIECE):
            yield octets[at : at + PIECE]
