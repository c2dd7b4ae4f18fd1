"""The bits of an elementwise result follow from the numbers, not from how they lie in memory:
how many there are in one call, how far apart, or whether an operand is repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad_schema.errors import DTypeError
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS, Op
from staticad_schema.types import NAMES, Array, TensorType

from .every import names, same_values

COUNT = 240
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
SPECIAL = [0.0, -0.0, 1.0, 2.0, 0.5, -1.0, 3.0, np.inf, -np.inf, np.nan, 1e-40, 700.0]


def operands(rng: np.random.Generator, dtype: str, count: int) -> list[Array]:
    """Ordinary and special numbers, each meeting some of each."""
    arrays = []
    for _ in range(count):
        values = rng.normal(size=COUNT) * np.exp(rng.normal(size=COUNT))
        values = np.where(rng.random(COUNT) < 0.3, rng.choice(SPECIAL, COUNT), values)
        with np.errstate(all="ignore"):
            values = values + 1j * rng.normal(size=COUNT) if dtype.startswith("c") else values
            arrays.append(np.asarray(values).astype(NAMES[dtype]))
    return arrays


def result(definition: Op, *arrays: Array) -> Array:
    types = [TensorType(a.dtype, a.shape) for a in arrays]
    inferred: Any = definition.infer(*types)
    return evaluate(definition, arrays, {}, [inferred])[0]


def agree(found: Array, expected: Array, what: str) -> None:
    assert same_values(found, expected, 0.0), what


def admits(name: str, dtype: str) -> bool:
    """Whether an op takes operands that are all of a dtype."""
    try:
        OPS[name].infer(*[TensorType(NAMES[dtype], ())] * len(OPS[name].inputs))
    except DTypeError:
        return False
    return True


NAMED = names(lambda d: d.elementwise and not d.parameters)
CASES = [(name, dtype) for name in NAMED for dtype in DTYPES if admits(name, dtype)]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_bits_do_not_depend_on_the_layout(name: str, dtype: str) -> None:
    definition = OPS[name]
    arrays = operands(np.random.default_rng(9), dtype, len(definition.inputs))
    whole = result(definition, *arrays)
    apart = [np.stack([a, a[::-1]], axis=1)[:, 0] for a in arrays]
    agree(result(definition, *apart), whole, "strided")
    agree(result(definition, *(np.append(a[:1], a)[1:] for a in arrays)), whole, "not aligned")
    for size in (1, 3, 16):
        parts = [
            result(definition, *(a[i : i + size] for a in arrays)) for i in range(0, COUNT, size)
        ]
        agree(np.concatenate(parts), whole, f"{size} at a time")
    single = [result(definition, *(a[i, ...] for a in arrays)) for i in range(COUNT)]
    agree(np.array(single, whole.dtype), whole, "one by one")
    for k, array in enumerate(arrays):
        for i in range(12):
            number = array[np.flatnonzero(~np.isnan(array))[i]]
            full = [*arrays[:k], np.full(COUNT, number, array.dtype), *arrays[k + 1 :]]
            expected = result(definition, *full)
            for other in (np.asarray(number), np.broadcast_to(number, COUNT)):
                repeated = [*full[:k], other, *full[k + 1 :]]
                if len(arrays) > 1 or other.ndim:
                    agree(result(definition, *repeated), expected, f"operand {k} is {number}")
