"""Gradient descent, with or without momentum."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ArgumentError
from staticad_schema.sites import asking

from ..options import flag
from ..tensor import Tensor
from ..variable import Variable
from .base import Optimizer, Schedule, Writes
from .options import not_negative, share


class SGD(Optimizer):
    """Gradient descent, plain or with momentum (Sutskever et al. 2013).

    p -= lr * g, or with momentum mu:
    v = mu * v + g;  p -= lr * v, or lr * (g + mu * v) if `nesterov`.  v starts at 0.
    With weight_decay, g + weight_decay * p takes the place of g.

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
        *,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._momentum = share("momentum", momentum)
            self._weight_decay = not_negative("weight_decay", weight_decay)
            if flag("nesterov", nesterov) and not momentum:
                raise ArgumentError(
                    "there is no momentum to look ahead with",
                    expected="momentum above 0 with nesterov=True",
                    found=f"momentum={momentum!r}",
                )
        self._nesterov = nesterov

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        mu = self._momentum
        steps: list[Any] = cotangents
        if self._weight_decay:
            pairs = zip(cotangents, variables, strict=True)
            steps = [g + p * self._weight_decay for g, p in pairs]
        if mu:
            velocities = self._slots("velocity", variables)
            given = steps
            steps = [v * mu + g for v, g in zip(velocities, given, strict=True)]
            for v, grown in zip(velocities, steps, strict=True):
                write.assign(v, grown)
            if self._nesterov:
                steps = [g + grown * mu for g, grown in zip(given, steps, strict=True)]
        for p, step in zip(variables, steps, strict=True):
            write.subtract(p, step * self.learning_rate.astype(p.dtype))


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
        *,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, momentum, nesterov, weight_decay=weight_decay)


class Nesterov(SGD):
    """SGD with Nesterov's momentum: v = momentum * v + g;  p -= lr * (g + momentum * v).

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.Nesterov(0.25, momentum=0.5).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array(0.25, dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule,
        momentum: float = 0.9,
        *,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, momentum, True, weight_decay=weight_decay)
