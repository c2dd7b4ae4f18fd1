"""Where more is computed than was meant."""

from __future__ import annotations

from collections.abc import Iterator

from .finding import Finding, Linted

NARROW = ("float16", "bfloat16", "float32", "complex64")
WIDE = ("float64", "complex128")


def float64_creep(linted: Linted) -> Iterator[Finding]:
    """A narrower tensor that became float64 because another operand was: a NumPy array, often."""
    graph = linted.graph
    for index, node in linted.own:
        if len(node.inputs) < 2 or node.op == "cast":
            continue
        widened, causes = [], []
        for value in node.inputs:
            if graph.types[value].dtype.name not in WIDE:
                continue
            source = linted.producer(value)
            if source.op == "cast" and graph.types[source.inputs[0]].dtype.name in NARROW:
                widened.append(source.inputs[0])
            elif source.op != "cast":
                causes.append(value)
        if widened and causes:
            cause, narrow = graph.handle(causes[0]), graph.types[widened[0]].dtype.name
            yield linted.finding(
                "float64-creep",
                index,
                f"{narrow} {graph.value_name(widened[0])!r} is computed with in "
                f"{cause.type.dtype.name}, as {graph.value_name(cause.id)!r} is",
                f"give that one as {narrow}",
            )
