"""Kernels of elementwise ops that are not one ufunc: the bits of their meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.numpy.elementwise import elementwise
from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.types import TensorType

from .planning import Array, same_bits

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 88.0, -88.0, -104.0,
    1e30, -1e30, 700.0, -700.0, 1e-310,
]  # fmt: skip
FLOATING = {"sigmoid": 1, "softplus": 1, "log_sigmoid": 1, "multiply_no_nan": 2}
OTHERS = {"relu": 1, "maximum": 2, "minimum": 2, "where": 2, "clip": 3}


def operands(rng: Any, dtype: Any, size: int, count: int, scalar: int) -> list[Array]:
    """Arrays of ordinary and special numbers; the one of number `scalar` is 0-d."""
    arrays = []
    for k in range(count):
        values = rng.standard_normal(size) * 10
        if np.dtype(dtype).kind == "f":
            values = np.where(rng.random(size) < 0.3, rng.choice(SPECIAL, size), values)
        arrays.append(np.asarray(values[0] if k == scalar else values).astype(dtype))
    return arrays


@np.errstate(all="ignore")
@pytest.mark.parametrize("size", [1, 5, 2047, 2048, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "float16"])
@pytest.mark.parametrize("name", [*FLOATING, *OTHERS])
def test_kernels_have_the_bits_of_the_meaning(name: str, dtype: str, size: int) -> None:
    if dtype.startswith("int") and name in FLOATING:
        return
    rng = np.random.default_rng(size)
    count = FLOATING.get(name) or OTHERS[name]
    for scalar in (-1, *range(count if count > 1 else 0)):
        for zero in (None, 0.0, -0.0):
            arrays = operands(rng, dtype, size, count, scalar)
            if zero is not None and scalar >= 0:
                arrays[scalar] = np.array(zero).astype(dtype)
            if name == "where":
                arrays.insert(0, rng.random(size) < 0.5)
            check(name, arrays, np.dtype(dtype))


def check(name: str, arrays: list[Array], dtype: Any) -> None:
    """The kernel into new memory, and where it may into that of each operand."""
    definition = OPS[name]
    kernel = elementwise(name, {}, tuple(a.dtype for a in arrays), dtype)
    shape = np.broadcast_shapes(*[a.shape for a in arrays])
    (expected,) = evaluate(definition, arrays, {}, [TensorType(dtype, shape)])
    expected = np.broadcast_to(expected, shape)
    out = np.empty(shape, dtype)
    kernel.function(*arrays, out)
    assert same_bits(out, expected)
    for k, array in enumerate(arrays):
        if kernel.overlap and array.shape == shape and array.dtype == dtype:
            copies = [a.copy() for a in arrays]
            kernel.function(*copies, copies[k])
            assert same_bits(copies[k], expected)
