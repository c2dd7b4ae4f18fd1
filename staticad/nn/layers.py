"""Layers: functions with variables of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from staticad_schema.errors import ShapeError, UsageError
from staticad_schema.sites import asking
from staticad_schema.types import DType

from .. import dimensions, random
from ..current import scope
from ..graph import Graph
from ..operands import Operand, result
from ..ops.sources import zeros
from ..options import flag
from ..tensor import Tensor
from .convolution import convolved, group_count
from .floats import float_tensor
from .spatial import Each, Padding, each


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
        value = float_tensor("dense", x)
        inputs = value.shape[-1] if value.ndim else None
        width = dimensions.size(units)
        if not isinstance(inputs, int) or not isinstance(width, int):
            raise ShapeError(
                "the size of the weights is not known",
                expected="a tensor whose last axis has a known size, and an int",
                found=f"{value.describe()} and {units!r}",
            )
        flag("use_bias", use_bias)
        _check_activation(activation)
        graph = value.graph
        assert isinstance(graph, Graph)
        with graph, scope(graph.free_scope("dense", "weights") if name is None else name):
            start = _spread((inputs, width), inputs + width, value.dtype)
            y = value @ graph.variable(start, name="weights")
            if use_bias:
                y = y + graph.variable(zeros(width, dtype=value.dtype), name="bias")
            return result(y if activation is None else activation(y))


def conv(
    x: Operand,
    filters: int,
    kernel_size: Each,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
    activation: Callable[[Tensor], Tensor] | None = None,
    use_bias: bool = True,
    name: str | None = None,
) -> Tensor:
    """A convolution over all axes behind the first two, with variables `name/weights` and
    `name/bias`.

    x: floats, (batch, channels, *sizes) with one to three spatial axes and known channels.
    filters: the number of outputs.  activation: a function such as sad.nn.relu.  The others as
    for `conv2d`.  The weights begin uniform with variance 2 / (inputs + outputs) of a window
    (Glorot and Bengio 2010), the bias with zeros.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     x = sad.placeholder("float32", ("batch", 3, 32, 32), name="x")
    ...     h = sad.nn.conv(x, 8, 3, padding="same", activation=sad.nn.relu, name="first")
    >>> h.shape, graph.variables["first/weights"].shape
    ((Dim('batch'), 8, 32, 32), (8, 3, 3, 3))
    """
    with asking("conv", name):
        image = float_tensor("conv", x)
        rank = image.ndim - 2
        if not 1 <= rank <= 3:
            raise ShapeError(
                "not one to three spatial axes",
                expected="rank 3 to 5: (batch, channels, *sizes)",
                found=image.describe(),
            )
        flag("use_bias", use_bias)
        _check_activation(activation)
        channels, outputs, count = image.shape[1], dimensions.integer(filters), group_count(groups)
        if not isinstance(channels, int) or channels % count or outputs % count or outputs < 1:
            raise ShapeError(
                "channels and filters do not fall into groups",
                expected=f"known channels, and filters, that are multiples of {count}",
                found=f"{image.describe()} and {outputs} filters",
            )
        kernel = each("kernel size", kernel_size, rank)
        graph = image.graph
        assert isinstance(graph, Graph)
        with graph, scope(graph.free_scope("conv", "weights") if name is None else name):
            shape = (outputs, channels // count, *kernel)
            ends = (channels + outputs) // count * math.prod(kernel)
            start = _spread(shape, ends, image.dtype)
            weights = graph.variable(start, name="weights")
            bias = (
                graph.variable(zeros(outputs, dtype=image.dtype), name="bias") if use_bias else None
            )
            y = convolved(rank, image, weights, bias, stride, padding, dilation, count, None)
            return y if activation is None else result(activation(y))


def _spread(shape: tuple[int, ...], ends: int, dtype: DType) -> Tensor:
    """Uniform numbers of variance 2 / ends (Glorot and Bengio 2010)."""
    limit = math.sqrt(6.0 / max(ends, 1))
    return random.uniform(shape, -limit, limit, dtype=dtype)


def _check_activation(activation: Any) -> None:
    if activation is not None and not callable(activation):
        raise UsageError(
            "an activation is a function of tensors",
            expected="a function such as sad.nn.relu, or None",
            found=f"{activation!r:.80}, a {type(activation).__name__}",
        )
