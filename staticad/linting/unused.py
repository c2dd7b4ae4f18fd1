"""What was declared and does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from staticad_schema.graph import Graph

from .finding import Finding, Linted


def unused_variable(linted: Linted) -> Iterator[Finding]:
    """A variable that nothing reads: it takes memory, and room in checkpoints."""
    graph = linted.graph
    read = {name for function in graph.functions.values() for name in function.reads}
    for node in graph.nodes:
        if node.op == "read_variable" or node.op in ("assign_add", "assign_sub"):
            read.add(node.attributes["variable"])
    for name, spec in graph.variable_specs.items():
        if name not in read and graph.nodes[spec.node].start not in linted.used:
            yield linted.finding(
                "unused-variable", spec.node, "nothing reads the variable", "leave it away"
            )


def dead_feed(linted: Linted) -> Iterator[Finding]:
    """A placeholder that nothing uses, or an input on which its signature does not depend."""
    graph = linted.graph
    for index, node in enumerate(graph.nodes):
        if node.op == "placeholder" and node.start not in linted.used:
            yield linted.finding(
                "dead-feed", index, "nothing uses the placeholder", "leave it away, or use it"
            )
    for signature in graph.signatures.values():
        roots = [graph.producers[v] for v in signature.outputs.values()]
        needed = _needed(graph, [*roots, *signature.effects])
        for key, value in signature.inputs.items():
            if graph.producers[value] not in needed and value in linted.used:
                yield linted.finding(
                    "dead-feed",
                    graph.producers[value],
                    f"no output or effect of the signature {signature.name!r} depends on its "
                    f"input {key!r}",
                    "leave it away there",
                )


def _needed(graph: Graph, roots: list[int]) -> set[int]:
    needed, waiting = set(roots), list(roots)
    while waiting:
        node = graph.nodes[waiting.pop()]
        new = {*(graph.producers[v] for v in node.inputs), *node.after} - needed
        needed |= new
        waiting += new
    return needed
