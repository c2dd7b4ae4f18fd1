"""Layers: functions with variables of their own, or that act otherwise when training."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from staticad_schema.errors import ArgumentError, DTypeError, ShapeError, UsageError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.shapes import shape_text
from staticad_schema.sites import asking
from staticad_schema.types import BOOL, FLOATING

from .. import dimensions, random
from ..building import build, renamed
from ..current import scope
from ..dimensions import Axis
from ..graph import Graph
from ..operands import Operand, graph_of, result, tensor
from ..ops.sources import zeros
from ..tensor import Tensor


def dense(
    x: Operand,
    units: int,
    *,
    activation: Callable[[Tensor], Tensor] | None = None,
    use_bias: bool = True,
    name: str | None = None,
) -> Tensor:
    """x @ weights + bias, with variables `name/weights` and `name/bias`.

    x: floats, with a last axis of known size.  activation: a function such as sad.nn.relu.
    The weights begin uniform with variance 2 / (inputs + units) (Glorot and Bengio 2010),
    the bias with zeros.  Raises ShapeError, DTypeError for an x that does not fit.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     x = sad.placeholder("float32", ("batch", 4), name="x")
    ...     h = sad.nn.dense(x, 3, activation=sad.nn.relu, name="hidden")
    >>> h.shape, list(graph.variables)
    ((Dim('batch'), 3), ['hidden/weights', 'hidden/bias'])
    """
    with asking("dense", name):
        value = tensor("dense", x)
        inputs = value.shape[-1] if value.ndim else None
        width = dimensions.size(units)
        if not isinstance(inputs, int) or not isinstance(width, int):
            raise ShapeError(
                "the size of the weights is not known",
                expected="a tensor whose last axis has a known size, and an int",
                found=f"{value.describe()} and {units!r}",
            )
        if value.type.kind not in FLOATING:
            raise DTypeError(
                "not floating",
                expected="a floating dtype",
                found=value.describe(),
                hint="use .astype('float32')",
            )
        if activation is not None and not callable(activation):
            raise UsageError(
                "an activation is a function of tensors",
                expected="a function such as sad.nn.relu, or None",
                found=f"{activation!r:.80}, a {type(activation).__name__}",
            )
        graph = value.graph
        assert isinstance(graph, Graph)
        with graph, scope(graph.free_scope("dense", "weights") if name is None else name):
            limit = math.sqrt(6.0 / max(inputs + width, 1))
            start = random.uniform((inputs, width), -limit, limit, dtype=value.dtype)
            y = value @ graph.variable(start, name="weights")
            if use_bias:
                y = y + graph.variable(zeros(width, dtype=value.dtype), name="bias")
            return result(y if activation is None else activation(y))


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

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     gain = sad.variable(sad.ones(2), name="gain")
    ...     y = sad.nn.layer_norm([[1.0, 3.0], [10.0, 30.0]], gain, epsilon=0.0)
    >>> sad.Session(graph).run(y)
    array([[-1.,  1.],
           [-1.,  1.]], dtype=float32)
    """
    with asking("layer_norm", name):
        value = tensor("layer_norm", x, graph_of("layer_norm", x, gain, bias))
        axes = dimensions.axes_of(axis, value.ndim)
        attributes = {"axis": axes, "epsilon": float(epsilon)}
        y, _ = build("normalize", (value,), attributes)
        y = y if gain is None else y * gain
        y = y if bias is None else y + bias
        if y.type.ndim != value.ndim:
            raise ShapeError(
                "gain or bias has more axes than x",
                expected=f"shapes that broadcast to {shape_text(value.shape)}",
                found=shape_text(y.type.shape),
            )
        return result(renamed(y, name))


def dropout(x: Operand, rate: Operand, training: Any = True, *, name: str | None = None) -> Tensor:
    """x with elements set to 0 at random and the others divided by 1 - rate; x, if not training.

    training: a bool, or a bool tensor of one element.  rate: the share that is dropped, below 1.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     training = sad.placeholder("bool", (), name="training")
    ...     y = sad.nn.dropout(sad.ones(1000), 0.5, training)
    >>> session = sad.Session(graph)
    >>> np.unique(session.run(y, {training: True})), np.unique(session.run(y, {training: False}))
    (array([0., 2.], dtype=float32), array([1.], dtype=float32))
    """
    with asking("dropout", name):
        graph = graph_of("dropout", x, rate, training)
        value = tensor("dropout", x, graph)
        if isinstance(rate, WEAK) and not 0 <= float(rate.real) < 1:
            raise ArgumentError(
                "not a share to drop", expected="from 0 to below 1", found=repr(rate)
            )
        if not isinstance(training, bool | Handle):
            raise UsageError(
                "training is a switch", expected="a bool, or a bool tensor", found=repr(training)
            )
        if isinstance(training, Handle) and training.type.dtype != BOOL:
            raise DTypeError(
                "training is a switch", expected="a bool tensor", found=training.describe()
            )
        if training is False or (isinstance(rate, WEAK) and rate == 0):
            return result(build("identity", (value,), label=name))
        with graph:
            keep = 1 - rate if isinstance(rate, WEAK) else 1 - tensor("dropout", rate, graph)
            kept = random.bernoulli(
                value.shape, keep, name=None if name is None else f"{name}/kept"
            )
        scaled = value / keep if isinstance(keep, WEAK) else value / keep.astype(value.dtype)
        dropped = build("where", (kept, scaled, scaled.coerce(0)))
        if training is True:
            return result(renamed(dropped, name))
        return result(build("where", (training, dropped, value), label=name))
