"""Every op that admits complex numbers: its derivatives by differences of both parts.

The samples of float64 become complex, each element with an imaginary part of its own, so that no
op can admit complex numbers without being judged.
"""

from __future__ import annotations

import numpy as np
import pytest

from staticad_schema.errors import StaticadError
from staticad_schema.op import OPS, Constant, Op, Undefined
from staticad_schema.types import Array

from .every import names, samples
from .running import inferred, types_of
from .samples import Sample
from .test_every_derivative import differentiable, judge_derivatives

PARTS = np.random.default_rng(3).uniform(0.1, 0.8, 1000)


def turned(sample: Sample) -> Sample:
    """The sample with complex numbers in place of floats."""
    arrays: list[Array] = [
        a + 1j * np.resize(PARTS, a.shape) if a.dtype == np.float64 else a for a in sample.arrays
    ]
    return Sample(tuple(arrays), sample.attributes, sample.smooth, sample.symbolic)


def admitted(definition: Op, sample: Sample) -> bool:
    try:
        inferred(definition, types_of(sample.arrays), sample.attributes)
    except StaticadError:
        return False
    return True


def complex_samples(name: str) -> list[Sample]:
    found = []
    for definition, sample in samples(name):
        if sample.smooth and sample.turned and any(a.dtype == np.float64 for a in sample.arrays):
            candidate = turned(sample)
            if admitted(definition, candidate) and differentiable(definition, candidate):
                found.append(candidate)
    return found


ADMITTING = [
    name
    for name in names(lambda d: not isinstance(d.grad, Constant | Undefined) and bool(d.inputs))
    if complex_samples(name)
]


def test_most_ops_of_numbers_are_judged() -> None:
    assert {"multiply", "divide", "exp", "matmul", "conv", "sum", "prod", "norm", "abs", "dct",
            "linear_recurrence", "place", "where", "pow", "take"} <= set(ADMITTING)  # fmt: skip


@pytest.mark.parametrize("name", ADMITTING)
def test_derivatives_by_real_and_imaginary_parts(name: str) -> None:
    definition = OPS[name]
    for sample in complex_samples(name):
        judge_derivatives(definition, sample, differentiable(definition, sample))
