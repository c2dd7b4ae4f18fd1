"""Scalar regions on Python floats, in class `fast`: numbers, not arrays of one number.

An operation on a Python float takes a twentieth of a ufunc's call.  All of them compute in
float64 and are rounded where they leave; where Python raises, as it does for log(0), the region
is computed again by the exact kernels.  Python text is made of positions and of the
expressions here, and nothing else; constants are passed by reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.node import Node
from staticad_schema.types import BOOL, FLOAT32, FLOAT64, KINDS, Array, DType

from .elementwise import Elementwise

# A region of fewer nodes costs less as calls of ufuncs: operands and results are converted.
FEWEST_NODES = 4

FLOATS: Mapping[str, str] = {
    "abs": "fabs({0})",
    "acos": "acos({0})",
    "acosh": "acosh({0})",
    "add": "{0} + {1}",
    "asin": "asin({0})",
    "asinh": "asinh({0})",
    "atan": "atan({0})",
    "atan2": "atan2({0}, {1})",
    "atanh": "atanh({0})",
    "cbrt": "cbrt({0})",
    "copysign": "copysign({0}, {1})",
    "cos": "cos({0})",
    "cosh": "cosh({0})",
    "divide": "{0} / {1}",
    "erf": "erf({0})",
    "erfc": "erfc({0})",
    "exp": "exp({0})",
    "exp2": "exp2({0})",
    "expm1": "expm1({0})",
    "hypot": "hypot({0}, {1})",
    "log": "log({0})",
    "log10": "log10({0})",
    "log1p": "log1p({0})",
    "log2": "log2({0})",
    "maximum": "{0} if {0} != {0} or {0} > {1} else {1}",
    "minimum": "{0} if {0} != {0} or {0} < {1} else {1}",
    "multiply": "{0} * {1}",
    "multiply_no_nan": "p if (p := {0} * {1}) == p or {1} != 0.0 else {1}",
    "multiply_zero": "p if (p := {0} * {1}) == p or ({0} != 0.0 and {1} != 0.0) else 0.0",
    "negative": "-{0}",
    "positive": "{0}",
    "pow": "pow({0}, {1})",
    "reciprocal": "1.0 / {0}",
    "relu": "0.0 if {0} <= 0.0 else {0}",
    "rsqrt": "1.0 / sqrt({0})",
    "sigmoid": "1.0 / (1.0 + exp(-{0}))",
    "sin": "sin({0})",
    "sinh": "sinh({0})",
    "softplus": "(0.0 if {0} <= 0.0 else {0}) + log1p(exp(-fabs({0})))",
    "sqrt": "sqrt({0})",
    "square": "{0} * {0}",
    "subtract": "{0} - {1}",
    "tan": "tan({0})",
    "tanh": "tanh({0})",
}
"""Python expressions of the ops from floats to a float."""

COMPARISONS: Mapping[str, str] = {
    "equal": "{0} == {1}",
    "greater": "{0} > {1}",
    "greater_equal": "{0} >= {1}",
    "isfinite": "{0} - {0} == 0.0",
    "isnan": "{0} != {0}",
    "less": "{0} < {1}",
    "less_equal": "{0} <= {1}",
    "not_equal": "{0} != {1}",
}
"""Python expressions of the ops from floats to a truth value."""

NUMBERS = frozenset({FLOAT32, FLOAT64})


class Scalar(NamedTuple):
    """A node of a region.  inputs: positions of operands (below their number), then of results of
    earlier nodes.  expression: see `expression`.  kernel: the exact one, of dtype `dtype`."""

    expression: str
    kernel: Elementwise
    inputs: tuple[int, ...]
    dtype: DType


def expression(node: Node, operands: Sequence[DType], out: DType) -> str | None:
    """The Python expression of a node on scalars of these dtypes; None if it has none."""
    if node.op == "cast":
        wide = operands[0] in NUMBERS or KINDS[operands[0]] in ("int", "uint")
        return "float({0})" if out in NUMBERS and (wide or operands[0] == BOOL) else None
    if node.op == "where":
        chosen = out in NUMBERS and operands[0] == BOOL
        return "{1} if {0} else {2}" if chosen else None
    if not NUMBERS.issuperset(operands):
        return None
    return FLOATS.get(node.op) if out in NUMBERS else COMPARISONS.get(node.op)


def scalar_region(
    scalars: Sequence[Scalar],
    operands: int,
    constants: Mapping[int, Array],
    outputs: Sequence[int],
) -> Callable[..., None]:
    """The function of the operands and then the outputs, all 0-d arrays.

    constants: those of the operands that are the same in every run.  outputs: the positions of
    the values that leave.
    """
    varying = [k for k in range(operands) if k not in constants]
    lines = [f"v{k} = a{k}.item()" for k in varying]
    for k, scalar in enumerate(scalars, start=operands):
        lines.append(f"v{k} = " + scalar.expression.format(*[f"v{i}" for i in scalar.inputs]))
    lines += [f"o{n}[()] = v{k}" for n, k in enumerate(outputs)]
    arguments = [*[f"a{k}" for k in range(operands)], *[f"o{n}" for n in range(len(outputs))]]
    text = f"def region({', '.join(arguments)}):\n " + "\n ".join(lines) + "\n"
    values = {f"v{k}": array.item() for k, array in constants.items()}
    quick = FunctionType(_code(text), {**_NAMES, **values})

    def run(*arrays: Array) -> None:
        try:
            quick(*arrays)
        except (ArithmeticError, ValueError):
            _exactly(scalars, operands, outputs, arrays)

    return run


_NAMES: Mapping[str, Any] = {
    "__builtins__": {},
    "float": float,
    **{
        name: getattr(math, name)
        for name in (
            "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos",
            "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "hypot", "log", "log10", "log1p",
            "log2", "pow", "sin", "sinh", "sqrt", "tan", "tanh",
        )
    },
}  # fmt: skip
"""What the text of a region may name."""


@lru_cache(maxsize=256)
def _code(text: str) -> CodeType:
    """The code of the function that a text of positions and expressions defines."""
    module = compile(text, "<scalar region>", "exec")
    return next(part for part in module.co_consts if isinstance(part, CodeType))


def _exactly(
    scalars: Sequence[Scalar], operands: int, outputs: Sequence[int], arrays: Sequence[Array]
) -> None:
    values = list(arrays[:operands])
    for scalar in scalars:
        out: Array = np.empty((), scalar.dtype)
        scalar.kernel.function(*[values[k] for k in scalar.inputs], out)
        values.append(out)
    for k, out in zip(outputs, arrays[operands:], strict=True):
        np.copyto(out, values[k])
