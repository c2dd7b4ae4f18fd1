"""The same elements in another order: axes exchanged, reversed, rotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.shapes import normalize_axis, shape_text
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..dimensions import Axis
from ..operands import Operand, result, tensor
from ..tensor import Tensor


def permute_dims(x: Operand, /, axes: Sequence[int], *, name: str | None = None) -> Tensor:
    """x with its axes in the order `axes`.

    Raises ShapeError unless each axis is named once.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.permute_dims(x, (2, 0, 1)).shape
    (4, 2, 3)
    """
    with asking("permute_dims", name):
        value = tensor("permute_dims", x)
        order = tuple(normalize_axis(dimensions.integer(a), value.ndim) for a in axes)
        if sorted(order) != list(range(value.ndim)):
            raise ShapeError(
                "not an order of the axes",
                expected=f"each of the axes 0 to {value.ndim - 1} once" if value.ndim else "()",
                found=shape_text(tuple(axes)),
            )
        return result(methods.permute(value, order, name))


def matrix_transpose(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x with its last two axes exchanged.  Raises ShapeError below rank 2.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.matrix_transpose(x).shape
    (2, 4, 3)
    """
    with asking("matrix_transpose", name):
        return result(methods.matrix_transpose(tensor("matrix_transpose", x), name))


def moveaxis(
    x: Operand,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
    /,
    *,
    name: str | None = None,
) -> Tensor:
    """x with the axes `source` moved to the places `destination`, the others in order.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.moveaxis(x, 0, -1).shape
    (3, 4, 2)
    """
    with asking("moveaxis", name):
        value = tensor("moveaxis", x)
        sides = []
        for given in (source, destination):
            several = given if isinstance(given, tuple | list) else (given,)
            sides.append([normalize_axis(dimensions.integer(a), value.ndim) for a in several])
        start, end = sides
        if len(start) != len(end) or len(set(start)) != len(start) or len(set(end)) != len(end):
            raise ShapeError(
                "the axes do not pair up",
                expected="as many places as axes, none twice",
                found=f"{source} to {destination}",
            )
        order = [a for a in range(value.ndim) if a not in start]
        for place, axis in sorted(zip(end, start, strict=True)):
            order.insert(place, axis)
        return result(methods.permute(value, tuple(order), name))


def flip(x: Operand, /, *, axis: Axis = None, name: str | None = None) -> Tensor:
    """x backwards along `axis`, along all of them if None.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.flip([[1, 2], [3, 4]], axis=1)
    >>> sad.Session(graph).run(y)
    array([[2, 1],
           [4, 3]])
    """
    with asking("flip", name):
        value = tensor("flip", x)
        attributes = {"axis": dimensions.axes_of(axis, value.ndim)}
        return result(build("flip", (value,), attributes, label=name))


def roll(
    x: Operand,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
    name: str | None = None,
) -> Tensor:
    """x with its elements moved by `shift` along `axis`, what falls off put in front.

    Without an axis, in the flattened x.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.roll([1, 2, 3, 4], 1)
    >>> sad.Session(graph).run(y)
    array([4, 1, 2, 3])
    """
    with asking("roll", name):
        value: Any = tensor("roll", x)
        shape = value.type.shape
        if axis is None:
            flat = methods.reshape(value, (-1,)) if shape else value
            moved = _rolled(flat, dimensions.integer(shift), 0) if shape else flat
            return result(methods.reshape(moved, shape, None if name is None else name))
        axes = axis if isinstance(axis, tuple | list) else (axis,)
        shifts = shift if isinstance(shift, tuple | list) else (shift,) * len(axes)
        if len(shifts) != len(axes):
            raise ArgumentError(
                "not one shift an axis", expected=f"{len(axes)} shifts", found=str(shift)
            )
        for s, a in zip(shifts, axes, strict=True):
            value = _rolled(
                value, dimensions.integer(s), normalize_axis(dimensions.integer(a), len(shape))
            )
        return result(renamed(value, name))


def _rolled(x: Any, shift: int, axis: int) -> Any:
    size = x.type.shape[axis]
    if size == 0 or shift == 0:
        return x
    # Counted from the front: where the part that goes behind ends.  A size may turn out 0.
    cut = dims.modulo(-shift, dims.maximum(size, 1))
    lead = ((None, None, 1),) * axis
    rest = ((None, None, 1),) * (x.type.ndim - axis - 1)
    front = build("slice", (x,), {"slices": (*lead, (None, cut, 1), *rest)})
    back = build("slice", (x,), {"slices": (*lead, (cut, None, 1), *rest)})
    joined = build("concat", (back, front), {"axis": axis})
    if joined.type.shape == x.type.shape:
        return joined
    return build("reshape", (joined,), {"shape": x.type.shape})
