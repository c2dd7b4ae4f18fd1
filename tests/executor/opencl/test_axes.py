"""Generated kernels that reduce any axes, alone and among elementwise steps, against the meanings
of the ops in float64; on targets of any kind."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.region import Recipe, Region, together
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import KINDS, Array
from tests.ops.running import meaning
from tests.tolerance import units

from .generated import Building, Case, mostly_slow, run, run_many, target_here

Axes = tuple[int, ...]


def targets() -> dict[str, Target]:
    here = target_here()
    gpu = here._replace(many_items=True, vector_bytes=16, vector_sine=False)
    return {
        "cpu": here,
        "gpu": gpu,
        "alone": here._replace(alone=True, local_bytes=0),
        "one item": gpu._replace(work_group=1, local_bytes=1024),
        "twelve items": gpu._replace(work_group=12, local_bytes=1024, vector_bytes=4),
        "sixteen items": gpu._replace(work_group=16, local_bytes=1024),
    }


KINDS_OF_TARGETS = ("cpu", "gpu", "alone", "one item", "twelve items", "sixteen items")


def axes_sets(rank: int) -> list[Axes]:
    return [a for k in range(1, rank + 1) for a in combinations(range(rank), k)]


def views(dtype: Any) -> list[Array]:
    """The same kind of numbers, contiguous, turned, backwards with gaps, and repeated."""
    rng = np.random.default_rng(5)
    numbers = [-1.25, -0.75, 1.0, 1.25] if KINDS[np.dtype(dtype)] == "float" else [-2, 1, 3, 0]
    plain = rng.choice(numbers, size=(4, 3, 5, 6))
    wide = np.repeat(np.repeat(plain, 2, axis=3), 3, axis=1)
    return [
        plain.astype(dtype),
        np.ascontiguousarray(plain.transpose(2, 0, 3, 1)).astype(dtype).transpose(1, 3, 0, 2),
        wide.astype(dtype)[:, ::-3, :, 1::2],
        np.broadcast_to(plain[:, :, :1].astype(dtype), plain.shape),
    ]


NAMES = {
    np.float32: ("sum", "prod", "max", "min"),
    np.float64: ("sum", "max"),
    np.float16: ("sum", "min"),
    ml_dtypes.bfloat16: ("sum", "max"),
    np.int32: ("sum", "prod", "max"),
    np.uint8: ("sum", "min"),
    np.bool_: ("any", "all"),
}


def same(found: Array, expected: Array, scale: Array | float) -> None:
    """Equal up to the rounding of a dtype in a result of parts of that scale."""
    if KINDS[found.dtype] != "float":
        np.testing.assert_array_equal(found, expected)
        return
    a, b = found.astype(np.float64), np.asarray(expected, np.float64)
    np.testing.assert_array_equal(np.isfinite(a), np.isfinite(b))
    bound = np.broadcast_to(units(found.dtype, 32) * np.maximum(np.abs(b), scale), b.shape)
    finite = np.isfinite(b)
    assert (np.abs(a[finite] - b[finite]) <= bound[finite]).all()


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "alone", "twelve items"))
def test_every_set_of_axes(kind: str) -> None:
    target = targets()[kind]
    cases: list[Case] = []
    wanted: list[list[tuple[Array, Array | float]]] = []
    for number, axes in enumerate(axes_sets(4)):
        for k, (dtype, names) in enumerate(NAMES.items()):
            x = views(dtype)[(number + k) % 4]
            building = Building(x)
            keep = bool(k % 2)
            outputs = [building.add(n, 0, axis=axes, keepdims=keep) for n in names]
            region = building.region(*outputs)
            cases.append((region, [generate(region, target)], [x]))
            wide = x.astype(np.float64) if KINDS[x.dtype] == "float" else x
            found: list[tuple[Array, Array | float]] = []
            for name in names:
                (expected,) = meaning(OPS[name], [wide], {"axis": axes, "keepdims": keep})
                size = np.abs(wide).sum(axes, keepdims=keep) if name == "sum" else 0.0
                found.append((expected, size))
            wanted.append(found)
    for (results, _), expected_ in zip(run_many(cases), wanted, strict=True):
        for result, (expected, size) in zip(results, expected_, strict=True):
            same(result, expected, size)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "alone"))
@pytest.mark.parametrize("axis", range(3))
def test_places_along_every_axis(axis: int, kind: str) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 4, size=(7, 5, 9)).astype(np.float32)
    x[3, 2, 4] = np.nan
    building = Building(x[::-1])
    outputs = [building.add(n, 0, axis=axis, keepdims=False) for n in ("argmax", "argmin")]
    region = building.region(*outputs)
    results, _ = run(region, [generate(region, targets()[kind])], [x[::-1]])
    np.testing.assert_array_equal(results[0], x[::-1].argmax(axis))
    np.testing.assert_array_equal(results[1], x[::-1].argmin(axis))


@pytest.mark.parametrize("kind", mostly_slow(*KINDS_OF_TARGETS))
def test_nan_stays_along_every_set_of_axes(kind: str) -> None:
    x = np.ones((3, 4, 17), np.float32)
    x[1, 2, 16] = np.nan
    cases: list[Case] = []
    for axes in axes_sets(3):
        building = Building(x)
        names = ("sum", "prod", "max", "min")
        region = building.region(*[building.add(n, 0, axis=axes, keepdims=False) for n in names])
        cases.append((region, [generate(region, targets()[kind])], [x]))
    for axes, (results, _) in zip(axes_sets(3), run_many(cases), strict=True):
        for found in results:
            np.testing.assert_array_equal(np.isnan(found), np.isnan(x).any(axes))


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "twelve items"))
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 7, 1), (5, 1, 1), (1, 1, 33), (0, 3, 4), (3, 0, 4), (3, 4, 0)]
)
def test_axes_of_one_element_or_none(shape: tuple[int, ...], kind: str) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    cases: list[Case] = []
    for axes in axes_sets(3):
        building = Building(x)
        doubled = building.add("add", 0, 0)
        outputs = [building.add(n, doubled, axis=axes, keepdims=False) for n in ("sum", "prod")]
        region = building.region(*outputs, doubled)
        cases.append((region, [generate(region, targets()[kind])], [x]))
    wide = x.astype(np.float64) * 2
    for axes, (results, _) in zip(axes_sets(3), run_many(cases), strict=True):
        same(results[0], wide.sum(axes), np.abs(wide).sum(axes))
        same(results[1], wide.prod(axes), 0.0)
        np.testing.assert_array_equal(results[2], x + x)


def normalized(x: Array, axes: Axes, epsilon: float) -> Array:
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axes, keepdims=True)
    found: Array = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)
    return found


@pytest.mark.parametrize("kind", mostly_slow(*KINDS_OF_TARGETS))
@pytest.mark.parametrize("shape", [(3, 9, 5, 6), (3, 6, 65, 131)])
def test_normalized_between_elementwise_steps(shape: tuple[int, ...], kind: str) -> None:
    """A batch norm with what stands around it, over several sets of axes: one kernel each."""
    rng = np.random.default_rng(9)
    x = (rng.normal(size=shape) + 3).astype(np.float32)
    gain = rng.normal(size=(1, shape[1], 1, 1)).astype(np.float32)
    cases: list[Case] = []
    every = [(0, 2, 3), (1,), (0, 1), (3,)]
    for axes in every:
        building = Building(x, gain)
        doubled = building.add("add", 0, 0)
        near = building.add("normalize", doubled, axis=axes, epsilon=1e-5, center=True)
        scaled = building.add("multiply", near, 1)
        region = building.region(building.add("relu", scaled), near, near + 1)
        recipe = generate(region, targets()[kind])
        assert len(recipe.kernels) == 1
        cases.append((region, [recipe], [x, gain]))
    for axes, (results, _) in zip(every, run_many(cases), strict=True):
        expected = normalized(x + x, axes, 1e-5)
        inner = 1 / np.sqrt((x + x).astype(np.float64).var(axes, keepdims=True) + 1e-5)
        # The mean is rounded as its elements are, and what is left without it may be small.
        bound = units(x.dtype, 8) * (np.abs(x).max() * inner + np.abs(expected))
        assert (np.abs(results[1] - expected) <= bound).all()
        factor = np.abs(gain)
        assert (np.abs(results[0] - np.maximum(expected * gain, 0)) <= bound * factor).all()
        np.testing.assert_allclose(results[2], inner, rtol=1e-5)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "alone", "twelve items"))
@pytest.mark.parametrize("shape", [(6, 5, 4, 3), (4, 3, 60, 61), (3, 17, 33, 1)])
def test_a_batch_norm_backwards_is_one_pass(shape: tuple[int, ...], kind: str) -> None:
    rng = np.random.default_rng(4)
    x, change = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    gain = rng.normal(size=(1, shape[1], 1, 1)).astype(np.float32)
    building = Building(x > 0, change, gain, x)
    zero = building.add("subtract", 1, 1)
    kept = building.add("where", 0, 1, zero)
    bias = building.add("sum_to", kept, shape=gain.shape)
    inner = building.add("multiply_no_nan", 2, kept)
    scale = building.add("sum_to", building.add("multiply_no_nan", 3, kept), shape=gain.shape)
    both = building.add("sum", building.add("multiply", inner, 3), axis=(0, 2, 3), keepdims=True)
    total = building.add("sum", inner, axis=(0, 2, 3), keepdims=False)
    region = building.region(bias, inner, scale, both, total)
    results, _ = run(region, [generate(region, targets()[kind])], [x > 0, change, gain, x])
    wide = np.where(x > 0, change, 0).astype(np.float64)
    axes = (0, 2, 3)
    parts = [wide, wide * x, wide * x * gain, wide * gain]
    for found, part in zip((results[0], results[2], results[3], results[4]), parts, strict=True):
        size = np.abs(part).sum(axes, keepdims=True)
        same(found.reshape(size.shape), part.sum(axes, keepdims=True), size)
    np.testing.assert_array_equal(results[1], gain * np.where(x > 0, change, 0))


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "alone", "sixteen items"))
@pytest.mark.parametrize("axis", range(4))
def test_softmax_along_every_axis(axis: int, kind: str) -> None:
    x = np.random.default_rng(6).normal(size=(5, 4, 7, 18)).astype(np.float32) * 3
    building = Building(x)
    soft = building.add("softmax", building.add("negative", 0), axis=axis)
    logs = building.add("logsumexp", 0, axis=(axis,), keepdims=False)
    masked = building.add("greater_equal", soft, soft)
    kept = building.add("masked_softmax", 0, masked, axis=axis)
    region = building.region(soft, logs, kept)
    recipe = generate(region, targets()[kind])
    assert len(recipe.kernels) == 1
    results, _ = run(region, [recipe], [x])
    for found, sign in ((results[0], -1), (results[2], 1)):
        powers = np.exp(sign * x.astype(np.float64))
        np.testing.assert_allclose(found, powers / powers.sum(axis, keepdims=True), rtol=1e-5)
    expected = np.log(np.exp(x.astype(np.float64)).sum(axis))
    np.testing.assert_allclose(results[1], expected, rtol=1e-5, atol=1e-6)


LONG: list[tuple[tuple[int, ...], Axes]] = [
    ((3, 2, 90, 64), (0, 2, 3)),
    ((70000, 3), (0,)),
    ((70000, 3), (1,)),
    ((2, 40000), (1,)),
    ((2, 40000, 5), (1,)),
    ((5000, 2, 9), (0, 2)),
    ((9, 8200), (0,)),
    ((300, 33), (0,)),
    ((260, 4, 33), (0, 1)),
    ((150000,), (0,)),
]


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "twelve items"))
@pytest.mark.parametrize(("shape", "axes"), LONG)
def test_long_rows_and_few(shape: tuple[int, ...], axes: Axes, kind: str) -> None:
    """In parts or not: rounding grows with the root of the length, and with the magnitudes."""
    x = (np.random.default_rng(3).normal(size=shape) + 1).astype(np.float32)
    half = x.astype(np.float16)
    cases: list[Case] = []
    for given in (x, half):
        building = Building(given)
        square = building.add("multiply", 0, 0)
        outputs = [building.add(n, square, axis=axes, keepdims=True) for n in ("sum", "max")]
        late = building.add("add", outputs[0], outputs[1])
        region = building.region(*outputs, late)
        cases.append((region, [generate(region, targets()[kind])], [given]))
    (results, _), (halves, _) = run_many(cases)
    wide = (x * x).astype(np.float64)
    np.testing.assert_allclose(results[0], wide.sum(axes, keepdims=True), rtol=1e-6)
    np.testing.assert_array_equal(results[1], (x * x).max(axes, keepdims=True))
    np.testing.assert_array_equal(results[2], results[0] + results[1])
    exact = (half * half).astype(np.float64).sum(axes, keepdims=True)
    with np.errstate(over="ignore"):
        # One rounding, of what float32 has summed.
        same(halves[0], exact.astype(np.float16), 0.0)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu"))
@pytest.mark.parametrize("shape", [(140000,), (2, 140000), (140000, 2)])
def test_passes_over_a_very_long_row_are_kernels(shape: tuple[int, ...], kind: str) -> None:
    """A softmax and a normalization of all elements or of two rows, for more than one group."""
    axis = int(np.argmax(shape))
    x = (np.random.default_rng(3).normal(size=shape) + 1).astype(np.float32)
    building = Building(x)
    soft = building.add("softmax", 0, axis=axis)
    near = building.add("normalize", 0, axis=(axis,), epsilon=1e-5, center=True)
    region = building.region(building.add("multiply", soft, near), near, near + 1)
    recipe = generate(region, targets()[kind])
    assert len(recipe.kernels) > 2
    results, _ = run(region, [recipe], [x])
    powers = np.exp(x.astype(np.float64))
    expected = normalized(x, (axis,), 1e-5)
    np.testing.assert_allclose(results[1], expected, rtol=1e-5, atol=1e-6)
    soft_ = powers / powers.sum(axis, keepdims=True)
    np.testing.assert_allclose(results[0], soft_ * expected, rtol=2e-5, atol=1e-11)


def _unlike() -> tuple[Region, Array]:
    """Reductions along other axes, of other shapes and of each other."""
    x = np.random.default_rng(8).normal(size=(6, 7, 40)).astype(np.float32)
    building = Building(x)
    rows = building.add("sum", 0, axis=(2,), keepdims=True)
    middle = building.add("max", 0, axis=(1,), keepdims=True)
    apart = building.add("subtract", 0, middle)
    soft = building.add("softmax", apart, axis=2)
    columns = building.add("sum", building.add("multiply", soft, rows), axis=(0, 1), keepdims=False)
    whole = building.add("sum", columns, axis=(0,), keepdims=False)
    back = building.add("multiply", soft, columns)
    doubled = building.add("add", middle, middle)
    return building.region(rows, soft, columns, whole, back, doubled), x


@pytest.mark.parametrize("kind", mostly_slow(*KINDS_OF_TARGETS))
def test_reductions_that_do_not_go_together(kind: str) -> None:
    region, x = _unlike()
    results, _ = run(region, [generate(region, targets()[kind])], [x])
    wide = x.astype(np.float64)
    rows, middle = wide.sum(2, keepdims=True), wide.max(1, keepdims=True)
    powers = np.exp(wide - middle)
    soft = powers / powers.sum(2, keepdims=True)
    columns = (soft * rows).sum((0, 1))
    wanted = [rows, soft, columns, columns.sum(), soft * columns, middle * 2]
    for found, expected in zip(results, wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=5e-5, atol=2e-5)


def _texts(region: Region, target: Target) -> tuple[str, list[Any]]:
    recipe: Recipe = generate(region, target)
    sizes = [(k.global_size, k.local_size, k.arguments) for k in recipe.kernels]
    return together(recipe.kernels)[0], sizes


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu"))
def test_the_order_is_one_of_shapes_only(kind: str) -> None:
    """Whatever the device has of units, and run after run."""
    target = targets()[kind]
    for shape, axes in LONG:
        x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
        building = Building(x)
        region = building.region(building.add("sum", 0, axis=axes, keepdims=False))
        texts = [_texts(region, target._replace(units=n)) for n in (1, 7, 300)]
        assert texts[0] == texts[1] == texts[2]
    region, y = _unlike()
    first, _ = run(region, [generate(region, target)], [y])
    for _ in range(3):
        again, _ = run(region, [generate(region, target)], [y])
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)
