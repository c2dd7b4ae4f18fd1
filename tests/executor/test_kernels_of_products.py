"""Products in which a weight of 0 is final: the kernel gives the bits of the meaning."""

from __future__ import annotations

import numpy as np
import pytest

from staticad_schema.op import OPS
from staticad_schema.types import as_dtype

from ..ops.running import Applied
from ..ops.samples import Sample
from .planning import Compiled

SHAPES = [
    ((2, 3, 4), (2, 4, 5)), ((3, 0), (0, 2)), ((0, 4), (4, 2)), ((1, 1), (1, 1)),
    ((2, 1, 3, 4), (5, 4, 2)),
]  # fmt: skip
SPECIAL = [np.nan, np.inf, -np.inf, 3e38, -0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_zeros_are_final_wherever_the_special_values_are(
    dtype: str, shapes: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    rng = np.random.default_rng(0)
    for share in (0.0, 0.05, 0.5):
        for spoiled in ("b", "a", "both"):
            arrays = []
            for name, shape in zip("ab", shapes, strict=True):
                array = rng.standard_normal(shape) * (rng.random(shape) < 0.6)
                if spoiled in (name, "both"):
                    chosen = rng.choice(SPECIAL, shape)
                    array = np.where(rng.random(shape) < share, chosen, array)
                with np.errstate(over="ignore"):
                    arrays.append(array.astype(as_dtype(dtype)))
            for value in (False, True):
                applied = Applied(OPS["matmul_no_nan"], Sample(tuple(arrays), {"value": value}))
                feeds = dict(zip(applied.inputs, arrays, strict=True))
                Compiled(applied.graph, applied.outputs, feeds).check()
