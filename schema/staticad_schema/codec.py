"""Graph <-> bytes and files.

A `.sad` file is one `File` message: the format version, the number of nodes and a checksum
around the bytes of a `Graph` message, in exactly the one encoding that `_frame` writes.
docs/file-format.md is the normative text.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, overload

import numpy as np
from google.protobuf.message import DecodeError, EncodeError

from . import migrate, sidecar
from .check import check_graph
from .collection import collection_paused
from .decoder import decode_graph
from .encoder import encode_graph
from .errors import ArgumentError, FormatError
from .files import kind_of, replacing
from .graph import Graph
from .graph_pb2 import File
from .graph_pb2 import Graph as GraphMessage

G = TypeVar("G", bound=Graph)
Sites = Literal["relative", "none"]
Externalize = Callable[[np.ndarray[Any, Any]], str | None]

# Constants of more bytes than this go to the sidecar ...
EXTERNAL = 1 << 20
# ... and so do smaller ones, except tiny ones, once a file holds this many bytes of them.
INLINE_TOTAL = 1 << 28
TINY = 1 << 10

_GRAPH_TAG = b"\x22"  # field 4, bytes


class Verified(NamedTuple):
    """What `verify` found: a file that loads."""

    format: int
    nodes: int
    functions: int
    variables: int
    signatures: int
    size: int
    sidecar: sidecar.Reference | None


def encode(
    graph: Graph, sites: Sites = "relative", externalize: Externalize = lambda array: None
) -> bytes:
    """The graph as the bytes of a file without a sidecar.

    sites: keep the user's lines ("relative" to their import root), or "none".  externalize: gives
    constants that the caller keeps elsewhere a name, for `decode(tensors=…)`, and others None.
    Raises FormatError for what a file cannot hold.
    """
    with graph.lock:
        return b"".join(_frame(graph, _message(graph, sites, externalize)))


def save(
    graph: Graph,
    path: str | os.PathLike[str],
    sites: Sites = "relative",
    external: int = EXTERNAL,
) -> None:
    """Write the graph to a file; constants of more than `external` bytes go beside it.

    The file appears, or replaces an older one, when it is complete.
    Raises FormatError for what a file cannot hold, OSError.
    """
    path = Path(path)
    arrays: list[np.ndarray[Any, Any]] = []
    names: dict[int, str] = {}
    inline = 0

    def externalize(array: np.ndarray[Any, Any]) -> str | None:
        nonlocal inline
        if array.nbytes <= (TINY if inline > INLINE_TOTAL else external):
            inline += array.nbytes
            return None
        if id(array) not in names:
            names[id(array)] = str(len(arrays))
            arrays.append(array)
        return names[id(array)]

    with graph.lock, collection_paused():
        message = _message(graph, sites, externalize)
        if arrays:
            written = sidecar.write(path.parent, arrays)
            message.sidecar.file = written.file
            message.sidecar.size = written.size
            message.sidecar.sha256 = written.sha256
        parts = _frame(graph, message)
    with replacing(path) as file:
        file.writelines(parts)


@overload
def decode(
    data: bytes,
    *,
    folder: Path | None = None,
    tensors: Mapping[str, sidecar.Tensor] = ...,
) -> Graph: ...
@overload
def decode(
    data: bytes,
    graph_class: Callable[..., G],
    folder: Path | None = None,
    tensors: Mapping[str, sidecar.Tensor] = ...,
) -> G: ...
def decode(
    data: bytes,
    graph_class: Callable[..., Graph] = Graph,
    folder: Path | None = None,
    tensors: Mapping[str, sidecar.Tensor] = MappingProxyType({}),
) -> Graph:
    """The graph of a file's bytes.

    graph_class: makes the empty graphs, given the seed; the builder has its own.
    folder: where the sidecar is; without it a file that has one is refused.  tensors: the
    constants that `encode` was told are elsewhere, by their names.
    Raises FormatError for anything but a whole and valid file of this or an older version.
    """
    file, message = _parse(data)
    if message.HasField("sidecar"):
        if folder is None:
            raise FormatError(
                "the constants of this graph are in another file",
                expected="a graph in one piece, or a folder to look in",
                found=repr(message.sidecar.file[:100]),
            )
        tensors = sidecar.read(folder, _reference(message))
    with collection_paused():
        graph = decode_graph(message, tensors, graph_class)
    nodes = _count(graph)
    if nodes != file.node_count:
        raise FormatError(
            "the file is damaged", expected=f"{file.node_count} nodes", found=f"{nodes} nodes"
        )
    return graph


@overload
def load(path: str | os.PathLike[str]) -> Graph: ...
@overload
def load(path: str | os.PathLike[str], graph_class: Callable[..., G]) -> G: ...
def load(path: str | os.PathLike[str], graph_class: Callable[..., Graph] = Graph) -> Graph:
    """The graph in a file.  Raises FormatError, and OSError if the file cannot be read."""
    path = Path(path)
    try:
        return decode(path.read_bytes(), graph_class, path.parent)
    except FormatError as error:
        raise error.locate(asked=f"load {path.name!r}") from error.__cause__


def verify(path: str | os.PathLike[str]) -> Verified:
    """Load a file with all its checks, and say what is in it.  Raises FormatError, OSError."""
    path = Path(path)
    graph = load(path)
    data = path.read_bytes()
    file, message = _parse(data)
    return Verified(
        format=file.format,
        nodes=file.node_count,
        functions=len(graph.functions),
        variables=len(graph.variable_specs),
        signatures=len(graph.signatures),
        size=len(data),
        sidecar=_reference(message) if message.HasField("sidecar") else None,
    )


def _message(graph: Graph, sites: Sites, externalize: Externalize) -> GraphMessage:
    if sites not in ("relative", "none"):
        raise ArgumentError(
            "sites= says which lines of the user's are saved",
            asked="save",
            expected="'relative' or 'none'",
            found=repr(sites),
        )
    try:
        check_graph(graph)
        return encode_graph(graph, sites == "relative", externalize)
    except UnicodeEncodeError as error:
        raise FormatError(
            "a name that is not Unicode text", asked="save", found=repr(error.object)[:100]
        ) from None
    except FormatError as error:
        raise error.locate(asked="save") from error.__cause__


def _frame(graph: Graph, message: GraphMessage) -> tuple[bytes, bytes]:
    try:
        data = message.SerializeToString(deterministic=True)
    except (EncodeError, ValueError) as error:
        raise FormatError(
            "the graph is too large for one message",
            asked="save",
            expected="less than 2 GB without its large constants; `save` keeps those beside it",
            found=str(error),
        ) from None
    return header(_count(graph), data), data


def header(node_count: int, data: bytes, format: int | None = None) -> bytes:
    """The bytes of a File message up to those of its last field."""
    head = File(
        format=migrate.FORMAT if format is None else format,
        node_count=node_count,
        crc32=zlib.crc32(data),
    )
    return head.SerializeToString(deterministic=True) + _GRAPH_TAG + _varint(len(data))


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _parse(data: bytes) -> tuple[File, GraphMessage]:
    """The frame, checked, and its graph as the present format has it.  Raises FormatError."""
    try:
        if not data:
            raise DecodeError("no bytes are a message in which every field has its default")
        file = File.FromString(data)
    except DecodeError:
        raise FormatError(
            "not a staticad file, or a damaged one",
            expected="a graph that was saved",
            found=kind_of(data[:16]),
            hint="checkpoints are read by session.restore(path)" if data[8:9] == b"{" else None,
        ) from None
    graph = file.graph
    # The version first: what a newer version changes, it may also change in the frame.
    if file.format > migrate.FORMAT:
        migrate.upgrade(GraphMessage(), file.format, migrate.FORMAT, migrate.MIGRATIONS)
    if zlib.crc32(graph) != file.crc32:
        raise FormatError(
            "the file is damaged",
            expected=f"checksum {file.crc32:08x}",
            found=f"{zlib.crc32(graph):08x}",
        )
    expected = header(file.node_count, graph, file.format)
    if len(data) != len(expected) + len(graph) or not data.startswith(expected):
        raise FormatError(
            "the file is damaged",
            expected=f"{len(expected) + len(graph)} bytes in the one encoding of a frame",
            found=f"{len(data)} bytes in another",
        )
    try:
        message = GraphMessage.FromString(graph)
    except DecodeError:
        raise FormatError(
            "the file is damaged", expected="a Graph message", found="other bytes"
        ) from None
    return file, migrate.upgrade(message, file.format, migrate.FORMAT, migrate.MIGRATIONS)


def _reference(message: GraphMessage) -> sidecar.Reference:
    entry = message.sidecar
    return sidecar.Reference(entry.file, entry.size, entry.sha256)


def _count(graph: Graph) -> int:
    return len(graph.nodes) + sum(len(f.body.nodes) for f in graph.functions.values())
