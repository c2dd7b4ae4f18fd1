"""Stage 4: which nodes run as one step.

Elementwise nodes of one shape that feed each other become a region; any other node is a step
of its own, a kernel; what only looks at its operand in another shape is a view and no step.

**Why the grouping has no cycle.**  Every node gets a level: the greatest over its operands of
the operand's level, plus 1 if the operand is produced by an elementwise node and the edge
does not fuse (its other end is no elementwise node of the same shape and device).  So levels
never decrease along an edge, and every edge that leaves an elementwise node without fusing
raises it.  Nodes joined by fusing edges at one level form a region.  A cycle among groups
would stay at one level.  It contains a region (the graph itself has no cycle) and leaves that
region by some edge; the edge's start is an elementwise node, and its end is at the same
level, so the edge fuses, so its end is in the region: a contradiction.

Levels may then be raised as long as both properties last: a region moves up to the level of
its users, and so joins them, where no more has to be kept for that than before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from staticad_schema.graph import Graph
from staticad_schema.op import OPS
from staticad_schema.text import line

from ..program import Program
from .place import Placed

GroupKind = Literal["region", "kernel", "view"]

VIEWS = frozenset({"reshape", "permute_dims", "slice", "broadcast_to", "flip", "after", "identity",
                   "stop_gradient", "expect_shape"})  # fmt: skip
# No step computes these: they are there before the run.
GIVEN = frozenset({"parameter", "constant"})


class Group(NamedTuple):
    """One step to be.  nodes: indices, ascending.  inputs: values from outside.  outputs:
    values that others need.  before: groups that must have run beyond those of the inputs."""

    kind: GroupKind
    device: str
    nodes: tuple[int, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    before: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Grouped:
    """A program cut into groups, which are listed in an order in which they can run.

    owner: for each node the position of its group in `groups`, -1 for what is given.
    """

    program: Program
    groups: tuple[Group, ...]
    owner: tuple[int, ...]
    notes: tuple[str, ...] = ()

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
    region = _regions(graph, placed.devices)
    members: dict[int, list[int]] = {}
    for index in range(len(graph.nodes)):
        if region[index] >= 0:
            members.setdefault(region[index], []).append(index)
    owner, groups = _collect(program, placed.devices, members)
    ordered = _topological(groups, owner, graph)
    return renumbered(Grouped(program, tuple(groups), tuple(owner), placed.notes), ordered)


def _regions(graph: Graph, devices: tuple[str, ...]) -> list[int]:
    """For each node the first node of its group, -1 for what is given."""
    nodes, producers, types = graph.nodes, graph.producers, graph.types
    elementwise = {name for name, op in OPS.items() if op.elementwise}
    count = len(nodes)
    level = [0] * count
    fusable = bytearray(count)
    parent = list(range(count))
    for index, node in enumerate(nodes):
        if node.op in GIVEN:
            parent[index] = -1
            continue
        here = 0
        if node.op in elementwise and not node.after:
            fusable[index] = 1
            shape, device = node.types[0].shape, devices[index]
            joined: list[int] = []
            for value in node.inputs:
                p = producers[value]
                at = level[p]
                if fusable[p]:
                    if types[value].shape == shape and devices[p] == device:
                        joined.append(p)
                    else:
                        at += 1
                if at > here:
                    here = at
            level[index] = here
            for p in joined:
                if level[p] == here:
                    _join(parent, p, index)
        else:
            for value in node.inputs:
                p = producers[value]
                at = level[p] + fusable[p]
                if at > here:
                    here = at
            for p in node.after:
                at = level[p] + fusable[p]
                if at > here:
                    here = at
            level[index] = here
    _sink(graph, devices, level, fusable, parent)
    return [p if p < 0 else _root(parent, index) for index, p in enumerate(parent)]


def _sink(
    graph: Graph,
    devices: tuple[str, ...],
    level: list[int],
    fusable: bytearray,
    parent: list[int],
) -> None:
    """Move regions up to the level of their users and join them.

    A region moves if at least as many values leave it as computed ones of its shape enter it:
    what leaves need not be stored then, while what enters is kept for longer.  Users are
    settled before what they use, because edges that leave a region raise the level.
    """
    nodes, producers, types = graph.nodes, graph.producers, graph.types
    members: dict[int, list[int]] = {}
    users: dict[int, list[int]] = {}
    for index, node in enumerate(nodes):
        if fusable[index]:
            members.setdefault(_root(parent, index), []).append(index)
        for value in node.inputs:
            if fusable[producers[value]]:
                users.setdefault(producers[value], []).append(index)
        for before in node.after:
            if fusable[before]:
                users.setdefault(before, []).append(index)
    for region in sorted(members, key=lambda root: -level[root]):
        here = level[region]
        shape, device = types[nodes[region].start].shape, devices[region]
        inside = set(members[region])
        highest = 1 << 62
        joins: list[tuple[int, int]] = []
        leaving: set[int] = set()
        for index in members[region]:
            for user in users.get(index, ()):
                if user in inside:
                    continue
                leaving.add(index)
                fuses = (
                    fusable[user]
                    and types[nodes[user].start].shape == shape
                    and devices[user] == device
                )
                if fuses:
                    joins.append((index, user))
                highest = min(highest, level[user] if fuses else level[user] - 1)
        if not leaving or highest <= here or all(level[u] != highest for _, u in joins):
            continue
        entering = {
            value
            for index in members[region]
            for value in nodes[index].inputs
            if (p := producers[value]) not in inside
            and parent[p] >= 0
            and types[value].shape == shape
        }
        if len(entering) > len(leaving):
            continue
        for index in members[region]:
            level[index] = highest
        for index, user in joins:
            if level[user] == highest:
                _join(parent, index, user)


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
    program: Program, devices: tuple[str, ...], members: dict[int, list[int]]
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
        for value in node.inputs:
            if owner[producers[value]] != own:
                needed[value] = 1
    groups: list[Group] = []
    for k, indices in enumerate(members.values()):
        inputs: dict[int, None] = {}
        outputs: list[int] = []
        before: dict[int, None] = {}
        for index in indices:
            node = nodes[index]
            for value in node.inputs:
                if owner[producers[value]] != k:
                    inputs[value] = None
            outputs += [v for v in node.outputs if needed[v]]
            for earlier in node.after:
                if owner[earlier] >= 0:
                    before[owner[earlier]] = None
        op = nodes[indices[0]].op
        kind: GroupKind = "kernel"
        if OPS[op].elementwise and not nodes[indices[0]].after:
            kind = "region"
        elif op in VIEWS:
            kind = "view"
        groups.append(
            Group(kind, devices[indices[0]], tuple(indices), tuple(inputs), tuple(outputs),
                  tuple(before))
        )  # fmt: skip
    # Outside effects happen in the order in which they were written down.
    last = -1
    for index in program.effects:
        k = owner[index]
        if last >= 0:
            groups[k] = groups[k]._replace(before=(*groups[k].before, last))
        last = k
    return owner, groups


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
