"""Sums over leading axes by blocks of rows: the order is a function of the shape alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.ops.blocks import BLOCK, Blocks, block_sums, blocks, leading_sum, total
from staticad_schema.types import Array, TensorType

SUM: Any = OPS["sum"].numpy
SUM_TO: Any = OPS["sum_to"].numpy
LEADING = [
    ((4096, 16), (0,)), ((8192, 33), (0,)), ((3, 1, 4099, 7), (0, 1, 2)), ((40, 3000), (0,)),
    ((64, 5, 7, 64), (0, 2, 3)), ((9, 2, 90, 90), (0, 2, 3)), ((100, 8192), (0,)),
    ((1, 3000, 40, 1), (1, 3)), ((33, 64, 65), (0, 1)), ((12345, 1, 6), (0, 1)),
    ((70_000, 2), (0,)), ((16, 9000, 3), (0, 2)),
]  # fmt: skip
LEFT = [
    ((4096,), (0,)), ((4096, 512), (1,)), ((4096, 512), (0, 1)), ((4096, 1), (0,)),
    ((100, 10), (0,)), ((0, 512), (0,)), ((4096, 0), (0,)), ((1, 100_000), (0,)),
    ((30, 9000), (0,)), ((2, 2, 90_000), (1,)), ((), ()),
]  # fmt: skip


def values(seed: int, shape: tuple[int, ...], dtype: str) -> Array:
    """Numbers of many sizes, with rare special ones."""
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape) * np.exp2(rng.integers(-9, 9, shape))
    if seed % 2:
        special = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], shape)
        array = np.where(rng.random(shape) < 3e-5, special, array)
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def divided(shape: tuple[int, ...], axis: tuple[int, ...]) -> Blocks:
    parts = blocks(shape, axis)
    assert parts is not None
    return parts


@pytest.mark.parametrize(("shape", "axis"), LEFT)
def test_what_numpy_sums(shape: tuple[int, ...], axis: tuple[int, ...]) -> None:
    assert blocks(shape, axis) is None
    x = values(2, shape, "float32")
    found = SUM(x, axis=axis, keepdims=False)
    want = np.sum(x, axis=axis) if axis else x
    assert found.tobytes() == want.tobytes()
    assert found.shape == want.shape


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint32", "complex64"])
@pytest.mark.parametrize(("shape", "axis"), LEADING)
def test_blocks_summed_in_any_company(
    shape: tuple[int, ...], axis: tuple[int, ...], dtype: str
) -> None:
    parts = divided(shape, axis)
    assert parts.rows * math.prod(parts.block.row) == math.prod(shape)
    for seed in (0, 1):
        x = values(seed, shape, dtype)
        whole = SUM(x, axis=axis, keepdims=False)
        rows = x.reshape(parts.rows, *parts.block.row)
        for at_once in (1, 2, 3, parts.number):
            sums = np.empty((parts.number, parts.block.width), dtype)
            for k in range(0, parts.number, at_once):
                these = rows[k * parts.block.size : (k + at_once) * parts.block.size]
                block_sums(parts.block, these, sums[k : k + at_once])
            out = np.empty_like(whole)
            total(parts.block, sums, out)
            assert out.tobytes() == whole.tobytes()
        out = np.empty_like(whole)
        leading_sum(x, out, parts, lambda work, count: work(iter(reversed(range(count)))))
        assert out.tobytes() == whole.tobytes()
        kept = SUM(np.asfortranarray(x), axis=axis, keepdims=True)
        assert kept.tobytes() == whole.tobytes()
        assert kept.shape == np.sum(x, axis=axis, keepdims=True).shape


@pytest.mark.parametrize(("shape", "axis"), LEADING)
def test_errors_are_those_of_fewer_additions(shape: tuple[int, ...], axis: tuple[int, ...]) -> None:
    parts = divided(shape, axis)
    x = values(2, shape, "float32")
    found = SUM(x, axis=axis, keepdims=False)
    wide = np.sum(x.astype(np.float64), axis=axis)
    size = np.sum(np.abs(x.astype(np.float64)), axis=axis)
    inner = math.prod([parts.block.row[a] for a in parts.block.axes])
    # Rows in a block, rows side by side, blocks, and what NumPy adds up pairwise in a row.
    passed = (
        parts.block.high
        + math.log2(parts.block.wide)
        + parts.number
        + min(inner, 128 + inner / 128)
    )
    assert np.all(np.abs(found - wide) <= passed * np.finfo(np.float32).eps / 2 * size)


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 40), st.integers(0, 6))
def test_any_shape(first: int, second: int, third: int, gone: int) -> None:
    shape = first, second, third
    axis = tuple(a for a in range(3) if (gone + 1) >> a & 1)
    parts = blocks(shape, axis)
    x = np.ones(shape, np.int64)
    found = SUM(x, axis=axis, keepdims=False)
    assert np.array_equal(found, np.sum(x, axis=axis))
    if parts is not None:
        rest = math.prod(parts.block.row)
        assert parts.rows % parts.block.wide == 0
        assert parts.block.size * rest <= max(BLOCK, rest)
        assert parts.block.width * 2 <= max(parts.block.size, 2) * rest


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_summed_in_single_precision(dtype: str) -> None:
    x = values(2, (5000, 20), "float32").astype(np.dtype(dtype))
    definition, attributes = OPS["sum"], {"axis": (0,), "keepdims": False}
    types = definition.output_types([TensorType(x.dtype, x.shape)], attributes)
    (found,) = evaluate(definition, [x], attributes, types)
    wide = SUM(x.astype(np.float32), **attributes)
    assert found.tobytes() == wide.astype(x.dtype).tobytes()


def test_sum_to_is_the_sum_over_its_axes() -> None:
    x = values(1, (40, 50, 1, 30), "float32")
    whole = SUM(x, axis=(0, 1), keepdims=False)
    for shape in ((1, 1, 1, 30), (1, 1, 30), (1, 30), (30,)):
        assert SUM_TO(x, shape=shape).tobytes() == whole.tobytes()
