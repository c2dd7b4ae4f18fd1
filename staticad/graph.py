"""Graph: the builder's graph, with names, scopes, sites and the sources of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NoReturn

import staticad_schema
from staticad_schema.calls import first_path
from staticad_schema.declarations import Signature, VariableSpec
from staticad_schema.dims import Dim, Shape
from staticad_schema.errors import (
    ArgumentError,
    GraphError,
    ShapeError,
    Site,
    UnknownNameError,
    UsageError,
)
from staticad_schema.handle import Effect, Handle
from staticad_schema.node import Node
from staticad_schema.op import OPS, Op
from staticad_schema.shapes import shape_text
from staticad_schema.sites import asking, user_site
from staticad_schema.types import INT64, as_dtype

from . import dimensions, signatures, sizes
from .bodies import called, traced, traced_in
from .building import renamed
from .current import GRAPHS, OVERRIDES, named
from .numbers import as_array
from .options import flag
from .recorder import Recorder
from .streams import Streams
from .tensor import Tensor
from .variable import Variable, check_initial
from .views import Views


class Graph(Views, Recorder):
    """A graph that is being built.

    seed: of its random nodes and initial values; drawn when first needed if None.
    strict: a line that builds nodes again after a run raises instead of warning.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     x = sad.placeholder("float32", ("batch", 3), name="x")
    ...     y = sad.sum(x * 2, axis=1, name="y")
    >>> graph["y"]
    <tensor 'y' float32[batch]>
    """

    def __init__(self, seed: int | None = None, strict: bool = False) -> None:
        super().__init__(seed, strict)
        self.updates: list[Tensor | Effect] = []
        # Of tensors that were searched the positions that were found, by value id.
        self.places: dict[int, tuple[int, ...]] = {}
        self._variables: set[int] = set()
        self._calls: Counter[str] | None = None
        self._streams = Streams()
        self._signature_sites: dict[str, Site | None] = {}
        # How far the names of bodies are used up.
        self.body_counts: dict[str, int] = {}
        # The innermost function that is being traced, whose nodes are here meanwhile.
        self.tracing: Any = None

    def handle(self, value: int) -> Any:
        """The Tensor of a value id; a Variable for the value of state."""
        made = Variable(self, value) if value in self._variables else Tensor(self, value)
        if self.tracing is not None:
            self.tracing.made.append(made)
        return made

    def effect(self, index: int) -> Effect:
        """The effect of the node with that index."""
        made = super().effect(index)
        if self.tracing is not None:
            self.tracing.made.append(made)
        return made

    def add_variable(self, spec: VariableSpec) -> None:
        """Declare state whose node is in the graph already."""
        super().add_variable(spec)
        self._variables.add(self.nodes[spec.node].start)

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
        """Add a node, with the rule that the present scope has for its op."""
        overridden = OVERRIDES.get().get(definition.name)
        if overridden is None or self.is_deriving:
            return super().append(
                definition, inputs, attributes, after=after, name=name, device=device, site=site
            )
        with self.lock:
            node = super().append(
                definition, inputs, attributes, after=after, device=device, site=site
            )
            made: Node | None = overridden(self, node, name)
            if made is None:
                made = node if name is None else node._replace(name=name)
                self.nodes[-1] = made
                if name is not None:
                    self._names.setdefault(name, len(self.nodes) - 1)
            return made

    # ------------------------------------------------------------- names

    def __getitem__(self, name: str) -> Any:
        """The tensor called `name` ("node", or "node:k" for output k), or the effect."""
        with asking(f"graph[{name!r}]"):
            if not isinstance(name, str):
                raise UsageError(
                    "nodes are found by name",
                    expected="a str",
                    found=f"{name!r:.80}, a {type(name).__name__}",
                )
            if name in self.signatures and not self.has_name(name):
                raise UnknownNameError(
                    f"{name!r} is a signature, not a node",
                    expected="the name of a node",
                    found=repr(name),
                    hint=f"use graph.signatures[{name!r}]",
                )
            try:
                index = self.find(name)
            except UnknownNameError:
                return self.handle(self.value(name))
            return self.handle(self.value(name)) if self.nodes[index].types else self.effect(index)

    def __contains__(self, name: Any) -> bool:
        """Whether graph[name] is there."""
        try:
            self[name]
        except (UnknownNameError, UsageError):
            return False
        return True

    @property
    def variables(self) -> dict[str, Variable]:
        """The variables by name, in the order of their creation."""
        return {
            name: self.handle(self.nodes[spec.node].start)
            for name, spec in self.variable_specs.items()
        }

    # ------------------------------------------------------------- sources

    def source(self, op: str, attributes: dict[str, Any], name: str | None = None) -> Any:
        """A tensor of an op without operands."""
        return self.handle(self.make(OPS[op], (), attributes, name=name).start)

    def placeholder(self, dtype: Any, shape: Any, name: str | None = None) -> Tensor:
        """A value that each run is fed.

        shape: ints, names of sizes ("batch"), Dims, or None for a size of its own.
        """
        with asking("placeholder", name):
            self._check_no_body("has a placeholder", "values that are given to it as operands")
            attributes = {"dtype": as_dtype(dtype), "shape": self.declared_shape(shape, name)}
            node = self.make(OPS["placeholder"], (), attributes, name=name, unique=True)
        return Tensor(self, node.start)

    def constant(self, value: Any, name: str | None = None, dtype: Any = None) -> Any:
        """A copy of an array, a number or a nested list of numbers; of a Dim, its value.

        Arrays keep their dtype; Python numbers take int64, float32, complex64 or bool.
        """
        with asking("constant", name):
            if isinstance(value, Dim):
                wanted = INT64 if dtype is None else as_dtype(dtype)
                return renamed(sizes.value(self, value, wanted), name)
            array = as_array(value, dtype)
            if name is None:
                return super().constant(array)
            return self.source("constant", {"value": self.held(array)}, name)

    def variable(
        self, initial: Any, name: str | None = None, trainable: bool = True, shape: Any = None
    ) -> Variable:
        """State that a Session holds, beginning with `initial`: a tensor, an array or a number.

        shape: where sizes may change between runs, the shape with names for those sizes.
        """
        with self.lock, asking("variable", name):
            self._check_no_body(
                "declares a variable", "variables made outside, layers among them, and used in it"
            )
            flag("trainable", trainable)
            if isinstance(initial, Handle):
                self.check_owner(initial, "variable")
                check_initial(self, initial)
                start = initial
            else:
                start = super().constant(as_array(initial))
            dtype, given = start.type
            if shape is not None:
                declared = self.declared_shape(shape, name)
                fixed = [
                    a == b for a, b in zip(declared, given, strict=False) if isinstance(a, int)
                ]
                if len(declared) != len(given) or not all(fixed):
                    raise ShapeError(
                        "the initial value does not have the variable's shape",
                        expected=shape_text(declared),
                        found=shape_text(given),
                    )
                given = declared
            full = self._state_name(name)
            attributes = {"variable": full, "dtype": dtype, "shape": given}
            node = self.append(OPS["variable"], (), attributes, name=full)
            index = len(self.nodes) - 1
            self.add_variable(
                VariableSpec(full, start.type.with_shape(given), start.id, trainable, index)
            )
        return Variable(self, node.start)

    def _state_name(self, name: str | None) -> str:
        if name is not None:
            return self.full_name(name, "variable", unique=True)
        return self.full_name("variable", "variable")

    def declared_shape(self, shape: Any, name: str | None) -> Shape:
        """A shape with names for sizes, None replaced by a name of its own."""
        if shape is None:
            raise ShapeError(
                "the rank must be known",
                expected="a tuple of sizes; None inside it is a size not known yet",
                found="None",
                hint="write (None,) for a vector of any length",
            )
        given = shape if isinstance(shape, tuple | list) else (shape,)
        named = {part for part in given if isinstance(part, str)}
        sizes = []
        for axis, part in enumerate(given):
            own = self.new_size(f"{name or 'size'}_{axis}", named) if part is None else part
            sizes.append(dimensions.size(own))
        return tuple(sizes)

    # ------------------------------------------------------------- randomness

    def run_number(self) -> int:
        """The value id of the number of the run, which all random nodes share."""
        with self.lock:
            return self._streams.run_number(self)

    def random_key(self, name: str | None) -> int:
        """The 64-bit key of a new random node in the present scope."""
        with self.lock:
            return self._streams.key(self, name)

    # ------------------------------------------------------------- bodies

    def check_owner(self, handle: Handle | Effect, asked: str, beside: Any = None) -> None:
        """Raises GraphError if the handle belongs to another graph; `beside` is one of this."""
        try:
            super().check_owner(handle, asked, beside)
        except GraphError as error:
            if traced_in(handle.graph) is self:
                error.hint = (
                    "in a body, read it by .read()"
                    if isinstance(handle, Variable)
                    else "give it to the body as an argument"
                )
            raise

    def begin_body(self, tracing: Any) -> dict[str, Any]:
        """Have a body's nodes here: with names, constants and random numbers of their own.

        Returns what `end_body` puts back.
        """
        own = {
            "body_name": tracing.name, "_names": {}, "_suffixes": {}, "_constants": {},
            "_scalars": {}, "places": {}, "_calls": Counter(), "_streams": Streams(within=True),
            "tracing": tracing,
        }  # fmt: skip
        saved = {name: getattr(self, name) for name in own}
        for name, value in own.items():
            setattr(self, name, value)
        return saved

    def end_body(self, tracing: Any, saved: dict[str, Any]) -> None:
        """Take the nodes of a body away again."""
        del self.nodes[tracing.start :]
        del self.types[tracing.values :]
        del self.producers[tracing.values :]
        self.run_time.forget(tracing.start)
        for name, value in saved.items():
            setattr(self, name, value)

    def _check_no_body(self, what: str, expected: str) -> None:
        if self.tracing is not None:
            raise GraphError(
                f"a body {what}",
                expected=expected,
                found=f"the body {self.tracing.name!r}",
                site=user_site(),
            )

    def check_not_in_body(self, variable: str, op: str) -> None:
        """Raises GraphError if a body is being traced that would write this graph's state."""
        inner = traced_in(self) or (self if self.tracing is not None else None)
        if inner is not None:
            spec = self.variable_specs[variable]
            raise GraphError(
                "a body writes a variable",
                asked=f"{op} to {variable!r} in the body {inner.body_name!r}",
                expected="bodies without writes: return the new value and assign it outside",
                found=f"variable {variable!r} ({self.site(self.nodes[spec.node].site)})",
                site=user_site(),
            )

    def define(
        self, name: str, function: Callable[..., Any], *input_types: Any
    ) -> Callable[..., Any]:
        """Trace a body of the table of functions; what is returned calls it.

        function: from tensors to a tensor or several; input_types: (dtype, shape) of each, or
        tensors of that type.  The body reads its arguments, constants, and variables of this
        graph by `read()`.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     cube = graph.define("cube", lambda x: x * x * x, ("float32", ("n",)))
        ...     y = cube([1.0, 2.0])
        >>> sad.Session(graph).run(y)
        array([1., 8.], dtype=float32)
        """
        with asking("define", name):
            body = Graph(self.seed, self.strict)
            body.body_name = name
            body.functions = self.functions
            made = traced(body, name, function, input_types)
            with self.lock:
                self.add_function(made)

        def call(*arguments: Any) -> Any:
            # Bodies call each other, each in its own graph.
            graph = traced_in(self) or self
            return graph.call(name, *arguments)

        return call

    def call(self, name: str, *arguments: Any) -> Any:
        """The outputs of the body called `name`, for tensors, arrays or numbers."""
        with self.lock, asking("call", name):
            return called(self, name, arguments, self.next_path(name))

    def next_path(self, name: str) -> int:
        """Numbers the calls of a body, so that each draws random numbers of its own."""
        if self._calls is None:
            # Once: what is built here is counted as it is.
            called = (n.attributes.get("function", n.attributes.get("rule")) for n in self.nodes)
            self._calls = Counter(str(body) for body in called if body is not None)
        self._calls[name] += 1
        return first_path(name, self._calls[name] - 1)

    # ------------------------------------------------------------- files

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise UsageError(
            "graphs are neither pickled nor copied",
            asked="pickle, or copy",
            expected="a file that holds the graph",
            found=repr(self),
            site=user_site(),
            hint="use graph.save(path) and sad.load(path)",
        )

    def signature(
        self,
        name: str,
        inputs: Mapping[str, Handle] | None = None,
        outputs: Mapping[str, Handle] | None = None,
        effects: Any = (),
    ) -> Signature:
        """Declare an interface for callers without handles: keys to tensors, and effects.

        Raises GraphError for a name that is taken, or what is no tensor of this graph.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     x = sad.placeholder("float32", ("n",), name="x")
        ...     made = graph.signature("double", inputs={"x": x}, outputs={"y": x * 2})
        >>> list(graph.signatures)
        ['double']
        """
        with self.lock, asking("signature", name):
            named(name, "signature")
            if name in self.signatures:
                line = self._signature_sites.get(name)
                raise ArgumentError(
                    "the signature exists",
                    expected="a signature with a name of its own",
                    found=f"signature {name!r}" + (f" ({line})" if line else ""),
                )
            made = signatures.declared(self, name, inputs, outputs, effects)
            self.signatures[name] = made
            self._signature_sites[name] = user_site()
            return made

    def save(
        self, path: str | PathLike[str], sites: Literal["relative", "none"] = "relative"
    ) -> None:
        """Write the graph to a file; sites="none" leaves out the user's lines.

        Raises OSError if it cannot be written, FormatError for what a file cannot hold.

        >>> import tempfile, staticad as sad
        >>> with sad.Graph() as graph:
        ...     y = sad.exp(0.0, name="y")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(f"{folder}/y.sad")
        ...     sad.Session(sad.load(f"{folder}/y.sad")).run("y")
        array(1., dtype=float32)
        """
        with asking("save"):
            staticad_schema.save(self, path, sites=sites)


def load(path: str | PathLike[str]) -> Graph:
    """The graph in a file, to be run, or built upon.

    Raises FormatError for what is no whole file of `Graph.save`, OSError if it cannot be read.

    >>> import tempfile, staticad as sad
    >>> with sad.Graph() as graph:
    ...     x = sad.placeholder("float32", (), name="x")
    ...     y = sad.exp(x, name="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/y.sad")
    ...     loaded = sad.load(f"{folder}/y.sad")
    >>> (dx,) = sad.gradients(loaded["y"], loaded["x"])
    >>> sad.Session(loaded).run(dx, {"x": 0.0})
    array(1., dtype=float32)
    """
    with asking("load"):
        graph = staticad_schema.load(path, Graph)
    assert isinstance(graph, Graph)
    return graph


def current_graph(asked: str) -> Graph:
    """The graph of the innermost `with graph:`.  Raises GraphError if there is none."""
    graphs = GRAPHS.get()
    if not graphs:
        sources = ("placeholder", "variable", "constant")
        raise GraphError(
            "no graph is being built here",
            asked=asked,
            expected="an enclosing `with graph:`, or a tensor among the arguments",
            found="neither",
            site=user_site(),
            hint="write `with sad.Graph() as graph:` around it"
            + (f", or call graph.{asked}(...)" if asked in sources else ""),
        )
    graph = graphs[-1]
    assert isinstance(graph, Graph)
    return graph
