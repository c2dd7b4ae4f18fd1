"""A graph as an SVG picture.  It knows nothing of the ops but their names."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .chosen import Chosen, subject, types_text
from .layout import Box, Lane, layout

BOX_WIDTH, BOX_HEIGHT = 128, 40
COLUMN, ROW = 148, 72
MARGIN, GUTTER = 24, 40
PAD = 14  # of the rectangle around a scope
LONGEST = 20  # what fits into a box, in characters

# Pictures in one notebook share its styles, so each says that it speaks of pictures.
STYLE = """\
.staticad text { font: 13px ui-sans-serif, system-ui, sans-serif; text-anchor: middle }
.staticad text { fill: #1f2937 }
.staticad .what { font-size: 11px; fill: #4b5563 }
.staticad .head { font-size: 14px; font-weight: 600 }
.staticad .name { font-size: 11px; text-anchor: start; fill: #6b7280 }
.staticad rect { stroke-width: 1.5; rx: 6 }
.staticad .page { fill: #ffffff; stroke: none; rx: 0 }
.staticad .scope { fill: #f9fafb; stroke: #d1d5db; stroke-dasharray: 2 2 }
.staticad .forward { fill: #dbeafe; stroke: #2563eb }
.staticad .gradient { fill: #ffedd5; stroke: #ea580c }
.staticad .state { fill: #dcfce7; stroke: #16a34a }
.staticad path { fill: none; stroke: #6b7280; stroke-width: 1.2; marker-end: url(#staticad-arrow) }
.staticad .crossing { stroke: #ea580c; stroke-dasharray: 4 3; opacity: 0.65 }
.staticad .after { stroke: #16a34a; stroke-dasharray: 2 3 }
"""


def svg(shown: Chosen) -> str:
    """The picture as text; what is left out is said in it."""
    boxes, lanes = layout(shown)
    ends = [centre(box) for box in boxes.values()]
    width = max((x for x, _ in ends), default=BOX_WIDTH) + BOX_WIDTH / 2 + MARGIN
    height = max((y for _, y in ends), default=BOX_HEIGHT) + BOX_HEIGHT / 2 + MARGIN
    notes = []
    if shown.cut:
        height += MARGIN
        width = max(width, 7 * len(shown.cut))
        notes.append(
            f'<text class="what" x="{width / 2:.1f}" y="{height - MARGIN / 2:.1f}">'
            f"{escape(shown.cut)}</text>"
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="staticad" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">',
            f"<style>\n{STYLE}</style>",
            '<defs><marker id="staticad-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8 z" '
            'style="fill: #6b7280; stroke: none; marker-end: none"/></marker></defs>',
            f'<rect class="page" width="{width:.0f}" height="{height:.0f}"/>',
            *_heads(boxes),
            *map(_rectangle, lanes),
            *_edges(shown, boxes),
            *_boxes(shown, boxes),
            *notes,
            "</svg>",
            "",
        ]
    )


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


def _heads(boxes: dict[int, Box]) -> Iterator[str]:
    for title, kinds in (
        ("forward", ("forward",)),
        ("gradients and update", ("gradient", "state")),
    ):
        xs = [centre(box)[0] for box in boxes.values() if box.kind in kinds]
        if xs:
            x = (min(xs) + max(xs)) / 2
            yield f'<text class="head" x="{x:.1f}" y="{MARGIN + 8}">{title}</text>'


def _rectangle(lane: Lane) -> str:
    x0, y0 = centre(Box(lane.side, lane.rows[0], lane.columns[0]))
    x1, y1 = centre(Box(lane.side, lane.rows[1], lane.columns[1]))
    x, y = x0 - BOX_WIDTH / 2 - 8, y0 - BOX_HEIGHT / 2 - PAD
    return (
        f'<rect class="scope" x="{x:.1f}" y="{y:.1f}" width="{x1 - x0 + BOX_WIDTH + 16:.1f}" '
        f'height="{y1 - y0 + BOX_HEIGHT + PAD + 8:.1f}"/>'
        f'<text class="name" x="{x + 6:.1f}" y="{y + 11:.1f}">{_short(lane.scope)}</text>'
    )


def _edges(shown: Chosen, boxes: dict[int, Box]) -> Iterator[str]:
    """Edges come first, so that boxes cover their ends."""
    for index in shown.nodes:
        for source in shown.sources[index]:
            crosses = boxes[source].kind == "forward" and boxes[index].kind != "forward"
            yield arrow(boxes[source], boxes[index], "crossing" if crosses else "flow")
        for source in shown.after[index]:
            yield arrow(boxes[source], boxes[index], "after")


def _boxes(shown: Chosen, boxes: dict[int, Box]) -> Iterator[str]:
    for index, box in boxes.items():
        node = shown.graph.nodes[index]
        x, y = centre(box)
        types = types_text(node)
        name = node.name or subject(node) or types
        if node.scope and node.name:
            name = node.name.removeprefix(f"{node.scope}/")
        yield (
            f"<g><title>{_text(shown.graph.node_name(index))}: {_text(types)}</title>"
            f'<rect class="{box.kind}" x="{x - BOX_WIDTH / 2:.1f}" y="{y - BOX_HEIGHT / 2:.1f}" '
            f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}"/>'
            f'<text x="{x:.1f}" y="{y - 3:.1f}">{_short(node.op)}</text>'
            f'<text class="what" x="{x:.1f}" y="{y + 12:.1f}">{_short(name)}</text></g>'
        )


def _text(text: str) -> str:
    """Any text within XML, which has no place for most control characters."""
    return escape("".join(c if c.isprintable() or c == " " else "�" for c in text))


def _short(text: str) -> str:
    return _text(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
