"""What a node with bodies evaluates: body after body, and what it makes of their results.

Naive, for evaluation without a plan: whoever runs these generators evaluates what they yield.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.calls import inner_path
from staticad_schema.graph import Function
from staticad_schema.types import UINT32, Array, TensorType


class Entry(NamedTuple):
    """A body that is to be evaluated.  path: the call path of what is random in it.  iteration:
    the number of the iteration, -1 outside of loops."""

    function: Function
    arguments: Sequence[Array]
    path: int
    iteration: int = -1


Entering = Generator[Entry, Sequence[Array], tuple[Array, ...]]
"""Yields entries, is sent the outputs of each, and returns the outputs of the node."""


def entering(
    op: str,
    functions: Sequence[Function],
    operands: Sequence[Array],
    attributes: Mapping[str, Any],
    types: Sequence[TensorType],
) -> Entering:
    """The evaluation of a node.  types: of its outputs, bound."""
    return _ENTERING[op](functions, operands, attributes, types)


def branch(index: Array, count: int) -> int:
    """Which of so many branches an index chooses."""
    return min(max(int(index), 0), count - 1)


def _path(function: Function, operands: Sequence[Array], attributes: Mapping[str, Any]) -> int:
    """The call path of a node: where bodies take it as their last input, the last operand."""
    return int(operands[-1]) if function.takes_path else int(attributes["path"])


def _entry(function: Function, arguments: Sequence[Array], path: int, iteration: int) -> Entry:
    """A body's evaluation in an iteration."""
    path = inner_path(path, iteration)
    if function.takes_path:
        arguments = [*arguments[:-1], np.array(path, UINT32)]
    return Entry(function, arguments, path, iteration)


def _call(
    functions: Sequence[Function],
    operands: Sequence[Array],
    attributes: Mapping[str, Any],
    types: Sequence[TensorType],
) -> Entering:
    results = yield Entry(functions[0], operands, attributes["path"])
    return tuple(results)


def _switch(
    functions: Sequence[Function],
    operands: Sequence[Array],
    attributes: Mapping[str, Any],
    types: Sequence[TensorType],
) -> Entering:
    chosen = functions[branch(operands[0], len(functions))]
    results = yield Entry(chosen, operands[1:], _path(chosen, operands, attributes))
    return tuple(results)


def _while(
    functions: Sequence[Function],
    operands: Sequence[Array],
    attributes: Mapping[str, Any],
    types: Sequence[TensorType],
) -> Entering:
    condition, body = functions
    carried = attributes["carried"]
    path = _path(body, operands, attributes)
    carry, rest = list(operands[:carried]), operands[carried:]
    count = 0
    while True:
        (goes_on,) = yield _entry(condition, [*carry, *rest], path, count)
        if not goes_on:
            return (*carry, np.array(count, np.int64))
        carry = list((yield _entry(body, [*carry, *rest], path, count)))
        count += 1


def _scan(
    functions: Sequence[Function],
    operands: Sequence[Array],
    attributes: Mapping[str, Any],
    types: Sequence[TensorType],
) -> Entering:
    (body,) = functions
    carried, sequences = attributes["carried"], attributes["sequences"]
    length: int = attributes["length"]
    path = _path(body, operands, attributes)
    carry = list(operands[:carried])
    wholes, rest = operands[carried : carried + sequences], operands[carried + sequences :]
    stacks = [np.empty(t.shape, t.dtype) for t in types[carried:]]
    order = range(length)
    for at in reversed(order) if attributes["reverse"] else order:
        elements = [whole[at, ...] for whole in wholes]
        results = yield _entry(body, [*carry, *elements, *rest], path, at)
        carry = list(results[:carried])
        for stack, result in zip(stacks, results[carried:], strict=True):
            stack[at, ...] = result
    return (*carry, *stacks)


_ENTERING = {"call": _call, "switch": _switch, "while_loop": _while, "scan": _scan}
