"""The registry and its samples, as the tests of every op go through them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from staticad_schema.op import OPS, Op
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, KINDS, REAL_OF, Array, DType

from .samples import Sample, every_sample

SAMPLES = every_sample()
DOUBLE = (np.dtype(np.float64), np.dtype(np.complex128))

EPS = {FLOAT16: 2.0**-10, BFLOAT16: 2.0**-7, FLOAT32: 2.0**-23, FLOAT64: 2.0**-52}


def names(which: Any = lambda definition: True) -> list[str]:
    return [name for name in sorted(SAMPLES) if name in OPS and which(OPS[name])]


def samples(name: str) -> Iterator[tuple[Op, Sample]]:
    for sample in SAMPLES[name]:
        yield OPS[name], sample


def same_values(found: Array, expected: Array, tolerance: float) -> bool:
    """Equal shape, dtype, NaNs and signs of zero; equal within the relative tolerance."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if KINDS[found.dtype] not in ("float", "complex"):
        return bool((found == expected).all())
    a, b = (
        np.stack([x.real, x.imag]) if x.dtype.kind == "c" else x.astype(np.float64)
        for x in (found, expected)
    )
    close = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        close |= np.abs(a - b) <= tolerance * np.abs(b)
    zeros = (a == 0) & (b == 0)
    return bool(close.all() and (np.signbit(a[zeros]) == np.signbit(b[zeros])).all())


def rounding(array: Array) -> float:
    """How far, relatively, two orders of the same few operations may be apart."""
    if KINDS[array.dtype] not in ("float", "complex"):
        return 0.0
    dtype: DType = REAL_OF.get(array.dtype) or array.dtype
    return 8 * EPS[dtype]
