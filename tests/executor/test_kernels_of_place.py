"""`place` puts parts among zeros bit by bit as its meaning says, wherever they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from staticad_schema.op import OPS
from staticad_schema.types import TensorType, as_dtype

from ..ops.running import Applied
from ..ops.samples import Sample
from .planning import Array, Compiled

WHOLE = (None, None, 1)
SHAPE = (3, 7, 2)


def check(slices: list[Any], dtype: str, shape: tuple[int, ...] = SHAPE) -> None:
    rng = np.random.default_rng(0)
    parts = []
    for triples in slices:
        extent = np.empty(shape)[tuple(slice(*t) for t in triples)].shape
        values = rng.choice([-0.0, 0.0, 1.5, np.inf, -2.0], extent)
        with np.errstate(invalid="ignore"):
            parts.append(np.asarray(np.nan_to_num(values, posinf=9)
                                    if as_dtype(dtype).kind in "iu" else values)
                         .astype(as_dtype(dtype)))  # fmt: skip
    attributes = {"slices": tuple(t for triples in slices for t in triples), "shape": shape}
    applied = Applied(OPS["place"], Sample(tuple(parts), attributes))
    compiled = Compiled(
        applied.graph, applied.outputs, dict(zip(applied.inputs, parts, strict=True))
    )
    compiled.check()


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "complex64"])
@pytest.mark.parametrize(
    "steps",
    [
        [(0, 2, 1), (2, 7, 1)],
        [(2, 7, 1), (0, 2, 1)],
        [(1, 3, 1), (4, 6, 1)],
        [(0, 4, 1), (3, 7, 1)],
        [(0, 7, 2), (1, 7, 2)],
        [(6, 3, -1), (0, 2, 1)],
        [(2, 2, 1), (0, 7, 1)],
        [WHOLE],
        [WHOLE, WHOLE],
        [(3, 4, 1)],
    ],
    ids=str,
)
def test_parts_along_an_axis(dtype: str, steps: list[Any]) -> None:
    check([(WHOLE, step, WHOLE) for step in steps], dtype)


def test_parts_along_several_axes() -> None:
    check([((0, 1, 1), WHOLE, WHOLE), (WHOLE, (2, 3, 1), WHOLE)], "float64")
    check([((0, 1, 1), (0, 2, 1), WHOLE), ((0, 1, 1), (2, 3, 1), WHOLE)], "float64")


def test_nothing_to_place() -> None:
    check([(WHOLE, (0, 0, 1), WHOLE)], "float32", (2, 0, 3))
    check([()], "float32", ())


bound = st.none() | st.integers(-8, 8)
triple = st.tuples(bound, bound, st.sampled_from([1, 1, 1, 2, -1]))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.just(WHOLE), triple, st.sampled_from([WHOLE, (0, 1, 1)])),
                min_size=1, max_size=5))  # fmt: skip
def test_any_parts(slices: list[Any]) -> None:
    check(slices, "float32")


def test_parts_of_any_layout() -> None:
    base: Array = np.arange(12, dtype=np.float32).reshape(3, 4)
    types = [TensorType(as_dtype("float32"), (4, 3))] * 2
    attributes = {"slices": ((0, 4, 1), WHOLE, (4, 8, 1), WHOLE), "shape": (8, 3)}
    applied = Applied(OPS["place"], Sample((base.T, base.T), attributes), types)
    x, y = applied.inputs
    turned = [OPS["permute_dims"](OPS["reshape"](v, shape=(3, 4)), axes=(1, 0)) for v in (x, y)]
    placed = OPS["place"](OPS["flip"](turned[0], axis=(0,)), turned[1], **attributes)
    Compiled(applied.graph, [placed], {x: base.T, y: base.T}).check()
