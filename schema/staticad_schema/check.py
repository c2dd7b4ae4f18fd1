"""What holds for a node and for a whole graph, checked on everything that is read.

What holds for a whole graph is checked also before one is written, so that what can be
saved loads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .attributes import conforms
from .bodies import OpenSizes
from .declarations import VariableSpec
from .errors import FormatError, StaticadError, near_miss
from .graph import Function, Graph
from .node import Node
from .op import OPS, Op
from .run_time_sizes import GIVEN, symbols_of_node
from .types import TensorType, fits


@contextmanager
def untrusted() -> Iterator[None]:
    """A block that reads what may be anybody's: whatever goes wrong in it is a FormatError."""
    try:
        yield
    except FormatError:
        raise
    except StaticadError as error:
        raise FormatError(
            error.problem, asked=error.asked, expected=error.expected, found=error.found
        ) from error
    # Inference is written for graphs that the builder makes; others may break it anyhow.
    except Exception as error:
        raise FormatError("the graph is damaged", found=f"{error}"[:500]) from error


def known_op(name: str) -> Op:
    """The op of that name.  Raises FormatError."""
    definition = OPS.get(name)
    if definition is None:
        raise FormatError(
            f"no op {name[:100]!r}",
            expected="an op of this version",
            found=repr(name[:100]),
            hint=near_miss(name[:100], OPS),
        )
    return definition


def check_application(definition: Op, input_count: int, attributes: Mapping[str, Any]) -> None:
    """The number of operands, the names and the kinds of attributes.  Raises FormatError."""
    if attributes.keys() != definition.parameters.keys():
        raise wrong(
            f"op {definition.name}",
            "attributes " + (", ".join(sorted(definition.parameters)) or "none"),
            ", ".join(sorted(attributes))[:200] or "none",
        )
    for parameter in definition.parameters.values():
        if not conforms(attributes[parameter.name], parameter.annotation):
            raise wrong(
                f"attribute {parameter.name!r} of {definition.name}",
                parameter.annotation,
                repr(attributes[parameter.name])[:100],
            )
    if not definition.takes(input_count):
        raise wrong(f"op {definition.name}", f"{len(definition.inputs)} operands", str(input_count))


def check_node(graph: Graph, node: Node, operands: Sequence[TensorType]) -> None:
    """Compare what inference finds for the next node with its types.  Raises FormatError."""
    asked = f"node {len(graph.nodes)}, {node.op}"
    if node.name is not None:
        asked += f" {node.name[:100]!r}"
    site = graph.site(node.site)
    try:
        types = node.definition.output_types(operands, graph.resolved(node.attributes))
    except StaticadError as error:
        raise FormatError(
            error.problem, asked=asked, expected=error.expected, found=error.found, site=site
        ) from error
    if types != node.types:
        raise FormatError(
            "the types that are written are not those of the op",
            asked=asked,
            expected=", ".join(map(str, types)) or "no output",
            found=", ".join(map(str, node.types)) or "no output",
            site=site,
        )


def check_graph(graph: Graph) -> None:
    """Names, state, signatures and bodies of a graph.  Raises FormatError."""
    bodies = [function.body for function in graph.functions.values()]
    finds = any(body.run_time.finders for body in (graph, *bodies))
    open_sizes = OpenSizes(graph.functions if finds else {})
    for name, function in graph.functions.items():
        if function.name != name:
            raise wrong(f"function {name!r}", "its own name", repr(function.name))
        _check_body(graph, function, open_sizes)
    _check_nodes(graph, graph, open_sizes, "the graph")
    for node in graph.nodes:
        if node.op == "parameter":
            raise wrong("a parameter", "parameters in function bodies only", "one outside")
    for spec in graph.variable_specs.values():
        _check_variable(graph, spec)
    for signature in graph.signatures.values():
        what = f"signature {signature.name!r}"
        _check_values(graph, (*signature.inputs.values(), *signature.outputs.values()), what)
        if not all(0 <= node < len(graph.nodes) for node in signature.effects):
            raise wrong(what, "effects that are nodes of the graph", str(signature.effects))


def _check_body(graph: Graph, function: Function, open_sizes: OpenSizes) -> None:
    what = f"function {function.name!r}"
    body = function.body
    _check_nodes(graph, body, open_sizes, what)
    parameters = [node for node in body.nodes if node.op == "parameter"]
    by_index = sorted(parameters, key=lambda node: node.attributes["index"])
    if [node.attributes["index"] for node in by_index] != list(range(len(parameters))):
        raise wrong(what, "parameters numbered from 0", "others")
    if tuple(node.start for node in by_index) != function.inputs:
        raise wrong(what, "inputs that are its parameters, in order", str(function.inputs))
    _check_values(body, function.outputs, what)


def _check_nodes(graph: Graph, body: Graph, open_sizes: OpenSizes, what: str) -> None:
    if body.run_time.finders:
        _check_sizes(body, open_sizes, what)
    names = set()
    for node in body.nodes:
        if node.name is not None:
            if node.name in names:
                raise wrong(what, "nodes of different names", f"two called {node.name!r}")
            names.add(node.name)
        variable = node.attributes.get("variable") if node.attributes else None
        if variable is not None:
            _check_use(graph, body, node, variable)


def _check_sizes(body: Graph, open_sizes: OpenSizes, what: str) -> None:
    """Each size that a run finds is found by one node, before anything uses it."""
    finders = body.run_time.finders
    for index, node in enumerate(body.nodes):
        own = node.finds
        if len(set(own)) != len(own) or any(finders[name] != index for name in own):
            raise wrong(what, "run-time sizes found by one node each", ", ".join(own))
        for name in symbols_of_node(node).difference(own) & finders.keys():
            if finders[name] > index or node.op in GIVEN:
                raise wrong(
                    what,
                    f"{name!r} used only after node {finders[name]}, which finds it",
                    f"node {index}, {node.op}",
                )
    called = dict.fromkeys(name for node in body.nodes for name in node.calls)
    open_sizes.check(called, finders)


def _check_use(graph: Graph, body: Graph, node: Node, variable: str) -> None:
    """A node that reads or writes state: the variable exists and is of that type."""
    spec = graph.variable_specs.get(variable)
    if spec is None:
        raise wrong(f"{node.op} of {variable!r}", "a variable of the graph", "no such variable")
    writes = node.definition.effect == "writes"
    if writes and body is not graph:
        raise wrong(f"{node.op} of {variable!r}", "bodies without writes", "a write in a body")
    found = body.types[node.inputs[0]] if writes else node.types[0]
    if not (fits(found, spec.type) if writes else found == spec.type):
        raise wrong(f"{node.op} of {variable!r}", str(spec.type), str(found))


def _check_variable(graph: Graph, spec: VariableSpec) -> None:
    what = f"variable {spec.name!r}"
    _check_values(graph, (spec.initial,), what)
    if not fits(graph.types[spec.initial], spec.type):
        raise wrong(what, f"an initial {spec.type}", str(graph.types[spec.initial]))
    node = graph.nodes[spec.node] if 0 <= spec.node < len(graph.nodes) else None
    if node is None or node.op != "variable" or node.attributes["variable"] != spec.name:
        raise wrong(what, "the node that reads it", f"node {spec.node}")


def _check_values(graph: Graph, values: tuple[int, ...], what: str) -> None:
    for value in values:
        if not 0 <= value < len(graph.types):
            raise wrong(what, f"values below {len(graph.types)}", str(value))


def wrong(what: str, expected: str, found: str) -> FormatError:
    """The error that a part of a graph is not as it has to be."""
    return FormatError(f"{what} is not right", expected=expected, found=found)
