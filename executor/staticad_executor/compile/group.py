"""Stage 4: which nodes run as one step.

Elementwise nodes of one shape that feed each other become a region, and so do elementwise
nodes and reductions over trailing axes that work on the same rows (`rows`): a block of rows is
computed from the first node to the last before the next one.  Any other node is a step of its
own, a kernel; what only looks at its operand in another shape is a view and no step.

**Why the grouping has no cycle.**  A node is fusable if it is elementwise or works row by row.
An edge fuses if both ends are fusable, live on the same rows and the same device, and a row of
one needs no other row of the other.  A sum of rows is fusable if the edge to it fuses, but no
edge from it does: it is an end of a region.  On some devices a product is fusable, too, but no
edge to it fuses: it is a head.  Every node gets a level: the greatest over its
operands of the operand's level, plus 1 if the operand is produced by a fusable node and the edge
does not fuse.  So levels never decrease along an edge, and every edge that leaves a fusable node
without fusing raises it.  Nodes joined by fusing edges at one level form a region.  A cycle
among groups would stay at one level.  It contains a region (the graph itself has no cycle) and
leaves that region by some edge; the edge's start is a fusable node, and its end is at the same
level, so the edge fuses, so its end is in the region: a contradiction.

Levels may then be raised as long as both properties last: a region moves up to the level of
its users, and so joins them, where no more has to be kept for that than before.

Views at the edge of a region leave it and are views again.  What is left has no cycle either: a
way that comes back to it through such a view would have come back to the region before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from staticad_schema.dims import Dim
from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.text import line

from ..program import ASKS_SIZES, GIVEN, VIEWS, Program
from .alike import Alike
from .place import NUMPY, Placed
from .rows import PRODUCTS, ROW_VIEWS, SUMS, RowSpaces, Shape, rows_of, sums_all, sums_rows

GroupKind = Literal["region", "kernel", "view"]

# What a size that is not known yet counts as.
NOMINAL = 64


class Group(NamedTuple):
    """One step to be.  nodes: indices, ascending.  inputs: values from outside.  outputs:
    values that others need.  before: groups that must have run beyond those of the inputs.
    rows: how many leading axes are rows, if it works row by row; else -1."""

    kind: GroupKind
    device: str
    nodes: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    before: tuple[int, ...] = ()
    rows: int = -1


@dataclass(frozen=True, eq=False)
class Grouped:
    """A program cut into groups, which are listed in an order in which they can run.

    owner: for each node the position of its group in `groups`, -1 for what is given.
    """

    program: Program
    groups: tuple[Group, ...]
    owner: tuple[int, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def alike(self) -> Alike:
        """Which nodes and regions are alike, for all sizes."""
        return Alike(self.program.graph)

    def text(self) -> str:
        """The groups, each with its nodes."""
        graph = self.program.graph
        lines = []
        for k, group in enumerate(self.groups):
            outputs = ", ".join(f"%{v}" for v in group.outputs)
            lines.append(f"{k} {group.kind} @{group.device} -> {outputs}")
            lines += [f"  {line(graph, index)}" for index in group.nodes]
        return "\n".join(lines) + "\n"


def group(placed: Placed) -> Grouped:
    """The groups of a placed program, in the order of their last nodes' levels and indices."""
    program = placed.program
    graph = program.graph
    edges = _Edges(graph, placed.devices)
    region = _regions(edges)
    _leave_views(edges, region)
    members: dict[int, list[int]] = {}
    for index in range(len(graph.nodes)):
        if region[index] >= 0:
            members.setdefault(region[index], []).append(index)
    owner, groups = _collect(program, placed.devices, members, edges.rows)
    ordered = _topological(groups, owner, graph)
    return renumbered(Grouped(program, tuple(groups), tuple(owner), placed.notes), ordered)


class _Edges:
    """rows: for each node its rows if it is fusable, else None."""

    def __init__(self, graph: Graph, devices: tuple[str, ...]) -> None:
        self.graph = graph
        self.devices = devices
        spaces = RowSpaces(graph)
        self.rows = [rows_of(graph, spaces, node) for node in graph.nodes]
        # The products of devices that compute what follows from each element along with it.
        self.heads: set[int] = set()
        for index, node in enumerate(graph.nodes):
            if node.op in PRODUCTS and devices[index] != NUMPY and not node.after:
                self.rows[index] = spaces.of(node.types[0].shape)
                self.heads.add(index)
        # The nodes that add up rows.  A sum of what no region computes is a kernel.
        self.ends: set[int] = set()
        rowwise = {shape[:rank] for shape, rank in spaces.ranks.items()}
        for index, node in enumerate(graph.nodes):
            if node.op not in SUMS:
                continue
            rows = self.rows[index]
            producer = graph.producers[node.inputs[0]]
            near = producer not in self.ends and devices[producer] == devices[index]
            if rows is not None and sums_rows(node):
                if near and self.rows[producer] == rows:
                    self.ends.add(index)
                else:
                    self.rows[index] = None
            elif rows is None and near and devices[index] != NUMPY and sums_all(graph, node):
                # What adds up columns of rows adds up all of them, too; but not one number a row.
                if graph.types[node.inputs[0]].shape in rowwise:
                    continue
                self.rows[index] = self.rows[producer]
                if self.rows[producer] is not None:
                    self.ends.add(index)

    def fuses(self, producer: int, value: int, user: int) -> bool:
        """Whether the edge on which a fusable node gives a value to a user fuses."""
        rows, types, nodes = self.rows, self.graph.types, self.graph.nodes
        if rows[producer] != rows[user] or self.devices[producer] != self.devices[user]:
            return False
        if producer in self.ends or user in self.heads:
            return False
        node = nodes[user]
        if not OPS[node.op].elementwise:
            return True
        # Operands of another rank are aligned at the last axis, so that rows meet other rows.
        return len(types[value].shape) == len(types[node.start].shape)


def _regions(edges: _Edges) -> list[int]:
    """For each node the first node of its group, -1 for what is given."""
    nodes, producers, rows = edges.graph.nodes, edges.graph.producers, edges.rows
    count = len(nodes)
    level = [0] * count
    parent = list(range(count))
    for index, node in enumerate(nodes):
        if node.op in GIVEN:
            parent[index] = -1
            continue
        here = 0
        if rows[index] is not None:
            joined: list[int] = []
            for value in node.inputs:
                p = producers[value]
                at = level[p]
                if rows[p] is not None:
                    if edges.fuses(p, value, index):
                        joined.append(p)
                    else:
                        at += 1
                if at > here:
                    here = at
            level[index] = here
            for p in joined:
                if level[p] == here:
                    _join(parent, p, index)
        elif node.op not in ASKS_SIZES:
            for value in node.inputs:
                p = producers[value]
                at = level[p] + (rows[p] is not None)
                if at > here:
                    here = at
            for p in node.after:
                at = level[p] + (rows[p] is not None)
                if at > here:
                    here = at
            level[index] = here
    _sink(edges, level, parent)
    return [p if p < 0 else _root(parent, index) for index, p in enumerate(parent)]


def _sink(edges: _Edges, level: list[int], parent: list[int]) -> None:
    """Move regions up to the level of their users and join them.

    A region moves if at least as much leaves it as enters it computed: what leaves need not be
    stored then, while what enters is kept for longer.  Users are settled before what they
    use, because edges that leave a region raise the level.
    """
    graph, rows = edges.graph, edges.rows
    nodes, producers, types = graph.nodes, graph.producers, graph.types
    members: dict[int, list[int]] = {}
    users: dict[int, list[tuple[int, int]]] = {}
    for index, node in enumerate(nodes):
        if rows[index] is not None:
            members.setdefault(_root(parent, index), []).append(index)
        for value in node.inputs if node.op not in ASKS_SIZES else ():
            if rows[producers[value]] is not None:
                users.setdefault(producers[value], []).append((value, index))
        for before in node.after:
            if rows[before] is not None:
                users.setdefault(before, []).append((-1, index))
    for region in sorted(members, key=lambda root: -level[root]):
        here = level[region]
        inside = set(members[region])
        highest = 1 << 62
        joins: list[tuple[int, int]] = []
        leaving: set[int] = set()
        for index in members[region]:
            for value, user in users.get(index, ()):
                if user in inside:
                    continue
                fuses = value >= 0 and rows[user] is not None and edges.fuses(index, value, user)
                if value >= 0:
                    leaving.add(value)
                if fuses:
                    joins.append((index, user))
                highest = min(highest, level[user] if fuses else level[user] - 1)
        if highest <= here or all(level[u] != highest for _, u in joins):
            continue
        sizes = [_nominal_elements(types[value].shape) for value in leaving]
        entering = {
            value
            for index in members[region]
            for value in nodes[index].inputs
            if producers[value] not in inside and parent[producers[value]] >= 0
        }
        # Beside what leaves, operands that are broadcast do not count.
        taken = [
            size
            for value in entering
            if (size := _nominal_elements(types[value].shape)) * 8 > max(sizes)
        ]
        if sum(taken) > sum(sizes):
            continue
        for index in members[region]:
            level[index] = highest
        for index, user in joins:
            if level[user] == highest:
                _join(parent, index, user)


def _nominal_elements(shape: Shape) -> int:
    """The elements of a value, each size that is not known yet counting as `NOMINAL`."""
    return math.prod(NOMINAL if isinstance(size, Dim) else size for size in shape)


def _leave_views(edges: _Edges, region: list[int]) -> None:
    """Views that only bring values into a region, or out of it, become groups of their own."""
    nodes, producers = edges.graph.nodes, edges.graph.producers
    views = [
        index
        for index, node in enumerate(nodes)
        if node.op in ROW_VIEWS and edges.rows[index] is not None
    ]
    if not views:
        return
    count = len(nodes)
    for index in views:
        if region[producers[nodes[index].inputs[0]]] != region[index]:
            region[index] = count + index
    used: set[int] = set()
    waiting = set(views)
    for index in range(count - 1, -1, -1):
        if index in waiting and index not in used:
            region[index] = count + index
        for value in nodes[index].inputs:
            if region[producers[value]] == region[index]:
                used.add(producers[value])


def _root(parent: list[int], index: int) -> int:
    while parent[index] != index:
        parent[index] = parent[parent[index]]
        index = parent[index]
    return index


def _join(parent: list[int], a: int, b: int) -> None:
    a, b = _root(parent, a), _root(parent, b)
    # The smaller index becomes the root, so that a region is named by its first node.
    if a < b:
        parent[b] = a
    else:
        parent[a] = b


def _collect(
    program: Program,
    devices: tuple[str, ...],
    members: dict[int, list[int]],
    rows: list[Shape | None],
) -> tuple[list[int], list[Group]]:
    """The owner of each node, and the groups with what flows into and out of them."""
    graph = program.graph
    nodes, producers = graph.nodes, graph.producers
    owner = [-1] * len(nodes)
    for k, indices in enumerate(members.values()):
        for index in indices:
            owner[index] = k
    needed = bytearray(len(graph.types))
    for value in program.outputs:
        needed[value] = 1
    for index, node in enumerate(nodes):
        own = owner[index]
        for value in node.inputs if node.op not in ASKS_SIZES else ():
            if owner[producers[value]] != own:
                needed[value] = 1
    groups: list[Group] = []
    for k, indices in enumerate(members.values()):
        inputs: dict[int, None] = {}
        outputs: list[int] = []
        before: dict[int, None] = {}
        for index in indices:
            node = nodes[index]
            for value in node.inputs if node.op not in ASKS_SIZES else ():
                if owner[producers[value]] != k:
                    inputs[value] = None
            outputs += [v for v in node.outputs if needed[v]]
            for earlier in node.after:
                if owner[earlier] >= 0:
                    before[owner[earlier]] = None
        first = nodes[indices[0]]
        kind: GroupKind = "kernel"
        if len(indices) > 1 or (OPS[first.op].elementwise and not first.after):
            kind = "region"
        elif first.op in VIEWS:
            kind = "view"
        groups.append(
            Group(kind, devices[indices[0]], tuple(indices), tuple(inputs), tuple(outputs),
                  tuple(before), _row_rank(graph, indices, rows))
        )  # fmt: skip
    # Outside effects happen in the order in which they were written down.
    last = -1
    for index in program.effects:
        k = owner[index]
        if last >= 0:
            groups[k] = groups[k]._replace(before=(*groups[k].before, last))
        last = k
    return owner, groups


def _row_rank(graph: Graph, indices: list[int], rows: list[Shape | None]) -> int:
    """How many axes are rows; -1 for a kernel, a view, or elementwise nodes of one shape."""
    own, nodes = rows[indices[0]], graph.nodes
    if own is None or nodes[indices[0]].op in ROW_VIEWS:
        return -1
    first = nodes[indices[0]]
    if len(indices) == 1 and (first.op in PRODUCTS or (first.op in SUMS and sums_rows(first))):
        return -1
    shape = graph.types[nodes[indices[0]].start].shape
    if all(
        OPS[nodes[i].op].elementwise and graph.types[nodes[i].start].shape == shape for i in indices
    ):
        return -1
    return len(own)


def predecessors(groups: list[Group] | tuple[Group, ...], owner: list[int] | tuple[int, ...],
                 graph: Graph) -> list[list[int]]:  # fmt: skip
    """For each group those that must run before it."""
    producers = graph.producers
    return [
        sorted({*[o for v in g.inputs if (o := owner[producers[v]]) >= 0], *g.before})
        for g in groups
    ]


def _topological(groups: list[Group], owner: list[int], graph: Graph) -> list[int]:
    """An order in which the groups can run, near the order of their first nodes."""
    earlier = predecessors(groups, owner, graph)
    order: list[int] = []
    state = bytearray(len(groups))
    for first in range(len(groups)):
        stack = [first]
        while stack:
            k = stack[-1]
            if state[k] == 2:
                stack.pop()
                continue
            waiting = [p for p in earlier[k] if state[p] != 2] if state[k] == 0 else []
            state[k] = 1
            if waiting:
                stack.extend(reversed(waiting))
            else:
                state[k] = 2
                order.append(k)
                stack.pop()
    return order


def renumbered(grouped: Grouped, order: list[int]) -> Grouped:
    """The same groups in another order."""
    place = [0] * len(order)
    for position, k in enumerate(order):
        place[k] = position
    groups = tuple(
        g._replace(before=tuple(place[b] for b in g.before)) if g.before else g
        for g in (grouped.groups[k] for k in order)
    )
    owner = tuple(place[o] if o >= 0 else -1 for o in grouped.owner)
    return Grouped(grouped.program, groups, owner, grouped.notes)
