"""The table as a picture: for each workload the time of every framework over that of the best.

One row a workload, a logarithmic axis, a dot a framework; of staticad one for the fastest of its
devices, and one for NumPy.  The same records give the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from html import escape

from benchmarks.measure import Record

LEFT, ROW, WIDTH, MARGIN, TOP = 150, 26, 560, 24, 64
MOST = 64.0  # further out is drawn at the edge, hollow
TICKS = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
LEAST = TICKS[0]

OWN = "staticad"
COLORS = {
    OWN: "#dc2626",
    f"{OWN} numpy": "#fca5a5",
    "numpy-by-hand": "#9ca3af",
    "torch-eager": "#ea580c",
    "torch-compile": "#fdba74",
    "jax": "#2563eb",
    "tf1": "#ca8a04",
    "onnxruntime": "#0891b2",
    "pytensor-numba": "#16a34a",
    "pytensor-c": "#86efac",
}

STYLE = """\
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1f2937 }
.tick { text-anchor: middle; fill: #4b5563 }
.row { text-anchor: end }
.page { fill: #ffffff }
line { stroke: #e5e7eb }
.best { stroke: #6b7280; stroke-dasharray: 4 3 }
"""


def is_own(peer: str) -> bool:
    """Whether a runner is staticad, on whatever device."""
    return peer.partition(" ")[0] == OWN


def is_rival(peer: str) -> bool:
    """Whether it is another framework; hand-derived NumPy is none, it stands beside them."""
    return not is_own(peer) and peer != "numpy-by-hand"


def ratios(best: Mapping[tuple[str, str], Record]) -> dict[str, dict[str, float]]:
    """For each workload each runner's median over that of the best framework beside staticad.

    Records of wrong numbers are left out, and so are workloads without a framework to compare with.
    """
    medians: dict[str, dict[str, float]] = {}
    for (workload, peer), record in best.items():
        if record.get("ok"):
            medians.setdefault(workload, {})[peer] = record["seconds_median"]
    found = {}
    for workload, mine in medians.items():
        rivals = [m for peer, m in mine.items() if is_rival(peer)]
        if rivals:
            found[workload] = {peer: m / min(rivals) for peer, m in mine.items()}
    return found


def _dots(found: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """The ratios, with staticad's best as its own."""
    dots = {}
    for workload, row in found.items():
        own = [ratio for peer, ratio in row.items() if is_own(peer)]
        dots[workload] = {**row, **({OWN: min(own)} if own else {})}
    return dots


def _x(ratio: float) -> float:
    place = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return round(LEFT + place * WIDTH, 1)


def _lines(found: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    names = [name for name in COLORS if any(name in row for row in found.values())]
    bottom = TOP + ROW * len(found)
    right = LEFT + WIDTH + MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{bottom + MARGIN}" '
        f'viewBox="0 0 {right} {bottom + MARGIN}">'
    )
    yield "<title>Time of a step over that of the fastest other framework</title>"
    yield f"<style>\n{STYLE}</style>"
    yield f'<rect class="page" width="{right}" height="{bottom + MARGIN}"/>'
    for k, name in enumerate(names):
        x = MARGIN + k * (right - 2 * MARGIN) / len(names)
        yield f'<circle cx="{x:.1f}" cy="20" r="5" fill="{COLORS[name]}"/>'
        yield f'<text x="{x + 9:.1f}" y="24" style="font-size: 10px">{escape(name)}</text>'
    for tick in TICKS:
        kind = "best" if tick == 1 else "tick"
        yield f'<line class="{kind}" x1="{_x(tick)}" y1="{TOP - 8}" x2="{_x(tick)}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{_x(tick)}" y="{TOP - 14}">{tick:g}</text>'
    for k, (workload, row) in enumerate(found.items()):
        y = TOP + ROW * k + ROW // 2
        yield f'<text class="row" x="{LEFT - 12}" y="{y + 4}">{escape(workload)}</text>'
        yield f'<line x1="{LEFT}" y1="{y}" x2="{LEFT + WIDTH}" y2="{y}"/>'
        # What is drawn last is on top.
        for name in reversed(names):
            if name not in row:
                continue
            inside = LEAST <= row[name] <= MOST
            look = f'fill="{COLORS[name]}"' if inside else f'fill="none" stroke="{COLORS[name]}"'
            size = 6.5 if name == OWN else 5
            yield (
                f'<circle cx="{_x(row[name])}" cy="{y}" r="{size}" {look}>'
                f"<title>{escape(name)}: {row[name]:.2f}</title></circle>"
            )
    yield "</svg>"


def drawn(best: Mapping[tuple[str, str], Record]) -> str:
    """The picture as SVG."""
    return "\n".join(_lines(_dots(ratios(best)))) + "\n"
