"""Smooth activations: elementwise functions of floats.

Those with corners are in `piecewise`, those that relate elements to each other in `softmax`.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking

from ..building import build
from ..operands import Operand, result, tensor
from ..ops.elementwise import log_sigmoid, sigmoid, tanh
from ..options import flag, number
from ..tensor import Tensor
from .floats import computed, float_tensor

__all__ = ["celu", "elu", "gelu", "log_sigmoid", "mish", "selu", "sigmoid", "silu", "softplus"]
__all__ += ["softsign", "tanh", "tanh_shrink"]


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
        attributes = {"approximate": flag("approximate", approximate)}
        return result(build("gelu", (tensor("gelu", x),), attributes, label=name))


def silu(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x times sigmoid(x), also called swish (Elfwing et al. 2017).

    x: floats.  Returns a tensor of its shape and dtype.  The limits hold at infinity: inf, and 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.silu([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.269,  0.   ,  1.762], dtype=float32)
    """
    with asking("silu", name):
        return result(build("silu", (tensor("silu", x),), label=name))


def mish(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x times tanh(log(1 + exp(x))) (Misra 2019).

    x: floats.  Returns a tensor of its shape and dtype.  The limits hold at infinity: inf, and 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.mish([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.303,  0.   ,  1.944], dtype=float32)
    """
    with asking("mish", name):
        return result(build("mish", (tensor("mish", x),), label=name))


def softsign(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x / (1 + abs(x)), from -1 to 1, both of which it is at infinity.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.softsign([-1.0, 0.0, 3.0])
    >>> sad.Session(graph).run(y)
    array([-0.5 ,  0.  ,  0.75], dtype=float32)
    """
    with asking("softsign", name):
        return result(build("softsign", (tensor("softsign", x),), label=name))


def softplus(x: Operand, /, beta: float = 1.0, *, name: str | None = None) -> Tensor:
    """log(1 + exp(beta x)) / beta: a smooth relu, that is x for large x to the last digit.

    x: floats.  beta: a number above 0.  Raises ArgumentError for another.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.softplus([-1000.0, 0.0, 50.0])
    >>> sad.Session(graph).run(y).round(3)
    array([ 0.   ,  0.693, 50.   ], dtype=float32)
    """
    with asking("softplus", name):
        steepness = number("beta", beta, above=0)
        value = float_tensor("softplus", x)
        if steepness == 1:
            return result(build("softplus", (value,), label=name))

        def scaled(wide: Any) -> Any:
            return build("softplus", (wide * steepness,)) / steepness

        return computed(scaled, value, label=name)


def _elu(x: Any, outer: float, slope: float, scale: float = 1.0) -> Any:
    """slope x above 0, else outer (exp(x / scale) - 1)."""
    left = build("expm1", (x if scale == 1 else x / scale,))
    left = left if outer == 1 else left * outer
    return build("where", (x > 0, x if slope == 1 else x * slope, left))


def elu(x: Operand, /, alpha: float = 1.0, *, name: str | None = None) -> Tensor:
    """x above 0, else alpha (exp(x) - 1) (Clevert et al. 2015).  Its derivative at 0 is alpha.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.elu([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.632,  0.   ,  2.   ], dtype=float32)
    """
    with asking("elu", name):
        factor = number("alpha", alpha)
        return computed(lambda v: _elu(v, factor, 1.0), float_tensor("elu", x), label=name)


def celu(x: Operand, /, alpha: float = 1.0, *, name: str | None = None) -> Tensor:
    """x above 0, else alpha (exp(x / alpha) - 1) (Barron 2017): its derivative is continuous.

    x: floats.  alpha: a number above 0.  Returns a tensor of the shape and dtype of x.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.celu([-1.0, 0.0, 2.0], alpha=2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([-0.787,  0.   ,  2.   ], dtype=float32)
    """
    with asking("celu", name):
        factor = number("alpha", alpha, above=0)
        return computed(lambda v: _elu(v, factor, 1.0, factor), float_tensor("celu", x), label=name)


# Those for which a mean of 0 and a variance of 1 are a fixed point (Klambauer et al. 2017).
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def selu(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1.0507 times elu with alpha 1.6733, which keeps mean 0 and variance 1 (Klambauer 2017).

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.selu([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.111,  0.   ,  2.101], dtype=float32)
    """
    with asking("selu", name):
        outer = SELU_ALPHA * SELU_SCALE
        return computed(lambda v: _elu(v, outer, SELU_SCALE), float_tensor("selu", x), label=name)


def tanh_shrink(x: Operand, /, *, name: str | None = None) -> Tensor:
    """x - tanh(x), to about the last digit of x.

    x: floats.  Returns a tensor of its shape and dtype.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.nn.tanh_shrink([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.238,  0.   ,  1.036], dtype=float32)
    """
    with asking("tanh_shrink", name):
        return computed(
            lambda v: v - build("tanh", (v,)), float_tensor("tanh_shrink", x), label=name
        )
