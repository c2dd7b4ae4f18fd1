"""Batch normalisation: each feature with mean 0 and variance 1 over a batch of examples, and
statistics that training leaves behind for use without a batch."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build, renamed
from ..current import scope
from ..graph import Graph
from ..operands import Operand, result, tensor
from ..ops.sources import ones, zeros
from ..options import number
from ..tensor import Tensor
from ..variable import Variable
from .floats import wide_dtype, widened
from .normalization import along, check_fits, fitted, normalized, operands, scaled
from .training import chosen, switch

__all__ = ["batch_norm", "batch_norm_infer"]


def batch_norm(
    x: Operand,
    gain: Operand | None = None,
    bias: Operand | None = None,
    training: bool | Handle = True,
    *,
    mean: Variable | None = None,
    variance: Variable | None = None,
    axis: int = 1,
    momentum: float = 0.1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """(x normalised over all axes but `axis`, updates of the statistics) (Ioffe, Szegedy 2015).

    x: floats, of rank 2 or more, with features of known number along `axis`.
    gain, bias: one number for each feature, or tensors that broadcast to x; None leaves them out.
    training: a bool, or a bool tensor of one element.  If so, mean and variance are those of the
    batch, and the updates move the variables `mean` and `variance` towards them by the share
    `momentum`, the variance of n numbers then counted as an estimate, times n / (n - 1) (of one
    number: 0).  Otherwise the variables are used, and the updates change nothing, as for a batch
    of nothing.
    mean, variance: variables of a float dtype, one number for each feature; without them
    `name/mean` and `name/variance` are made, which begin with 0 and 1.
    The updates are in `graph.updates` too, which optimizers run with theirs.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", ("batch", 2), name="x")
    ...     training = sad.placeholder("bool", (), name="training")
    ...     y, updates = sad.nn.batch_norm(x, training=training, epsilon=0.0, name="norm")
    >>> list(graph.variables)
    ['norm/mean', 'norm/variance']
    >>> session = sad.Session(graph)
    >>> session.run([y, updates], {x: [[1.0, 10.0], [3.0, 30.0]], training: True})[0]
    array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    >>> session.variables["norm/mean"]
    array([0.2, 2. ], dtype=float32)
    """
    with asking("batch_norm", name):
        value, scale, shift = _operands("batch_norm", x, gain, bias)
        place = dimensions.axis_of(axis, value.ndim)
        axes = tuple(a for a in range(value.ndim) if a != place)
        share = number("momentum", momentum, least=0)
        graph = value.graph
        assert isinstance(graph, Graph)
        on = switch("batch_norm", training, graph)
        number("epsilon", epsilon, least=0)
        scale, shift = (along(v, place, value) for v in (scale, shift))
        given = [v.type.shape for v in (value, scale, shift) if v is not None]
        check_fits(broadcast_shapes(given), value)
        states = _states(graph, mean, variance, value, place, name)
        updates: list[Tensor] = []
        fresh = None
        if on is not False:
            fresh = scaled(normalized(value, axes, epsilon), scale, shift)
            for state, new in zip(states, _moved(value, axes, states, share), strict=True):
                updates.append(state.assign(chosen(on, new, state)))
        settled = None
        if on is not True:
            settled = _inferred(value, *states, scale, shift, place, epsilon)
        y = fresh if settled is None else settled if fresh is None else chosen(on, fresh, settled)
        graph.updates.extend(updates)
        return result(renamed(fitted(y, value), name)), tuple(updates)


def batch_norm_infer(
    x: Operand,
    mean: Operand,
    variance: Operand,
    gain: Operand | None = None,
    bias: Operand | None = None,
    *,
    axis: int = 1,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) times gain plus bias, with given statistics.

    x: floats, with features along `axis`.  mean, variance: one number for each feature.
    gain, bias: the same, or tensors that broadcast to x; None leaves them out.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.batch_norm_infer([[1.0, 3.0]], [1.0, 1.0], [4.0, 4.0], epsilon=0.0)
    >>> sad.Session(graph).run(y)
    array([[0., 1.]], dtype=float32)
    """
    with asking("batch_norm_infer", name):
        value, scale, shift = _operands("batch_norm_infer", x, gain, bias)
        graph = value.graph
        assert isinstance(graph, Graph)
        place = dimensions.axis_of(axis, value.ndim)
        centre, spread = (tensor("batch_norm_infer", v, graph) for v in (mean, variance))
        scale, shift = (along(v, place, value) for v in (scale, shift))
        y = _inferred(value, centre, spread, scale, shift, place, epsilon)
        return result(renamed(fitted(y, value), name))


def _operands(asked: str, x: Operand, gain: Any, bias: Any) -> tuple[Tensor, Any, Any]:
    """x, gain and bias in one dtype, x of rank 2 or more; None stays."""
    value, scale, shift = operands(asked, x, gain, bias)
    if value.ndim < 2:
        raise ShapeError(
            "there is no axis of examples",
            expected="a tensor of rank 2 or more",
            found=value.describe(),
        )
    return value, scale, shift


def _states(
    graph: Graph, mean: Any, variance: Any, x: Tensor, axis: int, name: str | None
) -> tuple[Variable, Variable]:
    """The variables of the statistics, made where none are given."""
    if (mean is None) != (variance is None):
        raise UsageError(
            "one of two statistics",
            expected="mean and variance, or neither",
            found="mean only" if variance is None else "variance only",
        )
    if mean is not None:
        for state in (mean, variance):
            if not isinstance(state, Variable):
                raise UsageError(
                    "running statistics are variables",
                    expected="a sad.variable",
                    found=f"{state!r:.80}, a {type(state).__name__}",
                    hint="with given statistics use sad.nn.batch_norm_infer",
                )
            along(state, axis, x)
        return mean, variance
    size = x.shape[axis]
    if not isinstance(size, int):
        raise ShapeError(
            "the number of features is not known",
            expected=f"a tensor whose axis {axis} has a known size",
            found=x.describe(),
        )
    dtype = wide_dtype(x.dtype)
    with graph, scope(graph.free_scope("batch_norm", "mean") if name is None else name):
        first = graph.variable(zeros(size, dtype=dtype), name="mean", trainable=False)
        second = graph.variable(ones(size, dtype=dtype), name="variance", trainable=False)
    return first, second


def _moved(
    x: Tensor, axes: tuple[int, ...], states: tuple[Variable, Variable], share: float
) -> list[Any]:
    """The states, moved by a share towards the mean, and the variance as an estimate, of a batch;
    with no gradient.  A batch of nothing has none, and moves nothing."""
    (wide,) = widened(build("stop_gradient", (x,)))
    count = methods.count(wide, axes, wide.type.dtype)
    some = build("maximum", (count, count.coerce(1.0)))
    mean = build("sum", (wide,), {"axis": axes, "keepdims": True}) / some
    total = build("sum", (build("square", (wide - mean,)),), {"axis": axes, "keepdims": False})
    variance = total / build("maximum", (count - 1, count.coerce(1.0)))
    flat = build("reshape", (mean,), {"shape": total.type.shape})
    any_at_all = build("minimum", (count, count.coerce(1.0)))
    return [
        state + (batch.astype(state.dtype) - state) * (any_at_all.astype(state.dtype) * share)
        for state, batch in zip(states, (flat, variance), strict=True)
    ]


def _inferred(
    x: Tensor, mean: Any, variance: Any, gain: Any, bias: Any, axis: int, epsilon: float
) -> Any:
    small = number("epsilon", epsilon, least=0)
    (wide,) = widened(x)
    centre, spread = (along(v.astype(wide.dtype), axis, x) for v in (mean, variance))
    y = (wide - centre) * build("rsqrt", (spread + small,))
    return scaled(y.astype(x.dtype), gain, bias)
