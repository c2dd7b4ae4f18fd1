"""Checkpoints: the variables and counters of a session in one safetensors file.

The tensors are plain safetensors, so that other tools read them; a complex tensor is stored
as its real and imaginary parts along one more axis.  The metadata hold the counters, the
dtypes of complex tensors, and a checksum over everything, so that a damaged file is refused.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from staticad_schema import tensors
from staticad_schema.errors import FormatError, PlanError
from staticad_schema.files import kind_of, replacing
from staticad_schema.graph import Graph
from staticad_schema.tensors import METADATA, Entry
from staticad_schema.types import COMPLEX_OF, NAMES, REAL_OF, Array, DType, array_type

from .state import Snapshot, fits

VERSION = "1"
MAX_HEADER = 1 << 26


def save(path: str | os.PathLike[str], snapshot: Snapshot) -> None:
    """Write a snapshot; `path` holds the old file or the new one, never half of one.

    Raises PlanError for a name that the format reserves, OSError.
    """
    if METADATA in snapshot.arrays:
        raise PlanError(
            "a checkpoint cannot hold a variable of this name",
            asked="save",
            expected="another name",
            found=repr(METADATA),
        )
    stored = {name: _stored(array) for name, array in snapshot.arrays.items()}
    checksum = zlib.crc32(_header(snapshot, stored, 0))
    for piece in tensors.pieces(stored.values()):
        checksum = zlib.crc32(piece.data, checksum)
    with replacing(Path(path)) as file:
        file.write(tensors.framed(_header(snapshot, stored, checksum)))
        for piece in tensors.pieces(stored.values()):
            file.write(piece.data)


def load(path: str | os.PathLike[str]) -> Snapshot:
    """The snapshot in a file.

    Raises FormatError if the file is not one that `save` wrote, OSError if it cannot be read.
    """
    name = Path(path).name
    with open(path, "rb") as file:
        try:
            return _read(file, name)
        except FormatError as error:
            raise error.locate(asked=name) from error.__cause__


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
    entries = [Entry(name, tensor.dtype, tensor.shape) for name, tensor in stored.items()]
    return tensors.header(entries, metadata)


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

    def damaged(expected: str, found: str) -> FormatError:
        return _damaged(name, expected, found)

    table = tensors.read_table(text, damaged)
    metadata = _metadata(table, name)
    counters = _counters(metadata, name)
    complex_ = _complex_dtypes(metadata, name)
    entries = tensors.read_entries(table, size - 8 - length, damaged)
    if tensors.header(entries, metadata) != text:
        raise damaged("a header as this library writes it", "another")
    checksum = zlib.crc32(tensors.header(entries, {**metadata, "crc32": f"{0:08x}"}))

    def seen(piece: Any) -> None:
        nonlocal checksum
        checksum = zlib.crc32(piece, checksum)

    arrays: dict[str, Array] = {}
    for entry in entries:
        octets = tensors.read_octets(file, entry, seen, damaged)
        arrays[entry.name] = _array(octets, entry, complex_.pop(entry.name, None), name)
    if complex_:
        raise damaged("tensors of the complex ones' names", ", ".join(complex_)[:80])
    if metadata.get("crc32") != f"{checksum:08x}":
        raise damaged(f"checksum {metadata.get('crc32')!r:.20}", f"{checksum:08x}")
    return Snapshot(run_number=counters[0], step=counters[1]).with_arrays(arrays)


def _metadata(table: Mapping[str, Any], name: str) -> dict[str, str]:
    metadata = table.get(METADATA)
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
    return metadata


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


def _array(octets: Array, entry: Entry, complex_: DType | None, name: str) -> Array:
    array = tensors.from_octets(octets, entry.dtype, entry.shape)
    if complex_ is None:
        return array
    if COMPLEX_OF.get(entry.dtype) != complex_ or entry.shape[-1:] != (2,):
        raise _damaged(
            name, f"pairs for a {complex_.name} tensor", f"{entry.dtype.name} {entry.shape}"
        )
    return array.view(complex_).reshape(entry.shape[:-1])


def _damaged(name: str, expected: str, found: str) -> FormatError:
    return FormatError("the checkpoint is damaged", asked=name, expected=expected, found=found)
