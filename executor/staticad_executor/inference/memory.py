"""Shared memory that clients make and register: POSIX objects, read and written as files.

They are another process's, which may change or shorten them at any time: so they are never
mapped, where that would kill this process, but read and written, which just falls short.
"""

from __future__ import annotations

import os
import re
import stat
import threading
from pathlib import Path
from typing import NamedTuple

from staticad_schema.errors import PlanError, UnknownFetchError, near_miss
from staticad_schema.tensors import octets_of
from staticad_schema.types import Array

FOLDER = Path("/dev/shm")
KEY = re.compile(r"/?[A-Za-z0-9_-][A-Za-z0-9._-]{0,200}")
MOST = 1024


class Registered(NamedTuple):
    """Part of a shared object: its key, where it begins, its size."""

    name: str
    key: str
    offset: int
    byte_size: int


class SharedMemory:
    """What clients have registered, by their names."""

    def __init__(self) -> None:
        self._regions: dict[str, Registered] = {}
        self._lock = threading.Lock()

    def register(self, name: str, key: str, offset: int, byte_size: int) -> None:
        """Raises PlanError for what is there already, or is no shared object of this user's."""
        if not KEY.fullmatch(key) or offset < 0 or byte_size <= 0 or not name:
            raise PlanError(
                "no shared memory has such a key",
                asked=f"shared memory {name[:100]!r}",
                expected="the name of a shared-memory object, an offset and a size",
                found=f"{key[:100]!r}, {offset}, {byte_size}",
            )
        region = Registered(name, key, offset, byte_size)
        descriptor = self._opened(region)
        try:
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if offset + byte_size > size:
            raise PlanError(
                "the shared memory is smaller than it is said to be",
                asked=f"shared memory {name!r}",
                expected=f"at least {offset + byte_size:,} bytes",
                found=f"{size:,}",
            )
        with self._lock:
            if name in self._regions or len(self._regions) >= MOST:
                raise PlanError(
                    "shared memory of this name is registered already"
                    if name in self._regions
                    else "too much shared memory is registered",
                    asked=f"shared memory {name!r}",
                    expected="one that is unregistered first",
                )
            self._regions[name] = region

    def unregister(self, name: str) -> None:
        """Forget one, or all if the name is empty."""
        with self._lock:
            if name:
                self._regions.pop(name, None)
            else:
                self._regions.clear()

    def registered(self, name: str = "") -> list[Registered]:
        """What is registered, or the one of a name.  Raises UnknownFetchError."""
        if name:
            return [self._get(name)]
        with self._lock:
            return list(self._regions.values())

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Bytes of a region.  Raises UnknownFetchError, PlanError."""
        region = self._part(name, offset, size)
        descriptor = self._opened(region)
        try:
            data = bytearray()
            while len(data) < size:
                piece = os.pread(descriptor, size - len(data), region.offset + offset + len(data))
                if not piece:
                    raise PlanError(
                        "the shared memory has become shorter", asked=f"shared memory {name!r}"
                    )
                data += piece
            return bytes(data)
        finally:
            os.close(descriptor)

    def write(self, name: str, offset: int, size: int, array: Array) -> None:
        """Write an array's elements into `size` bytes.  Raises UnknownFetchError, PlanError."""
        region = self._part(name, offset, size)
        if array.nbytes > size:
            raise PlanError(
                "the output does not fit the shared memory",
                asked=f"shared memory {name!r}",
                expected=f"{array.nbytes:,} bytes",
                found=f"{size:,}",
            )
        descriptor = self._opened(region)
        try:
            start, rest = region.offset + offset, memoryview(octets_of(array).data)
            if os.fstat(descriptor).st_size < start + array.nbytes:
                raise PlanError(
                    "the shared memory has become shorter", asked=f"shared memory {name!r}"
                )
            while rest:
                written = os.pwrite(descriptor, rest, start)
                start, rest = start + written, rest[written:]
        finally:
            os.close(descriptor)

    def _part(self, name: str, offset: int, size: int) -> Registered:
        region = self._get(name)
        if offset < 0 or size < 0 or offset + size > region.byte_size:
            raise PlanError(
                "these bytes are not in the shared memory",
                asked=f"shared memory {name!r}",
                expected=f"at most {region.byte_size:,} bytes",
                found=f"{size:,} from {offset:,} on",
            )
        return region

    def _get(self, name: str) -> Registered:
        found = self._regions.get(name)
        if found is None:
            raise UnknownFetchError(
                f"no shared memory {name[:100]!r} is registered",
                asked="shared memory",
                expected=", ".join(map(repr, list(self._regions)[:20])) or "none is",
                found=repr(name[:100]),
                hint=near_miss(name[:100], list(self._regions)),
            )
        return found

    def _opened(self, region: Registered) -> int:
        """The object, open.  Raises PlanError."""
        try:
            descriptor = os.open(
                FOLDER / region.key.removeprefix("/"),
                os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK,
            )
        except OSError as error:
            raise PlanError(
                f"the shared memory cannot be opened: {error.strerror}",
                asked=f"shared memory {region.name!r}",
                expected="a shared-memory object on this machine",
                found=repr(region.key),
            ) from None
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            os.close(descriptor)
            raise PlanError(
                "the shared memory is another user's",
                asked=f"shared memory {region.name!r}",
                expected="this user's",
                found=repr(region.key),
            )
        return descriptor
