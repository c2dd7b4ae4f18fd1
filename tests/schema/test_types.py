"""The promotion table, broadcasting of types, and names of dtypes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra import numpy as hnp

from staticad_schema import ArgumentError, DTypeError, ShapeError, TensorType, as_dtype, symbol
from staticad_schema.dims import Shape
from staticad_schema.shapes import broadcast_shapes, normalize_axes, normalize_axis, same_shape
from staticad_schema.types import (
    BFLOAT16,
    BOOL,
    COMPLEX64,
    COMPLEX128,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT64,
    INTEGER,
    KINDS,
    NAMES,
    UINT8,
    UINT64,
    DType,
    fits,
    in_dtype,
    nbytes,
    promote,
    promote_weak,
    weak_array,
)

PAIRS = list(itertools.product(KINDS, KINDS))


def expected(a: DType, b: DType) -> DType | None:
    """The array API's table by NumPy, with the additions that semantics.md states."""
    kinds = {KINDS[a], KINDS[b]}
    if a == b:
        return a
    if BOOL in (a, b):
        return b if a == BOOL else a
    if kinds <= INTEGER:
        found = np.promote_types(a, b)
        return found if KINDS[found] in INTEGER else None
    if kinds & INTEGER:
        return b if KINDS[a] in INTEGER else a
    if BFLOAT16 in (a, b):
        other = b if a == BFLOAT16 else a
        return FLOAT32 if other == FLOAT16 else other
    return np.promote_types(a, b)


@pytest.mark.parametrize(("a", "b"), PAIRS, ids=[f"{a.name}-{b.name}" for a, b in PAIRS])
def test_promotion(a: DType, b: DType) -> None:
    common = expected(a, b)
    if common is None:
        with pytest.raises(DTypeError, match="cast"):
            promote(a, b)
    else:
        assert promote(a, b) == common


@pytest.mark.parametrize(
    ("dtype", "scalar", "common"),
    [
        (FLOAT16, 1, FLOAT16),
        (BFLOAT16, 1.5, BFLOAT16),
        (FLOAT32, np.float64(2), FLOAT32),
        (INT8, 1, INT8),
        (INT8, True, INT8),
        (INT8, 1.5, FLOAT32),
        (INT64, 1.5, FLOAT32),
        (BOOL, True, BOOL),
        (BOOL, 1, INT64),
        (BOOL, 1.0, FLOAT32),
        (FLOAT32, 1j, COMPLEX64),
        (FLOAT64, 1j, COMPLEX128),
        (FLOAT16, 1j, COMPLEX64),
        (COMPLEX64, 1.5, COMPLEX64),
        (UINT64, 3, UINT64),
    ],
)
def test_python_scalars_are_weak(
    dtype: DType, scalar: bool | float | complex, common: DType
) -> None:
    assert promote_weak(dtype, scalar) == common


def test_an_integer_scalar_has_to_fit() -> None:
    assert weak_array(-128, INT8).tolist() == -128
    with pytest.raises(ArgumentError, match="300"):
        weak_array(300, INT8)
    with pytest.raises(ArgumentError, match="-1"):
        weak_array(-1, UINT64)
    assert weak_array(1e300, FLOAT32) == np.inf
    for dtype in (FLOAT64, INT8):
        with pytest.raises(ArgumentError, match="of 33220 bits does not fit"):
            weak_array(10**10000, dtype)
    assert weak_array(-1.5, INT8).tolist() == -1
    for number in (np.inf, np.nan, 128.0):
        with pytest.raises(ArgumentError, match=r"128|inf|nan"):
            weak_array(number, INT8)


def test_an_array_has_to_fit() -> None:
    assert in_dtype(np.array([-0.5, 255.5]), UINT8).tolist() == [0, 255]
    for number in (np.inf, np.nan, 256.0, -1.0):
        with pytest.raises(ArgumentError, match=r"256|inf|nan|-1"):
            in_dtype(np.array([1.0, number, 2.0], np.float16), UINT8)


def test_complex_numbers_do_not_become_real() -> None:
    for dtype in (FLOAT32, INT8):
        with pytest.raises(DTypeError, match="do not become real"):
            weak_array(1j, dtype)
        with pytest.raises(DTypeError, match="do not become real"):
            in_dtype(np.array([1j]), dtype)
    assert weak_array(1j, BOOL)
    assert in_dtype(np.array([1j, 0j]), BOOL).tolist() == [True, False]


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ("bfloat16", BFLOAT16),
        (float, FLOAT32),
        (int, INT64),
        (bool, BOOL),
        (complex, COMPLEX64),
        (np.float64, FLOAT64),
        (np.dtype(">f4"), FLOAT32),
        *[(name, dtype) for name, dtype in NAMES.items()],
    ],
)
def test_names_of_dtypes(given: object, dtype: DType) -> None:
    assert as_dtype(given) == dtype
    assert as_dtype(given).isnative


@pytest.mark.parametrize("given", ["flaot32", "object", np.dtype("U3"), np.datetime64, [1], "f"])
def test_what_is_no_dtype(given: object) -> None:
    with pytest.raises(DTypeError):
        as_dtype(given)


def test_a_misspelt_dtype_gets_a_hint() -> None:
    with pytest.raises(DTypeError, match="'float32'"):
        as_dtype("flaot32")


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0))
def test_broadcasting_is_that_of_numpy(shapes: hnp.BroadcastableShapes) -> None:
    assert broadcast_shapes(shapes.input_shapes) == shapes.result_shape


def test_broadcasting_of_symbolic_shapes() -> None:
    n = symbol("n")
    assert broadcast_shapes([(n, 1), (3,)]) == (n, 3)
    assert broadcast_shapes([(n, 2), (1, 2), ()]) == (n, 2)
    assert broadcast_shapes([]) == ()


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError, match=r"\(2, 3\) and \(3, 2\)") as caught:
        broadcast_shapes([(2, 3), (3, 2)])
    assert "transposed" in str(caught.value)


def test_axes() -> None:
    assert normalize_axis(-1, 3) == 2
    assert normalize_axes(None, 2) == (0, 1)
    assert normalize_axes((-1, 0), 3) == (0, 2)
    assert normalize_axes(1, 3) == (1,)
    with pytest.raises(ShapeError, match="twice"):
        normalize_axes((0, -3), 3)
    with pytest.raises(ShapeError, match="no axis 3"):
        normalize_axis(3, 3)
    with pytest.raises(ShapeError, match="no axis 0"):
        normalize_axis(0, 0)


def test_a_type_says_what_it_is() -> None:
    type_ = TensorType(FLOAT32, (symbol("batch"), 10))
    assert str(type_) == "float32[batch, 10]"
    assert (type_.ndim, type_.kind, type_.is_static) == (2, "float", False)
    assert nbytes(TensorType(COMPLEX128, (2, 3))) == 96


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ((), (), True),
        ((2, symbol("n")), (2, symbol("n")), True),
        ((2,), (3,), False),
        ((2, 3), (2,), False),
        ((symbol("n"), 2), (3, 2), None),
        ((symbol("n"), 2), (3, 3), False),
        ((symbol("n") + 1,), (symbol("n"),), False),
    ],
)
def test_shapes_are_equal_or_not_or_that_depends(a: Shape, b: Shape, equal: bool | None) -> None:
    assert same_shape(a, b) is equal
    assert same_shape(b, a) is equal
    types = TensorType(FLOAT32, a), TensorType(FLOAT32, b)
    assert fits(*types) is (equal is not False)
    assert not fits(types[0], types[0].with_dtype(np.dtype(np.float64)))
