"""Plans of derivatives: random graphs of all families of ops with their gradients and tangents
of first and second order are, bit for bit, what naive evaluation gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import staticad as sad
from staticad_schema.op import OPS

from .planning import Compiled
from .random_graphs import programs
from .test_compile_equals_meaning import small_tiles

RANDOM = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
ACTIVATIONS = ["erf", "erfc", "gelu", "expm1", "log", "cosh", "asinh", "atan", "tan", "sign"]


Rng = np.random.Generator


@st.composite
def differentiated(draw: Any) -> tuple[Any, list[Any], dict[Any, Any]]:
    """(graph, fetches, feeds), among the fetches derivatives of up to second order."""
    graph, fetches, feeds = draw(programs(5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    inexact = [t for t in (*fetches, *feeds) if t.type.kind in ("float", "complex")]
    xs = [x for x in feeds if x.type.kind in ("float", "complex")]
    if not xs:
        return graph, fetches, feeds
    with graph:
        for _ in range(rng.integers(0, 4)):
            inexact.append(larger_step(rng, any_of(rng, inexact)))
        y = inexact[-1]
        results = [y]
        for _ in range(rng.integers(1, 3)):
            y = OPS["real"](y) if y.type.kind == "complex" else y
            if rng.integers(0, 2):
                found = sad.jvp([y], xs)
            else:
                found = sad.gradients(y, xs, unconnected="zero")
            results += found
            y = any_of(rng, found)
    return graph, [*results, *fetches[:2]], feeds


def any_of(rng: Rng, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(0, len(choices)))]


def larger_step(rng: Rng, x: Any) -> Any:
    """x through an op that is more than one loop, or an unusual one."""
    kind, rank = x.type.kind, x.type.ndim
    if kind == "float" and rng.random() < 0.25:
        return OPS[any_of(rng, ACTIVATIONS)](x)
    if not rank:
        return OPS["multiply"](x, x)
    axis, keepdims = int(rng.integers(0, rank)), bool(rng.integers(0, 2))
    choices = ["prod", "matmul", "concat", "pad", "roll"]
    if kind == "float":
        choices += ["softmax", "log_softmax", "logsumexp", "normalize", "mean"]
        choices += ["max", "take", "std"] if x.type.shape[axis] != 0 else []
    match any_of(rng, choices):
        case "softmax" | "log_softmax" as op:
            return OPS[op](x, axis=axis)
        case "logsumexp" | "prod" | "max" as op:
            return OPS[op](x, axis=(axis,), keepdims=keepdims)
        case "normalize":
            return any_of(rng, OPS["normalize"](x, axis=(axis,), epsilon=1e-5))
        case "mean" | "std" as name:
            return getattr(sad, name)(x, axis=axis, keepdims=keepdims)
        case "matmul":
            return x @ sad.moveaxis(x, -2, -1) if rank > 1 else x @ x
        case "concat":
            return sad.concat([x, 2 * x, x], axis=axis)
        case "pad":
            return sad.pad(x, [(1, 2)] * rank, value=0.5)
        case "take":
            return sad.take(x, [0, -1, 0], axis=axis)
    return sad.roll(x, 1, axis=axis)


@RANDOM
@given(differentiated(), st.sampled_from([("exact",), ()]), st.sampled_from([1, 2, 4]))
def test_derivatives_in_plans_equal_naive_evaluation(
    case: Any, rewrites: Any, threads: int
) -> None:
    graph, fetches, feeds = case
    Compiled(graph, fetches, feeds, rewrites=rewrites, threads=threads).check()


@RANDOM
@given(differentiated(), st.sampled_from([3, 64, 7000]), st.sampled_from([1, 3]))
def test_tiling_changes_no_bit_of_derivatives(case: Any, elements: int, threads: int) -> None:
    graph, fetches, feeds = case
    if elements == 3 and any(array.size > 100 for array in feeds.values()):
        elements = 501
    with small_tiles(elements):
        Compiled(graph, fetches, feeds, threads=threads).check()


def test_random_programs_reach_every_op_that_they_name() -> None:
    """A strategy that leaves out what it says tests nothing."""
    seen: set[str] = set()

    @settings(RANDOM, max_examples=800)
    @given(differentiated())
    def collect(case: Any) -> None:
        seen.update(node.op for node in case[0].nodes)

    collect()
    wanted = {*ACTIVATIONS, "softmax", "log_softmax", "logsumexp", "normalize", "max", "prod"}
    assert wanted | {"matmul", "take", "scatter_add", "pad", "slice", "concat"} <= seen
