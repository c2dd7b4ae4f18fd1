"""The mark around a part of a graph whose derivative is given by a body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..calls import check_path, result_types
from ..errors import ArgumentError, DTypeError, ShapeError
from ..op import FunctionRef, Ints, Operand, op
from ..types import INEXACT, Array, TensorType
from .structured import same


def _results(*operands: Array, arguments: int, others: int, **rest: Any) -> tuple[Array, ...]:
    return operands[arguments + others :]


@op(numpy=_results, grad="bodies", batch="map")
def custom_rule(
    *operands: Operand,
    rule: FunctionRef,
    arguments: int,
    others: int,
    given: Ints,
    forward: bool = False,
    path: int = 0,
) -> tuple[TensorType, ...]:
    """The last operands, results of a part of the graph that has a derivative of its own.

    The first `arguments` operands are what the results are a function of, as far as derivatives
    go; the next `others` are what the rule reads beside them.  The rule takes the arguments, the
    results, then for each floating or complex result its cotangent, then the others; it gives the
    cotangents of the arguments at the positions `given`.  forward: it takes for each floating or
    complex argument its tangent instead, and gives the tangents of the results at these positions.
    """
    check_path(path)
    for name, count in (("arguments", arguments), ("others", others)):
        if not 0 <= count <= len(operands):
            raise ArgumentError(
                f"{name} is out of range",
                expected=f"0 to {len(operands)}, the operands", found=str(count),
            )  # fmt: skip
    results = operands[arguments + others :]
    if not results:
        raise ArgumentError(
            "no result", expected="an operand behind the arguments and the others",
            found=f"{len(operands)} operands, {arguments} arguments and {others} others",
        )  # fmt: skip
    first = operands[:arguments]
    flowing = [t for t in (first if forward else results) if t.kind in INEXACT]
    wanted = results if forward else first
    if any(not 0 <= k < len(wanted) for k in given) or len(set(given)) != len(given):
        raise ArgumentError(
            "given does not say what the rule gives",
            expected=f"different positions from 0 to {len(wanted) - 1}", found=str(given),
        )  # fmt: skip
    # The graph resolves the name before it infers.
    body: Any = rule
    taken = (*first, *results, *flowing, *operands[arguments : arguments + others])
    made = result_types(body, taken)
    _check(body.name, made, [wanted[k] for k in given])
    return results


def _check(name: str, made: Sequence[TensorType], wanted: Sequence[TensorType]) -> None:
    """Raises ShapeError, DTypeError where a rule gives what cannot be a derivative."""
    if len(made) != len(wanted):
        raise ShapeError(
            f"the rule {name!r} gives another number of derivatives",
            expected=str(len(wanted)), found=str(len(made)),
        )  # fmt: skip
    for position, (found, like) in enumerate(zip(made, wanted, strict=True)):
        if found.dtype != like.dtype or like.kind not in INEXACT:
            raise DTypeError(
                f"the rule {name!r} gives a derivative of another dtype",
                asked=f"derivative {position}", expected=f"a floating or complex {like}",
                found=str(found),
            )  # fmt: skip
        if not same(found, like):
            raise ShapeError(
                f"the rule {name!r} gives a derivative of another shape",
                asked=f"derivative {position}", expected=str(like), found=str(found),
            )  # fmt: skip
