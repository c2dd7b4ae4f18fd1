"""Graphs on their way: a file without its large constants, and those by their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from staticad_schema.codec import decode, encode
from staticad_schema.errors import FormatError
from staticad_schema.graph import Graph
from staticad_schema.sidecar import Tensor, tensor
from staticad_schema.tensors import octets_of
from staticad_schema.types import UINT8, Array

# Constants of more bytes travel apart from the graph, and only once.
LARGE = 1 << 16


class Packed(NamedTuple):
    """A graph's file, and the large constants that it calls by the SHA-256 of their content."""

    data: bytes
    constants: dict[str, Array]

    @property
    def octets(self) -> Array:
        """The file as an array."""
        return np.frombuffer(self.data, UINT8)

    @property
    def digest(self) -> bytes:
        """What names the graph."""
        return hashlib.sha256(self.data).digest()


class Packer:
    """Packs a graph again and again as it grows; what it has seen of constants it keeps."""

    def __init__(self) -> None:
        # Graphs hold their constants, so that an id stays that of one array.
        self._names: dict[int, str] = {}

    def packed(self, graph: Graph) -> Packed:
        """The graph as it is now.  Raises FormatError."""
        constants: dict[str, Array] = {}

        def externalize(array: Array) -> str | None:
            if array.nbytes <= LARGE:
                return None
            name = self._names.get(id(array))
            if name is None:
                name = self._names[id(array)] = _content(array)
            constants[name] = array
            return name

        return Packed(encode(graph, externalize=externalize), constants)


def entry(name: str, array: Array) -> Tensor:
    """A constant that has come from elsewhere.  Raises FormatError if it is not what it says."""
    if _content(array) != name:
        raise FormatError("a constant's name does not follow from its content", found=name[:80])
    array.flags.writeable = False
    return tensor(name, array)


def unpacked(data: bytes, constants: Mapping[str, Tensor]) -> Graph:
    """The graph of a packed file.  Raises FormatError."""
    return decode(data, tensors=constants)


def _content(array: Array) -> str:
    digest = hashlib.sha256(f"{array.dtype.name} {array.shape}".encode())
    digest.update(octets_of(array).data)
    return digest.hexdigest()
