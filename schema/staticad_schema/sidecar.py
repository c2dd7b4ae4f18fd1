"""The safetensors file beside a `.sad` file, which holds its large constants.

It is named by its content, so that a file and its constants cannot be mixed up, and it is
written and read in pieces, so that constants may be as large as memory.  Runs of zeros
become holes on disk and stay unallocated in memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from . import tensors
from .errors import FormatError
from .files import replacing
from .tensors import Entry
from .types import REAL_OF, UINT8, Array, DType

MAX_HEADER = 1 << 24


class Reference(NamedTuple):
    """What the graph says of its sidecar."""

    file: str
    size: int
    sha256: bytes


class Tensor(NamedTuple):
    """One entry of a sidecar, its elements still bytes."""

    entry: Entry
    octets: Array

    def array(self, dtype: DType, shape: tuple[int, ...]) -> Array:
        """The elements as an array.  Raises FormatError if the entry holds something else."""
        expected = _entry(self.entry.name, dtype, shape)
        if self.entry != expected:
            raise FormatError(
                "a constant and its tensor in the sidecar differ",
                expected=f"{expected.dtype.name} of shape {expected.shape}",
                found=f"{self.entry.dtype.name} of shape {self.entry.shape}",
            )
        return tensors.from_octets(self.octets, dtype, shape)


def tensor(name: str, array: Array) -> Tensor:
    """An array as an entry of a sidecar."""
    return Tensor(_entry(name, array.dtype, array.shape), tensors.octets_of(array))


def file_name(sha256: bytes) -> str:
    """The name that a sidecar of this content has."""
    return f"constants-{sha256.hex()[:32]}.safetensors"


def write(folder: Path, arrays: Sequence[Array]) -> Reference:
    """Write the arrays, which get the names "0", "1", ....  Raises FormatError, OSError."""
    text = tensors.header([_entry(str(k), a.dtype, a.shape) for k, a in enumerate(arrays)])
    if len(text) > MAX_HEADER:
        raise FormatError(
            "too many large constants",
            expected=f"a header of {MAX_HEADER} bytes",
            found=str(len(text)),
        )
    header = tensors.framed(text)
    digest = hashlib.sha256(header)
    for piece in tensors.pieces(arrays):
        digest.update(piece.data)
    sha256 = digest.digest()
    size = len(header) + sum(a.nbytes for a in arrays)
    with replacing(folder / file_name(sha256)) as file:
        file.write(header)
        for piece in tensors.pieces(arrays):
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
    def damaged(expected: str, found: str) -> FormatError:
        return _damaged(path, expected, found)

    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > min(MAX_HEADER, reference.size - 8):
        raise damaged("the length of the header in the first 8 bytes", f"{length}")
    text = file.read(length)
    digest = hashlib.sha256(start + text)
    room = reference.size - 8 - length
    found = {}
    for entry in tensors.read_entries(tensors.read_table(text, damaged), room, damaged):
        octets = tensors.read_octets(file, entry, digest.update, damaged)
        octets.flags.writeable = False
        found[entry.name] = Tensor(entry, octets)
    if digest.digest() != reference.sha256:
        raise damaged(f"sha256 {reference.sha256.hex()}", digest.hexdigest())
    return found


def _damaged(path: Path, expected: str, found: str) -> FormatError:
    return FormatError(
        "the file of large constants is damaged", asked=path.name, expected=expected, found=found
    )


def _entry(name: str, dtype: DType, shape: tuple[int, ...]) -> Entry:
    """How an array is stored: a complex one as bytes, with one axis more."""
    if dtype in REAL_OF:
        return Entry(name, UINT8, (*shape, dtype.itemsize))
    return Entry(name, dtype, shape)
