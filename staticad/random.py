"""Random tensors: other numbers in every run, the same in every process and on every device.

A node's numbers follow from the graph's seed, the node's explicit name with its scope (without
one: its scope and its ordinal among the scope's random nodes), and the number of the run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from staticad_schema.dims import Dim
from staticad_schema.errors import ArgumentError, DTypeError
from staticad_schema.handle import WEAK
from staticad_schema.op import OPS
from staticad_schema.sites import asking
from staticad_schema.types import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT64,
    INTEGER,
    KINDS,
    UINT32,
    UINT64,
    DType,
    as_dtype,
)

from . import dimensions, methods, sizes
from .building import build, renamed
from .elsewhere import missing
from .graph import Graph
from .operands import Operand, graph_of, result, tensor
from .tensor import Tensor

__all__ = ["bernoulli", "bits", "normal", "randint", "uniform"]

# Bits that a dtype holds exactly between 0 and 1, so that no uniform number is rounded to 1.
_DIGITS: dict[DType, int] = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}


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
        return result(_bits(graph, dimensions.shape_of(shape), wanted, name, name))


def uniform(
    shape: Any,
    low: Operand = 0.0,
    high: Operand = 1.0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Numbers from `low`, included, to `high`, which only rounding can reach.

    shape: ints, names or Dims.  low, high: numbers or tensors that broadcast to it.
    dtype: of floats.  Raises DTypeError for another.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.uniform((1000,), -1.0, 1.0)
    >>> value = sad.Session(graph).run(y)
    >>> bool((value >= -1).all() and (value < 1).all())
    True
    """
    with asking("random.uniform", name):
        graph = graph_of("random.uniform", low, high)
        wanted = _floating(dtype)
        u = _uniform(graph, dimensions.shape_of(shape), wanted, name)
        if _is(low, 0) and _is(high, 1):
            return result(renamed(u, name))
        start, stop = _parameter(graph, low, wanted), _parameter(graph, high, wanted)
        return result(build("add", (u * (stop - start), start), label=name))


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
        wanted = _floating(dtype)
        z = _normal(graph, dimensions.shape_of(shape), wanted, name)
        if not _is(scale, 1):
            z = z * _parameter(graph, scale, wanted)
        if not _is(loc, 0):
            z = z + _parameter(graph, loc, wanted)
        return result(renamed(z, name))


def bernoulli(shape: Any, p: Operand = 0.5, name: str | None = None) -> Tensor:
    """bool, true with probability `p`, a number from 0 to 1 or a tensor that broadcasts to shape.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     y = sad.random.bernoulli((10_000,), 0.25)
    >>> bool(abs(sad.Session(graph).run(y).mean() - 0.25) < 0.02)
    True
    """
    with asking("random.bernoulli", name):
        graph = graph_of("random.bernoulli", p)
        if isinstance(p, WEAK) and not 0 <= float(p.real) <= 1:
            raise ArgumentError("not a probability", expected="0 to 1", found=repr(p))
        u = _uniform(graph, dimensions.shape_of(shape), FLOAT32, name)
        return result(build("less", (u, _parameter(graph, p, FLOAT32)), label=name))


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
        wanted = as_dtype(dtype)
        if KINDS[wanted] not in INTEGER:
            raise DTypeError(
                "not a dtype of integers", expected="an integer dtype", found=wanted.name
            )
        least, greatest = methods.limits(wanted)
        bound = min(greatest, 2**63 - 1) + 1
        first, end = _ends(low, high)
        if isinstance(first, Dim) or isinstance(end, Dim):
            drawn = _bits(graph, dimensions.shape_of(shape), UINT64, name, None)
            value = _between(drawn, graph, (first, end), (least, bound))
            return result(renamed(value.astype(wanted), name))
        if not (least <= first < end <= bound and end - first < 1 << 63):
            raise ArgumentError(
                "not a range of integers",
                expected=f"low < high, between {least} and {bound}",
                found=f"{first} to {end}",
            )
        drawn = _bits(graph, dimensions.shape_of(shape), UINT64, name, None)
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


def _bits(graph: Graph, shape: Any, dtype: DType, name: str | None, label: str | None) -> Any:
    """A node of random bits; `name` is that of the function's result, `label` of the node."""
    with graph.lock:
        full = None if name is None else graph.full_name(name, "random")
        attributes = {"key": graph.random_key(full), "path": 0, "shape": shape, "dtype": dtype}
        if name is not None and label is None:
            label = f"{name}/bits"
        node = graph.make(OPS["random_bits"], (graph.run_number(),), attributes, name=label)
    return graph.handle(node.start)


def _uniform(graph: Graph, shape: Any, dtype: DType, name: str | None) -> Any:
    digits = _DIGITS[dtype]
    source = UINT64 if digits > 32 else UINT32
    drawn = _bits(graph, shape, source, name, None)
    return (drawn >> (source.itemsize * 8 - digits)).astype(dtype) * 2.0**-digits


def _normal(graph: Graph, shape: Any, dtype: DType, name: str | None) -> Any:
    if dtype == FLOAT64:
        pair = _bits(graph, (2, *shape), UINT64, name, None)
        radial, angular = (pair[i] >> 11 for i in (0, 1))
        radius_digits = angle_digits = 53
    else:
        drawn = _bits(graph, shape, UINT64, name, None)
        # 40 bits for the radius, so that the tails reach 7.4 standard deviations.
        radial, angular = drawn >> 24, drawn & 0xFFFFFF
        radius_digits, angle_digits = 40, 24
    working = FLOAT64 if dtype == FLOAT64 else FLOAT32
    # 1 is in, 0 is not: its logarithm would be infinite.
    u = (radial + 1).astype(working) * 2.0**-radius_digits
    angle = angular.astype(working) * (2.0 * math.pi * 2.0**-angle_digits)
    radius = build("sqrt", (build("log", (u,)) * -2.0,))
    return (radius * build("cos", (angle,))).astype(dtype)


def _floating(dtype: Any) -> DType:
    wanted = as_dtype(dtype)
    if wanted not in _DIGITS:
        raise DTypeError(
            "not a dtype of random numbers",
            expected=", ".join(d.name for d in _DIGITS),
            found=wanted.name,
        )
    return wanted


def _is(value: Any, number: int) -> bool:
    return isinstance(value, WEAK) and value == number


def _parameter(graph: Graph, value: Operand, dtype: DType) -> Any:
    if isinstance(value, WEAK):
        if isinstance(value, complex):
            raise ArgumentError("not a real number", expected="a real number", found=repr(value))
        return graph.handle(graph.scalar(value, dtype))
    given = tensor("random", value, graph)
    if given.type.kind == "complex":
        raise DTypeError("not a real number", expected="a real tensor", found=given.describe())
    return given.astype(dtype)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        raise missing("random", name)
