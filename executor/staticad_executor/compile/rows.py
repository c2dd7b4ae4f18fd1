"""What works row by row: the space of rows in which each fusable node lives.

A reduction over the trailing axes takes rows, along the axes before these, to one element
each.  The rows of a value of shape R + T are R, those of what is left of it, of shape R or
R + (1, …), are R too.  An elementwise node works row by row whatever one takes for rows, so
the reductions of a program choose: of each shape the split that most of them ask for.  A shape
that nothing reduces has as many rows as elements.

A sum over leading axes adds up rows.  Whoever computes these for blocks of rows can sum the
blocks, so such a sum lives where its operand does; where no other reduction chooses, it does.

Nodes of one space of rows can be computed for a block of rows at a time; see `group`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from staticad_schema.graph import Graph
from staticad_schema.node import Node
from staticad_schema.op import OPS

from ..devices.numpy.rows import ROW_KERNELS, takes_rows

Shape = tuple[Any, ...]

ROW_OPS = ROW_KERNELS
SUMS = frozenset({"sum", "sum_to"})
PRODUCTS = frozenset({"matmul", "matmul_transposed", "matmul_no_nan"})
ROW_VIEWS = frozenset({"reshape", "broadcast_to"})


def sums_rows(node: Node) -> bool:
    """Whether a node that lives on rows adds them up."""
    return node.op == "sum_to" or (node.op == "sum" and node.attributes["axis"][:1] == (0,))


def sums_all(graph: Graph, node: Node) -> bool:
    """Whether a `sum` or `sum_to` leaves one element of several axes."""
    out = node.types[0].shape
    return len(graph.types[node.inputs[0]].shape) > 0 and all(size == 1 for size in out)


def summed_rank(graph: Graph, node: Node) -> int:
    """How many leading axes a `sum` or `sum_to` sums, as far as can be told; 0 if it keeps
    nothing behind them, or has no kernel that keeps its bits."""
    have: Any = graph.types[node.inputs[0]]
    if not takes_rows(node.op, have):
        return 0
    rank = len(have.shape)
    if node.op == "sum":
        axes = node.attributes["axis"]
    else:
        want = node.types[0].shape
        lead = rank - len(want)
        axes = (*range(lead), *[lead + a for a, size in enumerate(want) if size == 1])
    count = next((k for k, axis in enumerate(axes) if axis != k), len(axes))
    return count if len(axes) < rank else 0


def row_rank(graph: Graph, node: Node) -> int:
    """How many leading axes the rows of a node of `ROW_OPS` have; 0 if it reduces others than
    the trailing ones, or has no kernel that keeps its bits."""
    type_ = graph.types[node.inputs[0]]
    if not takes_rows(node.op, type_):
        return 0
    rank = len(type_.shape)
    axis = node.attributes["axis"]
    axes = (axis,) if isinstance(axis, int) else axis
    lead = rank - len(axes)
    return lead if axes and tuple(axes) == tuple(range(lead, rank)) else 0


class RowSpaces:
    """The spaces of a program's values, by shape.

    ranks: how many of its leading axes are rows, of each shape that is reduced.
    """

    def __init__(self, graph: Graph) -> None:
        votes: dict[Shape, Counter[int]] = {}
        others: dict[Shape, Counter[int]] = {}
        for node in graph.nodes:
            if node.op in ROW_OPS and (rank := row_rank(graph, node)):
                votes.setdefault(graph.types[node.inputs[0]].shape, Counter())[rank] += 1
            elif node.op in SUMS and (rank := summed_rank(graph, node)):
                others.setdefault(graph.types[node.inputs[0]].shape, Counter())[rank] += 1
        votes = {**others, **votes}
        # Of equally many the one with more rows: they are shorter.
        self.ranks = {
            shape: max(counts, key=lambda rank: (counts[rank], rank))
            for shape, counts in votes.items()
        }
        self._spaces: dict[Shape, Shape] = {s: s[:rank] for s, rank in self.ranks.items()}
        for shape, rank in self.ranks.items():
            rows = shape[:rank]
            self._spaces.setdefault((*rows, *[1] * (len(shape) - rank)), rows)

    def of(self, shape: Shape) -> Shape:
        """The rows of a value of that shape."""
        return self._spaces.get(shape, shape)

    def of_row_op(self, graph: Graph, node: Node) -> Shape | None:
        """The rows of a node of `ROW_OPS` or `SUMS`; None if it does not work on them row by
        row, or add them up."""
        shape = graph.types[node.inputs[0]].shape
        rank = row_rank(graph, node) if node.op in ROW_OPS else 0
        if not rank and node.op in SUMS:
            rank = summed_rank(graph, node)
        return shape[:rank] if rank and self.ranks[shape] == rank else None

    def of_view(self, graph: Graph, node: Node) -> Shape | None:
        """The rows of a node of `ROW_VIEWS` that adds or drops axes of size 1 behind the rows,
        or repeats what has such axes along the row; None for any other."""
        if not self.ranks:
            return None
        have, want = graph.types[node.inputs[0]].shape, graph.types[node.start].shape
        rows = self.of(want)
        lead = len(rows)
        if have == want or self.of(have) != rows or have[:lead] != rows:
            return None
        if any(size != 1 for size in have[lead:]):
            return None
        if node.op == "broadcast_to":
            return rows if len(have) == len(want) else None
        return rows if all(size == 1 for size in want[lead:]) else None


def rows_of(graph: Graph, spaces: RowSpaces, node: Node) -> Shape | None:
    """The rows in which a node can be fused; None if it cannot be."""
    if node.after:
        return None
    if OPS[node.op].elementwise:
        return spaces.of(node.types[0].shape)
    if node.op in ROW_OPS or node.op in SUMS:
        return spaces.of_row_op(graph, node)
    if node.op in ROW_VIEWS:
        return spaces.of_view(graph, node)
    return None
