"""Exponential integrals, the logistic function and its kin."""

from __future__ import annotations

from ..operands import Operand
from ..tensor import Tensor
from .functions import applied


def expi(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The integral of exp(t) / t from -inf to x, its principal value for positive x; -inf at 0.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.expi([-1.0, 0.0, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.219,   -inf,  1.895], dtype=float32)
    """
    return applied("expi", "expi", x, name=name, order=0)


def exp1(x: Operand, /, *, name: str | None = None) -> Tensor:
    """The integral of exp(-t) / t from x to infinity; inf at 0, NaN below.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.exp1([0.0, 1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([  inf, 0.219, 0.049], dtype=float32)
    """
    return applied("exp1", "exp1", x, name=name)


def exprel(x: Operand, /, *, name: str | None = None) -> Tensor:
    """(exp(x) - 1) / x, and 1 at 0; smooth there, to the 20th order of differentiation.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.exprel([-1.0, 0.0, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.632, 1.   , 1.718], dtype=float32)
    """
    return applied("exprel", "exprel", x, name=name)


def expit(x: Operand, /, *, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), as `sad.sigmoid`.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.expit([-1.0, 0.0, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([0.269, 0.5  , 0.731], dtype=float32)
    """
    return applied("expit", "sigmoid", x, name=name)


def log_expit(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(expit(x)), as `sad.log_sigmoid`.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.log_expit([-1000.0, 0.0, 1.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.00e+03, -6.93e-01, -3.13e-01], dtype=float32)
    """
    return applied("log_expit", "log_sigmoid", x, name=name)


def logit(x: Operand, /, *, name: str | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of expit; infinite at 0 and 1, NaN beyond.

    x: floats; integers become float32.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.special.logit([0.0, 0.5, 0.75])
    >>> sad.Session(graph).run(y).round(3)
    array([ -inf, 0.   , 1.099], dtype=float32)
    """
    return applied("logit", "logit", x, name=name)
