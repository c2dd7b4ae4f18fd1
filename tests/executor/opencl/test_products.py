"""Generated kernels of matrix products, against float64 and exact integers; on targets of any
kind."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staticad_executor.devices.opencl.contraction import contraction, is_contraction
from staticad_executor.devices.opencl.generate import generate
from staticad_executor.devices.opencl.native import native
from staticad_executor.devices.opencl.region import Pointer, Recipe, Region, together
from staticad_executor.devices.opencl.small import for_small, merged
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import BFLOAT16, KINDS, NAMES, Array, DType, TensorType
from tests.ops.running import meaning
from tests.tolerance import units

from .generated import Building, Case, run, run_many, target_here

Layout = str


def targets() -> dict[str, Target]:
    """Processors with vectors and without, a GPU, and GPUs of hardly any means; what runs where
    many small launches are one."""
    here = target_here()
    gpu = here._replace(many_items=True, vector_bytes=16, vector_sine=False)
    return {
        "cpu": here,
        "scalar": here._replace(vector_bytes=4),
        "gpu": gpu,
        "groups of 1": gpu._replace(work_group=1, local_bytes=1024),
        "groups of 12": gpu._replace(work_group=12, local_bytes=1024, vector_bytes=4),
        "groups of 16": gpu._replace(work_group=16, local_bytes=1024),
        "small cpu": for_small(here),
        "small gpu": for_small(gpu),
    }


ALL = sorted(targets())


def laid(x: Array, how: Layout) -> Array:
    """The same array in another order: t, its last axes swapped; s, every second element; r, from
    the end; b, its first axis repeated."""
    if how == "t" and x.ndim > 1:
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if how == "s":
        memory = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
        view = memory[tuple(slice(None, None, 2) for _ in x.shape)]
        view[...] = x
        return view
    if how == "r":
        return np.ascontiguousarray(x[..., ::-1])[..., ::-1]
    return x


def numbers(rng: np.random.Generator, shape: Sequence[int], dtype: DType) -> Array:
    if KINDS[dtype] == "float":
        return rng.normal(size=tuple(shape)).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, tuple(shape), dtype, endpoint=True)


def product(op: str, *arrays: Array, **attributes: Any) -> Region:
    building = Building(*arrays)
    return building.region(building.add(op, 0, 1, **attributes))


def exact(a: Array, b: Array) -> tuple[Array, Array]:
    """The product in float64, and that of magnitudes, which errors are relative to."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    return np.matmul(x, y), np.matmul(np.abs(x), np.abs(y))


def same(found: Array, a: Array, b: Array, note: object = "") -> None:
    """found is a @ b, rounded once."""
    if KINDS[a.dtype] != "float":
        np.testing.assert_array_equal(found, np.matmul(a, b), err_msg=str(note))
        return
    wide, size = exact(a, b)
    assert found.shape == wide.shape, note
    assert found.dtype == a.dtype, note
    once = units(a.dtype, 0.5) if a.dtype.itemsize == 2 else 0.0
    summed = units(np.float64 if a.dtype == np.float64 else np.float32, 24)
    error = np.abs(found.astype(np.float64) - wide)
    assert (error <= once * np.abs(wide) + summed * size + 1e-30).all(), note


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((13, 30), (30, 37)), ((1, 30), (30, 37)), ((13, 30), (30, 1)), ((7, 5), (5, 3)),
    ((64, 40), (40, 10)), ((3, 13, 30), (30, 5)), ((3, 13, 30), (3, 30, 5)),
    ((2, 1, 9, 4), (3, 4, 17)), ((30,), (30,)), ((30,), (30, 4)), ((5, 30), (30,)),
    ((3,), (2, 3, 4)), ((2, 3, 4), (4,)), ((6, 1, 30), (30, 1)), ((4, 9, 1), (4, 1, 9)),
    ((0, 3), (3, 4)), ((3, 0), (0, 4)), ((3, 4), (4, 0)), ((0, 3, 2), (2, 2)), ((1, 1), (1, 1)),
    ((150, 300), (300, 70)),
]  # fmt: skip


@pytest.mark.parametrize("kind", ALL)
def test_shapes_and_layouts(kind: str) -> None:
    rng = np.random.default_rng(1)
    target = targets()[kind]
    cases: list[Case] = []
    notes = []
    layouts = [*itertools.product("cts", "cts")] if kind == "cpu" else ["cc", "tt", "ss"]
    for (left, right), (how, other) in itertools.product(SHAPES, layouts):
        if (how == "t" and len(left) < 2) or (other == "t" and len(right) < 2):
            continue
        if max(left) > 100 and "s" in (how, other):
            continue
        a = laid(numbers(rng, left, np.dtype(np.float32)), how)
        b = laid(numbers(rng, right, np.dtype(np.float32)), other)
        region = product("matmul", a, b)
        cases.append((region, [generate(region, target)], [a, b]))
        notes.append((left, right, how, other))
    for ((found,), _), (_, _, (a, b)), note in zip(run_many(cases), cases, notes, strict=True):
        same(found, a, b, note)


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("op", ["matmul", "matmul_transposed", "matmul_no_nan"])
def test_every_dtype(op: str, kind: str) -> None:
    rng = np.random.default_rng(2)
    target = targets()[kind]
    cases: list[Case] = []
    for dtype in NAMES.values():
        if KINDS[dtype] not in ("int", "uint", "float"):
            continue
        if op == "matmul_no_nan" and KINDS[dtype] != "float":
            continue
        for shape, how in itertools.product([(17, 300, 21)], "ct"):
            m, k, n = shape
            a = laid(numbers(rng, (m, k), dtype), how)
            b = laid(numbers(rng, (n, k) if op == "matmul_transposed" else (k, n), dtype), how)
            attributes = {"value": True} if op == "matmul_no_nan" else {}
            types = [TensorType(x.dtype, x.shape) for x in (a, b)]
            complete = OPS[op].attributes(attributes)
            outputs = OPS[op].output_types(types, complete)
            if not native(op, complete, types, outputs, target):
                assert not target.fp64
                continue
            region = product(op, a, b, **attributes)
            cases.append((region, [generate(region, target)], [a, b]))
    for ((found,), _), (_, _, (a, b)) in zip(run_many(cases), cases, strict=True):
        same(found, a, b.T if op == "matmul_transposed" else b, (a.dtype, a.shape))


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_any_strides_and_sizes(kind: str, data: st.DataObject) -> None:
    """Programs take long to build, so that many products are one program."""
    seed = data.draw(st.integers(0, 1 << 16))
    rng = np.random.default_rng(seed)
    sizes = st.sampled_from([0, 1, 2, 3, 7, 8, 9, 16, 17, 33])
    cases: list[Case] = []
    for _ in range(4):
        m, k, n = (data.draw(sizes) for _ in range(3))
        stack = data.draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2))
        few = data.draw(st.integers(0, len(stack)))
        a, b = (numbers(rng, shape, np.dtype(np.float32)) for shape in (
            (*stack, m, k), (*(1 if data.draw(st.booleans()) else s for s in stack[few:]), k, n)
        ))  # fmt: skip
        a, b = (laid(x, data.draw(st.sampled_from("ctsr"))) for x in (a, b))
        if data.draw(st.booleans()):
            a = np.broadcast_to(a[..., :1, :], a.shape)
        region = product("matmul", a, b)
        cases.append((region, [generate(region, targets()[kind])], [a, b]))
    for ((found,), _), (_, _, (a, b)) in zip(run_many(cases), cases, strict=True):
        same(found, a, b, (a.shape, b.shape, a.strides, b.strides))


@pytest.mark.parametrize("kind", ["cpu", "gpu", "groups of 12", "small gpu"])
def test_what_is_computed_of_a_product_is_the_same_kernel(kind: str) -> None:
    """A bias, an activation, and a mask of the result's shape; both results are stored."""
    rng = np.random.default_rng(3)
    cases: list[Case] = []
    for stack, m, k, n in [((), 33, 20, 45), ((3,), 5, 9, 8), ((), 6, 300, 1), ((), 3, 9000, 4)]:
        a = numbers(rng, (*stack, m, k), np.dtype(np.float32))
        b = numbers(rng, (*stack, k, n), np.dtype(np.float32))
        bias = numbers(rng, (n,), np.dtype(np.float32))
        gate = numbers(rng, (*stack, m, n), np.dtype(np.float32))
        building = Building(a, b, bias, gate)
        total = building.add("add", building.add("matmul", 0, 1), 2)
        region = building.region(
            building.add("multiply", building.add("relu", total), 3), building.add("tanh", total)
        )
        assert is_contraction(region)
        recipe = generate(region, targets()[kind])
        assert recipe.algorithm
        cases.append((region, [recipe], [a, b, bias, gate]))
    for ((found, other), _), (_, _, arrays) in zip(run_many(cases), cases, strict=True):
        a, b, bias, gate = (np.asarray(x, np.float64) for x in arrays)
        biased = a @ b + bias
        near = units(np.float32, 30) * (np.abs(a) @ np.abs(b) + np.abs(bias))
        expected = np.maximum(biased, 0) * gate
        assert (np.abs(found - expected) <= near * np.abs(gate)).all()
        assert (np.abs(other - np.tanh(biased)) <= near + units(np.float32)).all()


@pytest.mark.parametrize("kind", ["gpu", "groups of 1", "groups of 12"])
def test_vectors_times_large_matrices_are_sums_on_gpus(kind: str) -> None:
    rng = np.random.default_rng(8)
    cases: list[Case] = []
    names = ["float32", "float16", "int8", "uint64"] if kind == "gpu" else ["float32"]
    for name, how, turned in itertools.product(names, "ct", [False, True]):
        a = numbers(rng, (100, 90), NAMES[name])
        b = numbers(rng, (100 if turned else 90,), NAMES[name])
        bias = numbers(rng, (90 if turned else 100,), NAMES[name])
        arrays = [b, laid(a, how)] if turned else [laid(a, how), b]
        building = Building(*arrays, bias)
        found = building.add("matmul", 0, 1)
        region = building.region(found, building.add("add", found, 2))
        recipe = generate(region, targets()[kind])
        assert "summed" in recipe.algorithm
        cases.append((region, [recipe], [*arrays, bias]))
    for ((found_, biased), _), (_, _, (a, b, bias)) in zip(run_many(cases), cases, strict=True):
        same(found_, a, b)
        np.testing.assert_array_equal(biased, found_ + bias)


@pytest.mark.parametrize("kind", ["gpu"])
def test_zeros_that_add_nothing_to_sums(kind: str) -> None:
    rng = np.random.default_rng(9)
    a = numbers(rng, (100, 90), np.dtype(np.float32))
    b = numbers(rng, (90, 1), np.dtype(np.float32))
    a[rng.random(a.shape) < 0.7] = 0
    b[::9] = np.nan
    a[1:, ::9] = 0
    for left, right in ((a, b), (b.T, a.T)):
        region = product("matmul_no_nan", left, right, value=True)
        (found,), _ = run(region, [generate(region, targets()[kind])], [left, right])
        (expected,) = meaning(OPS["matmul_no_nan"], [left, right], {"value": True})
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_halves_are_rounded_before_what_follows(kind: str) -> None:
    rng = np.random.default_rng(4)
    for dtype in (np.dtype(np.float16), BFLOAT16):
        a, b = numbers(rng, (20, 30), dtype), numbers(rng, (30, 24), dtype)
        building = Building(a, b)
        found = building.add("matmul", 0, 1)
        region = building.region(found, building.add("add", found, found))
        (once, twice), _ = run(region, [generate(region, targets()[kind])], [a, b])
        same(once, a, b)
        np.testing.assert_array_equal(twice, once + once)


@pytest.mark.parametrize("kind", ["cpu", "gpu", "groups of 16"])
def test_an_operand_may_be_a_factor_and_more(kind: str) -> None:
    rng = np.random.default_rng(5)
    x = numbers(rng, (17, 17), np.dtype(np.float32))
    building = Building(x)
    region = building.region(building.add("subtract", building.add("matmul", 0, 0), 0))
    (found,), _ = run(region, [generate(region, targets()[kind])], [x])
    wide, size = exact(x, x)
    assert (np.abs(found - (wide - x)) <= units(np.float32, 24) * size).all()


@pytest.mark.parametrize("kind", ALL)
def test_nan_and_infinity_reach_what_they_belong_to_and_nothing_else(kind: str) -> None:
    cases: list[Case] = []
    for (m, k, n), how, other in itertools.product(
        [(9, 20, 21), (1, 20, 9), (3, 20, 1)], "ct", "ct"
    ):
        a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
        a[m // 2, k - 1] = np.nan
        b[0, n - 1] = np.inf
        a, b = laid(a, how), laid(b, other)
        region = product("matmul", a, b)
        cases.append((region, [generate(region, targets()[kind])], [a, b]))
    for ((found,), _), (_, _, (a, b)) in zip(run_many(cases), cases, strict=True):
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(found, np.matmul(a, b))


@pytest.mark.parametrize("kind", ["cpu", "scalar", "gpu", "groups of 12", "small cpu"])
def test_zeros_that_add_nothing(kind: str) -> None:
    rng = np.random.default_rng(6)
    cases: list[Case] = []
    for (m, k, n), how, other in itertools.product(
        [(9, 40, 21), (1, 20, 9), (6, 20, 1), (50, 20, 20)], "ct", "ct"
    ):
        a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((m, k), (k, n)))
        a[rng.random(a.shape) < 0.7] = 0
        b[rng.random(b.shape) < 0.1] = np.nan
        b[rng.random(b.shape) < 0.1] = np.inf
        a, b = laid(a, how), laid(b, other)
        region = product("matmul_no_nan", a, b, value=True)
        cases.append((region, [generate(region, targets()[kind])], [a, b]))
    for ((found,), _), (_, _, (a, b)) in zip(run_many(cases), cases, strict=True):
        (expected,) = meaning(OPS["matmul_no_nan"], [a, b], {"value": True})
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_long_sums_are_as_accurate_as_short_ones(kind: str) -> None:
    """Their error is that of chunks and of a sum of chunks, not of as many terms as there are."""
    depth = 200_000
    a, b = np.full((2, depth), 0.1, np.float32), np.ones((depth, 3), np.float32)
    for how in "ct":
        arrays = [a, laid(b, how)]
        region = product("matmul", *arrays)
        (found,), _ = run(region, [generate(region, targets()[kind])], arrays)
        np.testing.assert_allclose(found, exact(a, b)[0], rtol=units(np.float32, 100))


def test_products_among_small_launches() -> None:
    rng = np.random.default_rng(7)
    for target in (target_here(), targets()["gpu"]):
        a, b = (numbers(rng, s, np.dtype(np.float32)) for s in ((6, 9), (9, 11)))
        first = product("matmul", a, b)
        recipe = generate(first, for_small(target))
        whole = merged([(k, _itself) for k in recipe.kernels], target)
        (found,), _ = run(first, [Recipe((whole,), recipe.scratch)], [a, b])
        same(found, a, b)


def _itself(pointer: Pointer) -> tuple[Pointer, int]:
    return pointer, 0


@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_text_does_not_depend_on_sizes(kind: str) -> None:
    texts = set()
    for m, k, n in [(700, 600, 336), (900, 800, 400)]:
        a, b = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
        region = product("matmul", a, b)
        texts.add(together(generate(region, targets()[kind]).kernels)[0])
    assert len(texts) == 1


def test_axes_are_merged_where_operands_allow_it() -> None:
    x = np.zeros((4, 5, 6, 7), np.float32)
    tall = contraction(product("matmul", x, np.zeros((7, 3), np.float32)))
    assert (tall.stack, tall.rows, tall.columns) == ((), 120, 3)
    stack = contraction(product("matmul", x, np.zeros((4, 5, 7, 3), np.float32)))
    assert (stack.stack, stack.rows) == ((20,), 6)
    swapped = contraction(product("matmul", x.swapaxes(0, 1), np.zeros((7, 3), np.float32)))
    assert (swapped.stack, swapped.rows) == ((5, 4), 6)
    vectors = contraction(
        product("matmul", np.zeros((8, 1, 7), np.float32), np.zeros((7, 3), np.float32))
    )
    assert (vectors.stack, vectors.rows) == ((), 8)
    turned = contraction(product("matmul", np.zeros((9, 7), np.float32), np.zeros(7, np.float32)))
    assert (turned.rows, turned.columns) == (1, 9)


def test_regions_that_are_no_products() -> None:
    a = np.zeros((4, 4), np.float32)
    building = Building(a)
    first = building.add("matmul", 0, 0)
    assert not is_contraction(building.region(building.add("matmul", first, 0)))
    building = Building(a)
    region = building.region(building.add("matmul", building.add("exp", 0), 0))
    assert not is_contraction(region)
    with pytest.raises(ValueError, match="one product"):
        contraction(region)
