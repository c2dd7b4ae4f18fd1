"""Values that live in the memory of a device until the host asks for them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from staticad_schema.errors import ExecutionError
from staticad_schema.types import Array, DType

Download = Callable[[Any, Array], None]


class Resident:
    """A value in the memory space of that name, which nobody writes any more.

    memory: where it is, as the device knows it, which can tell its parts.  download: copies it
    into an array.
    """

    __slots__ = ("__weakref__", "_array", "_download", "_lock", "dtype", "memory", "shape", "space")

    def __init__(
        self, shape: tuple[int, ...], dtype: DType, space: str, memory: Any, download: Download
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.space = space
        self.memory = memory
        self._download = download
        self._lock = threading.Lock()
        self._array: Array | None = None

    def part(self, offset: int, shape: tuple[int, ...]) -> Resident:
        """Some of its elements, from so many bytes on, where they are."""
        memory = self.memory.part(offset, math.prod(shape) * self.dtype.itemsize)
        return Resident(shape, self.dtype, self.space, memory, self._download)

    def host(self) -> Array:
        """The value as a read-only array, which is copied once.

        Raises ExecutionError where the device has lost it.
        """
        with self._lock:
            if self._array is None:
                array: Array = np.empty(self.shape, self.dtype)
                try:
                    self._download(self.memory, array)
                except ExecutionError as error:
                    raise ExecutionError(
                        "the device has lost the values of variables",
                        asked=f"a value of shape {self.shape} on {self.space}",
                        expected="a device that gives back what it holds",
                        found=str(error.found or error),
                        hint="restore the session from its last snapshot or checkpoint",
                    ) from error
                array.setflags(write=False)
                self._array = array
            return self._array


Held = Array | Resident
"""A value, wherever it is."""


def hosted(value: Held) -> Array:
    """The value as an array of the host."""
    return value.host() if isinstance(value, Resident) else value
