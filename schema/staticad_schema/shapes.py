"""Shapes: tuples of sizes, how they broadcast, and the axes that they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .binding import bind
from .dims import Shape, Size, broadcast, same_size
from .errors import ShapeError


def bind_shape(shape: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape for given sizes of its symbols."""
    return tuple(d if isinstance(d, int) else bind(d, sizes) for d in shape)


def is_static(shape: Shape) -> bool:
    """Whether every size is an int."""
    return all(isinstance(d, int) for d in shape)


def product(shape: Shape) -> Size:
    """The number of elements of a shape."""
    total: Size = 1
    for d in shape:
        total = total * d
    return total


def same_shape(a: Shape, b: Shape) -> bool | None:
    """Whether two shapes are equal: True, False, or None where that depends on the symbols."""
    if len(a) != len(b):
        return False
    answers = [same_size(x, y) for x, y in zip(a, b, strict=True)]
    return False if False in answers else None if None in answers else True


def broadcast_shapes(shapes: Iterable[Shape]) -> Shape:
    """The shape to which all broadcast.  Raises ShapeError."""
    result: Shape | None = None
    for shape in shapes:
        if result is None or result == shape:
            result = shape
            continue
        longer, shorter = (result, shape) if len(result) >= len(shape) else (shape, result)
        lead = len(longer) - len(shorter)
        try:
            result = longer[:lead] + tuple(map(broadcast, longer[lead:], shorter))
        except ShapeError:
            raise ShapeError(
                "shapes do not broadcast",
                expected="equal sizes, or 1, on aligned axes",
                found=f"{shape_text(result)} and {shape_text(shape)}",
                hint=_transposed_hint(result, shape),
            ) from None
    return () if result is None else result


def _transposed_hint(a: Shape, b: Shape) -> str | None:
    if len(a) == len(b) >= 2 and a[-2:] == b[-2:][::-1] and a[-2:] != b[-2:]:
        return "one of them looks transposed"
    return None


def shape_text(shape: Shape) -> str:
    """A shape as Python writes a tuple."""
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def normalize_axis(axis: int, ndim: int) -> int:
    """The axis counted from the front.  Raises ShapeError if there is none."""
    if not -ndim <= axis < ndim:
        raise ShapeError(
            f"no axis {axis}",
            expected=f"an axis from {-ndim} to {ndim - 1}" if ndim else "no axis: a 0-d tensor",
            found=f"axis {axis} of a tensor of rank {ndim}",
        )
    return axis % ndim


def normalize_axes(axis: int | tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    """Axes as an ascending tuple from the front; None means all.  Raises ShapeError."""
    if axis is None:
        return tuple(range(ndim))
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    axes = sorted(normalize_axis(a, ndim) for a in given)
    if len(set(axes)) != len(axes):
        raise ShapeError("an axis is given twice", expected="distinct axes", found=str(given))
    return tuple(axes)
