"""What the ops are tried on: for every op, arrays and attributes, by family.

A family adds a module `samples_<family>.py` with a table SAMPLES.
`test_every_op.py` runs every check that fits over every sample.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from staticad_schema.types import Array, DType, as_dtype


@dataclass(frozen=True)
class Sample:
    """One application of an op.

    arrays: the operands, of the dtypes they are to have.  smooth: the op is twice
    differentiable there, so that differences can judge its derivatives (only float64 and
    complex128 samples are judged).  symbolic: its sizes may be replaced by symbols.
    expected: the result, where it is known from elsewhere; compared bit for bit in sign
    and NaN, within `tolerance` (relative) in value.
    scrambled: with its elements in another order it is a sample still.  turned: and with
    imaginary parts.
    """

    arrays: tuple[Array, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    smooth: bool = True
    symbolic: bool = True
    expected: Array | None = None
    tolerance: float = 0.0
    scrambled: bool = True
    turned: bool = True

    def __str__(self) -> str:
        operands = ", ".join(f"{a.dtype.name}{list(a.shape)}" for a in self.arrays)
        given = ", ".join(f"{k}={_short(v)}" for k, v in self.attributes.items())
        return f"{operands}{'; ' if operands and given else ''}{given}"


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name}{list(value.shape)}"
    return str(value)[:30]


Table = dict[str, list[Sample]]


def over(dtypes: Iterable[str], make: Callable[[DType], Sample]) -> list[Sample]:
    """A sample for each dtype."""
    return [make(as_dtype(name)) for name in dtypes]


def every_sample() -> Table:
    """The tables of all families."""
    table: Table = {}
    for path in sorted(Path(__file__).parent.glob("samples_*.py")):
        module = importlib.import_module(f"tests.ops.{path.stem}")
        for name, samples in module.SAMPLES.items():
            assert name not in table, f"{name} has samples in two tables"
            table[name] = samples
    return table
