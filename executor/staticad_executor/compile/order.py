"""Stage 5: the order of the groups, for low peak memory.

Two orders are simulated, the one in which the user wrote things down and a greedy one that
prefers groups that free more than they take; the one with the lower peak wins.  Symbols of
sizes that are not known yet count as `NOMINAL`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from staticad_schema.dims import Dim
from staticad_schema.graph import Graph

from .group import NOMINAL, Grouped, predecessors, renumbered


def order(grouped: Grouped) -> Grouped:
    """The same groups in the better order; the same object if that is the given one."""
    graph = grouped.program.graph
    if len(grouped.groups) < 3:
        return grouped
    base = _storage(grouped)
    sizes = _nominal_bytes(graph)
    given = list(range(len(grouped.groups)))
    greedy = _greedy(grouped, base, sizes)
    if _peak(grouped, greedy, base, sizes) < _peak(grouped, given, base, sizes):
        return renumbered(grouped, greedy)
    return grouped


def _nominal_bytes(graph: Graph) -> list[int]:
    sizes: list[int] = []
    known: dict[int, int] = {}
    for type_ in graph.types:
        found = known.get(id(type_))
        if found is None:
            shape = type_.shape
            found = type_.dtype.itemsize * math.prod(
                NOMINAL ** len(d.symbols()) if isinstance(d, Dim) else d for d in shape
            )
            known[id(type_)] = found
        sizes.append(found)
    return sizes


def _storage(grouped: Grouped) -> dict[int, int]:
    """For each value that crosses groups the value whose memory it looks at; given values and
    views of them are left out."""
    base: dict[int, int] = {}
    for group in grouped.groups:
        for value in group.outputs:
            if group.kind == "view":
                source = group.inputs[0]
                if source in base:
                    base[value] = base[source]
            else:
                base[value] = value
    for value in grouped.program.outputs:
        base.pop(value, None)
    return base


def _uses(grouped: Grouped, base: dict[int, int]) -> list[list[int]]:
    """For each group the stored values that it reads."""
    return [
        sorted({base[v] for v in group.inputs if v in base}) if group.kind != "view" else []
        for group in grouped.groups
    ]


def _greedy(grouped: Grouped, base: dict[int, int], sizes: Sequence[int]) -> list[int]:
    groups = grouped.groups
    earlier = predecessors(groups, grouped.owner, grouped.program.graph)
    later: list[list[int]] = [[] for _ in groups]
    missing = [len(e) for e in earlier]
    for k, before in enumerate(earlier):
        for b in before:
            later[b].append(k)
    reads = _uses(grouped, base)
    left: dict[int, int] = {}
    for values in reads:
        for value in values:
            left[value] = left.get(value, 0) + 1

    def cost(k: int) -> int:
        group = groups[k]
        if group.kind == "view":
            return -(1 << 62)
        taken = sum(sizes[v] for v in group.outputs if base.get(v) == v)
        return taken - sum(sizes[v] for v in reads[k] if left[v] == 1)

    ready = [(cost(k), k) for k in range(len(groups)) if not missing[k]]
    heapq.heapify(ready)
    result: list[int] = []
    while ready:
        _, k = heapq.heappop(ready)
        result.append(k)
        for value in reads[k]:
            left[value] -= 1
        for follower in later[k]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, (cost(follower), follower))
    return result


def _peak(
    grouped: Grouped, order: Sequence[int], base: dict[int, int], sizes: Sequence[int]
) -> int:
    """The most bytes that are live at once when the groups run in this order."""
    reads = _uses(grouped, base)
    last: dict[int, int] = {}
    for position, k in enumerate(order):
        for value in grouped.groups[k].outputs:
            if base.get(value) == value:
                last[value] = position
        for value in reads[k]:
            last[value] = position
    freed: dict[int, int] = {}
    for value, position in last.items():
        freed[position] = freed.get(position, 0) + sizes[value]
    live = peak = 0
    for position, k in enumerate(order):
        live += sum(sizes[v] for v in grouped.groups[k].outputs if base.get(v) == v)
        peak = max(peak, live)
        live -= freed.get(position, 0)
    return peak
