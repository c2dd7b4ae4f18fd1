"""The graphs that a server offers, by name: files that it was given, and those of a folder.

A name is the stem of a file and nothing else, so that no name leads out of the folder.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

from staticad_schema.codec import load
from staticad_schema.errors import UnknownFetchError, near_miss

from ..address import check_name
from .graphs import Packed, Packer

SUFFIX = ".sad"


class Models:
    """Files of graphs by name."""

    def __init__(self, files: Iterable[Path] = (), folder: Path | None = None) -> None:
        """Raises PlanError for a file whose name cannot be a model's, FormatError, OSError."""
        self._files: dict[str, Path] = {}
        self._folder = folder
        self._packed: dict[str, Packed] = {}
        self._lock = threading.Lock()
        for path in files:
            check_name(path.stem, "serve")
            self._files[path.stem] = path
            self.packed(path.stem)

    def names(self) -> list[str]:
        """What is offered."""
        inside = [] if self._folder is None else [p.stem for p in self._folder.glob("*" + SUFFIX)]
        return sorted({*self._files, *inside})

    def packed(self, name: str) -> Packed:
        """A graph, loaded when it is first asked for.

        Raises UnknownFetchError, FormatError, OSError.
        """
        with self._lock:
            found = self._packed.get(name)
            if found is None:
                graph = load(self.path(name))
                found = self._packed[name] = Packer().packed(graph)
            return found

    def path(self, name: str) -> Path:
        """The file of a name.  Raises UnknownFetchError."""
        names = self.names()
        if name not in names:
            raise UnknownFetchError(
                f"no model {name[:100]!r}",
                asked="a model",
                expected=", ".join(map(repr, names)) or "none: the server has no models",
                found=repr(name[:100]),
                hint=near_miss(name[:100], names),
            )
        if name in self._files or self._folder is None:
            return self._files[name]
        return self._folder / (name + SUFFIX)
