"""Adam (Kingma and Ba 2015)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.sites import asking, warn
from staticad_schema.types import FLOAT64, DType

from ..operands import result
from ..ops.elementwise import conj, expm1, sqrt, square
from ..tensor import Tensor
from ..variable import Variable
from .base import Optimizer, Schedule
from .sgd import share


class Adam(Optimizer):
    """Steps of the size of the learning rate (Kingma and Ba 2015).

    m and v start at 0; at the updates t = 1, 2, ...:
    m = beta1 * m + (1 - beta1) * g;  v = beta2 * v + (1 - beta2) * g * g
    p -= lr * (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + epsilon)

    Of complex g, the square of the absolute value takes the place of g * g.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable([1.0, -2.0], name="w")
    ...     loss = sad.sum(w * w)
    ...     train = sad.optimizers.Adam(0.5).minimize(loss)
    >>> session = sad.Session(graph)
    >>> [session.run([loss, train])[0].round(2) for _ in range(3)]
    [np.float32(5.0), np.float32(2.5), np.float32(1.02)]
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate)
        with asking("Adam"):
            self._beta1 = share("beta1", beta1)
            self._beta2 = share("beta2", beta2)
        self._epsilon = float(epsilon)

    def _update(self, cotangents: list[Tensor], variables: list[Variable]) -> list[Tensor]:
        first = self._slots("m", variables)
        second = self._slots("v", variables)
        t = (self.step + 1).astype(FLOAT64)
        # Scalars of the step, in float64: 1 - beta**t would lose digits while t is small.
        rate: Any = self.learning_rate.astype(FLOAT64) / _correction(t, self._beta1)
        spread: Any = 1.0 / sqrt(_correction(t, self._beta2))
        moments, deviations, steps = [], [], []
        epsilons: dict[DType, Tensor] = {}
        for p, g, m, v in zip(variables, cotangents, first, second, strict=True):
            self._warn_of_rounding(p)
            if p.dtype not in epsilons:
                # As an array, which is not warned of again.
                epsilons[p.dtype] = p.graph.constant(np.asarray(self._epsilon).astype(p.dtype))
            moment = m * self._beta1 + g * (1.0 - self._beta1)
            deviation = v * self._beta2 + _size(g) * (1.0 - self._beta2)
            root = sqrt(deviation) * spread.astype(p.dtype) + epsilons[p.dtype]
            moments.append(m.assign(moment))
            deviations.append(v.assign(deviation))
            steps.append(p.assign_sub(moment * rate.astype(p.dtype) / root))
        return moments + deviations + steps

    def _warn_of_rounding(self, p: Variable) -> None:
        # A beta of 1 never forgets: the moment only grows.
        for name, value, rounded in (
            ("epsilon", self._epsilon, 0), ("beta1", self._beta1, 1), ("beta2", self._beta2, 1),
        ):  # fmt: skip
            if value and np.asarray(value).astype(p.dtype) == rounded:
                warn(
                    f"Adam: {name} {value} is {rounded} in {p.dtype.name}, the dtype of {p.name!r}",
                    UserWarning,
                )


def _size(g: Tensor) -> Tensor:
    """The square of the absolute value, in g's dtype."""
    return result(g * conj(g)) if g.type.kind == "complex" else square(g)


def _correction(t: Any, beta: float) -> Any:
    """1 - beta**t; t is at least 1."""
    return -expm1(t * (math.log(beta) if beta else -math.inf))
