"""Losses of yes or no: of probabilities, of scores, of distributions.

Predictions and targets have one shape; weights and reduction are those of `reduction`.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ShapeError
from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build
from ..operands import Operand, result
from ..options import flag
from ..tensor import Tensor
from .floats import widened
from .reduction import Reduction, broadcasting, check_reduction, of_one_shape, reduced

__all__ = ["binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"]
__all__ += ["multilabel_soft_margin_loss", "soft_margin_loss"]

BOTH = ("the prediction", "the target")


def binary_cross_entropy(
    probabilities: Operand,
    target: Operand,
    *,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """-target log(p) - (1 - target) log(1 - p).

    probabilities, target: floats from 0 to 1, of one shape.  Infinite where a target is
    impossible; a term whose factor is 0 adds nothing to value and gradient.
    weights: of a weighted mean or sum, which broadcast.  reduction: "mean", "sum" or "none".
    Raises ShapeError for shapes that differ.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.binary_cross_entropy([0.5, 1.0], [1.0, 1.0], reduction="none")
    >>> sad.Session(graph).run(loss).round(3)
    array([ 0.693, -0.   ], dtype=float32)
    """
    asked = "binary_cross_entropy"
    with asking(asked, name):
        p, y = of_one_shape(asked, BOTH, probabilities, target)
        wide, t = widened(p, y)
        yes = build("xlogy", (t, wide))
        no = build("xlog1py", (1 - t, -wide))
        return reduced(asked, -(yes + no), weights, reduction, name, p.dtype)


def binary_cross_entropy_with_logits(
    logits: Operand,
    target: Operand,
    *,
    pos_weight: Operand | None = None,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(logits), which keeps its digits for large logits.

    logits, target: floats of one shape.  pos_weight: numbers that broadcast to them, by which the
    loss of a target of 1 is multiplied.  weights, reduction, errors: as in binary_cross_entropy.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.binary_cross_entropy_with_logits(
    ...         [0.0, 1000.0], [1.0, 0.0], reduction="none"
    ...     )
    >>> sad.Session(graph).run(loss).round(1)
    array([7.e-01, 1.e+03], dtype=float32)
    """
    asked = "binary_cross_entropy_with_logits"
    with asking(asked, name):
        x, y = of_one_shape(asked, BOTH, logits, target)
        factor = _factor(asked, "weights of positive targets", pos_weight, x)
        wide, t = widened(x, y)
        losses = _with_logits(wide, t, factor)
        return reduced(asked, losses, weights, reduction, name, x.dtype)


def _factor(asked: str, what: str, given: Operand | None, x: Tensor) -> Any:
    """What losses are multiplied by, in the dtype that they compute in; or None."""
    return None if given is None else widened(broadcasting(asked, what, given, x))[0]


def _with_logits(x: Any, y: Any, positive: Any) -> Any:
    yes = y if positive is None else y * positive
    return -(
        build("multiply_no_nan", (build("log_sigmoid", (x,)), yes))
        + build("multiply_no_nan", (build("log_sigmoid", (-x,)), 1 - y))
    )


def kl_div(
    log_probabilities: Operand,
    target: Operand,
    *,
    log_target: bool = False,
    weights: Operand | None = None,
    reduction: Reduction | Any = "mean",
    name: str | None = None,
) -> Tensor:
    """target (log(target) - log_probabilities): the terms of Kullback and Leibler's divergence.

    log_probabilities, target: floats of one shape.  log_target: the target is a logarithm, too.
    Where the target is 0, so is the term.  reduction: "mean" is over all terms; "batchmean", the
    divergence itself, divides their sum by the size of the first axis; "sum"; "none".
    weights, errors: as in binary_cross_entropy.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.kl_div(sad.log([[0.5, 0.5]]), [[1.0, 0.0]], reduction="batchmean")
    >>> sad.Session(graph).run(loss).round(3)
    np.float32(0.693)
    """
    asked = "kl_div"
    with asking(asked, name):
        check_reduction(reduction, ("mean", "batchmean", "sum", "none"))
        p, q = of_one_shape(
            asked, ("the log probabilities", "the target"), log_probabilities, target
        )
        logs, share = widened(p, q)
        if flag("log_target", log_target):
            terms = build("multiply_no_nan", (share - logs, build("exp", (share,))))
        else:
            entropy = build("xlogy", (share, share))
            terms = entropy - build("multiply_no_nan", (logs, share))
        if reduction != "batchmean":
            return reduced(asked, terms, weights, reduction, name, p.dtype)
        if not terms.type.ndim:
            raise ShapeError(
                "there is no batch", expected="a tensor of rank 1 or more", found=p.describe()
            )
        total = reduced(asked, terms, weights, "sum", None)
        count = methods.count(terms, (0,), terms.type.dtype)
        return result(methods.cast(total / count, p.dtype, name))


def soft_margin_loss(
    scores: Operand,
    target: Operand,
    *,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """log(1 + exp(-target score)), for targets of 1 and -1.

    scores, target: floats of one shape.  weights, reduction, errors: as in binary_cross_entropy.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.soft_margin_loss([0.0, 50.0], [1.0, -1.0], reduction="none")
    >>> sad.Session(graph).run(loss).round(3)
    array([ 0.693, 50.   ], dtype=float32)
    """
    asked = "soft_margin_loss"
    with asking(asked, name):
        x, y = of_one_shape(asked, ("the scores", "the target"), scores, target)
        wide, t = widened(x, y)
        losses = build("softplus", (-(t * wide),))
        return reduced(asked, losses, weights, reduction, name, x.dtype)


def multilabel_soft_margin_loss(
    logits: Operand,
    target: Operand,
    *,
    class_weights: Operand | None = None,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """The mean of binary_cross_entropy_with_logits over classes, which are along the last axis.

    logits, target: floats of one shape, of rank 1 or more.  class_weights: one for each class, by
    which its loss is multiplied.  weights: broadcast to the losses of examples.
    reduction, errors: as in binary_cross_entropy.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.multilabel_soft_margin_loss([[0.0, 0.0]], [[1.0, 0.0]])
    >>> sad.Session(graph).run(loss).round(3)
    np.float32(0.693)
    """
    asked = "multilabel_soft_margin_loss"
    with asking(asked, name):
        x, y = of_one_shape(asked, ("the logits", "the target"), logits, target)
        place = dimensions.axes_of(-1, x.ndim)
        factor = _factor(asked, "class weights", class_weights, x)
        wide, t = widened(x, y)
        losses = _with_logits(wide, t, None)
        losses = losses if factor is None else losses * factor
        return reduced(asked, methods.mean(losses, place, False), weights, reduction, name, x.dtype)
