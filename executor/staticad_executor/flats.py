"""The values of variables by name, of which some are stretches of flat arrays.

What an optimizer updates as one lies in one array; single variables are looked at when
somebody asks for them, so that a run does nothing for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.types import Array

from .program import Arena
from .residence import Held, Resident, hosted


class Flat(NamedTuple):
    """An array with the values of an arena's variables."""

    arena: Arena
    array: Held

    def stretch(self, name: str) -> Held:
        """The values of one of the variables, where they are; read-only if the array is."""
        offset, shape = self.arena.stretches[name]
        if isinstance(self.array, Resident):
            return self.array.part(offset, shape)
        found: Array = np.ndarray(shape, self.arena.dtype, self.array, offset)
        return found


Flats = Mapping[tuple[str, ...], Flat]
"""Flat arrays by the names of their variables."""


class _Known(dict[str, Held]):
    """Arrays by name, stretches of flat arrays when they are first asked for."""

    __slots__ = ("flats",)
    flats: Flats

    def __missing__(self, name: str) -> Held:
        for flat in self.flats.values():
            if name in flat.arena.stretches:
                found = self[name] = flat.stretch(name)
                return found
        raise KeyError(name)


class Arrays(Mapping[str, Array]):
    """Arrays by name: those of `single`, and the stretches of `flats`, which share no name.

    Some may be in the memory of a device: they come from there when they are looked at.  known:
    all of them, where they are.
    """

    __slots__ = ("flats", "known", "single")

    def __init__(self, single: dict[str, Held], flats: Flats) -> None:
        self.single = single
        self.flats = flats
        self.known = _Known(single)
        self.known.flats = flats

    def __getitem__(self, name: str) -> Array:
        return hosted(self.known[name])

    def __iter__(self) -> Iterator[str]:
        yield from self.single
        for flat in self.flats.values():
            yield from flat.arena.names

    def __len__(self) -> int:
        return len(self.single) + sum(len(flat.arena.names) for flat in self.flats.values())

    def __contains__(self, name: Any) -> bool:
        return name in self.single or any(name in f.arena.stretches for f in self.flats.values())

    def replaced(self, arrays: dict[str, Held], flats: Flats) -> Arrays:
        """With these arrays, and variables in these flat ones, added or in place of others."""
        names = arrays.keys()
        if names <= self.single.keys() and flats.keys() <= self.flats.keys():
            return Arrays(self.single | arrays, {**self.flats, **flats})
        fresh = {name for key in flats for name in key}
        single, kept = dict(self.single), {}
        for key, flat in self.flats.items():
            if names.isdisjoint(key) and (key in flats or fresh.isdisjoint(key)):
                kept[key] = flat
            else:
                single |= {name: self.known[name] for name in key}
        single |= arrays
        for name in fresh:
            single.pop(name, None)
        return Arrays(single, {**kept, **flats})
