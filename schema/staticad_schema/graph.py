"""The graph: an append-only SSA list of nodes, a flat table of bodies, named signatures.

`Graph.append` is the only place that makes nodes: it checks the operands, completes the
attributes, infers the output types and records where the user was.  Passes that copy
nodes whose types they already know use `append_trusted`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import dims
from .attributes import resolved
from .bodies import check_body, check_call, open_sizes
from .declarations import Signature, VariableSpec
from .errors import (
    ArgumentError,
    DTypeError,
    GraphError,
    Site,
    StaticadError,
    UnknownNameError,
    near_miss,
)
from .handle import Effect, Handle
from .node import Node
from .op import FINDERS, OPS, FunctionRef, Op
from .run_time_sizes import RunTimeSizes
from .types import Array, TensorType, promote_weak, require_dtype, weak_array


@dataclass(frozen=True)
class Function:
    """A body: a graph whose `parameter` nodes are the inputs, in order."""

    name: str
    body: Graph
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def takes_path(self) -> bool:
        """Whether the last input is the call path of what is random in it."""
        return False

    @property
    def input_types(self) -> tuple[TensorType, ...]:
        return tuple(self.body.types[i] for i in self.inputs)

    @property
    def output_types(self) -> tuple[TensorType, ...]:
        return tuple(self.body.types[i] for i in self.outputs)

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The variables that the body reads itself."""
        reads = (n for n in self.body.nodes if n.op in ("variable", "read_variable"))
        return tuple(dict.fromkeys(n.attributes["variable"] for n in reads))

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """The bodies that the body calls itself."""
        calls = (name for node in self.body.nodes for name in node.calls)
        return tuple(dict.fromkeys(map(str, calls)))

    @cached_property
    def open_sizes(self) -> frozenset[str]:
        """The symbols in the body that neither its inputs nor its own nodes bind."""
        return open_sizes(self)


NO_SITE = Site("", 0, "")


class Graph:
    """Nodes in the order they were appended.

    Value ids count the outputs of all nodes.  `types[v]` is a value's type and
    `producers[v]` the index of its node.  Building is locked; a reader that took
    `len(nodes)` sees an immutable prefix.
    """

    def __init__(self, seed: int | None = None) -> None:
        self.nodes: list[Node] = []
        self.types: list[TensorType] = []
        self.producers: list[int] = []
        self.functions: dict[str, Function] = {}
        self.signatures: dict[str, Signature] = {}
        self.variable_specs: dict[str, VariableSpec] = {}
        self.sites: list[Site] = [NO_SITE]
        self.seed = seed
        # The name of the body that this graph is traced as, or "".
        self.body_name = ""
        self.run_time = RunTimeSizes()
        self.lock = threading.RLock()
        self._names: dict[str, int] = {}
        self._site_ids: dict[Site, int] = {NO_SITE: 0}
        self._constants: dict[tuple[Any, bytes], int] = {}
        self._scalars: dict[tuple[Any, type, Any], int] = {}
        self._forward_site = 0
        self._fixed_site: int | None = None

    # ---------------------------------------------------------------- building

    @property
    def is_deriving(self) -> bool:
        """Whether nodes are added for derivatives, not by the user's own lines."""
        return self._fixed_site is not None

    def append(
        self,
        definition: Op,
        inputs: Sequence[int] = (),
        attributes: Mapping[str, Any] | None = None,
        *,
        after: Iterable[int] = (),
        name: str | None = None,
        device: str | None = None,
        site: int | None = None,
    ) -> Node:
        """Check, infer, and add a node.  Raises GraphError with the user's line."""
        if site is None:
            site = self.current_site() if self._fixed_site is None else self._fixed_site
        try:
            operands = [self.types[i] for i in inputs]
            if len(operands) != len(definition.inputs) and not definition.takes(len(operands)):
                raise ArgumentError(
                    "wrong number of operands",
                    expected=f"{len(definition.inputs)}: {', '.join(definition.inputs)}",
                    found=str(len(operands)),
                )
            complete = definition.attributes(attributes or {})
            types = definition.output_types(operands, self.resolved(complete))
            if definition.run_time_sizes or self.run_time.finders:
                self.check_sizes(definition, complete)
        except StaticadError as error:
            asked = definition.name + (f" {name!r}" if name is not None else "")
            raise error.locate(
                asked=asked,
                site=self.site(site),
                forward_site=self.site(self._forward_site),
                operands=[self.handle(i).describe() for i in inputs],
            ) from None
        with self.lock:
            node = Node(
                definition.name, tuple(inputs), complete, types, len(self.types),
                tuple(after) if after else (), name, self.current_scope(),
                self.current_device() if device is None else device, site, self._forward_site,
            )  # fmt: skip
            self.append_trusted(node)
        return node

    def append_trusted(self, node: Node) -> None:
        """Add a node whose types and wiring are known to be right."""
        index = len(self.nodes)
        self.nodes.append(node)
        for type_ in node.types:
            self.types.append(type_)
            self.producers.append(index)
        if node.name is not None:
            self._names.setdefault(node.name, index)
        if node.op in FINDERS:
            self.run_time.note(node.finds, index)

    def check_sizes(self, definition: Op, attributes: Mapping[str, Any]) -> None:
        """Raises ShapeError for a next node whose run-time sizes are not its own."""
        self.run_time.check(self.nodes, definition, attributes)
        for name in definition.bodies:
            value = attributes[name]
            for function in (value,) if type(value) is FunctionRef else value:
                check_call(self, function)

    def new_size(self, hint: str, taken: Collection[str] = ()) -> dims.Dim:
        """A symbol that nothing uses yet, nor is taken, called `hint` if that is possible.

        Whoever gives it to a node holds the lock meanwhile.
        """
        return dims.symbol(self.run_time.new_name(hint, self.nodes, taken))

    def resolved(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes with function names replaced by the functions, for op facets."""
        for value in attributes.values():
            kind = type(value)
            if kind is FunctionRef or (kind is tuple and value and type(value[0]) is FunctionRef):
                return {name: resolved(v, self.function) for name, v in attributes.items()}
        return attributes

    def apply(self, definition: Op, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Append an op whose operands are handles or weak Python scalars; return handles.

        Operands must already have equal dtypes where the op demands it; a scalar takes the
        dtype of the first handle.
        """
        inputs = []
        for operand in operands:
            if isinstance(operand, Handle):
                if operand.graph is not self:
                    self.check_owner(operand, definition.name, operands[0])
                inputs.append(operand.id)
            else:
                first = next(o for o in operands if isinstance(o, Handle))
                dtype = promote_weak(first.type.dtype, operand)
                inputs.append(self.scalar(operand, dtype))
        node = self.append(definition, inputs, attributes)
        if len(node.types) == 1:
            return self.handle(node.start)
        return tuple(map(self.handle, node.outputs))

    def scalar(self, value: bool | int | float | complex, dtype: Any) -> int:
        """The value id of a 0-d constant; equal constants are one node."""
        known = (dtype, value.__class__, value)
        found = self._scalars.get(known)
        if found is not None:
            return found
        array = weak_array(value, dtype)
        if value and (not array or not np.isfinite(array)):
            self.note_rounding(value, array)
        key = (dtype, array.tobytes())
        found = self._constants.get(key)
        if found is None:
            array.flags.writeable = False
            found = self.append(OPS["constant"], (), {"value": array}).start
            self._constants[key] = found
        # Zeros of either sign are equal keys, and so are complex numbers with them.
        if value and not isinstance(value, complex):
            self._scalars[known] = found
        return found

    def constant(self, array: np.ndarray[Any, Any]) -> Handle:
        """A constant that holds a copy of `array`."""
        return self.handle(self.append(OPS["constant"], (), {"value": self.held(array)}).start)

    def held(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """A copy of an array that nobody can change.  Raises DTypeError."""
        try:
            dtype = require_dtype(array.dtype.newbyteorder("="))
        except DTypeError as error:
            raise error.locate(asked="constant", site=self.site(self.current_site())) from None
        copy = np.array(array, dtype, order="C", copy=True)
        copy.flags.writeable = False
        return copy

    def handle(self, value: int) -> Handle:
        return Handle(self, value)

    def check_owner(self, handle: Handle | Effect, asked: str, beside: Any = None) -> None:
        """Raises GraphError if the handle belongs to another graph; `beside` is one of this."""
        if handle.graph is not self:
            other = f"{handle.describe()} of another graph"
            raise GraphError(
                "operands belong to two graphs",
                asked=asked,
                expected="tensors of one graph",
                found=f"{beside.describe()} and {other}" if isinstance(beside, Handle) else other,
                site=self.site(self.current_site()),
            )

    def add_variable(self, spec: VariableSpec) -> None:
        self.variable_specs[spec.name] = spec

    def add_function(self, function: Function) -> None:
        """Enter a body in the table.  It may call only bodies that are there already."""
        if function.name in self.functions:
            raise GraphError(
                f"function {function.name!r} exists",
                asked="function",
                expected="a new name",
                found=repr(function.name),
            )
        check_body(function)
        self.functions[function.name] = function

    def function(self, name: str) -> Function:
        """The body called `name`.  Raises UnknownNameError."""
        try:
            return self.functions[name]
        except KeyError:
            raise UnknownNameError(
                f"no function {name!r}",
                expected=", ".join(map(repr, self.functions)) or "no function is defined",
                found=repr(name),
                hint=near_miss(name, self.functions),
            ) from None

    # -------------------------------------------------- where the user is

    def current_site(self) -> int:
        """The site of the line that is building now; the builder's graph knows it."""
        return 0

    def current_scope(self) -> str:
        return ""

    def current_device(self) -> str | None:
        return None

    def building_site(self) -> Site | None:
        """The line of what is appended now."""
        return self.site(self.current_site() if self._fixed_site is None else self._fixed_site)

    def note_run(self) -> None:
        """A session has run this graph; the builder's graph watches its growth from then on."""

    def note_rounding(self, value: float | complex, array: Array) -> None:
        """A number has become zero or infinite in its dtype; the builder's graph warns of it."""

    def intern_site(self, site: Site) -> int:
        """The index of a line in the table of lines."""
        found = self._site_ids.get(site)
        if found is None:
            found = self._site_ids[site] = len(self.sites)
            self.sites.append(site)
        return found

    def adopt_sites(self, other: Graph) -> None:
        """Take the sites of another graph, under the same indices, as those of this one."""
        self.sites = list(other.sites)
        self._site_ids = {site: index for index, site in enumerate(self.sites)}

    def site(self, index: int) -> Site | None:
        """The line with that index; 0 is none."""
        return self.sites[index] if index else None

    @contextmanager
    def derived_from(self, site: int | None = None) -> Iterator[Callable[[int], None]]:
        """Building on the user's behalf: all nodes get one site, and a forward site that the
        yielded function sets."""
        with self.lock:
            saved = self._fixed_site, self._forward_site
            if self._fixed_site is None:
                self._fixed_site = self.current_site() if site is None else site

            def forward(site: int) -> None:
                self._forward_site = site

            try:
                yield forward
            finally:
                self._fixed_site, self._forward_site = saved

    # ---------------------------------------------------------------- names

    def node_name(self, index: int) -> str:
        """The explicit name, or scope, op and index."""
        node = self.nodes[index]
        if node.name is not None:
            return node.name
        prefix = f"{node.scope}/" if node.scope else ""
        return f"{prefix}{node.op}_{index}"

    def value_name(self, value: int) -> str:
        """The node's name; with several outputs "name:k"."""
        index = self.producers[value]
        node = self.nodes[index]
        name = self.node_name(index)
        return name if len(node.types) == 1 else f"{name}:{value - node.start}"

    def find(self, name: str) -> int:
        """The index of the node called `name`.  Raises UnknownNameError."""
        found = self._names.get(name)
        if found is None:
            _, _, tail = name.rpartition("_")
            if tail.isdecimal() and tail.isascii() and len(tail) < 12:
                index = int(tail)
                if index < len(self.nodes) and self.node_name(index) == name:
                    return index
            raise UnknownNameError(
                f"no node {name!r}",
                expected="a name in the graph",
                found=repr(name),
                hint=near_miss(name, self._names),
            )
        return found

    def value(self, name: str) -> int:
        """The value id called `name` ("node" or "node:k").  Raises UnknownNameError."""
        try:
            index, k = self.find(name), 0
        except UnknownNameError:
            head, colon, tail = name.rpartition(":")
            if not colon or not (tail.isdecimal() and tail.isascii() and len(tail) < 6):
                raise
            index, k = self.find(head), int(tail)
        node = self.nodes[index]
        if k >= len(node.types):
            raise UnknownNameError(
                f"node {self.node_name(index)!r} has no output {k}",
                expected=f"{len(node.types)} output(s)",
                found=repr(name),
            )
        return node.start + k

    def has_name(self, name: str) -> bool:
        """Whether some node was given that name."""
        return name in self._names

    @property
    def placeholders(self) -> list[Any]:
        """Handles of the placeholders, in order."""
        return [self.handle(n.start) for n in self.nodes if n.op == "placeholder"]

    def state_value(self, variable: str) -> int:
        """The value of a variable at the start of a run."""
        return self.nodes[self.variable_specs[variable].node].start

    def effect(self, index: int) -> Effect:
        """The effect of the node with that index."""
        return Effect(self, index)

    def copy(self) -> Graph:
        """A graph of the same nodes, with the same ids, that grows apart from this one."""
        with self.lock:
            twin = Graph(self.seed)
            for node in self.nodes:
                twin.append_trusted(node)
            twin.functions = dict(self.functions)
            twin.signatures = dict(self.signatures)
            twin.variable_specs = dict(self.variable_specs)
            twin.adopt_sites(self)
            return twin

    def __repr__(self) -> str:
        return f"<graph of {len(self.nodes)} nodes>"
