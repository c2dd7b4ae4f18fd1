"""Bodies: functions of the user's, traced into graphs of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from staticad_schema.errors import UsageError
from staticad_schema.graph import Function
from staticad_schema.handle import Handle
from staticad_schema.op import OPS, FunctionRef
from staticad_schema.types import as_dtype

from .current import GRAPHS, SCOPE


def traced_in(graph: Any) -> Any:
    """The body of this graph that is being traced, the innermost one; None if there is none."""
    graphs = GRAPHS.get()
    inner = graphs[-1] if graphs else None
    # Bodies share the table of functions with their graph.
    traced = inner is not None and inner is not graph and inner.functions is graph.functions
    return inner if traced else None


def traced(
    body: Any, name: str, function: Callable[..., Any], input_types: Sequence[Any]
) -> Function:
    """The function as a body: `body` is an empty graph, which takes its nodes.

    input_types: a (dtype, shape), or a tensor of that type, for each argument.
    """
    inputs = []
    for index, given in enumerate(input_types):
        if not (isinstance(given, Handle) or (isinstance(given, tuple) and len(given) == 2)):
            raise UsageError(
                "not the type of an argument",
                expected="a (dtype, shape), or a tensor of that type",
                found=f"{given!r:.80}, a {type(given).__name__}",
            )
        dtype, shape = given.type if isinstance(given, Handle) else given
        attributes = {
            "index": index,
            "dtype": as_dtype(dtype),
            "shape": body.declared_shape(shape, f"{name}_{index}"),
        }
        inputs.append(body.source("parameter", attributes))
    scope = SCOPE.set("")
    try:
        with body:
            returned = function(*inputs)
    finally:
        SCOPE.reset(scope)
    outputs = list(returned) if isinstance(returned, tuple | list) else [returned]
    for output in outputs:
        if not isinstance(output, Handle):
            raise UsageError(
                "a body returns tensors",
                expected="a tensor, or a tuple of tensors",
                found=f"{output!r:.80}, a {type(output).__name__}",
            )
        body.check_owner(output, f"the body {name!r}")
    return Function(name, body, tuple(i.id for i in inputs), tuple(o.id for o in outputs))


def called(graph: Any, name: str, arguments: Sequence[Any], path: int) -> Any:
    """The outputs of a call of the body, for tensors, arrays or numbers."""
    expected = graph.function(name).input_types
    ready = []
    for position, given in enumerate(arguments):
        if isinstance(given, Handle):
            graph.check_owner(given, f"call of {name!r}")
            ready.append(given.id)
        else:
            wanted = expected[position].dtype if position < len(expected) else None
            ready.append(graph.constant(given, dtype=wanted).id)
    node = graph.make(OPS["call"], ready, {"function": FunctionRef(name), "path": path})
    outputs = tuple(map(graph.handle, node.outputs))
    return outputs[0] if len(outputs) == 1 else outputs
