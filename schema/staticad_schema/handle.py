"""Handle: a value of a graph, with operators.

Gradient rules, expansions and rewrites are written with handles; `staticad.Tensor` is the
subclass that users hold.  Promotion happens here: operands are brought to one dtype by
`cast` nodes, and Python scalars (np.float64 among them, which is one) are weak.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from .errors import DTypeError, Site
from .node import Node
from .op import OPS, Op
from .types import DEFAULT_FLOAT, INEXACT, DType, TensorType, promote, promote_weak

WEAK = (bool, int, float, complex)


class Owner(Protocol):
    """What handles need of their graph."""

    types: list[TensorType]
    nodes: list[Node]
    producers: list[int]

    def apply(self, definition: Op, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """Append an op to handles and scalars; return handles."""

    def scalar(self, value: bool | int | float | complex, dtype: DType) -> int:
        """The value id of a 0-d constant."""

    def constant(self, array: np.ndarray[Any, Any]) -> Any:
        """A handle of a constant."""

    def handle(self, value: int) -> Any:
        """The handle of a value id."""

    def site(self, index: int) -> Site | None:
        """The site with that index."""

    def current_site(self) -> int:
        """The index of the site that is building now."""

    def value_name(self, value: int) -> str:
        """A value's name."""

    def node_name(self, index: int) -> str:
        """A node's name."""


class Effect:
    """A node whose result is that it ran: a group, an assertion.  Fetched, it gives None."""

    __slots__ = ("graph", "node_index")

    def __init__(self, graph: Owner, node_index: int) -> None:
        self.graph = graph
        self.node_index = node_index

    @property
    def name(self) -> str:
        """The node's name."""
        return self.graph.node_name(self.node_index)

    @property
    def site(self) -> Site | None:
        """The line that made the value, if it is known."""
        return self.graph.site(self.graph.nodes[self.node_index].site)

    def describe(self) -> str:
        """The effect for an error message: name and line."""
        return f"effect {self.name!r}" + (f" ({self.site})" if self.site else "")

    def __repr__(self) -> str:
        return f"<effect {self.name!r}>"


class Handle:
    """(graph, value id) with operators."""

    __slots__ = ("graph", "id")
    # ndarray + handle must ask the handle, not build an array of objects.
    __array_ufunc__: ClassVar[None] = None

    def __init__(self, graph: Owner, id: int) -> None:
        self.graph = graph
        self.id = id

    @property
    def type(self) -> TensorType:
        return self.graph.types[self.id]

    @property
    def node(self) -> Node:
        """The node that produces this value."""
        return self.graph.nodes[self.graph.producers[self.id]]

    @property
    def node_index(self) -> int:
        """The index of that node."""
        return self.graph.producers[self.id]

    @property
    def site(self) -> Site | None:
        """The line that made the value, if it is known."""
        return self.graph.site(self.node.site)

    def describe(self) -> str:
        """The value for an error message: name, type and line."""
        site = self.site
        return f"{self.graph.value_name(self.id)!r} {self.type}" + (f" ({site})" if site else "")

    def apply(self, definition: Op, operands: Sequence[Any], attributes: dict[str, Any]) -> Any:
        """An op of this graph's handles and scalars, appended to it."""
        return self.graph.apply(definition, operands, attributes)

    def astype(self, dtype: DType) -> Any:
        """This value in another dtype; itself if it has it."""
        if self.type.dtype == dtype:
            return self
        return self.apply(OPS["cast"], (self,), {"dtype": dtype})

    def coerce(self, other: Any) -> Any:
        """`other` as a handle of this graph: a handle, a weak scalar, or an array (a constant).

        Returns NotImplemented for what is no operand.
        """
        if isinstance(other, Handle):
            return other
        if isinstance(other, WEAK):
            return self.graph.handle(self.graph.scalar(other, promote_weak(self.type.dtype, other)))
        if isinstance(other, np.ndarray | np.generic):
            return self.graph.constant(np.asarray(other))
        return NotImplemented

    def binary(self, name: str, other: Any, reflected: bool = False) -> Any:
        """The named op of this and `other`, both promoted to their common dtype."""
        if not isinstance(other, Handle):
            other = self.coerce(other)
            if other is NotImplemented:
                return NotImplemented
        operands = promoted(other, self) if reflected else promoted(self, other)
        if name == "divide":
            operands = floating(*operands)
        return self.graph.apply(OPS[name], operands, {})

    def __add__(self, other: Any) -> Any:
        return self.binary("add", other)

    def __radd__(self, other: Any) -> Any:
        return self.binary("add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self.binary("subtract", other)

    def __rsub__(self, other: Any) -> Any:
        return self.binary("subtract", other, True)

    def __mul__(self, other: Any) -> Any:
        return self.binary("multiply", other)

    def __rmul__(self, other: Any) -> Any:
        return self.binary("multiply", other, True)

    def __truediv__(self, other: Any) -> Any:
        return self.binary("divide", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.binary("divide", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self.binary("floor_divide", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self.binary("floor_divide", other, True)

    def __mod__(self, other: Any) -> Any:
        return self.binary("remainder", other)

    def __rmod__(self, other: Any) -> Any:
        return self.binary("remainder", other, True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __pow__(self, other: Any) -> Any:
        return self.binary("pow", other)

    def __rpow__(self, other: Any) -> Any:
        return self.binary("pow", other, True)

    def __matmul__(self, other: Any) -> Any:
        return self.binary("matmul", other)

    def __rmatmul__(self, other: Any) -> Any:
        return self.binary("matmul", other, True)

    def __and__(self, other: Any) -> Any:
        return self.binary("bitwise_and", other)

    def __rand__(self, other: Any) -> Any:
        return self.binary("bitwise_and", other, True)

    def __or__(self, other: Any) -> Any:
        return self.binary("bitwise_or", other)

    def __ror__(self, other: Any) -> Any:
        return self.binary("bitwise_or", other, True)

    def __xor__(self, other: Any) -> Any:
        return self.binary("bitwise_xor", other)

    def __rxor__(self, other: Any) -> Any:
        return self.binary("bitwise_xor", other, True)

    def __lshift__(self, other: Any) -> Any:
        return self.binary("bitwise_left_shift", other)

    def __rlshift__(self, other: Any) -> Any:
        return self.binary("bitwise_left_shift", other, True)

    def __rshift__(self, other: Any) -> Any:
        return self.binary("bitwise_right_shift", other)

    def __rrshift__(self, other: Any) -> Any:
        return self.binary("bitwise_right_shift", other, True)

    def __lt__(self, other: Any) -> Any:
        return self.binary("less", other)

    def __le__(self, other: Any) -> Any:
        return self.binary("less_equal", other)

    def __gt__(self, other: Any) -> Any:
        return self.binary("greater", other)

    def __ge__(self, other: Any) -> Any:
        return self.binary("greater_equal", other)

    def __eq__(self, other: Any) -> Any:
        return self.binary("equal", other)

    def __ne__(self, other: Any) -> Any:
        return self.binary("not_equal", other)

    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return self.apply(OPS["negative"], (self,), {})

    def __pos__(self) -> Any:
        return self.apply(OPS["positive"], (self,), {})

    def __abs__(self) -> Any:
        return self.apply(OPS["abs"], (self,), {})

    def __invert__(self) -> Any:
        return self.apply(OPS["bitwise_invert"], (self,), {})

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.graph.value_name(self.id)!r} {self.type}>"


def floating(*operands: Handle) -> tuple[Any, ...]:
    """Operands of one dtype, of which integers and bools become floats, as in a quotient."""
    if operands[0].type.kind in INEXACT:
        return operands
    return tuple(o.astype(DEFAULT_FLOAT) for o in operands)


def promoted(*operands: Handle) -> tuple[Any, ...]:
    """The operands cast to their common dtype.  Raises DTypeError where there is none."""
    dtype = operands[0].type.dtype
    for operand in operands[1:]:
        found = operand.type.dtype
        if found is not dtype and found != dtype:
            break
    else:
        return operands
    try:
        for operand in operands[1:]:
            dtype = promote(dtype, operand.type.dtype)
    except DTypeError as error:
        error.found = " and ".join(o.describe() for o in operands)
        graph = operands[0].graph
        raise error.locate(asked="promotion", site=graph.site(graph.current_site())) from None
    return tuple(o.astype(dtype) for o in operands)
