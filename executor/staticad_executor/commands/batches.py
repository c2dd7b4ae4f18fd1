"""Feeds that come in parts: one run after the other, and their results put together."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from staticad_schema.errors import FormatError, PlanError, near_miss
from staticad_schema.graph import Graph
from staticad_schema.types import Array, TensorType

from . import arrays

BAR = 30  # characters


class Entry(NamedTuple):
    """An array in a file: a .npy file, or what a .npz file calls `name`."""

    path: Path
    name: str

    def load(self) -> Array:
        """The array.  Raises FormatError, OSError."""
        if self.path.suffix != ".npz":
            return arrays.load_npy(self.path)
        entries = arrays.load_npz(self.path)
        if self.name not in entries:
            raise FormatError(
                f"no entry {self.name!r}",
                asked=self.path.name,
                expected=", ".join(map(repr, entries)) or "some entry",
                found=repr(self.name),
                hint=near_miss(self.name, entries),
            )
        return entries[self.name]


def files_in(folder: Path, suffixes: Sequence[str] = (".npy", ".npz")) -> list[Path]:
    """The files of arrays in a folder, numbers in their names in order.  Raises FormatError."""
    found = [path for path in folder.iterdir() if path.suffix in suffixes]
    if not found:
        raise FormatError(
            "the folder holds no arrays",
            asked=folder.name,
            expected=" or ".join(f"{suffix} files" for suffix in suffixes),
            found=f"{sum(1 for _ in folder.iterdir())} other files",
        )
    return sorted(found, key=lambda path: _in_order(path.name))


def _in_order(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"([0-9]+)", name)
    return [(int(part) if k % 2 else -1, part) for k, part in enumerate(parts)]


class Batches:
    """The feeds of run after run, by value id.

    fed: arrays that stay, or of which each run takes `rows` along the first axis where that is
    symbolic.  folders: arrays in files, of which each run takes one.
    """

    def __init__(
        self,
        graph: Graph,
        fed: Mapping[int, Array],
        folders: Mapping[int, list[Entry]],
        rows: int | None,
    ) -> None:
        """Raises PlanError if parts are not equally many."""
        self._types = graph.types
        self._fed, self._folders, self._rows = fed, folders, rows
        self._cut = {v for v in fed if rows is not None and _grows(graph.types[v])}
        lengths = {graph.value_name(v): len(files) for v, files in folders.items()}
        lengths |= {graph.value_name(v): len(fed[v]) for v in self._cut if fed[v].ndim}
        if len(set(lengths.values())) > 1:
            raise PlanError(
                "feeds come in different numbers of parts",
                asked="run over batches",
                expected="as many rows, or files, of each",
                found=", ".join(f"{count} of {name!r}" for name, count in lengths.items()),
            )
        if not lengths:
            raise PlanError(
                "nothing is fed that could be cut into batches",
                asked="run --batch",
                expected="a feed whose first size is symbolic",
                found=", ".join(graph.handle(v).describe() for v in fed) or "no feed",
            )
        (length,) = set(lengths.values())
        self.count = length if rows is None else -(-length // rows)

    def __iter__(self) -> Iterator[list[Array]]:
        """The arrays of each run; files are read when it is their turn."""
        for k in range(self.count):
            parts = []
            for value, array in self._fed.items():
                if value in self._cut and self._rows is not None:
                    parts.append(array[k * self._rows : (k + 1) * self._rows])
                else:
                    parts.append(array)
            for value, files in self._folders.items():
                parts.append(arrays.as_declared(files[k].load(), self._types[value].dtype))
            yield parts


def joined(rows: Sequence[Array | None], type_: TensorType | None) -> Array | None:
    """The results of all runs: along the first axis where its size is symbolic, else stacked.

    Raises PlanError for shapes that do not fit.
    """
    found = [row for row in rows if row is not None]
    if len(found) < len(rows) or not found:
        return None
    grows = type_ is not None and _grows(type_)
    shapes = {array.shape[1:] if grows else array.shape for array in found}
    if len(shapes) > 1:
        raise PlanError(
            "a fetched value has another shape in another run, so that they are not one array",
            asked="run over many",
            expected="one shape",
            found=" and ".join(map(str, sorted(shapes)[:3])),
        )
    return np.concatenate(found) if grows else np.stack(found)


def _grows(type_: TensorType) -> bool:
    return bool(type_.shape) and not isinstance(type_.shape[0], int)


@contextmanager
def progress(wanted: bool, total: int) -> Iterator[Progress]:
    """A bar on stderr, if it is wanted."""
    bar = Progress(wanted, total)
    try:
        yield bar
    finally:
        bar.close()


class Progress:
    """How many of `total` runs are done."""

    def __init__(self, wanted: bool, total: int) -> None:
        self._wanted, self._total, self._shown = wanted, total, -1
        self._done = 0
        self._show()

    def advance(self) -> None:
        """One more is done."""
        self._done += 1
        self._show()

    def close(self) -> None:
        """End the line."""
        if self._wanted:
            print(file=sys.stderr)

    def _show(self) -> None:
        filled = BAR * self._done // max(self._total, 1)
        # A line a percent at most: terminals are slower than small runs.
        percent = 100 * self._done // max(self._total, 1)
        if self._wanted and (percent != self._shown):
            self._shown = percent
            bar = "#" * filled + "." * (BAR - filled)
            print(f"\r[{bar}] {self._done}/{self._total}", end="", file=sys.stderr, flush=True)
