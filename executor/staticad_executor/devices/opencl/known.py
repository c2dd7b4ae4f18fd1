"""Single numbers that are known before a run: arguments of kernels, whose text is then the same
whatever they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.types import BOOL, FLOAT32, FLOAT64, KINDS, Array, DType, TensorType

from .body import PLACED, Body, Index
from .code import Var
from .region import Step
from .scalars import register_type

KNOWN = "known number"


def known(array: Array, type_: TensorType) -> Step:
    """The step whose every element is that of an array of one element."""
    return Step(KNOWN, {"word": word(array)}, (), (type_,))


def word(array: Array) -> np.unsignedinteger[Any]:
    """The bits of the one element of an array as registers hold it: half floats as float32, bools
    and integers below 32 bits widened."""
    dtype = array.dtype
    if KINDS[dtype] == "float":
        wide = np.float64 if dtype == FLOAT64 else np.float32
        bits = array.astype(wide).reshape(1).view(np.uint64 if dtype == FLOAT64 else np.uint32)
    elif dtype.itemsize == 8:
        bits = array.reshape(1).view(np.uint64)
    else:
        bits = array.astype(np.int64).reshape(1).astype(np.uint32)
    first: np.unsignedinteger[Any] = bits[0]
    return first


def _known(body: Body, number: int, step: Step, index: Index) -> Var:
    dtype, given = step.types[0].dtype, step.attributes["word"]
    kind = "ulong" if given.itemsize == 8 else "uint"
    name = body.signature.word(f"known{number}", kind, given)
    return Var(_from_bits(name, dtype), dtype)


def _from_bits(name: str, dtype: DType) -> str:
    if dtype == BOOL:
        return f"({name} != 0)"
    if KINDS[dtype] == "float":
        return f"as_{register_type(dtype if dtype == FLOAT64 else FLOAT32)}({name})"
    return f"({register_type(dtype)}){name}"


PLACED[KNOWN] = _known
