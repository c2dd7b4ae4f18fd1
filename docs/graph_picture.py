"""A graph as an SVG picture: forward nodes run down on the left, gradient nodes up on the right.

The layout is a function of the graph alone, so the same graph gives the same bytes.  It is meant
for graphs that fit a page; it knows nothing of the ops but their names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

import staticad as sad
from staticad_schema import Graph
from staticad_schema.node import Node

BOX_WIDTH, BOX_HEIGHT = 128, 40
COLUMN, ROW = 148, 72
MARGIN, GUTTER = 24, 40
SWEEPS = 8  # of ordering each row by its neighbours

STYLE = """\
text { font: 13px ui-sans-serif, system-ui, sans-serif; text-anchor: middle; fill: #1f2937 }
.what { font-size: 11px; fill: #4b5563 }
.head { font-size: 14px; font-weight: 600 }
rect { stroke-width: 1.5; rx: 6 }
.page { fill: #ffffff; stroke: none; rx: 0 }
.forward { fill: #dbeafe; stroke: #2563eb }
.gradient { fill: #ffedd5; stroke: #ea580c }
.state { fill: #dcfce7; stroke: #16a34a }
path { fill: none; stroke: #6b7280; stroke-width: 1.2; marker-end: url(#arrow) }
.crossing { stroke: #ea580c; stroke-dasharray: 4 3; opacity: 0.65 }
.after { stroke: #16a34a; stroke-dasharray: 2 3 }
"""


class Box(NamedTuple):
    """A node's place: row and column count from the top left; columns may be fractions."""

    kind: str  # "forward", "gradient" or "state"
    row: int
    column: float


def sources_of(graph: Graph, node: Node) -> list[int]:
    """Indices of the nodes whose values this one takes, each once; a variable's initial value."""
    values = list(node.inputs)
    if node.op == "variable":
        values.append(graph.variable_specs[node.attributes["variable"]].initial)
    return list(dict.fromkeys(graph.producers[i] for i in values))


def users_of(graph: Graph) -> dict[int, list[int]]:
    """For each node those that take its values or run after it."""
    users: dict[int, list[int]] = defaultdict(list)
    for index, node in enumerate(graph.nodes):
        for source in (*sources_of(graph, node), *node.after):
            users[source].append(index)
    return users


def kinds_of(graph: Graph, users: dict[int, list[int]]) -> list[str]:
    """What the picture tells apart: what gradients() made, what it made writes of, the rest."""
    kinds: list[str] = []
    for node in graph.nodes:
        before = {kinds[j] for j in sources_of(graph, node)}
        if node.definition.effect == "writes" or not node.types:
            kinds.append("state")
        elif node.forward_site:
            kinds.append("gradient")
        else:
            kinds.append("state" if before - {"forward"} else "forward")
    for index in reversed(range(len(kinds))):
        # A constant stands with those that use it.
        followers = {kinds[j] for j in users[index]}
        if not graph.nodes[index].inputs and followers and "forward" not in followers:
            kinds[index] = min(followers)
    return kinds


def rows_of(graph: Graph, kinds: list[str], users: dict[int, list[int]]) -> list[int]:
    """Forward nodes below what they take, gradient nodes above it, state above the gradients."""
    depth = [0] * len(kinds)
    for index, node in enumerate(graph.nodes):
        same = [j for j in (*sources_of(graph, node), *node.after) if kinds[j] == kinds[index]]
        depth[index] = 1 + max((depth[j] for j in same), default=-1)
    for index in reversed(range(len(kinds))):
        followers = [depth[j] for j in users[index] if kinds[j] == kinds[index]]
        if followers:
            depth[index] = min(followers) - 1  # just before the first that needs it
    tall = dict.fromkeys(("forward", "gradient", "state"), 0)
    for kind, d in zip(kinds, depth, strict=True):
        tall[kind] = max(tall[kind], d + 1)
    bottom = max(tall["forward"], tall["gradient"] + tall["state"]) - 1
    start = {
        "forward": bottom - tall["forward"] + 1,
        "gradient": bottom,
        "state": bottom - tall["gradient"],
    }
    return [
        start[kind] + (d if kind == "forward" else -d) for kind, d in zip(kinds, depth, strict=True)
    ]


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


def layout(graph: Graph) -> list[Box]:
    """The place of every node."""
    users = users_of(graph)
    kinds = kinds_of(graph, users)
    rows = rows_of(graph, kinds, users)
    neighbours: dict[int, list[int]] = defaultdict(list)
    for index, node in enumerate(graph.nodes):
        for source in sources_of(graph, node):
            neighbours[index].append(source)
            neighbours[source].append(index)
    left = [i for i, kind in enumerate(kinds) if kind == "forward"]
    right = [i for i, kind in enumerate(kinds) if kind != "forward"]
    columns: dict[int, float] = {}
    for side in (left, right):
        by_row: dict[int, list[int]] = defaultdict(list)
        for index in side:
            by_row[rows[index]].append(index)
        start = 1 + max(columns.values(), default=-1)
        found = arrange((by_row[row] for row in sorted(by_row)), neighbours)
        columns |= {index: start + column for index, column in found.items()}
    return [Box(*place) for place in zip(kinds, rows, (columns[i] for i in range(len(kinds))),
                                         strict=True)]  # fmt: skip


def centre(box: Box) -> tuple[float, float]:
    """Pixels; a gutter separates the forward side from the other."""
    shift = 0 if box.kind == "forward" else GUTTER
    x = MARGIN + box.column * COLUMN + shift + BOX_WIDTH / 2
    return x, MARGIN + 28 + box.row * ROW + BOX_HEIGHT / 2


def arrow(source: Box, target: Box, css: str) -> str:
    """A curve from the edge of one box to the facing edge of another."""
    (x0, y0), (x1, y1) = centre(source), centre(target)
    if source.row == target.row:
        way = 1 if x1 > x0 else -1
        x0, x1 = x0 + way * BOX_WIDTH / 2, x1 - way * BOX_WIDTH / 2
        bend = f"{(x0 + x1) / 2:.1f},{y0:.1f} {(x0 + x1) / 2:.1f},{y1:.1f}"
    else:
        way = 1 if y1 > y0 else -1
        y0, y1 = y0 + way * BOX_HEIGHT / 2, y1 - way * BOX_HEIGHT / 2
        pull = way * min(abs(y1 - y0) / 2, ROW)
        # Past the boxes in between, not behind them.
        hidden = abs(source.row - target.row) > 1 and abs(x1 - x0) < BOX_WIDTH
        bow = BOX_WIDTH * 0.8 if hidden else 0
        bend = f"{x0 + bow:.1f},{y0 + pull:.1f} {x1 + bow:.1f},{y1 - pull:.1f}"
    return f'<path class="{css}" d="M{x0:.1f},{y0:.1f} C{bend} {x1:.1f},{y1:.1f}"/>'


def lines(graph: Graph, boxes: list[Box]) -> Iterator[str]:
    """The picture's elements: edges first, so that boxes cover their ends."""
    for index, node in enumerate(graph.nodes):
        for source in sources_of(graph, node):
            crosses = boxes[source].kind == "forward" and boxes[index].kind != "forward"
            style = "crossing" if crosses else "after" if node.op == "variable" else "flow"
            yield arrow(boxes[source], boxes[index], style)
        for source in node.after:
            yield arrow(boxes[source], boxes[index], "after")
    for index, (node, box) in enumerate(zip(graph.nodes, boxes, strict=True)):
        x, y = centre(box)
        types = ", ".join(map(str, node.types)) or "no value"
        what = node.name or label(node) or types
        yield (
            f'<g><title>{escape(graph.node_name(index))}: {escape(types)}</title>'
            f'<rect class="{box.kind}" x="{x - BOX_WIDTH / 2:.1f}" y="{y - BOX_HEIGHT / 2:.1f}" '
            f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}"/>'
            f'<text x="{x:.1f}" y="{y - 3:.1f}">{escape(node.op)}</text>'
            f'<text class="what" x="{x:.1f}" y="{y + 12:.1f}">{escape(what)}</text></g>'
        )  # fmt: skip


def label(node: Node) -> str:
    """What an unnamed node is about: a scalar's value, the variable written."""
    value = node.attributes.get("value")
    if value is not None and value.ndim == 0:
        return str(value)
    return str(node.attributes.get("variable", ""))


def svg(graph: Graph) -> str:
    """The picture as text."""
    boxes = layout(graph)
    width = max(centre(box)[0] for box in boxes) + BOX_WIDTH / 2 + MARGIN
    height = max(centre(box)[1] for box in boxes) + BOX_HEIGHT / 2 + MARGIN
    heads = []
    for title, kinds in (
        ("forward", ("forward",)),
        ("gradients and update", ("gradient", "state")),
    ):
        xs = [centre(box)[0] for box in boxes if box.kind in kinds]
        if xs:
            x = (min(xs) + max(xs)) / 2
            heads.append(f'<text class="head" x="{x:.1f}" y="{MARGIN + 8}">{title}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
            f'width="{width:.0f}" height="{height:.0f}">',
            f"<style>\n{STYLE}</style>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" '
            'style="fill: #6b7280; stroke: none; marker-end: none"/></marker></defs>',
            f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>',
            *heads,
            *lines(graph, boxes),
            "</svg>",
            "",
        ]
    )


def example() -> sad.Graph:
    """A neuron and its training step: small enough to be drawn."""
    with sad.Graph(seed=0) as graph:
        x = sad.placeholder("float32", ("batch", 3), name="x")
        w = sad.variable(sad.zeros((3, 1)), name="w")
        y = sad.tanh(x @ w, name="y")
        loss = sad.sum(y * y, name="loss")
        (dw,) = sad.gradients(loss, [w])
        w.assign_sub(0.1 * dw)
    return graph
