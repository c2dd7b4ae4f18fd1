"""Activations: functions of one tensor, most of them elementwise."""

from __future__ import annotations

from staticad_schema.shapes import normalize_axis
from staticad_schema.sites import asking

from .. import dimensions
from ..building import build
from ..operands import Operand, result, tensor
from ..ops.elementwise import sigmoid, tanh
from ..tensor import Tensor

__all__ = ["gelu", "log_softmax", "relu", "relu6", "sigmoid", "softmax", "tanh"]


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


def gelu(x: Operand, /, *, approximate: bool = False, name: str | None = None) -> Tensor:
    """x times the normal distribution's share below x (Hendrycks and Gimpel 2016).

    x: floats.  approximate: the tanh form, as in GPT-2.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.gelu([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.159,  0.   ,  1.954], dtype=float32)
    """
    with asking("gelu", name):
        attributes = {"approximate": bool(approximate)}
        return result(build("gelu", (tensor("gelu", x),), attributes, label=name))


def softmax(x: Operand, /, *, axis: int = -1, name: str | None = None) -> Tensor:
    """exp(x) over its sum along `axis`; where all of x is -inf: NaN.

    x: floats.  Returns a tensor of its shape and dtype; along the axis, the sum is 1.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.softmax([0.0, 0.0, np.log(2.0)])
    >>> sad.Session(graph).run(y).round(3)
    array([0.25, 0.25, 0.5 ], dtype=float32)
    """
    with asking("softmax", name):
        return _along("softmax", x, axis, name)


def log_softmax(x: Operand, /, *, axis: int = -1, name: str | None = None) -> Tensor:
    """The logarithm of softmax, without overflow; where all of x is -inf: NaN.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.log_softmax([0.0, 1000.0])
    >>> sad.Session(graph).run(y)
    array([-1000.,     0.], dtype=float32)
    """
    with asking("log_softmax", name):
        return _along("log_softmax", x, axis, name)


def _along(op: str, x: Operand, axis: int, name: str | None) -> Tensor:
    value = tensor(op, x)
    attributes = {"axis": normalize_axis(dimensions.integer(axis), value.ndim)}
    return result(build(op, (value,), attributes, label=name))
