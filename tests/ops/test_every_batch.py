"""The batch rule of every op, against a loop over examples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from staticad_schema import dims
from staticad_schema.batching import batched
from staticad_schema.op import OPS
from staticad_schema.types import Array

from .every import names, same_values, samples
from .running import Applied, meaning, types_of
from .samples import Sample

BATCH = 3


def examples(a: Array, scrambled: bool) -> list[Array]:
    """Three arrays with the elements of one in other orders, or multiples of it."""
    if not scrambled:
        return [a, 2 * a, 0.5 * a]
    flat = a.reshape(-1)
    return [a, np.roll(flat, 1).reshape(a.shape), flat[::-1].reshape(a.shape)]


def subsets(count: int) -> list[tuple[bool, ...]]:
    """Which operands are mapped: every choice for few operands, all and each one for many."""
    if count <= 3:
        return [m for m in itertools.product((True, False), repeat=count) if any(m)]
    return [(True,) * count, *(tuple(k == j for j in range(count)) for k in range(count))]


@pytest.mark.parametrize(
    "name", names(lambda d: bool(d.inputs) and d.batch != "map" and d.effect == "pure")
)
def test_batch_rule_is_a_loop_over_examples(name: str) -> None:
    exact = OPS[name].elementwise
    for definition, sample in samples(name):
        if not sample.smooth or not {a.dtype.name for a in sample.arrays} <= {
            "float64", "int64", "bool", "complex128", "uint8",
        }:  # fmt: skip
            continue
        for mapped in subsets(len(sample.arrays)):
            stacks = [
                np.stack(examples(a, sample.scrambled)) if m else a
                for a, m in zip(sample.arrays, mapped, strict=True)
            ]
            built = Applied(OPS["group"], Sample())
            handles = [built.source(t) for t in types_of(stacks)]
            result = batched(definition, handles, mapped, sample.attributes)
            outputs = result if isinstance(result, tuple) else (result,)
            found = built.run(outputs, (), dict(zip(handles, stacks, strict=True)))
            loop = [
                meaning(
                    definition,
                    [s[i] if m else s for s, m in zip(stacks, mapped, strict=True)],
                    sample.attributes,
                )
                for i in range(BATCH)
            ]
            for k, column in enumerate(zip(*loop, strict=True)):
                expected = np.stack(column)
                assert (
                    same_values(found[k], expected, 0.0)
                    if exact
                    else (
                        found[k].shape == expected.shape
                        and found[k].dtype == expected.dtype
                        and np.allclose(found[k], expected, rtol=1e-12, atol=1e-14, equal_nan=True)
                    )
                ), f"{sample}, mapped {mapped}"


@pytest.mark.parametrize(
    "name", names(lambda d: bool(d.inputs) and d.batch != "map" and d.effect == "pure")
)
def test_a_batch_of_unknown_size_may_be_one_or_none(name: str) -> None:
    for definition, sample in samples(name):
        if not {a.dtype.name for a in sample.arrays} <= {"float64", "int64", "bool"}:
            continue
        expected = meaning(definition, sample.arrays, sample.attributes)
        for mapped in subsets(len(sample.arrays)):
            types = [
                t.with_shape((dims.symbol("batch"), *t.shape)) if m else t
                for t, m in zip(types_of(sample.arrays), mapped, strict=True)
            ]
            built = Applied(OPS["group"], Sample())
            handles = [built.source(t) for t in types]
            result = batched(definition, handles, mapped, sample.attributes)
            outputs = result if isinstance(result, tuple) else (result,)
            for size in (0, 1):
                stacks = [
                    a[None][:size] if m else a for a, m in zip(sample.arrays, mapped, strict=True)
                ]
                found = built.run(outputs, (), dict(zip(handles, stacks, strict=True)))
                for stack, one in zip(found, expected, strict=True):
                    assert stack.shape == (size, *one.shape), f"{sample}, mapped {mapped}"
                    for example in stack:
                        np.testing.assert_allclose(example, one, rtol=1e-12, atol=1e-14)
