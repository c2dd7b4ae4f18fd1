"""Convolution and pooling element by element: slow, and obviously right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from staticad_schema.types import Array

Ints = tuple[int, ...]


@dataclass(frozen=True)
class Windows:
    """Windows of `kernel` elements over `sizes`, at least one along each axis."""

    sizes: Ints
    kernel: Ints
    strides: Ints
    padding: tuple[tuple[int, int], ...]
    dilation: Ints

    @property
    def counts(self) -> Ints:
        return tuple(
            (n + low + high - (k - 1) * d - 1) // s + 1
            for n, k, s, (low, high), d in zip(
                self.sizes, self.kernel, self.strides, self.padding, self.dilation, strict=True
            )
        )

    @property
    def attributes(self) -> dict[str, Any]:
        return {"strides": self.strides, "padding": self.padding, "dilation": self.dilation}

    def elements(self, window: Ints) -> Iterator[tuple[Ints, Ints]]:
        """(place in the kernel, place in x) of the elements that are not padding."""
        for place in np.ndindex(*self.kernel):
            at = tuple(
                i * s - low + k * d
                for i, s, (low, _), k, d in zip(
                    window, self.strides, self.padding, place, self.dilation, strict=True
                )
            )
            if all(0 <= a < n for a, n in zip(at, self.sizes, strict=True)):
                yield place, at


def random_windows(random: Random, rank: int, *, least_padding: int = -2) -> Windows:
    """Windows of which there is at least one."""
    while True:
        plain = random.random() < 0.4
        found = Windows(
            sizes=tuple(random.randrange(1, 8 if rank < 3 else 5) for _ in range(rank)),
            kernel=tuple(random.randrange(1, 4) for _ in range(rank)),
            strides=tuple(1 if plain else random.randrange(1, 4) for _ in range(rank)),
            padding=tuple(
                (random.randrange(least_padding, 4), random.randrange(least_padding, 4))
                for _ in range(rank)
            ),
            dilation=tuple(random.choice((1, 1, 2, 3)) for _ in range(rank)),
        )
        padded = (n + low + high for n, (low, high) in zip(found.sizes, found.padding, strict=True))
        reach = ((k - 1) * d + 1 for k, d in zip(found.kernel, found.dilation, strict=True))
        if all(r <= n for n, r in zip(padded, reach, strict=True)):
            return found


def conv(x: Array, w: Array, windows: Windows, groups: int) -> Array:
    """The cross-correlation of x with w."""
    per_group, channels = len(w) // groups, w.shape[1]
    out = np.zeros((len(x), len(w), *windows.counts), x.dtype)
    for window in np.ndindex(*windows.counts):
        for place, at in windows.elements(window):
            for o in range(len(w)):
                first = o // per_group * channels
                for c in range(channels):
                    column: Any = (slice(None), o, *window)
                    seen: Any = (slice(None), first + c, *at)
                    out[column] += x[seen] * w[(o, c, *place)]
    return out


def pools(x: Array, windows: Windows) -> tuple[Array, Array, Array, bool]:
    """The largest elements, their places, the sums; and whether each window has an element."""
    shape = (*x.shape[:2], *windows.counts)
    largest, places, sums = np.zeros(shape, x.dtype), np.zeros(shape, np.int64), np.zeros(shape)
    complete = True
    for window in np.ndindex(*windows.counts):
        inside = [at for _, at in windows.elements(window)]
        complete &= bool(inside)
        for lead in np.ndindex(*x.shape[:2]):
            values = [x[(*lead, *at)] for at in inside]
            sums[(*lead, *window)] = sum(values)
            if values:
                # The first NaN, or else the first of the largest: as NumPy's argmax.
                first = int(np.argmax(values))
                largest[(*lead, *window)] = values[first]
                places[(*lead, *window)] = np.ravel_multi_index(inside[first], windows.sizes)
    return largest, places, sums, complete
