"""Losses: how far predictions are from what they should have been."""

from __future__ import annotations

from typing import Any, Literal, get_args

from staticad_schema.errors import ArgumentError, DTypeError, ShapeError
from staticad_schema.shapes import normalize_axis, same_shape
from staticad_schema.sites import asking
from staticad_schema.types import FLOATING, INTEGER

from .. import dimensions, methods
from ..building import build, renamed
from ..operands import Operand, graph_of, result, tensor
from ..tensor import Tensor

Reduction = Literal["mean", "sum", "none"]


def cross_entropy(
    logits: Operand,
    labels: Operand,
    *,
    axis: int = -1,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """-log softmax(logits) at the labels, over the classes along `axis`.

    logits: floats.  labels: integers of the shape of logits without `axis`, which must name a
    class (else ExecutionError), or probabilities of the shape and dtype of logits.
    reduction: "mean", "sum" or "none", over all that is left.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.cross_entropy([[0.0, 0.0], [0.0, 9.0]], [0, 1], reduction="none")
    >>> sad.Session(graph).run(loss).round(3)
    array([0.693, 0.   ], dtype=float32)
    """
    with asking("cross_entropy", name):
        graph = graph_of("cross_entropy", logits, labels)
        scores = tensor("cross_entropy", logits, graph)
        targets = tensor("cross_entropy", labels, graph)
        if reduction not in get_args(Reduction):
            raise ArgumentError(
                "not a reduction",
                expected=", ".join(map(repr, get_args(Reduction))),
                found=repr(reduction),
            )
        if scores.type.kind not in FLOATING:
            raise DTypeError(
                "the logits are not floating",
                expected="logits of a floating dtype",
                found=scores.describe(),
                hint="the order is cross_entropy(logits, labels)"
                if targets.type.kind in FLOATING
                else None,
            )
        place = normalize_axis(dimensions.integer(axis), scores.ndim)
        if targets.type.kind in INTEGER:
            try:
                losses, _ = build("cross_entropy", (scores, targets), {"axis": place})
            except ShapeError as error:
                error.hint = _fitting(scores, targets, place)
                raise
        else:
            losses = _dense(scores, targets, place)
        if reduction == "none":
            return result(renamed(losses, name))
        if reduction == "sum":
            return result(methods.reduce("sum", losses, None, False, name))
        return result(methods.mean(losses, None, False, name))


def _fitting(scores: Tensor, targets: Tensor, axis: int) -> str | None:
    """What would make labels of integers fit, if their shape tells what they are."""
    if targets.shape == scores.shape:
        return "probabilities, one-hot ones too, are floating: labels.astype(logits.dtype)"
    if targets.ndim == scores.ndim and targets.shape[axis] == 1:
        return f"drop the axis of size 1: sad.squeeze(labels, {axis})"
    return None


def _dense(scores: Tensor, targets: Tensor, axis: int) -> Any:
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
    logs = build("log_softmax", (scores,), {"axis": axis})
    products = build("multiply_no_nan", (logs, targets))
    total = build("sum", (products,), {"axis": (axis,), "keepdims": False})
    return build("negative", (total,))
