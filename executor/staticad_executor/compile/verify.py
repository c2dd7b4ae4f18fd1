"""The verifier: what every pass has to leave true.  Tests call it after each."""

from __future__ import annotations

from staticad_schema.errors import PlanError
from staticad_schema.op import OPS
from staticad_schema.text import line
from staticad_schema.types import fits

from ..program import Program
from .lowered import acts, output_types


def verify(program: Program) -> None:
    """Check a program: order, ids, sources, outputs, and each node's types, inferred anew.

    Raises PlanError naming the first node that is wrong.
    """
    graph = program.graph
    count = 0
    for index, node in enumerate(graph.nodes):
        text = line(graph, index)
        if node.start != count or any(v >= node.start or v < 0 for v in node.inputs):
            raise PlanError("value ids are out of order", asked="verify", found=text)
        if any(before >= index for before in node.after):
            raise PlanError("a node is ordered behind itself", asked="verify", found=text)
        if graph.types[count : count + len(node.types)] != list(node.types):
            raise PlanError("the table of types disagrees", asked="verify", found=text)
        if OPS[node.op].effect in ("reads", "writes"):
            raise PlanError("state is left in a program", asked="verify", found=text)
        types = output_types(graph, node, [graph.types[v] for v in node.inputs], node.attributes)
        if len(types) != len(node.types) or not all(map(fits, types, node.types)):
            raise PlanError(
                "a type is not what inference says",
                asked="verify",
                expected=", ".join(map(str, types)),
                found=text,
            )
        count += len(node.types)
    for position, source in enumerate(program.sources):
        node = graph.nodes[graph.producers[source.value]]
        if node.op != "parameter" or node.attributes["index"] != position:
            raise PlanError("a source is no parameter", asked="verify", found=str(source))
    if any(not 0 <= value < count for value in program.outputs):
        raise PlanError("an output does not exist", asked="verify", found=str(program.outputs))
    effects = [i for i, node in enumerate(graph.nodes) if acts(graph, node)]
    if list(program.effects) != effects:
        raise PlanError(
            "effects are lost or out of order",
            asked="verify",
            expected=str(effects),
            found=str(program.effects),
        )
