"""Choices and loops whose parts are bodies of the function table.

Each has one meaning: that of its bodies, entered one after the other.  Operands that only bodies
read stand behind the others, the same for each body and each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import dims
from ..calls import check_path, result_types
from ..dims import Dim, Size
from ..errors import ArgumentError, DTypeError, ShapeError
from ..op import FunctionRef, Operand, op
from ..types import BOOL, INT64, TensorType

if TYPE_CHECKING:
    from ..graph import Function


def same(a: TensorType, b: TensorType) -> bool:
    """Whether two types may be one, as far as is known."""
    return (
        a.dtype == b.dtype
        and a.ndim == b.ndim
        and all(dims.same_size(s, t) is not False for s, t in zip(a.shape, b.shape, strict=True))
    )


def _known(sizes: tuple[Size, Size]) -> Size:
    """Of two descriptions of a size the one that says more."""
    return sizes[1] if isinstance(sizes[1], int) else sizes[0]


def _check_count(name: str, count: int, most: int) -> None:
    if not 0 <= count <= most:
        raise ArgumentError(
            f"{name} is out of range", expected=f"0 to {most}, the operands", found=str(count)
        )


@op(grad="bodies", batch="map")
def switch(
    index: Operand, *operands: Operand, functions: tuple[FunctionRef, ...], path: int = 0
) -> tuple[TensorType, ...]:
    """The outputs of one of several bodies, for these operands; the others do not run.

    index: an integer scalar that tells which; below 0 it is the first, beyond the last the last.
    A bool chooses of two the second if it is true.  `path` tells the nodes whose bodies draw
    random numbers apart.
    """
    check_path(path)
    if index.kind not in ("bool", "int", "uint") or index.ndim:
        raise DTypeError(
            "what chooses a branch is no scalar of integers or bools",
            expected="a bool or an integer of shape ()", found=str(index),
        )  # fmt: skip
    # The graph resolves the names before it infers.
    branches: tuple[Any, ...] = functions
    if not branches or (index.kind == "bool" and len(branches) != 2):
        raise ArgumentError(
            "the number of branches does not fit",
            expected="2 for a bool, at least 1 for an integer", found=str(len(branches)),
        )  # fmt: skip
    first = result_types(branches[0], operands)
    for branch in branches[1:]:
        own = result_types(branch, operands)
        if len(own) != len(first) or not all(map(same, first, own)):
            raise ShapeError(
                "branches give results of different types",
                expected=f"those of {branches[0].name!r}: " + ", ".join(map(str, first)),
                found=f"those of {branch.name!r}: " + ", ".join(map(str, own)),
            )
        first = tuple(
            a.with_shape(map(_known, zip(a.shape, b.shape, strict=True)))
            for a, b in zip(first, own, strict=True)
        )
    return first


def _check_carry(
    body: Function, carry: Sequence[TensorType], results: Sequence[TensorType]
) -> None:
    """Raises ShapeError, DTypeError where an iteration would change a type of the carry."""
    for position, (before, behind) in enumerate(zip(carry, results, strict=False)):
        if not same(before, behind):
            kind = DTypeError if before.dtype != behind.dtype else ShapeError
            raise kind(
                "an iteration changes the type of the carry",
                asked=f"carry {position} of {body.name!r}",
                expected=f"{before}, as it begins",
                found=f"{behind}",
                hint="let it begin as what the body returns, or convert in the body",
            )


@op(grad="bodies", batch="map")
def while_loop(
    *operands: Operand, condition: FunctionRef, body: FunctionRef, carried: int, path: int = 0
) -> tuple[TensorType, ...]:
    """The carry once the condition is false, and how many iterations that took.

    The first `carried` operands are the carry at the beginning.  Both bodies take all operands,
    with the present carry in place of these: the condition gives a bool scalar, the body the next
    carry, of the same types.
    """
    check_path(path)
    _check_count("carried", carried, len(operands))
    # The graph resolves the names before it infers.
    test: Any = condition
    step: Any = body
    asked = result_types(test, operands)
    if asked != (TensorType(BOOL, ()),):
        raise DTypeError(
            "the condition of a loop gives no single truth value",
            expected="one bool of shape ()", found=", ".join(map(str, asked)) or "nothing",
        )  # fmt: skip
    results = result_types(step, operands)
    if len(results) != carried:
        raise ShapeError(
            "the body of a loop does not give the next carry",
            expected=f"{carried} values", found=f"{len(results)}",
        )  # fmt: skip
    _check_carry(step, operands[:carried], results)
    return (*operands[:carried], TensorType(INT64, ()))


@op(grad="bodies", batch="map")
def scan(
    *operands: Operand,
    body: FunctionRef,
    carried: int,
    sequences: int,
    length: int | Dim,
    reverse: bool = False,
    path: int = 0,
) -> tuple[TensorType, ...]:
    """The carry behind `length` iterations, and what each of them gives beside it, stacked.

    The first `carried` operands are the carry at the beginning, the next `sequences` have
    `length` elements along their first axis, of which each iteration takes one.  The body takes
    the present carry, these elements and the rest of the operands; it gives the next carry, of
    the same types, and what is stacked along a new first axis.  reverse: from the last element
    to the first; what is stacked stands where its element did.
    """
    check_path(path)
    _check_count("carried", carried, len(operands))
    _check_count("sequences", sequences, len(operands) - carried)
    if isinstance(length, int) and length < 0:
        raise ArgumentError("length is negative", expected="at least 0", found=str(length))
    elements = []
    for position, whole in enumerate(operands[carried : carried + sequences]):
        if not whole.ndim or dims.same_size(whole.shape[0], length) is False:
            raise ShapeError(
                f"sequence {position} has another length",
                expected=f"a first axis of size {length}", found=str(whole),
            )  # fmt: skip
        elements.append(whole.with_shape(whole.shape[1:]))
    # The graph resolves the name before it infers.
    step: Any = body
    carry, rest = operands[:carried], operands[carried + sequences :]
    results = result_types(step, (*carry, *elements, *rest))
    if len(results) < carried:
        raise ShapeError(
            "the body of a scan does not give the next carry",
            expected=f"at least {carried} values", found=f"{len(results)}",
        )  # fmt: skip
    _check_carry(step, carry, results)
    return (*carry, *(r.with_shape((length, *r.shape)) for r in results[carried:]))
