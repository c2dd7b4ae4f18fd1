"""Layers: functions with variables of their own."""

from __future__ import annotations

import math
from collections.abc import Callable

from staticad_schema.errors import DTypeError, ShapeError, UsageError
from staticad_schema.sites import asking
from staticad_schema.types import FLOATING

from .. import dimensions, random
from ..current import scope
from ..graph import Graph
from ..operands import Operand, result, tensor
from ..ops.sources import zeros
from ..options import flag
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
        flag("use_bias", use_bias)
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
