"""Arrays in .npy and .npz files.  Nothing is unpickled."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import numpy as np

from staticad_schema.errors import FormatError
from staticad_schema.files import replacing
from staticad_schema.types import BFLOAT16, Array, DType

LONGEST_NAME = 180


def load_npy(path: Path) -> Array:
    """The array in a .npy file, read from disk as it is needed.  Raises FormatError, OSError."""
    with _reading(path):
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(array, np.ndarray):
            return array
        array.close()
        raise ValueError("an archive: its name should end in .npz")


def load_npz(path: Path) -> dict[str, Array]:
    """All arrays in a .npz file.  Raises FormatError, OSError."""
    with _reading(path), open(path, "rb") as file:
        archive = np.load(file, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise ValueError("a single array: its name should end in .npy")
        with archive:
            return {name: _array(archive[name]) for name in archive.files}


def as_declared(array: Array, dtype: DType) -> Array:
    """The array, or its bits as bfloat16, which .npy files know only as two bytes."""
    if dtype == BFLOAT16 and array.dtype.kind == "V" and array.dtype.itemsize == 2:
        return array.view(BFLOAT16)
    return array


def save(target: Path, arrays: Mapping[str, Array]) -> None:
    """Write named arrays to a .npz file, or each to a .npy file in a folder.  Raises OSError."""
    if target.suffix != ".npz":
        target.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            with replacing(target / _file_name(name)) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
        return
    with replacing(target) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _file_name(name: str) -> str:
    """A name as one of a file in a folder: free text may be long, and must not reach out."""
    quoted = quote(name, safe=" ")
    if len(quoted) > LONGEST_NAME:
        # File systems end names at 255 bytes.
        digest = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
        quoted = f"{quoted[:LONGEST_NAME]}-{digest}"
    return f"{quoted}.npy"


def _array(entry: object) -> Array:
    """An entry of an archive.  Raises ValueError for one that is no .npy file."""
    if isinstance(entry, np.ndarray):
        return entry
    raise ValueError("an entry that is no array")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong inside is the file's fault: bad headers, archives, compressed data."""
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise FormatError(
            "the file holds no arrays that can be read",
            asked=path.name,
            expected="a .npy or .npz file without objects",
            found=str(error).splitlines()[0][:200] if str(error) else type(error).__name__,
        ) from None
