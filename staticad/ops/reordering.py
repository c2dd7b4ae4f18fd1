"""The same elements in another order: axes exchanged, reversed, rotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from staticad_schema import dims
from staticad_schema.dims import Dim, Size
from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.shapes import product, shape_text
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
        return result(methods.permute(value, _order(axes, value.ndim), name))


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
    /,
    source: int | tuple[int, ...],
    destination: int | tuple[int, ...],
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
            sides.append([dimensions.axis_of(a, value.ndim) for a in several])
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


def flip(x: Operand, /, axis: Axis = None, *, name: str | None = None) -> Tensor:
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


def swapaxes(x: Operand, /, axis1: int, axis2: int, *, name: str | None = None) -> Tensor:
    """x with two axes exchanged.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.swapaxes(x, 0, -1).shape
    (4, 3, 2)
    """
    with asking("swapaxes", name):
        value = tensor("swapaxes", x)
        first, second = (dimensions.axis_of(a, value.ndim) for a in (axis1, axis2))
        order = list(range(value.ndim))
        order[first], order[second] = second, first
        return result(methods.permute(value, tuple(order), name))


def transpose(
    x: Operand, /, axes: Sequence[int] | None = None, *, name: str | None = None
) -> Tensor:
    """x with its axes in the order `axes`; None: in the reverse order.  As `numpy.transpose`.

    >>> import staticad as sad
    >>> with sad.Graph():
    ...     x = sad.zeros((2, 3, 4))
    >>> sad.transpose(x).shape
    (4, 3, 2)
    """
    with asking("transpose", name):
        value = tensor("transpose", x)
        order = range(value.ndim)[::-1] if axes is None else axes
        return result(methods.permute(value, _order(order, value.ndim), name))


def _order(axes: Any, ndim: int) -> tuple[int, ...]:
    """All axes, counted from the front.  Raises GraphError."""
    if not isinstance(axes, Sequence) or isinstance(axes, str):
        raise UsageError("not an order of axes", expected="a tuple of ints", found=f"{axes!r:.80}")
    order = tuple(dimensions.axis_of(a, ndim) for a in axes)
    if sorted(order) != list(range(ndim)):
        raise ShapeError(
            "not an order of the axes",
            expected=f"each of the axes 0 to {ndim - 1} once" if ndim else "()",
            found=shape_text(tuple(axes)),
        )
    return order


def rot90(
    x: Operand, /, k: int = 1, axes: tuple[int, int] = (0, 1), *, name: str | None = None
) -> Tensor:
    """x turned k times by 90 degrees in the plane of two axes, from the first towards the second.

    Raises ShapeError for axes that are not two.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.rot90([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[2, 4],
           [1, 3]])
    """
    with asking("rot90", name):
        value = tensor("rot90", x)
        given: Any = axes
        plane = tuple(given) if isinstance(given, tuple | list) else (given,)
        chosen = dimensions.axes_of(plane, value.ndim)
        if len(chosen) != 2:
            raise ShapeError("not a plane", expected="two axes", found=str(axes))
        first, second = (dimensions.axis_of(a, value.ndim) for a in plane)
        turns = dimensions.integer(k) % 4
        order = list(range(value.ndim))
        if turns % 2:
            order[first], order[second] = second, first
        turned = methods.permute(value, tuple(order))
        backwards = {0: (), 1: (first,), 2: chosen, 3: (second,)}[turns]
        if backwards:
            turned = build("flip", (turned,), {"axis": tuple(sorted(backwards))})
        return result(renamed(turned, name))


def flipud(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x backwards along its first axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.flipud([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[3, 4],
           [1, 2]])
    """
    with asking("flipud", name):
        return flip(x, 0, name=name)


def fliplr(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x backwards along its second axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.fliplr([[1, 2], [3, 4]])
    >>> sad.Session(graph).run(y)
    array([[2, 1],
           [4, 3]])
    """
    with asking("fliplr", name):
        return flip(x, 1, name=name)


def roll(
    x: Operand,
    /,
    shift: int | Dim | tuple[int | Dim, ...],
    axis: int | tuple[int, ...] | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """x with its elements moved by `shift` along `axis`, what falls off put in front.

    Without an axis, in the flattened x.  Several shifts and axes go pair by pair.
    Raises ArgumentError if there are not as many of both.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.roll([1, 2, 3, 4], 1)
    >>> sad.Session(graph).run(y)
    array([4, 1, 2, 3])
    """
    with asking("roll", name):
        value: Any = tensor("roll", x)
        shape = value.type.shape
        given = shift if isinstance(shift, tuple | list) else (shift,)
        shifts = [s if isinstance(s, Dim) else dimensions.integer(s) for s in given]
        if axis is None:
            flat = methods.reshape(value, (product(shape),))
            for s in shifts:
                flat = _rolled(flat, s, 0)
            return result(methods.reshape(flat, shape, name))
        axes = list(axis) if isinstance(axis, tuple | list) else [axis]
        if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
            raise ArgumentError(
                "not one shift an axis", expected=f"{len(axes)} shifts", found=str(shift)
            )
        if len(shifts) == 1:
            shifts *= len(axes)
        elif len(axes) == 1:
            axes *= len(shifts)
        for s, a in zip(shifts, axes, strict=True):
            value = _rolled(value, s, dimensions.axis_of(a, len(shape)))
        return result(renamed(value, name))


def _rolled(x: Any, shift: Size, axis: int) -> Any:
    size = x.type.shape[axis]
    if size == 0 or shift == 0:
        return x
    # Counted from the front: where the part that goes behind ends.  A size may turn out 0.
    cut = dims.modulo(-shift, dims.maximum(size, 1))
    front, back = (methods.slice_along(x, axis, *ends) for ends in ((None, cut), (cut, None)))
    joined = build("concat", (back, front), {"axis": axis})
    if joined.type.shape == x.type.shape:
        return joined
    return build("reshape", (joined,), {"shape": x.type.shape})
