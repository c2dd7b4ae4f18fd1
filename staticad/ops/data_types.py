"""What dtypes are and become, asked of dtypes, arrays and tensors; no node is added to a graph."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from staticad_schema.errors import ArgumentError, DTypeError, UsageError, near_miss
from staticad_schema.handle import WEAK, Handle
from staticad_schema.sites import asking
from staticad_schema.types import (
    FLOATING,
    INEXACT,
    INTEGER,
    KINDS,
    NAMES,
    NUMERIC,
    PYTHON,
    REAL_OF,
    DType,
    as_dtype,
    promote,
    promote_weak,
)

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_finfo: Any = ml_dtypes.finfo
_KINDS = {
    "bool": {"bool"},
    "signed integer": {"int"},
    "unsigned integer": {"uint"},
    "integral": INTEGER,
    "real floating": FLOATING,
    "complex floating": {"complex"},
    "numeric": NUMERIC,
}


class FloatInfo(NamedTuple):
    """What `finfo` tells of a floating dtype; of a complex one it is that of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class IntegerInfo(NamedTuple):
    """What `iinfo` tells of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype in which operands meet.

    arrays_and_dtypes: tensors, arrays and dtypes; numbers, which are weak.  Raises DTypeError
    where there is none: for signed integers beside uint64.

    >>> import staticad as sad
    >>> sad.result_type("float16", "int64", 2.0), sad.result_type("bfloat16", sad.float16)
    (dtype('float16'), dtype('float32'))
    """
    with asking("result_type"):
        if not arrays_and_dtypes:
            raise UsageError("nothing to compare", expected="at least one dtype", found="none")
        weak = [given for given in arrays_and_dtypes if isinstance(given, WEAK)]
        strong = [_dtype(given) for given in arrays_and_dtypes if not isinstance(given, WEAK)]
        if strong:
            return reduce(promote_weak, weak, reduce(promote, strong))
        kinds = (next(dtype for kind, dtype in PYTHON.items() if isinstance(w, kind)) for w in weak)
        return reduce(promote, kinds)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether an operand of the one dtype becomes the other beside an operand of that.

    from_: a dtype, an array or a tensor.  to: a dtype.

    >>> import staticad as sad
    >>> sad.can_cast("int8", "int16"), sad.can_cast("float64", "float32")
    (True, False)
    """
    with asking("can_cast"):
        found, wanted = _dtype(from_), as_dtype(to)
        try:
            return promote(found, wanted) == wanted
        except DTypeError:
            return False


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind.

    kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating" or "numeric"; a dtype; or a tuple of these, of which it has to be one.
    Raises ArgumentError for another word.

    >>> import staticad as sad
    >>> sad.isdtype(sad.bfloat16, "real floating"), sad.isdtype("uint8", ("bool", "int8"))
    (True, False)
    """
    with asking("isdtype"):
        found = as_dtype(dtype)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return any(_is_kind(found, one) for one in kinds)


def finfo(type: Any, /) -> FloatInfo:
    """The range and the precision of a floating or complex dtype.

    type: a dtype, an array or a tensor.  Returns `bits`, `eps` (from 1 to the next number),
    `max`, `min`, `smallest_normal` and `dtype`.  Raises DTypeError for another dtype.

    >>> import staticad as sad
    >>> sad.finfo("bfloat16").eps, sad.finfo("float16").max
    (0.0078125, 65504.0)
    """
    with asking("finfo"):
        dtype = _dtype(type)
        if KINDS[dtype] not in INEXACT:
            raise DTypeError("not a floating dtype", expected="float or complex", found=dtype.name)
        dtype = REAL_OF.get(dtype, dtype)
        # np.finfo does not know of bfloat16.
        info = _finfo(dtype)
        return FloatInfo(
            bits=info.bits,
            eps=float(info.eps),
            max=float(info.max),
            min=float(info.min),
            smallest_normal=float(info.smallest_normal),
            dtype=dtype,
        )


def iinfo(type: Any, /) -> IntegerInfo:
    """The range of an integer dtype.

    type: a dtype, an array or a tensor.  Returns `bits`, `max`, `min` and `dtype`.
    Raises DTypeError for another dtype.

    >>> import staticad as sad
    >>> sad.iinfo("uint8").max
    255
    """
    with asking("iinfo"):
        dtype = _dtype(type)
        if KINDS[dtype] not in INTEGER:
            raise DTypeError("not an integer dtype", expected="int or uint", found=dtype.name)
        info = np.iinfo(dtype)
        return IntegerInfo(info.bits, int(info.max), int(info.min), dtype)


def _dtype(given: Any) -> DType:
    if isinstance(given, Handle):
        return given.type.dtype
    return as_dtype(given.dtype if isinstance(given, np.ndarray | np.generic) else given)


def _is_kind(dtype: DType, kind: Any) -> bool:
    if not isinstance(kind, str) or kind in NAMES.keys() - _KINDS.keys():
        return dtype == as_dtype(kind)
    if kind not in _KINDS:
        raise ArgumentError(
            "not a kind of dtypes",
            expected=f"{', '.join(_KINDS)}, or a dtype",
            found=repr(kind),
            hint=near_miss(kind, (*_KINDS, *NAMES)),
        )
    return KINDS[dtype] in _KINDS[kind]
