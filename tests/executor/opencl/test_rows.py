"""Generated kernels that reduce rows, against the meanings of the ops; on targets of any kind."""

from __future__ import annotations

import numpy as np
import pytest

from staticad_executor.devices.opencl.combine import REDUCTIONS
from staticad_executor.devices.opencl.decompose import DECOMPOSED
from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.native import native
from staticad_executor.devices.opencl.scans import SCANS
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import KINDS, Array
from tests.ops.running import meaning, types_of
from tests.ops.samples import every_sample
from tests.tolerance import units

from .generated import Building, Case, run, run_many, target_here

NAMED = sorted(n for n in {*REDUCTIONS, *DECOMPOSED, *SCANS} if n in every_sample())


def targets() -> list[Target]:
    """A CPU; a GPU; one of groups of an odd size and little local memory."""
    here = target_here()
    gpu = here._replace(many_items=True, vector_bytes=16, vector_sine=False)
    return [here, gpu, gpu._replace(work_group=12, local_bytes=1024, vector_bytes=4)]


def same(found: Array, expected: Array, count: float, name: str) -> None:
    assert found.dtype == expected.dtype
    if KINDS[expected.dtype] != "float":
        np.testing.assert_array_equal(found, expected, err_msg=name)
        return
    a, b = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_allclose(a, b, rtol=units(expected.dtype, count), atol=1e-30, err_msg=name)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("names", [NAMED[:8], NAMED[8:]], ids=lambda n: n[0])
def test_every_op_is_its_meaning(names: list[str], kind: int) -> None:
    target = targets()[kind]
    cases: list[Case] = []
    wanted: list[tuple[str, tuple[Array, ...]]] = []
    for name in names:
        seen = set()
        for sample in every_sample()[name]:
            arrays = sample.arrays
            types = types_of(arrays)
            complete = OPS[name].attributes(sample.attributes)
            outputs = OPS[name].output_types(types, complete)
            layout = (types, str(sample.attributes))
            if not native(name, complete, types, outputs, target) or layout in seen:
                continue
            if types[0].dtype.name not in ("float32", "int32", "bool", "float16"):
                continue
            seen.add(layout)
            building = Building(*arrays)
            first = building.add(name, *range(len(arrays)), **sample.attributes)
            region = building.region(*range(first, len(building.types)))
            cases.append((region, [generate(region, target)], arrays))
            wanted.append((name, meaning(OPS[name], arrays, sample.attributes)))
    assert wanted
    for (name, expected), (results, flag) in zip(wanted, run_many(cases), strict=True):
        assert flag == 0
        for found, value in zip(results, expected, strict=True):
            same(found, value, 32, name)


@pytest.mark.parametrize("kind", range(3))
def test_a_softmax_and_what_stands_around_it_are_one_kernel(kind: int) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(37, 45)).astype(np.float32)
    row = rng.normal(size=45).astype(np.float32)
    building = Building(x, row)
    scaled = building.add("multiply", 0, 1)
    soft = building.add("softmax", scaled, axis=1)
    total = building.add("sum", building.add("multiply", soft, 0), axis=(1,), keepdims=False)
    region = building.region(soft, total)
    recipe = generate(region, targets()[kind])
    assert len(recipe.kernels) == 1
    (found, sums), _ = run(region, [recipe], [x, row])
    (expected,) = meaning(OPS["softmax"], [x * row], {"axis": 1})
    same(found, expected, 16, "softmax")
    np.testing.assert_allclose(sums, (expected * x).sum(1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("size", [1, 63, 64, 65, 4095, 4097, 82369])
def test_whole_reductions_of_any_length(size: int, kind: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.normal(size=size).astype(np.float32)
    building = Building(x)
    names = ("sum", "max", "min")
    outputs = [building.add(name, 0, axis=(0,), keepdims=False) for name in names]
    region = building.region(*outputs)
    results, _ = run(region, [generate(region, targets()[kind])], [x])
    exact = np.sum(x, dtype=np.float64)
    assert abs(float(results[0]) - exact) <= 4e-7 * np.abs(x).sum()
    assert results[1] == x.max()
    assert results[2] == x.min()


@pytest.mark.parametrize("kind", range(3))
def test_nan_stays(kind: int) -> None:
    x = np.ones((3, 50), np.float32)
    x[1, 17] = np.nan
    building = Building(x)
    outputs = [building.add(n, 0, axis=(1,), keepdims=False) for n in ("max", "min", "sum")]
    outputs += [building.add(n, 0, axis=1, keepdims=False) for n in ("argmax", "argmin")]
    region = building.region(*outputs)
    results, _ = run(region, [generate(region, targets()[kind])], [x])
    for found in results[:3]:
        assert np.isnan(found).tolist() == [False, True, False]
    for found in results[3:]:
        assert found.tolist() == [0, 17, 0]


def test_a_label_that_names_no_class_raises_the_flag() -> None:
    arrays = [np.zeros((2, 3), np.float32), np.array([1, -1], np.int32)]
    building = Building(*arrays)
    first = building.add("cross_entropy", 0, 1, axis=1)
    region = building.region(first)
    _, flag = run(region, [generate(region, target_here())], arrays)
    assert flag


@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize(
    "shape", [(300, 45), (5, 7, 9), (70000,), (2, 40000), (1, 1), (0, 4), (4, 0)]
)
def test_reductions_along_several_axes_and_what_needs_them(
    shape: tuple[int, ...], kind: int
) -> None:
    """The whole sum, sums over all but the last axis, and centred elements: few kernels."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=shape).astype(np.float32)
    every = tuple(range(len(shape)))
    building = Building(x)
    square = building.add("square", 0)
    outputs = [square, building.add("sum", square, axis=every, keepdims=False)]
    if len(shape) > 1:
        columns = building.add("sum", square, axis=every[:-1], keepdims=True)
        outputs += [building.add("subtract", square, columns)]
    region = building.region(*outputs)
    results, _ = run(region, [generate(region, targets()[kind])], [x])
    wide = np.square(x).astype(np.float64)
    np.testing.assert_array_equal(results[0], np.square(x))
    np.testing.assert_allclose(results[1], wide.sum(), rtol=1e-5)
    if len(shape) > 1:
        centred = wide - wide.sum(every[:-1], keepdims=True)
        np.testing.assert_allclose(results[2], centred, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("kind", range(3))
def test_gradients_of_a_softmax_of_a_layer_norm_are_one_region(kind: int) -> None:
    """Rows, and sums over rows for the scale, with half of the labels' work in between."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(150, 45)).astype(np.float32)
    gain = rng.normal(size=45).astype(np.float32)
    building = Building(x, gain)
    near = building.add("normalize", 0, axis=(1,), epsilon=1e-5, center=True)
    soft = building.add("softmax", building.add("multiply", near, 1), axis=1)
    change = building.add("sum", building.add("multiply", soft, near), axis=(0,), keepdims=False)
    region = building.region(soft, building.add("multiply", change, 1))
    recipe = generate(region, targets()[kind])
    assert len(recipe.kernels) == 2
    (found, scaled), _ = run(region, [recipe], [x, gain])
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    centred /= np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    powers = np.exp(centred * gain)
    expected = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=2e-5)
    np.testing.assert_allclose(scaled, (expected * centred).sum(0) * gain, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1e-30, 1e25])
def test_squares_that_leave_the_range(size: float) -> None:
    x = (np.arange(1.0, 41.0).reshape(2, 20) * size).astype(np.float32)
    building = Building(x)
    first = building.add("normalize", 0, axis=(1,), epsilon=0.0, center=True)
    length = building.add("norm", 0, axis=(1,), keepdims=False)
    region = building.region(first, first + 1)
    results, _ = run(region, [generate(region, target_here())], [x])
    wide = x.astype(np.float64)
    scale = 1 / wide.std(1, keepdims=True)
    np.testing.assert_allclose(results[0], (wide - wide.mean(1, keepdims=True)) * scale, rtol=1e-5)
    np.testing.assert_allclose(results[1], scale, rtol=1e-5)
    region = building.region(length)
    (found,), _ = run(region, [generate(region, target_here())], [x])
    np.testing.assert_allclose(found, np.sqrt((wide**2).sum(1)), rtol=1e-6)
