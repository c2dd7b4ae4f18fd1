"""What tensors and functions need of a graph that is being built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import staticad_schema.ops  # noqa: F401 - fills the registry
from staticad_schema.declarations import VariableSpec
from staticad_schema.handle import Effect, Handle, Owner
from staticad_schema.node import Node
from staticad_schema.op import OPS, Op


class Builder(Owner, Protocol):
    """A graph with names: `staticad.Graph`, as far as modules below it need to know."""

    variable_specs: dict[str, VariableSpec]

    def make(
        self,
        definition: Op,
        inputs: Sequence[int] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        after: Iterable[int] = (),
        unique: bool = False,
    ) -> Node:
        """Append a node with an explicit name in the present scope."""

    def value_name(self, value: int) -> str:
        """A value's name."""

    def source(self, op: str, attributes: dict[str, Any], name: str | None = None) -> Any:
        """A tensor of an op without operands."""

    def check_owner(
        self, handle: Handle | Effect, asked: str, beside: Handle | None = None
    ) -> None:
        """Raise if the handle belongs to another graph."""

    def check_not_in_body(self, variable: str, op: str) -> None:
        """Raise if a body of another graph is being traced, which may not write."""

    def effect(self, index: int) -> Any:
        """The effect of a node without outputs."""


def build(
    name: str,
    operands: Sequence[Any],
    attributes: dict[str, Any] | None = None,
    *,
    label: str | None = None,
) -> Any:
    """Append the op called `name` to handles of one graph; `label` is the node's name.

    A Python scalar among the operands takes the dtype of the first handle.
    """
    definition = OPS[name]
    first = next(o for o in operands if isinstance(o, Handle))
    graph: Any = first.graph
    if label is None:
        return graph.apply(definition, operands, attributes or {})
    inputs = []
    for operand in operands:
        if isinstance(operand, Handle):
            if operand.graph is not graph:
                graph.check_owner(operand, definition.name, first)
            inputs.append(operand.id)
        else:
            inputs.append(first.coerce(operand).id)
    node = graph.make(definition, inputs, attributes, name=label)
    if len(node.types) == 1:
        return graph.handle(node.start)
    return tuple(map(graph.handle, node.outputs))


def part(name: str | None, what: str) -> str | None:
    """The name of a node that a result with this name is made of."""
    return None if name is None else f"{name}/{what}"


def renamed(x: Any, label: str | None) -> Any:
    """x, under a name of its own if there is one to give."""
    return x if label is None else build("identity", (x,), label=label)
