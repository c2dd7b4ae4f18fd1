"""Sums of rows that regions compute in blocks: the bits of naive evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_executor.devices.numpy import kernels
from staticad_executor.devices.numpy.tiles import contiguous, tiling
from staticad_schema.op import OPS
from staticad_schema.ops import blocks

from .planning import Array, Compiled, same_bits
from .test_compile_equals_meaning import RANDOM, small_tiles
from .test_compile_group import check_order, grouped, shapes_of
from .test_compile_rows import drawn_source, fits

LEADS: list[tuple[int, ...]] = [
    (64,), (130,), (33,), (12, 8), (10, 9), (1, 40), (1,), (20, 1), (5, 3, 4)
]  # fmt: skip
TAILS: list[tuple[int, ...]] = [(9,), (16,), (2,), (5, 6), (4, 3), (3, 1), (1, 7), (1,), (0,)]
DTYPES = [np.dtype(t) for t in ("float32", "float64", "float16", "int16", "complex64")]


@contextmanager
def small_blocks(elements: int, wide: int = 16) -> Iterator[None]:
    """Blocks of so many elements, and of short rows as many as make up `wide`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", elements)
        patch.setattr(blocks, "WIDE", wide)
        patch.setattr(blocks, "FEW", 0)
        blocks.blocks.cache_clear()
        yield
    blocks.blocks.cache_clear()


@st.composite
def sum_programs(draw: Any) -> tuple[Any, list[Any], dict[Any, Array]]:
    """(graph, fetched tensors, feeds): elementwise ops and reductions along rows, and sums of
    them over leading axes."""
    lead, tail = draw(st.sampled_from(LEADS)), draw(st.sampled_from(TAILS))
    dtype = draw(st.sampled_from(DTYPES[:2] * 3 + DTYPES[2:]))
    symbolic = draw(st.booleans())
    whole = (*lead, *tail)
    shapes = [whole] * 3 + [(*lead, *[1] * len(tail)), tail, (lead[-1], *tail), ()]
    feeds: dict[Any, Array] = {}
    with sad.Graph(seed=1) as graph:
        values: list[Any] = []
        drawn = draw(st.lists(st.sampled_from(shapes), min_size=1, max_size=3))
        for k, shape in enumerate([whole, *drawn]):
            values.append(drawn_source(draw, dtype, shape, f"x{k}", symbolic, feeds))
        sums: list[Any] = []
        given_count = len(values)
        values.append(values[0] + values[draw(st.integers(0, len(values) - 1))])
        for _ in range(draw(st.integers(2, 12))):
            made = sum_step(draw, values, given_count, sums, len(lead))
            if made is not None:
                values.append(made)
        picked = draw(st.lists(st.sampled_from([*values, *sums]), max_size=2))
    return graph, [*sums, *picked, values[-1]], feeds


def sum_step(draw: Any, values: list[Any], known: int, sums: list[Any], lead: int) -> Any:
    """One more value, or None where the choice does not fit or was a sum of rows; the first
    `known` values are given."""
    x = draw(st.sampled_from(values + values[known:] * 3))
    rank, kind = x.type.ndim, x.type.kind
    choice = draw(st.integers(0, 11))
    if choice <= 2:
        fitting = [y for y in values if fits(x, y)]
        name = draw(st.sampled_from(["add", "multiply", "multiply_no_nan"]))
        if name == "multiply_no_nan" and kind == "int":
            name = "add"
        return OPS[name](x, draw(st.sampled_from(fitting)))
    if choice == 3 and kind == "float":
        return OPS[draw(st.sampled_from(["exp", "negative", "sqrt"]))](x)
    if rank <= lead:
        return None
    trailing = tuple(range(lead, rank))
    if choice == 4 and kind == "float":
        return OPS["softmax"](x, axis=rank - 1) if x.type.shape[-1] != 0 else None
    if choice == 5:
        return OPS["sum"](x, axis=trailing, keepdims=True)
    more = tuple(a for a in trailing if draw(st.integers(0, 3)) == 0)
    if choice <= 7:
        keepdims = draw(st.booleans())
        axis = (*range(lead if keepdims or choice == 6 else 1), *more)
        sums.append(OPS["sum"](x, axis=axis, keepdims=keepdims))
    else:
        want = [1 if a in more else x.type.shape[a] for a in trailing]
        shape = (*[1] * draw(st.integers(0, lead)), *want)
        sums.append(OPS["sum_to"](x, shape=shape))
    return draw(st.sampled_from([None, sums[-1]]))


@settings(RANDOM, max_examples=120)
@given(
    sum_programs(), st.sampled_from([1, 40, 300, 7000]), st.sampled_from([1, 20, 64, 200]),
    st.sampled_from([1, 2, 4]), st.booleans(),
)  # fmt: skip
def test_blocks_tiles_and_threads_change_no_bit(
    case: Any, elements: int, block: int, threads: int, shared: bool
) -> None:
    graph, fetches, feeds = case
    check_order(grouped(fetches, list(feeds)))
    with small_tiles(elements), small_blocks(block), pytest.MonkeyPatch.context() as patch:
        if shared:
            patch.setattr(kernels, "PARALLEL_SECONDS", 0.0)
        for rewrites in (("exact",), ()):
            Compiled(graph, fetches, feeds, rewrites=rewrites, threads=threads).check()


@settings(RANDOM, max_examples=120)
@given(sum_programs(), st.sampled_from([1, 2]))
def test_rows_that_are_too_long_are_summed_behind_the_region(case: Any, threads: int) -> None:
    graph, fetches, feeds = case
    with small_tiles(40), small_blocks(64), pytest.MonkeyPatch.context() as patch:
        patch.setattr("staticad_executor.compile.on_numpy.LONG_ROW", 8)
        Compiled(graph, fetches, feeds, threads=threads).check()


def gradients_of_a_layer(rows: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """A layer norm and what its gradients are, over rows of 256."""
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (*rows, 256), name="x")
        scale = sad.placeholder("float32", (256,), name="scale")
        shift = sad.placeholder("float32", (256,), name="shift")
        y = sad.nn.layer_norm(x, scale, shift)
        found = sad.gradients(sad.sum(y * sad.tanh(y)), [x, scale, shift])
    return graph, found


@pytest.mark.parametrize("rows", [(1000,), (10, 100), (8, 128)])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_gradients_of_scale_and_shift_join_the_region(rows: tuple[int, ...], threads: int) -> None:
    graph, found = gradients_of_a_layer(rows)
    rng = np.random.default_rng(0)
    feeds = {t: rng.standard_normal(t.shape).astype(np.float32) for t in graph.placeholders}
    compiled = Compiled(graph, found, feeds, threads=threads)
    compiled.check()
    (only,) = [step for step in compiled.plan.steps if step.kind == "region"]
    assert "sum of blocks" in only.algorithm
    assert not any("sum" in compiled.plan.step_name(s) for s in compiled.plan.steps if s != only)
    # Nothing of the operand's size is stored but what is asked for.
    assert compiled.plan.slot_bytes < 100_000


def test_fetches_sizes_and_threads_change_no_bit() -> None:
    graph, found = gradients_of_a_layer(("n",))
    rng = np.random.default_rng(1)
    for size in (3, 300, 1000):
        feeds = {
            t: rng.standard_normal([d if isinstance(d, int) else size for d in t.shape]).astype("f")
            for t in graph.placeholders
        }
        seen = None
        for threads in (1, 2, 4):
            with sad.Session(graph, device="numpy", threads=threads) as session:
                values = session.run(found, feeds)
                alone = [session.run([one], feeds)[0] for one in found]
            assert all(map(same_bits, values, alone))
            assert seen is None or all(map(same_bits, values, seen))
            seen = values


def test_a_sum_of_rows_is_an_end_of_a_region() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 8), name="x")
        y = sad.exp(x)
        s = sad.sum(y, axis=0)
        z = y * s
    assert shapes_of(grouped([z], [x])) == [("region", "exp sum"), ("region", "multiply")]


def test_a_sum_of_rows_of_what_no_region_computes_is_a_kernel() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 8), name="x")
        y = sad.exp(sad.sum(x, axis=0))
    assert shapes_of(grouped([y], [x])) == [("kernel", "sum"), ("region", "exp")]


def test_batch_statistics_join_what_they_are_of() -> None:
    with sad.Graph():
        x = sad.placeholder("float32", ("n", 3, "h", "w"), name="x")
        y = sad.sum(sad.square(x - 1.0), axis=(0, 2, 3))
    assert ("region", "subtract square sum") in shapes_of(grouped([y], [x]))


def test_a_product_with_zero_is_corrected_before_it_is_summed() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (300, 16), name="x")
        g = sad.placeholder("float32", (300, 16), name="g")
        y = OPS["sum"](OPS["multiply_no_nan"](x, g), axis=(0,), keepdims=False)
    rng = np.random.default_rng(2)
    feeds = {t: rng.standard_normal((300, 16)).astype(np.float32) for t in (x, g)}
    feeds[x][17, 3], feeds[g][17, 3] = np.inf, 0
    feeds[x][290, 5] = np.nan
    with small_tiles(100), small_blocks(64):
        compiled = Compiled(graph, [y], feeds, threads=2)
        compiled.check()
        assert np.isfinite(compiled.run()[0]).sum() == 15


def test_tiles_have_whole_blocks() -> None:
    for shape in [(100,), (7, 100), (7, 96), (5, 6, 4), (3, 32, 2)]:
        for block in (1, 4, 8, 32):
            for elements in (1, 10, 50, 500):
                solid = contiguous(shape, 4)
                apart = (0, *solid[1:])
                for strides in (solid, apart):
                    layouts = [(shape, solid), ((1, *shape[1:]), strides)]
                    cut = tiling(shape, layouts, elements, block)
                    spans = [cut.span(k) for k in range(cut.tiles)]
                    assert spans[0][0] == 0
                    assert [b for _, b in spans[:-1]] == [a for a, _ in spans[1:]]
                    assert spans[-1][1] == np.prod(shape)
                    assert all(a % block == 0 for a, _ in spans)
