"""Adam (Kingma and Ba 2015), and optimizers that differ from it in how they step."""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64

from ..ops.elementwise import abs as absolute
from ..ops.elementwise import maximum, sqrt
from ..tensor import Tensor
from ..variable import Variable
from .base import Constants, Optimizer, Schedule, Writes
from .moments import averaged, correction, squared
from .options import Mask, member, not_negative, share


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
        with asking(type(self).__name__):
            # A beta of 1 never forgets: the moment only grows.
            self._epsilon = self._guard("epsilon", not_negative("epsilon", epsilon), 0)
            self._beta1 = self._guard("beta1", share("beta1", beta1), 1)
            self._beta2 = self._guard("beta2", share("beta2", beta2), 1)

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        first = self._slots("m", variables)
        second = self._slots("v", variables)
        t = (self.step + 1).astype(FLOAT64)
        # Scalars of the step, in float64.
        rates = self._rates(self.learning_rate.astype(FLOAT64), t)
        spread: Any = 1.0 / sqrt(correction(t, self._beta2))
        epsilon = Constants(self._epsilon)
        for p, g, m, v in zip(variables, cotangents, first, second, strict=True):
            moment = averaged(m, g, self._beta1)
            deviation = averaged(v, squared(g), self._beta2)
            root = sqrt(deviation) * spread.astype(p.dtype) + epsilon.beside(p)
            write.assign(m, moment)
            write.assign(v, deviation)
            write.subtract(p, self._change(p, g, moment, root, rates))

    def _rates(self, rate: Any, t: Any) -> tuple[Any, ...]:
        """The factors that `_change` needs, which depend on the step only."""
        return (rate / correction(t, self._beta1),)

    def _change(self, p: Variable, g: Tensor, moment: Any, root: Any, rates: Any) -> Any:
        """What is subtracted from p."""
        return moment * rates[0].astype(p.dtype) / root


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019).

    p -= lr * weight_decay * p besides what Adam subtracts, from the same p.
    mask: the variables that decay, as a list or a function from a variable to a bool; all, if
    None.  Biases and gains often do not.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(sad.ones((2, 2)), name="w")
    ...     b = sad.variable(sad.ones(2), name="b")
    ...     optimizer = sad.optimizers.AdamW(0.1, weight_decay=0.5, mask=lambda v: v.ndim > 1)
    ...     train = optimizer.minimize(sad.sum(w) * 0.0 + sad.sum(b) * 0.0)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.run([w[0], b])
    [array([0.95, 0.95], dtype=float32), array([1., 1.], dtype=float32)]
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
        *,
        mask: Mask | None = None,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon)
        with asking(type(self).__name__):
            self._weight_decay = not_negative("weight_decay", weight_decay)
            self._decays = member(mask)

    def _rates(self, rate: Any, t: Any) -> tuple[Any, ...]:
        return (*super()._rates(rate, t), rate * self._weight_decay)

    def _change(self, p: Variable, g: Tensor, moment: Any, root: Any, rates: Any) -> Any:
        change = super()._change(p, g, moment, root, rates)
        if self._weight_decay and self._decays(p):
            change = change + p * rates[1].astype(p.dtype)
        return change


class NAdam(Adam):
    """Adam that looks ahead as Nesterov's momentum does (Dozat 2016, with a constant beta1).

    p -= lr * (beta1 * m / (1 - beta1**(t + 1)) + (1 - beta1) * g / (1 - beta1**t)) / root,
    with Adam's m, t and root.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.NAdam(0.1).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"].round(4)
    np.float32(0.8526)
    """

    def _rates(self, rate: Any, t: Any) -> tuple[Any, ...]:
        beta = self._beta1
        ahead = rate * beta / correction(t + 1.0, beta)
        return ahead, rate * (1.0 - beta) / correction(t, beta)

    def _change(self, p: Variable, g: Tensor, moment: Any, root: Any, rates: Any) -> Any:
        ahead, now = (rate.astype(p.dtype) for rate in rates)
        return (moment * ahead + g * now) / root


class Adamax(Optimizer):
    """Adam with the largest gradient seen, slowly forgotten (Kingma and Ba 2015, section 7.1).

    m = beta1 * m + (1 - beta1) * g;  u = max(beta2 * u, |g| + epsilon)
    p -= lr / (1 - beta1**t) * m / u

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable(1.0, name="w")
    ...     train = sad.optimizers.Adamax(0.25).minimize(w * w)
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"]
    array(0.75, dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 2e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate)
        with asking(type(self).__name__):
            self._epsilon = self._guard("epsilon", not_negative("epsilon", epsilon), 0)
            self._beta1 = self._guard("beta1", share("beta1", beta1), 1)
            self._beta2 = self._guard("beta2", share("beta2", beta2), 1)

    def _update(self, cotangents: list[Tensor], variables: list[Variable], write: Writes) -> None:
        first = self._slots("m", variables)
        largest = self._slots("u", variables, real=True)
        t = (self.step + 1).astype(FLOAT64)
        rate: Any = self.learning_rate.astype(FLOAT64) / correction(t, self._beta1)
        epsilon = Constants(self._epsilon)
        for p, g, m, u in zip(variables, cotangents, first, largest, strict=True):
            moment = averaged(m, g, self._beta1)
            most = maximum(u * self._beta2, absolute(g) + epsilon.beside(u))
            write.assign(m, moment)
            write.assign(u, most)
            write.subtract(p, moment * rate.astype(p.dtype) / most.astype(p.dtype))
