"""Generated kernels of convolution and its transposes, against their meaning in float64 and in
integers; on targets of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staticad_executor.devices.opencl.convolution import convolution
from staticad_executor.devices.opencl.region import LocalBytes
from staticad_executor.devices.opencl.small import for_small
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, KINDS, Array, DType
from tests.ops.running import meaning
from tests.ops.samples import every_sample
from tests.tolerance import units

from .generated import Building, Case, mostly_slow, run, target_here

OPERATIONS = ("conv", "conv_input", "conv_weights")


def targets() -> dict[str, Target]:
    """Processors with much local memory and with hardly any, GPUs likewise, and what runs where
    work-items do not work together."""
    here = target_here()
    gpu = here._replace(many_items=True, vector_bytes=16, vector_sine=False)
    return {
        "cpu": here,
        "scalar": here._replace(vector_bytes=4),
        "cpu of 1 KiB": here._replace(local_bytes=1024),
        "gpu": gpu,
        "groups of 1": gpu._replace(work_group=1, local_bytes=1024),
        "groups of 12": gpu._replace(work_group=12, local_bytes=1024, vector_bytes=4),
        "groups of 16": gpu._replace(work_group=16, local_bytes=1024),
        "small cpu": for_small(here),
        "small gpu": for_small(gpu),
    }


class Moving(NamedTuple):
    """A convolution: (batch, channels, outputs), then what there is of each spatial axis."""

    lead: tuple[int, int, int]
    sizes: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int = 1

    @property
    def attributes(self) -> dict[str, Any]:
        moving = {"strides": self.strides, "padding": self.padding, "dilation": self.dilation}
        return {**moving, "groups": self.groups}

    @property
    def counts(self) -> tuple[int, ...]:
        given = zip(self.sizes, self.kernel, self.strides, self.padding, self.dilation, strict=True)
        return tuple(
            (n + low + high - (k - 1) * d - 1) // s + 1 for n, k, s, (low, high), d in given
        )


def plain(lead: tuple[int, int, int], size: int, kernel: int, pad: int, stride: int = 1) -> Moving:
    """Two spatial axes alike."""
    pair = ((pad, pad),) * 2
    return Moving(lead, (size,) * 2, (kernel,) * 2, (stride,) * 2, pair, (1, 1))


CASES = [
    # Those of a residual network and of LeNet, with fewer images.
    plain((2, 3, 16), 32, 3, 1),
    plain((2, 16, 16), 32, 3, 1),
    plain((2, 16, 32), 32, 3, 1, 2),
    plain((3, 64, 64), 8, 3, 1),
    plain((2, 1, 6), 28, 5, 0),
    plain((2, 6, 16), 12, 5, 0),
    plain((2, 33, 17), 5, 3, 1),
    plain((2, 5, 7), 6, 1, 0),
    Moving((2, 4, 6), (8, 11), (3, 2), (2, 3), ((1, 2), (0, 1)), (1, 2), 2),
    Moving((3, 6, 6), (9, 5), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 6),
    Moving((1, 1, 1), (20,), (4,), (1,), ((0, 3),), (2,)),
    Moving((1, 2, 3), (40,), (3,), (7,), ((2, 2),), (3,)),
    Moving((1, 2, 3), (700,), (5,), (4,), ((2, 2),), (2,)),
    Moving((2, 3, 5), (4, 5, 6), (2, 3, 1), (1, 2, 1), ((0, 1), (1, 1), (0, 0)), (1, 1, 1)),
    Moving((2, 2, 3), (12, 12), (3, 3), (2, 2), ((-1, 2), (1, -2)), (2, 2)),
    Moving((1, 2, 2), (3, 9), (1, 1), (1, 1), ((0, 0), (2, 0)), (1, 1)),
    # Windows that leave elements out, one window of any stride, more phases than launches.
    Moving((1, 2, 3), (30, 3), (2, 3), (9, 1 << 40), ((0, 0), (0, 0)), (1, 1)),
    Moving((1, 2, 3), (40, 9), (2, 2), (6, 5), ((1, 0), (0, 3)), (3, 5)),
    Moving((3, 4, 4), (1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 2),
    # Nothing in, nothing out, nothing to add up.
    Moving((0, 3, 4), (5, 5), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    Moving((2, 0, 4), (5, 5), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    Moving((2, 3, 0), (5, 5), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)),
    Moving((2, 3, 4), (0, 5), (1, 3), (1, 1), ((0, 0), (1, 1)), (1, 1)),
]


def numbers(rng: np.random.Generator, shape: Sequence[int], dtype: DType) -> Array:
    if KINDS[dtype] == "float":
        return rng.normal(size=tuple(shape)).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, tuple(shape), dtype, endpoint=True)


def operands(
    op: str, moving: Moving, dtype: DType, rng: np.random.Generator
) -> tuple[list[Array], dict[str, Any]]:
    """Operands of an op, and its attributes."""
    images, channels, outputs = moving.lead
    each = channels // moving.groups
    x = numbers(rng, (images, channels, *moving.sizes), dtype)
    w = numbers(rng, (outputs, each, *moving.kernel), dtype)
    g = numbers(rng, (images, outputs, *moving.counts), dtype)
    if op == "conv":
        return [x, w], moving.attributes
    if op == "conv_input":
        return [g, w], {**moving.attributes, "shape": moving.sizes}
    return [x, g], {**moving.attributes, "shape": (each, *moving.kernel)}


def case(op: str, arrays: Sequence[Array], attributes: Mapping[str, Any], target: Target) -> Case:
    building = Building(*arrays)
    region = building.region(building.add(op, 0, 1, **attributes))
    return region, [convolution(region, target)], arrays


def run_each(cases: Sequence[Case]) -> list[tuple[list[Array], int]]:
    """The results of each case.  A program with many kernels takes longer than many programs."""
    return [run(*one) for one in cases]


def same(
    op: str, found: Array, arrays: Sequence[Array], attributes: Mapping[str, Any], note: object = ""
) -> None:
    """found is the sum, rounded once."""
    dtype = arrays[0].dtype
    assert found.dtype == dtype, note
    if KINDS[dtype] != "float":
        (expected,) = meaning(OPS[op], arrays, attributes)
        np.testing.assert_array_equal(found, expected, err_msg=str(note))
        return
    wide = [a.astype(np.float64) for a in arrays]
    (expected,) = meaning(OPS[op], wide, attributes)
    (size,) = meaning(OPS[op], [np.abs(a) for a in wide], attributes)
    assert found.shape == expected.shape, note
    once = units(dtype, 0.5) if dtype.itemsize == 2 else 0.0
    summed = units(np.float64 if dtype == FLOAT64 else np.float32, 24)
    wide_found = found.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(wide_found), np.isnan(expected), err_msg=str(note))
    with np.errstate(invalid="ignore"):
        near = np.abs(wide_found - expected) <= once * np.abs(expected) + summed * size + 1e-30
    assert (near | (wide_found == expected) | np.isnan(expected)).all(), note


@pytest.mark.parametrize("kind", mostly_slow(*sorted(targets())))
@pytest.mark.parametrize("op", OPERATIONS)
def test_attributes_and_sizes(op: str, kind: str) -> None:
    rng = np.random.default_rng(1)
    target = targets()[kind]
    # Programs take long to build.
    some = CASES if kind in ("cpu", "gpu") else CASES[8:10] + CASES[18:]
    cases, given = [], []
    for moving in some:
        arrays, attributes = operands(op, moving, FLOAT32, rng)
        cases.append(case(op, arrays, attributes, target))
        given.append((moving, attributes))
    for ((found,), _), (_, _, own), (moving, attributes) in zip(
        run_each(cases), cases, given, strict=True
    ):
        same(op, found, own, attributes, moving)


@pytest.mark.parametrize("kind", mostly_slow(*sorted(targets())))
@pytest.mark.parametrize("op", OPERATIONS)
def test_local_memory_and_groups_are_within_limits(op: str, kind: str) -> None:
    rng = np.random.default_rng(2)
    target = targets()[kind]
    for moving in [*CASES, plain((1, 512, 8), 40, 3, 1), plain((1, 4, 8), 200, 3, 1)]:
        arrays, attributes = operands(op, moving, FLOAT64, rng)
        _, (recipe,), _ = case(op, arrays, attributes, target)
        for kernel in recipe.kernels:
            local = sum(a.nbytes for a in kernel.arguments if isinstance(a, LocalBytes))
            assert local <= target.local_bytes
            assert np.prod(kernel.local_size) <= target.work_group
            assert not local or not target.alone


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "small cpu", at_once=("cpu",)))
@pytest.mark.parametrize("op", OPERATIONS)
def test_every_sample(op: str, kind: str) -> None:
    target = targets()[kind]
    cases, given = [], []
    for sample in every_sample()[op]:
        if sample.arrays[0].dtype in (np.float32, np.int32):
            cases.append(case(op, sample.arrays, sample.attributes, target))
            given.append(sample.attributes)
    assert cases
    for ((found,), _), (_, _, own), attributes in zip(run_each(cases), cases, given, strict=True):
        same(op, found, own, attributes, attributes)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "small cpu", at_once=("cpu",)))
@pytest.mark.parametrize("op", OPERATIONS)
def test_every_dtype(op: str, kind: str) -> None:
    rng = np.random.default_rng(3)
    target = targets()[kind]
    moving = CASES[8]
    dtypes = [np.dtype(n) for n in ("int8", "int32", "uint64")]
    cases, given = [], []
    for dtype in [*dtypes, FLOAT16, BFLOAT16, FLOAT64]:
        if not target.holds(dtype):
            continue
        arrays, attributes = operands(op, moving, dtype, rng)
        cases.append(case(op, arrays, attributes, target))
        given.append((dtype, attributes))
    for ((found,), _), (_, _, own), (dtype, attributes) in zip(
        run_each(cases), cases, given, strict=True
    ):
        same(op, found, own, attributes, dtype)


@st.composite
def movings(draw: st.DrawFn) -> Moving:
    """Any convolution that has windows."""
    rank = draw(st.integers(1, 3))
    groups = draw(st.integers(1, 3))
    lead = draw(st.integers(0, 3)), draw(st.integers(0, 3)), draw(st.integers(0, 9))
    small = st.integers(1, 3)
    axes = []
    for _ in range(rank):
        k, s, d = draw(st.integers(1, 4)), draw(small), draw(small)
        size = draw(st.integers(0, 19 if rank < 3 else 5))
        low, high = draw(st.integers(-1, 3)), draw(st.integers(0, 3))
        short = max(0, (k - 1) * d + 1 - size - low - high)
        if size + low + high + short < 1:
            short = 1 - size - low - high
        axes.append((size, k, s, (low, high + short), d))
    sizes, kernel, strides, padding, dilation = zip(*axes, strict=True)
    images, channels, outputs = lead
    return Moving(
        (images, channels * groups, outputs * groups),
        sizes, kernel, strides, padding, dilation, groups,
    )  # fmt: skip


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "small gpu", at_once=("cpu",)))
@settings(max_examples=6, deadline=None)
@given(movings=st.lists(movings(), min_size=3, max_size=3), seed=st.integers(0, 1 << 16))
def test_any_attributes(kind: str, movings: list[Moving], seed: int) -> None:
    rng = np.random.default_rng(seed)
    cases, given = [], []
    for moving in movings:
        for op in OPERATIONS:
            arrays, attributes = operands(op, moving, FLOAT32, rng)
            cases.append(case(op, arrays, attributes, targets()[kind]))
            given.append((op, moving, attributes))
    for ((found,), _), (_, _, own), (op, moving, attributes) in zip(
        run_each(cases), cases, given, strict=True
    ):
        same(op, found, own, attributes, (op, moving))


def views(x: Array) -> list[Array]:
    """The same numbers in other places: axes in another order, from the end, far apart, and an
    array that is one image again and again."""
    turned = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., 1::2] = x
    return [
        np.moveaxis(turned, -1, 1),
        np.ascontiguousarray(x[:, ::-1, ::-1, ::-1])[:, ::-1, ::-1, ::-1],
        wide[..., 1::2],
        np.broadcast_to(x[:1], x.shape),
    ]


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "small cpu", at_once=("cpu",)))
@pytest.mark.parametrize("op", OPERATIONS)
def test_operands_that_are_views(op: str, kind: str) -> None:
    rng = np.random.default_rng(4)
    cases = []
    moving = Moving((2, 4, 6), (9, 19), (3, 2), (1, 2), ((1, 2), (0, 1)), (2, 1), 2)
    arrays, attributes = operands(op, moving, FLOAT32, rng)
    for one, two in zip(views(arrays[0]), views(arrays[1]), strict=True):
        cases.append(case(op, [one, two], attributes, targets()[kind]))
    for ((found,), _), (_, _, seen) in zip(run_each(cases), cases, strict=True):
        same(op, found, seen, attributes)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "small cpu", at_once=("cpu",)))
def test_what_is_not_finite_stays_within_its_windows(kind: str) -> None:
    """Also where lanes of a vector lie behind the last window."""
    rng = np.random.default_rng(5)
    moving = Moving((1, 2, 3), (9, 13), (3, 3), (2, 1), ((0, 0), (0, -2)), (1, 1))
    target = targets()[kind]
    cases, given = [], []
    for op in OPERATIONS:
        arrays, attributes = operands(op, moving, FLOAT32, rng)
        # Seen by no window: the last column, which is cropped, and one that is.
        arrays[0][..., 12 if op != "conv_input" else 4] = np.inf
        if op == "conv":
            arrays[0][0, 0, 4, 5] = np.nan
        cases.append(case(op, arrays, attributes, target))
        given.append((op, attributes))
    for ((found,), _), (_, _, own), (op, attributes) in zip(
        run_each(cases), cases, given, strict=True
    ):
        (expected,) = meaning(OPS[op], own, attributes)
        # No window sees the infinite column of the weights' x.
        assert np.isfinite(expected).any()
        assert np.isfinite(expected).all() == (op == "conv_weights")
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=op)
        np.testing.assert_array_equal(np.isinf(found), np.isinf(expected), err_msg=op)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", at_once=("cpu",)))
def test_the_order_of_sums_is_a_function_of_the_shape(kind: str) -> None:
    """As many units as there are: the same bits."""
    rng = np.random.default_rng(6)
    target = targets()[kind]
    for op in OPERATIONS:
        arrays, attributes = operands(op, plain((9, 5, 12), 14, 3, 1), FLOAT32, rng)
        found = []
        for count in (1, 2, 64):
            region, recipes, _ = case(op, arrays, attributes, target._replace(units=count))
            found.append(run(region, recipes, arrays)[0][0].tobytes())
        assert len(set(found)) == 1, op


def test_long_sums_of_half_floats_are_rounded_once() -> None:
    x = np.ones((1, 40, 10, 10), BFLOAT16)
    w = np.ones((1, 40, 10, 10), BFLOAT16)
    attributes: dict[str, Any] = {
        "strides": (1, 1), "padding": ((0, 0), (0, 0)), "dilation": (1, 1), "groups": 1
    }  # fmt: skip
    for kind in ("cpu", "gpu", "small cpu"):
        region, recipes, arrays = case("conv", [x, w], attributes, targets()[kind])
        assert float(run(region, recipes, arrays)[0][0][0, 0, 0, 0]) == 4000
