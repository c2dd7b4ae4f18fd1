"""A program whose sizes are found while it runs, cut into programs whose sizes are known.

What needs a size comes after the node that finds it, so every node has a stage: the greatest
of its operands' and of those it waits for, one more for what is found.  The nodes of a stage
are a segment, a program like any other; when it has run, the stage's finders run by their
meaning, and then all sizes of the next segment are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from staticad_schema import dims
from staticad_schema.node import Node
from staticad_schema.run_time_sizes import Needs, finders_of, symbols_of_node

from ..program import RANDOM, VIEWS, Program, Source, empty_like

# What looks at as much as it gives, or at less, or at nothing: each segment has its own.
_SHARED = VIEWS - {"slice", "after", "hold"} | {"constant", "iota"}


@dataclass(frozen=True, eq=False)
class Segment:
    """program: the nodes of a stage.  Its sources are those of the whole, or values of earlier
    segments ("carried").  gives: of each fetch of the program the value of the whole, and its
    position among the fetches of the whole, -1 if it is none.  finders: the nodes of the whole
    that find sizes when the program has run.  spent: values of the whole that no later segment
    looks at."""

    program: Program
    gives: tuple[tuple[int, int], ...]
    finders: tuple[int, ...]
    spent: tuple[int, ...]


def cut(program: Program) -> tuple[Segment, ...]:
    """The segments of a program, in the order in which they run."""
    return _Cut(program).segments()


class _Cut:
    """The stages of a program's nodes, and what each segment has to give to others."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.graph = program.graph
        nodes = self.graph.nodes
        self.by_symbol = finders_of(nodes)
        self.finders = frozenset(self.by_symbol.values())
        self.sources = {source.value: source for source in program.sources}
        self.stages = self._stages()
        self.count = 1 + max(
            (stage + (index in self.finders) for index, stage in enumerate(self.stages)), default=0
        )
        self.tells = self._tells()
        self.shared = [node.op in _SHARED and not node.after for node in nodes]
        self.own: list[list[int]] = [[] for _ in range(self.count)]
        self.finding: list[list[int]] = [[] for _ in range(self.count)]
        for index, node in enumerate(nodes):
            if index in self.finders:
                self.finding[self.stages[index]].append(index)
            elif not self.shared[index] and node.start not in self.sources:
                self.own[self.stages[index]].append(index)
        # The values that a segment gives to later ones or to finders, and is asked for.
        self.asked: list[dict[int, None]] = [{} for _ in range(self.count)]
        self.fetched: list[list[int]] = [[] for _ in range(self.count)]
        for position, value in enumerate(program.fetches):
            self.fetched[self.home(value)].append(position)
        self.written: list[list[tuple[str, int]]] = [[] for _ in range(self.count)]
        for name, value in program.writes:
            self.written[self.home(value)].append((name, value))

    def _stages(self) -> list[int]:
        producers, needs = self.graph.producers, Needs(self.by_symbol)
        effects = frozenset(self.program.effects)
        stages: list[int] = []
        latest = 0
        for index, node in enumerate(self.graph.nodes):
            before = {producers[v] for v in node.inputs}.union(node.after, needs.of(node))
            stage = max((stages[p] + (p in self.finders) for p in before), default=0)
            if index in effects:
                # Outside effects happen in the order in which they were written down.
                stage = latest = max(stage, latest)
            stages.append(stage)
        return stages

    def given(self, value: int) -> bool:
        """Whether a value is there without a segment: a source, or what a finder gives."""
        return value in self.sources or self.graph.producers[value] in self.finders

    def home(self, value: int) -> int:
        """The segment that hands a value out."""
        return self.count - 1 if self.given(value) else self.stages[self.graph.producers[value]]

    def segments(self) -> tuple[Segment, ...]:
        """All of them; found from the last to the first, which is asked by all."""
        made: list[tuple[Program, tuple[tuple[int, int], ...], list[int]]] = []
        for k in reversed(range(self.count)):
            made.append(self.segment(k))
        made.reverse()
        last: dict[int, int] = {}
        for k, (_, gives, outside) in enumerate(made):
            operands = [v for i in self.finding[k] for v in self.graph.nodes[i].inputs]
            for value in [*outside, *operands, *[v for v, _ in gives]]:
                last[value] = k
        return tuple(
            Segment(
                program, gives, tuple(self.finding[k]),
                tuple(sorted(v for v, at in last.items() if at == k and v not in self.sources)),
            )
            for k, (program, gives, _) in enumerate(made)
        )  # fmt: skip

    def segment(self, k: int) -> tuple[Program, tuple[tuple[int, int], ...], list[int]]:
        """The program of a stage, what it gives, and the values it takes from outside."""
        nodes, producers = self.graph.nodes, self.graph.producers
        for index in self.finding[k]:
            for value in nodes[index].inputs:
                if not self.given(value):
                    self.asked[self.stages[producers[value]]][value] = None
        fetches = [(self.program.fetches[position], position) for position in self.fetched[k]]
        known = {value for value, _ in fetches}
        gives = (*fetches, *((v, -1) for v in self.asked[k] if v not in known))
        members, outside = self.members(k, [v for v, _ in gives] + [v for _, v in self.written[k]])
        for value in outside:
            if not self.given(value):
                self.asked[self.stages[producers[value]]][value] = None
        outside += self.tellers(members, outside)
        return self.copied(k, members, outside, gives), gives, outside

    def members(self, k: int, wanted: list[int]) -> tuple[list[int], list[int]]:
        """The nodes of a segment, ascending, and the values that they take from outside."""
        nodes, producers = self.graph.nodes, self.graph.producers
        members = set(self.own[k])
        outside: dict[int, None] = {}
        waiting = wanted + [v for index in self.own[k] for v in nodes[index].inputs]
        while waiting:
            value = waiting.pop()
            index = producers[value]
            if index in members:
                continue
            if self.given(value) or not self.shared[index]:
                outside[value] = None
            else:
                members.add(index)
                waiting += nodes[index].inputs
        return sorted(members), sorted(outside)

    def tellers(self, members: list[int], outside: list[int]) -> list[int]:
        """Values that are looked at only because their shapes tell a size that is needed."""
        needed = set().union(*(symbols_of_node(self.graph.nodes[i]) for i in members))
        needed -= {name for value in outside for name in self.told(value)}
        found: dict[int, None] = {}
        for name in sorted(needed):
            value = self.tells.get(name)
            if value is not None:
                found[value] = None
        return list(found)

    def _tells(self) -> dict[str, int]:
        """For each size a value whose shape tells it: a source, or else what the finder gives.

        The finder's segment is an earlier one than any that needs the size.
        """
        tells: dict[str, int] = {}
        found = (v for i in self.by_symbol.values() for v in self.graph.nodes[i].outputs)
        for value in (*self.sources, *found):
            for name in self.told(value):
                tells.setdefault(name, value)
        return tells

    def told(self, value: int) -> Iterator[str]:
        """The symbols that stand alone for an axis of a value."""
        for size in self.graph.types[value].shape:
            name = size.symbol() if isinstance(size, dims.Dim) else None
            if name is not None:
                yield name

    def copied(
        self, k: int, members: list[int], outside: list[int], gives: tuple[tuple[int, int], ...]
    ) -> Program:
        """The program of these nodes over these values."""
        graph, out = self.graph, empty_like(self.graph)
        values: dict[int, int] = {}
        sources = []
        for position, value in enumerate(outside):
            type_, node = graph.types[value], graph.nodes[graph.producers[value]]
            start = values[value] = len(out.types)
            own = self.sources.get(value)
            sources.append(
                Source("carried", start, value) if own is None
                else Source(own.kind, start, own.original)
            )  # fmt: skip
            attributes = {"index": position, "dtype": type_.dtype, "shape": type_.shape}
            out.append_trusted(
                Node(
                    "parameter", (), attributes, (type_,), start, (), graph.value_name(value), "",
                    None, node.site, node.forward_site,
                )
            )  # fmt: skip
        places: dict[int, int] = {}
        for index in members:
            node = graph.nodes[index]
            start = len(out.types)
            places[index] = len(out.nodes)
            values.update(zip(node.outputs, range(start, start + len(node.types)), strict=True))
            out.append_trusted(
                node._replace(
                    inputs=tuple([values[v] for v in node.inputs]),
                    # What an earlier segment did has been done.
                    after=tuple([places[i] for i in node.after if i in places]),
                    start=start,
                )
            )
        return Program(
            out,
            tuple(sources),
            tuple(values[v] for v, _ in gives),
            tuple((name, values[v]) for name, v in self.written[k]),
            tuple(places[i] for i in self.program.effects if i in places),
            any(graph.nodes[i].op in RANDOM for i in members),
        )
