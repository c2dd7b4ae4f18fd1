"""Variable: a tensor that is the value of named state at the start of a run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from staticad_schema.declarations import VariableSpec
from staticad_schema.dims import Shape
from staticad_schema.errors import GraphError, ShapeError, UsageError
from staticad_schema.handle import Effect, Handle
from staticad_schema.op import OPS
from staticad_schema.shapes import is_static, same_shape
from staticad_schema.sites import asking

from .bodies import traced_in
from .building import Builder, build
from .numbers import stored
from .tensor import Tensor

After = Effect | Handle | Iterable[Effect | Handle]


def after_nodes(graph: Any, after: Any) -> tuple[int, ...]:
    """The node indices of tensors and effects.  Raises GraphError."""
    items = [after] if isinstance(after, Effect | Handle) else after
    if not isinstance(items, Iterable):
        items = [after]
    nodes = []
    for item in items:
        if not isinstance(item, Effect | Handle):
            raise UsageError(
                "not something that runs",
                expected="tensors and effects",
                found=f"{item!r:.80}, a {type(item).__name__}",
            )
        graph.check_owner(item, "order")
        nodes.append(item.node_index)
    return tuple(nodes)


def check_initial(graph: Builder, initial: Handle) -> None:
    """Raises GraphError if the value depends on what a run is fed."""
    seen, stack = set(), [initial.node_index]
    while stack:
        node = graph.nodes[stack.pop()]
        if node.op == "placeholder":
            raise GraphError(
                "the initial value depends on a placeholder",
                expected="a value that needs no feed",
                found=f"placeholder {graph.value_name(node.start)!r} ({graph.site(node.site)})",
            )
        if node.definition.effect == "writes":
            raise GraphError(
                "the initial value writes a variable",
                expected="a value that only reads",
                found=f"{graph.value_name(node.start)!r} ({graph.site(node.site)})",
            )
        for index in (*[graph.producers[i] for i in node.inputs], *node.after):
            if index not in seen:
                seen.add(index)
                stack.append(index)


class Variable(Tensor):
    """Named state that a Session holds; `sad.variable(initial)` makes one.

    As a tensor it is the value at the start of the run, whatever the run writes; `read(after=)`
    is the value behind a write.  Writes apply in the order of their creation, all at the end
    of the run.
    """

    __slots__ = ()

    def __init__(self, graph: Builder, id: int | None = None, **given: Any) -> None:
        super().__init__(graph, None if given else id)

    @property
    def spec(self) -> VariableSpec:
        """What the graph knows of the state."""
        return self.graph.variable_specs[self.node.attributes["variable"]]

    @property
    def initial(self) -> Tensor:
        """The value with which the state begins."""
        tensor = self.graph.handle(self.spec.initial)
        assert isinstance(tensor, Tensor)
        return tensor

    @property
    def trainable(self) -> bool:
        """Whether optimizers update it unless told otherwise."""
        return self.spec.trainable

    def read(self, after: After = (), name: str | None = None) -> Tensor:
        """The value at the start of the run, or behind the writes in `after`.

        While a body of this graph is traced, the read is part of the body, and takes no `after`.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     v = sad.variable(1.0, name="v")
        ...     doubled = v.assign(v * 2)
        ...     seen = [v, v.read(after=doubled)]
        >>> sad.Session(graph).run(seen)
        [array(1., dtype=float32), array(2., dtype=float32)]
        """
        with asking("read", self.name):
            type_ = self.type
            attributes = {
                "variable": self.spec.name,
                "dtype": type_.dtype,
                "shape": type_.shape,
            }
            body = traced_in(self.graph)
            if body is not None:
                after_nodes(body, after)
                return self._as_tensor(body.source("variable", attributes, name))
            nodes = after_nodes(self.graph, after)
            node = self.graph.make(OPS["read_variable"], (), attributes, name=name, after=nodes)
        return self._as_tensor(self.graph.handle(node.start))

    def assign(self, value: Any, after: After = (), name: str | None = None) -> Tensor:
        """Write `value`; the result is the new value.

        value: a tensor of the variable's dtype and shape; data that converts to it, numbers
        and single rows are repeated.  after: effects and tensors that run before.
        Raises DTypeError, ShapeError.

        >>> import staticad as sad
        >>> with sad.Graph() as graph:
        ...     v = sad.variable([1.0, 2.0], name="v")
        ...     write = v.assign(v + 1)
        >>> session = sad.Session(graph)
        >>> session.run([v, write])
        [array([1., 2.], dtype=float32), array([2., 3.], dtype=float32)]
        """
        return self._write("assign", value, after, name)

    def assign_add(self, value: Any, after: After = (), name: str | None = None) -> Tensor:
        """Add `value` to what earlier writes of the run have made of it."""
        return self._write("assign_add", value, after, name)

    def assign_sub(self, value: Any, after: After = (), name: str | None = None) -> Tensor:
        """Subtract `value` from what earlier writes of the run have made of it."""
        return self._write("assign_sub", value, after, name)

    def _write(self, op: str, value: Any, after: After, name: str | None) -> Tensor:
        variable = self.spec.name
        with asking(f"{op} to {variable!r}"):
            self.graph.check_not_in_body(variable, op)
            nodes = after_nodes(self.graph, after)
            x = self._fitted(op, value)
            node = self.graph.make(OPS[op], (x.id,), {"variable": variable}, name=name, after=nodes)
        return self._as_tensor(self.graph.handle(node.start))

    def _fitted(self, op: str, value: Any) -> Any:
        """The value as a tensor of the variable's type, scalars and fitting shapes broadcast."""
        x = stored(self, value)
        self.graph.check_owner(x, op, self)
        shape = self.type.shape
        if x.type.shape != shape and _broadcasts(x.type.shape, shape):
            return build("broadcast_to", (x,), {"shape": shape})
        if same_shape(x.type.shape, shape) is False:
            raise ShapeError(
                "the value does not fit the variable",
                expected=f"{self.type}, as {self.describe()}",
                found=x.describe(),
            )
        return x


def _broadcasts(small: Shape, large: Shape) -> bool:
    """Whether a value is repeated to fill a variable of known size."""
    if not is_static(large) or len(small) > len(large):
        return False
    aligned = zip(reversed(small), reversed(large), strict=False)
    return all(a == 1 or a == b for a, b in aligned)
