"""Gradients in float32 and in half floats: of the operand's dtype, finite, with its digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from staticad.gradients import gradients, jvp
from staticad_schema.errors import DTypeError
from staticad_schema.op import Constant, Op, Undefined
from staticad_schema.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, Array, DType

from .arrays import normal
from .every import EPS, names, samples
from .running import Applied, inferred, types_of
from .samples import Sample

DIGITS = 32
"""Units of the dtype's rounding, of the largest number, that a gradient may be off."""

COARSE = {"normalize": "of two elements it makes -1 and 1: the gradient is what epsilon leaves"}
"""Ops whose gradients lose more in their samples, and why; they are finite all the same."""


def narrowed(sample: Sample, dtype: DType) -> Sample:
    """The sample with its float64 operands in another dtype."""
    arrays = tuple(a.astype(dtype) if a.dtype == FLOAT64 else a for a in sample.arrays)
    return Sample(arrays, sample.attributes)


def widened(sample: Sample, dtype: DType) -> Sample:
    """The same numbers in float64 again."""
    arrays = tuple(a.astype(FLOAT64) if a.dtype == dtype else a for a in sample.arrays)
    return Sample(arrays, sample.attributes)


def derivatives(definition: Op, sample: Sample, dtype: DType) -> list[Array]:
    """Gradients of all operands of the dtype and tangents of the results, in random directions
    that float16 and bfloat16 hold exactly: along ones, the gradients of softmax vanish."""
    built = Applied(definition, sample)
    xs = [x for x in built.inputs if x.type.dtype == dtype]
    ys = [y for y in built.outputs if y.type.kind == "float"]
    directions: dict[Any, Array] = {}
    for z in (*xs, *ys):
        values = normal(*map(int, z.type.shape), seed=1).astype(BFLOAT16).astype(FLOAT16)
        directions[built.source(z.type)] = values.astype(z.type.dtype)
    given = list(directions)
    gs = gradients(ys, xs, given[len(xs) :], unconnected="zero")
    assert all(x.type.dtype == g.type.dtype for x, g in zip(xs, gs, strict=True))
    return built.run([*gs, *jvp(ys, xs, given[: len(xs)])], sample.arrays, directions)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16, BFLOAT16], ids=str)
@pytest.mark.parametrize(
    "name", names(lambda d: not isinstance(d.grad, Constant | Undefined) and bool(d.inputs))
)
def test_gradients_keep_dtype_and_digits(name: str, dtype: DType) -> None:
    for definition, sample in samples(name):
        if not sample.smooth or not any(a.dtype == FLOAT64 for a in sample.arrays):
            continue
        narrow = narrowed(sample, dtype)
        try:
            types = inferred(definition, types_of(narrow.arrays), narrow.attributes)
        except DTypeError:
            continue  # such as a cast, or an op of complex numbers
        if not any(t.kind == "float" for t in types):
            continue
        found = derivatives(definition, narrow, dtype)
        exact = derivatives(definition, widened(narrow, dtype), FLOAT64)
        # Of all of them: a sum over all elements, such as a bias's gradient, may vanish.
        largest = max(np.abs(y).max(initial=0.0) for y in exact)
        for x, y in zip(found, exact, strict=True):
            assert np.isfinite(x.astype(FLOAT64)).all(), f"{narrow}: {x}"
            if name in COARSE:
                continue
            np.testing.assert_allclose(
                x.astype(FLOAT64), y, rtol=0, atol=DIGITS * EPS[dtype] * largest + 1e-7,
                err_msg=str(narrow),
            )  # fmt: skip
