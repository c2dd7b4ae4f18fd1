"""Random choices: of classes, of elements, of an order."""

from __future__ import annotations

from typing import Any

import numpy as np

from staticad_schema.dims import Dim, Size
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.handle import Handle
from staticad_schema.shapes import product
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64, INT64, UINT64

from .. import dimensions, sizes
from ..building import build, part, renamed
from ..graph import Graph
from ..numbers import as_array
from ..operands import Operand, graph_of, result, tensor
from ..options import flag
from ..tensor import Tensor
from .draws import between_0_and_1, fitted, integer_dtype, parameter, random_bits
from .families import standard_gumbel

_ASCENDING = {"axis": 0, "descending": False}
_WHOLE = {"axis": (0,), "keepdims": False}


def categorical(
    logits: Operand,
    /,
    shape: Any = None,
    *,
    axis: int = -1,
    dtype: Any = "int64",
    name: str | None = None,
) -> Tensor:
    """Classes, each with probability softmax(logits) along `axis`.

    logits: floats, -inf for a class that is never drawn.  shape: of the result; that of logits
    without the axis must broadcast to it, and is taken if there is none.  dtype: an integer one.
    By the largest of the logits with Gumbel's noise, which is no function with a gradient; see
    nn.gumbel_softmax.  The first class where all logits are -inf or one is NaN.
    Raises ShapeError for logits without classes, or that do not fit the shape.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.categorical(sad.log(sad.constant([0.5, 0.0, 0.5])), (10_000,))
    >>> value = sad.Session(graph).run(y)
    >>> bool((value != 1).all()), bool(abs(value.mean() - 1) < 0.05)
    (True, True)
    """
    with asking("random.categorical", name):
        graph = graph_of("random.categorical", logits)
        wanted = integer_dtype(dtype)
        given = parameter(graph, logits, FLOAT64)
        if not given.ndim or given.shape[dimensions.axis_of(axis, given.ndim)] == 0:
            raise ShapeError(
                "there are no classes", expected="logits of one or more", found=given.describe()
            )
        place = dimensions.axis_of(axis, given.ndim)
        lead = [i for i in range(given.ndim) if i != place]
        if place != given.ndim - 1:
            given = build("permute_dims", (given,), {"axes": (*lead, place)})
        size = given.shape[:-1] if shape is None else dimensions.shape_of(shape)
        full = (*size, given.shape[-1])
        if shape is not None:
            given = fitted(given, full)
        scores = given + standard_gumbel(graph, full, name)
        best = build("argmax", (scores,), {"axis": len(full) - 1, "keepdims": False})
        return result(renamed(best.astype(wanted), name))


def permutation(x: Operand, /, axis: int = 0, *, name: str | None = None) -> Tensor:
    """What lies along an axis in a random order, all orders equally likely.

    x: a tensor, or an int or Dim n for the int64 numbers from 0 to n - 1.  Its slices keep their
    elements together.  By sorting random 64-bit numbers.  The gradient goes to where the elements
    came from.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.permutation(5)
    >>> sorted(sad.Session(graph).run(y).tolist())
    [0, 1, 2, 3, 4]
    """
    with asking("random.permutation", name):
        graph = graph_of("random.permutation", x)
        if is_count(x):
            dimensions.axis_of(axis, 1)
            return result(renamed(_order(graph, count(x), name), name))
        value = tensor("random.permutation", x, graph)
        if not value.ndim:
            raise ShapeError("there is no axis", expected="a vector", found=value.describe())
        place = dimensions.axis_of(axis, value.ndim)
        order = _order(graph, value.shape[place], name)
        return result(build("take", (value, order), {"axis": place}, label=name))


def choice(
    a: Operand,
    /,
    shape: Any = (),
    replace: bool = True,
    p: Operand | None = None,
    axis: int = 0,
    *,
    name: str | None = None,
) -> Tensor:
    """Elements of `a` along an axis, chosen at random.

    a: a tensor, or an int or Dim n for the int64 numbers from 0 to n - 1.  shape: of what is
    chosen; it stands in place of the axis.  replace: whether an element can be chosen again.
    p: a vector of weights that are not negative, one for each element, which are divided by their
    sum; without it all are equally likely.  Without replacement, p is that of the first choice, of
    what is left then, and so on.
    Raises ArgumentError for more than there is without replacement, ShapeError for a p of another
    length; fails when it runs if p is negative, NaN, or has too few elements above 0.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.choice([10.0, 20.0, 30.0], (1000,), p=[0.2, 0.0, 0.8])
    >>> np.unique(sad.Session(graph).run(y))
    array([10., 30.], dtype=float32)
    """
    with asking("random.choice", name):
        graph = graph_of("random.choice", a, p)
        again = flag("replace", replace)
        size = dimensions.shape_of(shape)
        value = None if is_count(a) else tensor("random.choice", a, graph)
        if value is not None and not value.ndim:
            raise ShapeError("there is no axis", expected="a vector", found=value.describe())
        place = dimensions.axis_of(axis, 1 if value is None else value.ndim)
        n = count(a) if value is None else value.shape[place]
        weights = None if p is None else _weights(graph, p, n, name)
        pick = _with_replacement if again else _without
        order = pick(graph, size, n, weights, name)
        if value is None:
            return result(renamed(order, name))
        return result(build("take", (value, order), {"axis": place}, label=name))


def is_count(value: Any) -> bool:
    """Whether it is a number of elements, and not elements."""
    return isinstance(value, Dim | int | np.integer) and not isinstance(value, bool)


def count(value: Any) -> Size:
    """A number of elements.  Raises GraphError."""
    return dimensions.size(value)


def _order(graph: Graph, n: Size, name: str | None) -> Any:
    return build("sort", (random_bits(graph, (n,), UINT64, name, None),), dict(_ASCENDING))[1]


def _weights(graph: Graph, p: Operand, n: Size, name: str | None) -> Any:
    """Weights as a vector of n float64.  Raises ArgumentError, ShapeError."""
    if not isinstance(p, Handle):
        known = as_array(p)
        # Not < 0, for NaN.
        if known.dtype.kind in "biuf" and not ((known >= 0).all() and 0 < known.sum() < np.inf):
            raise ArgumentError(
                "p are no weights",
                expected="numbers from 0 on, not all of them 0",
                found=f"{known.tolist()!r:.80}",
            )
    given = parameter(graph, p, FLOAT64)
    if given.ndim != 1 or (given.shape[0] != n and isinstance(given.shape[0], int)):
        raise ShapeError(
            "p does not fit", expected=f"a vector of {n} weights", found=given.describe()
        )
    total = build("sum", (given,), dict(_WHOLE))
    right = build("logical_and", (given >= 0, (total > 0) & (total < np.inf)))
    fitted = build("broadcast_to", (given,), {"shape": (n,)})
    message = "random.choice: p are no weights from 0 on, or all of them are 0"
    return build("check", (right, fitted), {"message": message}, label=part(name, "p"))


def _with_replacement(
    graph: Graph, size: tuple[Size, ...], n: Size, weights: Any, name: str | None
) -> Any:
    if weights is None:
        return _below(graph, size, n, name)
    heights = build("cumulative_sum", (weights,), {"axis": 0, "reverse": False})
    u = between_0_and_1(graph, size, name)
    # On the right of equals: a weight of 0 is an interval without a point.
    return build("searchsorted", (heights / heights[-1], u), {"right": True})


def _below(graph: Graph, size: tuple[Size, ...], n: Size, name: str | None) -> Any:
    """Positions before n, equally likely but for 2**-64 of n.  Raises ArgumentError."""
    if isinstance(n, Dim):
        count = sizes.value(graph, n, INT64)
        message = "random.choice: nothing to choose from"
        some = build("check", (count > 0, count), {"message": message}, label=part(name, "count"))
        end = some.astype(UINT64)
    elif n == 0 and product(size) != 0:
        raise ArgumentError("nothing to choose from", expected="an element or more", found="none")
    else:
        end = max(n, 1)
    return (random_bits(graph, size, UINT64, name, None) % end).astype(INT64)


def _without(graph: Graph, size: tuple[Size, ...], n: Size, weights: Any, name: str | None) -> Any:
    k = product(size)
    if isinstance(k, int) and isinstance(n, int) and k > n:
        raise ArgumentError("more than there is", expected=f"at most {n} elements", found=f"{k}")
    if weights is None:
        order = _order(graph, n, name)
    else:
        # The largest of log p with Gumbel's noise, in turn (Yellott 1977).
        scores = build("log", (weights,)) + standard_gumbel(graph, (n,), name)
        order = build("sort", (scores,), {"axis": 0, "descending": True})[1]
        some = build("sum", ((weights > 0).astype(INT64),), dict(_WHOLE))
        wanted = sizes.value(graph, k, INT64) if isinstance(k, Dim) else k
        message = "random.choice: fewer elements have a weight than are chosen"
        right = some >= wanted
        order = build("check", (right, order), {"message": message}, label=part(name, "order"))
    return build("reshape", (order[:k],), {"shape": size})
