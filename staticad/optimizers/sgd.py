"""Gradient descent, with or without momentum."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ArgumentError
from staticad_schema.sites import asking

from ..numbers import real
from ..tensor import Tensor
from ..variable import Variable
from .base import Optimizer, Schedule


class SGD(Optimizer):
    """Gradient descent, plain or with momentum (Sutskever et al. 2013).

    p -= lr * g, or with momentum mu:
    v = mu * v + g;  p -= lr * v, or lr * (g + mu * v) if `nesterov`.  v starts at 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.SGD(0.25).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array(0.5, dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule,
        momentum: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._momentum = share("momentum", momentum)
            if nesterov and not momentum:
                raise ArgumentError(
                    "there is no momentum to look ahead with",
                    expected="momentum above 0 with nesterov=True",
                    found=f"momentum={momentum!r}",
                )
        self._nesterov = nesterov

    def _update(self, cotangents: list[Tensor], variables: list[Variable]) -> list[Tensor]:
        mu = self._momentum
        velocities = self._slots("velocity", variables) if mu else []
        writes: list[Tensor] = []
        steps: list[Any] = cotangents
        if mu:
            grown: list[Any] = [v * mu + g for v, g in zip(velocities, cotangents, strict=True)]
            writes += [v.assign(new) for v, new in zip(velocities, grown, strict=True)]
            steps = grown
            if self._nesterov:
                steps = [g + new * mu for g, new in zip(cotangents, grown, strict=True)]
        for p, step in zip(variables, steps, strict=True):
            writes.append(p.assign_sub(step * self.learning_rate.astype(p.dtype)))
        return writes


class Momentum(SGD):
    """SGD with momentum: v = momentum * v + g;  p -= lr * v.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.Momentum(0.25).minimize(w * w)
    >>> list(graph.variables)
    ['w', 'Momentum/step', 'Momentum/velocity/w']
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule,
        momentum: float = 0.9,
        nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, momentum, nesterov)


def share(name: str, value: Any) -> float:
    """A number from 0 to below 1.  Raises UsageError for what is no number, ArgumentError."""
    number = real(name, value)
    if not 0 <= number < 1:
        raise ArgumentError(
            f"{name} is out of range", expected="a number from 0 to below 1", found=repr(value)
        )
    return number
