"""Loops that derivatives are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.graph import Function, Graph
from staticad_schema.op import FunctionRef

from .derived import Derived, appended, free_name

# (the carry, what is given) -> handles of the same graph.
Step = Callable[[list[Any], list[Any]], Sequence[Any]]


def repeated_while(
    graph: Graph, name: str, test: Step, step: Step, carry: Sequence[Any], given: Sequence[Any]
) -> list[Any]:
    """The carry once the test fails: a while loop of these handles.

    test: gives one bool.  step: the next carry.  Both are called once, with handles of a body.
    given: what both read beside the carry, the same in each iteration.
    """
    operands = [*carry, *given]
    bodies = {
        role: entered(graph, f"{name}/{role}", operands, len(carry), function)
        for role, function in (("condition", test), ("body", step))
    }
    made = appended(graph, "while_loop", [x.id for x in operands], carried=len(carry), **bodies)
    return made[: len(carry)]


def entered(
    graph: Graph, base: str, operands: Sequence[Any], first: int, function: Step
) -> FunctionRef:
    """The function as a body of the table, under a name that begins with `base`, of parameters of
    the operands' types, of which it is given the first ones and the others."""
    body = Derived(graph)
    inputs = [body.handle(body.parameter(x.type)) for x in operands]
    outputs = function(inputs[:first], inputs[first:])
    name = free_name(graph, base)
    graph.add_function(Function(name, body, tuple(body.inputs), tuple(o.id for o in outputs)))
    return FunctionRef(name)
