"""Sorting along an axis, and searching in what is sorted.

Equal elements keep their order and NaN comes last, ascending and descending.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking

from .. import dimensions
from ..building import build, renamed
from ..operands import Operand, result, tensor, tensors
from ..options import choice, flag
from ..tensor import Tensor
from .gathering import take_along_axis

__all__ = ["argsort", "digitize", "searchsorted", "sort", "top_k"]


def sort(
    x: Operand,
    /,
    axis: int = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    name: str | None = None,
) -> Tensor:
    """x with its elements in order along an axis; the derivative goes to where they came from.

    x: any dtype but complex.  NaN comes last, also if descending.  stable: True or False, the
    order is stable in any case.  Returns a tensor of the same shape and dtype.
    Raises ShapeError for an axis that x does not have, DTypeError for complex numbers.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sort([3.0, 1.0, 2.0], descending=True)
    >>> sad.Session(graph).run(y)
    array([3., 2., 1.], dtype=float32)
    """
    with asking("sort", name):
        return result(renamed(_sorted("sort", x, axis, descending, stable)[0], name))


def argsort(
    x: Operand,
    /,
    axis: int = -1,
    *,
    descending: bool = False,
    stable: bool = True,
    name: str | None = None,
) -> Tensor:
    """The int64 indices that `sort` reads x at; the first one first among equals.

    x, axis, descending, stable: as in `sort`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.argsort([3.0, 1.0, 3.0], descending=True)
    >>> sad.Session(graph).run(y)
    array([0, 2, 1])
    """
    with asking("argsort", name):
        return result(renamed(_sorted("argsort", x, axis, descending, stable)[1], name))


def top_k(
    x: Operand, /, k: int, axis: int = -1, *, largest: bool = True, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The k largest elements along an axis, the largest first, and their int64 indices.

    x: any dtype but complex.  largest: False for the k smallest, the smallest first.  Of equal
    elements the first ones are taken; NaN only if there is nothing else.  Raises ArgumentError if
    the axis has fewer than k elements.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     values, indices = sad.top_k([1.0, 5.0, 3.0], 2)
    >>> sad.Session(graph).run([values, indices])
    [array([5., 3.], dtype=float32), array([1, 2])]
    """
    with asking("top_k", name):
        value = tensor("top_k", x)
        attributes = {
            "k": dimensions.integer(k),
            "axis": dimensions.axis_of(axis, value.ndim),
            "largest": flag("largest", largest),
        }
        values, indices = build("top_k", (value,), attributes, label=name)
        return result(values), result(indices)


def searchsorted(
    x1: Operand,
    x2: Operand,
    /,
    side: str = "left",
    sorter: Operand | None = None,
    *,
    name: str | None = None,
) -> Tensor:
    """The int64 positions along the last axis of x1 where x2 would keep it ascending.

    x1: ascending along its last axis, NaN last; a vector, or several whose leading axes x2 has
    too.  x2: values of any shape.  side: "left" of equal elements, or "right" of them.
    sorter: integers that sort x1, as from `argsort`.  Numbers only; x1 and x2 are brought to one
    dtype.  Raises ShapeError where the shapes do not fit.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.searchsorted([1.0, 2.0, 4.0], [2.0, 5.0], side="right")
    >>> sad.Session(graph).run(y)
    array([2, 3])
    """
    with asking("searchsorted", name):
        choice("side", side, ("left", "right"))
        ordered, values = tensors("searchsorted", x1, x2)
        if sorter is not None:
            if not ordered.ndim:
                raise ShapeError("nothing to search", expected="a vector", found=ordered.describe())
            ordered = take_along_axis(ordered, sorter)
        attributes = {"right": side == "right"}
        return result(build("searchsorted", (ordered, values), attributes, label=name))


def digitize(
    x: Operand, bins: Operand, /, right: bool = False, *, name: str | None = None
) -> Tensor:
    """The int64 number of the bin that each element of x falls into, 0 before the first edge.

    x: numbers.  bins: a vector of edges in ascending order, or in descending order.  right:
    whether an edge belongs to the bin below it.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.digitize([0.5, 1.0, 9.0], [1.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([0, 1, 2])
    """
    with asking("digitize", name):
        values, edges = tensors("digitize", x, bins)
        if edges.ndim != 1:
            raise ShapeError("edges of another rank", expected="a vector", found=edges.describe())
        _check_monotonic(bins)
        return result(_binned(values, edges, flag("right", right), name))


def _sorted(asked: str, x: Operand, axis: Any, descending: Any, stable: Any) -> Any:
    flag("stable", stable)
    value = tensor(asked, x)
    place = dimensions.axis_of(axis, value.ndim)
    return build("sort", (value,), {"axis": place, "descending": flag("descending", descending)})


def _binned(x: Any, edges: Any, right: bool, label: str | None) -> Tensor:
    # Descending edges are searched backwards, and the bins counted from the other end.
    steps = build("less", (edges[1:], edges[:-1]))
    falling = build("any", (steps,), {"axis": (0,), "keepdims": False})
    backwards = build("flip", (edges,), {"axis": (0,)})
    ascending = build("where", (falling, backwards, edges))
    found = build("searchsorted", (ascending, x), {"right": not right})
    count = tensor("digitize", edges.shape[0], x.graph)
    return result(build("where", (falling, count - found, found), label=label))


def _check_monotonic(bins: Any) -> None:
    """Raises UsageError for edges given as numbers that neither only rise nor only fall."""
    if isinstance(bins, Handle):
        return
    steps = np.diff(np.asarray(bins))
    if (steps > 0).any() and (steps < 0).any():
        raise UsageError(
            "edges in no order", expected="edges that rise, or that fall", found=f"{bins!r:.80}"
        )
