"""Generated scatters against the meanings of the ops: many updates of one place, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.opencl import signature
from staticad_executor.devices.opencl.generate import generate
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT16, FLOAT32, INT32, UINT64, Array, DType
from tests.ops.running import meaning

from .generated import Building, Case, run, run_many
from .test_sorting import targets

SCATTERS = ("scatter_set", "scatter_add", "scatter_multiply", "scatter_max", "scatter_min")


def values(dtype: DType, *shape: int) -> Array:
    rng = np.random.default_rng(shape)
    if dtype.kind in "iu":
        return rng.integers(0, 9, shape).astype(dtype)
    # Sums of both signs: another order gives other bits.
    return (rng.normal(size=shape) * 10.0 ** rng.integers(-2, 2, shape)).astype(dtype)


def indexed(dtype: DType) -> list[tuple[tuple[int, ...], list[Array]]]:
    """(axes, operands): few and many columns, on one axis and two, and at the end."""
    rng = np.random.default_rng(1)
    i, j = rng.integers(-7, 7, (11, 30)), rng.integers(0, 5, 30)
    return [
        ((0,), [values(dtype, 7, 301), values(dtype, 11, 30, 301), i]),
        ((0,), [values(dtype, 7), values(dtype, 11, 30), i]),
        ((1,), [values(dtype, 3, 7, 4), values(dtype, 30, 3, 4), i[0]]),
        ((2, 0), [values(dtype, 7, 3, 5), values(dtype, 11, 30, 3), j, i.astype(np.int8)]),
    ]


@pytest.mark.parametrize("kind", range(5))
def test_updates_are_taken_in_their_order(kind: int) -> None:
    check(FLOAT32, kind, SCATTERS)


@pytest.mark.parametrize("kind", [0, 2])
@pytest.mark.parametrize("dtype", [FLOAT16, INT32], ids=str)
def test_sums_of_few_bits(dtype: DType, kind: int) -> None:
    """Half floats are added in float32 and rounded once, integers wrap."""
    check(dtype, kind, ("scatter_add", "scatter_max"))


def check(dtype: DType, kind: int, names: Sequence[str]) -> None:
    target = targets()[kind]
    # Compilers take long over long vectors.
    target = target._replace(vector_bytes=min(16, target.vector_bytes))
    cases: list[Case] = []
    wanted: list[tuple[str, Array]] = []
    for name in names:
        for axes, arrays in indexed(dtype):
            attributes: list[dict[str, Any]] = [{"axes": axes}]
            if name in ("scatter_max", "scatter_min"):
                attributes.append({"axes": axes, "include_self": False})
            for given in attributes:
                building = Building(*arrays)
                region = building.region(building.add(name, *range(len(arrays)), **given))
                cases.append((region, [generate(region, target)], arrays))
                complete = OPS[name].attributes(given)
                wanted.append((f"{name} {given}", meaning(OPS[name], arrays, complete)[0]))
    for (results, flag), (where, expected) in zip(run_many(cases), wanted, strict=True):
        assert flag == 0
        assert results[0].dtype == expected.dtype
        np.testing.assert_array_equal(results[0], expected, err_msg=where)


@pytest.mark.parametrize("kind", [0, 3])
def test_places_of_64_bits(kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature, "NARROW", 0)
    check(FLOAT32, kind, ("scatter_add", "scatter_set"))


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("bad", [7, -8, 2**40])
def test_an_index_out_of_range_raises_the_flag_and_writes_nothing(bad: int, kind: int) -> None:
    arrays: list[Array] = [values(FLOAT32, 7), values(FLOAT32, 4), np.array([0, bad, -7, 6])]
    building = Building(*arrays)
    region = building.region(building.add("scatter_add", 0, 1, 2, axes=(0,)))
    (found,), flag = run(region, [generate(region, targets()[kind])], arrays)
    assert flag == 1, "the number of the step, counted from 1"
    expected = arrays[0].copy()
    np.add.at(expected, [0, 0, 6], arrays[1][[0, 2, 3]])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [0, 2])
def test_an_axis_without_places_has_no_index(kind: int) -> None:
    arrays: list[Array] = [values(FLOAT32, 0, 3), values(FLOAT32, 2, 3), np.array([0, 1])]
    building = Building(*arrays)
    region = building.region(building.add("scatter_set", 0, 1, 2, axes=(0,)))
    _, flag = run(region, [generate(region, targets()[kind])], arrays)
    assert flag == 1


@pytest.mark.parametrize("kind", [0, 2])
def test_indices_that_no_signed_integer_holds(kind: int) -> None:
    indices = np.array([1, 2**64 - 1], UINT64)
    arrays: list[Array] = [values(FLOAT32, 3), values(FLOAT32, 2), indices]
    building = Building(*arrays)
    region = building.region(building.add("scatter_add", 0, 1, 2, axes=(0,)))
    _, flag = run(region, [generate(region, targets()[kind])], arrays)
    assert flag == 1
