"""Log densities of single real numbers."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.sites import asking

from ...building import build, renamed
from ...operands import Operand, result
from ...tensor import Tensor
from ..families import log_below
from .support import HALF_LOG_TAU, above, bounded, log, operands, power_of_ratio, supported


def normal(
    x: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of the normal distribution with mean loc and standard deviation scale.

    x, loc, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError
    for a number that is not, NaN where a run finds so.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.normal([0.0, 2.0], 0.0, 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([-1.612, -2.112], dtype=float32)
    """
    with asking("random.logpdf.normal", name):
        point, middle, width = operands("normal", x, loc, scale)
        width = above("scale", scale, width)
        z = (point - middle) / width
        return result(renamed(z * z * -0.5 - HALF_LOG_TAU - log(width), name))


def lognormal(
    x: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of numbers whose logarithm is normal with mean loc and standard deviation scale.

    x, loc, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError
    for a number that is not, NaN where a run finds so.
    -inf from 0 down, with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.lognormal([-1.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -1.852], dtype=float32)
    """
    with asking("random.logpdf.lognormal", name):
        point, middle, width = operands("lognormal", x, loc, scale)
        width = above("scale", scale, width)
        inside = point > 0
        logarithm = log(supported(point, inside, 1.0))
        z = (logarithm - middle) / width
        value = z * z * -0.5 - HALF_LOG_TAU - log(width) - logarithm
        return result(bounded(point, inside, value, name))


def laplace(
    x: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of the Laplace distribution.

    x, loc, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError
    for a number that is not, NaN where a run finds so.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.laplace([0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-0.693, -2.693], dtype=float32)
    """
    with asking("random.logpdf.laplace", name):
        point, middle, width = operands("laplace", x, loc, scale)
        width = above("scale", scale, width)
        z = (point - middle) / width
        return result(renamed(-build("abs", (z,)) - math.log(2) - log(width), name))


def logistic(
    x: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of the logistic distribution.

    x, loc, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError
    for a number that is not, NaN where a run finds so.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.logistic([0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.386, -2.254], dtype=float32)
    """
    with asking("random.logpdf.logistic", name):
        point, middle, width = operands("logistic", x, loc, scale)
        width = above("scale", scale, width)
        z = (point - middle) / width
        return result(
            renamed(build("log_sigmoid", (z,)) + build("log_sigmoid", (-z,)) - log(width), name)
        )


def gumbel(
    x: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of Gumbel's distribution of the largest of many.

    x, loc, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError
    for a number that is not, NaN where a run finds so.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.gumbel([0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.   , -2.135], dtype=float32)
    """
    with asking("random.logpdf.gumbel", name):
        point, middle, width = operands("gumbel", x, loc, scale)
        width = above("scale", scale, width)
        z = (point - middle) / width
        inside = z > -math.inf
        z = supported(z, inside, 0.0)
        value = -z - build("exp", (-z,)) - log(width)
        return result(bounded(point, inside, value, name))


def cauchy(
    x: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of the Cauchy distribution.

    x, loc, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError
    for a number that is not, NaN where a run finds so.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.cauchy([0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-1.145, -2.754], dtype=float32)
    """
    with asking("random.logpdf.cauchy", name):
        point, middle, width = operands("cauchy", x, loc, scale)
        width = above("scale", scale, width)
        z = (point - middle) / width
        # log(1 + z * z) / 2, whose square does not overflow.
        size = log(build("hypot", (z, z.coerce(1.0))))
        return result(renamed(size * -2.0 - math.log(math.pi) - log(width), name))


def student_t(
    x: Operand, df: Operand, loc: Operand = 0.0, scale: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of Student's t distribution with df degrees of freedom.

    x, df, loc, scale: floats that broadcast; integers become float32.  df and scale are above 0:
    ArgumentError for a number that is not, NaN where a run finds so.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.student_t([0.0, 2.0], 3.0)
    >>> sad.Session(graph).run(y).round(3)
    array([-1.001, -2.695], dtype=float32)
    """
    with asking("random.logpdf.student_t", name):
        point, degrees, middle, width = operands("student_t", x, df, loc, scale)
        degrees, width = above("df", df, degrees), above("scale", scale, width)
        z = (point - middle) / width
        half = degrees * 0.5
        norm = build("betaln", (half, half.coerce(0.5))) + log(degrees) * 0.5
        # log(1 + z * z / df), whose square does not overflow.
        size = log(build("hypot", (z / build("sqrt", (degrees,)), z.coerce(1.0))))
        spread = size * (degrees + 1.0)
        return result(renamed(-spread - norm - log(width), name))


def uniform(
    x: Operand, low: Operand = 0.0, high: Operand = 1.0, *, name: str | None = None
) -> Tensor:
    """Of the uniform distribution from low to high, both included.

    x, low, high: floats that broadcast; integers become float32.  low is below high, or the result
    is NaN.  -inf outside, with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.uniform([0.5, 3.0], 0.0, 2.0)
    >>> sad.Session(graph).run(y).round(3)
    array([-0.693,   -inf], dtype=float32)
    """
    with asking("random.logpdf.uniform", name):
        point, start, stop = operands("uniform", x, low, high)
        inside = (point >= start) & (point <= stop)
        width = stop - start
        width = build("where", (width > 0, width, width.coerce(math.nan)))
        return result(
            bounded(point, inside, supported(point, inside, 0.0) * 0.0 - log(width), name)
        )


def exponential(x: Operand, scale: Operand = 1.0, *, name: str | None = None) -> Tensor:
    """Of the exponential distribution with mean scale.

    x, scale: floats that broadcast; integers become float32.  scale is above 0: ArgumentError for
    a number that is not, NaN where a run finds so.  -inf below 0,
    with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.exponential([-1.0, 0.0, 2.0])
    >>> sad.Session(graph).run(y).round(3)
    array([-inf,  -0.,  -2.], dtype=float32)
    """
    with asking("random.logpdf.exponential", name):
        point, width = operands("exponential", x, scale)
        width = above("scale", scale, width)
        inside = point >= 0
        value = -supported(point, inside, 1.0) / width - log(width)
        return result(bounded(point, inside, value, name))


def gamma(x: Operand, a: Operand, scale: Operand = 1.0, *, name: str | None = None) -> Tensor:
    """Of the gamma distribution of shape a, whose mean is a * scale.

    x, a, scale: floats that broadcast; integers become float32.  a and scale are above 0:
    ArgumentError for a number that is not, NaN where a run finds so.  -inf below 0,
    with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.gamma([-1.0, 2.0], 3.0)
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -1.307], dtype=float32)
    """
    with asking("random.logpdf.gamma", name):
        point, power, width = operands("gamma", x, a, scale)
        power, width = above("a", a, power), above("scale", scale, width)
        inside = (point >= 0) & (point < math.inf)
        z = supported(point, inside, 1.0)
        rise = power_of_ratio(power - 1.0, z, width)
        value = rise - z / width - build("gammaln", (power,)) - log(width)
        return result(bounded(point, inside, value, name))


def weibull(x: Operand, a: Operand, scale: Operand = 1.0, *, name: str | None = None) -> Tensor:
    """Of the Weibull distribution of shape a.

    x, a, scale: floats that broadcast; integers become float32.  a and scale are above 0:
    ArgumentError for a number that is not, NaN where a run finds so.  -inf below 0,
    with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.weibull([-1.0, 2.0], 3.0)
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -5.515], dtype=float32)
    """
    with asking("random.logpdf.weibull", name):
        point, power, width = operands("weibull", x, a, scale)
        power, width = above("a", a, power), above("scale", scale, width)
        inside = (point >= 0) & (point < math.inf)
        z = supported(point, inside, 1.0)
        rise = power_of_ratio(power - 1.0, z, width)
        # At 0 the fall has an infinite slope in x as the rise has, but none in the scale.
        ratio = z / width
        steep = build("equal", (ratio, 0.0)) & (power < 1)
        fall = build("pow", (build("where", (steep, ratio.coerce(1.0), ratio)), power))
        fall = build("where", (steep, fall.coerce(0.0), fall))
        value = log(power / width) + rise - fall
        return result(bounded(point, inside, value, name))


def chisquare(x: Operand, df: Operand, *, name: str | None = None) -> Tensor:
    """Of the chi-square distribution with df degrees of freedom.

    x, df: floats that broadcast; integers become float32.  df is above 0: ArgumentError for a
    number that is not, NaN where a run finds so.  -inf below 0,
    with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.chisquare([-1.0, 2.0], 3.0)
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -1.572], dtype=float32)
    """
    with asking("random.logpdf.chisquare", name):
        point, degrees = operands("chisquare", x, df)
        half = above("df", df, degrees) * 0.5
        inside = (point >= 0) & (point < math.inf)
        z = supported(point, inside, 1.0) * 0.5
        value = build("xlogy", (half - 1.0, z)) - z - build("gammaln", (half,)) - math.log(2)
        return result(bounded(point, inside, value, name))


def beta(x: Operand, a: Operand, b: Operand, *, name: str | None = None) -> Tensor:
    """Of the beta distribution of shapes a and b.

    x, a, b: floats that broadcast; integers become float32.  a and b are above 0: ArgumentError for
    a number that is not, NaN where a run finds so.  -inf outside of 0 to 1, with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.beta([-1.0, 0.25], 2.0, 3.0)
    >>> sad.Session(graph).run(y).round(3)
    array([ -inf, 0.523], dtype=float32)
    """
    with asking("random.logpdf.beta", name):
        point, power, other = operands("beta", x, a, b)
        power, other = above("a", a, power), above("b", b, other)
        inside = (point >= 0) & (point <= 1)
        z = supported(point, inside, 0.5)
        left, right = build("xlogy", (power - 1.0, z)), build("xlog1py", (other - 1.0, -z))
        return result(bounded(point, inside, left + right - build("betaln", (power, other)), name))


def truncated_normal(
    x: Operand,
    low: Operand = -2.0,
    high: Operand = 2.0,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    *,
    name: str | None = None,
) -> Tensor:
    """Of a normal distribution between loc + low * scale and loc + high * scale.

    x, low, high, loc, scale: floats that broadcast; integers become float32.  scale is above 0:
    ArgumentError for a number that is not, NaN where a run finds so, or that low is not below high.
    -inf outside, with gradient 0.

    >>> import staticad as sad
    >>> with sad.Graph() as graph:
    ...     y = sad.random.logpdf.truncated_normal([-3.0, 0.0])
    >>> sad.Session(graph).run(y).round(3)
    array([  -inf, -0.872], dtype=float32)
    """
    with asking("random.logpdf.truncated_normal", name):
        point, start, stop, middle, width = operands("truncated_normal", x, low, high, loc, scale)
        width = above("scale", scale, width)
        z = (point - middle) / width
        inside = (z >= start) & (z <= stop)
        log_mass = _log_mass(start, stop)
        z = build("where", (inside | build("isnan", (z,)), z, z.coerce(0.0)))
        value = z * z * -0.5 - HALF_LOG_TAU - log(width) - log_mass
        return result(bounded(point, inside, value, name))


def _log_mass(low: Any, high: Any) -> Any:
    """The logarithm of the normal probability between two bounds, NaN if they are none.

    From the side on which it has its digits: that of the nearer tail.
    """
    turned = low > 0
    a, b = build("where", (turned, -high, low)), build("where", (turned, -low, high))
    most, least = log_below(b), log_below(a)
    rest = build("log", (-build("expm1", (least - most,)),))
    return build("where", (low < high, most + rest, rest.coerce(math.nan)))
