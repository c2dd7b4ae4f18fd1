"""Naive evaluation: node by node, each op by its meaning, in the order of the graph.

This is what a plan must equal.  It is the oracle of the tests and the engine of
`check_numerics`, and it knows nothing of plans.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.attributes import bound, resolved
from staticad_schema.binding import bind
from staticad_schema.calls import inner_path
from staticad_schema.errors import CancelledError
from staticad_schema.evaluate import evaluate
from staticad_schema.graph import Function, Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, FINDERS, OPS, Op
from staticad_schema.ops.checks import check_broadcast
from staticad_schema.types import Array, array_type

from .entering import Entering, Entry, entering
from .failure import node_failure
from .selection import MARKS, UPDATES, Selection, needed, ordered_writes, require_fed, select
from .sizes import Sizes, find


class Observation(NamedTuple):
    """A node that has just run."""

    graph: Graph
    node_index: int
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    place: Activation

    @property
    def within(self) -> tuple[str, ...]:
        """The nodes whose bodies this one is in, outermost first."""
        return self.place.within()


Observe = Callable[[Observation], None]
_NO_SIZES: Mapping[str, int] = {}


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
    outer: Mapping[str, int] = _NO_SIZES,
) -> Result:
    """Evaluate value ids and effects (node indices).

    feeds have the dtype and rank of their values.  variables hold at least what is read.  outer:
    sizes of symbols that feeds and variables leave open.
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
    run = _Run(graph, selection, feeds, variables, run_number, observe, cancel)
    behind = ordered_writes(graph, selection, feeds)
    # What the graph finds is its own, whatever it is called.
    outer = {name: size for name, size in outer.items() if name not in graph.run_time.finders}
    known = {**outer, **sizes.values} if outer else sizes.values
    outermost = Activation(graph, selection.nodes, fetches, feeds, known, behind)
    values = run.evaluate(outermost)
    # Again, with the sizes that the run has found.
    sizes.check()
    return Result(values, run.written, selection.draws)


class Activation:
    """A graph or body that is being evaluated: how far, and the values that are still needed.

    sizes: of the symbols, also those found so far.  behind: for reads that are ordered behind a
    write, that write.  path: of the calls, None outside a body.  caller: where this one is
    called from.  entering: what asked for it, a node of the caller that has bodies.
    iteration: of a loop, else -1.
    """

    __slots__ = (
        "behind", "caller", "entering", "feeds", "fetches", "graph", "index", "iteration", "path",
        "remaining", "sizes", "uses", "values",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        nodes: Sequence[int],
        fetches: Sequence[int],
        feeds: Mapping[int, Array],
        sizes: dict[str, int],
        behind: Mapping[int, int] | None = None,
        path: int | None = None,
        caller: Activation | None = None,
        entering: Entering | None = None,
        iteration: int = -1,
    ) -> None:
        self.graph = graph
        self.remaining = iter(nodes)
        self.index = -1
        self.fetches = fetches
        self.feeds = feeds
        self.sizes = sizes
        self.behind = behind or {}
        self.path = path
        self.caller = caller
        self.entering = entering
        self.iteration = iteration
        self.values: dict[int, Array] = dict(feeds)
        self.uses = dict.fromkeys(fetches, 1)
        for index in nodes:
            for v in self.read_by(index):
                self.uses[v] = self.uses.get(v, 0) + 1

    def read_by(self, index: int) -> tuple[int, ...]:
        """The values that a node looks at."""
        inputs = needed(self.graph.nodes[index])
        write = self.behind.get(index)
        return inputs if write is None else (*inputs, self.graph.nodes[write].start)

    def results(self) -> list[Array]:
        """The fetched values, at the end."""
        return [self.values[v] for v in self.fetches]

    def within(self) -> tuple[str, ...]:
        """The names of the nodes that called, outermost first; of loops with the iteration."""
        names = []
        place = self
        while place.caller is not None:
            number = f"[{place.iteration}]" if place.iteration >= 0 else ""
            place = place.caller
            names.append(place.graph.node_name(place.index) + number)
        return tuple(reversed(names))


class _Run:
    """What one evaluation shares with the bodies it calls."""

    def __init__(
        self,
        graph: Graph,
        selection: Selection,
        feeds: Mapping[int, Array],
        variables: Mapping[str, Array],
        run_number: int,
        observe: Observe | None,
        cancel: threading.Event | None,
    ) -> None:
        self.functions: Mapping[str, Function] = graph.functions
        self.bodies = selection.bodies
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

    def evaluate(self, outermost: Activation) -> list[Array]:
        """The fetched values of a graph whose inputs are fed; bodies are entered without
        recursion."""
        stack = [outermost]
        ended: Activation | None = None
        while True:
            place = stack[-1]
            try:
                entered = self._advance(place) if ended is None else self._resume(place, ended)
            except Exception as error:
                node = place.graph.nodes[place.index]
                types = [array_type(place.values[v]) for v in needed(node)]
                failure = node_failure(place.graph, place.index, error, types, place.within())
                raise failure from (None if failure is error else error)
            ended = None
            if entered is not None:
                stack.append(entered)
                continue
            ended = stack.pop()
            if not stack:
                return ended.results()

    def _resume(self, place: Activation, ended: Activation) -> Activation | None:
        """Go on with the present node, of which a body has been evaluated, and behind it."""
        asking = ended.entering
        assert asking is not None
        try:
            return self._entered(place, asking, asking.send(ended.results()))
        except StopIteration as end:
            self._finish(place, end.value)
        return self._advance(place)

    def _advance(self, place: Activation) -> Activation | None:
        """Evaluate until the end (None) or a node with bodies (what is to be evaluated for it)."""
        for index in place.remaining:
            place.index = index
            if self.cancel is not None and self.cancel.is_set():
                raise CancelledError("the run was cancelled", asked="run")
            if place.graph.nodes[index].op in CALLERS:
                enter = self._enter(place)
                try:
                    return self._entered(place, enter, next(enter))
                except StopIteration as end:
                    # A loop of no iterations enters no body.
                    self._finish(place, end.value)
                    continue
            self._finish(place, self._outputs(place))
        return None

    def _finish(self, place: Activation, outputs: tuple[Array, ...]) -> None:
        """Enter the outputs of the present node, and let go of what nobody needs any more."""
        index, values, uses = place.index, place.values, place.uses
        node = place.graph.nodes[index]
        if self.observe is not None:
            inputs = tuple(values[v] for v in needed(node))
            self.observe(Observation(place.graph, index, inputs, outputs, place))
        for v, array in zip(node.outputs, outputs, strict=True):
            if v not in place.feeds and v in uses:
                values[v] = array
        for v in place.read_by(index):
            uses[v] -= 1
            if not uses[v]:
                del values[v]

    def _outputs(self, place: Activation) -> tuple[Array, ...]:
        graph, index = place.graph, place.index
        if index in place.behind:
            return (place.values[graph.nodes[place.behind[index]].start],)
        node = graph.nodes[index]
        inputs = tuple(place.values[v] for v in needed(node))
        if node.op in MARKS:
            return inputs
        name = node.attributes.get("variable", "")
        match node.op:
            case "variable" | "read_variable":
                return ((self.variables if place.path is None else self.starts)[name],)
            case "run_number":
                return (np.array(self.run_number, np.uint64),)
            case "assign":
                return (self._write(name, inputs[0]),)
            case op if op in UPDATES:
                old = self.written.get(name, self.variables[name])
                return (self._write(name, _update(UPDATES[op], old, inputs[0])),)
            case "group":
                return ()
            case op if op in FINDERS:
                outputs, found = find(node, inputs, place.sizes)
                place.sizes.update(found)
                return outputs
        attributes = self._attributes(place, node)
        out_types = node.definition.output_types(tuple(map(array_type, inputs)), attributes)
        if node.definition.numpy is None and node.definition.expand is not None:
            return self._expanded(place, node.definition, inputs, attributes)
        return evaluate(node.definition, inputs, attributes, out_types)

    def _attributes(self, place: Activation, node: Node) -> dict[str, Any]:
        """A node's attributes with sizes, and with the path of the calls that lead to it."""
        attributes = bound(node.attributes, place.sizes)
        if place.path is not None and "path" in attributes:
            attributes = {**attributes, "path": inner_path(place.path, attributes["path"])}
        return attributes

    def _resolved(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {name: resolved(v, self.functions.__getitem__) for name, v in attributes.items()}

    def _write(self, name: str, array: Array) -> Array:
        self.written[name] = array
        return array

    def _enter(self, place: Activation) -> Entering:
        """The evaluation of the present node, which has bodies."""
        node = place.graph.nodes[place.index]
        attributes = self._attributes(place, node)
        operands = [place.values[v] for v in node.inputs]
        whole = self._resolved(attributes)
        types = [
            t.with_shape(bind(size, place.sizes) for size in t.shape)
            for t in node.definition.output_types(tuple(map(array_type, operands)), whole)
        ]
        functions = [self.functions[name] for name in node.calls]
        return entering(node.op, functions, operands, attributes, types)

    def _entered(self, place: Activation, asking: Entering, entry: Entry) -> Activation:
        """A body that the present node enters.  Its symbols are bound by its arguments; what
        they leave open are the caller's."""
        function = entry.function
        feeds = dict(zip(function.inputs, entry.arguments, strict=True))
        inner = Sizes()
        for value, array in feeds.items():
            inner.bind_value(function.body, value, array.shape)
        inner.check()
        own = function.body.run_time.finders.keys()
        outer = {name: size for name, size in place.sizes.items() if name not in own}
        return Activation(
            function.body, self.bodies[function.name].nodes, function.outputs, feeds,
            {**outer, **inner.values}, path=entry.path, caller=place, entering=asking,
            iteration=entry.iteration,
        )  # fmt: skip

    def _expanded(
        self,
        place: Activation,
        definition: Op,
        operands: tuple[Array, ...],
        attributes: dict[str, Any],
    ) -> tuple[Array, ...]:
        """The outputs of an op whose meaning is its expansion."""
        graph = Graph()
        feeds = {}
        for index, array in enumerate(operands):
            declared = {"index": index, "dtype": array.dtype, "shape": array.shape}
            feeds[graph.append(OPS["parameter"], (), declared).start] = array
        handles = [graph.handle(v) for v in feeds]
        outputs = [h.id for h in definition.expansion(handles, attributes)]
        nodes = select(graph, outputs, (), feeds, self.functions).nodes
        # The attributes hold the path already.
        inner = Activation(graph, nodes, outputs, feeds, place.sizes, caller=place)
        return tuple(self.evaluate(inner))


def _update(op: str, old: Array, x: Array) -> Array:
    type_ = array_type(old)
    # As in NumPy, what is added may be repeated, but never makes the variable larger.
    check_broadcast(x.shape, old.shape)
    (array,) = evaluate(OPS[op], (old, x), {}, (type_,))
    return array
