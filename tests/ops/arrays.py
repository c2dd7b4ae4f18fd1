"""Operands for samples: reproducible, and the same whatever else is sampled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.types import KINDS, Array


def normal(*shape: int, dtype: str = "float64", seed: int = 0) -> Array:
    """Standard normal numbers; of a complex dtype both parts are."""
    generator = np.random.default_rng([seed, *shape])
    values: Any = generator.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * generator.normal(size=shape)
    return np.asarray(values, dtype)


def distinct(*shape: int, dtype: str = "float64") -> Array:
    """Whole numbers from 0 on in a scrambled order."""
    order = np.random.default_rng(shape).permutation(math.prod(shape))
    return order.reshape(shape).astype(dtype)


def integers(dtype: np.dtype[Any], *shape: int, top: int = 4) -> Array:
    """Small whole numbers of any dtype, below zero too where the dtype has them."""
    bottom = 0 if KINDS[dtype] in ("bool", "uint") else -top
    values = np.random.default_rng(shape).integers(bottom, top, shape)
    return np.asarray(values).astype(dtype)


def real(*values: object, dtype: str = "float64") -> Array:
    """The given numbers."""
    return np.array(values, dtype)
