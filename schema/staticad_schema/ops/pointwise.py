"""What the definitions of elementwise ops share: inference, and a decorator that makes each
of them a few lines.

A derivative is given as what the cotangent is multiplied by.  The decorator makes the rules
from it, so that every product of the chain rule is a `multiply_no_nan`, or forwards `pushed`, and
the conjugates that complex functions need stand in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..op import OPS, Grad, Jvp, Op, PerOperand, Types, op
from ..shapes import broadcast_shapes
from ..types import BOOL, WIDENED, TensorType
from .checks import check_kind, same_dtype

# `(operands..., out) -> d`, a handle or 1; None: the derivative is 0 everywhere.
Derivative = Callable[..., Any] | None


def same(kinds: frozenset[str], x: TensorType, *others: TensorType) -> TensorType:
    """The operands' dtype and their broadcast shape.

    Raises DTypeError if their dtypes differ or are not of these kinds, ShapeError if their
    shapes do not broadcast.
    """
    check_kind(kinds, x, *others)
    for other in others:
        if other is not x and other != x:
            break
    else:
        return x
    same_dtype((x, *others))
    return TensorType(x.dtype, broadcast_shapes([x.shape, *(other.shape for other in others)]))


def truth(kinds: frozenset[str], *operands: TensorType) -> TensorType:
    """bool, of the operands' broadcast shape.  Raises as `same` does."""
    return TensorType(BOOL, same(kinds, *operands).shape)


def conjugated(d: Any) -> Any:
    """The complex conjugate of a handle; the handle itself if it is real."""
    return OPS["conj"](d) if d.type.kind == "complex" else d


def scaled(d: Any, g: Any) -> Any:
    """The cotangent g times the (conjugate) derivative d, which is a handle or 1."""
    return g if isinstance(d, int) else OPS["multiply_no_nan"](conjugated(d), g)


def pushed(d: Any, t: Any) -> Any:
    """The derivative d, which is a handle or 1, times the tangent t; 0 where either is.

    In reverse a slope of 0 makes a cotangent 0, which stays so through the infinite slopes before
    it.  Forwards these come first, and the slope of 0 meets an infinite tangent.
    """
    return t if isinstance(d, int) else OPS["multiply_zero"](d, t)


def total(terms: Sequence[Any]) -> Any:
    """The sum of the terms that are there."""
    present = [t for t in terms if t is not None]
    found = present[0]
    for t in present[1:]:
        found = OPS["add"](found, t)
    return found


def select(condition: Any, g: Any, otherwise: Any = 0.0) -> Any:
    """g where the condition holds: a cotangent chosen, not multiplied, so that what is not
    taken cannot reach the result as NaN."""
    return OPS["where"](condition, g, g.coerce(otherwise))


def wide(x: Any) -> Any:
    """A half float as float32, in which sums of many, products and squares keep in range; other
    handles, and None, as they are."""
    return None if x is None else x.astype(WIDENED.get(x.type.dtype, x.type.dtype))


def pointwise(
    *,
    numpy: Callable[..., Any],
    expr: str | Mapping[str, str],
    d: Derivative | tuple[Derivative, ...] = None,
    grad: Grad | None = None,
    jvp: Jvp = "derived",
    widen: bool = True,
) -> Callable[[Callable[..., Types]], Op]:
    """Define an elementwise op by its derivatives `d`, one an operand, or by `grad`."""
    each = d if isinstance(d, tuple) else (d,)
    return op(
        numpy=numpy,
        expr=expr,
        grad=PerOperand(*map(_rule, each)) if grad is None else grad,
        jvp=tangent(*each) if grad is None and jvp == "derived" else jvp,
        batch="elementwise",
        elementwise=True,
        widen=widen,
    )


def _rule(d: Derivative) -> Callable[..., Any] | None:
    if d is None:
        return None

    def rule(*args: Any) -> Any:
        *operands, out, g = args
        return scaled(d(*operands, out), g)

    return rule


def tangent(*d: Derivative) -> Callable[..., Any]:
    """The rule of tangents of an op with these derivatives, one an operand."""

    def rule(*args: Any) -> Any:
        *operands, out, tangents = args
        return total(
            [
                None if t is None or slope is None else pushed(slope(*operands, out), t)
                for slope, t in zip(d, tangents, strict=True)
            ]
        )

    return rule
