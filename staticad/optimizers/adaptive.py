"""Optimizers that divide gradients by their usual size: RMSProp, Adagrad, Adadelta."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking

from ..ops.elementwise import sqrt
from ..options import flag
from ..tensor import Tensor
from ..variable import Variable
from .base import Constants, Optimizer, Schedule, Writes
from .moments import averaged, squared
from .options import not_negative, share


class RMSProp(Optimizer):
    """Gradients divided by the root of their mean square (Tieleman and Hinton 2012).

    s = decay * s + (1 - decay) * g * g;  step = lr * g / (sqrt(s) + epsilon);  p -= step
    or with momentum: v = momentum * v + g / (sqrt(s) + epsilon);  p -= lr * v.
    centered: the variance of the gradients takes the place of their mean square
    (Graves 2013); it is updated as a variance, so that it is never negative.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.RMSProp(0.25, decay=0.75).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array(0.5, dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1e-2,
        decay: float = 0.99,
        momentum: float = 0.0,
        epsilon: float = 1e-8,
        *,
        centered: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._epsilon = self._guard("epsilon", not_negative("epsilon", epsilon), 0)
            self._decay = self._guard("decay", share("decay", decay), 1)
            self._momentum = share("momentum", momentum)
            self._centered = flag("centered", centered)

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        spreads = self._slots("variance" if self._centered else "square", variables)
        means = self._slots("mean", variables) if self._centered else [None] * len(variables)
        moving = self._slots("velocity", variables) if self._momentum else [None] * len(variables)
        epsilon = Constants(self._epsilon)
        groups = zip(variables, cotangents, spreads, means, moving, strict=True)
        for p, g, spread, mean, velocity in groups:
            deviation: Any = g
            if mean is not None:
                # The mean square less the square of the mean, without the cancellation.
                deviation = (g - mean) * self._decay**0.5
                write.assign(mean, averaged(mean, g, self._decay))
            new = averaged(spread, squared(deviation), self._decay)
            write.assign(spread, new)
            step: Any = g / (sqrt(new) + epsilon.beside(p))
            if velocity is not None:
                step = velocity * self._momentum + step
                write.assign(velocity, step)
            write.subtract(p, step * self.learning_rate.astype(p.dtype))


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares (Duchi et al. 2011).

    s = s + g * g, from `initial` on;  p -= lr * g / (sqrt(s) + epsilon)

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.Adagrad(0.25).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array(0.75, dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1e-2,
        initial: float = 0.0,
        epsilon: float = 1e-10,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._initial = not_negative("initial", initial)
            self._epsilon = self._guard("epsilon", not_negative("epsilon", epsilon), 0)

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        sums = self._slots("square", variables, self._initial)
        epsilon = Constants(self._epsilon)
        for p, g, s in zip(variables, cotangents, sums, strict=True):
            grown: Any = s + squared(g)
            write.assign(s, grown)
            rate = self.learning_rate.astype(p.dtype)
            write.subtract(p, g * rate / (sqrt(grown) + epsilon.beside(p)))


class Adadelta(Optimizer):
    """Steps in proportion to the usual size of steps (Zeiler 2012).

    s = decay * s + (1 - decay) * g * g;  d = sqrt(u + epsilon) / sqrt(s + epsilon) * g
    u = decay * u + (1 - decay) * d * d;  p -= lr * d

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.Adadelta(epsilon=0.01).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"].round(3)
    np.float32(0.688)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1.0,
        decay: float = 0.9,
        epsilon: float = 1e-6,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._decay = self._guard("decay", share("decay", decay), 1)
            self._epsilon = self._guard("epsilon", not_negative("epsilon", epsilon), 0)

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        squares = self._slots("square", variables)
        steps = self._slots("step_square", variables)
        epsilon = Constants(self._epsilon)
        for p, g, s, u in zip(variables, cotangents, squares, steps, strict=True):
            small = epsilon.beside(p)
            seen = averaged(s, squared(g), self._decay)
            # One root of the quotient would overflow where the two roots do not.
            step: Any = g * (sqrt(u + small) / sqrt(seen + small))
            write.assign(s, seen)
            write.assign(u, averaged(u, squared(step), self._decay))
            write.subtract(p, step * self.learning_rate.astype(p.dtype))
