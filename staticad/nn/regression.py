"""Losses of predicted numbers.

Predictions and targets have one shape; weights and reduction are those of `reduction`: weights
broadcast to the losses, "mean" is the weighted mean, "sum" the weighted sum, "none" all of them.
"""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.sites import asking

from ..building import build
from ..operands import Operand
from ..options import flag, number
from ..tensor import Tensor
from .floats import floats, widened
from .reduction import Reduction, broadcasting, of_one_shape, reduced

__all__ = ["gaussian_nll_loss", "huber_loss", "l1_loss", "mse_loss", "poisson_nll_loss"]
__all__ += ["smooth_l1_loss"]

BOTH = ("the prediction", "the target")


def mse_loss(
    prediction: Operand,
    target: Operand,
    *,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """The square of prediction - target.

    prediction, target: floats of one shape.  weights: of a weighted mean or sum, which broadcast.
    reduction: "mean", "sum" or "none".  Raises ShapeError for shapes that differ.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.mse_loss([1.0, 2.0], [1.0, 4.0])
    >>> sad.Session(graph).run(loss)
    array(2., dtype=float32)
    """
    with asking("mse_loss", name):
        a, b = of_one_shape("mse_loss", BOTH, prediction, target)
        difference = _difference(a, b)
        losses = build("square", (difference,))
        return reduced("mse_loss", losses, weights, reduction, name, a.dtype)


def l1_loss(
    prediction: Operand,
    target: Operand,
    *,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """The distance of prediction and target, whose derivative where they are equal is 0.

    Operands, weights, reduction and errors: as in mse_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.l1_loss([1.0, 2.0], [1.0, 4.0], reduction="sum")
    >>> sad.Session(graph).run(loss)
    array(2., dtype=float32)
    """
    with asking("l1_loss", name):
        a, b = of_one_shape("l1_loss", BOTH, prediction, target)
        losses = build("abs", (_difference(a, b),))
        return reduced("l1_loss", losses, weights, reduction, name, a.dtype)


def huber_loss(
    prediction: Operand,
    target: Operand,
    *,
    delta: float = 1.0,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """d^2 / 2 for a distance d up to delta, then delta (d - delta / 2) (Huber 1964).

    delta: a number above 0.  Operands, weights, reduction and errors: as in mse_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.huber_loss([1.0, 2.0], [2.0, 5.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([0.5, 2.5], dtype=float32)
    """
    with asking("huber_loss", name):
        end = number("delta", delta, above=0)
        a, b = of_one_shape("huber_loss", BOTH, prediction, target)
        losses = _bent(_difference(a, b), end, 1.0, end)
        return reduced("huber_loss", losses, weights, reduction, name, a.dtype)


def smooth_l1_loss(
    prediction: Operand,
    target: Operand,
    *,
    beta: float = 1.0,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """d^2 / (2 beta) for a distance d up to beta, then d - beta / 2: huber_loss over its delta.

    beta: at least 0, where it is l1_loss.  Operands, weights, reduction, errors: as in mse_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.smooth_l1_loss([1.0, 2.0], [2.0, 5.0], beta=2.0, reduction="none")
    >>> sad.Session(graph).run(loss)
    array([0.25, 2.  ], dtype=float32)
    """
    with asking("smooth_l1_loss", name):
        end = number("beta", beta, least=0)
        a, b = of_one_shape("smooth_l1_loss", BOTH, prediction, target)
        difference = _difference(a, b)
        losses = _bent(difference, end, 1 / end, 1.0) if end else build("abs", (difference,))
        return reduced("smooth_l1_loss", losses, weights, reduction, name, a.dtype)


def poisson_nll_loss(
    prediction: Operand,
    target: Operand,
    *,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """-log of Poisson's probability of the target, but for log(target!).

    prediction: the logarithm of the rate, exp(x) - target x; without log_input the rate itself,
    x - target log(x + epsilon).  full: adds Stirling's approximation of log(target!) above 1.
    Operands, weights, reduction, errors: as in mse_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.poisson_nll_loss([0.0, 0.0], [0.0, 3.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([1., 1.], dtype=float32)
    """
    asked = "poisson_nll_loss"
    with asking(asked, name):
        small = number("epsilon", epsilon, least=0)
        a, b = of_one_shape(asked, BOTH, prediction, target)
        x, t = widened(a, b)
        if flag("log_input", log_input):
            # exp(-inf) - 0 (-inf) is 0: a rate of 0 explains a target of 0.
            losses = build("exp", (x,)) - build("multiply_no_nan", (x, t))
        else:
            losses = x - build("xlogy", (t, x + small))
        if flag("full", full):
            many = t > 1
            # Of targets that are left out a logarithm that exists.
            safe = build("where", (many, t, t.coerce(1.0)))
            log = build("log", (safe,))
            stirling = safe * log - safe + (log + math.log(2 * math.pi)) * 0.5
            losses = losses + build("where", (many, stirling, stirling.coerce(0.0)))
        return reduced(asked, losses, weights, reduction, name, a.dtype)


def gaussian_nll_loss(
    prediction: Operand,
    target: Operand,
    variance: Operand,
    *,
    full: bool = False,
    epsilon: float = 1e-6,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """(log v + (prediction - target)^2 / v) / 2, for a variance v, raised to epsilon if below.

    variance: floats that broadcast to the others; where it is below epsilon, its derivative is 0.
    full: adds log(2 pi) / 2.  Operands, weights, reduction, errors: as in mse_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.gaussian_nll_loss([1.0, 2.0], [1.0, 4.0], [1.0, 1.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([0., 2.], dtype=float32)
    """
    asked = "gaussian_nll_loss"
    with asking(asked, name):
        small = number("epsilon", epsilon, above=0)
        a, b = of_one_shape(asked, BOTH, prediction, target)
        a, b, v = floats(asked, a, b, variance)
        difference = _difference(a, b)
        spread = broadcasting(asked, "variances", v, difference)
        spread = build("clip", (spread, spread.coerce(small), spread.coerce(math.inf)))
        losses = (build("log", (spread,)) + build("square", (difference,)) / spread) * 0.5
        if flag("full", full):
            losses = losses + 0.5 * math.log(2 * math.pi)
        return reduced(asked, losses, weights, reduction, name, a.dtype)


def _difference(a: Any, b: Any) -> Any:
    """a - b, of half floats in float32."""
    left, right = widened(a, b)
    return left - right


def _bent(difference: Any, end: float, curve: float, slope: float) -> Any:
    """curve d^2 / 2 up to `end`, then the line of that slope that continues it."""
    distance = build("abs", (difference,))
    near = build("square", (difference,)) * (0.5 * curve)
    far = (distance - 0.5 * end) * slope
    return build("where", (distance < end, near, far))
