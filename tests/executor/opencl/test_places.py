"""Generated kernels that read at other places, and random bits, against the meanings of the ops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.opencl.body import PLACED
from staticad_executor.devices.opencl.elementwise import elementwise
from staticad_executor.devices.opencl.native import native
from staticad_schema.op import OPS
from staticad_schema.types import NAMES, Array
from tests.ops.running import meaning, types_of
from tests.ops.samples import every_sample

from .generated import Building, Case, run, run_many, target_here

NAMED = sorted(name for name in PLACED if name in every_sample())


@pytest.mark.parametrize("names", [NAMED[:5], NAMED[5:10], NAMED[10:]], ids=lambda n: n[0])
def test_every_op_is_its_meaning(names: list[str]) -> None:
    cases: list[Case] = []
    wanted: list[tuple[str, Array]] = []
    for name in names:
        seen = set()
        for sample in every_sample()[name]:
            arrays = sample.arrays
            types = types_of(arrays)
            complete = OPS[name].attributes(sample.attributes)
            outputs = OPS[name].output_types(types, complete)
            layout = (types, str(sample.attributes))
            if not native(name, complete, types, outputs, target_here()) or layout in seen:
                continue
            seen.add(layout)
            building = Building(*arrays)
            out = building.add(name, *range(len(arrays)), **sample.attributes)
            region = building.region(out)
            cases.append((region, [elementwise(region, target_here())], arrays))
            wanted.append((name, meaning(OPS[name], arrays, sample.attributes)[0]))
    for (name, expected), (results, flag), case in zip(wanted, run_many(cases), cases, strict=True):
        assert flag == 0
        assert results[0].dtype == expected.dtype
        np.testing.assert_array_equal(results[0], expected, err_msg=f"{name} {case[0].steps}")


@pytest.mark.parametrize("bad", [5, -6, 2**40, -(2**40)])
def test_an_index_out_of_range_raises_the_flag(bad: int) -> None:
    arrays: list[Array] = [np.arange(5.0, dtype=np.float32), np.array([0, bad, -5, 4])]
    building = Building(*arrays)
    doubled = building.add("add", 0, 0)
    region = building.region(building.add("take", doubled, 1, axis=0))
    (found,), flag = run(region, [elementwise(region, target_here())], arrays)
    assert flag == 2, "the number of the step, counted from 1"
    np.testing.assert_array_equal(found, np.array([0, 0, 0, 8], np.float32))


def test_an_index_of_an_empty_axis_reads_nothing() -> None:
    arrays: list[Array] = [np.zeros((0, 3), np.float32), np.array([0, -1])]
    building = Building(*arrays)
    region = building.region(building.add("take", 0, 1, axis=0))
    _, flag = run(region, [elementwise(region, target_here())], arrays)
    assert flag == 1


@pytest.mark.parametrize("shape", [(64,), (61,), (5, 12), (5, 7), (3, 1, 4), (), (0,)])
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_random_bits_are_those_of_the_meaning(shape: tuple[int, ...], dtype: str) -> None:
    attributes: dict[str, Any] = {
        "key": 0x0123456789ABCDEF, "path": 7, "shape": shape, "dtype": NAMES[dtype],
    }  # fmt: skip
    run_number = np.array(2**33 + 5, np.uint64)
    building = Building(run_number)
    region = building.region(building.add("random_bits", 0, **attributes))
    (found,), _ = run(region, [elementwise(region, target_here())], [run_number])
    (expected,) = meaning(OPS["random_bits"], [run_number], attributes)
    np.testing.assert_array_equal(found, expected)


def test_random_numbers_are_fused_with_what_follows() -> None:
    """A uniform number of 24 bits, scaled by a row: one kernel."""
    arrays: list[Array] = [
        np.array(3, np.uint64),
        np.arange(1, 9, dtype=np.float32),
        np.array(8, np.uint32),
    ]
    attributes: dict[str, Any] = {
        "key": 99, "path": 0, "shape": (6, 8), "dtype": NAMES["uint32"],
    }  # fmt: skip
    building = Building(*arrays)
    bits = building.add("random_bits", 0, **attributes)
    high = building.add("bitwise_right_shift", bits, 2)
    uniform = building.add("cast", high, dtype=NAMES["float32"])
    region = building.region(building.add("multiply", uniform, 1))
    recipe = elementwise(region, target_here())
    assert len(recipe.kernels) == 1
    (found,), _ = run(region, [recipe], arrays)
    (drawn,) = meaning(OPS["random_bits"], arrays[:1], attributes)
    np.testing.assert_array_equal(found, (drawn >> 8).astype(np.float32) * arrays[1])


def test_views_are_strides() -> None:
    """Broadcast, reversed, transposed and strided operands, in one region."""
    x = np.arange(60.0, dtype=np.float32).reshape(5, 12)
    base = np.arange(24.0, dtype=np.float32)
    turned = np.arange(60.0, dtype=np.float32).reshape(12, 5).T
    arrays: list[Array] = [x, x[::-1, ::-1], turned, base[::2], x[:, :1]]
    building = Building(*arrays)
    total = 0
    for k in range(1, len(arrays)):
        total = building.add("add", total, k)
    region = building.region(total)
    (found,), _ = run(region, [elementwise(region, target_here())], arrays)
    np.testing.assert_array_equal(found, sum(arrays[1:], arrays[0]))
