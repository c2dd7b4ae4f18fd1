"""Sums, extrema and statistics along axes.

axis is an int, several, or None for all; keepdims leaves reduced axes with size 1.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import UsageError
from staticad_schema.handle import floating
from staticad_schema.shapes import normalize_axis
from staticad_schema.sites import asking
from staticad_schema.types import BOOL, FLOAT32, REAL_OF, WIDENED, DType

from .. import dimensions, methods
from ..building import build
from ..dimensions import Axis
from ..numbers import is_real
from ..operands import Operand, result, tensor
from ..tensor import Tensor

__all__ = ["all", "any", "argmax", "argmin", "logsumexp", "max", "mean", "min", "prod", "std"]
__all__ += ["sum", "var"]


def sum(
    x: Operand,
    /,
    *,
    axis: Axis = None,
    dtype: Any = None,
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
    *,
    axis: Axis = None,
    dtype: Any = None,
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
    x: Operand, /, *, axis: Axis = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: Axis = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: Axis = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: Axis = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: Axis = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: int | None = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: int | None = None, keepdims: bool = False, name: str | None = None
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
    x: Operand, /, *, axis: Axis = None, keepdims: bool = False, name: str | None = None
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


def var(
    x: Operand,
    /,
    *,
    axis: Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean squared distance from the mean, over n - correction; float32 for integers.

    x: numbers or bools; of complex numbers the result is real.  axis, keepdims: as in `sum`.
    correction: 0 for the variance of these numbers, 1 for an estimate from a sample.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.var([1.0, 2.0, 3.0], correction=1)
    >>> sad.Session(graph).run(y)
    array(1., dtype=float32)
    """
    with asking("var", name):
        (value,) = floating(tensor("var", x))
        operands = _spread(value, axis, correction, keepdims)
        dtype = _real(value.type.dtype)
        if operands[0].type.dtype == dtype:
            return result(build("divide", operands, label=name))
        # Only the variance is rounded to a half float, not what it is computed from.
        return result(methods.cast(build("divide", operands), dtype, name))


def std(
    x: Operand,
    /,
    *,
    axis: Axis = None,
    correction: float = 0.0,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The square root of `var`; where that is 0, the gradient is 0.

    x, axis, correction, keepdims: as in `var`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.std([1.0, 5.0])
    >>> sad.Session(graph).run(y)
    array(2., dtype=float32)
    """
    with asking("std", name):
        (value,) = floating(tensor("std", x))
        variance = build("divide", _spread(value, axis, correction, keepdims))
        # sqrt's slope at 0 is infinite: of equal elements the root of 1 is taken, then dropped.
        flat = build("equal", (variance, 0))
        root = build("sqrt", (build("where", (flat, variance.coerce(1), variance)),))
        deviation = build("where", (flat, variance.coerce(0), root))
        return result(methods.cast(deviation, _real(value.type.dtype), name))


def _real(dtype: DType) -> DType:
    """The dtype of the real part of an inexact dtype."""
    return REAL_OF.get(dtype, dtype)


def _spread(x: Any, axis: Axis, correction: float, keepdims: bool) -> tuple[Any, Any]:
    """The sum of the squared distances from the mean, and what a variance divides it by.

    Both in float32 for half floats.
    """
    if not is_real(correction):
        raise UsageError("not a correction", expected="a number", found=f"{correction!r:.80}")
    wide = x.astype(FLOAT32) if x.type.dtype in WIDENED else x
    axes = dimensions.axes_of(axis, x.type.ndim)
    distance = wide - methods.mean(wide, axes, True)
    if x.type.kind == "complex":
        real, imaginary = build("real", (distance,)), build("imag", (distance,))
        square = build("square", (real,)) + build("square", (imaginary,))
    else:
        square = build("square", (distance,))
    total = build("sum", (square,), {"axis": axes, "keepdims": bool(keepdims)})
    length = methods.count(wide, axes, total.type.dtype)
    if correction:
        # Over too few elements: 0/0 or x/0, as the standard leaves open.
        length = build("maximum", (length - float(correction), length.coerce(0)))
    return total, length


def _located(op: str, x: Operand, axis: int | None, keepdims: bool, label: str | None) -> Tensor:
    value = tensor(op, x)
    if axis is not None:
        place = normalize_axis(dimensions.integer(axis), value.ndim)
        return result(build(op, (value,), {"axis": place, "keepdims": bool(keepdims)}, label=label))
    flat = methods.reshape(value, (-1,)) if value.ndim else methods.reshape(value, (1,))
    if keepdims:
        found = build(op, (flat,), {"axis": 0, "keepdims": False})
        return result(methods.reshape(found, (1,) * value.ndim, label))
    return result(build(op, (flat,), {"axis": 0, "keepdims": False}, label=label))
