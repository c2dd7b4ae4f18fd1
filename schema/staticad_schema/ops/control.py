"""Ops that order, observe or stop what flows, and the call of a function body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..calls import check_path, inline, result_types
from ..errors import DTypeError, ExecutionError
from ..op import OPS, FunctionRef, Operand, constant, each, op
from ..types import BOOL, Array, TensorType

if TYPE_CHECKING:
    from ..graph import Function


def _pass_cotangent(x: Any, out: Any, g: Any) -> tuple[Any]:
    return (g,)


def _pass_tangent(x: Any, out: Any, tangents: tuple[Any]) -> Any:
    return tangents[0]


@op(
    numpy=lambda x: x,
    grad=_pass_cotangent,
    jvp=_pass_tangent,
    batch="elementwise",
    view=True,
)
def identity(x: Operand) -> TensorType:
    """x itself, as a node of its own."""
    return x


@op(numpy=lambda x: x, grad=constant, batch="elementwise", view=True)
def stop_gradient(x: Operand) -> TensorType:
    """x, taken as a constant by differentiation."""
    return x


@op(
    numpy=lambda x: x,
    grad=_pass_cotangent,
    jvp=_pass_tangent,
    batch="elementwise",
    view=True,
)
def after(x: Operand) -> TensorType:
    """x, not computed before the node's control dependencies have run."""
    return x


@op(numpy=lambda: (), grad=constant, batch="elementwise")
def group() -> tuple[TensorType, ...]:
    """Nothing: it has run when its control dependencies have."""
    return ()


def _print(x: Array, *, message: str, summarize: int) -> Array:
    text = np.array2string(x, threshold=max(summarize, 1), edgeitems=3)
    print(f"{message} {text}" if message else text)
    return x


@op(
    numpy=_print,
    grad=_pass_cotangent,
    jvp=_pass_tangent,
    batch="elementwise",
    effect="io",
    view=True,
)
def print_(x: Operand, *, message: str, summarize: int = 1000) -> TensorType:
    """x; prints the message and x, shortened when it has more than `summarize` elements."""
    return x


TRUE = "a condition that is true everywhere"


def _require(condition: Array, message: str, expected: str = TRUE, x: Array | None = None) -> None:
    if condition.all():
        return
    failed = int(condition.size - np.count_nonzero(condition))
    found = f"false in {failed} of {condition.size} elements" if condition.ndim else "false"
    if x is not None and x.shape == condition.shape:
        first = np.unravel_index(np.argmin(condition), condition.shape)
        where = f" at {tuple(map(int, first))}, {found}" if condition.ndim else ""
        found = f"{x[first]}{where}"
    raise ExecutionError(message, expected=expected, found=found)


def _check(condition: Array, x: Array, *, message: str, expected: str = TRUE) -> Array:
    _require(condition, message, expected, x)
    return x


def _check_only(condition: Array, *, message: str) -> tuple[Array, ...]:
    _require(condition, message)
    return ()


def _require_bool(condition: Operand) -> None:
    if condition.dtype != BOOL:
        raise DTypeError("a condition that is no bool", expected="bool", found=str(condition))


def _batch_check(
    condition: Any, x: Any, batched: tuple[bool, bool], *, message: str, expected: str = TRUE
) -> Any:
    if not batched[1]:
        x = OPS["broadcast_to"](x, shape=(condition.type.shape[0], *x.type.shape))
    return OPS["check"](condition, x, message=message, expected=expected)


@op(
    numpy=_check,
    grad=each(None, lambda condition, x, out, g: g),
    jvp=lambda condition, x, out, tangents: tangents[1],
    batch=_batch_check,
    effect="io",
    view=True,
)
def check(condition: Operand, x: Operand, *, message: str, expected: str = TRUE) -> TensorType:
    """x; fails with the message unless the condition, of any shape, is true everywhere.

    expected: what the error says of that.  Of a condition of the shape of x it tells the element
    that is wrong.
    """
    _require_bool(condition)
    return x


@op(numpy=_check_only, grad=constant, batch="elementwise", effect="io")
def check_only(condition: Operand, *, message: str) -> tuple[TensorType, ...]:
    """Nothing; fails with the message unless the condition is true everywhere."""
    _require_bool(condition)
    return ()


def _inline(*arguments: Any, function: Function, path: int) -> Any:
    outputs = inline(arguments[0].graph, arguments, function, path)
    return outputs[0] if len(outputs) == 1 else outputs


@op(expand=_inline, grad="expand", batch="map")
def call(*arguments: Operand, function: FunctionRef, path: int = 0) -> tuple[TensorType, ...]:
    """The outputs of a body in the function table, for these inputs.

    `path` tells the calls of a body that draws random numbers apart.
    """
    check_path(path)
    # The graph resolves the name before it infers.
    body: Any = function
    return result_types(body, arguments)
