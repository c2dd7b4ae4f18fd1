"""What is kept on disk between processes: built programs, and what the self-test found.

A file's name is a hash of everything that its content depends on, so files are never changed:
they are written beside their place and renamed into it, which any number of processes may do
at once.  A file carries a hash of its content; one that is damaged is as good as none.  Where
nothing can be written, nothing is kept, and nobody is told.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "STATICAD_CACHE"
"""The environment variable that moves the folder, or switches it off with "off"."""
MOST_BYTES = 256 << 20
_MAGIC = b"staticad cache 1\n"
_DIGEST = hashlib.sha256().digest_size


class DiskCache:
    """Files in a folder by key; None: nothing is kept.

    limit: bytes of all files; what was used longest ago is removed when a process first adds
    to more than that.
    """

    def __init__(self, folder: Path | None, limit: int = MOST_BYTES) -> None:
        self.folder = folder
        self._limit = limit
        self._pruned = False

    def load(self, key: str) -> bytes | None:
        """What was stored under the key; None where there is nothing, or nothing whole."""
        if self.folder is None:
            return None
        path = self.folder / key
        try:
            content = path.read_bytes()
        except OSError:
            return None
        payload = content[len(_MAGIC) + _DIGEST :]
        if content[: len(_MAGIC) + _DIGEST] != _MAGIC + hashlib.sha256(payload).digest():
            self.discard(key)
            return None
        with contextlib.suppress(OSError):
            # Used now, for the choice of what to remove.
            os.utime(path)
        return payload

    def store(self, key: str, payload: bytes) -> None:
        """Keep the payload, if that is possible."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._pruned:
                self._pruned = True
                self._prune()
            self._write(self.folder, key, _MAGIC + hashlib.sha256(payload).digest() + payload)
        except OSError:
            # A full disk or a folder of somebody else's: the next process builds again.
            return

    def discard(self, key: str) -> None:
        """Forget what is stored under the key."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                (self.folder / key).unlink(missing_ok=True)

    @staticmethod
    def _write(folder: Path, key: str, content: bytes) -> None:
        descriptor, name = tempfile.mkstemp(prefix=".new-", dir=folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            os.replace(name, folder / key)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _prune(self) -> None:
        """Remove what was used longest ago, of files beyond the limit."""
        files = []
        for path in self.folder.iterdir() if self.folder is not None else ():
            # Another process may have removed it.
            with contextlib.suppress(OSError):
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files, key=lambda file: file[:2]):
            if total <= self._limit:
                return
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
            total -= size


def key_of(parts: Iterable[str]) -> str:
    """A key of texts, such that no two lists of texts share one."""
    hashed = hashlib.sha256()
    for part in parts:
        octets = part.encode()
        hashed.update(len(octets).to_bytes(8, "little") + octets)
    return hashed.hexdigest()


def default_cache() -> DiskCache:
    """The cache in the user's folder for such, or where `STATICAD_CACHE` says."""
    chosen = os.environ.get(VARIABLE)
    if chosen is not None and chosen.strip().casefold() in ("", "off"):
        return DiskCache(None)
    try:
        return DiskCache(Path(chosen).expanduser() if chosen else _users_folder() / "staticad")
    except RuntimeError:
        # There is no home.
        return DiskCache(None)


def _users_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
