"""Log probabilities of counts and classes."""

from __future__ import annotations

import math

from staticad_schema.dims import Dim
from staticad_schema.errors import DTypeError, ShapeError
from staticad_schema.shapes import broadcast_shapes
from staticad_schema.sites import asking
from staticad_schema.types import INT64, INTEGER

from ... import dimensions, sizes
from ...building import build, renamed
from ...operands import Operand, graph_of, result, tensor
from ...tensor import Tensor
from .support import bounded, is_count, log, not_negative, operands, probability, supported


def bernoulli(x: Operand, p: Operand = 0.5, *, name: str | None = None) -> Tensor:
    """Of 1 with probability p, and 0 else.

    x, p: floats that broadcast; integers and bools become float32.  p is from 0 to 1:
    ArgumentError for a number that is not, NaN where a run finds so.  -inf for other x, with
    gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.bernoulli([0.0, 1.0, 2.0], 0.25)
    >>> sad.Session(graph).run(y).round(3)
    array([-0.288, -1.386,   -inf], dtype=float32)
    """
    with asking("random.logpdf.bernoulli", name):
        point, chance = operands("bernoulli", x, p)
        chance = probability(p, chance)
        inside = build("equal", (point, 0.0)) | build("equal", (point, 1.0))
        k = supported(point, inside, 0.0)
        value = build("xlogy", (k, chance)) + build("xlog1py", (1.0 - k, -chance))
        return result(bounded(point, inside, value, name))


def binomial(x: Operand, n: Operand, p: Operand, *, name: str | None = None) -> Tensor:
    """Of x successes in n independent trials, each with probability p.

    x, n, p: floats that broadcast; integers become float32.  p is from 0 to 1: ArgumentError for
    a number that is not, NaN where a run finds so, or an n that is no count.  -inf for an x that
    is no count up to n, with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.binomial([0, 1, 3], 2, 0.25)
    >>> sad.Session(graph).run(y).round(3)
    array([-0.575, -0.981,   -inf], dtype=float32)
    """
    with asking("random.logpdf.binomial", name):
        point, trials, chance = operands("binomial", x, n, p)
        chance = probability(p, chance)
        trials = build("where", (is_count(trials), trials, trials.coerce(math.nan)))
        inside = is_count(point) & (point <= trials)
        k = build("where", (inside | build("isnan", (point,)), point, trials * 0.0))
        rest = trials - k
        ways = -build("betaln", (rest + 1.0, k + 1.0)) - build("log1p", (trials,))
        value = ways + build("xlogy", (k, chance)) + build("xlog1py", (rest, -chance))
        return result(bounded(point, inside, value, name))


def poisson(x: Operand, rate: Operand = 1.0, *, name: str | None = None) -> Tensor:
    """Of the Poisson distribution, whose mean and variance are the rate.

    x, rate: floats that broadcast; integers become float32.  The rate is not negative:
    ArgumentError for a number that is, NaN where a run finds so.  -inf for an x that is no count,
    with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.poisson([-1, 0, 2], 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -2.   , -1.307], dtype=float32)
    """
    with asking("random.logpdf.poisson", name):
        point, mean = operands("poisson", x, rate)
        mean = not_negative("rate", rate, mean)
        inside = is_count(point)
        k = supported(point, inside, 0.0)
        value = build("xlogy", (k, mean)) - mean - build("gammaln", (k + 1.0,))
        return result(bounded(point, inside, value, name))


def geometric(x: Operand, p: Operand, *, name: str | None = None) -> Tensor:
    """Of succeeding at the x-th trial, each with probability p.

    x, p: floats that broadcast; integers become float32.  p is from 0 to 1: ArgumentError for a
    number that is not, NaN where a run finds so.  -inf for an x that is no count from 1 on, with
    gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.geometric([0, 1, 2], 0.25)
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -1.386, -1.674], dtype=float32)
    """
    with asking("random.logpdf.geometric", name):
        point, chance = operands("geometric", x, p)
        chance = probability(p, chance)
        inside = is_count(point) & (point >= 1)
        k = supported(point, inside, 1.0)
        value = build("xlog1py", (k - 1.0, -chance)) + log(chance)
        return result(bounded(point, inside, value, name))


def categorical(x: Operand, logits: Operand, axis: int = -1, *, name: str | None = None) -> Tensor:
    """Of class x, with probability softmax(logits) along an axis.

    x: integers, of a shape that broadcasts with that of logits without the axis.  logits: floats.
    -inf for an x that is no class, with gradient 0.

    >>> import math
    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.categorical([0, 1, 2], [0.0, math.log(3)])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.386, -0.288,   -inf], dtype=float32)
    """
    with asking("random.logpdf.categorical", name):
        graph = graph_of("random.logpdf.categorical", x, logits)
        chosen = tensor("random.logpdf.categorical", x, graph)
        (scores,) = operands("categorical", tensor("random.logpdf.categorical", logits, graph))
        if chosen.type.kind not in INTEGER:
            raise DTypeError("not a class", expected="integers", found=chosen.describe())
        if not scores.ndim:
            raise ShapeError(
                "there are no classes", expected="logits of one or more", found=scores.describe()
            )
        place = dimensions.axis_of(axis, scores.ndim)
        value = build("log_softmax", (scores,), {"axis": place})
        if place != scores.ndim - 1:
            lead = [i for i in range(scores.ndim) if i != place]
            value = build("permute_dims", (value,), {"axes": (*lead, place)})
        count = value.shape[-1]
        shape = broadcast_shapes([chosen.shape, value.shape[:-1]])
        value = build("broadcast_to", (value,), {"shape": (*shape, count)})
        index = build("broadcast_to", (chosen.astype(INT64),), {"shape": shape})
        end = sizes.value(graph, count, INT64) if isinstance(count, Dim) else count
        inside = (index >= 0) & (index < end)
        place = build("where", (inside, index, index.coerce(0)))
        place = build("reshape", (place,), {"shape": (*shape, 1)})
        found = build("take_along_axis", (value, place), {"axis": len(shape)})
        found = build("reshape", (found,), {"shape": shape})
        return result(renamed(build("where", (inside, found, found.coerce(-math.inf))), name))
