"""Random counts.  They are quantiles of one uniform number each, found by NumPy, and jump: there is
no gradient in their parameters."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.dims import Size
from staticad_schema.errors import DTypeError
from staticad_schema.sites import asking
from staticad_schema.types import KINDS, UINT32, DType, as_dtype

from .. import dimensions, methods
from ..building import build, part, renamed
from ..graph import Graph
from ..operands import Operand, graph_of, result
from ..tensor import Tensor
from .draws import between_0_and_1, integer_dtype, random_bits, within


def poisson(
    shape: Any, rate: Operand = 1.0, dtype: Any = "int64", name: str | None = None
) -> Tensor:
    """Counts of the Poisson distribution, whose mean and variance are `rate`.

    shape: ints, names or Dims.  rate: not negative; a number or a tensor that broadcasts to it.
    dtype: an integer one.  Fails when it runs if the rate is negative, infinite or NaN, or a count
    is beyond the dtype.  From a rate of 1e6 on the expansion of Cornish and Fisher is rounded,
    which errs by 1e-5 counts.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.poisson((10_000,), 4.0)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 4) < 0.1)
    True
    """
    with asking("random.poisson", name):
        graph, size, wanted = _begin("poisson", shape, dtype, rate)
        given = within(graph, "rate", rate, size, least=0)
        x = build("poisson_quantile", (given, between_0_and_1(graph, size, name)))
        message = f"random.poisson: a rate that is no finite number from 0, or beyond {wanted.name}"
        return result(renamed(_count(x, wanted, message, name), name))


def binomial(
    shape: Any, n: Operand, p: Operand, dtype: Any = "int64", name: str | None = None
) -> Tensor:
    """How many of n independent trials succeed, each with probability p.

    shape: ints, names or Dims.  n: a count, p: from 0 to 1; numbers or tensors that broadcast to
    shape.  dtype: an integer one.  Fails when it runs if n is no count or p no probability.  From
    a variance of 1e6 on the expansion of Cornish and Fisher is rounded, which errs by 1e-5 counts.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.binomial((10_000,), 10, 0.3)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 3) < 0.1)
    True
    """
    with asking("random.binomial", name):
        graph, size, wanted = _begin("binomial", shape, dtype, n, p)
        trials = within(graph, "n", n, size, least=0)
        if not isinstance(n, int):
            whole = build("equal", (trials, build("floor", (trials,))))
            trials = build("where", (whole, trials, trials.coerce(math.nan)))
        chance = within(graph, "p", p, size, least=0, most=1)
        x = build("binomial_quantile", (trials, chance, between_0_and_1(graph, size, name)))
        message = f"random.binomial: n is no count, p no probability, or beyond {wanted.name}"
        return result(renamed(_count(x, wanted, message, name), name))


def geometric(shape: Any, p: Operand, dtype: Any = "int64", name: str | None = None) -> Tensor:
    """How many trials it takes to succeed, each with probability p: counts from 1 on.

    shape: ints, names or Dims.  p: above 0, at most 1; a number or a tensor that broadcasts to
    shape.  dtype: an integer one.  Fails when it runs if p is no such number, or a count is beyond
    the dtype.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.geometric((10_000,), 0.25)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 4) < 0.1)
    True
    """
    with asking("random.geometric", name):
        graph, size, wanted = _begin("geometric", shape, dtype, p)
        chance = within(graph, "p", p, size, above=0, most=1)
        logarithm = build("log", (between_0_and_1(graph, size, name),))
        tried = build("ceil", (logarithm / build("log1p", (-chance,)),))
        # Where p is 1 the quotient is 0.
        x = build("maximum", (tried, tried.coerce(1.0)))
        message = f"random.geometric: p is no number from 0 to 1, or beyond {wanted.name}"
        return result(renamed(_count(x, wanted, message, name), name))


def rademacher(shape: Any, dtype: Any = "float32", name: str | None = None) -> Tensor:
    """-1 or 1, equally likely.

    shape: ints, names or Dims.  dtype: of floats, or of integers with a sign.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.rademacher((10_000,), "int8")
    >>> value = sad.Session(graph).run(y)
    >>> sorted(set(value.tolist())), bool(abs(value.mean()) < 0.05)
    ([-1, 1], True)
    """
    with asking("random.rademacher", name):
        graph = graph_of("random.rademacher")
        wanted = as_dtype(dtype)
        if KINDS[wanted] not in ("int", "float"):
            raise DTypeError(
                "not a dtype of signs", expected="floats or signed integers", found=wanted.name
            )
        drawn = random_bits(graph, dimensions.shape_of(shape), UINT32, name, None)
        sign = (drawn >> 31).astype(wanted) * 2 - 1
        return result(renamed(sign, name))


def _begin(
    function: str, shape: Any, dtype: Any, *parameters: Any
) -> tuple[Graph, tuple[Size, ...], DType]:
    graph = graph_of(f"random.{function}", *parameters)
    return graph, dimensions.shape_of(shape), integer_dtype(dtype)


def _count(x: Any, dtype: DType, message: str, name: str | None) -> Any:
    """float64 counts as integers; an error of the run where they are none."""
    most = float(methods.limits(dtype)[1])
    # Below, because the greatest int64 is rounded up.
    fits = (x >= 0) & ((x < most) if most > 2**53 else (x <= most))
    checked = build("check", (fits, x), {"message": message}, label=part(name, "count"))
    return checked.astype(dtype)
