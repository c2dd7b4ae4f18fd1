"""What is known by an equation that it solves, whose derivative follows from that equation."""

from __future__ import annotations

from typing import Any

from ..calls import check_path, result_types
from ..errors import ArgumentError, DTypeError, ShapeError
from ..op import FunctionRef, Operand, op
from ..types import Array, TensorType
from .structured import same

METHODS = ("cg", "gmres")


def _solutions(*operands: Array, solutions: int, **rest: Any) -> tuple[Array, ...]:
    return operands[len(operands) - solutions :]


@op(numpy=_solutions, grad="bodies", batch="map")
def implicit(
    *operands: Operand,
    residual: FunctionRef,
    solutions: int,
    method: str,
    rtol: float,
    iterations: int,
    path: int = 0,
) -> tuple[TensorType, ...]:
    """The last operands, of which a residual is 0, and whose derivative follows from that.

    The residual F takes the solutions, then the other operands, and gives a value of the type of
    each solution.  By the implicit function theorem a cotangent g of the solutions x gives the
    others a the cotangent -(dF/da)^T w, where (dF/dx)^T w = g, and a tangent b of a gives x the
    tangent t, where (dF/dx) t = -(dF/da) b.  method: what solves these equations by products, "cg"
    where dF/dx is symmetric and positive definite, else "gmres"; rtol, iterations: when it ends.
    """
    check_path(path)
    if not 1 <= solutions <= len(operands):
        raise ArgumentError(
            "solutions is out of range",
            expected=f"1 to {len(operands)}, the operands", found=str(solutions),
        )  # fmt: skip
    if method not in METHODS:
        raise ArgumentError("not a method", expected=", ".join(METHODS), found=method)
    if not 0 <= rtol < 1 or iterations < 1:
        raise ArgumentError(
            "limits are out of range", expected="rtol from 0 to 1, at least 1 iteration",
            found=f"rtol {rtol}, {iterations} iterations",
        )  # fmt: skip
    others, found = operands[:-solutions], operands[-solutions:]
    for x in found:
        if x.kind != "float" or x.dtype != found[0].dtype:
            raise DTypeError(
                "solutions are not of one floating dtype",
                expected=f"a floating {found[0]}", found=str(x),
            )  # fmt: skip
    # The graph resolves the name before it infers.
    body: Any = residual
    made = result_types(body, (*found, *others))
    if len(made) != solutions or not all(map(same, made, found)):
        raise ShapeError(
            f"the residual {body.name!r} is of other types than the solutions",
            expected=", ".join(map(str, found)), found=", ".join(map(str, made)) or "nothing",
        )  # fmt: skip
    return found
