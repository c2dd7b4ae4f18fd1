"""A server's folder of checkpoints: of each named session the newest few, each complete.

One server at a time uses a folder; a lock says so, which goes with the process.
"""

from __future__ import annotations

import fcntl
import logging
import os
from pathlib import Path
from typing import NamedTuple

from staticad_schema.errors import ExecutionError, FormatError

from .. import checkpoint
from ..state import Snapshot

KEPT = 3
LOG = logging.getLogger("staticad.serving")


class Found(NamedTuple):
    """A checkpoint that loads."""

    path: Path
    snapshot: Snapshot


class Folder:
    """A folder of checkpoints that is this process's.  Raises ExecutionError, OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(path / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._lock, 20).decode("ascii", "replace")
            os.close(self._lock)
            raise ExecutionError(
                "another server uses this folder of checkpoints",
                asked=f"serve --checkpoints {path}",
                expected="a folder for each server",
                found=f"one that process {holder} has locked",
            ) from error
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, str(os.getpid()).encode(), 0)

    def sessions(self) -> list[str]:
        """Names of sessions that have checkpoints."""
        return sorted(p.name for p in self.path.iterdir() if p.is_dir() and self._files(p.name))

    def newest(self, name: str) -> Found | None:
        """The newest complete checkpoint of a session; one that is damaged is passed over."""
        for path in reversed(self._files(name)):
            try:
                return Found(path, checkpoint.load(path))
            except (FormatError, OSError) as error:
                LOG.warning("checkpoint %s is passed over: %s", path, error)
        return None

    def write(self, name: str, snapshot: Snapshot) -> Path:
        """Write a checkpoint; the oldest are removed when it is there.  Raises OSError."""
        folder = self.path / name
        folder.mkdir(exist_ok=True)
        path = folder / f"{snapshot.step:020d}.safetensors"
        checkpoint.save(path, snapshot)
        kept = self._files(name)
        for old in kept[:-KEPT]:
            old.unlink(missing_ok=True)
        # What a killed process has begun.
        for half in folder.glob(".*.tmp"):
            half.unlink(missing_ok=True)
        return path

    def close(self) -> None:
        """Let others use the folder."""
        os.close(self._lock)

    def _files(self, name: str) -> list[Path]:
        """The checkpoints of a session, the newest last."""
        return sorted((self.path / name).glob("*.safetensors"))
