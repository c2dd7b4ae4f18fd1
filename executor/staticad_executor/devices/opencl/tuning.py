"""Tiles that were found to be the fastest on a device: a file, written by `staticad-executor tune`
and used where the environment variable STATICAD_TUNING names it.

The file is JSON:

    {"format": 1, "device": "…", "driver": "…",
     "rows": {"float32": [6, 2, 8, 8, 4]}, "dots": {"float32": [4, 3, 8, 8, 8]},
     "local": {"float32": [16, 16, 8, 2, 4, 16]}}

A list of rows and dots is the rows of a tile, the vectors of a row, the lanes of a vector, and how
many tiles a work-item computes at most downwards and across; of local, for GPUs, the work-items of
a group downwards and across, the rows and vectors of each, the lanes of a vector, and how many
terms are copied at a time.  Dtypes are those of sums: float32, float64, uint32, uint64.  What is
not listed is chosen as without a file.  The lanes of dots are a part of the order in which those
are summed; nothing else here changes a bit of a result.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from staticad_schema.errors import PlanError
from staticad_schema.types import FLOAT32, FLOAT64, UINT32, UINT64

from .target import WIDEST, Target

VARIABLE = "STATICAD_TUNING"
FORMAT = 1
SUMS = MappingProxyType({d.name: d for d in (FLOAT32, FLOAT64, UINT32, UINT64)})
# What a file may ask for: more would only make a compiler work for long.
_MOST_BYTES = 1 << 16
_MOST_SUMS, _MOST_TILES = 32, 64
T = TypeVar("T")


class Tile(NamedTuple):
    """What a work-item keeps in registers: so many rows times so many vectors of so many lanes;
    and how many such tiles it computes, downwards and across, at most."""

    rows: int
    vectors: int
    lanes: int
    high: int = 8
    wide: int = 4


class LocalTile(NamedTuple):
    """down, across: work-items of a group.  rows, vectors: of each work-item, vectors of so many
    lanes.  terms: that are copied at a time."""

    down: int
    across: int
    rows: int
    vectors: int
    lanes: int
    terms: int

    @property
    def high(self) -> int:
        """Rows of the group's tile."""
        return self.down * self.rows

    @property
    def wide(self) -> int:
        """Columns of the group's tile."""
        return self.across * self.vectors * self.lanes

    def __str__(self) -> str:
        return (
            f"tiles of {self.high} by {self.wide} in local memory, {self.rows} by "
            f"{self.vectors * self.lanes} a work-item, {self.terms} terms at a time"
        )


class Tiling(NamedTuple):
    """What a file says: tiles by the name of the dtype of sums.  source: its path."""

    source: str
    rows: Mapping[str, Tile]
    dots: Mapping[str, Tile]
    local: Mapping[str, LocalTile]
    device: str = ""
    driver: str = ""

    def text(self) -> str:
        """The content of the file."""
        content = {
            "format": FORMAT,
            "device": self.device,
            "driver": self.driver,
            "rows": {name: list(tile) for name, tile in sorted(self.rows.items())},
            "dots": {name: list(tile) for name, tile in sorted(self.dots.items())},
            "local": {name: list(tile) for name, tile in sorted(self.local.items())},
        }
        return json.dumps(content, indent=1) + "\n"


def tuned(target: Target) -> Tiling | None:
    """What the file says that the environment names; None if it names none.

    Raises PlanError where the file cannot be read, is no such file, or asks for longer vectors
    than the device's compiler takes.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    return within(read_tiling(path), target)


def within(tiling: Tiling, target: Target) -> Tiling:
    """The same, if the device takes it.  Raises PlanError."""
    most = target.vector_bytes if target.vector_bytes >= 16 else 64
    for tiles in (tiling.rows, tiling.dots, tiling.local):
        for name, tile in tiles.items():
            if tile.lanes * SUMS[name].itemsize > most:
                raise _refused(tiling.source, f"vectors of at most {most} bytes", str([*tile]))
    return tiling


@lru_cache(maxsize=8)
def read_tiling(path: str) -> Tiling:
    """The file of that path, read once in a process.  Raises PlanError."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _refused(path, "a file that can be read", str(error)) from error
    if len(content) > _MOST_BYTES:
        raise _refused(path, f"at most {_MOST_BYTES:,} bytes", "more")
    try:
        found: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _refused(path, "JSON", str(error)) from error
    return parsed(found, path)


def parsed(content: Any, path: str) -> Tiling:
    """What a file's JSON says.  Raises PlanError."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise _refused(path, f'an object with "format": {FORMAT}', repr(content)[:80])
    unknown = sorted(content.keys() - {"format", "device", "driver", "rows", "dots", "local"})
    if unknown:
        raise _refused(path, "format, device, driver, rows, dots and local", repr(unknown)[:80])
    names = [content.get(key, "") for key in ("device", "driver")]
    if not all(isinstance(name, str) for name in names):
        raise _refused(path, "names as text", repr(names)[:80])
    rows, dots = (_tiles(content.get(key, {}), path, _tile) for key in ("rows", "dots"))
    local = _tiles(content.get("local", {}), path, _local)
    return Tiling(path, rows, dots, local, *names)


def _tiles(content: Any, path: str, read: Callable[[Any, str], T]) -> Mapping[str, T]:
    if not isinstance(content, dict):
        raise _refused(path, "tiles by the name of a dtype", repr(content)[:80])
    for name in content:
        if name not in SUMS:
            raise _refused(path, f"one of {', '.join(SUMS)}", repr(name)[:80])
    return MappingProxyType({name: read(numbers, path) for name, numbers in content.items()})


def _tile(numbers: Any, path: str) -> Tile:
    expected = (
        "[rows, vectors, lanes, high, wide]: rows times vectors at most "
        f"{_MOST_SUMS}, lanes a power of 2 up to {WIDEST}, high times wide at most {_MOST_TILES}"
    )
    if not _counts(numbers, Tile._fields, _MOST_TILES):
        raise _refused(path, expected, repr(numbers)[:80])
    tile = Tile(*numbers)
    if (
        tile.rows * tile.vectors > _MOST_SUMS
        or tile.high * tile.wide > _MOST_TILES
        or not _power(tile.lanes, WIDEST)
    ):
        raise _refused(path, expected, repr(numbers)[:80])
    return tile


def _local(numbers: Any, path: str) -> LocalTile:
    expected = (
        "[down, across, rows, vectors, lanes, terms]: powers of 2, lanes up to "
        f"{WIDEST}, rows times vectors at most {_MOST_SUMS}, each at most {_MOST_TILES}"
    )
    if not _counts(numbers, LocalTile._fields, _MOST_TILES):
        raise _refused(path, expected, repr(numbers)[:80])
    tile = LocalTile(*numbers)
    powers = all(_power(n, _MOST_TILES) for n in tile)
    if not powers or tile.lanes > WIDEST or tile.rows * tile.vectors > _MOST_SUMS:
        raise _refused(path, expected, repr(numbers)[:80])
    return tile


def _counts(numbers: Any, fields: tuple[str, ...], most: int) -> bool:
    whole = isinstance(numbers, list) and len(numbers) == len(fields)
    return whole and all(type(n) is int and 1 <= n <= most for n in numbers)


def _power(number: int, most: int) -> bool:
    return 1 <= number <= most and not number & (number - 1)


def _refused(path: str, expected: str, found: str) -> PlanError:
    return PlanError(
        "the file of tiles cannot be used",
        asked=f"{VARIABLE}={path}",
        expected=expected,
        found=found,
    )
