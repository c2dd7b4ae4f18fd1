"""Activations with corners: elementwise functions that are lines, joined.

The derivative at a corner is that of the flat side.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ArgumentError, ShapeError
from staticad_schema.handle import Handle
from staticad_schema.shapes import same_shape
from staticad_schema.sites import asking

from .. import dimensions, random
from ..building import build, part, renamed
from ..finding import expected
from ..operands import Operand, graph_of, result, tensor
from ..options import number
from ..tensor import Tensor
from .floats import computed, float_tensor, floats
from .training import chosen, switch

__all__ = ["hard_shrink", "hard_sigmoid", "hard_swish", "hard_tanh", "leaky_relu", "prelu", "relu"]
__all__ += ["relu6", "rrelu", "shrink", "soft_shrink", "threshold"]


def relu(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x where it is above 0, else 0; NaN stays NaN.  The derivative at 0 is 0.

    x: integers or floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.relu([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y)
    array([0., 0., 2.], dtype=float32)
    """
    with asking("relu", name):
        return result(build("relu", (tensor("relu", x),), label=name))


def relu6(x: Operand, /, *, name: str | None = None) -> Tensor:
    """relu, but not above 6.  The derivative at 0 and at 6 is 0.

    x: integers or floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.relu6([-1.0, 2.0, 8.0])
    >>> sad.Session(graph).run(y)
    array([0., 2., 6.], dtype=float32)
    """
    with asking("relu6", name):
        positive = build("relu", (tensor("relu6", x),))
        six = positive.coerce(6)
        top = build("greater_equal", (positive, six))
        return result(build("where", (top, six, positive), label=name))


def hard_tanh(
    x: Operand, /, min: float = -1.0, max: float = 1.0, *, name: str | None = None
) -> Tensor:
    """x between `min` and `max`, which are the value beyond; the derivative at both is 0.

    x: integers or floats.  Returns a tensor of its shape and dtype.  `sad.clip` is the same but
    for the derivative at its ends.  Raises ArgumentError for a min that is not below max.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.hard_tanh([-2.0, 0.5, 1.0])
    >>> sad.Session(graph).run(y)
    array([-1. ,  0.5,  1. ], dtype=float32)
    """
    with asking("hard_tanh", name):
        low, high = number("min", min, finite=False), number("max", max, finite=False)
        if not low < high:
            raise ArgumentError(
                "the ends are out of order", expected="min below max", found=f"{min!r}, {max!r}"
            )
        value = tensor("hard_tanh", x)
        bottom, top = value.coerce(min), value.coerce(max)
        upper = build("where", (value >= top, top, value))
        return result(build("where", (value <= bottom, bottom, upper), label=name))


def hard_sigmoid(x: Operand, /, *, name: str | None = None) -> Tensor:
    """(x + 3) / 6 from -3 to 3, beyond them 0 and 1; the derivative at both is 0.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.hard_sigmoid([-3.0, 0.0, 3.0])
    >>> sad.Session(graph).run(y)
    array([0. , 0.5, 1. ], dtype=float32)
    """
    with asking("hard_sigmoid", name):
        return computed(_hard_sigmoid, float_tensor("hard_sigmoid", x), label=name)


def _hard_sigmoid(x: Any) -> Any:
    inside = build("less", (build("abs", (x,)), x.coerce(3.0)))
    # Flat also at NaN, which sign keeps.
    outside = (build("sign", (x,)) + 1.0) * 0.5
    return build("where", (inside, (x + 3.0) / 6.0, outside))


def hard_swish(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x times hard_sigmoid(x) (Howard et al. 2019); the derivative at -3 is 0, at 3 it is 1.

    x: floats.  Returns a tensor of its shape and dtype.  At -inf it is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.hard_swish([-3.0, 1.5, 3.0])
    >>> sad.Session(graph).run(y)
    array([0.   , 1.125, 3.   ], dtype=float32)
    """

    def joined(v: Any) -> Any:
        inner = build("where", (v >= 3.0, v, v * (v + 3.0) / 6.0))
        return build("where", (v <= -3.0, v.coerce(0.0), inner))

    with asking("hard_swish", name):
        return computed(joined, float_tensor("hard_swish", x), label=name)


def leaky_relu(x: Operand, /, negative_slope: float = 0.01, *, name: str | None = None) -> Tensor:
    """x above 0, else negative_slope times x; the derivative at 0 is negative_slope.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.leaky_relu([-1.0, 0.0, 2.0], negative_slope=0.5)
    >>> sad.Session(graph).run(y)
    array([-0.5,  0. ,  2. ], dtype=float32)
    """
    with asking("leaky_relu", name):
        slope = number("negative_slope", negative_slope)
        value = float_tensor("leaky_relu", x)
        if slope == 0:
            # 0 times -inf would be NaN.
            return result(build("relu", (value,), label=name))
        return computed(lambda v: _leaky(v, v.coerce(slope)), value, label=name)


def _leaky(x: Any, slope: Any) -> Any:
    return build("where", (x > 0, x, x * slope))


def prelu(x: Operand, slope: Operand, /, *, axis: int = 1, name: str | None = None) -> Tensor:
    """leaky_relu with slopes that are learned (He et al. 2015).

    x: floats.  slope: a scalar, one for each element along `axis`, or a tensor that broadcasts to
    x.  Its gradient is x where x is at most 0.  Raises ShapeError for one that does not fit.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.prelu([[-1.0, -1.0], [1.0, -2.0]], [0.5, 0.25])
    >>> sad.Session(graph).run(y)
    array([[-0.5 , -0.25],
           [ 1.  , -0.5 ]], dtype=float32)
    """
    with asking("prelu", name):
        value, factor = floats("prelu", x, slope)
        if factor.ndim == 1 and factor.shape != (1,):
            place = dimensions.axis_of(axis, value.ndim)
            shape = (factor.shape[0],) + (1,) * (value.ndim - place - 1)
            factor = result(build("reshape", (factor,), {"shape": shape}))
        y = computed(_leaky, value, factor, label=None)
        if same_shape(y.shape, value.shape) is False:
            raise ShapeError(
                "the slope has more axes than x, or more elements",
                expected=f"a shape that broadcasts to {value.type}",
                found=factor.describe(),
            )
        return result(renamed(expected(y, value.shape), name))


def rrelu(
    x: Operand,
    /,
    training: bool | Handle = True,
    *,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    name: str | None = None,
) -> Tensor:
    """leaky_relu with slopes drawn between `lower` and `upper` (Xu et al. 2015).

    x: floats.  training: a bool, or a bool tensor of one element; without it the slope is the
    mean of both.  The graph's seed decides what is drawn.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.nn.rrelu([-8.0, 2.0], lower=0.25, upper=0.5)
    >>> value = sad.Session(graph).run(y)
    >>> bool(-4 <= value[0] <= -2), float(value[1])
    (True, 2.0)
    """
    with asking("rrelu", name):
        low, high = number("lower", lower), number("upper", upper)
        if not low <= high:
            raise ArgumentError(
                "the slopes are out of order",
                expected="lower at most upper",
                found=f"{lower!r}, {upper!r}",
            )
        value = float_tensor("rrelu", x)
        on = switch("rrelu", training, value.graph)
        mean = value.coerce((low + high) / 2)
        if on is False:
            return computed(_leaky, value, mean, label=name)
        with graph_of("rrelu", value):
            label = part(name, "slopes")
            drawn = random.uniform(value.shape, low, high, dtype=value.dtype, name=label)
        return computed(_leaky, value, chosen(on, drawn, mean), label=name)


def threshold(x: Operand, /, threshold: float, value: float, *, name: str | None = None) -> Tensor:
    """x where it is above the threshold, else the value; NaN stays NaN.

    x: integers or floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.threshold([0.0, 1.0, 2.0], 1.0, -5.0)
    >>> sad.Session(graph).run(y)
    array([-5., -5.,  2.], dtype=float32)
    """
    with asking("threshold", name):
        number("threshold", threshold)
        number("value", value)
        given = tensor("threshold", x)
        low = given <= given.coerce(threshold)
        return result(build("where", (low, given.coerce(value), given), label=name))


def shrink(
    x: Operand, /, *, threshold: float = 0.5, bias: float = 0.0, name: str | None = None
) -> Tensor:
    """0 where abs(x) is at most the threshold, else x moved by `bias` towards 0.

    x: floats.  Returns a tensor of its shape and dtype; NaN stays NaN.  threshold: at least 0.
    hard_shrink has no bias, soft_shrink as much of it as its threshold is.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.shrink([-2.0, 0.5, 1.0], threshold=0.5, bias=0.25)
    >>> sad.Session(graph).run(y)
    array([-1.75,  0.  ,  0.75], dtype=float32)
    """
    with asking("shrink", name):
        return _shrunk("shrink", x, threshold, bias, name)


def hard_shrink(x: Operand, /, threshold: float = 0.5, *, name: str | None = None) -> Tensor:
    """0 where abs(x) is at most the threshold, else x.

    x: floats.  Returns a tensor of its shape and dtype.  threshold: at least 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.hard_shrink([-2.0, 0.5, 1.0])
    >>> sad.Session(graph).run(y)
    array([-2.,  0.,  1.], dtype=float32)
    """
    with asking("hard_shrink", name):
        return _shrunk("hard_shrink", x, threshold, 0.0, name)


def soft_shrink(x: Operand, /, threshold: float = 0.5, *, name: str | None = None) -> Tensor:
    """0 where abs(x) is at most the threshold, else x moved by the threshold towards 0.

    x: floats.  Returns a tensor of its shape and dtype.  threshold: at least 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.soft_shrink([-2.0, 0.5, 1.0])
    >>> sad.Session(graph).run(y)
    array([-1.5,  0. ,  0.5], dtype=float32)
    """
    with asking("soft_shrink", name):
        return _shrunk("soft_shrink", x, threshold, threshold, name)


def _shrunk(asked: str, x: Operand, threshold: float, bias: float, name: str | None) -> Tensor:
    limit, move = number("threshold", threshold, least=0), number("bias", bias)

    def joined(v: Any) -> Any:
        flat = build("less_equal", (build("abs", (v,)), v.coerce(limit)))
        moved = v - build("sign", (v,)) * move if move else v
        return build("where", (flat, v.coerce(0.0), moved))

    return computed(joined, float_tensor(asked, x), label=name)
