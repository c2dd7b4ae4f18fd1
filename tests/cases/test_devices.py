"""Family M: reductions at the sizes where kernels go wrong, on every device."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import Array, value

# A reduction alone, and one whose operand is computed in the same step.
OPERANDS = [lambda x: x, lambda x: sad.negative(-x)]


def check(name: str, x: Array, expected: Any, axis: int | None = None) -> None:
    for operand in OPERANDS:
        found = value(lambda x, f=operand: getattr(sad, name)(f(x), axis=axis), x)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_M2_reductions_of_nothing(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, dtype)
    check("sum", x, 0)
    check("prod", x, 1)
    for axis in range(len(shape)):
        kept = shape[:axis] + shape[axis + 1 :]
        check("sum", x, np.zeros(kept), axis)
        check("prod", x, np.ones(kept) if shape[axis] == 0 else np.zeros(kept), axis)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "uint8"])
def test_M4_extrema_start_from_their_identity(dtype: str) -> None:
    x = np.full(1000, 9, dtype)
    x[777] = 8
    check("min", x, 8)
    check("max", x, 9)
    if dtype != "uint8":
        check("max", -x, -8)
        check("min", -x, -9)
    large = np.full((3, 50_000), 9, dtype)
    large[:, 49_999] = [8, 9, 7]
    check("min", large, [8, 9, 7], axis=1)
    check("min", large, np.array([9] * 49_999 + [7]), axis=0)


def test_M4_infinities_are_not_the_identity_of_what_is_there() -> None:
    check("min", np.full(300, math.inf), math.inf)
    check("max", np.full(300, -math.inf), -math.inf)
    check("min", np.full(300, np.iinfo(np.int64).max), np.iinfo(np.int64).max)
    check("max", np.full(300, np.iinfo(np.int64).min), np.iinfo(np.int64).min)


def test_M12_offsets_beyond_32_bits() -> None:
    # Pages that nobody touches take no memory.
    rows, columns = 262_144, 8_960
    last = 239_673
    assert last * columns + columns < 2**31 < (last + 1) * columns + columns
    data = np.zeros((rows, columns), np.uint8)
    data[last], data[last + 1], data[rows - 1] = 1, np.arange(columns) % 251, 3
    wanted = np.array([last, last + 1, -1])
    with sad.Graph() as graph:
        x = sad.placeholder("uint8", ("rows", "columns"), name="x")
        i = sad.placeholder("int64", ("k",), name="i")
        taken = sad.take(x, i, axis=0) + 1
        picked = sad.take_along_axis(x, sad.expand_dims(i, axis=1), axis=0) + 1
        end = sad.sum(sad.cast(x[last + 1 :: 22_469, ::7], "int64"), axis=0)
    with sad.Session(graph) as session:
        found = session.run([taken, picked[:, :1], end], {x: data, i: wanted})
    np.testing.assert_array_equal(found[0], data[wanted] + 1)
    np.testing.assert_array_equal(found[1], data[wanted, :1] + 1)
    np.testing.assert_array_equal(found[2], data[last + 1 :: 22_469, ::7].astype(int).sum(axis=0))
