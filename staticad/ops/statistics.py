"""Spread and correlation: of elements around their mean, of variables with each other."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ShapeError
from staticad_schema.handle import floating
from staticad_schema.shapes import same_shape
from staticad_schema.sites import asking
from staticad_schema.types import REAL, REAL_OF, DType

from .. import dimensions, methods
from ..building import build
from ..dimensions import Axis
from ..operands import Operand, result, tensor, tensors
from ..options import flag, number
from ..tensor import Tensor


def var(
    x: Operand,
    /,
    axis: Axis = None,
    *,
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
        value, wide, axes = inexact("var", x, axis)
        distance = wide - methods.mean(wide, axes, True)
        count = methods.count(wide, axes, real_dtype(wide.type.dtype))
        size = variance(distance, count, axes, correction, keepdims)
        return rounded("divide", size, real_dtype(value.type.dtype), name)


def std(
    x: Operand,
    /,
    axis: Axis = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The square root of `var`; where that is 0, its first and second derivatives are 0.

    x, axis, correction, keepdims: as in `var`.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.std([1.0, 5.0])
    >>> sad.Session(graph).run(y)
    array(2., dtype=float32)
    """
    with asking("std", name):
        value, wide, axes = inexact("std", x, axis)
        # The mean of what rounding has left: of equal elements the distance is then exactly 0.
        near = build("stop_gradient", (methods.mean(wide, axes, True),))
        distance = wide - (near + methods.mean(wide - near, axes, True))
        count = methods.count(wide, axes, real_dtype(wide.type.dtype))
        size = deviation(distance, count, axes, correction, keepdims)
        return rounded("divide", size, real_dtype(value.type.dtype), name)


def inexact(asked: str, x: Operand, axis: Axis) -> tuple[Any, Any, tuple[int, ...]]:
    """(x as floats or complex numbers, the same in the dtype that computes, its axes)."""
    (value,) = floating(tensor(asked, x))
    return value, methods.widened(value), dimensions.axes_of(axis, value.type.ndim)


def variance(
    distance: Any, count: Any, axes: tuple[int, ...], correction: float, keepdims: bool
) -> tuple[Any, Any]:
    """Numerator and denominator of a variance, from so many distances from the mean."""
    over = {"axis": axes, "keepdims": flag("keepdims", keepdims)}
    return build("sum", (squared(distance),), over), corrected(count, correction)


def deviation(
    distance: Any, count: Any, axes: tuple[int, ...], correction: float, keepdims: bool
) -> tuple[Any, Any]:
    """Numerator and denominator of its root."""
    over = {"axis": axes, "keepdims": flag("keepdims", keepdims)}
    return build("norm", (distance,), over), build("sqrt", (corrected(count, correction),))


def rounded(op: str, operands: tuple[Any, ...], dtype: DType, name: str | None) -> Tensor:
    """The named op, its result of a dtype."""
    if operands[0].type.dtype == dtype:
        return result(build(op, operands, label=name))
    return result(methods.cast(build(op, operands), dtype, name))


def real_dtype(dtype: DType) -> DType:
    """The dtype of the real part of an inexact dtype."""
    return REAL_OF.get(dtype, dtype)


def squared(x: Any) -> Any:
    """The squares of absolute values."""
    if x.type.kind != "complex":
        return build("square", (x,))
    real, imaginary = build("real", (x,)), build("imag", (x,))
    return build("square", (real,)) + build("square", (imaginary,))


def corrected(count: Any, correction: float) -> Any:
    """What a sum of squares of that many elements is divided by.  Raises UsageError."""
    less = number("correction", correction)
    if not less:
        return count
    # Over too few elements: 0/0 or x/0, as the standard leaves open.
    return build("maximum", (count - less, count.coerce(0)))


def average(
    x: Operand,
    /,
    axis: Axis = None,
    weights: Operand | None = None,
    *,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean with weights: sum(weights * x) / sum(weights); the plain mean without.

    weights: of the shape of x, or a vector for the one axis that is averaged.  axis, keepdims: as
    in `sum`.  Weights that sum to 0 give inf or NaN.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.average([1.0, 2.0, 4.0], weights=[1, 1, 2])
    >>> sad.Session(graph).run(y)
    array(2.75, dtype=float32)
    """
    with asking("average", name):
        if weights is None:
            return result(methods.mean(tensor("average", x), axis, keepdims, name))
        value, given = floating(*tensors("average", x, weights))
        axes = dimensions.axes_of(axis, value.type.ndim)
        if given.type.ndim == 1 and value.type.ndim > 1 and len(axes) == 1:
            if dims.same_size(given.type.shape[0], value.type.shape[axes[0]]) is False:
                raise ShapeError(
                    "not a weight for each element",
                    expected=f"{value.type.shape[axes[0]]} weights",
                    found=given.describe(),
                )
            shape = (-1, *(1,) * (value.type.ndim - axes[0] - 1))
            given = methods.reshape(given, shape)
        elif same_shape(given.type.shape, value.type.shape) is False:
            raise ShapeError(
                "weights of another shape",
                expected=f"the shape of {value.describe()}, or a vector along one axis",
                found=given.describe(),
            )
        wide, weight = methods.widened(value), methods.widened(given)
        weight = build("broadcast_to", (weight,), {"shape": wide.type.shape})
        over = {"axis": axes, "keepdims": flag("keepdims", keepdims)}
        sums = build("sum", (wide * weight,), over), build("sum", (weight,), over)
        return rounded("divide", sums, value.type.dtype, name)


def cov(
    x: Operand,
    y: Operand | None = None,
    /,
    rowvar: bool = True,
    *,
    correction: float = 1.0,
    fweights: Operand | None = None,
    aweights: Operand | None = None,
    name: str | None = None,
) -> Tensor:
    """The covariances of variables, a matrix: of each two, the mean product of their distances
    from their means.

    x: a matrix with a row for each variable, a column for each observation (rowvar=False: the
    other way round), or a vector, one variable, whose covariance is a scalar; that of a matrix of
    one row is a matrix, too, for its number may be found by the run.  y: more of them.
    correction: what the number of observations is diminished by.  fweights: how often each
    observation counts; aweights: how much.  As `numpy.cov`, with correction for ddof.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    >>> sad.Session(graph).run(y)
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    with asking("cov", name):
        value, rows = _variables("cov", x, y, rowvar)
        weight, own = _weights(value, rows, fweights, aweights)
        if weight is None:
            distance = weighted = rows - methods.mean(rows, 1, True)
            total = methods.count(rows, (1,), real_dtype(rows.type.dtype))
        else:
            total, whole = _over_observations(weight), weight.astype(rows.type.dtype)
            center = _over_observations(rows * whole, True) / total.astype(rows.type.dtype)
            distance = rows - center
            weighted = distance * whole
        if own is None:
            total = corrected(total, correction)
        else:
            # Weights that are no counts take their part of the correction, as NumPy has it.
            share = _over_observations(weight * own) / total
            total = corrected(total / share, correction) * share
        products = build("matmul", (distance, _adjoint(weighted)))
        matrix = products / total.astype(products.type.dtype)
        return _squeezed(matrix, value.type.dtype, y is None and value.type.ndim == 1, name)


def corrcoef(
    x: Operand, y: Operand | None = None, /, rowvar: bool = True, *, name: str | None = None
) -> Tensor:
    """The correlations of variables: their covariances over the products of their deviations.

    x, y, rowvar: as in `cov`; of one variable the result is 1, of a constant one NaN, and so of
    no observations.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    >>> sad.Session(graph).run(y).round(3)
    array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    with asking("corrcoef", name):
        value, rows = _variables("corrcoef", x, y, rowvar)
        distance = rows - methods.mean(rows, 1, True)
        length = build("norm", (distance,), {"axis": (1,), "keepdims": True})
        unit = distance / length.astype(distance.type.dtype)
        matrix = build("matmul", (unit, _adjoint(unit)))
        observations = rows.type.shape[1]
        if not isinstance(observations, int) or observations == 0:
            total = methods.count(rows, (1,), real_dtype(rows.type.dtype))
            some = build("greater", (total, 0))
            matrix = build("where", (some, matrix, matrix.coerce(math.nan)))
        return _squeezed(matrix, value.type.dtype, y is None and value.type.ndim == 1, name)


def _variables(asked: str, x: Operand, y: Operand | None, rowvar: bool) -> tuple[Any, Any]:
    """The operand, and a matrix of a row a variable, in which to compute."""
    values = floating(*tensors(asked, x, *(() if y is None else (y,))))
    parts = []
    for value in values:
        if value.type.ndim not in (1, 2):
            raise ShapeError("not observations", expected="rank 1 or 2", found=value.describe())
        wide = methods.widened(value)
        if value.type.ndim == 1:
            wide = methods.reshape(wide, (1, *wide.type.shape))
        elif not flag("rowvar", rowvar):
            wide = methods.matrix_transpose(wide)
        parts.append(wide)
    return values[0], parts[0] if len(parts) == 1 else build("concat", parts, {"axis": 0})


def _weights(x: Any, rows: Any, *given: Operand | None) -> tuple[Any, Any]:
    """The product of the weights, and the last of them; None for what is not given."""
    found: list[Any] = []
    for weights in given:
        if weights is None:
            found.append(None)
            continue
        weight = tensor("cov", weights, x.graph)
        shape = rows.type.shape[1:]
        if weight.type.kind not in REAL or same_shape(weight.type.shape, shape) is False:
            raise ShapeError(
                "not a weight for each observation",
                expected=f"{shape[0]} real numbers",
                found=weight.describe(),
            )
        found.append(weight.astype(real_dtype(rows.type.dtype)))
    often, much = found
    if often is None or much is None:
        return (much if often is None else often), much
    return often * much, much


def _over_observations(x: Any, keepdims: bool = False) -> Any:
    return build("sum", (x,), {"axis": (x.type.ndim - 1,), "keepdims": keepdims})


def _adjoint(x: Any) -> Any:
    turned = methods.matrix_transpose(x)
    return build("conj", (turned,)) if x.type.kind == "complex" else turned


def _squeezed(matrix: Any, dtype: DType, single: bool, name: str | None) -> Tensor:
    """The matrix in a dtype; of a single vector, its only element."""
    kept = methods.reshape(matrix, ()) if single else matrix
    return result(methods.cast(kept, dtype, name))
