"""Family N: dtypes stay what they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import staticad as sad

from .running import value

SCALARS: list[Callable[[Any], Any]] = [
    lambda x: x**2,
    lambda x: x / 2,
    lambda x: x / np.sqrt(3),
    lambda x: np.float64(0.5) * x,
    lambda x: 1 - x,
    lambda x: 2**x,
    lambda x: sad.maximum(x, 0),
    lambda x: sad.clip(x, -1, 1.5),
    lambda x: sad.where(x > 0, x, 0.1),
    lambda x: sad.mean(x),
    lambda x: sad.std(x),
    lambda x: sad.logaddexp(x, 0),
    lambda x: x * sad.constant([1, 2, 3]),
]


@pytest.mark.parametrize("f", SCALARS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_N1_scalars_and_integers_do_not_widen(f: Callable[[Any], Any], dtype: str) -> None:
    with sad.Graph() as graph:
        x = sad.placeholder(dtype, (3,))
        y = f(x)
        (dx,) = sad.gradients(y, x)
        (ddx,) = sad.gradients(dx, x, unconnected="zero")
    assert (y.dtype.name, dx.dtype.name, ddx.dtype.name) == (dtype, dtype, dtype)
    with sad.Session(graph) as session:
        for result in session.run([y, dx, ddx], {x: np.array([0.5, 1.0, 1.25])}):
            assert result.dtype.name == dtype


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("float16", "float32", "float32"),
        ("float32", "float64", "float64"),
        ("float16", "bfloat16", "float32"),
        ("bfloat16", "float64", "float64"),
        ("int64", "float16", "float16"),
        ("uint8", "int8", "int16"),
        ("uint32", "int32", "int64"),
        ("bool", "uint8", "uint8"),
        ("bool", "float16", "float16"),
        ("float64", "complex64", "complex128"),
        ("int64", "complex64", "complex64"),
    ],
)
def test_N3_promotion_is_a_table(left: str, right: str, common: str) -> None:
    with sad.Graph():
        a, b = sad.placeholder(left, (2,)), sad.placeholder(right, (2,))
        assert (a + b).dtype.name == common
        assert (b + a).dtype.name == common


def test_N3_what_has_no_common_dtype_names_both() -> None:
    with sad.Graph():
        a = sad.placeholder("int64", (2,), name="signed")
        b = sad.placeholder("uint64", (2,), name="unsigned")
        with pytest.raises(sad.DTypeError, match="cast") as caught:
            a + b
    message = str(caught.value)
    for part in ("'signed'", "'unsigned'", "test_dtypes.py"):
        assert part in message


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_N5_unsigned_integers_wrap(dtype: str) -> None:
    five, seven = np.array([5], dtype), np.array([7], dtype)
    found = value(lambda a, b: a - b, five, seven)
    assert found.dtype == dtype
    assert int(found[0]) == np.iinfo(dtype).max - 1
    assert int(value(lambda a: -a, five)[0]) == np.iinfo(dtype).max - 4
    assert int(value(lambda a: a + np.iinfo(dtype).max, five)[0]) == 4
