"""Stage 1: what the fetches need, as pure data flow.

State disappears here.  A read becomes a source, or the value of the write it is ordered
behind; a write becomes an output.  Calls are inlined; bodies of choices and loops become programs
of their own (`lowered`).  Of control dependencies only those on
nodes with an outside effect (print, check) are left: all others have become data flow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from staticad_schema.attributes import is_symbolic
from staticad_schema.calls import bind_arguments, inner_path, substituted
from staticad_schema.dims import Size, symbol, symbols_of
from staticad_schema.graph import Function, Graph
from staticad_schema.node import Node
from staticad_schema.op import CALLERS, OPS, FunctionRef
from staticad_schema.run_time_sizes import new_name
from staticad_schema.types import INT64, UINT32, UINT64, TensorType

from ..failure import nested_name
from ..program import Program, Source, empty_like, pruned
from ..selection import MARKS, UPDATES, Selection, needed, ordered_writes, require_fed
from ..selection import select as needed_nodes
from .lowered import Lowered, lowered


def select(
    graph: Graph,
    fetches: Sequence[int],
    effects: Sequence[int],
    feeds: Mapping[int, TensorType],
) -> Program:
    """The program of the fetched values and effects, cut at the fed values.

    Raises PlanError for a placeholder that is needed and not fed, and for calls that stand
    for too many nodes.
    """
    chosen = needed_nodes(graph, fetches, effects, feeds)
    require_fed(graph, chosen)
    flow = _Flow(graph, feeds, chosen)
    flow.run(ordered_writes(graph, chosen, feeds))
    flow.add_sizes()
    values = flow.frame.values
    fetched = tuple(flow.value(v) if v not in values else values[v] for v in fetches)
    final = flow.final
    program = Program(
        flow.out,
        tuple(flow.sources.values()),
        fetched,
        tuple((name, final[name]) for name in graph.variable_specs if name in final),
        tuple(flow.effects),
        chosen.draws,
        chosen.finds,
    )
    return pruned(program)


class _Frame:
    """One graph being copied: the selected one, or a body inside it."""

    __slots__ = (
        "awaited", "base", "call", "call_index", "effects", "entered", "graph", "indices", "path",
        "prefix", "symbols", "values",
    )  # fmt: skip

    def __init__(
        self, graph: Graph, chosen: Selection, call: Node | None = None, call_index: int = -1
    ) -> None:
        self.graph = graph
        self.indices = iter(chosen.nodes)
        self.entered = chosen.entered
        self.call = call
        self.call_index = call_index
        # What the call waits for, and how many effects there were before it.
        self.base: tuple[int, ...] = ()
        self.effects = 0
        self.values: dict[int, int] = {}
        # Node index to the program's nodes that must have run; only for what involves io.
        self.awaited: dict[int, tuple[int, ...]] = {}
        self.prefix = ""
        self.path = 0
        self.symbols: dict[str, Size] = {}


class _Flow:
    """The program under construction."""

    def __init__(self, graph: Graph, feeds: Mapping[int, TensorType], chosen: Selection) -> None:
        self.graph = graph
        self.functions: Mapping[str, Function] = graph.functions
        self.feeds = feeds
        self.bodies = chosen.bodies
        self.out = empty_like(graph)
        self.paths: dict[int, int] = {}
        # The bodies of this program, and of those in it; each under a name of its own.
        self.table: dict[str, Lowered] = {}
        self.known: dict[tuple[str, tuple[str, ...], bool], FunctionRef] = {}
        self.out.functions = cast("dict[str, Function]", self.table)
        self.sources: dict[tuple[str, int | str], Source] = {}
        self.effects: list[int] = []
        self.final: dict[str, int] = {}
        # The program's nodes that involve io: themselves, or something that they need.
        self.involved: set[int] = set()
        # The program's values of another type than the graph says: a variable of symbolic size
        # may be set to another size, and what reads it behind that is inferred again.
        self.retyped: set[int] = set()
        # Symbols in use, once a call finds sizes, and how far their names are used up.
        self.used: set[str] = set()
        self.names: dict[str, int] = {}
        self.frame = _Frame(graph, chosen)

    def run(self, late: Mapping[int, int]) -> None:
        """Copy the selected nodes; bodies are entered without recursion."""
        stack = [self.frame]
        while stack:
            frame = stack[-1]
            entered = self.copy_frame(frame, late)
            if entered is not None:
                stack.append(entered)
                continue
            stack.pop()
            if frame.call is not None:
                self.leave(frame, frame.call, stack[-1])

    def copy_frame(self, frame: _Frame, late: Mapping[int, int]) -> _Frame | None:
        """Copy until the frame ends (None) or a call is met (the frame of its body)."""
        nodes = frame.graph.nodes
        values, out, feeds = frame.values, self.out, self.feeds
        outer = frame.call is None
        for index in frame.indices:
            node = nodes[index]
            effect = node.definition.effect
            if effect == "reads":
                self.read(frame, index, node, late if outer else {})
                continue
            wanted = needed(node)
            try:
                inputs = tuple([values[v] for v in wanted])
            except KeyError:
                inputs = tuple([values[v] if v in values else self.value(v) for v in wanted])
            if effect == "writes":
                self.write(frame, index, node, inputs[0])
                continue
            if node.op == "call":
                if node.attributes["function"] not in frame.entered:
                    return self.enter(frame, index, node, inputs)
                node, inputs = self.chosen_alone(node, inputs)
            if node.op in CALLERS:
                node, inputs = self.with_bodies(frame, node, inputs)
                effect = "io" if any(self.bodies_act(node)) else effect
            elif effect == "random":
                node, inputs = self.drawn(frame, node, inputs)
            if node.op in MARKS:
                self.mark(frame, index, node, inputs)
                continue
            if node.op == "parameter" and not outer:
                continue
            after = self.after(frame, node) if self.involved else ()
            if node.op == "group":
                self.note(frame, index, after, inputs)
                continue
            start = len(out.types)
            position = len(out.nodes)
            if self.retyped and not self.retyped.isdisjoint(inputs):
                self.append_retyped(frame, index, node, inputs, after)
            elif outer:
                out.append_trusted(
                    Node(
                        node.op, inputs, node.attributes, node.types, start, after,
                        node.name or frame.graph.node_name(index), node.scope, node.device,
                        node.site, node.forward_site,
                    )
                )  # fmt: skip
            else:
                self.append_inlined(frame, index, node, inputs, after)
            if effect == "io":
                self.effects.append(position)
            if effect == "io" or after or (self.involved and self.involving(inputs)):
                self.involved.add(position)
                frame.awaited[index] = (position,)
            for k in range(len(node.types)):
                if not feeds or node.start + k not in feeds or not outer:
                    values[node.start + k] = start + k
        return None

    def mark(self, frame: _Frame, index: int, node: Node, inputs: tuple[int, ...]) -> None:
        """A mark is what it marks: it has done its work when derivatives are there."""
        for value, made in zip(node.outputs, inputs, strict=True):
            if frame.call is not None or value not in self.feeds:
                frame.values[value] = made
        if self.involved:
            self.note(frame, index, self.after(frame, node), inputs)

    def append_retyped(
        self, frame: _Frame, index: int, node: Node, inputs: tuple[int, ...], after: tuple[int, ...]
    ) -> None:
        """A node of which an operand has another type than in the graph."""
        if frame.call is not None:
            self.append_inlined(frame, index, node, inputs, after)
            return
        made = self.out.append(
            node.definition, inputs, node.attributes, after=after, device=node.device,
            site=node.site, name=node.name or frame.graph.node_name(index),
        )  # fmt: skip
        self.out.nodes[-1] = made._replace(scope=node.scope, forward_site=node.forward_site)
        for value, type_ in zip(made.outputs, node.types, strict=True):
            if self.out.types[value] != type_:
                self.retyped.add(value)

    # ------------------------------------------------------------- bodies

    def path_within(self, frame: _Frame, node: Node) -> int:
        """The call path of a node, of those of its callers and its own."""
        path: int = node.attributes["path"]
        return path if frame.call is None else inner_path(frame.path, path)

    def drawn(
        self, frame: _Frame, node: Node, inputs: tuple[int, ...]
    ) -> tuple[Node, tuple[int, ...]]:
        """A random node with the path that it has here."""
        if frame.call is None or "path" not in node.attributes:
            return node, inputs
        path = self.path_within(frame, node)
        return node._replace(attributes={**node.attributes, "path": path}), inputs

    def path_value(self, path: int) -> int:
        """The value of a call path."""
        found = self.paths.get(path)
        if found is None:
            array = np.array(path, UINT32)
            array.flags.writeable = False
            made = self.out.append(OPS["constant"], (), {"value": array})
            found = self.paths[path] = made.start
        return found

    def run_value(self) -> int:
        """The value of the number of the run."""
        return self.source("run", "", TensorType(UINT64, ()), "run_number", 0)

    def outer_state(self, name: str) -> int:
        """What the graph itself reads of a variable."""
        return self.start_value(name)

    def state_value(self, name: str) -> int:
        """What a body reads of a variable: its value at the start of the run, or what is fed."""
        known = self.graph.nodes[self.graph.variable_specs[name].node].start
        return self.value(known) if known in self.feeds else self.start_value(name)

    def bodies_act(self, node: Node) -> Iterator[bool]:
        """Of each body whether it acts on the world outside."""
        return (self.table[name].acts for name in node.calls)

    def chosen_alone(self, call: Node, inputs: tuple[int, ...]) -> tuple[Node, tuple[int, ...]]:
        """A call as the choice of one branch, whose body is planned once."""
        attributes = {
            "functions": (call.attributes["function"],), "path": call.attributes["path"]
        }  # fmt: skip
        index = self.out.scalar(0, INT64)
        return call._replace(op="switch", attributes=attributes), (index, *inputs)

    def with_bodies(
        self, frame: _Frame, node: Node, inputs: tuple[int, ...]
    ) -> tuple[Node, tuple[int, ...]]:
        """A node with lowered bodies, which takes what these read as operands."""
        chosen = [self.bodies[name] for name in node.calls]
        reads = tuple(dict.fromkeys(name for body in chosen for name in body.reads))
        draws = any(body.draws for body in chosen)
        more = [self.state_value(name) for name in reads]
        attributes = dict(node.attributes)
        if draws:
            more += [self.run_value(), self.path_value(self.path_within(frame, node))]
        attributes["path"] = 0
        for name in node.definition.bodies:
            value = attributes[name]
            attributes[name] = (
                self.lowered(value, reads, draws)
                if isinstance(value, FunctionRef)
                else tuple([self.lowered(body, reads, draws) for body in value])
            )
        return node._replace(attributes=attributes), (*inputs, *more)

    def lowered(self, name: str, reads: tuple[str, ...], draws: bool) -> FunctionRef:
        """The name of a body that takes these variables, and what random numbers need."""
        key = name, reads, draws
        found = self.known.get(key)
        if found is None:
            flow = _BodyFlow(self, self.functions[name], reads, draws)
            flow.run({})
            own = name if name not in self.table else f"{name}/{len(self.table)}"
            self.table[own] = flow.finished(own)
            found = self.known[key] = FunctionRef(own)
        return found

    # ------------------------------------------------------------- sources

    def value(self, value: int) -> int:
        """The source of a fed value."""
        type_ = self.graph.types[value]
        name = self.graph.value_name(value)
        site = self.graph.nodes[self.graph.producers[value]].site
        return self.source("feed", value, type_, name, site)

    def add_sizes(self) -> None:
        """Make sources of fed values that only name a size: nothing computes with them."""
        known: set[str] = set()
        for source in self.sources.values():
            for size in self.out.types[source.value].shape:
                known |= symbols_of(size)
        for value, type_ in self.feeds.items():
            named = {name for size in type_.shape for name in symbols_of(size)}
            if not named <= known:
                self.value(value)
                known |= named

    def source(
        self, kind: Any, original: int | str, type_: TensorType, name: str, site: int
    ) -> int:
        found = self.sources.get((kind, original))
        if found is None:
            start = len(self.out.types)
            attributes = {
                "index": len(self.sources), "dtype": type_.dtype, "shape": type_.shape
            }  # fmt: skip
            self.out.append_trusted(
                Node("parameter", (), attributes, (type_,), start, (), name, "", None, site)
            )
            found = self.sources[kind, original] = Source(kind, start, original)
        return found.value

    def start_value(self, name: str) -> int:
        """The source of a variable's value at the start of the run."""
        spec = self.graph.variable_specs[name]
        return self.source("variable", name, spec.type, name, self.graph.nodes[spec.node].site)

    def read(self, frame: _Frame, index: int, node: Node, late: Mapping[int, int]) -> None:
        if node.op == "run_number":
            value = self.run_value()
        elif index in late:
            value = frame.values[frame.graph.nodes[late[index]].start]
        elif frame.call is None:
            value = self.outer_state(node.attributes["variable"])
        else:
            # What is fed for a variable is what bodies read of it.
            value = self.state_value(node.attributes["variable"])
        frame.values[node.start] = value
        if self.out.types[value] != node.types[0]:
            self.retyped.add(value)
        if self.involved:
            self.note(frame, index, self.after(frame, node), (value,))

    def write(self, frame: _Frame, index: int, node: Node, x: int) -> None:
        name = node.attributes["variable"]
        if node.op != "assign":
            before = self.final.get(name)
            if before is None:
                before = self.start_value(name)
            x = self.updated(node, node.name or frame.graph.node_name(index), before, x)
        self.final[name] = x
        if self.out.types[x] != node.types[0]:
            self.retyped.add(x)
        if node.start not in self.feeds:
            frame.values[node.start] = x
        if self.involved:
            self.note(frame, index, self.after(frame, node), (x,))

    def updated(self, node: Node, name: str, before: int, x: int) -> int:
        """A variable's value after x was added to it, or subtracted; its shape stays."""
        out = self.out
        shape = out.types[before].shape
        if out.types[x].shape != shape:
            made = out.append(
                OPS["broadcast_to"], (x,), {"shape": shape}, name=name, site=node.site,
                device=node.device,
            )  # fmt: skip
            x = made.start
        made = out.append(
            OPS[UPDATES[node.op]], (before, x), name=name, site=node.site, device=node.device
        )
        return made.start

    def involving(self, values: Iterable[int]) -> list[int]:
        """The producers of those values that involve io."""
        return [p for v in values if (p := self.out.producers[v]) in self.involved]

    def after(self, frame: _Frame, node: Node) -> tuple[int, ...]:
        """The program's nodes that must have run before this one, beyond its inputs'."""
        awaited = dict.fromkeys(frame.base)
        for before in node.after:
            awaited.update(dict.fromkeys(frame.awaited.get(before, ())))
        return tuple(sorted(awaited))

    def note(self, frame: _Frame, index: int, after: Iterable[int], values: Iterable[int]) -> None:
        """What whoever is ordered behind node `index`, which left no node, waits for."""
        everything = tuple(sorted({*after, *self.involving(values)}))
        if len(everything) > 4:
            # A joint keeps lists of dependencies from growing along a chain.
            joint = len(self.out.nodes)
            self.out.append_trusted(
                Node("group", (), {}, (), len(self.out.types), everything, None, "", None)
            )
            everything = (joint,)
        if everything:
            frame.awaited[index] = everything

    def enter(self, frame: _Frame, index: int, node: Node, inputs: tuple[int, ...]) -> _Frame:
        """The frame of a called body, its parameters bound to the operands."""
        function = self.functions[node.attributes["function"]]
        body = function.body
        inner = _Frame(body, self.bodies[function.name], node, index)
        inner.base = self.after(frame, node) if self.involved else ()
        inner.effects = len(self.effects)
        inner.prefix = nested_name(frame.prefix, frame.graph.node_name(index))
        inner.path = self.path_within(frame, node)
        inner.values = dict(zip(function.inputs, inputs, strict=True))
        inner.symbols = bind_arguments(function, tuple(self.out.types[v] for v in inputs))
        if self.out.sites is self.graph.sites and body.sites is not self.graph.sites:
            self.out.adopt_sites(self.graph)
        return inner

    def leave(self, frame: _Frame, call: Node, caller: _Frame) -> None:
        """Give the values of a body's outputs to its caller."""
        outputs = self.functions[call.attributes["function"]].outputs
        results = [frame.values[output] for output in outputs]
        for k, made in enumerate(results):
            if self.out.types[made] != call.types[k]:
                self.retyped.add(made)
            if not (caller.call is None and call.start + k in self.feeds):
                caller.values[call.start + k] = made
        if self.involved:
            effects = self.effects[frame.effects :]
            self.note(caller, frame.call_index, (*frame.base, *effects), results)

    def new_size(self, hint: str) -> Size:
        """A symbol of its own for a size that a call finds."""
        if not self.used:
            self.used = set(self.graph.run_time.used(self.graph.nodes))
        name = new_name(hint, self.names, self.used)
        self.used.add(name)
        return symbol(name)

    def append_inlined(
        self, frame: _Frame, index: int, node: Node, inputs: tuple[int, ...], after: tuple[int, ...]
    ) -> None:
        """A body's node, with the caller's sizes and its own draw of random bits."""
        attributes = node.attributes
        for name in node.finds:
            frame.symbols[name] = self.new_size(nested_name(frame.prefix, name))
        if frame.symbols and any(map(is_symbolic, attributes.values())):
            attributes = substituted(attributes, frame.symbols)
        site, forward = node.site, node.forward_site
        if frame.graph.sites is not self.graph.sites:
            site = self.out.intern_site(frame.graph.sites[site])
            forward = self.out.intern_site(frame.graph.sites[forward])
        made = self.out.append(
            node.definition, inputs, attributes, after=after, device=node.device, site=site,
            name=nested_name(frame.prefix, frame.graph.node_name(index)),
        )  # fmt: skip
        if forward:
            self.out.nodes[-1] = made._replace(forward_site=forward)


class _BodyFlow(_Flow):
    """The program of a body under construction: nothing in it is state, nor is its path known."""

    def __init__(
        self, caller: _Flow, function: Function, reads: tuple[str, ...], draws: bool
    ) -> None:
        chosen = caller.bodies[function.name]
        body = function.body
        feeds = {value: body.types[value] for value in function.inputs}
        super().__init__(body, feeds, chosen)
        self.functions = caller.functions
        self.table, self.known = caller.table, caller.known
        self.out.functions = caller.out.functions
        self.function = function
        self.chosen = chosen
        self.draws = draws
        inputs = [self.value(value) for value in function.inputs]
        self.state = {}
        for name in reads:
            type_ = caller.out.types[caller.state_value(name)]
            self.state[name] = self.source("feed", f"variable {name}", type_, name, 0)
        self.number = self.path = -1
        if draws:
            run, path = TensorType(UINT64, ()), TensorType(UINT32, ())
            self.number = self.source("feed", "run", run, "run_number", 0)
            self.path = self.source("feed", "path", path, "path", 0)
        self.inputs = (*inputs, *self.state.values(), *([self.number, self.path] if draws else ()))

    def path_within(self, frame: _Frame, node: Node) -> int:
        """The value that is the call path of a node."""
        if not self.draws:
            return -1
        outer = self.path if frame.call is None else frame.path
        attributes = {"path": node.attributes["path"]}
        return self.out.append(OPS["path_within"], (outer,), attributes).start

    def drawn(
        self, frame: _Frame, node: Node, inputs: tuple[int, ...]
    ) -> tuple[Node, tuple[int, ...]]:
        """A random node whose path is a value."""
        if "path" not in node.attributes:
            return node, inputs
        given = {name: v for name, v in node.attributes.items() if name != "path"}
        path = self.path_within(frame, node)
        return node._replace(op="random_bits_at", attributes=given), (*inputs, path)

    def path_value(self, path: int) -> int:
        """It is a value."""
        return path

    def run_value(self) -> int:
        """An input of the body."""
        return self.number

    def outer_state(self, name: str) -> int:
        """An input of the body."""
        return self.state[name]

    def state_value(self, name: str) -> int:
        """An input of the body."""
        return self.state[name]

    def finished(self, name: str) -> Lowered:
        """The body, under this name."""
        outputs = tuple([self.output(v) for v in self.function.outputs])
        program = pruned(
            Program(
                self.out, tuple(self.sources.values()), outputs, (), tuple(self.effects),
                self.chosen.draws, self.chosen.finds,
            )
        )  # fmt: skip
        return lowered(name, program, self.draws, self.chosen.acts)

    def output(self, value: int) -> int:
        """Where an output of the body is."""
        return self.frame.values[value] if value in self.frame.values else self.value(value)
