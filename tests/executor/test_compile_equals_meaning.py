"""Whatever the compiler does, the bits are those of naive evaluation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from staticad_executor.devices.numpy import region
from staticad_executor.interpret import interpret
from staticad_executor.program import Program
from staticad_schema.op import OPS
from staticad_schema.types import FLOAT32, TensorType

from ..ops.every import names, samples
from ..ops.running import Applied, symbolic, types_of
from ..ops.samples import Sample
from .planning import Array, Compiled, same_bits
from .random_graphs import programs

RANDOM = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@RANDOM
@given(programs())
def test_plan_equals_naive_evaluation(case: Any) -> None:
    graph, fetches, feeds = case
    for threads in (1, 2, 4):
        Compiled(graph, fetches, feeds, threads=threads).check()


@contextmanager
def small_tiles(elements: int, listed: int = region.LISTED_TILES) -> Iterator[None]:
    """Regions of any size are cut into tiles of so many elements, and threaded; more than `listed`
    tiles are not listed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["staticad_executor.compile.on_numpy"], "WHOLE_ELEMENTS", 0)
        patch.setattr(region, "PARALLEL_SECONDS", 0.0)
        patch.setattr(region, "TILE_ELEMENTS", elements)
        patch.setattr(region, "LISTED_TILES", listed)
        yield


@RANDOM
@given(programs(), st.sampled_from([1, 5, 7000]), st.sampled_from([1, 2, 4]), st.booleans())
def test_tiles_and_threads_change_no_bit(
    case: Any, elements: int, threads: int, listed: bool
) -> None:
    graph, fetches, feeds = case
    if elements == 1 and any(array.size > 100 for array in feeds.values()):
        elements = 501
    with small_tiles(elements, listed=4096 if listed else 0):
        Compiled(graph, fetches, feeds, threads=threads).check()


@RANDOM
@given(programs())
def test_plan_without_rewrites_equals_naive_evaluation(case: Any) -> None:
    graph, fetches, feeds = case
    Compiled(graph, fetches, feeds, rewrites=()).check()


@RANDOM
@given(programs())
def test_each_pass_keeps_results_and_passes_the_verifier(case: Any) -> None:
    graph, fetches, feeds = case
    compiled = Compiled(graph, fetches, feeds)
    from_passes = [
        Compiled(graph, fetches, feeds, rewrites=()).structure.program,
        compiled.structure.program,
    ]
    expected = compiled.expected()
    for program in from_passes:
        for found, value in zip(evaluated(program, compiled), expected, strict=True):
            assert same_bits(found, value)


def evaluated(program: Program, compiled: Compiled) -> list[Array]:
    """The outputs of a program by naive evaluation of its graph."""
    feeds = {
        source.value: compiled.input(source.kind, source.original) for source in program.sources
    }
    result = interpret(program.graph, program.outputs, program.effects, feeds, {}, 0)
    return result.values


@pytest.mark.parametrize("name", names(lambda d: d.effect in ("pure", "random")))
@pytest.mark.parametrize("sizes", ["static", "symbolic"])
def test_every_op_runs_as_its_meaning_says(name: str, sizes: str) -> None:
    for definition, sample in samples(name):
        types = types_of(sample.arrays)
        if sizes == "symbolic":
            if not sample.symbolic:
                continue
            types = symbolic(types)
        applied = Applied(definition, sample, types)
        if not applied.outputs:
            continue
        feeds = dict(zip(applied.inputs, sample.arrays, strict=True))
        Compiled(applied.graph, applied.outputs, feeds).check()


@pytest.mark.parametrize("order", ["transposed", "strided", "reversed", "read-only"])
def test_operands_of_any_layout(order: str) -> None:
    rng = np.random.default_rng(0)
    base = rng.standard_normal((30, 40)).astype(np.float32)
    array: Array = {
        "transposed": base.T, "strided": base[::2, ::3], "reversed": base[::-1, ::-1],
        "read-only": base,
    }[order]  # fmt: skip
    array.flags.writeable = False
    for name in ("exp", "log1p", "tan", "asin"):
        sample = type("S", (), {"arrays": (array,), "attributes": {}})()
        applied = Applied(OPS[name], sample)
        Compiled(applied.graph, applied.outputs, {applied.inputs[0]: array}).check()


@pytest.mark.parametrize("elements", [3, 7, 7000])
@pytest.mark.parametrize("exponent", [2.0, 0.5, -1.0, 1.0, 3.0])
def test_a_tile_that_repeats_an_exponent_changes_no_bit(exponent: float, elements: int) -> None:
    rng = np.random.default_rng(5)
    types = [TensorType(FLOAT32, shape) for shape in ((100, 10), (100, 1), (1, 10), ())]
    arrays = [np.full(t.shape, exponent, np.float32) for t in types]
    arrays[0] = rng.exponential(size=(100, 10)).astype(np.float32)
    applied = Applied(OPS["pow"], Sample((arrays[0], arrays[1])), types[:2])
    x, feeds = applied.inputs[0], dict(zip(applied.inputs, arrays[:2], strict=True))
    fetches = list(applied.outputs)
    for type_, array in zip(types[2:], arrays[2:], strict=True):
        p = applied.source(type_)
        feeds[p] = array
        fetches.append(OPS["pow"](OPS["exp"](x), p))
    with small_tiles(elements):
        Compiled(applied.graph, fetches, feeds).check()
