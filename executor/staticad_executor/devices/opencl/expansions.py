"""Ops written in elementwise ones: those that the registry expands, and some that only this
device does.

The latter are computed in float64 by their meaning, which not every device has; here they keep
their digits in the dtype itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.ops import elementwise as e
from staticad_schema.types import FLOAT64, WIDENED, TensorType

from .region import Step

NUMBER = "number"
"""A step that only regions have: a number of an attribute."""


class Expansion(NamedTuple):
    """Steps over as many operands as an op has, values numbered as in a region."""

    steps: tuple[Step, ...]
    outputs: tuple[int, ...]


def expands(op: str) -> bool:
    """Whether an op is written in other ops, one element as the other."""
    definition = OPS[op]
    return op in _OWN or (definition.expand is not None and definition.batch == "elementwise")


def expansion(op: str, attributes: Mapping[str, Any], inputs: Sequence[TensorType]) -> Expansion:
    """The op, for operands of these types, in other steps."""
    return _expansion(op, tuple(attributes.items()), tuple(inputs))


@lru_cache(maxsize=256)
def _expansion(
    op: str, attributes: tuple[tuple[str, Any], ...], inputs: tuple[TensorType, ...]
) -> Expansion:
    graph, definition = Graph(), OPS[op]
    given = []
    for type_ in inputs:
        declared = {"dtype": type_.dtype, "shape": type_.shape}
        given.append(graph.handle(graph.append(OPS["placeholder"], (), declared).start))
    own = _OWN.get(op)
    if own is None:
        outputs = definition.expansion(given, dict(attributes))
    else:
        wide = [x.astype(WIDENED.get(x.type.dtype, x.type.dtype)) for x in given]
        outputs = (own(*wide).astype(given[0].type.dtype),)
    steps = []
    for node in graph.nodes[len(given) :]:
        if node.op == "constant":
            number = {"value": node.attributes["value"].item()}
            steps.append(Step(NUMBER, number, (), node.types))
        else:
            steps.append(Step(node.op, node.attributes, node.inputs, node.types))
    return Expansion(tuple(steps), tuple(x.id for x in outputs))


# ------------------------------------------------------------------ relative entropies


def _log_ratio(x: Any, y: Any) -> Any:
    ratio = x / y
    close = e.less(e.abs(ratio - 1), 0.5)
    far = 1e300 if x.type.dtype == FLOAT64 else 1e37
    plain = e.logical_and(e.greater(ratio, 1 / far), e.less(ratio, far))
    # A quotient that leaves the range is a difference of logarithms, which is large then.
    wide = e.where(plain, e.log(ratio), e.log(x) - e.log(y))
    return e.where(close, e.log1p((x - y) / y), wide)


def _deviance(x: Any, y: Any) -> Any:
    """x log(x / y) + y - x, without what cancels where both are nearly equal."""
    reach, terms, large = (0.1, 9, 1e307) if x.type.dtype == FLOAT64 else (0.5, 12, 1e37)
    # A sum may leave the range: a quarter of both is exact where it does.
    either = e.logical_or(e.greater(x, large), e.greater(y, large))
    scale = e.where(either, x.coerce(0.25), x.coerce(1.0))
    apart = (x * scale - y * scale) / (x * scale + y * scale)
    square = e.square(apart)
    series: Any = square * (1 / (2 * terms + 1))
    for k in reversed(range(1, terms)):
        series = (series + 1 / (2 * k + 1)) * square
    near = (x - y) * apart + (x * apart) * series * 2.0
    far = x * _log_ratio(x, y) + (y - x)
    return e.where(e.less(e.abs(apart), reach), near, far)


def _terms(x: Any, y: Any, inside: Any, at_zero: Any) -> Any:
    """inside where x and y are positive, at_zero where x is 0 and y is not negative, else inf."""
    positive = e.logical_and(e.greater(x, 0), e.greater(y, 0))
    zero = e.logical_and(e.equal(x, 0), e.greater_equal(y, 0))
    unlike = e.logical_or(e.isnan(x), e.isnan(y))
    found = e.where(zero, at_zero, x.coerce(math.inf))
    return e.where(unlike, x + y, e.where(positive, inside, found))


_OWN: dict[str, Callable[[Any, Any], Any]] = {
    "log_ratio": _log_ratio,
    "rel_entr": lambda x, y: _terms(x, y, x * _log_ratio(x, y), x.coerce(0.0)),
    "kl_div": lambda x, y: _terms(x, y, _deviance(x, y), y),
}
