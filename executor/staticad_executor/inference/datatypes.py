"""What the protocol calls dtypes, and elements as it writes them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from staticad_schema.errors import FeedTypeError, FormatError, PlanError
from staticad_schema.tensors import from_octets
from staticad_schema.types import MAX_RANK, NAMES, UINT8, Array, DType, TensorType

from ..feeds import convert

_OF_NAMES = {
    "bool": "BOOL", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64",
    "int8": "INT8", "int16": "INT16", "int32": "INT32", "int64": "INT64", "float16": "FP16",
    "bfloat16": "BF16", "float32": "FP32", "float64": "FP64",
}  # fmt: skip
DATATYPES: dict[DType, str] = {NAMES[name]: datatype for name, datatype in _OF_NAMES.items()}
DTYPES = {datatype: dtype for dtype, datatype in DATATYPES.items()}


def datatype(dtype: DType, what: str) -> str:
    """The protocol's name of a dtype.  Raises PlanError where it has none."""
    found = DATATYPES.get(dtype)
    if found is None:
        raise PlanError(
            "the protocol has no such dtype",
            asked=what,
            expected=", ".join(d.name for d in DATATYPES),
            found=dtype.name,
            hint="return the real and the imaginary part",
        )
    return found


def checked_type(
    name: str, given: object, shape: Sequence[object]
) -> tuple[DType, tuple[int, ...]]:
    """The type of a tensor that a caller describes.  Raises PlanError, FeedTypeError."""
    dtype = DTYPES.get(given) if isinstance(given, str) else None
    if dtype is None:
        raise FeedTypeError(
            "not a datatype that is served",
            asked=f"input {name!r}",
            expected=", ".join(DTYPES),
            found=repr(given)[:100],
        )
    sizes = [
        n for n in shape if isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 1 << 63
    ]
    if len(sizes) != len(shape) or len(sizes) > MAX_RANK:
        raise PlanError(
            "not a shape",
            asked=f"input {name!r}",
            expected=f"at most {MAX_RANK} sizes of at least 0",
            found=repr(list(shape))[:100],
        )
    return dtype, tuple(sizes)


def nbytes(dtype: DType, shape: tuple[int, ...]) -> int:
    """The bytes of the elements."""
    return 0 if 0 in shape else math.prod(shape) * dtype.itemsize


def from_raw(name: str, data: Any, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The array of little-endian elements in C order.  Raises FormatError."""
    try:
        return from_octets(np.frombuffer(data, UINT8), dtype, shape)
    except FormatError as error:
        raise error.locate(asked=f"input {name!r}") from None


def from_numbers(name: str, data: object, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The array of numbers, nested or flat.  Raises FeedTypeError, PlanError."""
    what = f"input {name!r}"
    if not isinstance(data, list):
        raise FeedTypeError(
            "the data are no list", asked=what, expected="[…]", found=repr(data)[:80]
        )
    given = convert(data, TensorType(dtype, shape), what, None)
    if given.size != math.prod(shape):
        raise PlanError(
            "the data do not have the shape",
            asked=what,
            expected=f"{math.prod(shape)} elements for shape {list(shape)}",
            found=str(given.size),
        )
    return given.reshape(shape)
