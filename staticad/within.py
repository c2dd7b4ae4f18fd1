"""Bodies of choices and loops, traced in the graph that they are a part of.

While a function is traced its nodes are the graph's own, so that whatever can be built can be
built in it, from tensors inside and outside alike.  Then these nodes leave the graph and become a
body; what they read from outside are operands of the node that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from staticad_schema.dims import Dim
from staticad_schema.errors import GraphError, UsageError
from staticad_schema.graph import Function
from staticad_schema.handle import Effect, Handle
from staticad_schema.node import Node
from staticad_schema.op import FunctionRef
from staticad_schema.types import TensorType

from .current import SCOPE

# Constants of so many bytes are repeated in a body, so that it can be simplified.
REPEATED_BYTES = 4096


class Tracing:
    """Functions that are being traced in a graph, the innermost of them.

    start: the number of nodes, and of values, before it.  made: the tensors and effects that came
    to be meanwhile.
    """

    def __init__(self, graph: Any, name: str, outer: Tracing | None) -> None:
        self.name = name
        self.outer = outer
        self.start = len(graph.nodes)
        self.values = len(graph.types)
        self.functions = len(graph.functions)
        self.made: list[Any] = []


class Traced(NamedTuple):
    """What a function was traced to.  nodes: with their ids in the graph, whose types `types`
    are, from `values` on.  parameters, outputs: value ids.  captured: values from outside.
    made: tensors and effects to which it was traced."""

    name: str
    nodes: list[Node]
    types: list[TensorType]
    start: int
    values: int
    parameters: tuple[int, ...]
    outputs: tuple[int, ...]
    captured: tuple[int, ...]
    made: list[Any]


def traced(
    graph: Any,
    name: str,
    types: Sequence[TensorType],
    build: Callable[..., Sequence[Any]],
) -> Traced:
    """The nodes that `build` makes of tensors of these types; they leave the graph again.

    build: returns tensors of the graph.  The caller holds the graph's lock.
    """
    tracing = Tracing(graph, name, graph.tracing)
    saved = graph.begin_body(tracing)
    scope = SCOPE.set("")
    try:
        parameters = [_parameter(graph, index, type_) for index, type_ in enumerate(types)]
        with graph:
            outputs = build(*parameters)
        for output in outputs:
            graph.check_owner(output, f"the body {name!r}")
        nodes, own = graph.nodes[tracing.start :], graph.types[tracing.values :]
        _check(graph, tracing, nodes)
        ids = tuple(output.id for output in outputs)
        captured = _captured(tracing, nodes, ids)
    except BaseException:
        _dismiss(graph, tracing)
        raise
    finally:
        SCOPE.reset(scope)
        graph.end_body(tracing, saved)
    return Traced(
        name, nodes, own, tracing.start, tracing.values, tuple(p.id for p in parameters), ids,
        captured, tracing.made,
    )  # fmt: skip


def _parameter(graph: Any, index: int, type_: TensorType) -> Any:
    """An input, also of a size that the run has found: in the body it is the caller's."""
    attributes = {"index": index, "dtype": type_.dtype, "shape": type_.shape}
    site = graph.current_site()
    graph.append_trusted(Node("parameter", (), attributes, (type_,), len(graph.types), site=site))
    return graph.handle(len(graph.types) - 1)


def _dismiss(graph: Any, tracing: Tracing) -> None:
    """What was made by a function that failed belongs to no graph that anybody has."""
    apart = type(graph)(0)
    apart.nodes, apart.types = list(graph.nodes), list(graph.types)
    apart.producers, apart.sites = list(graph.producers), graph.sites
    for made in tracing.made:
        made.graph = apart
    for name in list(graph.functions)[tracing.functions :]:
        del graph.functions[name]


def _check(graph: Any, tracing: Tracing, nodes: Iterable[Node]) -> None:
    """Raises GraphError for what cannot be a part of a body."""
    for node in nodes:
        outside = [graph.nodes[i] for i in node.after if i < tracing.start]
        outside += [
            producer
            for v in node.inputs
            if v < tracing.values
            and (producer := graph.nodes[graph.producers[v]]).definition.effect == "writes"
        ]
        if outside:
            first = outside[0]
            raise GraphError(
                "a body depends on an effect outside of it",
                asked=f"{node.op} in the body {tracing.name!r}",
                expected="a body that depends on values alone: order what is outside before the "
                "operands, or behind the results",
                found=f"{first.op} {graph.node_name(graph.nodes.index(first))!r} "
                f"({graph.site(first.site)})",
                site=graph.site(node.site),
            )


def _captured(tracing: Tracing, nodes: Iterable[Node], outputs: Iterable[int]) -> tuple[int, ...]:
    used = [v for node in nodes for v in node.inputs if v < tracing.values]
    return tuple(dict.fromkeys([*used, *(v for v in outputs if v < tracing.values)]))


class Bodies(NamedTuple):
    """Bodies with the same inputs.  captured: the values that they read from outside, operands
    behind the others."""

    functions: tuple[FunctionRef, ...]
    captured: tuple[int, ...]


def entered(graph: Any, parts: Sequence[Traced]) -> Bodies:
    """What was traced as bodies of the graph's table, which all take what any of them reads."""
    wanted = dict.fromkeys(v for part in parts for v in part.captured)
    constants = {v for v in wanted if _is_small(graph, v)}
    captured = [v for v in wanted if v not in constants]
    made = [_function(graph, part, captured, constants) for part in parts]
    tellers = _tellers(graph, made, captured, parts[0])
    if tellers:
        captured += tellers
        made = [_function(graph, part, captured, constants) for part in parts]
    for part, (function, ids) in zip(parts, made, strict=True):
        graph.add_function(function)
        _rehome(part, function, ids)
    return Bodies(tuple(FunctionRef(f.name) for f, _ in made), tuple(captured))


def _is_small(graph: Any, value: int) -> bool:
    node = graph.nodes[graph.producers[value]]
    return bool(node.op == "constant" and node.attributes["value"].nbytes <= REPEATED_BYTES)


def _function(
    graph: Any, part: Traced, captured: Sequence[int], constants: set[int]
) -> tuple[Function, dict[int, int]]:
    """The body, and where the graph's values are in it."""
    body = type(graph)(graph.seed, graph.strict)
    body.body_name = part.name
    body.functions = graph.functions
    ids: dict[int, int] = {}
    indices: dict[int, int] = {}

    def append(node: Node, index: int, inputs: Iterable[int], site: int) -> None:
        indices[index] = len(body.nodes)
        start = len(body.types)
        ids.update(zip(node.outputs, range(start, start + len(node.types)), strict=True))
        forward = graph.site(node.forward_site)
        where = graph.site(site)
        body.append_trusted(
            node._replace(
                inputs=tuple([ids[v] for v in inputs]), start=start,
                after=tuple([indices[i] for i in node.after]),
                site=0 if where is None else body.intern_site(where),
                forward_site=0 if forward is None else body.intern_site(forward),
            )
        )  # fmt: skip

    parameters = set(part.parameters)
    for offset, node in enumerate(part.nodes):
        if node.start in parameters and node.types:
            append(node, part.start + offset, (), node.site)
    for position, value in enumerate(captured):
        node, type_ = graph.nodes[graph.producers[value]], graph.types[value]
        attributes = {
            "index": len(parameters) + position, "dtype": type_.dtype, "shape": type_.shape
        }  # fmt: skip
        given = Node("parameter", (), attributes, (type_,), value, site=node.site)
        append(given, -1 - position, (), node.site)
    for value in sorted(constants.intersection(part.captured)):
        index = graph.producers[value]
        node = graph.nodes[index]._replace(name=None, after=())
        append(node, index, (), node.site)
    for offset, node in enumerate(part.nodes):
        if not (node.types and node.start in parameters):
            append(node, part.start + offset, node.inputs, node.site)
    inputs = tuple(ids[v] for v in (*part.parameters, *captured))
    outputs = tuple(ids[v] for v in part.outputs)
    return Function(part.name, body, inputs, outputs), ids


def _rehome(part: Traced, function: Function, ids: dict[int, int]) -> None:
    """What somebody still holds of what a function made belongs to the body now."""
    for made in part.made:
        if isinstance(made, Effect) and made.node_index >= part.start:
            made.graph = function.body
        elif isinstance(made, Handle) and made.id >= part.values:
            made.graph, made.id = function.body, ids[made.id]


def _tellers(
    graph: Any, made: Iterable[tuple[Function, Any]], captured: Sequence[int], part: Traced
) -> list[int]:
    """Values whose shapes tell the sizes that bodies use and are not told otherwise."""
    waiting = set().union(*(function.open_sizes for function, _ in made))
    found = []
    for value in range(part.values if waiting else 0):
        own = {
            name
            for size in graph.types[value].shape
            if isinstance(size, Dim) and (name := size.symbol()) in waiting
        }
        if own and value not in captured:
            found.append(value)
            waiting -= own
            if not waiting:
                break
    return found


def free_name(graph: Any, base: str, roles: Sequence[str]) -> list[str]:
    """Names of bodies that are not taken: of what they stand in, the node, and what each is for."""
    if graph.tracing is not None:
        base = f"{graph.tracing.name}/{base}"
    count = graph.body_counts.get(base, 0)
    while True:
        name = f"{base}_{count}" if count else base
        count += 1
        if not any(f"{name}/{role}" in graph.functions for role in roles):
            graph.body_counts[base] = count
            return [f"{name}/{role}" for role in roles]


def require_function(name: str, given: Any) -> None:
    """Raises UsageError for what cannot be called."""
    if not callable(given):
        raise UsageError(
            f"{name} is no function",
            expected="a function of tensors",
            found=f"{given!r:.80}, a {type(given).__name__}",
        )
