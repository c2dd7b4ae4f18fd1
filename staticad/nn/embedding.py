"""Rows of a table by number: what stands for words and other categories."""

from __future__ import annotations

from typing import Any

from staticad_schema.errors import ArgumentError, ShapeError, UsageError
from staticad_schema.handle import Handle
from staticad_schema.sites import asking

from .. import dimensions, random
from ..building import build, renamed
from ..current import scope
from ..graph import Graph
from ..operands import Operand, graph_of, result, tensor
from ..ops.gathering import positions, take
from ..tensor import Tensor


def embedding(
    indices: Operand,
    table: Any,
    *,
    padding_index: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The rows of `table` at `indices`: (*indices.shape, width).

    table: a tensor (rows, width), such as a variable; or two ints, for a variable `name/table` of
    that shape, which begins with standard normal numbers.  padding_index: a row whose uses carry
    no gradient.  Raises DTypeError for indices that are no integers, ShapeError for other shapes;
    the run fails for an index that is out of range.

    >>> import staticad as sad
    >>> with sad.Graph(seed=0) as graph:
    ...     words = sad.placeholder("int32", ("batch", 7), name="words")
    ...     x = sad.nn.embedding(words, (1000, 16), name="words_table")
    >>> x.shape, list(graph.variables)
    ((Dim('batch'), 7, 16), ['words_table/table'])
    """
    with asking("embedding", name):
        graph = graph_of("embedding", indices, table)
        places = positions("embedding", indices, graph)
        rows: Any
        if isinstance(table, Handle) or not isinstance(table, tuple):
            rows = tensor("embedding", table, graph)
            if rows.ndim != 2:
                raise ShapeError("not a table", expected="(rows, width)", found=rows.describe())
        else:
            rows = _variable(graph, table, name)
        found: Any = take(rows, places, axis=0)
        if padding_index is not None:
            size = rows.shape[0]
            padding = dimensions.integer(padding_index)
            if isinstance(size, int) and not -size <= padding < size:
                raise ArgumentError(
                    "not a row of the table",
                    expected=f"an index from {-size} to {size - 1}",
                    found=str(padding),
                )
            # A row has two numbers: counted from the front and from the end.
            front, end = (padding + size, padding) if padding < 0 else (padding, padding - size)
            either = build(
                "logical_or",
                tuple(build("equal", (places, places.coerce(k))) for k in (front, end)),
            )
            either = build("reshape", (either,), {"shape": (*places.shape, 1)})
            found = build("where", (either, build("stop_gradient", (found,)), found))
        return result(renamed(found, name))


def _variable(graph: Graph, size: tuple[Any, ...], name: str | None) -> Any:
    known = tuple(map(dimensions.size, size))
    if len(known) != 2 or not all(isinstance(s, int) for s in known):
        raise UsageError(
            "not the size of a table", expected="two ints, or a tensor", found=f"{size!r:.80}"
        )
    with graph, scope(graph.free_scope("embedding", "table") if name is None else name):
        return graph.variable(random.normal(known), name="table")
