"""Memory that two processes of one machine see: anonymous files of the server's.

The server makes them, of a size that nobody can change afterwards, and names them by their
number among its open files; they are gone with the processes, however those end.  Linux has
them; elsewhere tensors travel behind their messages.
"""

from __future__ import annotations

import mmap
import os
import secrets
import sys
from typing import Self

import numpy as np

from staticad_schema import run_pb2 as pb
from staticad_schema.types import UINT8, Array

from .transfer import ALIGNMENT

MARK = 32
POSSIBLE = sys.platform == "linux"


class Region:
    """A region of this process's, or of another's that was found; `buffer` is all its bytes."""

    def __init__(self, id: int, descriptor: int, size: int, mark: bytes) -> None:
        self.id = id
        self.size = size
        self._descriptor = descriptor
        self._mark = mark
        self.buffer: Array = np.frombuffer(mmap.mmap(descriptor, size), UINT8)

    @classmethod
    def made(cls, id: int, size: int) -> Self:
        """A new region of this process's.  Raises OSError."""
        # The module exists where the files do.
        import fcntl

        descriptor = os.memfd_create("staticad", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(descriptor, size)
            # A file that shrinks would kill who reads it.
            seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
            made = cls(id, descriptor, size, secrets.token_bytes(MARK))
        except BaseException:
            os.close(descriptor)
            raise
        made.buffer[:MARK] = np.frombuffer(made._mark, UINT8)
        return made

    @classmethod
    def found(cls, told: pb.Region) -> Self | None:
        """Another process's region; None if it cannot be found, as from another machine."""
        path = f"/proc/{told.process}/fd/{told.descriptor}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            if os.fstat(descriptor).st_size != told.size or told.size < ALIGNMENT:
                return None
            region = cls(told.id, descriptor, told.size, told.mark)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        return region if region.buffer[:MARK].tobytes() == told.mark else None

    def told(self) -> pb.Region:
        """What another process finds it by."""
        return pb.Region(
            id=self.id,
            process=os.getpid(),
            descriptor=self._descriptor,
            size=self.size,
            mark=self._mark,
        )

    def close(self) -> None:
        """Nobody finds it any more; its memory goes with the last who has found it."""
        os.close(self._descriptor)
