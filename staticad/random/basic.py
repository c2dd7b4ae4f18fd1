"""Bits, integers, and the distributions that most graphs want: uniform, normal, Bernoulli."""

from __future__ import annotations

import math
from typing import Any

from staticad_schema.dims import Dim
from staticad_schema.errors import ArgumentError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking
from staticad_schema.types import FLOAT32, FLOAT64, INT64, UINT64, as_dtype

from .. import dimensions, methods, sizes
from ..building import build, part, renamed
from ..graph import Graph
from ..numbers import as_array
from ..operands import Operand, graph_of, result
from ..tensor import Tensor
from .draws import (
    equals,
    floating_dtype,
    half_open,
    integer_dtype,
    located,
    parameter,
    random_bits,
    standard_normal,
    within,
)


def bits(shape: Any, dtype: Any = "uint32", name: str | None = None) -> Tensor:
    """Random uint32 or uint64, every value equally likely.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.bits((2,))
    >>> session = sad.Session(graph)
    >>> session.run(y, step=0) == session.run(y, step=0)
    array([ True,  True])
    """
    with asking("random.bits", name):
        graph = graph_of("random.bits")
        wanted = as_dtype(dtype)
        return result(random_bits(graph, dimensions.shape_of(shape), wanted, name, name))


def uniform(
    shape: Any,
    low: Operand = 0.0,
    high: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers from `low`, included, to `high`, which only rounding can reach.

    shape: ints, names or Dims.  low, high: numbers or tensors that broadcast to it.
    dtype: of floats.  Raises DTypeError for another, ArgumentError if low is known to be above
    high; where a run finds so, the result is NaN.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.uniform((1000,), -1.0, 1.0)
    >>> value = sad.Session(graph).run(y)
    >>> bool((value >= -1).all() and (value < 1).all())
    True
    """
    with asking("random.uniform", name):
        graph = graph_of("random.uniform", low, high)
        wanted = floating_dtype(dtype)
        size = dimensions.shape_of(shape)
        u = half_open(graph, size, wanted, name)
        if equals(low, 0) and equals(high, 1):
            return result(renamed(u, name))
        start, stop = (parameter(graph, end, wanted, size) for end in (low, high))
        width = stop - start
        if isinstance(low, Handle) or isinstance(high, Handle):
            width = build("where", (width >= 0, width, width.coerce(math.nan)))
        elif not (as_array(low, FLOAT64) <= as_array(high, FLOAT64)).all():
            raise ArgumentError(
                "no interval", expected="low <= high", found=f"{low!r:.80} and {high!r:.80}"
            )
        return result(build("add", (u * width, start), label=name))


def normal(
    shape: Any,
    loc: Operand = 0.0,
    scale: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers of the normal distribution with mean `loc` and standard deviation `scale`.

    shape: ints, names or Dims.  loc, scale: numbers or tensors that broadcast to it.
    By the transform of Box and Muller (1958), in float64 or else float32.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.normal((10_000,), loc=3.0, scale=2.0)
    >>> value = sad.Session(graph).run(y)
    >>> bool(abs(value.mean() - 3) < 0.1), bool(abs(value.std() - 2) < 0.1)
    (True, True)
    """
    with asking("random.normal", name):
        graph = graph_of("random.normal", loc, scale)
        wanted = floating_dtype(dtype)
        size = dimensions.shape_of(shape)
        z = standard_normal(graph, size, wanted, name)
        return result(renamed(located(graph, z, loc, scale, wanted, size), name))


def bernoulli(shape: Any, p: Operand = 0.5, name: str | None = None) -> Tensor:
    """bool, true with probability `p`, a number from 0 to 1 or a tensor that broadcasts to shape.

    p counts in steps of 2**-24, upwards.  Raises ArgumentError for a number that is out of range;
    fails when it runs for a tensor that is.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.bernoulli((10_000,), 0.25)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 0.25) < 0.02)
    True
    """
    with asking("random.bernoulli", name):
        graph = graph_of("random.bernoulli", p)
        size = dimensions.shape_of(shape)
        u = half_open(graph, size, FLOAT32, name)
        chance = within(graph, "p", p, size, least=0, most=1, dtype=FLOAT32)
        if isinstance(p, Handle):
            message = "random.bernoulli: p is no number from 0 to 1"
            right = build("equal", (chance, chance))
            chance = build("check", (right, chance), {"message": message}, label=part(name, "p"))
        return result(build("less", (u, chance), label=name))


def randint(
    low: int | Dim, high: int | Dim, shape: Any, dtype: Any = "int64", name: str | None = None
) -> Tensor:
    """Integers from `low` to `high` - 1, equally likely but for 2**-64 of the range's size.

    low, high: ints, or sizes such as x.shape[0].  dtype: an integer one, which must hold the
    range; else ArgumentError, or, where a size decides, an error of the run.

    >>> import numpy as np
    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.randint(1, 7, (1000,))
    >>> np.unique(sad.Session(graph).run(y))
    array([1, 2, 3, 4, 5, 6])
    """
    with asking("random.randint", name):
        graph = graph_of("random.randint")
        wanted = integer_dtype(dtype)
        least, greatest = methods.limits(wanted)
        bound = min(greatest, 2**63 - 1) + 1
        first, end = _ends(low, high)
        if isinstance(first, Dim) or isinstance(end, Dim):
            drawn = random_bits(graph, dimensions.shape_of(shape), UINT64, name, None)
            value = _between(drawn, graph, (first, end), (least, bound))
            return result(renamed(value.astype(wanted), name))
        if not (least <= first < end <= bound and end - first < 1 << 63):
            raise ArgumentError(
                "not a range of integers",
                expected=f"low < high, between {least} and {bound}",
                found=f"{first} to {end}",
            )
        drawn = random_bits(graph, dimensions.shape_of(shape), UINT64, name, None)
        offset = (drawn % (end - first)).astype(INT64)
        value = (offset + first).astype(wanted) if first else offset.astype(wanted)
        return result(renamed(value, name))


def _ends(low: Any, high: Any) -> tuple[Any, Any]:
    first, end = (n if isinstance(n, Dim) else dimensions.integer(n) for n in (low, high))
    return first, end


def _between(drawn: Any, graph: Graph, ends: tuple[Any, Any], bounds: tuple[int, int]) -> Any:
    """int64 from the first of `ends`, of which one is a size, to before the other."""
    first, end = (
        sizes.value(graph, n, INT64) if isinstance(n, Dim) else graph.handle(graph.scalar(n, INT64))
        for n in ends
    )
    # Of no range that is longer than int64 holds.
    least, bound = max(bounds[0], -(2**62)), min(bounds[1], 2**62)
    right = (first < end) & (first >= least) & (end <= bound)
    message = f"random.randint from {ends[0]} to {ends[1]}: no range of integers of this dtype"
    span = build("check", (right, end - first), {"message": message})
    return (drawn % span.astype(UINT64)).astype(INT64) + first
