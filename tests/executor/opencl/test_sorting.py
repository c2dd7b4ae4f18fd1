"""Generated kernels that order, against the meanings of the ops; on targets of any kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from staticad_executor.devices.opencl import signature
from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.region import Recipe
from staticad_executor.devices.opencl.small import for_small, merged
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16, FLOAT32, FLOAT64, INT8, INT64, UINT32, Array, DType
from tests.ops.running import meaning

from .generated import Building, Case, run, run_many, target_here


def targets() -> list[Target]:
    """A CPU; work-items alone; GPUs, one of them with groups of an odd size and little memory."""
    here = target_here()
    gpu = here._replace(many_items=True, vector_bytes=16, vector_sine=False)
    small = gpu._replace(work_group=12, local_bytes=1024)
    return [here, here._replace(alone=True, local_bytes=0), gpu, small, gpu._replace(work_group=1)]


def numbers(dtype: DType, *shape: int) -> Array:
    """With ties, and of floats with zeros of both signs, infinities and NaN."""
    rng = np.random.default_rng(shape)
    x = rng.integers(-40, 40, shape)
    if dtype.kind != "f" and dtype != BFLOAT16:
        return x.astype(dtype)
    found = (x / 4.0).reshape(-1)
    for k, special in enumerate((np.nan, -np.inf, np.inf, -0.0, np.nan, 0.0)):
        found[k::97] = special
    return found.reshape(shape).astype(dtype)


DTYPES = [FLOAT32, INT64, FLOAT64, BFLOAT16, INT8, UINT32]


def check(op: str, x: Array, target: Target, attributes: Sequence[dict[str, Any]]) -> None:
    """Both results of an op, once for each set of attributes."""
    cases: list[Case] = []
    for given in attributes:
        building = Building(x)
        first = building.add(op, 0, **given)
        region = building.region(first, first + 1)
        cases.append((region, [generate(region, target)], [x]))
    for (results, flag), given in zip(run_many(cases), attributes, strict=True):
        expected = meaning(OPS[op], [x], OPS[op].attributes(given))
        assert flag == 0
        for found, wanted in zip(results, expected, strict=True):
            assert found.dtype == wanted.dtype
            if wanted.dtype == BFLOAT16:
                found, wanted = found.astype(np.float64), wanted.astype(np.float64)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{x.dtype} {given}")


@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize(("shape", "axis"), [((3, 1000), 1), ((900, 2), 0), ((9001,), 0)])
def test_lines_of_many_runs(shape: tuple[int, ...], axis: int, kind: int) -> None:
    for dtype in DTYPES if kind == 0 and axis else DTYPES[:2]:
        x = numbers(dtype, *shape)[::-1]
        both = [{"axis": axis, "descending": descending} for descending in (False, True)]
        check("sort", x, targets()[kind], both)


@pytest.mark.parametrize("kind", range(5))
def test_the_first_of_long_lines(kind: int) -> None:
    x = numbers(FLOAT32, 2, 9001)
    counts = (1, 5, 128, 129, 700, 5000)
    check("top_k", x, targets()[kind], [{"k": k, "axis": 1} for k in counts])


@pytest.mark.parametrize("kind", [0, 2])
def test_one_of_both_results_is_enough(kind: int) -> None:
    x = numbers(FLOAT32, 4, 50)
    building = Building(x)
    first = building.add("sort", 0, axis=1, descending=False)
    region = building.region(first + 1)
    (found,), _ = run(region, [generate(region, targets()[kind])], [x])
    np.testing.assert_array_equal(found, np.argsort(x, 1, kind="stable"))


@pytest.mark.parametrize("kind", [0, 3])
@pytest.mark.parametrize("size", [1, 70])
def test_places_of_64_bits(size: int, kind: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signature, "NARROW", 0)
    x = numbers(FLOAT32, 2, size)
    check("sort", x, targets()[kind], [{"axis": 1, "descending": True}])
    check("top_k", x, targets()[kind], [{"k": 1, "axis": 0}])


@pytest.mark.parametrize("many_items", [False, True])
def test_one_launch_sorts_and_scatters(many_items: bool) -> None:
    """By one group, without local memory: where each element came from is written there."""
    target = target_here()._replace(many_items=many_items, vector_bytes=16)
    x = numbers(FLOAT32, 3, 70)
    building = Building(x)
    first = building.add("sort", 0, axis=1, descending=False)
    region = building.region(first + 1)
    recipe = generate(region, for_small(target))
    whole = merged([(k, lambda p: (p, 0)) for k in recipe.kernels], target)
    (order,), _ = run(region, [Recipe((whole,), recipe.scratch)], [x])
    np.testing.assert_array_equal(order, np.argsort(x, 1, kind="stable"))
    arrays = [np.zeros(70, np.int64), np.arange(70), order[0]]
    building = Building(*arrays)
    region = building.region(building.add("scatter_set", 0, 1, 2, axes=(0,)))
    recipe = generate(region, for_small(target))
    whole = merged([(k, lambda p: (p, 0)) for k in recipe.kernels], target)
    (places,), _ = run(region, [Recipe((whole,), recipe.scratch)], arrays)
    np.testing.assert_array_equal(places[order[0]], np.arange(70))


def test_the_source_does_not_depend_on_sizes() -> None:
    sources: set[str] = set()
    for n in (5000, 90000):
        x = np.zeros((2, n), np.float32)
        building = Building(x)
        first = building.add("sort", 0, axis=1, descending=False)
        recipe = generate(building.region(first), target_here())
        sources.update(kernel.source.replace(kernel.name, "") for kernel in recipe.kernels)
    assert len(sources) == 3, "runs, merging, writing"
