"""Dtypes in OpenCL C: how an element lies in memory, and what it is in registers.

Half floats are computed in float32 and rounded after each op.  A bool is a byte 0 or 1 in
memory; in registers a 32-bit int, 0 or 1, and in vectors a mask, 0 or -1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.types import BFLOAT16, BOOL, FLOAT16, FLOAT32, KINDS, WIDENED, DType

_MEMORY = {
    "bool": "uchar", "int8": "char", "uint8": "uchar", "int16": "short", "uint16": "ushort",
    "int32": "int", "uint32": "uint", "int64": "long", "uint64": "ulong", "float16": "half",
    "bfloat16": "ushort", "float32": "float", "float64": "double",
}  # fmt: skip
_MASKS = {1: "char", 2: "short", 4: "int", 8: "long"}


def memory_type(dtype: DType) -> str:
    """The C type of an element in memory."""
    return _MEMORY[dtype.name]


def register_type(dtype: DType, lanes: int = 1) -> str:
    """The C type of so many elements in registers."""
    name = "int" if dtype == BOOL else _MEMORY[computed(dtype).name]
    return vector(name, lanes)


def computed(dtype: DType) -> DType:
    """The dtype in which elements of one are computed."""
    return WIDENED.get(dtype, dtype)


def vector(name: str, lanes: int) -> str:
    """The C type of a vector, or of one element."""
    return name if lanes == 1 else f"{name}{lanes}"


def mask_type(dtype: DType, lanes: int) -> str:
    """What comparisons of vectors of the dtype give, and selections between them ask for."""
    size = 4 if dtype == BOOL else computed(dtype).itemsize
    return vector(_MASKS[size], lanes)


def unsigned_type(dtype: DType, lanes: int) -> str:
    """The unsigned integer in which an integer dtype wraps; in scalars at least 32 bits."""
    size = dtype.itemsize if lanes > 1 else max(4, dtype.itemsize)
    return vector("u" + _MASKS[size], lanes)


def literal(value: Any, dtype: DType) -> str:
    """A number as an expression of exactly the dtype's register type, one element."""
    if dtype == BOOL:
        return "1" if value else "0"
    if KINDS[dtype] == "float":
        return _float(float(value), computed(dtype))
    number = int(value)
    suffix = {4: "", 8: "L"}.get(dtype.itemsize, "")
    if KINDS[dtype] == "uint":
        text = f"{number}{'UL' if dtype.itemsize == 8 else 'U'}"
    elif number == np.iinfo(dtype).min and dtype.itemsize >= 4:
        # The lowest integer is no literal: its magnitude does not fit.
        text = f"({number + 1}{suffix} - 1)"
    else:
        text = f"{number}{suffix}" if number >= 0 else f"({number}{suffix})"
    return text if dtype.itemsize >= 4 else f"({_MEMORY[dtype.name]}){text}"


def _float(value: float, dtype: DType) -> str:
    if math.isnan(value):
        return "NAN" if dtype == FLOAT32 else "((double)NAN)"
    if dtype == FLOAT32:
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    if math.isinf(value):
        text = "INFINITY" if dtype == FLOAT32 else "((double)INFINITY)"
        return text if value > 0 else f"(-{text})"
    text = str(np.float32(value)) if dtype == FLOAT32 else repr(value)
    if "." not in text and "e" not in text:
        text += ".0"
    text += "f" if dtype == FLOAT32 else ""
    return f"({text})" if math.copysign(1, value) < 0 else text


def is_half(dtype: DType) -> bool:
    """Whether results are rounded to fewer bits than they are computed in."""
    return dtype in (FLOAT16, BFLOAT16)
