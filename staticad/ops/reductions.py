"""Sums, extrema and places along axes.

axis is an int, several, or None for all; keepdims leaves reduced axes with size 1.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking
from staticad_schema.types import BOOL

from .. import dimensions, methods
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result, tensor
from ..options import flag
from ..tensor import Tensor

__all__ = ["all", "any", "argmax", "argmin", "count_nonzero", "logsumexp", "max", "mean", "min"]
__all__ += ["prod", "ptp", "sum"]


def sum(
    x: Operand,
    /,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum, in `dtype`; small integers and bools are summed in 64 bits.  Of nothing: 0.

    x: numbers or bools.  axis: an int, several, or None for all; keepdims leaves them with size 1.
    Returns a tensor of x's dtype unless told.  Raises ShapeError for an axis that x does not have.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    >>> sad.Session(graph).run(y)
    array([4., 6.], dtype=float32)
    """
    with asking("sum", name):
        return result(methods.reduce("sum", tensor("sum", x), axis, keepdims, name, dtype))


def prod(
    x: Operand,
    /,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product, in `dtype`; small integers and bools in 64 bits.  Of nothing: 1.

    x, axis, keepdims, errors: as in `sum`.  The gradient is exact where elements are 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.prod([[1.0, 2.0], [3.0, 4.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([ 2., 12.], dtype=float32)
    """
    with asking("prod", name):
        return result(methods.reduce("prod", tensor("prod", x), axis, keepdims, name, dtype))


def max(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The largest element; NaN if there is one.  The gradient is shared among ties.

    x: integers or floats.  axis, keepdims: as in `sum`.  Returns a tensor of x's dtype.
    Raises ShapeError for an axis that x does not have, or along which it is empty.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.max([[1, 5], [4, 2]], axis=1)
    >>> sad.Session(graph).run(y)
    array([5, 4])
    """
    with asking("max", name):
        return result(methods.reduce("max", tensor("max", x), axis, keepdims, name))


def min(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The smallest element; NaN if there is one.  The gradient is shared among ties.

    x, axis, keepdims, errors: as in `max`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.min([[1, 5], [4, 2]], axis=1, keepdims=True)
    >>> sad.Session(graph).run(y)
    array([[1],
           [2]])
    """
    with asking("min", name):
        return result(methods.reduce("min", tensor("min", x), axis, keepdims, name))


def any(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Whether some element is true, or not 0.

    x: any dtype.  axis, keepdims: as in `sum`.  Returns a tensor of bools; of nothing: False.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.any([[0, 0], [0, 3]], axis=1)
    >>> sad.Session(graph).run(y)
    array([False,  True])
    """
    with asking("any", name):
        value = tensor("any", x).astype(BOOL)
        return result(methods.reduce("any", value, axis, keepdims, name))


def all(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Whether every element is true, or not 0.

    x: any dtype.  axis, keepdims: as in `sum`.  Returns a tensor of bools; of nothing: True.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.all([[1, 2], [0, 3]], axis=1)
    >>> sad.Session(graph).run(y)
    array([ True, False])
    """
    with asking("all", name):
        value = tensor("all", x).astype(BOOL)
        return result(methods.reduce("all", value, axis, keepdims, name))


def logsumexp(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """log(sum(exp(x))) without overflow; of nothing but -inf: -inf, with gradient 0.

    x: floats.  axis, keepdims: as in `sum`.  Returns a tensor of x's dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.logsumexp([1000.0, 1000.0])
    >>> sad.Session(graph).run(y).round(2)
    np.float32(1000.69)
    """
    with asking("logsumexp", name):
        return result(methods.reduce("logsumexp", tensor("logsumexp", x), axis, keepdims, name))


def argmax(
    x: Operand, /, axis: int | None = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """int64 index of the first largest element along `axis`; in the flattened x without one.

    x: integers or floats; NaN counts as largest.  Raises ShapeError along an empty axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.argmax([[1.0, 5.0], [4.0, 2.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([1, 0])
    """
    with asking("argmax", name):
        return _located("argmax", x, axis, keepdims, name)


def argmin(
    x: Operand, /, axis: int | None = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """int64 index of the first smallest element along `axis`; in the flattened x without one.

    x: integers or floats; NaN counts as smallest.  Raises ShapeError along an empty axis.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.argmin([[1.0, 5.0], [4.0, 2.0]])
    >>> sad.Session(graph).run(y)
    array(0)
    """
    with asking("argmin", name):
        return _located("argmin", x, axis, keepdims, name)


def mean(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The arithmetic mean; float32 for integers; of nothing: NaN.

    x: numbers or bools.  axis, keepdims: as in `sum`.  Half floats are summed in float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.mean([[1.0, 2.0], [3.0, 5.0]], axis=0)
    >>> sad.Session(graph).run(y)
    array([2. , 3.5], dtype=float32)
    """
    with asking("mean", name):
        return result(methods.mean(tensor("mean", x), axis, keepdims, name))


def count_nonzero(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """How many elements are not 0, int64; NaN is not 0.

    x: any dtype.  axis, keepdims: as in `sum`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.count_nonzero([[0, 7], [3, 5]], axis=1)
    >>> sad.Session(graph).run(y)
    array([1, 2])
    """
    with asking("count_nonzero", name):
        counted = tensor("count_nonzero", x).astype(BOOL)
        return result(methods.reduce("sum", counted, axis, keepdims, name))


def ptp(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The largest element minus the smallest; small integers wrap, as NumPy's do.

    x, axis, keepdims, errors: as in `max`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.ptp([[4.0, 9.0], [2.0, 10.0]], axis=1)
    >>> sad.Session(graph).run(y)
    array([5., 8.], dtype=float32)
    """
    with asking("ptp", name):
        value = tensor("ptp", x)
        top, low = (methods.reduce(op, value, axis, keepdims) for op in ("max", "min"))
        return result(build("subtract", (top, low), label=name))


def _located(op: str, x: Operand, axis: int | None, keepdims: bool, label: str | None) -> Tensor:
    value = tensor(op, x)
    if axis is not None:
        place = dimensions.axis_of(axis, value.ndim)
        return result(
            build(
                op, (value,), {"axis": place, "keepdims": flag("keepdims", keepdims)}, label=label
            )
        )
    flat = methods.reshape(value, (-1,)) if value.ndim else methods.reshape(value, (1,))
    if flag("keepdims", keepdims):
        found = build(op, (flat,), {"axis": 0, "keepdims": False})
        return result(methods.reshape(found, (1,) * value.ndim, label))
    return result(build(op, (flat,), {"axis": 0, "keepdims": False}, label=label))
