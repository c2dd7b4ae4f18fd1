"""Mistakes with matmul, and what the messages suggest; products with transposes."""

from __future__ import annotations

import numpy as np
import pytest

from staticad_schema import dims
from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.op import OPS
from staticad_schema.ops.contract import transposed_into
from staticad_schema.types import BOOL, FLOAT32, FLOAT64, TensorType

N = dims.symbol("n")


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ((2, 3), (4, 3), "b looks transposed"),
        ((3, 2), (3, 4), "a looks transposed"),
        ((2, 3), (5, 2), "swapped"),
        ((3,), (2, 3), "b looks transposed"),
        ((2, 3), (4,), r"size 4 in \(2, 3\) @ \(4,\)"),
        ((N, 3), (4, N), r"\(n, 3\) @ \(4, n\)"),
        ((), (3,), "multiply is for scalars"),
        ((2, 2, 3), (3, 3, 4), "broadcast"),
    ],
)
def test_shapes_that_do_not_fit(a: dims.Shape, b: dims.Shape, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        OPS["matmul"].infer(TensorType(FLOAT32, a), TensorType(FLOAT32, b))


def test_sizes_that_may_be_equal_are_accepted_until_they_are_known() -> None:
    out = OPS["matmul"].infer(TensorType(FLOAT32, (2, N)), TensorType(FLOAT32, (3, 4)))
    assert out == TensorType(FLOAT32, (2, 4))


@pytest.mark.parametrize("dtypes", [(FLOAT32, FLOAT64), (BOOL, BOOL)])
def test_dtypes_that_do_not_fit(dtypes: tuple[object, object]) -> None:
    with pytest.raises(DTypeError):
        OPS["matmul"].infer(*(TensorType(d, (2, 2)) for d in dtypes))  # type: ignore[arg-type]


ROWS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((40, 700), (400, 700)), ((3, 8, 256), (256, 256)), ((2, 900), (900, 900)),
    ((1, 900), (900, 900)), ((64, 600), (600, 600)), ((65, 600), (600, 600)), ((4, 5), (6, 5)),
)  # fmt: skip


@pytest.mark.parametrize(("a_shape", "b_shape"), ROWS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32"])
def test_products_of_rows_of_any_number_and_layout(
    a_shape: tuple[int, ...], b_shape: tuple[int, ...], dtype: str
) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-9, 9, shape).astype(dtype) for shape in (a_shape, b_shape))
    expected = np.matmul(a, b.T)
    # Sums of these integers are exact in any order.
    assert np.array_equal(transposed_into(a, b, None), expected)
    for left in (a, np.asfortranarray(a), np.repeat(a, 2, axis=-2)[..., ::2, :]):
        for right in (b, np.asfortranarray(b), np.repeat(b, 2, axis=0)[::2]):
            out = np.full(expected.shape, 7, dtype)
            assert transposed_into(left, right, out) is out
            assert np.array_equal(out, expected)
