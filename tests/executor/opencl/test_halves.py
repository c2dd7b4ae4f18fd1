"""Half floats in generated kernels, all of them: reading, writing, rounding, and neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from staticad_executor.devices.opencl.generate import generate
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, Array, DType

from .generated import Building, run, target_here

EVERY = np.arange(1 << 16, dtype=np.uint16)


def applied(op: str, *arrays: Array, lanes: int, dtype: DType | None = None) -> Array:
    """The result of one op in vectors of so many float32."""
    target = target_here()
    target = target._replace(vector_bytes=min(4 * lanes, target.vector_bytes))
    building = Building(*arrays)
    given = {} if dtype is None else {"dtype": dtype}
    region = building.region(building.add(op, *range(len(arrays)), **given))
    (found,), _ = run(region, [generate(region, target)], arrays)
    return found


def same(found: Array, expected: Array) -> None:
    """The same bits, or both NaN."""
    assert found.dtype == expected.dtype
    kind = f"u{found.itemsize}"
    bits = found.view(kind) == expected.view(kind)
    assert (bits | (np.isnan(found) & np.isnan(expected))).all()


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_rows_that_begin_anywhere(lanes: int) -> None:
    """Rows of an odd length, of which most begin at no multiple of a vector."""
    wide = np.zeros((3, len(EVERY) + 1), np.float16)
    wide[:, 1:] = EVERY.view(np.float16)
    rows = wide[:, 1:]
    same(applied("cast", rows, lanes=lanes, dtype=FLOAT32), rows.astype(np.float32))
    same(applied("identity", wide[:, :-2], lanes=lanes), wide[:, :-2])


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_float32_is_rounded_to_the_nearest(lanes: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1 << 32, (3, 100001), dtype=np.uint32).view(np.float32)[:, :-2]
    near = (rng.normal(size=x.shape) * 10.0 ** rng.integers(-9, 6, x.shape)).astype(np.float32)
    for given in (x, near):
        with np.errstate(all="ignore"):
            expected = given.astype(np.float16)
        same(applied("cast", given, lanes=lanes, dtype=FLOAT16), expected)


@pytest.mark.parametrize("lanes", [1, 4])
def test_float64_is_rounded_once(lanes: int) -> None:
    """The middles between half floats, and their neighbours in float64."""
    halves = EVERY[:0x7C00].view(np.float16).astype(np.float64)
    middles = (halves[:-1] + halves[1:]) / 2
    x = np.concatenate([middles, np.nextafter(middles, np.inf), np.nextafter(middles, 0)])
    x = np.concatenate([x, -x, [65519.99, 65520.0, 1e300, np.inf, -np.inf, np.nan]])
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    same(applied("cast", x, lanes=lanes, dtype=FLOAT16), expected)


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("dtype", [FLOAT16, BFLOAT16], ids=str)
def test_neighbours(dtype: DType, lanes: int) -> None:
    x = EVERY.view(dtype)
    y = x[np.arange(len(x)) * 7919 % len(x)]
    with np.errstate(all="ignore"):
        expected = np.nextafter(x, y)
    same(applied("nextafter", x, y, lanes=lanes), expected)
