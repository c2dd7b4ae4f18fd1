"""Writing a file so that a crash leaves the old one or the new one; telling what a file is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file open for writing that takes the place of `path` when the block ends well.

    It has another name in the same folder until then, and is gone if the block raises.
    Raises OSError.
    """
    temporary = path.with_name(f".{path.name[:100]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        file = open(temporary, "xb")  # noqa: SIM115 - closed below
    except OSError as error:
        error.filename = str(path)
        raise
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def kind_of(start: bytes) -> str:
    """What a file with these first bytes (16 or more, if it has them) seems to be."""
    if not start:
        return "an empty file"
    if start.startswith(b"\x93NUMPY"):
        return "a NumPy array (.npy)"
    if start.startswith(b"PK\x03\x04"):
        return "a zip archive, such as .npz"
    if start[8:9] == b"{" and not any(start[4:8]):
        return "a safetensors file, such as a checkpoint"
    if start.startswith(b"\x08\x01\x10"):
        return "a graph (.sad)"
    return f"other bytes: {start[:16]!r}"
