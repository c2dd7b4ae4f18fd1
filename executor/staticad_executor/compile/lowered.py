"""Bodies of choices and loops as programs of their own.

A body that is not copied into its caller becomes pure data flow too: what it reads of state, the
number of the run, and the call path of what is random in it are inputs behind its own ones, and
operands of the node that has it.  So nothing is hidden: what passes see of such a node is what it
computes with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from staticad_schema.graph import Function, Graph
from staticad_schema.node import Node
from staticad_schema.types import TensorType

from ..program import Program
from ..recent import Recent

if TYPE_CHECKING:
    from ..plan import Plan


# Plans kept for one body.
PLANS = 32


@dataclass(frozen=True, eq=False)
class Lowered(Function):
    """A body whose graph is that of its program.

    draws: whether its last inputs are the number of the run and the call path.  acts: whether it
    acts on the world outside.  made: what makes its plans, once the pipeline has been through it;
    and its plans, by the shapes of its inputs and the sizes of its symbols.
    """

    program: Program = field(kw_only=True)
    draws: bool = field(kw_only=True)
    acts: bool = field(kw_only=True)
    made: dict[str, Any] = field(default_factory=dict, kw_only=True)
    plans: Recent[Any, Plan] = field(default_factory=partial(Recent, PLANS), kw_only=True)

    @property
    def takes_path(self) -> bool:
        """Whether the last input is the call path of what is random in it."""
        return self.draws


def lowered(name: str, program: Program, draws: bool, acts: bool) -> Lowered:
    """The body that a program is."""
    graph = program.graph
    for index, node in enumerate(graph.nodes if program.finds else ()):
        if node.finds:
            # Who evaluates it node by node asks for them.
            graph.run_time.note(node.finds, index)
    inputs = tuple(source.value for source in program.sources)
    return Lowered(name, graph, inputs, program.fetches, program=program, draws=draws, acts=acts)


def lowered_bodies(graph: Graph) -> list[Lowered]:
    """The bodies of a program, each behind those that it has itself."""
    return [f for f in graph.functions.values() if isinstance(f, Lowered)]


def acts(graph: Graph, node: Node) -> bool:
    """Whether a node of a program acts on the world outside: itself, or in a body."""
    if node.definition.effect == "io":
        return True
    bodies: Mapping[str, Function] = graph.functions
    return any(getattr(bodies[name], "acts", False) for name in node.calls)


def output_types(
    graph: Graph, node: Node, operands: list[TensorType], attributes: dict[str, Any]
) -> tuple[TensorType, ...]:
    """What inference says of a node of a program whose bodies are in its graph's table."""
    return node.definition.output_types(operands, graph.resolved(attributes))
