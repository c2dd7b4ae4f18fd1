"""From what a caller gives (tensors, arrays, numbers) to tensors of one graph and dtype."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from staticad_schema.dims import Dim
from staticad_schema.errors import DTypeError, UsageError
from staticad_schema.handle import WEAK, Handle
from staticad_schema.types import BOOL, INT64, DType, as_dtype, in_dtype, promote, promote_weak

from . import sizes
from .graph import Graph, current_graph
from .numbers import as_array, weak_list
from .tensor import Tensor

Operand: TypeAlias = (
    Handle | np.ndarray[Any, Any] | np.generic | complex | list[Any] | tuple[Any, ...] | Dim
)
"""A tensor, an array, a number, a nested list of numbers, or a Dim."""


def graph_of(asked: str, *values: Any) -> Graph:
    """The graph of the first tensor, or the one being built.  Raises GraphError."""
    for value in values:
        if isinstance(value, Handle):
            graph = value.graph
            assert isinstance(graph, Graph)
            return graph
    return current_graph(asked)


def tensor(asked: str, value: Any, graph: Graph | None = None) -> Tensor:
    """A tensor of the graph: itself, or a constant of an array, number or list."""
    if isinstance(value, Tensor):
        if graph is not None and value.graph is not graph:
            graph.check_owner(value, asked)
        return value
    if isinstance(value, Dim):
        return result(sizes.value(graph or current_graph(asked), value, INT64))
    # as_array outside of `constant`, so that an error says what was asked.
    made = (graph or current_graph(asked)).constant(as_array(value))
    assert isinstance(made, Tensor)
    return made


def condition(asked: str, value: Any, graph: Graph) -> Tensor:
    """A tensor of bools.  Raises DTypeError for another."""
    chosen = tensor(asked, value, graph)
    if chosen.dtype != BOOL:
        raise DTypeError(
            "the condition is no bool",
            expected="a tensor of dtype bool",
            found=chosen.describe(),
            hint="compare it: x != 0",
        )
    return chosen


def result(x: Any) -> Tensor:
    """What an op of one output gives back, to whoever reads the types."""
    assert isinstance(x, Tensor)
    return x


def tensors(asked: str, *values: Any) -> tuple[Tensor, ...]:
    """Tensors of one graph and dtype.  Numbers and lists are weak.  Raises GraphError."""
    graph = graph_of(asked, *values)
    if all(isinstance(v, Tensor) and v.graph is graph for v in values):
        same = values[0].dtype
        if all(v.dtype is same for v in values[1:]):
            return values
    strong: DType | None = None
    first: Tensor | None = None
    ready: list[Any] = []
    for value in values:
        if isinstance(value, np.ndarray | np.generic) and not isinstance(value, WEAK):
            value = graph.constant(as_array(value))
        if isinstance(value, Handle):
            if value.graph is not graph:
                graph.check_owner(value, asked, first)
            if first is None:
                first = tensor(asked, value)
            strong = _common(graph, asked, strong, first, value)
        ready.append(value)
    if strong is None:
        made = [tensor(asked, value, graph) for value in ready]
        dtype = made[0].dtype
        for other in made[1:]:
            dtype = _common(graph, asked, dtype, made[0], other)
        return tuple(t.astype(dtype) for t in made)
    for value in ready:
        if not isinstance(value, Handle):
            strong = promote_weak(strong, _sample(asked, value))
    result = []
    for value in ready:
        if isinstance(value, Handle):
            result.append(value.astype(strong))
        elif isinstance(value, WEAK):
            result.append(graph.handle(graph.scalar(value, strong)))
        elif isinstance(value, Dim):
            result.append(sizes.value(graph, value, strong))
        else:
            result.append(graph.constant(in_dtype(np.asarray(value), strong)))
    return tuple(result)


def _common(graph: Graph, asked: str, dtype: DType | None, first: Any, other: Any) -> DType:
    if dtype is None:
        return as_dtype(other.type.dtype)
    try:
        return promote(dtype, other.type.dtype)
    except DTypeError as error:
        error.found = f"{first.describe()} and {other.describe()}"
        raise error.locate(asked=asked, site=graph.site(graph.current_site())) from None


def _sample(asked: str, value: Any) -> Any:
    """A Python number of the kind of a weak operand."""
    if isinstance(value, WEAK):
        return value
    if isinstance(value, Dim):
        return 1
    array = weak_list(value) if isinstance(value, list | tuple) else None
    if array is None:
        raise UsageError(
            "not an operand",
            asked=asked,
            expected="a tensor, an array, a number or a list of numbers",
            found=f"{value!r:.80}, a {type(value).__name__}",
        )
    return array.dtype.type(0).item()
