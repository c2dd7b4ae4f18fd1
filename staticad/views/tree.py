"""A graph as an indented tree: each result above what it is computed from."""

from __future__ import annotations

from .chosen import Chosen, subject


def tree(shown: Chosen) -> str:
    """The text, one line a node; what stands there already is only named, with an arrow."""
    lines: list[str] = []
    seen: set[int] = set()
    # The way to each line: which of its ancestors have more to come.
    roots = [(i, ()) for i in reversed(shown.nodes) if not shown.users[i]]
    waiting: list[tuple[int, tuple[bool, ...]]] = list(roots)
    while waiting:
        index, way = waiting.pop()
        again = index in seen
        seen.add(index)
        lines.append(_indent(way) + (_again(shown, index) if again else _line(shown, index)))
        if not again:
            below = [*shown.sources[index], *shown.after[index]]
            last = len(below) - 1
            waiting += [(j, (*way, k < last)) for k, j in reversed([*enumerate(below)])]
    if shown.cut:
        lines.append(f"({shown.cut})")
    return "\n".join(lines)


def _indent(way: tuple[bool, ...]) -> str:
    if not way:
        return ""
    bars = "".join("│  " if more else "   " for more in way[:-1])
    return bars + ("├─ " if way[-1] else "└─ ")


def _line(shown: Chosen, index: int) -> str:
    graph = shown.graph
    node = graph.nodes[index]
    about = "" if node.name else subject(node)
    parts = [graph.node_name(index), f"{node.op}({about})" if about else node.op]
    parts += map(str, node.types)
    kind = shown.kinds[index]
    if kind != "forward":
        parts.append(f"[{kind}]")
    site = graph.site(node.forward_site or node.site)
    return "  ".join(" ".join(part.split()) for part in parts) + (f"  {site}" if site else "")


def _again(shown: Chosen, index: int) -> str:
    return f"↑ {' '.join(shown.graph.node_name(index).split())}"
