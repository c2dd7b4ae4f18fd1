"""Sizes among numbers: the scalar tensor that a symbolic dimension stands for."""

from __future__ import annotations

from typing import Any

from staticad_schema.dims import Call, Dim, Size, symbol
from staticad_schema.types import BOOL, INT64, DType

from .building import build

_OPS = {"floordiv": "floor_divide", "mod": "remainder", "min": "minimum", "max": "maximum"}


def value(graph: Any, size: Dim, dtype: DType) -> Any:
    """A scalar tensor of `dtype`, integer or floating: the size that each run finds."""
    if size.symbol() is not None:
        return _symbol(graph, size, dtype)
    total: Any = None
    for monomial, coefficient in size.terms:
        term: Any = None
        for atom, power in monomial:
            factor = _atom(graph, atom)
            for _ in range(power):
                term = factor if term is None else build("multiply", (term, factor))
        number = graph.handle(graph.scalar(coefficient, INT64))
        term = number if term is None else build("multiply", (term, number))
        total = term if total is None else build("add", (total, term))
    return total.astype(dtype)


def _symbol(graph: Any, size: Dim, dtype: DType) -> Any:
    """The size of a vector of that length, of which only the length is looked at."""
    vector = build("broadcast_to", (graph.handle(graph.scalar(False, BOOL)),), {"shape": (size,)})
    return build("size_of", (vector,), {"axis": (0,), "dtype": dtype})


def _atom(graph: Any, atom: str | Call) -> Any:
    if isinstance(atom, str):
        return _symbol(graph, symbol(atom), INT64)
    left, right = (_integer(graph, side) for side in (atom.left, atom.right))
    if atom.function == "broadcast":
        one = build("equal", (left, 1))
        return build("where", (one, right, left))
    return build(_OPS[atom.function], (left, right))


def _integer(graph: Any, size: Size) -> Any:
    if isinstance(size, int):
        return graph.handle(graph.scalar(size, INT64))
    return value(graph, size, INT64)
