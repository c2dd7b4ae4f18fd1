"""Lion, which steps by signs (Chen et al. 2023)."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking

from ..ops.elementwise import sign
from ..tensor import Tensor
from ..variable import Variable
from .base import Optimizer, Schedule, Writes
from .moments import averaged
from .options import Mask, member, not_negative, share


class Lion(Optimizer):
    """The sign of an average of gradients (Chen et al. 2023); its steps ask for small rates.

    p -= lr * (sign(beta1 * m + (1 - beta1) * g) + weight_decay * p)
    m = beta2 * m + (1 - beta2) * g, from 0 on
    mask: the variables that decay, as a list or a function from a variable to a bool.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable([1.0, -2.0], name="w")
    ...     train = sad.optimizers.Lion(0.25).minimize(sad.sum(w * w))
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array([ 0.75, -1.75], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1e-4,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay: float = 0.0,
        *,
        mask: Mask | None = None,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._beta1 = self._guard("beta1", share("beta1", beta1), 1)
            self._beta2 = self._guard("beta2", share("beta2", beta2), 1)
            self._weight_decay = not_negative("weight_decay", weight_decay)
            self._decays = member(mask)

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        averages = self._slots("m", variables)
        for p, g, m in zip(variables, cotangents, averages, strict=True):
            step: Any = sign(averaged(m, g, self._beta1))
            if self._weight_decay and self._decays(p):
                step = step + p * self._weight_decay
            write.assign(m, averaged(m, g, self._beta2))
            write.subtract(p, step * self.learning_rate.astype(p.dtype))
