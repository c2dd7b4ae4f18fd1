"""LAMB, Adam with a rate for each variable (You et al. 2020)."""

from __future__ import annotations

from typing import Any

from ..ops.selection import where
from ..tensor import Tensor
from ..variable import Variable
from .adam import AdamW
from .base import Schedule
from .clipping import norm
from .moments import correction
from .options import Mask


class LAMB(AdamW):
    """AdamW whose step is as long, relative to the variable, as the rate says (You et al. 2020).

    r = (m / (1 - beta1**t)) / (sqrt(v / (1 - beta2**t)) + epsilon) + weight_decay * p
    p -= lr * |p| / |r| * r, with the norms of the whole variable; lr * r if either is 0.
    mask: the variables that decay, as a list or a function from a variable to a bool.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     w = sad.variable([3.0, -4.0], name="w")
    ...     train = sad.optimizers.LAMB(0.1).minimize(sad.sum(w * w))
    >>> session = sad.Session(graph)
    >>> session.run(train)
    >>> session.variables["w"].round(4)
    array([ 2.6464, -3.6464], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Tensor | Schedule = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        mask: Mask | None = None,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, weight_decay, mask=mask)

    def _rates(self, rate: Any, t: Any) -> tuple[Any, ...]:
        return 1.0 / correction(t, self._beta1), rate

    def _change(self, p: Variable, g: Tensor, moment: Any, root: Any, rates: Any) -> Any:
        direction = moment * rates[0].astype(p.dtype) / root
        if self._weight_decay and self._decays(p):
            direction = direction + p * self._weight_decay
        length, span = norm(p), norm(direction)
        known = (length > 0) & (span > 0)
        trust = where(known, length / where(known, span, 1.0), 1.0)
        return direction * (trust * rates[1].astype(trust.dtype)).astype(p.dtype)
