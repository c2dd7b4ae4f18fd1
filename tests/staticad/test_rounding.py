"""Numbers that are lost in the dtype that they take: J13."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad
from tests.lines import line_ahead


@pytest.mark.parametrize(
    ("dtype", "build", "words"),
    [
        ("float16", lambda x: x + 1e-8, "1e-08 is 0 in float16"),
        ("float16", lambda x: x * 1e9, "1000000000.0 is infinite in float16"),
        ("float16", lambda x: x - 100_000, "100000 is infinite in float16"),
        ("float16", lambda x: sad.where(x > 0, x, -1e9), "-1000000000.0 is infinite"),
        ("bfloat16", lambda x: sad.maximum(x, 1e-50), "1e-50 is 0 in bfloat16"),
        ("float32", lambda x: x / 1e-50, "1e-50 is 0 in float32"),
        ("complex64", lambda x: x * 1e39j, "is infinite in complex64"),
        ("float16", lambda x: x + sad.full((3,), 1e-8, dtype="float16"), "1e-08 is 0"),
        ("float16", lambda x: x + x.graph.constant(1e-8, dtype="float16"), "1e-08 is 0"),
    ],
)
def test_J13_a_number_that_vanishes_in_its_dtype_is_warned_of(
    dtype: str, build: Callable[[Any], Any], words: str
) -> None:
    with sad.Graph():
        x = sad.placeholder(dtype, (3,), name="x")
        with pytest.warns(sad.RoundingWarning) as caught:
            build(x)
        assert [w.filename for w in caught] == [__file__]
        assert words in str(caught[0].message)


def test_J13_the_warning_names_the_line_once() -> None:
    with sad.Graph():
        x = sad.placeholder("float16", (3,), name="x")

        def build() -> str:
            where = line_ahead(1)
            sad.sqrt(x) + 1e-8
            return where

        with pytest.warns(sad.RoundingWarning) as caught:
            where = build()
        assert where.endswith(f":{caught[0].lineno}")
        # Equal numbers are one constant.
        build()


def test_numbers_that_keep_a_value_are_not_warned_of() -> None:
    with sad.Graph():
        for dtype in ("float16", "bfloat16", "float32"):
            x = sad.placeholder(dtype, (3,), name=dtype)
            parts = [x + 0.0, x * float("inf"), x * float("nan"), x + 1e-6, x * 60_000.0, x - True]
            y = sad.nn.layer_norm(sad.nn.gelu(sad.nn.softmax(parts[0])))
            sad.gradients(sad.sum(y * y), x)
        w = sad.variable(np.ones(3, np.float32), name="w")
        sad.optimizers.Adam(0.1).minimize(sad.sum(w * w))
