"""Protobuf message -> Graph.  Every node is inferred again and compared; nothing is trusted.

Nodes that share an application and the types of their operands are inferred once, since
inference sees nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .attributes import MAX_DEPTH
from .check import check_application, check_graph, check_node, known_op, untrusted, wrong
from .declarations import Signature, VariableSpec
from .dim_parser import parse
from .dims import Dim, Size
from .encoder import ELEMENT_TYPES
from .errors import Site
from .graph import Function, Graph
from .graph_pb2 import Application, Body, Value
from .graph_pb2 import Array as ArrayMessage
from .graph_pb2 import Function as FunctionMessage
from .graph_pb2 import Graph as GraphMessage
from .graph_pb2 import Type as TypeMessage
from .node import Node
from .op import FunctionRef, Op
from .sidecar import Tensor
from .tensors import from_octets
from .types import MAX_RANK, TensorType

_DTYPES = {number: dtype for dtype, number in ELEMENT_TYPES.items()}


G = TypeVar("G", bound=Graph)


class _Kind(NamedTuple):
    """A decoded application, and the types of operands for which it was inferred."""

    definition: Op
    input_count: int
    types: tuple[TensorType, ...]
    type_ids: tuple[int, ...]
    attributes: dict[str, Any]
    inferred: set[tuple[int, ...]]


def decode_graph(
    message: GraphMessage, tensors: Mapping[str, Tensor], graph_class: Callable[..., G]
) -> G:
    """The graph that the message describes.  Raises FormatError for anything amiss."""
    with untrusted():
        return _Decoder(message, tensors).decode(graph_class)


class _Decoder:
    def __init__(self, message: GraphMessage, tensors: Mapping[str, Tensor]) -> None:
        self.message = message
        self.tensors = tensors
        self.strings = list(message.strings)
        self.dims = [_dim(text) for text in message.dims]
        self.function_names = [f.name for f in message.functions]
        self.types = [self.type(t) for t in message.types]
        self.kinds = [self.kind(a) for a in message.applications]

    def decode(self, graph_class: Callable[..., G]) -> G:
        message = self.message
        seed = self.value(message.seed) if message.HasField("seed") else None
        if seed is not None and type(seed) is not int:
            raise wrong("the seed", "an integer", repr(seed)[:50])
        graph = graph_class(seed)
        for entry in message.functions:
            body = graph_class(seed)
            # One flat table: a body calls what was entered before it.
            body.functions = graph.functions
            self.function(graph, body, entry)
        self.body(message.main, graph)
        for variable in message.variables:
            if variable.name in graph.variable_specs:
                raise wrong("variables", "different names", f"two called {variable.name!r}")
            graph.add_variable(
                VariableSpec(
                    name=variable.name,
                    type=self.types[variable.type],
                    initial=variable.initial,
                    trainable=variable.trainable,
                    node=variable.node,
                )
            )
        for signature in message.signatures:
            if signature.name in graph.signatures:
                raise wrong("signatures", "different names", f"two called {signature.name!r}")
            graph.signatures[signature.name] = Signature(
                name=signature.name,
                inputs=_bindings(signature.inputs),
                outputs=_bindings(signature.outputs),
                effects=tuple(signature.effects),
            )
        check_graph(graph)
        return graph

    # ---------------------------------------------------------------- tables

    def size(self, number: int) -> Size:
        return number if number >= 0 else self.dims[-1 - number]

    def type(self, entry: TypeMessage) -> TensorType:
        if len(entry.shape) > MAX_RANK:
            raise wrong("a type", f"rank {MAX_RANK} at most", str(len(entry.shape)))
        return TensorType(_DTYPES[entry.dtype], tuple([self.size(n) for n in entry.shape]))

    def kind(self, entry: Application) -> _Kind:
        name = self.strings[entry.op]
        definition = known_op(name)
        given = {self.strings[a.name]: self.value(a.value) for a in entry.attributes}
        if len(given) != len(entry.attributes):
            raise wrong(f"op {name}", "each attribute once", f"{len(entry.attributes)}")
        check_application(definition, entry.input_count, given)
        type_ids = tuple(entry.types)
        return _Kind(
            definition,
            entry.input_count,
            tuple([self.types[k] for k in type_ids]),
            type_ids,
            {parameter: given[parameter] for parameter in definition.parameters},
            set(),
        )

    def value(self, entry: Value, depth: int = 0) -> Any:
        """The value of an attribute."""
        which = entry.WhichOneof("kind")
        if which == "none":
            return None
        if which in ("boolean", "integer", "large_integer", "text"):
            return getattr(entry, which)
        if which == "float_bits":
            return struct.unpack("<d", struct.pack("<Q", entry.float_bits))[0]
        if which == "dtype":
            return _DTYPES[entry.dtype]
        if which == "dim":
            return self.dims[entry.dim]
        if which == "function":
            return FunctionRef(self.function_names[entry.function])
        if which == "array":
            return self.array(entry.array)
        if which == "list" and depth < MAX_DEPTH:
            return tuple([self.value(v, depth + 1) for v in entry.list.values])
        raise wrong("an attribute", "a value that is not nested deeply", str(which))

    def array(self, entry: ArrayMessage) -> np.ndarray[Any, Any]:
        dtype, shape = _DTYPES[entry.dtype], tuple(entry.shape)
        if len(shape) > MAX_RANK:
            raise wrong("a constant", f"rank {MAX_RANK} at most", str(len(shape)))
        if entry.WhichOneof("content") == "external":
            tensor = self.tensors.get(entry.external)
            if tensor is None:
                raise wrong("the sidecar", f"a tensor {entry.external[:50]!r}", "none")
            array = tensor.array(dtype, shape)
        else:
            array = from_octets(np.frombuffer(entry.data, np.uint8), dtype, shape)
        array.flags.writeable = False
        return array

    # ---------------------------------------------------------------- nodes

    def function(self, graph: Graph, body: Graph, entry: FunctionMessage) -> None:
        self.body(entry.body, body)
        inputs, outputs = tuple(entry.inputs), tuple(entry.outputs)
        graph.add_function(Function(entry.name, body, inputs, outputs))

    def sites(self, body: Body, graph: Graph) -> None:
        columns = body.site_files, body.site_lines, body.site_functions
        if len({len(column) for column in columns}) != 1:
            raise wrong("the table of lines", "columns of one length", "others")
        for k, (file, line, function) in enumerate(zip(*columns, strict=True)):
            site = Site(self.strings[file], line, self.strings[function])
            if graph.intern_site(site) != k + 1:
                raise wrong("the table of lines", "different lines", str(site))

    def body(self, body: Body, graph: Graph) -> None:
        """Append the nodes of a body to an empty graph."""
        self.sites(body, graph)
        kinds, strings = self.kinds, self.strings
        applications = list(body.applications)
        count = len(applications)
        distances = list(body.inputs)
        sites = _column(body.sites, count, len(graph.sites))
        forward_sites = _column(body.forward_sites, count, len(graph.sites))
        scopes = _column(body.scopes, count, len(strings) + 1)
        devices = _column(body.devices, count, len(strings) + 1)
        names = dict(zip(_ascending(body.named_nodes, count), body.names, strict=True))
        after = _after(body, count)
        value_types: list[int] = []
        at = 0
        for index, application in enumerate(applications):
            kind = kinds[application]
            definition, input_count, types, type_ids, attributes, inferred = kind
            start = len(value_types)
            inputs: tuple[int, ...] = ()
            operands: tuple[int, ...] = ()
            if input_count:
                inputs = tuple([start - d for d in distances[at : at + input_count]])
                at += input_count
                if len(inputs) != input_count or min(inputs) < 0 or max(inputs) >= start:
                    raise wrong(f"node {index}", f"{input_count} earlier values", str(inputs)[:99])
                operands = tuple([value_types[i] for i in inputs])
            name, scope, device = names.get(index), scopes[index], devices[index]
            node = Node(
                definition.name, inputs, attributes, types, start, after.get(index, ()),
                None if name is None else strings[name],
                strings[scope - 1] if scope else "",
                strings[device - 1] if device else None,
                sites[index], forward_sites[index],
            )  # fmt: skip
            if operands not in inferred:
                check_node(graph, node, [self.types[k] for k in operands])
                inferred.add(operands)
            graph.append_trusted(node)
            value_types.extend(type_ids)
        if at != len(distances):
            raise wrong("the inputs", f"{at} for all nodes", str(len(distances)))


def _dim(text: str) -> Size:
    dim = parse(text)
    if not isinstance(dim, Dim):
        raise wrong("a dimension", "symbols in it", text[:100])
    return dim


def _column(entries: Sequence[int], count: int, limit: int) -> Sequence[int]:
    """One entry a node, each below the limit; zeros if the column was left out."""
    column = list(entries) or [0] * count
    if len(column) != count or max(column, default=0) >= max(limit, 1):
        raise wrong("a column", f"{count} entries below {limit}", f"{len(column)} entries")
    return column


def _ascending(entries: Sequence[int], count: int) -> list[int]:
    """Indices of nodes, each above the one before."""
    column = list(entries)
    if any(a >= b for a, b in pairwise([*column, count])):
        raise wrong("a column", f"ascending nodes below {count}", "others")
    return column


def _after(body: Body, count: int) -> dict[int, tuple[int, ...]]:
    """The control dependencies of the nodes that have some."""
    nodes = _ascending(body.ordered_nodes, count)
    distances = list(body.after)
    found = {}
    at = 0
    for node, length in zip(nodes, body.after_counts, strict=True):
        before = tuple([node - d for d in distances[at : at + length]])
        if not length or len(before) != length or min(before) < 0 or max(before) >= node:
            raise wrong(f"node {node}", f"{length} earlier nodes to run after", str(before)[:99])
        found[node] = before
        at += length
    if at != len(distances):
        raise wrong("the control dependencies", str(at), str(len(distances)))
    return found


def _bindings(entries: Sequence[Any]) -> dict[str, int]:
    found = {entry.key: entry.value for entry in entries}
    if len(found) != len(entries):
        raise wrong("a signature", "different keys", ", ".join(e.key for e in entries)[:100])
    return found
