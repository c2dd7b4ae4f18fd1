"""Graph -> protobuf message.  Knows tables and columns; `codec` knows files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from .attributes import float_bits, identity
from .dim_parser import MAX_TEXT, parse
from .dims import Dim
from .errors import FormatError
from .graph import Function, Graph
from .graph_pb2 import Application, Body, ElementType, Value
from .graph_pb2 import Array as ArrayMessage
from .graph_pb2 import Graph as GraphMessage
from .node import Node
from .op import FunctionRef
from .tensors import octets_of
from .types import KINDS, DType, TensorType

# Any: the enum's stub has another type than its numbers.
ELEMENT_TYPES: dict[DType, Any] = {
    d: ElementType.Value(f"ELEMENT_TYPE_{d.name.upper()}") for d in KINDS
}

# Takes an array, and gives the name it has in the sidecar, or None to keep it in the file.
Externalize = Callable[[np.ndarray[Any, Any]], str | None]


def encode_graph(graph: Graph, sites: bool, externalize: Externalize) -> GraphMessage:
    """The graph as a message.  Raises FormatError for what files do not hold."""
    return _Encoder(graph, sites, externalize).encode()


class _Table:
    """Positions of things in the order in which they were first asked for."""

    def __init__(self) -> None:
        self.positions: dict[Any, int] = {}

    def __call__(self, key: Hashable) -> int:
        return self.positions.setdefault(key, len(self.positions))


class _Encoder:
    def __init__(self, graph: Graph, sites: bool, externalize: Externalize) -> None:
        self.graph = graph
        self.sites = sites
        self.externalize = externalize
        self.message = GraphMessage()
        self.strings = _Table()
        self.dims = _Table()
        self.types = _Table()
        self.applications: dict[Hashable, int] = {}
        self.functions = {name: k for k, name in enumerate(graph.functions)}

    def encode(self) -> GraphMessage:
        graph, message = self.graph, self.message
        for function in graph.functions.values():
            self.function(function)
        self.body(message.main, graph, graph.nodes)
        for spec in graph.variable_specs.values():
            message.variables.add(
                name=spec.name,
                type=self.type(spec.type),
                initial=spec.initial,
                trainable=spec.trainable,
                node=spec.node,
            )
        for signature in graph.signatures.values():
            entry = message.signatures.add(name=signature.name, effects=signature.effects)
            for key, value in signature.inputs.items():
                entry.inputs.add(key=key, value=value)
            for key, value in signature.outputs.items():
                entry.outputs.add(key=key, value=value)
        if graph.seed is not None:
            self.value(message.seed, graph.seed)
        for dtype, shape in self.types.positions:
            sizes = [d if isinstance(d, int) else -1 - self.dims(self.dim_text(d)) for d in shape]
            message.types.add(dtype=ELEMENT_TYPES[dtype], shape=sizes)
        message.dims.extend(self.dims.positions)
        message.strings.extend(self.strings.positions)
        return message

    def function(self, function: Function) -> None:
        entry = self.message.functions.add(
            name=function.name, inputs=function.inputs, outputs=function.outputs
        )
        self.body(entry.body, function.body, function.body.nodes)

    def type(self, type_: TensorType) -> int:
        return self.types((type_.dtype, type_.shape))

    def dim_text(self, dim: Dim) -> str:
        text = str(dim)
        if len(text) > MAX_TEXT:
            raise FormatError(
                "a dimension is too long to be saved",
                expected=f"{MAX_TEXT} characters at most",
                found=text[:100],
            )
        if text not in self.dims.positions and parse(text) != dim:
            raise FormatError(
                "a dimension does not survive being written",
                expected=text,
                found=str(parse(text)),
            )
        return text

    def body(self, body: Body, graph: Graph, nodes: list[Node]) -> None:
        applications: list[int] = []
        inputs: list[int] = []
        for node in nodes:
            attributes = node.attributes
            key = (
                node.op,
                len(node.inputs),
                node.types,
                tuple([(k, identity(v)) for k, v in attributes.items()]) if attributes else (),
            )
            found = self.applications.get(key)
            if found is None:
                found = self.applications[key] = len(self.applications)
                self.application(self.message.applications.add(), node)
            applications.append(found)
            start = node.start
            for i in node.inputs:
                inputs.append(start - i)
        body.applications.extend(applications)
        body.inputs.extend(inputs)
        string = self.strings
        _column(body.scopes, [string(n.scope) + 1 if n.scope else 0 for n in nodes])
        _column(body.devices, [0 if n.device is None else string(n.device) + 1 for n in nodes])
        named = [(k, n.name) for k, n in enumerate(nodes) if n.name is not None]
        body.named_nodes.extend([k for k, _ in named])
        body.names.extend([string(name) for _, name in named])
        for k, node in enumerate(nodes):
            if node.after:
                body.ordered_nodes.append(k)
                body.after_counts.append(len(node.after))
                body.after.extend([k - before for before in node.after])
        if self.sites:
            _column(body.sites, [n.site for n in nodes])
            _column(body.forward_sites, [n.forward_site for n in nodes])
            for site in graph.sites[1:]:
                body.site_files.append(string(site.file))
                body.site_lines.append(site.line)
                body.site_functions.append(string(site.function))

    def application(self, entry: Application, node: Node) -> None:
        entry.op = self.strings(node.op)
        entry.input_count = len(node.inputs)
        entry.types.extend([self.type(t) for t in node.types])
        for name in sorted(node.attributes):
            attribute = entry.attributes.add(name=self.strings(name))
            try:
                self.value(attribute.value, node.attributes[name])
            except FormatError as error:
                asked = f"attribute {name!r} of {node.op}"
                raise error.locate(asked=asked, site=self.graph.site(node.site)) from None

    def value(self, entry: Value, value: Any) -> None:
        """Fill in what `value` is."""
        if value is None:
            entry.none = True
        elif isinstance(value, bool | np.bool_):
            entry.boolean = bool(value)
        elif isinstance(value, int | np.integer):
            self.integer(entry, int(value))
        elif isinstance(value, float | np.floating):
            entry.float_bits = float_bits(float(value))
        elif isinstance(value, FunctionRef):
            if value not in self.functions:
                raise FormatError(
                    "a function that the graph does not hold",
                    expected=", ".join(map(repr, self.functions)) or "no function",
                    found=repr(value),
                )
            entry.function = self.functions[value]
        elif isinstance(value, str):
            entry.text = value
        elif isinstance(value, np.dtype):
            entry.dtype = ELEMENT_TYPES[value]
        elif isinstance(value, Dim):
            entry.dim = self.dims(self.dim_text(value))
        elif isinstance(value, tuple | list):
            entry.list.SetInParent()
            for item in value:
                self.value(entry.list.values.add(), item)
        elif isinstance(value, np.ndarray):
            self.array(entry.array, value)
        else:
            raise FormatError(
                "a value that files do not hold",
                expected="None, bool, int, float, str, dtype, dimension, function, array, tuple",
                found=type(value).__name__,
            )

    def integer(self, entry: Value, value: int) -> None:
        if -(1 << 63) <= value < 1 << 63:
            entry.integer = value
        elif 0 <= value < 1 << 64:
            entry.large_integer = value
        else:
            raise FormatError(
                "an integer that files do not hold",
                expected="the range of int64 or uint64",
                found=str(value),
            )

    def array(self, entry: ArrayMessage, array: np.ndarray[Any, Any]) -> None:
        if array.dtype not in ELEMENT_TYPES:
            raise FormatError(
                "an array that files do not hold",
                expected=", ".join(d.name for d in KINDS),
                found=str(array.dtype),
            )
        entry.dtype = ELEMENT_TYPES[array.dtype]
        entry.shape.extend(array.shape)
        external = self.externalize(array)
        if external is not None:
            entry.external = external
        else:
            entry.data = octets_of(array).tobytes()


def _column(column: Any, entries: Iterable[int]) -> None:
    """Fill in a column unless all its entries are zero."""
    entries = list(entries)
    if any(entries):
        column.extend(entries)
