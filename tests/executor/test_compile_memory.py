"""Stage 7: slots by liveness, views, results in place, outputs of the caller's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.compile.slots import LINE, Slots
from staticad_schema.op import OPS

from .planning import Compiled
from .test_compile_equals_meaning import small_tiles


def chain(length: int, dtype: str = "float32") -> tuple[Any, Any, Any]:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (8, 8), name="x")
        y = x
        for _ in range(length):
            y = sad.tanh(y @ x)
    return graph, x, y


def test_a_chain_needs_as_many_slots_as_are_live_at_once() -> None:
    graph, x, y = chain(50)
    compiled = Compiled(graph, [y], {x: np.full((8, 8), 0.1, np.float32)})
    compiled.check()
    assert compiled.plan.slot_bytes == 2 * 8 * 8 * 4
    assert compiled.plan.value_bytes == 100 * 8 * 8 * 4


def test_an_elementwise_result_takes_the_place_of_a_dying_operand() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (8, 8), name="x")
        y = x @ x
        z = sad.exp(sad.exp(y) * 2) @ x
    compiled = Compiled(graph, [z], {x: np.full((8, 8), 0.1, np.float32)})
    compiled.check()
    assert compiled.plan.slot_bytes == 8 * 8 * 4


def test_an_operand_that_is_read_later_is_not_overwritten() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (8, 8), name="x")
        y = x @ x
        z = (sad.exp(y) + y.T) @ y
    Compiled(graph, [z], {x: np.arange(64, dtype=np.float32).reshape(8, 8) / 100}).check()


def test_kernels_of_several_passes_do_not_write_over_what_they_read() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (8, 8), name="x")
        d, g = x @ x, (x + 1) @ x
        product = sad.gradients(sad.sum(sad.sqrt(d) * g), [d])[0]
        chosen = sad.where(d > 1, d + 1, g + 1) @ x
    values = np.linspace(-1, 3, 64, dtype=np.float32).reshape(8, 8)
    Compiled(graph, [product, chosen], {x: values}).check()


def test_views_share_memory_and_are_no_steps() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4, 6), name="x")
        y = sad.exp(x @ x.T)
        z = sad.reshape(y.T[1:, :], (-1, 2))
        result = z @ sad.constant(np.ones((2, 2), np.float32))
    compiled = Compiled(graph, [result], {x: np.ones((4, 6), np.float32) / 9})
    compiled.check()
    # The reshape of the transposed slice has to move elements; all else is looked at in place.
    assert [s.algorithm for s in compiled.plan.steps] == ["BLAS", "ufunc", "copy", "BLAS"]


def test_outputs_are_written_where_they_belong_or_copied() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (4,), name="x")
        y = sad.exp(x)
        constant = sad.constant(np.arange(3.0))
        fetches = [y, y, x, constant, y[1:], sad.broadcast_to(y, (2, 4))]
    compiled = Compiled(graph, fetches, {x: np.ones(4, np.float32)})
    compiled.check()
    assert [s.kind for s in compiled.plan.steps] == ["region"] + ["copy"] * 5
    assert compiled.plan.steps[0].writes == ("output0",)
    assert compiled.plan.slot_bytes == 0


def test_results_are_written_completely_and_share_no_memory() -> None:
    graph, x, y = chain(3)
    compiled = Compiled(graph, [y, x], {x: np.full((8, 8), 0.1, np.float32)})
    first = compiled.run()
    kept = [a.copy() for a in first]
    second = compiled.run()
    for a, b, c in zip(first, second, kept, strict=True):
        assert not np.shares_memory(a, b)
        assert a.tobytes() == c.tobytes()


def test_slots_fit_best_and_grow() -> None:
    slots = Slots()
    small, large = slots.take(LINE), slots.take(10 * LINE)
    slots.give(small)
    slots.give(large)
    assert slots.take(9 * LINE) == large
    assert slots.take(2 * LINE) == small  # grown, which costs one line
    assert slots.sizes == [2 * LINE, 10 * LINE]


def test_the_memory_report_names_values_and_lines() -> None:
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n", 8), name="x")
        y = sad.tanh(x @ x.T, name="big")
        z = y @ x
    compiled = Compiled(graph, [z], {x: np.full((32, 8), 0.1, np.float32)})
    use = compiled.plan.memory[0]
    assert use.nbytes == 32 * 32 * 4
    assert "test_compile_memory.py" in str(use.site)
    assert compiled.plan.peak_bytes >= max(step.live_bytes for step in compiled.plan.steps)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "int8", "bool"])
def test_all_widths_share_an_arena(dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (5, 3), name="x")
        y = sad.concat([x, x])
        z = sad.where(y == y, y, y)
        wide = z.astype("complex128") * 2
    values = np.arange(15).reshape(5, 3) % 2
    compiled = Compiled(graph, [wide, z.T], {x: values.astype(x.type.dtype)})
    compiled.check()


def moved(x: Any) -> Any:
    """x, computed by a kernel, so that it has memory of its own."""
    return OPS["take"](x, x.graph.constant(np.arange(8)[::-1].copy()), axis=0)


HAZARDS: dict[str, Any] = {
    # Operands that die in the region which writes results of their shape, and dtype.
    "read through a view": lambda a, b: [moved(sad.exp(a.T) * 2)],
    "read beside a view": lambda a, b: [moved(sad.exp(a) + a.T)],
    "read after a result": lambda a, b: [moved(t := sad.exp(a)), moved(t * 2 + a)],
    "read by the last result": lambda a, b: [moved(t := a + b), moved(t * b), moved(t * b - a)],
    "read again where a tile is spoiled": lambda a, b: [
        moved(OPS["multiply_no_nan"](a, b) + 1),
        moved(OPS["multiply_no_nan"](sad.exp(a), b)),
    ],
    "spoiled behind a result": lambda a, b: [
        moved(t := a * 2 + b), moved(OPS["multiply_no_nan"](t, b)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("tile", [1, 5, 1000])
@pytest.mark.parametrize("name", HAZARDS)
def test_a_region_does_not_write_over_what_it_still_reads(name: str, tile: int) -> None:
    rng = np.random.default_rng(3)
    feeds = [rng.standard_normal((8, 8)).astype(np.float32) for _ in range(2)]
    feeds[0][::3, ::2] = np.inf
    feeds[1][::2, ::3] = 0
    with sad.Graph() as graph:
        xs = [sad.placeholder("float32", (8, 8)) for _ in feeds]
        results = HAZARDS[name](*map(moved, xs))
    with small_tiles(tile):
        Compiled(graph, results, dict(zip(xs, feeds, strict=True))).check()
