"""What samplers are made of: random bits, uniform numbers, and parameters.

A parameter that is known is checked when the graph is built.  One that a run finds makes NaN of
what it does not fit, which costs no more than a choice.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from staticad_schema.dims import Size
from staticad_schema.errors import ArgumentError, DTypeError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.op import OPS
from staticad_schema.ops.checks import check_broadcast
from staticad_schema.types import (
    BFLOAT16,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INTEGER,
    KINDS,
    UINT32,
    UINT64,
    DType,
    as_dtype,
)

from .. import dimensions
from ..building import build, part
from ..graph import Graph
from ..numbers import as_array
from ..operands import Operand, graph_of, tensor

# Bits that a dtype holds exactly between 0 and 1, so that no uniform number is rounded to 1.
_DIGITS: dict[DType, int] = {FLOAT16: 11, BFLOAT16: 8, FLOAT32: 24, FLOAT64: 53}


def random_bits(graph: Graph, shape: Any, dtype: DType, name: str | None, label: str | None) -> Any:
    """A node of random bits; `name` is that of the function's result, `label` of the node."""
    with graph.lock:
        full = None if name is None else graph.full_name(name, "random")
        attributes = {"key": graph.random_key(full), "path": 0, "shape": shape, "dtype": dtype}
        label = label or part(name, "bits")
        node = graph.make(OPS["random_bits"], (graph.run_number(),), attributes, name=label)
    return graph.handle(node.start)


def half_open(graph: Graph, shape: Any, dtype: DType, name: str | None) -> Any:
    """Uniform numbers from 0 to 1, of which 0 can be drawn and 1 cannot."""
    digits = _DIGITS[dtype]
    source = UINT64 if digits > 32 else UINT32
    drawn = random_bits(graph, shape, source, name, None)
    return (drawn >> (source.itemsize * 8 - digits)).astype(dtype) * 2.0**-digits


def between_0_and_1(graph: Graph, shape: Any, name: str | None) -> Any:
    """Uniform float64 between 0 and 1, neither of which is drawn: the middles of 2**52 intervals.

    Quantiles are taken of these, so that tails reach as far on either side, to 1e-16.
    """
    drawn = random_bits(graph, shape, UINT64, name, None)
    return (drawn >> 12).astype(FLOAT64) * 2.0**-52 + 2.0**-53


def standard_normal(graph: Graph, shape: Any, dtype: DType, name: str | None) -> Any:
    """By the transform of Box and Muller, in float64 or else float32."""
    if dtype == FLOAT64:
        pair = random_bits(graph, (2, *shape), UINT64, name, None)
        radial, angular = (pair[i] >> 11 for i in (0, 1))
        radius_digits = angle_digits = 53
    else:
        drawn = random_bits(graph, shape, UINT64, name, None)
        # 40 bits for the radius, so that the tails reach 7.4 standard deviations.
        radial, angular = drawn >> 24, drawn & 0xFFFFFF
        radius_digits, angle_digits = 40, 24
    working = FLOAT64 if dtype == FLOAT64 else FLOAT32
    # 1 is in, 0 is not: its logarithm would be infinite.
    u = (radial + 1).astype(working) * 2.0**-radius_digits
    angle = angular.astype(working) * (2.0 * math.pi * 2.0**-angle_digits)
    radius = build("sqrt", (build("log", (u,)) * -2.0,))
    return (radius * build("cos", (angle,))).astype(dtype)


def begin(
    function: str, shape: Any, dtype: Any, *parameters: Any
) -> tuple[Graph, tuple[Size, ...], DType]:
    """The graph, the size and the dtype of what a function draws.  Raises GraphError."""
    graph = graph_of(f"random.{function}", *parameters)
    return graph, dimensions.shape_of(shape), floating_dtype(dtype)


def floating_dtype(dtype: Any) -> DType:
    """Raises DTypeError for a dtype that is none of floats."""
    wanted = as_dtype(dtype)
    if wanted not in _DIGITS:
        raise DTypeError(
            "not a dtype of random numbers",
            expected=", ".join(d.name for d in _DIGITS),
            found=wanted.name,
        )
    return wanted


def integer_dtype(dtype: Any) -> DType:
    """Raises DTypeError for a dtype that is none of integers."""
    wanted = as_dtype(dtype)
    if KINDS[wanted] not in INTEGER:
        raise DTypeError("not a dtype of integers", expected="an integer dtype", found=wanted.name)
    return wanted


def equals(value: Any, number: int) -> bool:
    """Whether it is this number, known when the graph is built."""
    return isinstance(value, WEAK) and value == number


def parameter(graph: Graph, value: Operand, dtype: DType, shape: Any = None) -> Any:
    """A real parameter as a tensor, broadcast to `shape` if that is given.

    Raises ArgumentError, DTypeError for complex numbers, ShapeError if it does not fit.
    """
    if isinstance(value, WEAK):
        if isinstance(value, complex):
            raise ArgumentError("not a real number", expected="a real number", found=repr(value))
        return graph.handle(graph.scalar(value, dtype))
    given = tensor("random", value, graph)
    if given.type.kind == "complex":
        raise DTypeError("not a real number", expected="a real tensor", found=given.describe())
    found = given.astype(dtype)
    if shape is None or not found.type.shape:
        return found
    return fitted(found, tuple(shape))


def fitted(x: Any, shape: tuple[Size, ...]) -> Any:
    """A tensor broadcast to a shape.  Raises ShapeError."""
    check_broadcast(x.type.shape, shape)
    return build("broadcast_to", (x,), {"shape": shape})


def within(
    graph: Graph,
    what: str,
    value: Operand,
    shape: Any = None,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    dtype: DType = FLOAT64,
) -> Any:
    """A parameter in a range: ArgumentError if it is known not to be, NaN where a run finds so."""
    if not isinstance(value, Handle) and not isinstance(value, complex):
        known = np.asarray(value) if isinstance(value, WEAK) else as_array(value)
        if known.dtype.kind in "biuf":
            wide = known.astype(np.float64)
            inside = np.ones(wide.shape, bool)
            inside &= True if least is None else wide >= least
            inside &= True if above is None else wide > above
            inside &= True if most is None else wide <= most
            if not inside.all():
                raise ArgumentError(
                    f"{what} is out of range",
                    expected=_range(least, above, most),
                    found=f"{wide[~inside].flat[0].item():g}",
                )
        return parameter(graph, value, dtype, shape)
    found = parameter(graph, value, dtype, shape)
    for condition in _conditions(found, least, above, most):
        found = build("where", (condition, found, found.coerce(math.nan)))
    return found


def _conditions(x: Any, least: float | None, above: float | None, most: float | None) -> Any:
    if least is not None:
        yield x >= least
    if above is not None:
        yield x > above
    if most is not None:
        yield x <= most


def _range(least: float | None, above: float | None, most: float | None) -> str:
    if above is not None:
        return f"above {above:g}"
    return f"at least {least:g}" if most is None else f"{least:g} to {most:g}"


def located(
    graph: Graph, standard: Any, loc: Operand, scale: Operand, dtype: DType, shape: Any
) -> Any:
    """loc + scale * standard, of this dtype."""
    x = standard.astype(dtype)
    if not equals(scale, 1):
        x = x * within(graph, "scale", scale, shape, least=0, dtype=dtype)
    if not equals(loc, 0):
        x = x + parameter(graph, loc, dtype, shape)
    return x
