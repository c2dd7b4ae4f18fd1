"""How long values are kept, step by step, and what it would take to compute them again.

A value is born where it is computed and needed until its last use.  Computed again before a
later use, it has several lives, between which its memory is free.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from staticad_schema.op import CALLERS, FINDERS, OPS
from staticad_schema.types import nbytes

from ..devices.numpy.cost import seconds
from ..devices.numpy.kernels import Kernel
from .draft import Draft

Time = float
"""A group's time is its position; what is computed again comes between positions."""

# Of a step, and of a byte that enters or leaves it.
CALL_NS = 1000.0
BYTE_NS = 0.1


class Part(NamedTuple):
    """What computes some values of a group: its nodes, the stored values it reads, its cost in
    nanoseconds, and the bytes that it takes beyond those of the values."""

    nodes: tuple[int, ...]
    reads: tuple[int, ...]
    cost: float
    extra: int


class Change(NamedTuple):
    """What `Lifetimes.repeat` did, to undo it."""

    keys: list[Time]
    own: Any
    live: Any
    starts: dict[int, list[Time]]
    uses: dict[int, list[Time]]
    repeats: tuple[Time, ...]


class Lifetimes:
    """The lives of the stored values of a draft.

    size: the bytes of each stored value, 0 for what is written into an output.  home: the group
    that computes it.  keys: the times, ascending.  live: the bytes in use at each of them.
    starts, uses: for each value the times at which it is computed and read.  repeats: for each
    time that is not a group's, the group and the values of it that are computed again.  taken:
    what each group takes while it runs, beyond its values.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.grouped = draft.bound.grouped
        self.base: dict[int, int] = {}
        for value, (source, _) in draft.views.items():
            self.base[value] = self.base.get(source, source)
        for copy, value in draft.originals.items():
            # Who reads a copy could as well make it, from what it is a copy of.
            self.base.setdefault(copy, self.base.get(value, value))
        self.size: dict[int, int] = {}
        self.home: dict[int, int] = {}
        self.starts: dict[int, list[Time]] = {}
        self.uses: dict[int, list[Time]] = {}
        self.repeats: dict[Time, tuple[int, tuple[int, ...]]] = {}
        self.taken: dict[int, int] = {}
        self._parts: dict[tuple[int, tuple[int, ...]], Part] = {}
        self._movable: dict[int, bool] = {}
        homes = self._homes()
        self.taken |= dict.fromkeys(homes, 0)
        self.keys: list[Time] = [*sorted({float(g) for g in homes}), float("inf")]
        self.own = np.zeros(len(self.keys), np.int64)
        self.live = np.zeros(len(self.keys), np.int64)
        self._read(homes)
        for value in self.home:
            self._count(value, 1)
        self.live += self.own

    def _homes(self) -> list[int]:
        """The group of each instruction."""
        steps, owner = self.draft.steps, self.grouped.owner
        of_number = {
            number: owner[nodes[0]]
            for nodes, number in zip(steps.nodes, steps.numbers, strict=True)
            if nodes
        }
        return [of_number[number] for number in steps.numbers]

    def _read(self, homes: Sequence[int]) -> None:
        """Enter the reads and writes of all instructions."""
        draft, steps = self.draft, self.draft.steps
        made: dict[int, int] = {v: g for g, w in zip(homes, steps.writes, strict=True) for v in w}
        outputs = set(draft.program.outputs)
        read: dict[int, set[int]] = {}
        for position, g in enumerate(homes):
            for value in steps.reads[position]:
                root = self.base.get(value, value)
                if made.get(root, g) != g:
                    read.setdefault(root, set()).add(g)
        for value in outputs:
            root = self.base.get(value, value)
            if root in made:
                read.setdefault(root, set())
        for root, groups in read.items():
            self.home[root] = made[root]
            self.size[root] = 0 if root in outputs else nbytes(draft.types[root])
            self.starts[root] = [float(made[root])]
            self.uses[root] = [float(g) for g in sorted(groups)]
        for value in outputs:
            root = self.base.get(value, value)
            if root in self.home:
                self.uses[root].append(float("inf"))
        for position, g in enumerate(homes):
            kernel = steps.kernels[position]
            if isinstance(kernel, Kernel):
                self.taken[g] = max(self.taken[g], kernel.temporary_bytes)
        for g, taken in self.taken.items():
            self.own[self.index(float(g))] += taken
        self._in_place(homes)

    def _in_place(self, homes: Sequence[int]) -> None:
        """Results of regions take the memory of operands of their size that die with it."""
        for g in sorted(set(homes)):
            if self.grouped.groups[g].kind != "region":
                continue
            time = float(g)
            dying = [
                self.size[v]
                for v in self.grouped.groups[g].inputs
                if v in self.home and self.uses[v][-1:] == [time]
            ]
            for value in self.grouped.groups[g].outputs:
                size = self.size.get(value, 0)
                if size and size in dying:
                    dying.remove(size)
                    self.own[self.index(time)] -= size

    # ------------------------------------------------------------- asking

    @property
    def peak(self) -> int:
        """The most bytes in use at any time."""
        return int(self.live.max(initial=0))

    def index(self, time: Time) -> int:
        """The place of a time among `keys`."""
        return bisect_left(self.keys, time)

    def root(self, value: int) -> int:
        """The value whose memory a value is in."""
        return self.base.get(value, value)

    def life(self, value: int, time: Time) -> tuple[Time, Time]:
        """The life of a value that a use at this time would belong to: its start and last use."""
        starts, uses = self.starts[value], self.uses[value]
        k = bisect_right(starts, time) - 1
        end = starts[k + 1] if k + 1 < len(starts) else float("inf")
        last = bisect_left(uses, end) if k + 1 < len(starts) else len(uses)
        final = uses[last - 1] if last and uses[last - 1] >= starts[k] else starts[k]
        return starts[k], final

    def waits(self, value: int, time: Time) -> Time | None:
        """When a value is needed next that is kept unused at this time; None if it is not."""
        starts, uses = self.starts[value], self.uses[value]
        k = bisect_right(starts, time) - 1
        if k < 0 or starts[k] == time:
            return None
        following = bisect_left(uses, time)
        if following == len(uses) or uses[following] == time:
            return None
        if k + 1 < len(starts) and uses[following] >= starts[k + 1]:
            return None
        return uses[following]

    def movable(self, group: int) -> bool:
        """Whether a group computes the same whenever it runs."""
        found = self._movable.get(group)
        if found is None:
            nodes = self.draft.graph.nodes
            found = self._movable[group] = all(
                OPS[nodes[i].op].effect in ("pure", "random")
                and nodes[i].op not in FINDERS | CALLERS
                for i in self.grouped.groups[group].nodes
            )
        return found

    def part(self, group: int, values: tuple[int, ...]) -> Part:
        """What computes these values of a group: of a region the nodes that they need."""
        known = self._parts.get((group, values))
        if known is not None:
            return known
        graph, bound = self.draft.graph, self.draft.bound
        producers, owner = graph.producers, self.grouped.owner
        whole = self.grouped.groups[group]
        waiting = [producers[v] for v in values]
        wanted = set(waiting)
        while waiting:
            for value in graph.nodes[waiting.pop()].inputs:
                index = producers[value]
                if owner[index] == group and index not in wanted and index not in bound.folded:
                    wanted.add(index)
                    waiting.append(index)
        nodes = tuple(sorted(wanted))
        reads: dict[int, None] = {}
        types = self.draft.types
        ns = CALL_NS
        traffic = sum(nbytes(types[v]) for v in values)
        for index in nodes:
            node = graph.nodes[index]
            for value in node.inputs:
                if producers[value] not in wanted:
                    traffic += nbytes(types[value])
                    root = self.root(value)
                    if root in self.home:
                        reads[root] = None
            sides = ([types[v] for v in side] for side in (node.inputs, node.outputs))
            ns += seconds(node.op, *sides) * 1e9
        extra = 0
        if len(whole.nodes) == 1:
            extra = self.taken[group] + sum(
                nbytes(types[v]) for v in graph.nodes[nodes[0]].outputs if v not in values
            )
        found = Part(nodes, tuple(reads), ns + traffic * BYTE_NS, extra)
        self._parts[group, values] = found
        return found

    # ------------------------------------------------------------- changing

    def repeat(
        self, time: Time, again: Sequence[tuple[int, tuple[int, ...]]], kept: Iterable[int]
    ) -> Change:
        """Compute values of groups again before this time, in this order, and keep others until
        then."""
        parts = [self.part(g, values) for g, values in again]
        touched = {v for part in parts for v in part.reads}
        touched |= {v for _, values in again for v in values}
        touched.update(kept)
        before = Change(
            self.keys, self.own, self.live, {v: self.starts[v] for v in touched},
            {v: self.uses[v] for v in touched}, self._between(time, len(again)),
        )  # fmt: skip
        at = self.index(time)
        through = self.live[at] - self.own[at] - self._born(time)
        self.keys = [*self.keys[:at], *before.repeats, *self.keys[at:]]
        self.own = np.insert(self.own, at, [part.extra for part in parts])
        self.live = np.insert(self.live, at, [through + part.extra for part in parts])
        for value in touched:
            self._count(value, -1)
            self.starts[value] = list(self.starts[value])
            self.uses[value] = list(self.uses[value])
        for key, (g, values), part in zip(before.repeats, again, parts, strict=True):
            self.repeats[key] = g, values
            for value in values:
                insort(self.starts[value], key)
            for value in part.reads:
                if key not in self.uses[value]:
                    insort(self.uses[value], key)
        for value in touched:
            self._count(value, 1)
        return before

    def undo(self, change: Change) -> None:
        """As it was before."""
        self.keys, self.own, self.live = change.keys, change.own, change.live
        self.starts |= change.starts
        self.uses |= change.uses
        for key in change.repeats:
            del self.repeats[key]

    def _between(self, time: Time, count: int) -> tuple[Time, ...]:
        """Times before this one, and after all that are before it."""
        at = self.index(time)
        low = self.keys[at - 1] if at else -1.0
        high = time if math.isfinite(time) else low + 1.0
        return tuple(low + (high - low) * (k + 1) / (count + 1) for k in range(count))

    def _born(self, time: Time) -> int:
        """The bytes of the values that are computed at a time."""
        if time in self.repeats:
            return sum(self.size[v] for v in self.repeats[time][1])
        if not math.isfinite(time):
            return 0
        return sum(self.size.get(v, 0) for v in self.grouped.groups[int(time)].outputs)

    def _lives(self, value: int) -> Iterator[tuple[int, int]]:
        """The lives of a value, as ranges of places among `keys`."""
        for start in self.starts[value]:
            first, last = self.life(value, start)
            yield self.index(first), self.index(last) + 1

    def _count(self, value: int, sign: int) -> None:
        size = self.size[value]
        if size:
            for start, stop in self._lives(value):
                self.live[start:stop] += sign * size
