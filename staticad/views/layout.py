"""Where boxes of a picture stand: forward nodes run down on the left, gradients up on the right.

Nodes of one scope stand together.  The layout is a function of the graph alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from .chosen import Chosen

SWEEPS = 8  # of ordering each row by its neighbours


class Box(NamedTuple):
    """A node's place: row and column count from the top left; columns may be fractions."""

    kind: str  # "forward", "gradient" or "state"
    row: int
    column: float


class Lane(NamedTuple):
    """The rectangle of a scope on one side: rows and columns, the last ones included."""

    side: str  # "forward" or "gradient"
    scope: str
    rows: tuple[int, int]
    columns: tuple[float, float]


def rows_of(shown: Chosen) -> dict[int, int]:
    """Forward nodes below what they take, gradient nodes above it, state above the gradients."""
    kinds = shown.kinds
    depth: dict[int, int] = {}
    for index in shown.nodes:
        before = (*shown.sources[index], *shown.after[index])
        same = [depth[j] for j in before if kinds[j] == kinds[index]]
        depth[index] = 1 + max(same, default=-1)
    for index in reversed(shown.nodes):
        followers = [depth[j] for j in shown.users[index] if kinds[j] == kinds[index]]
        if followers:
            depth[index] = min(followers) - 1  # just before the first that needs it
    tall = dict.fromkeys(("forward", "gradient", "state"), 0)
    for index, d in depth.items():
        tall[kinds[index]] = max(tall[kinds[index]], d + 1)
    bottom = max(tall["forward"], tall["gradient"] + tall["state"]) - 1
    start = {
        "forward": bottom - tall["forward"] + 1,
        "gradient": bottom,
        "state": bottom - tall["gradient"],
    }
    return {
        index: start[kinds[index]] + (d if kinds[index] == "forward" else -d)
        for index, d in depth.items()
    }


def arrange(members: Iterable[list[int]], neighbours: dict[int, list[int]]) -> dict[int, float]:
    """A column for every node of the rows, near the mean column of its neighbours."""
    rows = [list(row) for row in members]
    width = max((len(row) for row in rows), default=1)
    column: dict[int, float] = {}

    def spread(row: list[int]) -> None:
        for place, index in enumerate(row):
            column[index] = place + (width - len(row)) / 2

    def middle(index: int) -> float:
        near = [column[j] for j in neighbours[index] if j in column]
        return sum(near) / len(near) if near else column[index]

    for row in rows:
        spread(row)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            row.sort(key=lambda index: (middle(index), index))
            spread(row)
    return column


def layout(shown: Chosen) -> tuple[dict[int, Box], list[Lane]]:
    """The place of every node, and the rectangles of the outermost scopes."""
    rows = rows_of(shown)
    neighbours: dict[int, list[int]] = defaultdict(list)
    for index in shown.nodes:
        for source in shown.sources[index]:
            neighbours[index].append(source)
            neighbours[source].append(index)
    lanes: list[Lane] = []
    columns: dict[int, float] = {}
    start = 0.0
    for side in ("forward", "gradient"):
        groups: dict[str, dict[int, list[int]]] = {}
        for index in shown.nodes:
            if (shown.kinds[index] == "forward") == (side == "forward"):
                scope = shown.graph.nodes[index].scope.partition("/")[0]
                groups.setdefault(scope, defaultdict(list))[rows[index]].append(index)
        placed: list[Lane] = []
        for scope in sorted(groups, key=lambda s: (min(groups[s]), s)):
            by_row = groups[scope]
            found = arrange((by_row[row] for row in sorted(by_row)), neighbours)
            lane = _free(
                side, scope, (min(by_row), max(by_row)), max(found.values()), placed, start
            )
            placed.append(lane)
            columns |= {index: lane.columns[0] + column for index, column in found.items()}
        lanes += placed
        start = 1 + max((lane.columns[1] for lane in placed), default=start - 1)
    boxes = {i: Box(shown.kinds[i], rows[i], columns[i]) for i in shown.nodes}
    return boxes, [lane for lane in lanes if lane.scope]


def _free(
    side: str, scope: str, rows: tuple[int, int], width: float, placed: list[Lane], start: float
) -> Lane:
    """The leftmost place where no other lane has one of these rows."""
    beside = [o for o in placed if o.rows[0] <= rows[1] and rows[0] <= o.rows[1]]
    # Behind the last of them there is room.
    return next(
        Lane(side, scope, rows, (at, at + width))
        for at in sorted({start, *(other.columns[1] + 1 for other in beside)})
        if all(o.columns[1] < at or at + width < o.columns[0] for o in beside)
    )
