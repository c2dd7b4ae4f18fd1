"""dtypes, the type of a value, and the rules by which types go together.

What a dtype *is* (its kind, its width, what it computes in) is stated here once, because
NumPy does not count bfloat16 among the floating dtypes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from . import dims
from .dims import Shape
from .errors import ArgumentError, DTypeError, ShapeError, near_miss
from .shapes import is_static, same_shape

DType = np.dtype[Any]
Array = np.ndarray[Any, Any]

BOOL = np.dtype(np.bool_)
INT8, INT16, INT32, INT64 = (np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64))
UINT8, UINT16, UINT32, UINT64 = (np.dtype(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64))
FLOAT16, FLOAT32, FLOAT64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))
BFLOAT16: DType = np.dtype(ml_dtypes.bfloat16)
COMPLEX64, COMPLEX128 = (np.dtype(t) for t in (np.complex64, np.complex128))

KINDS: dict[DType, str] = {
    BOOL: "bool",
    **dict.fromkeys((INT8, INT16, INT32, INT64), "int"),
    **dict.fromkeys((UINT8, UINT16, UINT32, UINT64), "uint"),
    **dict.fromkeys((FLOAT16, BFLOAT16, FLOAT32, FLOAT64), "float"),
    **dict.fromkeys((COMPLEX64, COMPLEX128), "complex"),
}
"""Every supported dtype and its kind."""

NAMES: dict[str, DType] = {d.name: d for d in KINDS}

FLOATING = frozenset({"float"})
INEXACT = frozenset({"float", "complex"})
INTEGER = frozenset({"int", "uint"})
REAL = frozenset({"int", "uint", "float"})
NUMERIC = frozenset({"int", "uint", "float", "complex"})
ANY = frozenset(KINDS.values())

DEFAULT_FLOAT, DEFAULT_INT = FLOAT32, INT64
# bool first: it is an int to `isinstance`.
PYTHON: dict[type, DType] = {
    bool: BOOL, int: DEFAULT_INT, float: DEFAULT_FLOAT, complex: COMPLEX64,
}  # fmt: skip
"""The dtype of a Python number that stands beside no tensor."""

MAX_RANK = 64
"""NumPy's own limit."""
MAX_BYTES = (1 << 63) - 1
"""What memory can be addressed with."""

# The half floats compute in float32 and are rounded once per op.
WIDENED: dict[DType, DType] = {FLOAT16: FLOAT32, BFLOAT16: FLOAT32}
REAL_OF: dict[DType, DType] = {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}
COMPLEX_OF: dict[DType, DType] = {FLOAT32: COMPLEX64, FLOAT64: COMPLEX128}


class TensorType(NamedTuple):
    """What is known of a value when the graph is built: its dtype and shape."""

    dtype: DType
    shape: Shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def kind(self) -> str:
        """bool, int, uint, float or complex."""
        return KINDS[self.dtype]

    @property
    def is_static(self) -> bool:
        return is_static(self.shape)

    def with_shape(self, shape: Iterable[dims.Size]) -> TensorType:
        return TensorType(self.dtype, tuple(shape))

    def with_dtype(self, dtype: DType) -> TensorType:
        return TensorType(dtype, self.shape)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


def array_type(array: Array) -> TensorType:
    """The static type of an array."""
    return TensorType(array.dtype, array.shape)


def fits(found: TensorType, declared: TensorType) -> bool:
    """Whether a value of the one type may be of the other: equal dtype and rank, and no size that
    is certain to differ."""
    return found.dtype == declared.dtype and same_shape(found.shape, declared.shape) is not False


def nbytes(type_: TensorType) -> int:
    """The size of a value of static type."""
    shape: Any = type_.shape
    size: int = math.prod(shape) * type_.dtype.itemsize
    return size


def require_size(type_: TensorType) -> None:
    """Raises ShapeError if no memory can be addressed in which a value of the type would fit.

    Symbolic sizes are not counted, and neither are sizes of 0: there is no array that would be
    too large without those axes.
    """
    total = type_.dtype.itemsize
    for size in type_.shape:
        if isinstance(size, int) and size:
            total *= size
    if total > MAX_BYTES:
        raise ShapeError(
            "larger than any memory",
            expected="less than 2**63 bytes, not counting axes of size 0",
            found=str(type_),
        )


def as_dtype(dtype: Any) -> DType:
    """The dtype that `dtype` names: a dtype, a name, a NumPy scalar type, bool, int or float.

    `float` and `int` mean the defaults, float32 and int64.  Raises DTypeError.
    """
    if isinstance(dtype, np.dtype):
        found = dtype.newbyteorder("=")
    elif isinstance(dtype, str):
        if dtype not in NAMES:
            raise DTypeError(
                "not a dtype",
                expected=", ".join(NAMES),
                found=repr(dtype),
                hint=near_miss(dtype, NAMES),
            )
        found = NAMES[dtype]
    elif isinstance(dtype, type) and dtype in PYTHON:
        found = PYTHON[dtype]
    elif isinstance(dtype, type):
        try:
            found = np.dtype(dtype)
        except TypeError:
            raise DTypeError("not a dtype", expected=", ".join(NAMES), found=repr(dtype)) from None
    else:
        # Not np.dtype(dtype), to which None is float64 and a tuple a structure.
        raise DTypeError(
            "not a dtype",
            expected=", ".join(NAMES),
            found=f"{dtype!r:.80}, a {type(dtype).__name__}",
            hint="a shape stands where the dtype belongs"
            if isinstance(dtype, int | tuple | list)
            else None,
        )
    if found not in KINDS:
        raise DTypeError("not a supported dtype", expected=", ".join(NAMES), found=str(found))
    return found


def require_dtype(dtype: DType) -> DType:
    """The dtype itself.  Raises DTypeError if graphs do not hold it (strings, big-endian, ...)."""
    if dtype not in KINDS:
        raise DTypeError(
            "a dtype that graphs do not hold", expected=", ".join(NAMES), found=str(dtype)
        )
    return dtype


def promote(a: DType, b: DType) -> DType:
    """The common dtype of two operands, as the array API's table with these additions.

    An integer or bool never widens a float; float16 with bfloat16 gives float32.
    Raises DTypeError for int64 with uint64, which have no common integer.
    """
    if a == b:
        return a
    ka, kb = KINDS[a], KINDS[b]
    rank = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}
    if rank[ka] < rank[kb]:
        a, b, ka, kb = b, a, kb, ka
    if rank[ka] > rank[kb]:
        if ka == "complex" and kb == "float" and b == FLOAT64:
            return COMPLEX128
        return a
    if ka == kb == "float" and BFLOAT16 in (a, b):
        other = b if a == BFLOAT16 else a
        return FLOAT32 if other == FLOAT16 else other
    if {a, b} & {UINT64} and "int" in (ka, kb):
        raise DTypeError(
            "a signed integer and uint64 have no common dtype",
            expected="equal dtypes; use cast on one side",
            found=f"{a.name} and {b.name}",
        )
    return np.promote_types(a, b)


def promote_weak(dtype: DType, scalar: bool | int | float | complex) -> DType:
    """The dtype in which a Python scalar meets an operand of `dtype`."""
    kind = KINDS[dtype]
    if isinstance(scalar, bool) or kind == "complex":
        return dtype
    if isinstance(scalar, int):
        return DEFAULT_INT if kind == "bool" else dtype
    if isinstance(scalar, float):
        return dtype if kind == "float" else DEFAULT_FLOAT
    return COMPLEX_OF.get(dtype, PYTHON[complex])


def weak_array(scalar: bool | int | float | complex, dtype: DType) -> Array:
    """The scalar as a 0-d array of `dtype`; fractions are dropped for an integer.

    Raises ArgumentError if an integer does not fit, DTypeError for a complex number that is to
    be real.
    """
    kind = KINDS[dtype]
    if isinstance(scalar, complex) and kind != "bool":
        _check_complex(PYTHON[complex], dtype, repr(scalar))
    if isinstance(scalar, int | float) and kind in INTEGER:
        _check_range(scalar, scalar, dtype)
    try:
        with np.errstate(over="ignore"):
            return np.array(scalar, dtype)
    except OverflowError:
        assert isinstance(scalar, int)
        raise _does_not_fit(scalar, dtype, "less than 2**1024") from None


def in_dtype(array: Array, dtype: DType) -> Array:
    """The array in `dtype`, as NumPy converts.

    Raises ArgumentError if an integer does not fit, DTypeError for complex numbers that are to
    be real.
    """
    _check_complex(array.dtype, dtype, f"{array.dtype.name}, for {dtype.name}")
    if KINDS[dtype] in INTEGER and KINDS.get(array.dtype) in REAL and array.size:
        _check_range(array.min().item(), array.max().item(), dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype)


def _check_complex(found: DType, wanted: DType, text: str) -> None:
    if found.kind == "c" and KINDS[wanted] not in ("complex", "bool"):
        raise DTypeError(
            "complex numbers do not become real ones",
            expected=f"real numbers, for {wanted.name}; or a complex dtype",
            found=text,
            hint="take their real part first",
        )


def _check_range(low: int | float, high: int | float, dtype: DType) -> None:
    limits = np.iinfo(dtype)
    expected = f"{limits.min} to {limits.max}"
    for number in (low, high):
        # NaN is the least and the greatest of what holds one.
        if isinstance(number, float) and not math.isfinite(number):
            raise ArgumentError(
                f"{number} is no integer",
                expected=f"{expected}, for {dtype.name}",
                found=str(number),
            )
        if not limits.min <= int(number) <= limits.max:
            raise _does_not_fit(int(number), dtype, expected)


def _does_not_fit(scalar: int, dtype: DType, expected: str) -> ArgumentError:
    bits = scalar.bit_length()
    # Python refuses to write out what is very long.
    text = str(scalar) if bits <= 256 else f"of {bits} bits"
    return ArgumentError(
        f"the integer {text} does not fit {dtype.name}", expected=expected, found=text
    )
