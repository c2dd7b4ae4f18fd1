"""Calls: a body in terms of its caller.

A call may be evaluated by entering the body, or replaced by copies of the body's nodes; both
give the same values, the same random numbers and the same effects.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import dims
from .attributes import with_sizes
from .binding import substitute
from .dims import Dim, Size
from .errors import ArgumentError, DTypeError, GraphError, ShapeError
from .op import OPS
from .types import TensorType

if TYPE_CHECKING:
    from .graph import Function, Graph
    from .node import Node

# A body that calls twice what calls twice … stands for more nodes than any memory holds.  At
# about a kilobyte a node this is the most that the calls of a graph may be.
MOST_NODES_OF_CALLS = 1 << 20
# Numbers of nodes are not counted beyond this.
COUNTLESS = 10**12


def inner_path(outer: int, inner: int) -> int:
    """The 32-bit call path of a random node in a body, from the call's path and its own."""
    return zlib.crc32(struct.pack("<II", outer, inner))


def first_path(name: str, ordinal: int = 0) -> int:
    """The call path of a node from the name of a body of its, and which of the calls of that it is
    in its graph: bodies that are called by several others are told apart by who calls."""
    return inner_path(zlib.crc32(name.encode()), ordinal)


def bind_arguments(function: Function, arguments: tuple[TensorType, ...]) -> dict[str, Size]:
    """The sizes that a call gives to the symbols of a body's inputs.

    Raises DTypeError and ShapeError where an argument does not fit.
    """
    expected = function.input_types
    if len(arguments) != len(expected):
        raise ShapeError(
            f"wrong number of arguments for {function.name!r}",
            expected=f"{len(expected)}: " + ", ".join(map(str, expected)),
            found=str(len(arguments)),
        )
    bound: dict[str, Size] = {}
    for position, (pattern, given) in enumerate(zip(expected, arguments, strict=True)):
        if pattern.dtype != given.dtype:
            raise DTypeError(
                f"argument {position} of {function.name!r} has another dtype",
                expected=str(pattern),
                found=str(given),
            )
        if pattern.ndim != given.ndim:
            raise _misfit(function, position, pattern, given)
        for size, actual in zip(pattern.shape, given.shape, strict=True):
            name = size.symbol() if isinstance(size, Dim) else None
            if name is not None:
                bound.setdefault(name, actual)
    for position, (pattern, given) in enumerate(zip(expected, arguments, strict=True)):
        for size, actual in zip(pattern.shape, given.shape, strict=True):
            if dims.same_size(substitute(size, bound), actual) is False:
                raise _misfit(function, position, pattern, given)
    return bound


def result_types(function: Function, arguments: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
    """The types of a body's outputs, in terms of its caller's sizes.

    Raises DTypeError and ShapeError where an argument does not fit.
    """
    sizes = bind_arguments(function, arguments)
    return tuple(
        output.with_shape(substitute(size, sizes) for size in output.shape)
        for output in function.output_types
    )


def check_path(path: int) -> None:
    """Raises ArgumentError for what is no call path."""
    if not 0 <= path < 1 << 32:
        raise ArgumentError("path is out of range", expected="32 bits", found=str(path))


def _misfit(
    function: Function, position: int, pattern: TensorType, given: TensorType
) -> ShapeError:
    return ShapeError(
        f"argument {position} of {function.name!r} does not fit",
        expected=str(pattern),
        found=str(given),
    )


def substituted(attributes: Mapping[str, Any], sizes: Mapping[str, Size]) -> dict[str, Any]:
    """A body's attributes in terms of the caller's sizes."""
    return {
        name: with_sizes(value, lambda dim: substitute(dim, sizes))
        for name, value in attributes.items()
    }


def unfolded(functions: Mapping[str, Function], name: str) -> int:
    """How many nodes a call of a body stands for, with those of the bodies that it calls."""
    sizes: dict[str, int] = {}
    stack = [name]
    while stack:
        function = functions[stack[-1]]
        inner = [n for n in function.calls if n not in sizes]
        if inner:
            stack += inner
            continue
        stack.pop()
        nodes = function.body.nodes
        # Other bodies are not copied.
        calls = (sizes[n.attributes["function"]] for n in nodes if n.op == "call")
        sizes[function.name] = min(len(nodes) + sum(calls), COUNTLESS)
    return sizes[name]


class _Body:
    """A body that is being copied."""

    def __init__(
        self, function: Function, arguments: Sequence[Any], path: int, call: int | None = None
    ) -> None:
        """call: the index of the node in the caller's body."""
        types = tuple(argument.type for argument in arguments)
        self.function = function
        self.path = path
        self.call = call
        self.sizes = bind_arguments(function, types)
        ids = [argument.id for argument in arguments]
        self.values: dict[int, int] = dict(zip(function.inputs, ids, strict=True))
        # Where a body's node went: what comes after it comes after these.
        self.copies: dict[int, tuple[int, ...]] = {}
        self.remaining: Iterator[tuple[int, Node]] = iter(enumerate(function.body.nodes))


def inline(
    graph: Graph,
    arguments: Sequence[Any],
    function: Function,
    path: int,
    caller: int | None = None,
) -> tuple[Any, ...]:
    """The outputs of a call, computed by copies of the nodes of the body, and of those that it
    calls, in the caller's graph.

    caller: the node that is the call.  Given one, nothing is printed or checked twice: effects
    stay in the call, and what needs them in the copy comes after it.
    Raises GraphError for more nodes than can be.
    """
    count = unfolded(graph.functions, function.name)
    if count > MOST_NODES_OF_CALLS:
        raise GraphError(
            "the call stands for too many nodes",
            asked=f"the nodes of {function.name!r}",
            expected=f"at most {MOST_NODES_OF_CALLS:,} nodes, also in the bodies that it calls",
            found=f"{count:,}" + (" or more" if count == COUNTLESS else ""),
        )
    stack = [_Body(function, arguments, path)]
    while True:
        body = stack[-1]
        entered = _copy(graph, body, caller)
        if entered is not None:
            stack.append(entered)
            continue
        stack.pop()
        outputs = [body.values[v] for v in body.function.outputs]
        if not stack:
            return tuple(map(graph.handle, outputs))
        outer = stack[-1]
        assert body.call is not None
        call = outer.function.body.nodes[body.call]
        outer.values.update(zip(call.outputs, outputs, strict=True))
        outer.copies[body.call] = tuple(dict.fromkeys(graph.producers[v] for v in outputs))


def _copy(graph: Graph, body: _Body, caller: int | None) -> _Body | None:
    """Copy nodes until the end (None) or a call (the body that it enters)."""
    own = body.function.body
    for index, node in body.remaining:
        if node.op == "parameter":
            continue
        if node.op == "variable":
            spec = graph.variable_specs.get(node.attributes["variable"])
            if spec is not None:
                body.values[node.start] = graph.nodes[spec.node].start
                continue
        for name in node.finds:
            body.sizes[name] = graph.new_size(name)
        attributes = substituted(node.attributes, body.sizes)
        if "path" in attributes:
            attributes["path"] = inner_path(body.path, attributes["path"])
        if node.op == "call":
            inner = graph.function(node.attributes["function"])
            arguments = [graph.handle(body.values[v]) for v in node.inputs]
            return _Body(inner, arguments, attributes["path"], index)
        op, inputs = node.op, [body.values[v] for v in node.inputs]
        after = [k for i in node.after for k in body.copies.get(i, ())]
        if caller is not None and OPS[op].effect == "io":
            if not node.types:
                body.copies[index] = (caller,)
                continue
            # print and check are their last operand.
            op, inputs, attributes, after = "after", inputs[-1:], {}, [caller]
        site = own.site(node.site)
        copy = graph.append(
            OPS[op], inputs, attributes, after=after, device=node.device,
            site=graph.intern_site(site) if site is not None else None,
        )  # fmt: skip
        body.copies[index] = (len(graph.nodes) - 1,)
        body.values.update(zip(node.outputs, copy.outputs, strict=True))
    return None
