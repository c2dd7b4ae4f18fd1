"""Elements chosen by their values: how many they are is found by each run.

The size of such a result is a symbol of its own, to be used like any other size.  Gradients pass
through the elements that were chosen; which ones they are counts as constant.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.shapes import broadcast_shapes, product
from staticad_schema.sites import asking

from .. import dimensions, finding
from ..building import build, renamed
from ..index_parts import reshaped
from ..operands import Operand, condition, graph_of, result, tensor
from ..tensor import Tensor


def nonzero(x: Operand, /, *, name: str | None = None) -> tuple[Tensor, ...]:
    """The positions of the elements that are not zero: for each axis of x an int64 vector.

    x: any dtype, of at least one axis; NaN is not zero.  All vectors have one length, which each
    run finds, in row-major order; x[nonzero(x)] is x[x != 0].

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     rows, columns = sad.nonzero([[3, 0], [4, 5]])
    >>> sad.Session(graph).run([rows, columns])
    [array([0, 1, 1]), array([0, 0, 1])]
    """
    with asking("nonzero", name):
        return tuple(map(result, finding.nonzero(tensor("nonzero", x), name)))


def argwhere(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The positions of the elements that are not zero, one a row, in row-major order.

    Returns int64 of shape (count, x.ndim); a scalar has one position, which consists of nothing.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.argwhere([[3, 0], [4, 5]])
    >>> sad.Session(graph).run(y)
    array([[0, 0],
           [1, 0],
           [1, 1]])
    """
    with asking("argwhere", name):
        value = tensor("argwhere", x)
        places = finding.nonzero(reshaped(value, value.shape or (1,)))
        columns = [reshaped(place, (*place.type.shape, 1)) for place in places]
        found = columns[0] if len(columns) == 1 else build("concat", columns, {"axis": 1})
        if not value.ndim:
            found = build("slice", (found,), {"slices": ((None, None, 1), (0, 0, 1))})
        return result(renamed(found, name))


def flatnonzero(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The positions of what is not zero in x made flat: an int64 vector.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.flatnonzero([[3, 0], [4, 5]])
    >>> sad.Session(graph).run(y)
    array([0, 2, 3])
    """
    with asking("flatnonzero", name):
        return result(renamed(_flat_places(tensor("flatnonzero", x)), name))


def _flat_places(x: Any) -> Any:
    (places,) = finding.nonzero(_flat(x))
    return places


def _flat(x: Any) -> Any:
    return reshaped(x, (product(x.type.shape),))


def compress(
    condition: Operand, x: Operand, /, axis: int | None = None, *, name: str | None = None
) -> Tensor:
    """The slices of x along an axis at which a condition is not zero.

    condition: a vector, not longer than the axis; what is behind its end is left out.  axis:
    None looks at x made flat.  The size along the axis is found by each run.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.compress([False, True], [[1, 2], [3, 4], [5, 6]], axis=0)
    >>> sad.Session(graph).run(y)
    array([[3, 4]])
    """
    with asking("compress", name):
        graph = graph_of("compress", condition, x)
        chosen, value = tensor("compress", condition, graph), tensor("compress", x, graph)
        if chosen.ndim != 1:
            raise ShapeError(
                "the condition is no vector", expected="one axis", found=chosen.describe()
            )
        if axis is None:
            return result(_taken(_flat(value), chosen, 0, name))
        return result(_taken(value, chosen, dimensions.axis_of(axis, value.ndim), name))


def _taken(x: Any, chosen: Any, axis: int, name: str | None) -> Any:
    size, longest = chosen.type.shape[0], x.type.shape[axis]
    if isinstance(size, int) and isinstance(longest, int) and size > longest:
        raise ShapeError(
            "the condition is longer than the axis",
            expected=f"at most {longest} elements, for axis {axis} of {x.describe()}",
            found=chosen.describe(),
        )
    return build("take", (x, _flat_places(chosen)), {"axis": axis}, label=name)


def extract(condition: Operand, x: Operand, /, *, name: str | None = None) -> Tensor:
    """The elements of x, made flat, at which a condition of as many is not zero: a vector.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.constant([[1.0, -2.0], [3.0, -4.0]])
    ...     y = sad.extract(x > 0, x)
    >>> sad.Session(graph).run(y)
    array([1., 3.], dtype=float32)
    """
    with asking("extract", name):
        graph = graph_of("extract", condition, x)
        chosen, value = tensor("extract", condition, graph), tensor("extract", x, graph)
        return result(_taken(_flat(value), _flat(chosen), 0, name))


def masked_select(x: Operand, mask: Operand, /, *, name: str | None = None) -> Tensor:
    """The elements of x where a mask is true, after both are broadcast: a vector.

    mask: bools.  Raises DTypeError for another dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.masked_select([[1, 2], [3, 4]], [True, False])
    >>> sad.Session(graph).run(y)
    array([1, 3])
    """
    with asking("masked_select", name):
        graph = graph_of("masked_select", x, mask)
        value = tensor("masked_select", x, graph)
        chosen = condition("masked_select", mask, graph)
        shape = broadcast_shapes([value.shape, chosen.shape])
        wide = [
            t if t.shape == shape else build("broadcast_to", (t,), {"shape": shape})
            for t in (value, chosen)
        ]
        return result(_taken(_flat(wide[0]), _flat(wide[1]), 0, name))
