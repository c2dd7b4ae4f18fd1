"""What losses have in common: operands of one shape, weights, and how many become one number.

weights: numbers that broadcast to the losses, not negative; one of 0 leaves a loss out, even if
that is infinite or NaN.
reduction: "none", all losses; "sum", their weighted sum; "mean", that over the sum of the weights:
NaN where nothing is left, as the mean of nothing is.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from staticad_schema import dims
from staticad_schema.errors import ShapeError
from staticad_schema.shapes import same_shape

from .. import methods
from ..building import build
from ..finding import expected
from ..operands import Operand, graph_of, result, tensor
from ..options import choice
from ..tensor import Tensor
from .floats import floats, widened

Reduction = Literal["mean", "sum", "none"]


def check_reduction(reduction: Any, allowed: tuple[str, ...] = get_args(Reduction)) -> None:
    """Raises ArgumentError for what is no reduction."""
    choice("reduction", reduction, allowed)


def of_one_shape(asked: str, what: tuple[str, ...], *values: Operand) -> tuple[Tensor, ...]:
    """Floats of one dtype and one shape; scalars go with any.  Raises GraphError.

    Shapes that only broadcast are refused, by the run where sizes are symbolic: (n, 1) beside (n,)
    would become n losses for each.
    """
    made = floats(asked, *values)
    large = max(made, key=lambda x: x.ndim)
    for label, x in zip(what, made, strict=True):
        if x.ndim and same_shape(x.shape, large.shape) is False:
            raise ShapeError(
                f"{label} and {what[made.index(large)]} differ in shape",
                expected=f"{large.type}, as {large.describe()}",
                found=x.describe(),
                hint=_advice(x, large),
            )
    return tuple(result(expected(x, large.shape)) if x.ndim else x for x in made)


def _advice(x: Tensor, large: Tensor) -> str | None:
    if x.ndim == large.ndim - 1 and large.shape[-1] == 1:
        return "drop the axis of size 1: sad.squeeze(x, -1)"
    return "use sad.broadcast_to" if x.ndim < large.ndim else None


def reduced(
    asked: str,
    losses: Any,
    weights: Operand | None,
    reduction: Any,
    name: str | None,
    dtype: Any = None,
) -> Tensor:
    """The losses as the caller wants them, in a dtype, theirs unless given."""
    check_reduction(reduction)
    dtype = losses.type.dtype if dtype is None else dtype
    (wide,) = widened(losses)
    share = None
    if weights is not None:
        share = broadcasting(asked, "weights", weights, wide)
        wide = build("multiply_no_nan", (wide, share))
    if reduction == "none":
        return result(methods.cast(wide, dtype, name))
    total = methods.reduce("sum", wide, None, False)
    if reduction == "mean":
        total = total / mass(wide, share)
    return result(methods.cast(total, dtype, name))


def mass(losses: Any, weights: Any) -> Any:
    """The sum of the weights that the losses have, or the number of losses."""
    axes = tuple(range(losses.type.ndim))
    if weights is None:
        return methods.count(losses, axes, losses.type.dtype)
    spread = build("broadcast_to", (weights,), {"shape": losses.type.shape})
    return methods.reduce("sum", spread, None, False)


def broadcasting(asked: str, what: str, given: Operand, like: Any) -> Any:
    """A tensor of the dtype of `like`, of a shape that broadcasts to it.  Raises GraphError."""
    made = given if isinstance(given, Tensor) else like.coerce(given)
    share: Any = tensor(asked, made, graph_of(asked, like))
    lead = like.type.ndim - share.ndim
    fits = [
        a == 1 or dims.same_size(a, b)
        for a, b in zip(share.shape, like.type.shape[max(lead, 0) :], strict=False)
    ]
    if lead < 0 or False in fits:
        raise ShapeError(
            f"the {what} do not fit the losses",
            expected=f"a shape that broadcasts to {like.type}",
            found=share.describe(),
        )
    if None in fits:
        share = build("broadcast_to", (share,), {"shape": like.type.shape})
    return share.astype(like.type.dtype)
