"""Generated kernels of pooling, against their meaning; on targets of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staticad_executor.devices.opencl.pooling import POOLS, pooling
from staticad_executor.devices.opencl.small import for_small
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16, KINDS, Array
from tests.ops.running import meaning
from tests.ops.samples import every_sample
from tests.tolerance import units

from .generated import Building, Case, mostly_slow, run, run_many, target_here

NAN = np.nan
PAIR = {"window": (2, 2), "strides": (2, 2), "padding": ((0, 0), (0, 0)), "dilation": (1, 1)}


def targets() -> dict[str, Target]:
    """A processor, GPUs with groups of any size, and what runs where many launches are one."""
    here = target_here()
    gpu = here._replace(many_items=True, vector_bytes=16, vector_sine=False)
    return {
        "cpu": here,
        "gpu": gpu,
        "groups of 1": gpu._replace(work_group=1, local_bytes=1024),
        "groups of 12": gpu._replace(work_group=12, local_bytes=1024),
        "small cpu": for_small(here),
        "small gpu": for_small(gpu),
    }


def case(op: str, arrays: Sequence[Array], attributes: Mapping[str, Any], target: Target) -> Case:
    building = Building(*arrays)
    first = building.add(op, *range(len(arrays)), **attributes)
    region = building.region(*range(first, len(building.types)))
    return region, [pooling(region, target)], arrays


def same(
    op: str, found: Sequence[Array], arrays: Sequence[Array], attributes: Mapping[str, Any],
    note: object = "",
) -> None:  # fmt: skip
    """found is the meaning: exactly for integers and what is chosen, else within rounding."""
    expected = meaning(OPS[op], arrays, attributes)
    sizes: list[Array | None] = [None] * len(expected)
    if op != "max_pool" and KINDS[arrays[0].dtype] == "float":
        rest = list(arrays[1:])
        sizes = list(meaning(OPS[op], [np.abs(arrays[0]).astype(np.float64), *rest], attributes))
    for one, other, size in zip(found, expected, sizes, strict=True):
        assert one.dtype == other.dtype, note
        assert one.shape == other.shape, note
        if size is None:
            np.testing.assert_array_equal(one, other, err_msg=str(note))
            continue
        a, b = one.astype(np.float64), other.astype(np.float64)
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b), err_msg=str(note))
        rounding = units(one.dtype, 1) if one.dtype.itemsize == 2 else units(one.dtype, 16)
        with np.errstate(invalid="ignore"):
            wrong = ~(np.abs(a - b) <= rounding * size + 1e-30) & ~(a == b) & ~np.isnan(b)
        assert not wrong.any(), note


@pytest.mark.parametrize("kind", mostly_slow(*sorted(targets())))
@pytest.mark.parametrize("op", sorted(POOLS))
def test_every_sample(op: str, kind: str) -> None:
    cases, seen = [], []
    for sample in every_sample()[op]:
        if KINDS[sample.arrays[0].dtype] != "complex":
            cases.append(case(op, sample.arrays, sample.attributes, targets()[kind]))
            seen.append(sample)
    assert cases
    for (found, flag), sample in zip(run_many(cases), seen, strict=True):
        assert flag == 0
        same(op, found, sample.arrays, sample.attributes, sample)


@st.composite
def windows(draw: st.DrawFn) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Spatial sizes, and windows of which none lies in the padding."""
    axes = []
    for _ in range(draw(st.integers(1, 3))):
        k, s, d = draw(st.integers(1, 4)), draw(st.integers(1, 4)), draw(st.integers(1, 2))
        low, high = draw(st.integers(-1, k - 1)), draw(st.integers(0, k - 1))
        size = max(draw(st.integers(1, 13)), (k - 1) * d + 1 - min(low, 0), d)
        axes.append((size, k, s, (low, high), d))
    sizes, window, strides, padding, dilation = zip(*axes, strict=True)
    attributes = {"window": window, "strides": strides, "padding": padding, "dilation": dilation}
    return sizes, attributes


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu"))
@settings(max_examples=8, deadline=None)
@given(drawn=windows(), lead=st.tuples(*[st.integers(0, 3)] * 2), seed=st.integers(0, 1 << 16))
def test_any_attributes(
    kind: str, drawn: tuple[tuple[int, ...], dict[str, Any]], lead: tuple[int, int], seed: int
) -> None:
    sizes, attributes = drawn
    rng = np.random.default_rng(seed)
    target = targets()[kind]
    # Few different numbers: many are equal.
    x: Array = np.asarray(rng.integers(-3, 3, (*lead, *sizes)), np.float32)
    x[rng.random(x.shape) < 0.1] = NAN
    values, places = meaning(OPS["max_pool"], [x], attributes)
    g: Array = np.asarray(rng.normal(size=values.shape), np.float32)
    finite = np.where(np.isnan(x), np.float32(0.5), x)
    cases: list[tuple[str, list[Array], dict[str, Any]]] = [
        ("max_pool", [x], attributes),
        ("unpool", [g, places], {"shape": sizes}),
        ("window_sum", [finite], attributes),
        ("window_spread", [g], {**attributes, "shape": sizes}),
    ]
    made = [case(op, arrays, given_, target) for op, arrays, given_ in cases]
    for (found, flag), (op, arrays, given_) in zip(run_many(made), cases, strict=True):
        assert flag == 0
        same(op, found, arrays, given_, (op, given_))


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu"))
def test_operands_that_are_views(kind: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 2, 8, 10)).astype(np.float32)[:, ::-1, :, ::2]
    places = rng.integers(0, 40, (3, 2, 2, 4)).transpose(0, 1, 3, 2)
    same_places = np.broadcast_to(places[:1, :1], places.shape)
    g = rng.normal(size=(3, 4, 2, 2)).astype(np.float32).transpose(0, 2, 1, 3)
    cases: list[tuple[str, list[Array], dict[str, Any]]] = [
        ("max_pool", [x], PAIR),
        ("window_sum", [x], PAIR),
        ("unpool", [g, places], {"shape": (8, 5)}),
        ("unpool", [g, same_places], {"shape": (8, 5)}),
        ("window_spread", [g], {**PAIR, "shape": (8, 5)}),
    ]
    made = [case(op, arrays, attributes, targets()[kind]) for op, arrays, attributes in cases]
    for (found, _), (op, arrays, attributes) in zip(run_many(made), cases, strict=True):
        same(op, found, arrays, attributes, op)


@pytest.mark.parametrize("kind", mostly_slow(*sorted(targets())))
def test_ties_and_nan(kind: str) -> None:
    x = np.array([[[[1, 1, NAN, 5], [1, 1, 7, NAN], [-np.inf] * 4, [-np.inf] * 4]]], np.float32)
    region, recipes, arrays = case("max_pool", [x], PAIR, targets()[kind])
    (values, places), _ = run(region, recipes, arrays)
    np.testing.assert_array_equal(values, np.array([[[[1, NAN], [-np.inf, -np.inf]]]]))
    np.testing.assert_array_equal(places, [[[[0, 2], [8, 10]]]])


@pytest.mark.parametrize("output", [0, 1])
def test_one_of_the_outputs_alone(output: int) -> None:
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    building = Building(x)
    first = building.add("max_pool", 0, **PAIR)
    region = building.region(first + output)
    for target in (targets()["cpu"], targets()["gpu"]):
        (found,), _ = run(region, [pooling(region, target)], [x])
        np.testing.assert_array_equal(found, [[[[5, 7], [13, 15]]]])


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu", "small gpu"))
@pytest.mark.parametrize("wrong", [-1, 6, 1 << 40])
@pytest.mark.parametrize("shape", [(6,), (0,)])
def test_an_index_out_of_range_raises_the_flag(shape: tuple[int], wrong: int, kind: str) -> None:
    g = np.ones((2, 2, 3), np.float32)
    places = np.zeros(g.shape, np.int64)
    places[1, 1, 2] = wrong
    region, recipes, arrays = case("unpool", [g, places], {"shape": shape}, targets()[kind])
    results, flag = run(region, recipes, arrays)
    assert flag
    assert results[0].shape == (2, 2, *shape)


@pytest.mark.parametrize("kind", mostly_slow("cpu", "gpu"))
def test_sums_of_half_floats_are_rounded_once(kind: str) -> None:
    g = np.ones((1, 2, 3000), BFLOAT16)
    places = np.zeros(g.shape, np.int64)
    x = np.ones((1, 1, 3000), BFLOAT16)
    line = {"window": (3000,), "strides": (1,), "padding": ((0, 0),), "dilation": (1,)}
    target = targets()[kind]
    unpooled = case("unpool", [g, places], {"shape": (5,)}, target)
    summed = case("window_sum", [x], line, target)
    ((found,), _), ((total,), _) = run_many([unpooled, summed])
    expected = np.asarray(3000, BFLOAT16)
    assert (found[..., 0] == expected).all()
    assert (found[..., 1:] == 0).all()
    assert total[0, 0, 0] == expected
