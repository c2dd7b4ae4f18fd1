"""Many small kernels as one launch."""

from __future__ import annotations

import numpy as np
import pytest

from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.region import Pointer, Recipe
from staticad_executor.devices.opencl.small import for_small, merged

from .generated import Building, run, target_here


@pytest.mark.parametrize("many_items", [False, True])
def test_steps_of_a_small_graph_run_in_turn(many_items: bool) -> None:
    """An elementwise step, a softmax of its result, and a sum over rows of that: one launch."""
    target = target_here()._replace(many_items=many_items, vector_bytes=16)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(13, 9)).astype(np.float32)
    row = rng.normal(size=9).astype(np.float32)
    first = Building(x, row)
    scaled = first.region(first.add("multiply", 0, 1))
    second = Building(x)
    soft = second.region(second.add("softmax", 0, axis=1))
    third = Building(x)
    summed = third.region(third.add("sum", 0, axis=(0,), keepdims=False))
    # What each of them reads is what the one before has written.
    names = [
        {
            Pointer("operand", 0): Pointer("operand", 0),
            Pointer("operand", 1): Pointer("operand", 1),
        },
        {Pointer("operand", 0): Pointer("output", 0), Pointer("output", 0): Pointer("output", 1)},
        {Pointer("operand", 0): Pointer("output", 1), Pointer("output", 0): Pointer("output", 2)},
    ]
    kernels = []
    scratch: tuple[int, ...] = ()
    for region, table in zip((scaled, soft, summed), names, strict=True):
        recipe = generate(region, for_small(target))
        scratch = scratch + recipe.scratch
        for kernel in recipe.kernels:
            kernels.append((kernel, lambda p, table=table: (table.get(p, p), 0)))
    whole = merged(kernels, target)
    assert whole.global_size == whole.local_size
    everything = Building(x, row)
    out = everything.add("multiply", 0, 1)
    out_soft = everything.add("softmax", out, axis=1)
    out_sum = everything.add("sum", out_soft, axis=(0,), keepdims=False)
    region = everything.region(out, out_soft, out_sum)
    results, _ = run(region, [Recipe((whole,), scratch)], [x, row])
    powers = np.exp((x * row).astype(np.float64))
    expected = powers / powers.sum(1, keepdims=True)
    np.testing.assert_array_equal(results[0], x * row)
    np.testing.assert_allclose(results[1], expected, rtol=1e-5)
    np.testing.assert_allclose(results[2], expected.sum(0), rtol=1e-5)


def test_the_source_does_not_depend_on_sizes() -> None:
    """Nor on which of them are equal."""
    sources = set()
    for shape in ((16, 16), (16, 48), (40, 32)):
        x = np.ones(shape, np.float32)
        building = Building(x, x)
        region = building.region(building.add("add", 0, 1))
        recipe = generate(region, for_small(target_here()._replace(vector_bytes=16)))
        kernel = merged([(k, lambda p: (p, 0)) for k in recipe.kernels], target_here())
        sources.add(kernel.source)
    assert len(sources) == 1
