"""A graph as text, one line a node, and back.

    staticad 1
    seed 0
    site 1 "model.py":7 "build"
    %0 = placeholder(dtype=float32, shape=(<batch>, 10)) : float32[batch, 10]  name="x" site=1
    %1 = sum(%0, axis=(1,), keepdims=False) : float32[batch]  site=1
    @2 = group()  name="all" after=(%1)
    signature "serve" inputs={"x": %0} outputs={"y": %1} effects=(@2)

Values are called %id; a node is called by its first value, or @index if it has none.
Bodies come first, each in `function "name"(%0, %1) -> (%5) {` and `}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .check import check_application, check_graph, check_node, known_op, untrusted
from .declarations import Signature, VariableSpec
from .errors import FormatError, Site
from .graph import Function, Graph
from .literal import Reader, string_text, value_text
from .migrate import FORMAT
from .node import Node
from .types import TensorType

G = TypeVar("G", bound=Graph)

_VALUE = re.compile(r"%([0-9]{1,12})(?![0-9])")
_NODE = re.compile(r"@([0-9]{1,12})(?![0-9])")


def line(graph: Graph, index: int) -> str:
    """A node for people: without its line and scope, and without large constants."""
    return _node_text(graph, index, graph.nodes[index], short=True)


def to_text(graph: Graph) -> str:
    """The whole graph, exactly.  Raises FormatError for what text cannot hold."""
    check_graph(graph)
    lines = [f"staticad {FORMAT}"]
    if graph.seed is not None:
        lines.append(f"seed {graph.seed}")
    for function in graph.functions.values():
        inputs, outputs = _values(function.inputs), _values(function.outputs)
        lines.append(f"function {string_text(function.name)}({inputs}) -> ({outputs}) {{")
        lines += ["  " + text for text in _body_lines(function.body)]
        lines.append("}")
    lines += _body_lines(graph)
    for spec in graph.variable_specs.values():
        lines.append(
            f"variable {string_text(spec.name)} : {spec.type} initial=%{spec.initial} "
            f"node={_node_reference(graph, spec.node)} trainable={spec.trainable}"
        )
    for signature in graph.signatures.values():
        effects = ", ".join(_node_reference(graph, node) for node in signature.effects)
        lines.append(
            f"signature {string_text(signature.name)} inputs={_bindings(signature.inputs)} "
            f"outputs={_bindings(signature.outputs)} effects=({effects})"
        )
    return "\n".join(lines) + "\n"


@overload
def from_text(text: str) -> Graph: ...
@overload
def from_text(text: str, graph_class: Callable[..., G]) -> G: ...
def from_text(text: str, graph_class: Callable[..., Graph] = Graph) -> Graph:
    """The graph that `to_text` wrote, checked as a file is.  Raises FormatError."""
    reading = _Reading(text)
    with untrusted():
        try:
            graph = reading.graph(graph_class)
            check_graph(graph)
            return graph
        except FormatError as error:
            place = f"line {reading.number}"
            error.asked = f"{place}, {error.asked}" if error.asked else place
            raise


# -------------------------------------------------------------------- writing


def _body_lines(body: Graph) -> list[str]:
    lines = [
        f"site {k} {string_text(site.file)}:{site.line} {string_text(site.function)}"
        for k, site in enumerate(body.sites)
        if k
    ]
    for index, node in enumerate(body.nodes):
        text = _node_text(body, index, node, short=False)
        extra = f" scope={string_text(node.scope)}" if node.scope else ""
        extra += f" site={node.site}" if node.site else ""
        extra += f" forward={node.forward_site}" if node.forward_site else ""
        lines.append(text + (" " if extra and "  " not in text else "") + extra)
    return lines


def _node_text(graph: Graph, index: int, node: Node, short: bool) -> str:
    operands = [f"%{i}" for i in node.inputs]
    operands += [f"{k}={value_text(v, short)}" for k, v in node.attributes.items()]
    results = _values(node.outputs) if node.types else f"@{index}"
    text = f"{results} = {node.op}({', '.join(operands)})"
    if node.types:
        text += " : " + ", ".join(map(str, node.types))
    extra = [] if node.name is None else [f"name={string_text(node.name)}"]
    if node.after:
        extra.append(f"after=({', '.join(_node_reference(graph, n) for n in node.after)})")
    if node.device is not None:
        extra.append(f"device={string_text(node.device)}")
    return text + ("  " + " ".join(extra) if extra else "")


def _node_reference(graph: Graph, index: int) -> str:
    node = graph.nodes[index]
    return f"%{node.start}" if node.types else f"@{index}"


def _values(values: Any) -> str:
    return ", ".join(f"%{value}" for value in values)


def _bindings(bindings: dict[str, int]) -> str:
    return "{" + ", ".join(f"{string_text(k)}: %{v}" for k, v in bindings.items()) + "}"


# -------------------------------------------------------------------- reading


class _Reading:
    """The lines of a text, and the number of the line that is being read."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.number = 0

    def next(self) -> Reader | None:
        """The next line that is not empty."""
        while self.number < len(self.lines):
            self.number += 1
            if self.lines[self.number - 1].strip(" "):
                return Reader(self.lines[self.number - 1])
        return None

    def graph(self, graph_class: Callable[..., G]) -> G:
        reader = self.next() or Reader("")
        reader.need("staticad ")
        version = reader.number()
        if version != FORMAT:
            raise FormatError(
                "text of another version; only .sad files are brought up to date",
                expected=f"format {FORMAT}",
                found=f"format {version}",
            )
        _end(reader)
        following = self.next()
        seed = None
        if following is not None and following.take("seed "):
            seed = following.number()
            _end(following)
            following = self.next()
        graph = graph_class(seed)
        while following is not None:
            if following.take("function "):
                body = graph_class(seed)
                body.functions = graph.functions
                self.function(following, graph, body)
            elif following.take("variable "):
                _read_variable(following, graph)
            elif following.take("signature "):
                _read_signature(following, graph)
            else:
                _read_body_line(following, graph)
            following = self.next()
        return graph

    def function(self, reader: Reader, graph: Graph, body: Graph) -> None:
        name = reader.string()
        inputs = tuple(_references(reader, lambda: _value(reader)))
        reader.need("->")
        outputs = tuple(_references(reader, lambda: _value(reader)))
        reader.need("{")
        _end(reader)
        while True:
            line = self.next()
            if line is None:
                raise FormatError("a function does not end", expected="'}'", found="the end")
            if line.take("}"):
                _end(line)
                break
            _read_body_line(line, body)
        graph.add_function(Function(name, body, inputs, outputs))


def _end(reader: Reader) -> None:
    if not reader.end():
        raise reader.wrong("the end of the line")


def _value(reader: Reader) -> int:
    text = reader.match(_VALUE)
    if text is None:
        raise reader.wrong("a value, %0")
    return int(text)


def _references(reader: Reader, read: Callable[[], int]) -> list[int]:
    """References in parentheses."""
    found: list[int] = []
    reader.need("(")
    while not reader.take(")"):
        if found:
            reader.need(",")
        found.append(read())
    return found


def _node_index(reader: Reader, graph: Graph) -> int:
    """A node by its first value or by its index."""
    text = reader.match(_NODE)
    if text is not None:
        index = int(text)
        if index >= len(graph.nodes) or graph.nodes[index].types:
            raise reader.wrong("a node without outputs before this")
        return index
    value = _value(reader)
    if value >= len(graph.types) or graph.nodes[graph.producers[value]].start != value:
        raise reader.wrong("the first value of a node before this")
    return graph.producers[value]


def _read_body_line(reader: Reader, graph: Graph) -> None:
    if reader.take("site "):
        number, file = reader.number(), reader.string()
        reader.need(":")
        line_number, function = reader.number(), reader.string()
        _end(reader)
        if graph.intern_site(Site(file, line_number, function)) != number:
            raise reader.wrong("different sites, numbered from 1, before this")
        return
    node = _read_node(reader, graph)
    check_node(graph, node, [graph.types[i] for i in node.inputs])
    graph.append_trusted(node)


def _read_node(reader: Reader, graph: Graph) -> Node:
    index, start = len(graph.nodes), len(graph.types)
    output_count = 0
    if reader.take("@"):
        if reader.number() != index:
            raise reader.wrong(f"node {index} before this")
    else:
        while output_count == 0 or reader.take(","):
            if _value(reader) != start + output_count:
                raise reader.wrong(f"%{start + output_count} before this")
            output_count += 1
    reader.need("=")
    definition = known_op(reader.word())
    inputs, given = _operands(reader, start)
    check_application(definition, len(inputs), given)
    types: list[TensorType] = []
    if output_count:
        reader.need(":")
        types.append(reader.type())
        while reader.take(","):
            types.append(reader.type())
    if len(types) != output_count:
        raise reader.wrong(f"{output_count} types before this")
    extra: dict[str, Any] = {}
    while not reader.end():
        key = reader.word()
        if key in extra:
            raise reader.wrong(f"{key} only once before this")
        reader.need("=")
        extra[key] = _extra(reader, graph, key)
    return Node(
        definition.name,
        inputs,
        {name: given[name] for name in definition.parameters},
        tuple(types),
        start,
        extra.get("after", ()),
        extra.get("name"),
        extra.get("scope", ""),
        extra.get("device"),
        extra.get("site", 0),
        extra.get("forward", 0),
    )


def _operands(reader: Reader, start: int) -> tuple[tuple[int, ...], dict[str, Any]]:
    """The values and the attributes in the parentheses of a node."""
    inputs: list[int] = []
    given: dict[str, Any] = {}
    reader.need("(")
    while not reader.take(")"):
        if inputs or given:
            reader.need(",")
        value = reader.match(_VALUE)
        if value is None:
            key = reader.word()
            if key in given:
                raise reader.wrong(f"{key} only once before this")
            reader.need("=")
            given[key] = reader.value()
        elif given or int(value) >= start:
            raise reader.wrong("earlier values, then attributes, before this")
        else:
            inputs.append(int(value))
    return tuple(inputs), given


def _extra(reader: Reader, graph: Graph, key: str) -> Any:
    if key in ("name", "scope", "device"):
        return reader.string()
    if key == "after":
        return tuple(_references(reader, lambda: _node_index(reader, graph)))
    if key in ("site", "forward"):
        number = reader.number()
        if not 0 < number < len(graph.sites):
            raise reader.wrong("a site before this")
        return number
    raise reader.wrong("name, scope, after, device, site or forward before this")


def _read_variable(reader: Reader, graph: Graph) -> None:
    name = reader.string()
    reader.need(":")
    type_ = reader.type()
    reader.need("initial=")
    initial = _value(reader)
    reader.need("node=")
    node = _node_index(reader, graph)
    reader.need("trainable=")
    trainable = reader.take("True")
    if not trainable:
        reader.need("False")
    _end(reader)
    if name in graph.variable_specs:
        raise reader.wrong(f"one variable {name[:100]!r} before this")
    graph.add_variable(VariableSpec(name, type_, initial, trainable, node))


def _read_signature(reader: Reader, graph: Graph) -> None:
    name = reader.string()
    reader.need("inputs=")
    inputs = _read_bindings(reader)
    reader.need("outputs=")
    outputs = _read_bindings(reader)
    reader.need("effects=")
    effects = tuple(_references(reader, lambda: _node_index(reader, graph)))
    _end(reader)
    if name in graph.signatures:
        raise reader.wrong(f"one signature {name[:100]!r} before this")
    graph.signatures[name] = Signature(name, inputs, outputs, effects)


def _read_bindings(reader: Reader) -> dict[str, int]:
    found: dict[str, int] = {}
    reader.need("{")
    while not reader.take("}"):
        if found:
            reader.need(",")
        key = reader.string()
        if key in found:
            raise reader.wrong(f"{key[:100]!r} only once before this")
        reader.need(":")
        found[key] = _value(reader)
    return found
