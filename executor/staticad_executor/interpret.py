"""Naive evaluation: node by node, each op by its meaning, in the order of the graph.

This is what a plan must equal.  It is the oracle of the tests and the engine of
`check_numerics`, and it knows nothing of plans.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.attributes import bound
from staticad_schema.errors import CancelledError
from staticad_schema.evaluate import evaluate
from staticad_schema.graph import Function, Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS, FunctionRef, Op
from staticad_schema.ops.checks import check_broadcast
from staticad_schema.ops.control import inner_path
from staticad_schema.types import Array, TensorType, array_type

from .failure import node_failure
from .selection import Selection, ordered_writes, require_fed, select
from .sizes import Sizes


class Observation(NamedTuple):
    """A node that has just run.  within: the nodes whose bodies this one is in, outermost first."""

    graph: Graph
    node_index: int
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    within: tuple[str, ...]


Observe = Callable[[Observation], None]


class Result(NamedTuple):
    """The fetched values, the new values of the variables that were written, and whether
    random bits were drawn.  Arrays may share memory with each other, feeds and state."""

    values: list[Array]
    writes: dict[str, Array]
    drew: bool


def interpret(
    graph: Graph,
    fetches: Sequence[int],
    effects: Sequence[int],
    feeds: Mapping[int, Array],
    variables: Mapping[str, Array],
    run_number: int,
    observe: Observe | None = None,
    cancel: threading.Event | None = None,
) -> Result:
    """Evaluate value ids and effects (node indices).

    feeds have the dtype and rank of their values.  variables hold at least what is read.
    Raises PlanError for what is not fed or sizes that do not fit, ExecutionError for a node
    that fails, CancelledError.
    """
    selection = select(graph, fetches, effects, feeds)
    require_fed(graph, selection)
    sizes = Sizes()
    for value, array in feeds.items():
        sizes.bind_value(graph, value, array.shape)
    for name in selection.reads:
        if name in graph.variable_specs:
            sizes.bind_variable(graph, name, variables[name].shape)
    sizes.check()
    run = _Run(graph, feeds, variables, run_number, observe, cancel)
    values = run.evaluate(graph, selection, fetches, feeds, Frame(sizes.values))
    return Result(values, run.written, selection.draws)


class Frame(NamedTuple):
    """Where an evaluation is: sizes of the symbols, the path of the calls (None outside a
    body), and the names of the nodes that called."""

    sizes: Mapping[str, int]
    path: int | None = None
    within: tuple[str, ...] = ()


class _Run:
    """What one evaluation shares with the bodies it calls."""

    def __init__(
        self,
        graph: Graph,
        feeds: Mapping[int, Array],
        variables: Mapping[str, Array],
        run_number: int,
        observe: Observe | None,
        cancel: threading.Event | None,
    ) -> None:
        self.functions: Mapping[str, Function] = graph.functions
        self.variables = variables
        # What bodies read: where a variable's value at the start of the run is fed, that.
        self.starts = dict(variables)
        for value, array in feeds.items():
            node = graph.nodes[graph.producers[value]]
            if node.op == "variable":
                self.starts[node.attributes["variable"]] = array
        self.run_number = run_number
        self.observe = observe
        self.cancel = cancel
        self.written: dict[str, Array] = {}

    def evaluate(
        self,
        graph: Graph,
        selection: Selection,
        fetches: Sequence[int],
        feeds: Mapping[int, Array],
        frame: Frame,
    ) -> list[Array]:
        """The fetched values of a graph or body whose inputs are in `feeds`."""
        values: dict[int, Array] = dict(feeds)
        behind = ordered_writes(graph, selection, feeds)
        uses = dict.fromkeys(fetches, 1)
        for index in selection.nodes:
            for v in graph.nodes[index].inputs:
                uses[v] = uses.get(v, 0) + 1
        for index in behind.values():
            uses[graph.nodes[index].start] = uses.get(graph.nodes[index].start, 0) + 1
        for index in selection.nodes:
            if self.cancel is not None and self.cancel.is_set():
                raise CancelledError("the run was cancelled", asked="run")
            node = graph.nodes[index]
            inputs = tuple(values[v] for v in node.inputs)
            types = tuple(array_type(a) for a in inputs)
            try:
                if index in behind:
                    outputs: tuple[Array, ...] = (values[graph.nodes[behind[index]].start],)
                else:
                    outputs = self._node(graph, index, node, inputs, types, frame)
            except Exception as error:
                failure = node_failure(graph, index, error, types, frame.within)
                raise failure from (None if failure is error else error)
            if self.observe is not None:
                self.observe(Observation(graph, index, inputs, outputs, frame.within))
            for v, array in zip(node.outputs, outputs, strict=True):
                if v not in feeds and v in uses:
                    values[v] = array
            released = [*node.inputs]
            if index in behind:
                released.append(graph.nodes[behind[index]].start)
            for v in released:
                uses[v] -= 1
                if not uses[v]:
                    del values[v]
        return [values[v] for v in fetches]

    def _node(
        self,
        graph: Graph,
        index: int,
        node: Node,
        inputs: tuple[Array, ...],
        types: tuple[TensorType, ...],
        frame: Frame,
    ) -> tuple[Array, ...]:
        name = node.attributes.get("variable", "")
        match node.op:
            case "variable" | "read_variable":
                return ((self.variables if frame.path is None else self.starts)[name],)
            case "run_number":
                return (np.array(self.run_number, np.uint64),)
            case "assign":
                return (self._write(name, inputs[0]),)
            case "assign_add" | "assign_sub":
                old = self.written.get(name, self.variables[name])
                op = "add" if node.op == "assign_add" else "subtract"
                return (self._write(name, _update(op, old, inputs[0])),)
            case "group":
                return ()
        attributes = bound(node.attributes, frame.sizes)
        if frame.path is not None and "path" in attributes:
            attributes = {**attributes, "path": inner_path(frame.path, attributes["path"])}
        if node.op == "call":
            within = (*frame.within, graph.node_name(index))
            return self._call(attributes, inputs, Frame(frame.sizes, attributes["path"], within))
        resolved = {
            key: self.functions[value] if type(value) is FunctionRef else value
            for key, value in attributes.items()
        }
        out_types = node.definition.output_types(types, resolved)
        if node.definition.numpy is None and node.definition.expand is not None:
            return self._expanded(node.definition, inputs, attributes, frame)
        return evaluate(node.definition, inputs, attributes, out_types)

    def _write(self, name: str, array: Array) -> Array:
        self.written[name] = array
        return array

    def _call(
        self, attributes: dict[str, Any], arguments: tuple[Array, ...], frame: Frame
    ) -> tuple[Array, ...]:
        """The outputs of a body.  Its symbols are bound by its arguments; what they leave open
        are the caller's."""
        function = self.functions[attributes["function"]]
        feeds = dict(zip(function.inputs, arguments, strict=True))
        selection = select(function.body, function.outputs, (), feeds, self.functions)
        inner = Sizes()
        for value, array in feeds.items():
            inner.bind_value(function.body, value, array.shape)
        inner.check()
        frame = frame._replace(sizes={**frame.sizes, **inner.values})
        return tuple(self.evaluate(function.body, selection, function.outputs, feeds, frame))

    def _expanded(
        self,
        definition: Op,
        operands: tuple[Array, ...],
        attributes: dict[str, Any],
        frame: Frame,
    ) -> tuple[Array, ...]:
        """The outputs of an op whose meaning is its expansion."""
        graph = Graph()
        feeds = {}
        for index, array in enumerate(operands):
            declared = {"index": index, "dtype": array.dtype, "shape": array.shape}
            feeds[graph.append(OPS["parameter"], (), declared).start] = array
        handles = [graph.handle(v) for v in feeds]
        outputs = [h.id for h in definition.expansion(handles, attributes)]
        selection = select(graph, outputs, (), feeds, self.functions)
        # The attributes hold the path already.
        frame = frame._replace(path=None)
        return tuple(self.evaluate(graph, selection, outputs, feeds, frame))


def _update(op: str, old: Array, x: Array) -> Array:
    type_ = array_type(old)
    # As in NumPy, what is added may be repeated, but never makes the variable larger.
    check_broadcast(x.shape, old.shape)
    (array,) = evaluate(OPS[op], (old, x), {}, (type_,))
    return array
