"""Kernels that compute an op's meaning and copy its results into memory that is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from staticad_schema.evaluate import evaluate
from staticad_schema.op import OPS
from staticad_schema.types import Array, TensorType

Function = Callable[..., None]


def meaning(op: str, attributes: Mapping[str, Any], outputs: Sequence[TensorType]) -> Function:
    """A function of the operands and then the outputs, whose types say no more than dtypes."""
    definition, given, types = OPS[op], dict(attributes), tuple(outputs)

    def run(*arrays: Array) -> None:
        operands = arrays[: len(arrays) - len(types)]
        results = evaluate(definition, operands, given, types)
        for out, result in zip(arrays[len(operands) :], results, strict=True):
            np.copyto(out, result)

    return run
