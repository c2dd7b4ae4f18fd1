"""Iterations that do several steps of a loop: one after the other, or again for derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from staticad_schema.dims import Dim
from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.ops.structured import same

from .. import dimensions
from ..gradients.recompute import recompute
from ..trees import Tree, flattened, like, nested
from .joining import stack
from .sources import constant

# No number of steps: True, as callers say it, would be equal to 1.
ALL = -1


class Many(NamedTuple):
    """How many steps an iteration does.  unrolled: ALL for as many as there are.  recomputed: how
    many are computed again for derivatives; None for none."""

    unrolled: int
    recomputed: int | None


ONE = Many(1, None)


def steps_together(unroll: Any, recompute_every: Any) -> Many:
    """What a caller asks for.  Raises UsageError."""
    given = ALL if unroll is True else steps_of("unroll", unroll)
    every = None if recompute_every is None else steps_of("recompute_every", recompute_every)
    return Many(given, every)


def steps_of(name: str, given: Any) -> int:
    """A number of steps.  Raises UsageError."""
    number = dimensions.integer(given)
    if number < 1:
        raise UsageError(f"{name} is no number of steps", expected="at least 1", found=repr(number))
    return number


def chunk_size(many: Many, steps: int | Dim) -> int:
    """How many steps an iteration does, no more than there are."""
    wanted = many.unrolled if many.recomputed is None else many.recomputed
    if wanted == ALL:
        if not isinstance(steps, int):
            raise UsageError(
                "a loop of a length that is not known cannot be unrolled",
                expected="an int, or a number of steps in unroll",
                found=f"{steps} iterations",
            )
        return max(1, steps)
    return max(1, min(wanted, steps)) if isinstance(steps, int) else wanted


def spans(steps: Any, size: int, reverse: bool) -> tuple[Any, Any]:
    """Where the elements begin and end that are done in whole chunks: the rest comes last."""
    whole = (steps // size) * size
    return (steps - whole, steps) if reverse else (0, whole)


def over(tree: Any, function: Callable[..., Any], *others: Any) -> Any:
    """function of each tensor, nested as they are; None of None."""
    if tree is None:
        return None
    values, kind = flattened(tree)
    beside = [flattened(other)[0] for other in others]
    return nested(kind, [function(*given) for given in zip(values, *beside, strict=True)])


def unrolled(
    fn: Callable[[Any, Any], Any], state: Any, given: Any, size: int, reverse: bool, asked: str
) -> tuple[Any, Any]:
    """The carry behind so many steps, and what each gives beside it, stacked."""
    begin, tree = flattened(state)
    found: list[Any] = [None] * size
    for k in reversed(range(size)) if reverse else range(size):
        x = over(given, lambda whole, k=k: whole[k])
        behind, found[k] = fn(state, x)
        state = nested(tree, _following(begin, tree, behind, asked))
    if found[0] is None:
        return state, None
    parts = [flattened(y) for y in found]
    columns = zip(*(like(parts[0][1], y, "what fn gives") for y in found), strict=True)
    return state, nested(parts[0][1], [stack(list(column)) for column in columns])


def _following(begin: list[Any], tree: Tree, behind: Any, asked: str) -> list[Any]:
    """The next carry; numbers take its dtypes.  Raises DTypeError, ShapeError for other types."""
    made = []
    for position, (value, first) in enumerate(
        zip(like(tree, behind, "the carry that fn returns"), begin, strict=True)
    ):
        own = value if hasattr(value, "type") else constant(value, dtype=first.dtype)
        if not same(own.type, first.type):
            kind = DTypeError if own.type.dtype != first.type.dtype else ShapeError
            raise kind(
                "an iteration changes the type of the carry",
                asked=f"carry {position} of {asked}",
                expected=f"{first.type}, as it begins",
                found=own.describe(),
                hint="let it begin as what the body returns, or convert in the body",
            )
        made.append(own)
    return made


def recomputed(
    fn: Callable[[Any, Any], tuple[Any, Any]], state: Any, given: Any
) -> tuple[Any, Any]:
    """fn(state, given), of which only these are kept for derivatives."""
    carry, tree = flattened(state)
    elements, shape = ([], None) if given is None else flattened(given)
    kinds: list[Tree | None] = []

    def inner(*values: Any) -> tuple[Any, ...]:
        e = None if shape is None else nested(shape, values[len(carry) :])
        last, ys = fn(nested(tree, values[: len(carry)]), e)
        stacked, kind = ([], None) if ys is None else flattened(ys)
        kinds.append(kind)
        return (*flattened(last)[0], *stacked)

    made = recompute(inner)(*carry, *elements)
    (kind,) = kinds
    ys = None if kind is None else nested(kind, made[len(carry) :])
    return nested(tree, list(made[: len(carry)])), ys
