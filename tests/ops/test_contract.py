"""Mistakes with matmul, and what the messages suggest."""

from __future__ import annotations

import pytest

from staticad_schema import dims
from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.op import OPS
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
