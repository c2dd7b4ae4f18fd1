"""Normalisation: features brought to a common scale, over the batch or within each example.

gain and bias are tensors, such as variables; None leaves them out.  Half floats compute their
statistics in float32.
"""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.shapes import same_shape, shape_text
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..dimensions import Axis
from ..finding import expected
from ..linalg.norms import p_norm
from ..operands import Operand, result
from ..options import number
from ..tensor import Tensor
from .floats import float_tensor, floats, widened

__all__ = ["group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm", "weight_norm"]


def layer_norm(
    x: Operand,
    gain: Operand | None = None,
    bias: Operand | None = None,
    *,
    axis: Axis = -1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """x with mean 0 and variance 1 along `axis`, times gain plus bias (Ba et al. 2016).

    x: floats.  gain, bias: tensors, such as variables, that broadcast to x; None leaves them out.
    epsilon is added to the variance; where it is 0 and x constant, the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     gain = sad.variable(sad.ones(2), name="gain")
    ...     y = sad.nn.layer_norm([[1.0, 3.0], [10.0, 30.0]], gain, epsilon=0.0)
    >>> sad.Session(graph).run(y)
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)
    """
    with asking("layer_norm", name):
        value, scale, shift = operands("layer_norm", x, gain, bias)
        y = normalized(value, dimensions.axes_of(axis, value.ndim), epsilon)
        return result(renamed(fitted(scaled(y, scale, shift), value), name))


def rms_norm(
    x: Operand,
    gain: Operand | None = None,
    bias: Operand | None = None,
    *,
    axis: Axis = -1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """x over the root of its mean square along `axis`, times gain plus bias (Zhang 2019).

    x: floats.  gain, bias: tensors that broadcast to x; None leaves them out.
    epsilon is added to the mean square, which may leave the range of the dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.rms_norm([[3.0, 3.0, -3.0, 3.0]], epsilon=0.0)
    >>> sad.Session(graph).run(y)
    array([[ 1.,  1., -1.,  1.]], dtype=float32)
    """
    with asking("rms_norm", name):
        value, scale, shift = operands("rms_norm", x, gain, bias)
        y = normalized(value, dimensions.axes_of(axis, value.ndim), epsilon, center=False)
        return result(renamed(fitted(scaled(y, scale, shift), value), name))


def group_norm(
    x: Operand,
    groups: int,
    gain: Operand | None = None,
    bias: Operand | None = None,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """Each example's features in groups of mean 0 and variance 1 (Wu and He 2018).

    x: floats, examples along its first axis, features along `axis`; a group is `groups`-th part of
    the features with everything along the other axes.
    gain, bias: one number for each feature, or tensors that broadcast to x.
    Raises ShapeError where the features do not divide into so many groups.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.group_norm([[1.0, 3.0, 10.0, 30.0]], 2, epsilon=0.0)
    >>> sad.Session(graph).run(y)
    array([[-1.,  1., -1.,  1.]], dtype=float32)
    """
    with asking("group_norm", name):
        value, scale, shift = operands("group_norm", x, gain, bias)
        place = features_axis(value, axis)
        count = dimensions.integer(groups)
        features = value.shape[place]
        parts = dims.divide_exactly(features, count) if count > 0 else None
        if parts is None:
            raise ShapeError(
                "the features do not divide into so many groups",
                expected=f"a divisor of {features}, the size of axis {place}",
                found=str(groups),
            )
        shape = (*value.shape[:place], count, parts, *value.shape[place + 1 :])
        split = build("reshape", (value,), {"shape": shape})
        axes = tuple(a for a in range(1, len(shape)) if a != place)
        joined = build("reshape", (normalized(split, axes, epsilon),), {"shape": value.shape})
        y = scaled(joined, along(scale, place, value), along(shift, place, value))
        return result(renamed(fitted(y, value), name))


def instance_norm(
    x: Operand,
    gain: Operand | None = None,
    bias: Operand | None = None,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """Each feature of each example with mean 0 and variance 1 over the other axes (Ulyanov 2016).

    x: floats, examples along its first axis, features along `axis`, and at least one axis more.
    gain, bias: one number for each feature, or tensors that broadcast to x.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.instance_norm([[[1.0, 3.0], [10.0, 30.0]]], epsilon=0.0)
    >>> sad.Session(graph).run(y)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """
    with asking("instance_norm", name):
        value, scale, shift = operands("instance_norm", x, gain, bias)
        place = features_axis(value, axis)
        axes = tuple(a for a in range(1, value.ndim) if a != place)
        if not axes:
            raise ShapeError(
                "there is nothing to normalise over",
                expected="an axis beside those of examples and features",
                found=value.describe(),
            )
        y = normalized(value, axes, epsilon)
        y = scaled(y, along(scale, place, value), along(shift, place, value))
        return result(renamed(fitted(y, value), name))


def normalize(
    x: Operand,
    /,
    p: float = 2.0,
    axis: Axis = -1,
    *,
    epsilon: float = 1e-12,
    name: str | None = None,
) -> Tensor:
    """x over its p-norm along `axis`, or over epsilon where that is larger.

    x: floats.  p: at least 1, or infinity.  Where x is 0 so is the result, with gradient
    1 / epsilon.  The squares of p = 2 leave no range.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.normalize([[3.0, 4.0], [0.0, 0.0]])
    >>> sad.Session(graph).run(y)
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    with asking("normalize", name):
        value = float_tensor("normalize", x)
        axes = dimensions.axes_of(axis, value.ndim)
        small = number("epsilon", epsilon, least=0)
        order = number("p", p, least=1, finite=False)
        (wide,) = widened(value)
        length = build("maximum", (p_norm(wide, order, axes, True), wide.coerce(small)))
        return result(methods.cast(build("divide", (wide, length)), value.dtype, name))


def weight_norm(
    weights: Operand, gain: Operand, /, *, axis: Axis = 0, name: str | None = None
) -> Tensor:
    """gain times weights over their norm along `axis` (Salimans and Kingma 2016).

    weights: floats.  gain: a tensor that broadcasts to the weights.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.nn.weight_norm([[3.0, 0.0], [4.0, 2.0]], [10.0, 1.0])
    >>> sad.Session(graph).run(w)
    array([[6., 0.],
           [8., 1.]], dtype=float32)
    """
    with asking("weight_norm", name):
        value, scale = floats("weight_norm", weights, gain)
        axes = dimensions.axes_of(axis, value.ndim)
        length = build("norm", (value,), {"axis": axes, "keepdims": True})
        return result(renamed(fitted(value / length * scale, value), name))


# ------------------------------------------------------------------ parts


def normalized(x: Any, axes: tuple[int, ...], epsilon: float, center: bool = True) -> Any:
    """x with mean 0 and variance 1 along axes; without center with a mean square of 1."""
    attributes = {"axis": axes, "epsilon": number("epsilon", epsilon, least=0), "center": center}
    return build("normalize", (x,), attributes)[0]


def scaled(x: Any, gain: Any, bias: Any) -> Any:
    """x times gain plus bias, of which either may be None."""
    x = x if gain is None else x * gain
    return x if bias is None else x + bias


def features_axis(x: Tensor, axis: int) -> int:
    """The axis of features, which is not the first, that of examples."""
    place = dimensions.axis_of(axis, x.ndim)
    if place == 0:
        raise ArgumentError(
            "the first axis counts examples",
            expected=f"an axis of features, 1 to {x.ndim - 1}",
            found=str(axis),
        )
    return place


def along(x: Any, axis: int, like: Tensor) -> Any:
    """A vector laid along an axis of `like`; anything else as it is."""
    if x is None or x.type.ndim != 1:
        return x
    size = x.type.shape[0]
    if dims.same_size(size, like.shape[axis]) is False and size != 1:
        raise ShapeError(
            "not one number for each feature",
            expected=f"a vector of {like.shape[axis]}, or a shape that broadcasts to {like.type}",
            found=x.describe(),
        )
    shape = (size,) + (1,) * (like.ndim - axis - 1)
    return build("reshape", (x,), {"shape": shape})


def operands(asked: str, x: Operand, gain: Any, bias: Any) -> tuple[Tensor, Any, Any]:
    """x, gain and bias in one dtype; None stays."""
    given = [v for v in (gain, bias) if v is not None]
    value, *others = floats(asked, x, *given)
    scale = others.pop(0) if gain is not None else None
    return value, scale, others.pop(0) if bias is not None else None


def fitted(y: Any, x: Tensor) -> Any:
    """y, which what it was scaled and shifted by must not have made larger than x."""
    check_fits(y.type.shape, x)
    return expected(y, x.shape)


def check_fits(shape: dims.Shape, x: Tensor) -> None:
    """Raises ShapeError for the shape of a result that is larger than x."""
    if same_shape(shape, x.shape) is False:
        raise ShapeError(
            "gain, bias or statistics are larger than x",
            expected=f"shapes that broadcast to {shape_text(x.shape)}",
            found=shape_text(shape),
        )
