"""Distributions whose quantiles are formulas: samples are these, of uniform numbers.

So samples have gradients in their parameters, those of the quantile.  Standard samples are computed
in float64 and rounded once.
"""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.errors import ArgumentError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT64, WIDENED

from ..building import build, renamed
from ..graph import Graph
from ..numbers import as_array
from ..operands import Operand, result
from ..tensor import Tensor
from .draws import begin, between_0_and_1, located, parameter, standard_normal, within


def exponential(
    shape: Any, scale: Operand = 1.0, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Numbers above 0 of the exponential distribution with mean `scale`, one over its rate.

    shape: ints, names or Dims.  scale: not negative; a number or a tensor that broadcasts to
    shape.  Where a run finds it negative, the result is NaN.  dtype: of floats.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.exponential((10_000,), 2.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 2) < 0.1)
    True
    """
    with asking("random.exponential", name):
        graph, size, wanted = begin("exponential", shape, dtype, scale)
        x = located(graph, standard_exponential(graph, size, name), 0.0, scale, wanted, size)
        return result(renamed(x, name))


def weibull(
    shape: Any, a: Operand, scale: Operand = 1.0, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Numbers of the Weibull distribution of shape `a`: scale times an exponential to the 1 / a.

    shape: ints, names or Dims.  a: above 0.  scale: not negative.  Both are numbers or tensors
    that broadcast to shape; the result is NaN where a run finds them out of range.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.weibull((10_000,), 2.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 0.886) < 0.02)
    True
    """
    with asking("random.weibull", name):
        graph, size, wanted = begin("weibull", shape, dtype, a, scale)
        power = within(graph, "a", a, size, above=0)
        logarithm = build("log", (standard_exponential(graph, size, name),))
        x = build("exp", (logarithm / power,))
        return result(renamed(located(graph, x, 0.0, scale, wanted, size), name))


def laplace(
    shape: Any,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers of the Laplace distribution: loc and, on either side, an exponential of mean scale.

    shape: ints, names or Dims.  loc, scale: numbers or tensors that broadcast to it; scale is not
    negative, or the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.laplace((10_000,), 1.0, 2.0)
    >>> bool(abs(abs(sad.Session(graph).run(y) - 1).mean() - 2) < 0.1)
    True
    """
    with asking("random.laplace", name):
        graph, size, wanted = begin("laplace", shape, dtype, loc, scale)
        u = between_0_and_1(graph, size, name)
        left, right = (build("log", (v * 2.0,)) for v in (u, 1.0 - u))
        x = build("where", (u < 0.5, left, -right))
        return result(renamed(located(graph, x, loc, scale, wanted, size), name))


def logistic(
    shape: Any,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers of the logistic distribution, whose distribution function is a sigmoid.

    shape: ints, names or Dims.  loc, scale: numbers or tensors that broadcast to it; scale is not
    negative, or the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.logistic((10_000,), 3.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 3) < 0.1)
    True
    """
    with asking("random.logistic", name):
        graph, size, wanted = begin("logistic", shape, dtype, loc, scale)
        x = build("logit", (between_0_and_1(graph, size, name),))
        return result(renamed(located(graph, x, loc, scale, wanted, size), name))


def gumbel(
    shape: Any,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers of Gumbel's distribution of the largest of many, whose mode is `loc`.

    shape: ints, names or Dims.  loc, scale: numbers or tensors that broadcast to it; scale is not
    negative, or the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.gumbel((10_000,))
    >>> bool(abs(sad.Session(graph).run(y).mean() - 0.5772) < 0.05)
    True
    """
    with asking("random.gumbel", name):
        graph, size, wanted = begin("gumbel", shape, dtype, loc, scale)
        x = standard_gumbel(graph, size, name)
        return result(renamed(located(graph, x, loc, scale, wanted, size), name))


def cauchy(
    shape: Any,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers of the Cauchy distribution, with median `loc` and quartiles `scale` beside it.

    shape: ints, names or Dims.  loc, scale: numbers or tensors that broadcast to it; scale is not
    negative, or the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.cauchy((10_000,), 1.0)
    >>> bool(abs((sad.Session(graph).run(y) < 2).mean() - 0.75) < 0.02)
    True
    """
    with asking("random.cauchy", name):
        graph, size, wanted = begin("cauchy", shape, dtype, loc, scale)
        u = between_0_and_1(graph, size, name)
        # tan(pi (u - 1 / 2)), from the nearer end, where the angle has its digits.
        near = build("minimum", (u, 1.0 - u))
        steep = build("reciprocal", (build("tan", (near * math.pi,)),))
        x = build("where", (u < 0.5, -steep, steep))
        return result(renamed(located(graph, x, loc, scale, wanted, size), name))


def lognormal(
    shape: Any,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers whose logarithm is normal with mean `loc` and standard deviation `scale`.

    shape: ints, names or Dims.  loc, scale: numbers or tensors that broadcast to it; scale is not
    negative, or the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.lognormal((10_000,), 1.0, 0.5)
    >>> bool(abs((sad.Session(graph).run(y) < 2.718).mean() - 0.5) < 0.02)
    True
    """
    with asking("random.lognormal", name):
        graph, size, wanted = begin("lognormal", shape, dtype, loc, scale)
        working = WIDENED.get(wanted, wanted)
        z = standard_normal(graph, size, working, name)
        x = build("exp", (located(graph, z, loc, scale, working, size),))
        return result(renamed(x.astype(wanted), name))


def truncated_normal(
    shape: Any,
    low: Operand = -2.0,
    high: Operand = 2.0,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Normal numbers between loc + low * scale and loc + high * scale, ends included.

    The bounds are in standard deviations, as SciPy's; either may be infinite, and both may lie far
    out on one side.
    shape: ints, names or Dims.  low, high, loc, scale: numbers or tensors that broadcast to it.
    Raises ArgumentError if low is known not to be below high; where a run finds so, the result is
    NaN.  Samples are quantiles, and have gradients in all four parameters.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.truncated_normal((1000,), 30.0, 31.0)
    >>> value = sad.Session(graph).run(y)
    >>> bool((value >= 30).all() and (value <= 31).all())
    True
    """
    with asking("random.truncated_normal", name):
        graph, size, wanted = begin("truncated_normal", shape, dtype, low, high, loc, scale)
        start, stop = _ends(graph, low, high, size)
        u = between_0_and_1(graph, size, name)
        x = _truncated(u, start, stop).astype(wanted)
        # Rounding crosses no bound.
        x = build("clip", (x, start.astype(wanted), stop.astype(wanted)))
        return result(renamed(located(graph, x, loc, scale, wanted, size), name))


def standard_exponential(graph: Graph, size: Any, name: str | None) -> Any:
    """float64, between 1e-16 and 37."""
    return -build("log", (between_0_and_1(graph, size, name),))


def standard_gumbel(graph: Graph, size: Any, name: str | None) -> Any:
    """float64, between -3.6 and 37."""
    return -build("log", (standard_exponential(graph, size, name),))


def _ends(graph: Graph, low: Operand, high: Operand, size: Any) -> tuple[Any, Any]:
    """The bounds as tensors; NaN where a run finds no interval.  Raises ArgumentError."""
    start, stop = (parameter(graph, end, FLOAT64, size) for end in (low, high))
    if isinstance(low, Handle) or isinstance(high, Handle):
        return build("where", (start < stop, start, start.coerce(math.nan))), stop
    ends = [as_array(end, FLOAT64) for end in (low, high)]
    if not (ends[0] < ends[1]).all():
        raise ArgumentError("no interval", expected="low < high", found=f"{low!r} and {high!r}")
    return start, stop


def _truncated(u: Any, low: Any, high: Any) -> Any:
    """The quantile of the standard normal distribution between two bounds.

    By logarithms of the probabilities on its left and on its right, of which the smaller one has
    the digits.
    """
    rest, part = build("log1p", (-u,)), build("log", (u,))
    left = build("logaddexp", (rest + log_below(low), part + log_below(high)))
    right = build("logaddexp", (rest + log_below(-low), part + log_below(-high)))
    nearer_left = left < right
    found = build("ndtri_exp", (build("where", (nearer_left, left, right)),))
    return build("where", (nearer_left, found, -found))


def log_below(bound: Any) -> Any:
    """The logarithm of the normal probability below a bound; a constant of an infinite one, whose
    slopes would be 0 times infinite."""
    endless = build("isinf", (bound,))
    limit = build("where", (bound > 0, bound.coerce(0.0), bound.coerce(-math.inf)))
    found = build("log_ndtr", (build("where", (endless, bound.coerce(0.0), bound)),))
    return build("where", (endless, limit, found))
