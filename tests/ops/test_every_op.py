"""Every op of the registry, over its samples: what it says of itself must be true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from staticad_executor import Session
from staticad_schema import codec
from staticad_schema.graph import Graph
from staticad_schema.op import OPS, constant, op
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, TensorType

from .every import SAMPLES, names, rounding, same_values, samples
from .running import Applied, bound, inferred, meaning, symbolic, types_of

ELSEWHERE = {
    "call": "needs a function table: test_control.py",
    "custom_rule": "has a body: test_custom.py",
    "implicit": "has a body: test_implicit.py",
    "path_within": "takes a scalar alone: test_structured.py",
    "switch": "has bodies: test_structured.py",
    "while_loop": "has bodies: test_structured.py",
    "scan": "has bodies: test_structured.py",
    "group": "has neither operands nor results: test_control.py",
    "check": "fails on purpose: test_control.py",
    "check_only": "fails on purpose: test_control.py",
    "print": "its result is what it prints: test_control.py",
    "placeholder": "is fed: test_sources.py",
    "parameter": "is fed: test_sources.py",
    "variable": "is read from a session: test_sources.py",
    "read_variable": "is read from a session: test_sources.py",
    "run_number": "is known to the run: test_sources.py",
    "assign": "writes: test_sources.py",
    "assign_add": "writes: test_sources.py",
    "assign_sub": "writes: test_sources.py",
    "nonzero": "finds a size: test_finding.py",
    "repeated_positions": "finds a size: test_finding.py",
    "unique": "finds a size: test_finding.py",
}
"""Ops that cannot be evaluated alone, and where they are tested."""


def missing_samples() -> set[str]:
    """The ops without samples, and the samples without ops."""
    return set(OPS) ^ (set(SAMPLES) | set(ELSEWHERE))


# ---------------------------------------------------------------- completeness


def test_every_op_has_samples() -> None:
    assert missing_samples() == set()


def test_what_is_tested_elsewhere_is_tested() -> None:
    for name, reason in ELSEWHERE.items():
        text = (Path(__file__).parent / reason.rpartition(": ")[2]).read_text(encoding="utf-8")
        assert f'"{name}"' in text


def test_an_op_without_samples_is_noticed() -> None:
    @op(numpy=np.abs, grad=constant, batch="elementwise")
    def unsampled(x: TensorType) -> TensorType:
        """An op nobody wrote samples for."""
        return x

    try:
        assert missing_samples() == {"unsampled"}
    finally:
        del OPS["unsampled"]


@pytest.mark.parametrize(
    ("facets", "lacking"),
    [
        ({"grad": constant, "batch": "map"}, "numpy="),
        ({"numpy": np.abs, "grad": constant, "batch": "rows"}, "batch="),
        ({"numpy": np.abs, "grad": lambda x, out, g: (g,), "batch": "map"}, "jvp="),
        ({"numpy": np.abs, "grad": "expand", "batch": "map"}, "expand="),
        ({"numpy": np.abs, "grad": constant, "batch": "map", "elementwise": True}, "expr="),
        ({"numpy": np.abs, "grad": constant, "batch": "map", "effect": "magic"}, "effect="),
    ],
)
def test_an_op_with_a_missing_facet_is_refused(facets: dict[str, Any], lacking: str) -> None:
    def bad(x: TensorType) -> TensorType:
        """Incomplete."""
        return x

    with pytest.raises(TypeError, match=f"op bad lacks .*{lacking}"):
        op(**facets)(bad)
    assert "bad" not in OPS


@pytest.mark.parametrize("facet", ["grad", "batch"])
def test_the_derivative_and_the_batch_rule_have_no_default(facet: str) -> None:
    facets: dict[str, Any] = {"numpy": np.abs, "grad": constant, "batch": "map"}
    del facets[facet]
    with pytest.raises(TypeError, match=facet):
        op(**facets)


def test_an_op_without_a_docstring_is_refused() -> None:
    def bad(x: TensorType) -> TensorType:
        return x

    with pytest.raises(TypeError, match="docstring"):
        op(numpy=np.abs, grad=constant, batch="map")(bad)


# ---------------------------------------------------------------- values and types


@pytest.mark.parametrize("name", names())
def test_inferred_type_is_that_of_the_result(name: str) -> None:
    for definition, sample in samples(name):
        before = [a.tobytes() for a in sample.arrays]
        for a in sample.arrays:
            a.flags.writeable = False
        types = inferred(definition, types_of(sample.arrays), sample.attributes)
        results = meaning(definition, sample.arrays, sample.attributes)
        assert types == types_of(results), str(sample)
        assert [a.tobytes() for a in sample.arrays] == before, str(sample)


@pytest.mark.parametrize("name", names())
def test_results_known_from_elsewhere(name: str) -> None:
    for definition, sample in samples(name):
        if sample.expected is not None:
            (result,) = meaning(definition, sample.arrays, sample.attributes)
            assert same_values(result, sample.expected, sample.tolerance), (
                f"{sample}: {result} is not {sample.expected}"
            )


@pytest.mark.parametrize("name", names())
def test_symbolic_sizes(name: str) -> None:
    for definition, sample in samples(name):
        if not sample.symbolic or not any(a.ndim for a in sample.arrays):
            continue
        concrete = inferred(definition, types_of(sample.arrays), sample.attributes)
        built = Applied(definition, sample, symbolic(types_of(sample.arrays)))
        assert tuple(bound(t) for t in built.node.types) == concrete, str(sample)
        for found, expected in zip(
            built.run(built.outputs, sample.arrays),
            meaning(definition, sample.arrays, sample.attributes),
            strict=True,
        ):
            assert same_values(found, expected, 0.0), str(sample)


@pytest.mark.parametrize("name", names(lambda d: d.elementwise))
def test_elementwise_ops_of_sizes_zero_and_one(name: str) -> None:
    for definition, sample in samples(name):
        (whole,) = meaning(definition, sample.arrays, sample.attributes)
        full = np.broadcast_arrays(*sample.arrays) if sample.arrays else []
        for size in (0, 1):
            parts = [a.reshape(-1)[:size] for a in full]
            (part,) = meaning(definition, parts, sample.attributes)
            assert same_values(part, whole.reshape(-1)[:size], 0.0), str(sample)
            # A size-1 operand against a size-0 one gives size 0.
            if size == 0 and len(full) > 1:
                first = full[0].reshape(-1)[:1]
                (part,) = meaning(definition, [first, *parts[1:]], sample.attributes)
                assert part.shape == (0,), str(sample)


@pytest.mark.parametrize(
    "name", names(lambda d: not d.elementwise and bool(d.inputs) and d.effect == "pure")
)
def test_samples_have_sizes_zero_and_one(name: str) -> None:
    sizes = {s for _, sample in samples(name) for a in sample.arrays for s in a.shape}
    assert {0, 1} <= sizes


@pytest.mark.parametrize("name", names(lambda d: d.widen))
def test_half_floats_compute_in_float32_and_round_once(name: str) -> None:
    halves = (FLOAT16, BFLOAT16)
    tried = False
    for definition, sample in samples(name):
        if not any(a.dtype in halves for a in sample.arrays):
            continue
        tried = True
        wide = [a.astype(np.float32) if a.dtype in halves else a for a in sample.arrays]
        for half, single in zip(
            meaning(definition, sample.arrays, sample.attributes),
            meaning(definition, wide, sample.attributes),
            strict=True,
        ):
            with np.errstate(over="ignore"):
                assert same_values(half, single.astype(half.dtype), 0.0), str(sample)
            assert half.dtype in halves or single.dtype != FLOAT32
    admitted = any(a.dtype == FLOAT32 for _, s in samples(name) for a in s.arrays)
    assert tried or not admitted, f"no sample of {name} has a half float"


@pytest.mark.parametrize("name", names())
def test_numpy_equals_the_meaning(name: str) -> None:
    for definition, sample in samples(name):
        if definition.effect == "random":
            continue  # The run number is the session's, see test_random.py.
        built = Applied(definition, sample)
        feeds = dict(zip(built.inputs, sample.arrays, strict=True))
        with Session(built.graph, device="numpy") as session:
            results = session.run(built.outputs, feeds)
        for found, expected in zip(
            results, meaning(definition, sample.arrays, sample.attributes), strict=True
        ):
            tolerance = 0.0 if definition.elementwise else rounding(expected)
            assert same_values(found, expected, tolerance), f"{sample}: {found}, not {expected}"


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("name", names())
def test_bytes_round_trip(name: str) -> None:
    for definition, sample in samples(name):
        built = Applied(definition, sample)
        data = codec.encode(built.graph)
        loaded: Graph = codec.decode(data)
        assert loaded.types == built.graph.types, str(sample)
        assert codec.encode(loaded) == data, str(sample)
        node = loaded.nodes[-1]
        found = meaning(OPS[node.op], sample.arrays, node.attributes)
        for x, y in zip(found, meaning(definition, sample.arrays, sample.attributes), strict=True):
            assert same_values(x, y, 0.0), str(sample)
