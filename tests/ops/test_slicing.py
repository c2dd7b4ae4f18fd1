"""Sizes of slices for every binding, and mistakes with parts."""

from __future__ import annotations

import itertools

import pytest

from staticad_schema import dims
from staticad_schema.binding import bind
from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.op import OPS
from staticad_schema.ops.slicing import slice_extent
from staticad_schema.types import FLOAT32, FLOAT64, UINT8, TensorType

N, K = dims.symbol("n"), dims.symbol("k")
BOUNDS: tuple[Size | None, ...] = (None, *range(-4, 5), N - 2, 3 - N, K, -K, N, N - K, -1 - K)


def _agrees(start: Size | None, stop: Size | None, step: int, n: int, k: int) -> None:
    sizes = {"n": n, "k": k}
    low, high = (None if b is None else bind(b, sizes) for b in (start, stop))
    begin, end, _ = slice(low, high, step).indices(n)
    first, length = (bind(s, sizes) for s in slice_extent(start, stop, step, N))
    expected = len(range(begin, end, step))
    assert length == expected, (start, stop, step, sizes)
    if expected:
        assert first == begin, (start, stop, step, sizes)
    if step == 1:
        # What the gradient pads with is never negative, also around an empty slice.
        assert 0 <= first <= n - length, (start, stop, step, sizes)


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2, -3])
def test_a_symbolic_slice_has_the_size_of_pythons_slice(step: int) -> None:
    for start, stop in itertools.product(BOUNDS, BOUNDS):
        for n, k in itertools.product(range(4), range(3)):
            _agrees(start, stop, step, n, k)


def test_sizes_of_common_slices_are_simple_and_known_to_be_equal() -> None:
    assert slice_extent(None, None, 1, N) == (0, N)
    assert slice_extent(None, None, -1, N) == (N - 1, N)
    assert str(slice_extent(1, None, 1, N)[1]) == "max(0, n - 1)"
    assert slice_extent(1, None, 1, N)[1] == slice_extent(None, -1, 1, N)[1]
    assert slice_extent(K, K + 2, 1, N + K + 2) == (K, 2)


@pytest.mark.parametrize(
    ("name", "types", "attributes", "error", "message"),
    [
        ("slice", [(2, 3)], {"slices": ((None, None, 1),)}, ShapeError, "2 slices"),
        ("slice", [(2,)], {"slices": ((None, None, 0),)}, ArgumentError, "step is zero"),
        ("slice_set", [(4,), (3,)], {"slices": ((None, None, 2),)}, ShapeError, r"\(2,\)"),
        ("concat", [(2, 3), (3, 3)], {"axis": 1}, ShapeError, "on axis 0"),
        ("concat", [(2, 3), (3,)], {"axis": 0}, ShapeError, "rank 1, operand 1"),
        ("concat", [(2,)], {"axis": 1}, ShapeError, "axis 1 of a tensor of rank 1"),
        ("concat", [], {"axis": 0}, ArgumentError, "at least one"),
        ("pad", [(2, 3)], {"widths": ((1, 1),), "value": 0.0}, ShapeError, "2 pairs"),
        ("pad", [(2,)], {"widths": ((-1, 1),), "value": 0.0}, ShapeError, "negative"),
    ],
)
def test_mistakes_are_named(
    name: str,
    types: list[tuple[int, ...]],
    attributes: dict[str, object],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        OPS[name].infer(*(TensorType(FLOAT32, shape) for shape in types), **attributes)


def test_parts_of_two_dtypes_are_refused() -> None:
    with pytest.raises(DTypeError, match=r"float32\[1\], float64\[1\]"):
        OPS["concat"].infer(TensorType(FLOAT32, (1,)), TensorType(FLOAT64, (1,)), axis=0)


@pytest.mark.parametrize("value", [0.5, -1.0, 256.0, float("nan")])
def test_padding_with_a_value_outside_the_dtype_is_refused(value: float) -> None:
    with pytest.raises(ArgumentError, match="integer from 0 to 255"):
        OPS["pad"].infer(TensorType(UINT8, (1,)), widths=((1, 1),), value=value)
