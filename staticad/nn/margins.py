"""Losses that ask for a margin: of a score, between scores, between distances.

weights and reduction are those of `reduction`: weights broadcast to the losses, "mean" is the
weighted mean.  Where a margin is kept, or just reached, the derivative is 0.
"""

from __future__ import annotations

from typing import Any

from staticad_schema.sites import asking

from .. import dimensions, methods
from ..building import build
from ..linalg.norms import p_norm
from ..operands import Operand, graph_of, result, tensor
from ..options import choice, flag, number
from ..tensor import Tensor
from .classification import at_labels, class_shares, integer_labels, named
from .floats import float_tensor, floats, widened
from .reduction import Reduction, of_one_shape, reduced

__all__ = ["cosine_embedding_loss", "cosine_similarity", "hinge_embedding_loss", "hinge_loss"]
__all__ += ["margin_ranking_loss", "multi_margin_loss", "pairwise_distance", "squared_hinge_loss"]
__all__ += ["triplet_margin_loss"]


def _above(x: Any) -> Any:
    return build("relu", (x,))


def hinge_loss(
    scores: Operand,
    target: Operand,
    *,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """max(0, 1 - target score), for targets of 1 and -1.

    scores, target: floats of one shape.  weights: of a weighted mean or sum, which broadcast.
    reduction: "mean", "sum" or "none".  Raises ShapeError for shapes that differ.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.hinge_loss([0.5, 2.0, 2.0], [1.0, 1.0, -1.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([0.5, 0. , 3. ], dtype=float32)
    """
    with asking("hinge_loss", name):
        x, losses = _hinge("hinge_loss", scores, target)
        return reduced("hinge_loss", losses, weights, reduction, name, x.dtype)


def squared_hinge_loss(
    scores: Operand,
    target: Operand,
    *,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """The square of hinge_loss.

    Operands, weights, reduction and errors: as in hinge_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.squared_hinge_loss([0.5, 2.0, 2.0], [1.0, 1.0, -1.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([0.25, 0.  , 9.  ], dtype=float32)
    """
    with asking("squared_hinge_loss", name):
        x, losses = _hinge("squared_hinge_loss", scores, target)
        losses = build("square", (losses,))
        return reduced("squared_hinge_loss", losses, weights, reduction, name, x.dtype)


def _hinge(asked: str, scores: Operand, target: Operand) -> tuple[Tensor, Any]:
    x, y = of_one_shape(asked, ("the scores", "the target"), scores, target)
    wide, t = widened(x, y)
    return x, _above(1 - wide * t)


def hinge_embedding_loss(
    distances: Operand,
    target: Operand,
    *,
    margin: float = 1.0,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """The distance for a target of 1 (alike), max(0, margin - distance) for another.

    distances, target: floats of one shape.  weights, reduction and errors: as in hinge_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.hinge_embedding_loss([0.25, 0.25], [1.0, -1.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([0.25, 0.75], dtype=float32)
    """
    asked = "hinge_embedding_loss"
    with asking(asked, name):
        apart = number("margin", margin)
        x, y = of_one_shape(asked, ("the distances", "the target"), distances, target)
        (wide,) = widened(x)
        losses = build("where", (build("equal", (y, 1)), wide, _above(apart - wide)))
        return reduced(asked, losses, weights, reduction, name, x.dtype)


def margin_ranking_loss(
    first: Operand,
    second: Operand,
    target: Operand,
    *,
    margin: float = 0.0,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """max(0, margin - target (first - second)): a target of 1 ranks the first higher, -1 lower.

    first, second, target: floats of one shape.  weights, reduction and errors: as in hinge_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.margin_ranking_loss([1.0, 1.0], [3.0, 3.0], [1.0, -1.0], reduction="none")
    >>> sad.Session(graph).run(loss)
    array([2., 0.], dtype=float32)
    """
    asked = "margin_ranking_loss"
    with asking(asked, name):
        apart = number("margin", margin)
        what = ("the first scores", "the second scores", "the target")
        a, b, y = of_one_shape(asked, what, first, second, target)
        left, right, t = widened(a, b, y)
        return reduced(asked, _above(apart - t * (left - right)), weights, reduction, name, a.dtype)


def multi_margin_loss(
    scores: Operand,
    labels: Operand,
    *,
    p: int = 1,
    margin: float = 1.0,
    axis: int = -1,
    class_weights: Operand | None = None,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """The mean over classes of max(0, margin - score of the label + score)^p, the label's left out.

    scores: floats, classes along `axis`.  labels: integers of their shape without the axis, which
    must name a class (else ExecutionError).  p: 1 or 2.  class_weights: one for each class, by
    which the loss of a label is multiplied.  weights, reduction: as in hinge_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.multi_margin_loss([[0.5, 1.0, 0.0, 0.5]], [1])
    >>> sad.Session(graph).run(loss)
    array(0.25, dtype=float32)
    """
    asked = "multi_margin_loss"
    with asking(asked, name):
        apart = number("margin", margin)
        choice("p", p, (1, 2))
        graph = graph_of(asked, scores, labels, class_weights, weights)
        value = float_tensor(asked, tensor(asked, scores, graph))
        place = dimensions.axis_of(axis, value.ndim)
        targets = integer_labels(tensor(asked, labels, graph), value, place)
        targets = result(named(asked, targets, value, place))
        (wide,) = widened(value)
        label = at_labels(wide, targets, place)
        column = (*targets.shape[:place], 1, *targets.shape[place:])
        gaps = _above(apart - build("reshape", (label,), {"shape": column}) + wide)
        gaps = build("square", (gaps,)) if p == 2 else gaps
        # The label's own term is the margin, whatever its score is: it is not counted.
        hot = build("one_hot", (targets,), {"depth": value.shape[place], "dtype": wide.type.dtype})
        last = value.ndim - 1
        order = (*range(place), last, *range(place, last))
        hot = hot if place == last else build("permute_dims", (hot,), {"axes": order})
        gaps = build("where", (build("equal", (hot, 1)), gaps.coerce(0.0), gaps))
        losses = methods.mean(gaps, place, False)
        share = class_shares(asked, class_weights, value, targets, place)
        losses = losses if share is None else losses * share
        return reduced(asked, losses, weights, reduction, name, value.dtype)


# ------------------------------------------------------------------ distances


def pairwise_distance(
    first: Operand,
    second: Operand,
    /,
    p: float = 2.0,
    epsilon: float = 1e-6,
    *,
    axis: int = -1,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The p-norm of first - second + epsilon along `axis`, of tensors that broadcast.

    first, second: floats.  p: at least 1, or infinity.  At 0 the derivative is 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     d = sad.nn.pairwise_distance([[3.0, 4.0]], [[0.0, 0.0]], epsilon=0.0)
    >>> sad.Session(graph).run(d)
    array([5.], dtype=float32)
    """
    asked = "pairwise_distance"
    with asking(asked, name):
        a, b = floats(asked, first, second)
        left, right = widened(a, b)
        y = _distance(left, right, p, epsilon, axis)
        if not flag("keepdims", keepdims):
            place = dimensions.axis_of(axis, y.type.ndim)
            shape = y.type.shape[:place] + y.type.shape[place + 1 :]
            y = build("reshape", (y,), {"shape": shape})
        return result(methods.cast(y, a.dtype, name))


def _distance(a: Any, b: Any, p: float, epsilon: float, axis: int) -> Any:
    """The distance along an axis that stays."""
    order, small = number("p", p, least=1, finite=False), number("epsilon", epsilon, least=0)
    difference = a - b + small
    place = dimensions.axis_of(axis, difference.type.ndim)
    return p_norm(difference, order, (place,), True)


def triplet_margin_loss(
    anchor: Operand,
    positive: Operand,
    negative: Operand,
    *,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """max(0, margin + distance to the positive - distance to the negative) (Schroff et al. 2015).

    anchor, positive, negative: floats [..., features] of one shape; distances are those of
    pairwise_distance.  swap: the distance to the negative is that of anchor or positive, whichever
    is nearer (Balntas et al. 2016).  weights, reduction and errors: as in hinge_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     loss = sad.nn.triplet_margin_loss([[0.0]], [[2.0]], [[3.0]], epsilon=0.0, margin=2.0)
    >>> sad.Session(graph).run(loss)
    array(1., dtype=float32)
    """
    asked = "triplet_margin_loss"
    with asking(asked, name):
        apart = number("margin", margin)
        what = ("the anchor", "the positive", "the negative")
        given = of_one_shape(asked, what, anchor, positive, negative)
        a, near, far = widened(*given)
        away = _distance(a, far, p, epsilon, -1)
        if flag("swap", swap):
            away = build("minimum", (away, _distance(near, far, p, epsilon, -1)))
        losses = _above(apart + _distance(a, near, p, epsilon, -1) - away)
        losses = build("reshape", (losses,), {"shape": losses.type.shape[:-1]})
        return reduced(asked, losses, weights, reduction, name, given[0].dtype)


def cosine_similarity(
    first: Operand,
    second: Operand,
    /,
    axis: int = -1,
    epsilon: float = 1e-8,
    *,
    name: str | None = None,
) -> Tensor:
    """The cosine of the angle between vectors along `axis`, of tensors that broadcast.

    The sum of products of both, each over its norm, or over epsilon where that is larger.
    first, second: floats.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     c = sad.nn.cosine_similarity([[1.0, 0.0], [0.0, 0.0]], [[3.0, 4.0], [3.0, 4.0]])
    >>> sad.Session(graph).run(c)
    array([0.6, 0. ], dtype=float32)
    """
    asked = "cosine_similarity"
    with asking(asked, name):
        a, b = floats(asked, first, second)
        left, right = widened(a, b)
        y = _cosine(left, right, axis, epsilon)
        return result(methods.cast(y, a.dtype, name))


def _cosine(a: Any, b: Any, axis: int, epsilon: float) -> Any:
    small = number("epsilon", epsilon, least=0)

    def unit(x: Any) -> Any:
        place = dimensions.axis_of(axis, x.type.ndim)
        length = build("maximum", (p_norm(x, 2.0, (place,), True), x.coerce(small)))
        return x / length

    products = unit(a) * unit(b)
    place = dimensions.axis_of(axis, products.type.ndim)
    return build("sum", (products,), {"axis": (place,), "keepdims": False})


def cosine_embedding_loss(
    first: Operand,
    second: Operand,
    target: Operand,
    *,
    margin: float = 0.0,
    weights: Operand | None = None,
    reduction: Reduction = "mean",
    name: str | None = None,
) -> Tensor:
    """1 - cosine_similarity for a target of 1, max(0, cosine_similarity - margin) for another.

    first, second: floats [..., features] of one shape.  target: numbers [...].
    weights, reduction and errors: as in hinge_loss.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     a, b = [[1.0, 0.0], [1.0, 0.0]], [[3.0, 4.0], [3.0, 4.0]]
    ...     loss = sad.nn.cosine_embedding_loss(a, b, [1.0, -1.0], reduction="none")
    >>> sad.Session(graph).run(loss).round(3)
    array([0.4, 0.6], dtype=float32)
    """
    asked = "cosine_embedding_loss"
    with asking(asked, name):
        apart = number("margin", margin)
        a, b = of_one_shape(asked, ("the first vectors", "the second vectors"), first, second)
        left, right = widened(a, b)
        cosine = _cosine(left, right, -1, 1e-8)
        y = tensor(asked, target, graph_of(asked, a)).astype(cosine.type.dtype)
        cosine, y = of_one_shape(asked, ("the vectors", "the target"), cosine, y)
        alike = build("equal", (y, 1))
        losses = build("where", (alike, 1 - cosine, _above(cosine - apart)))
        return reduced(asked, losses, weights, reduction, name, a.dtype)
