"""Which nodes of a 0-d region run as one call on Python's floats.

Nodes that follow each other are one run as long as each of them has a Python expression;
what has none, integers among it, is called between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.types import Array, TensorType

from ..devices.numpy.elementwise import Elementwise
from ..devices.numpy.kernels import Kernel
from ..devices.numpy.scalars import FEWEST_NODES, Scalar, expression, scalar_region


class Run(NamedTuple):
    """Nodes that follow each other.  expressions: of each node, or none if they are called one
    by one.  operands, outputs: values from outside, and those that others need."""

    nodes: tuple[int, ...]
    expressions: tuple[str, ...]
    operands: tuple[int, ...]
    outputs: tuple[int, ...]


def runs(
    graph: Graph, types: Sequence[TensorType], members: Sequence[int], leaving: Sequence[int]
) -> list[Run]:
    """The nodes of a 0-d region, cut into runs.  leaving: the values that others need."""
    nodes = graph.nodes
    cut: list[tuple[list[int], list[str]]] = []
    run_of: dict[int, int] = {}
    for index in members:
        node = nodes[index]
        dtypes = [types[v].dtype for v in node.inputs]
        found = expression(node, dtypes, types[node.start].dtype)
        if not cut or bool(cut[-1][1]) != (found is not None):
            cut.append(([], []))
        cut[-1][0].append(index)
        if found is not None:
            cut[-1][1].append(found)
        run_of[node.start] = len(cut) - 1
    needed = set(leaving)
    for index in members:
        own = run_of[nodes[index].start]
        needed.update(v for v in nodes[index].inputs if run_of.get(v, own) != own)
    result = []
    for indices, expressions in cut:
        made = [nodes[i].start for i in indices]
        inside = set(made)
        operands = dict.fromkeys(v for i in indices for v in nodes[i].inputs if v not in inside)
        python = len(expressions) >= FEWEST_NODES
        result.append(
            Run(
                tuple(indices), tuple(expressions) if python else (), tuple(operands),
                tuple([v for v in made if v in needed]),
            )
        )  # fmt: skip
    return result


def python_kernel(
    run: Run,
    graph: Graph,
    constants: Mapping[int, Array],
    exact: Callable[[int, Node, bool], Elementwise],
) -> Kernel:
    """The kernel of a run that has expressions.

    constants: values that sizes have made constant.  exact: the kernel of a node, given that its
    operands are 0-d.
    """
    nodes, producers = graph.nodes, graph.producers
    position = {value: k for k, value in enumerate(run.operands)}
    known = {}
    for value, k in position.items():
        producer = nodes[producers[value]]
        if value in constants:
            known[k] = constants[value]
        elif producer.op == "constant":
            known[k] = producer.attributes["value"]
    parts = []
    for index, text in zip(run.nodes, run.expressions, strict=True):
        node = nodes[index]
        kernel = exact(index, node, True)
        inputs = tuple([position[v] for v in node.inputs])
        parts.append(Scalar(text, kernel, inputs, node.types[0].dtype))
        position[node.start] = len(position)
    outputs = [position[v] for v in run.outputs]
    function = scalar_region(parts, len(run.operands), known, outputs)
    return Kernel(function, False, "Python floats")
