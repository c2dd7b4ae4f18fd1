"""Checkpoints: the variables and counters of a session in one safetensors file.

The tensors are plain safetensors, so that other tools read them; a complex tensor is stored
as its real and imaginary parts along one more axis.  The metadata hold the counters, the
dtypes of complex tensors, and a checksum over everything, so that a damaged file is refused.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from staticad_schema.errors import FormatError, PlanError
from staticad_schema.files import kind_of, replacing
from staticad_schema.graph import Graph
from staticad_schema.types import COMPLEX_OF, NAMES, REAL_OF, DType

from .arrays import Array, array_type
from .state import Snapshot, fits

VERSION = "1"
MAX_HEADER = 1 << 26
PIECE = 1 << 20

_TAGS: dict[str, str] = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
    "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
    "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
}  # fmt: skip
_DTYPES: dict[str, DType] = {tag: NAMES[name] for name, tag in _TAGS.items()}
_METADATA = "__metadata__"


def save(path: str | os.PathLike[str], snapshot: Snapshot) -> None:
    """Write a snapshot; `path` holds the old file or the new one, never half of one.

    Raises PlanError for a name that the format reserves, OSError.
    """
    if _METADATA in snapshot.arrays:
        raise PlanError(
            "a checkpoint cannot hold a variable of this name",
            asked="save",
            expected="another name",
            found=repr(_METADATA),
        )
    stored = {name: _stored(array) for name, array in snapshot.arrays.items()}
    checksum = zlib.crc32(_header(snapshot, stored, 0))
    for piece in _pieces(stored.values()):
        checksum = zlib.crc32(piece, checksum)
    with replacing(Path(path)) as file:
        text = _header(snapshot, stored, checksum)
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for piece in _pieces(stored.values()):
            file.write(piece)


def load(path: str | os.PathLike[str]) -> Snapshot:
    """The snapshot in a file.

    Raises FormatError if the file is not one that `save` wrote, OSError if it cannot be read.
    """
    with open(path, "rb") as file:
        return _read(file, Path(path).name)


def require_match(graph: Graph, snapshot: Snapshot) -> None:
    """Raises PlanError naming every variable that is missing, extra, or of another type."""
    problems = []
    for name, spec in graph.variable_specs.items():
        array = snapshot.arrays.get(name)
        if array is None:
            problems.append(f"missing {name!r} {spec.type}")
        elif not fits(spec.type, array_type(array)):
            problems.append(f"{name!r} is {array_type(array)}, the graph's is {spec.type}")
    problems += [f"extra {name!r}" for name in snapshot.arrays if name not in graph.variable_specs]
    if problems:
        raise PlanError(
            "the checkpoint does not fit the graph",
            asked="restore",
            expected=f"the graph's {len(graph.variable_specs)} variables, each with its type",
            found="; ".join(problems),
        )


def _stored(array: Array) -> Array:
    """The tensor that the file holds for an array."""
    real = REAL_OF.get(array.dtype)
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    return contiguous if real is None else contiguous[..., None].view(real)


def _header(snapshot: Snapshot, stored: Mapping[str, Array], checksum: int) -> bytes:
    complex_ = {n: a.dtype.name for n, a in snapshot.arrays.items() if a.dtype in REAL_OF}
    metadata = {
        "format": "staticad",
        "version": VERSION,
        "step": str(snapshot.step),
        "run_number": str(snapshot.run_number),
        "complex": json.dumps(complex_),
        "crc32": f"{checksum:08x}",
    }
    entries: dict[str, Any] = {_METADATA: metadata}
    at = 0
    for name, tensor in stored.items():
        entries[name] = {
            "dtype": _TAGS[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + tensor.nbytes],
        }
        at += tensor.nbytes
    return _encode(entries)


def _encode(entries: Mapping[str, Any]) -> bytes:
    text = json.dumps(entries, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % 8)


def _pieces(tensors: Any) -> Iterator[bytes]:
    """The bytes of all tensors, little-endian, in pieces."""
    for tensor in tensors:
        flat = tensor.reshape(-1)
        if flat.dtype.newbyteorder("<") != flat.dtype:
            flat = flat.astype(flat.dtype.newbyteorder("<"))
        octets = flat.view(np.uint8)
        for at in range(0, len(octets), PIECE):
            yield octets[at : at + PIECE].tobytes()


def _read(file: BinaryIO, name: str) -> Snapshot:
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > min(MAX_HEADER, size - 8):
        raise FormatError(
            "not a checkpoint, or a damaged one",
            asked=name,
            expected="a safetensors file that a session saved",
            found=kind_of(start + file.read(8)),
            hint="graphs are read by sad.load(path)" if name.endswith(".sad") else None,
        )
    text = file.read(length)
    header, metadata = _parsed(text, name)
    counters = _counters(metadata, name)
    complex_ = _complex_dtypes(metadata, name)
    unsigned = {_METADATA: {**metadata, "crc32": f"{0:08x}"}, **header}
    if _encode({_METADATA: metadata, **header}) != text:
        raise _damaged(name, "a header as this library writes it", "another")
    found = zlib.crc32(_encode(unsigned))
    arrays: dict[str, Array] = {}
    at, room = 0, size - 8 - length
    for key, entry in header.items():
        dtype, shape, nbytes = _entry(entry, at, room, name)
        data = np.empty(nbytes, np.uint8)
        for offset in range(0, nbytes, PIECE):
            target = data[offset : offset + PIECE]
            if file.readinto(target.data) != len(target):  # type: ignore[attr-defined]
                raise _damaged(name, f"{nbytes} bytes of {key[:80]!r}", "the end of the file")
            found = zlib.crc32(target.data, found)
        at += nbytes
        arrays[key] = _array(data, dtype, shape, complex_.pop(key, None), name)
    if at != room or complex_:
        raise _damaged(name, f"{room} bytes of tensors", f"{at}")
    if metadata.get("crc32") != f"{found:08x}":
        raise _damaged(name, f"checksum {metadata.get('crc32')!r:.20}", f"{found:08x}")
    return Snapshot(run_number=counters[0], step=counters[1]).with_arrays(arrays)


def _parsed(text: bytes, name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The entries of the tensors, and the metadata."""
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        raise _damaged(name, "a header in JSON", repr(text[:50])) from None
    metadata = header.pop(_METADATA, None) if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or metadata.get("format") != "staticad":
        raise FormatError(
            "not a checkpoint of this library",
            asked=name,
            expected="a safetensors file that a session saved",
            found="no such metadata",
            hint="tensors from elsewhere are assigned: session.variables[name] = array",
        )
    if metadata.get("version") != VERSION:
        raise FormatError(
            "a checkpoint of another version",
            asked=name,
            expected=f"version {VERSION}",
            found=f"version {metadata.get('version')!r}",
        )
    return header, metadata


def _counters(metadata: Mapping[str, Any], name: str) -> tuple[int, int]:
    return (
        _counter(metadata.get("run_number"), name),
        _counter(metadata.get("step"), name),
    )


def _counter(text: object, name: str) -> int:
    if isinstance(text, str) and len(text) <= 20 and text.isascii() and text.isdecimal():
        number = int(text)
        if number < 1 << 64:
            return number
    raise _damaged(name, "a counter below 2**64 in the metadata", repr(text)[:80])


def _complex_dtypes(metadata: Mapping[str, Any], name: str) -> dict[str, DType]:
    try:
        given = json.loads(metadata["complex"])
        found = {str(key): NAMES[value] for key, value in given.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        found = None
    if found is None or not all(d in REAL_OF for d in found.values()):
        raise _damaged(name, "the names of complex tensors", repr(metadata.get("complex"))[:80])
    return found


def _entry(entry: Any, at: int, room: int, name: str) -> tuple[DType, tuple[int, ...], int]:
    """dtype, shape and bytes of the tensor that begins at `at`."""
    try:
        dtype, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
        begin, end = entry["data_offsets"]
    except (TypeError, KeyError, ValueError):
        raise _damaged(name, "dtype, shape and two offsets", repr(entry)[:80]) from None
    numbers = (*shape, begin, end)
    if len(shape) > 65 or not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
        raise _damaged(name, "sizes and offsets", repr(numbers)[:80])
    nbytes = math.prod(shape) * dtype.itemsize
    if begin != at or end != at + nbytes or end > room:
        raise _damaged(name, f"{nbytes} bytes from {at} within {room}", f"{begin} to {end}")
    return dtype, shape, nbytes


def _array(
    data: Array, dtype: DType, shape: tuple[int, ...], complex_: DType | None, name: str
) -> Array:
    array = data.view(dtype.newbyteorder("<")).astype(dtype, copy=False).reshape(shape)
    if complex_ is None:
        return array
    if COMPLEX_OF.get(dtype) != complex_ or shape[-1:] != (2,):
        raise _damaged(name, f"pairs for a {complex_.name} tensor", f"{dtype.name} {shape}")
    return array.view(complex_).reshape(shape[:-1])


def _damaged(name: str, expected: str, found: str) -> FormatError:
    return FormatError("the checkpoint is damaged", asked=name, expected=expected, found=found)
