"""Losses of predicted classes, given as scores (logits), log probabilities or probabilities.

Labels that are integers name a class; others fail when they are met.  weights and reduction are
those of `reduction`: weights broadcast to the losses, "mean" is the weighted mean.
"""

from __future__ import annotations

from typing import Any

from staticad_schema import dims
from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.shapes import same_shape
from staticad_schema.sites import asking
from staticad_schema.types import FLOATING, INT64, INTEGER

from .. import dimensions, methods
from ..building import build, renamed
from ..checking import counted
from ..finding import expected
from ..operands import Operand, graph_of, result, tensor
from ..options import number
from ..tensor import Tensor
from .floats import float_tensor, widened
from .reduction import Reduction, check_reduction, reduced

__all__ = ["cross_entropy", "nll_loss"]


def cross_entropy(
    logits: Operand,
    labels: Operand,
    *,
    axis: int = -1,
    label_smoothing: float = 0.0,
    ignore_index: int | None = None,
    class_weights: Operand | None = None,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """-log softmax(logits) at the labels, over the classes along `axis`.

    logits: floats.  labels: integers of the shape of logits without `axis`, which must name a
    class (else ExecutionError), or probabilities of the shape and dtype of logits.
    label_smoothing: the share, from 0 to 1, of a label that is spread over all classes.
    ignore_index: a label, of a class or not, whose losses are left out.
    class_weights: one number for each class, by which its part of a loss is multiplied.
    weights: numbers that broadcast to the losses.
    reduction: "none", "sum" or "mean", over all that is left.  The mean of losses with labels that
    are integers divides by the sum of their classes' weights (times weights); of labels that are
    probabilities by the number of losses (the sum of weights).  Of nothing, such as labels that
    are all ignored, it is NaN, and its gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.cross_entropy([[0.0, 0.0], [0.0, 9.0]], [0, 1], reduction="none")
    >>> sad.Session(graph).run(loss).round(3)
    array([0.693, 0.   ], dtype=float32)
    """
    asked = "cross_entropy"
    with asking(asked, name):
        graph = graph_of(asked, logits, labels, class_weights, weights)
        scores = tensor(asked, logits, graph)
        targets = tensor(asked, labels, graph)
        check_reduction(reduction)
        if scores.type.kind not in FLOATING:
            raise DTypeError(
                "the logits are not floating",
                expected="logits of a floating dtype",
                found=scores.describe(),
                hint="the order is cross_entropy(logits, labels)"
                if targets.type.kind in FLOATING
                else None,
            )
        smoothing = _smoothing(label_smoothing)
        place = dimensions.axis_of(axis, scores.ndim)
        by_class = _class_weights(asked, class_weights, scores, place)
        if targets.type.kind not in INTEGER:
            if ignore_index is not None:
                raise ArgumentError(
                    "probabilities are not ignored by an index",
                    expected="labels that are integers, or no ignore_index",
                    found=targets.describe(),
                    hint="use weights",
                )
            losses = _dense(scores, targets, place, smoothing, by_class)
            return reduced(asked, losses, weights, reduction, name, scores.dtype)
        kept, safe = _counted(targets, ignore_index)
        if by_class is not None:
            safe = named(asked, safe, scores, place)
        try:
            losses, logs = build("cross_entropy", (scores, safe), {"axis": place})
        except ShapeError as error:
            error.hint = _fitting(scores, targets, place)
            raise
        plain = by_class is None and not smoothing and kept is None
        if plain:
            return _reduced_plain(asked, losses, weights, reduction, name)
        losses, logs = widened(losses, logs)
        share = _of_class(by_class, safe)
        losses = losses if share is None else build("multiply_no_nan", (losses, share))
        if smoothing:
            spread = _spread(logs, place, by_class)
            losses = losses * (1 - smoothing) + spread * smoothing
        return _reduced_kept(asked, losses, kept, share, weights, reduction, name, scores.dtype)


def nll_loss(
    log_probabilities: Operand,
    labels: Operand,
    *,
    axis: int = -1,
    ignore_index: int | None = None,
    class_weights: Operand | None = None,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """-log_probabilities at the labels, over the classes along `axis`.

    log_probabilities: floats, such as those of log_softmax.  labels: integers of their shape
    without `axis`, which must name a class (else ExecutionError).
    ignore_index, class_weights, weights, reduction: as in cross_entropy.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.nll_loss([[-1.0, -2.0], [-3.0, -4.0]], [0, 1])
    >>> sad.Session(graph).run(loss)
    array(2.5, dtype=float32)
    """
    asked = "nll_loss"
    with asking(asked, name):
        graph = graph_of(asked, log_probabilities, labels, class_weights, weights)
        logs = float_tensor(asked, tensor(asked, log_probabilities, graph))
        targets = tensor(asked, labels, graph)
        check_reduction(reduction)
        place = dimensions.axis_of(axis, logs.ndim)
        by_class = _class_weights(asked, class_weights, logs, place)
        kept, safe = _counted(integer_labels(targets, logs, place), ignore_index)
        safe = named(asked, safe, logs, place)
        losses = -at_labels(logs, safe, place)
        share = _of_class(by_class, safe)
        losses = losses if share is None else build("multiply_no_nan", (losses, share))
        return _reduced_kept(asked, losses, kept, share, weights, reduction, name, logs.dtype)


# ------------------------------------------------------------------ labels


def integer_labels(labels: Tensor, scores: Tensor, axis: int) -> Tensor:
    """The labels themselves.  Raises GraphError unless they are integers that fit the scores."""
    if labels.type.kind not in INTEGER:
        raise DTypeError(
            "labels are not integers", expected="an integer dtype", found=labels.describe()
        )
    rest = scores.shape[:axis] + scores.shape[axis + 1 :]
    if same_shape(rest, labels.shape) is False:
        raise ShapeError(
            "labels do not fit the scores",
            expected=f"{labels.type.with_shape(rest)}, for {scores.describe()}",
            found=labels.describe(),
            hint=_fitting(scores, labels, axis),
        )
    return result(expected(labels, rest))


def named(asked: str, labels: Any, scores: Any, axis: int) -> Any:
    """The labels; a run fails where one names no class."""
    return counted(labels, asked, "a label names no class", scores.type.shape[axis])


def at_labels(scores: Any, labels: Any, axis: int) -> Any:
    """The score of each label's class, for labels that name one."""
    shape = (*labels.type.shape[:axis], 1, *labels.type.shape[axis:])
    places = build("reshape", (labels.astype(INT64),), {"shape": shape})
    picked = build("take_along_axis", (scores, places), {"axis": axis})
    return build("reshape", (picked,), {"shape": labels.type.shape})


def _counted(labels: Tensor, ignore_index: int | None) -> tuple[Any, Any]:
    """(which labels count, None for all; the labels, with a class for those that do not)."""
    if ignore_index is None:
        return None, labels
    index = dimensions.integer(ignore_index)
    low, high = methods.limits(labels.dtype)
    if not low <= index <= high:
        return None, labels
    kept = build("not_equal", (labels, labels.coerce(index)))
    return kept, build("where", (kept, labels, labels.coerce(0)))


def _fitting(scores: Tensor, targets: Tensor, axis: int) -> str | None:
    """What would make labels of integers fit, if their shape tells what they are."""
    if targets.shape == scores.shape:
        return "probabilities, one-hot ones too, are floating: labels.astype(logits.dtype)"
    if targets.ndim == scores.ndim and targets.shape[axis] == 1:
        return f"drop the axis of size 1: sad.squeeze(labels, {axis})"
    return None


# ------------------------------------------------------------------ parts


def _smoothing(value: float) -> float:
    share = number("label_smoothing", value, least=0)
    if share > 1:
        raise ArgumentError("not a share", expected="from 0 to 1", found=repr(value))
    return share


def _class_weights(asked: str, weights: Operand | None, scores: Tensor, axis: int) -> Any:
    """One weight for each class, laid along the axis, in the dtype that computes; or None."""
    if weights is None:
        return None
    given = weights if isinstance(weights, Tensor) else scores.coerce(weights)
    vector = tensor(asked, given, graph_of(asked, scores))
    if vector.ndim != 1 or dims.same_size(vector.shape[0], scores.shape[axis]) is False:
        raise ShapeError(
            "not one weight for each class",
            expected=f"a vector of {scores.shape[axis]}",
            found=vector.describe(),
        )
    (wide,) = widened(expected(vector, (scores.shape[axis],)).astype(scores.dtype))
    shape = (wide.type.shape[0],) + (1,) * (scores.ndim - axis - 1)
    return build("reshape", (wide,), {"shape": shape})


def _of_class(by_class: Any, labels: Any) -> Any:
    """The weight of each label's class; None without weights."""
    if by_class is None:
        return None
    vector = build("reshape", (by_class,), {"shape": (by_class.type.shape[0],)})
    return build("take", (vector, labels.astype(INT64)), {"axis": 0})


def class_shares(
    asked: str, weights: Operand | None, scores: Tensor, labels: Any, axis: int
) -> Any:
    """The weight of each label's class, in the dtype that computes; None without weights."""
    return _of_class(_class_weights(asked, weights, scores, axis), labels)


def _spread(logs: Any, axis: int, by_class: Any) -> Any:
    """The loss of a label that is all classes alike."""
    if by_class is not None:
        logs = build("multiply_no_nan", (logs, by_class))
    return -methods.mean(logs, axis, False)


def _dense(scores: Tensor, targets: Tensor, axis: int, smoothing: float, by_class: Any) -> Any:
    """The losses for labels that are probabilities; a probability of 0 adds nothing."""
    if targets.dtype != scores.dtype:
        raise DTypeError(
            "labels are neither integers nor of the logits' dtype",
            expected=f"an integer dtype, or {scores.dtype.name}, as {scores.describe()}",
            found=targets.describe(),
        )
    if same_shape(scores.shape, targets.shape) is False:
        raise ShapeError(
            "probabilities have another shape than the logits",
            expected=f"{scores.type}, as {scores.describe()}",
            found=targets.describe(),
        )
    targets = result(expected(targets, scores.shape))
    logs = build("log_softmax", (scores,), {"axis": axis})
    if by_class is not None or smoothing:
        logs, targets = widened(logs, targets)
    if smoothing:
        share = smoothing / methods.count(logs, (axis,), logs.type.dtype)
        targets = targets * (1 - smoothing) + share
    if by_class is not None:
        targets = targets * by_class
    products = build("multiply_no_nan", (logs, targets))
    total = build("sum", (products,), {"axis": (axis,), "keepdims": False})
    return build("negative", (total,))


def _reduced_plain(
    asked: str, losses: Any, weights: Operand | None, reduction: Any, name: str | None
) -> Tensor:
    """The losses of all labels alike."""
    if weights is not None:
        return reduced(asked, losses, weights, reduction, name)
    if reduction == "none":
        return result(renamed(losses, name))
    if reduction == "sum":
        return result(methods.reduce("sum", losses, None, False, name))
    return result(methods.mean(losses, None, False, name))


def _reduced_kept(
    asked: str,
    losses: Any,
    kept: Any,
    share: Any,
    weights: Operand | None,
    reduction: Any,
    name: str | None,
    dtype: Any,
) -> Tensor:
    """The losses of labels that count; the mean is over their classes' weights."""
    (losses,) = widened(losses)
    if kept is not None:
        losses = build("where", (kept, losses, losses.coerce(0.0)))
        if share is not None:
            share = build("where", (kept, share, share.coerce(0.0)))
        else:
            share = kept.astype(losses.type.dtype)
    if reduction != "mean" or share is None:
        return reduced(asked, losses, weights, reduction, name, dtype)
    total = reduced(asked, losses, weights, "sum", None)
    parts = reduced(asked, share, weights, "sum", None)
    return result(methods.cast(total / parts, dtype, name))
