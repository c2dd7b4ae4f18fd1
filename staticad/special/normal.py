"""Error functions, and the normal distribution with its quantiles."""

from __future__ import annotations

import math

from staticad_schema.handle import floating
from staticad_schema.sites import asking

from .. import methods
from ..building import build
from ..operands import Operand, result, tensor
from ..tensor import Tensor
from .functions import applied


def erf(x: Operand, /, *, name: str | None = None) -> Tensor:
    """2 / sqrt(pi) times the integral of exp(-t * t) from 0 to x.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.erf([0.0, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 0.843], dtype=float32)
    """
    return applied("erf", "erf", x, name=name)


def erfc(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 - erf(x), with its digits for large x.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.erfc([0.0, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([1.   , 0.157], dtype=float32)
    """
    return applied("erfc", "erfc", x, name=name)


def erfcx(x: Operand, /, *, name: str | None = None) -> Tensor:
    """exp(x * x) erfc(x), which neither overflows nor vanishes on the right.

    x: floats; integers become float32.  Its derivatives keep their digits there, to the 20th order.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.erfcx([0.0, 1.0, 1e6])
    >>> sad.Session(graph).run(y).round(3)
    array([1.   , 0.428, 0.   ], dtype=float32)
    """
    return applied("erfcx", "erfcx", x, name=name)


def erfinv(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The inverse of erf; infinite at -1 and 1, NaN beyond.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.erfinv([0.0, 0.5, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.   , 0.477,   inf], dtype=float32)
    """
    return applied("erfinv", "erfinv", x, name=name)


def erfcinv(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The inverse of erfc, with its digits near 0; infinite at 0 and 2, NaN beyond.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.erfcinv([1.0, 0.5, 1e-30])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.   ,  0.477,  8.149], dtype=float32)
    """
    return applied("erfcinv", "erfcinv", x, name=name, order=0)


def ndtr(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The share of the normal distribution below x, with its digits on the left.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.ndtr([-1.0, 0.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.159, 0.5  , 0.999], dtype=float32)
    """
    with asking("ndtr", name):
        (value,) = floating(tensor("ndtr", x))
        return result(
            methods.computed(
                lambda z: 0.5 * build("erfc", (z * -math.sqrt(0.5),)), value, label=name
            )
        )


def log_ndtr(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(ndtr(x)), also where ndtr(x) is too small for a float.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.log_ndtr([-100.0, 0.0, 3.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-5.005524e+03, -6.930000e-01, -1.000000e-03], dtype=float32)
    """
    return applied("log_ndtr", "log_ndtr", x, name=name)


def ndtri(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The inverse of ndtr: the quantiles of the normal distribution.

    x: floats; integers become float32.  Infinite at 0 and 1, NaN beyond.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.ndtri([0.025, 0.5, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.96,  0.  ,   inf], dtype=float32)
    """
    return applied("ndtri", "ndtri", x, name=name, order=0)
