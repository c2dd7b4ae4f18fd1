"""Errors of a running node, told in the user's terms: name, operand types, lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from staticad_schema.errors import ExecutionError, StaticadError
from staticad_schema.graph import Graph
from staticad_schema.types import TensorType

# Longer names of calls in calls are shortened: all names of a chain of calls together would
# otherwise take its length squared.
LONG_NAME = 200


class InNodeError(Exception):
    """A call that computes several nodes failed in the one at `position`, by its cause."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class InBodyError(Exception):
    """A node of a body failed: which one, with operands of these types, by what.  within: the nodes
    that have the body, outermost first, of loops with the iteration."""

    def __init__(
        self, graph: Graph, index: int, operands: Sequence[TensorType], error: Exception
    ) -> None:
        super().__init__(index)
        self.graph = graph
        self.index = index
        self.operands = tuple(operands)
        self.error = error
        self.within: list[str] = []


def nested_name(outer: str, name: str) -> str:
    """The name of what stands in a body: "call/name", of calls in calls "call/…/name" where
    there are many."""
    if len(outer) > LONG_NAME:
        head, cut, _ = outer.partition("/…")
        outer = (head if cut else outer[: LONG_NAME // 2].rpartition("/")[0]) + "/…"
    return f"{outer}/{name}" if outer else name


def node_failure(
    graph: Graph,
    index: int,
    error: Exception,
    operands: Sequence[TensorType] = (),
    within: Sequence[str] = (),
) -> StaticadError:
    """What to raise when node `index` failed with `error`, in bodies called by `within`.

    An error of the project keeps its class and gains what it does not know yet; anything
    else becomes an ExecutionError, whose cause the caller sets with `raise … from error`.
    """
    node = graph.nodes[index]
    asked = f"{node.op} {reduce(nested_name, (*within, graph.node_name(index)))!r}"
    site, forward_site = graph.site(node.site), graph.site(node.forward_site)
    given = [
        f"{graph.value_name(v)!r} {type_}" + (f" ({where})" if where else "")
        for v, type_ in zip(node.inputs, operands, strict=False)
        for where in (graph.site(graph.nodes[graph.producers[v]].site),)
    ]
    if isinstance(error, StaticadError):
        return error.locate(asked=asked, site=site, forward_site=forward_site, operands=given)
    text = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        text = f"out of memory: {text}"
    failed = ExecutionError(
        text,
        asked=asked,
        expected=" and ".join(map(str, node.types)) or "no failure",
        found=type(error).__name__,
    )
    return failed.locate(site=site, forward_site=forward_site, operands=given)
