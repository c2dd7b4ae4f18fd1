"""Reading the golden cases."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from staticad_schema.types import Array

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """One application of a function; `arrays` as the package's docstring says."""

    id: str
    dtype: str
    op: str
    attributes: dict[str, Any]
    differentiated: tuple[int, ...]
    cotangents: tuple[int, ...]
    disagree: dict[str, str]
    inputs: tuple[Array, ...]
    outputs: tuple[str, ...]
    arrays: dict[str, Array]

    def __str__(self) -> str:
        return f"{self.dtype}-{self.id}"


def read() -> tuple[list[Case], dict[str, dict[str, int]]]:
    """All stored cases, and how many of each function there were at the source, by dtype."""
    listed = json.loads((FOLDER / "cases.json").read_text())
    with np.load(FOLDER / "values.npz", allow_pickle=False) as stored:
        pools = {name: stored[name] for name in stored.files}
    at = dict.fromkeys(pools, 0)
    cases = []
    for entry in listed["cases"]:
        arrays = {}
        for name, dtype, shape in entry["arrays"]:
            count = math.prod(shape)
            arrays[name] = pools[dtype][at[dtype] : at[dtype] + count].reshape(shape)
            at[dtype] += count
        cases.append(
            Case(
                entry["id"],
                entry["dtype"],
                entry["op"],
                entry["attributes"],
                tuple(entry["differentiated"]),
                tuple(entry["cotangents"]),
                entry["disagree"],
                tuple(arrays[f"in{k}"] for k in range(entry["inputs"])),
                tuple(f"out{k}" for k in range(entry["outputs"])),
                arrays,
            )
        )
    return cases, listed["counts"]
