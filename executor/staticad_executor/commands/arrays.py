"""Arrays in .npy and .npz files.  Nothing is unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from staticad_schema.errors import FormatError
from staticad_schema.files import replacing
from staticad_schema.types import BFLOAT16, Array, DType


def load_npy(path: Path) -> Array:
    """The array in a .npy file, read from disk as it is needed.  Raises FormatError, OSError."""
    array: Array = _load(path, "r")
    return array


def load_npz(path: Path) -> dict[str, Array]:
    """All arrays in a .npz file.  Raises FormatError, OSError."""
    archive = _load(path, None)
    if isinstance(archive, np.ndarray):
        raise FormatError(
            "not an archive of arrays", asked=path.name, expected=".npz", found="a single array"
        )
    with archive:
        return {name: _entry(archive, name, path) for name in archive.files}


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
            # Names are free text and must not reach out of the folder.
            with replacing(target / f"{quote(name, safe=' ')}.npy") as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
        return
    with replacing(target) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _load(path: Path, mmap_mode: Any) -> Any:
    try:
        return np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _unreadable(path, error) from None


def _entry(archive: Any, name: str, path: Path) -> Array:
    try:
        array: Array = archive[name]
    except (ValueError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise _unreadable(path, error) from None
    return array


def _unreadable(path: Path, error: Exception) -> FormatError:
    return FormatError(
        "the file holds no arrays that can be read",
        asked=path.name,
        expected="a .npy or .npz file without objects",
        found=str(error).splitlines()[0][:200] if str(error) else type(error).__name__,
    )
