"""A grouped program in which some values are computed again.

Groups keep their order; before some of them stand copies of others, whose values take the place
of the first ones from there on.  A copy of a region joins the region that it is made for, if
that has its shape: then the value is not stored at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from staticad_schema.dims import Shape
from staticad_schema.op import OPS
from staticad_schema.types import array_type

from ..program import GIVEN, empty_like, rewired
from .group import Group, Grouped
from .lifetimes import Lifetimes, Time

NEVER = float("inf")


def repeated(lifetimes: Lifetimes, notes: tuple[str, ...]) -> Grouped:
    """The groups with those that `lifetimes` repeats."""
    return _Repeating(lifetimes).run(notes)


class _Repeating:
    """The extended program under construction.

    values: for each value the one that stands for it at present.  looked: for each view what
    the present one looks at.  indices: for each node its first copy.
    """

    def __init__(self, lifetimes: Lifetimes) -> None:
        self.lifetimes = lifetimes
        self.grouped = lifetimes.grouped
        self.program = self.grouped.program
        self.graph = self.program.graph
        self.bound = lifetimes.draft.bound
        self.types = lifetimes.draft.types
        self.out = empty_like(self.graph)
        self.values = [-1] * len(self.graph.types)
        self.looked: dict[int, int] = {}
        self.indices = [-1] * len(self.graph.nodes)
        self.groups: list[Group] = []
        self.owner: list[int] = []
        self.places = [-1] * len(self.grouped.groups)

    def run(self, notes: tuple[str, ...]) -> Grouped:
        for index, node in enumerate(self.graph.nodes):
            if node.op in GIVEN:
                self.copy(index, -1)
        for index in sorted(self.bound.folded):
            self.constants(index)
        before: dict[int, list[Time]] = {}
        end = len(self.grouped.groups)
        for time in sorted(self.lifetimes.repeats):
            # The first group behind it, which is what it is repeated for.
            following = self.lifetimes.keys[self.lifetimes.index(time) :]
            target = next(t for t in following if t not in self.lifetimes.repeats)
            before.setdefault(int(target) if target < end else end, []).append(time)
        for g, group in enumerate(self.grouped.groups):
            self.group(g, group, before.get(g, ()))
        for time in before.get(end, ()):
            self.again(time)
        for value in self.program.outputs:
            self.resolve(value)
        program = rewired(self.program, self.out, self.values, self.indices)
        return self.finished(Grouped(program, (), (), (*self.grouped.notes, *notes)))

    def group(self, g: int, group: Group, before: Iterable[Time]) -> None:
        """A group behind what is computed again for it."""
        times = list(before)
        joining = self.joining(g, group, times)
        for time in times:
            if time not in joining:
                self.again(time)
        self.places[g] = self.copies([*(t for t in times if t in joining), float(g)], group)

    def nodes(self, time: Time) -> tuple[int, ...]:
        """The nodes of what runs at a time."""
        if time not in self.lifetimes.repeats:
            return self.grouped.groups[int(time)].nodes
        return self.lifetimes.part(*self.lifetimes.repeats[time]).nodes

    def joining(self, g: int, group: Group, times: list[Time]) -> set[Time]:
        """The repeated regions that become part of a region: those of its shape whose values
        nothing else reads."""
        inside: set[Time] = {float(g)}
        shape = self.shape(group.nodes)
        if shape is None:
            return inside
        for time in reversed(times):
            again, values = self.lifetimes.repeats[time]
            if (
                self.grouped.groups[again].device == group.device
                and self.shape(self.nodes(time)) == shape
                and self.readers(values, time) <= inside
            ):
                inside.add(time)
        return inside

    def shape(self, nodes: Iterable[int]) -> Shape | None:
        """The shape of elementwise nodes that can be one region."""
        shapes: set[Shape] = set()
        for index in nodes:
            node = self.graph.nodes[index]
            if not OPS[node.op].elementwise or node.after:
                return None
            shapes.add(self.types[node.start].shape)
        return shapes.pop() if len(shapes) == 1 else None

    def readers(self, values: Sequence[int], time: Time) -> set[Time]:
        """When values are read that are computed at this time; never, where that is through a
        view."""
        found: set[Time] = set()
        for value in values:
            starts, uses = self.lifetimes.starts[value], self.lifetimes.uses[value]
            end = next((t for t in starts if t > time), NEVER)
            found.update(t for t in uses if time <= t < end or t == end == NEVER)
        for reader in found - {NEVER}:
            for index in self.nodes(reader):
                for v in self.graph.nodes[index].inputs:
                    if v not in values and self.lifetimes.root(v) in values:
                        return {NEVER}
        return found

    def again(self, time: Time) -> None:
        """A copy of a group, as a group of its own."""
        g, _ = self.lifetimes.repeats[time]
        self.copies([time], self.grouped.groups[g])

    def copies(self, times: Sequence[Time], group: Group) -> int:
        """What runs at these times as one group like this one, over the present values; its
        place."""
        producers, folded = self.graph.producers, self.bound.folded
        parts = [[i for i in self.nodes(time) if i not in folded] for time in times]
        own = {index for part in parts for index in part}
        for index in own:
            for value in self.graph.nodes[index].inputs:
                if producers[value] not in own:
                    self.resolve(value)
        self.groups.append(group)
        for time, part in zip(times, parts, strict=True):
            present = {v: self.values[v] for i in part for v in self.graph.nodes[i].outputs}
            for index in part:
                self.copy(index, len(self.groups) - 1)
            if time in self.lifetimes.repeats:
                # Of what is only on the way the values that were there stay.
                _, made = self.lifetimes.repeats[time]
                for value, earlier in present.items():
                    if value not in made:
                        self.values[value] = earlier
        return len(self.groups) - 1

    def resolve(self, value: int) -> None:
        """Renew a view, and those that it looks through, if they look at what is no more."""
        views = self.lifetimes.draft.views
        chain = []
        while value in views:
            chain.append(value)
            value = views[value][0]
        for view in reversed(chain):
            source = views[view][0]
            if self.looked.get(view) != self.values[source]:
                index = self.graph.producers[view]
                device = self.grouped.groups[self.grouped.owner[index]].device
                self.groups.append(Group("view", device, (), (), ()))
                self.copy(index, len(self.groups) - 1)

    def copy(self, index: int, place: int) -> None:
        """A copy of a node over the present values, in a group."""
        node = self.graph.nodes[index]
        start = len(self.out.types)
        inputs = tuple([self.values[v] for v in node.inputs])
        if self.indices[index] < 0:
            self.indices[index] = len(self.out.nodes)
        self.out.append_trusted(
            node._replace(
                inputs=inputs, start=start, after=tuple([self.indices[i] for i in node.after])
            )
        )
        self.owner.append(place)
        for k, value in enumerate(node.outputs):
            self.values[value] = start + k
            if value in self.lifetimes.draft.views:
                self.looked[value] = inputs[0]

    def constants(self, index: int) -> None:
        """What a node is that has become constant: its operands may come later."""
        node = self.graph.nodes[index]
        self.indices[index] = len(self.out.nodes)
        for value in node.outputs:
            start = self.values[value] = len(self.out.types)
            array = self.bound.constants[value]
            self.out.append_trusted(
                node._replace(
                    op="constant", inputs=(), attributes={"value": array}, after=(),
                    types=(array_type(array),), start=start,
                )
            )  # fmt: skip
            self.owner.append(-1)

    def finished(self, grouped: Grouped) -> Grouped:
        """The groups with what flows into and out of them."""
        nodes, producers, owner = self.out.nodes, self.out.producers, self.owner
        members: list[list[int]] = [[] for _ in self.groups]
        needed = bytearray(len(self.out.types))
        for value in grouped.program.outputs:
            needed[value] = 1
        inputs: list[dict[int, None]] = [{} for _ in self.groups]
        for index, node in enumerate(nodes):
            own = owner[index]
            if own >= 0:
                members[own].append(index)
            for value in node.inputs:
                if owner[producers[value]] != own:
                    needed[value] = 1
                    inputs[own][value] = None
        groups = tuple(
            group._replace(
                nodes=tuple(members[k]), inputs=tuple(inputs[k]),
                outputs=tuple(v for i in members[k] for v in nodes[i].outputs if needed[v]),
                before=tuple(self.places[b] for b in group.before),
            )
            for k, group in enumerate(self.groups)
        )  # fmt: skip
        return Grouped(grouped.program, groups, tuple(owner), grouped.notes)
