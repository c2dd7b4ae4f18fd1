"""A graph in the language of Graphviz, its scopes and bodies as clusters."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator

from .chosen import Chosen, chosen, subject, types_text

COLOURS = {"forward": "#dbeafe", "gradient": "#ffedd5", "state": "#dcfce7"}
LARGEST_BODY = 100  # nodes


def dot(shown: Chosen) -> str:
    """The text; larger bodies are only named."""
    lines = ["digraph {", '  rankdir="TB"; node [shape="box", style="filled", fontname="sans"];']
    if shown.cut:
        lines.append(f"  label={quoted(shown.cut)};")
    lines += _graph(shown, "n")
    lines += _bodies(shown)
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    """A string of the language, whatever the text holds."""
    plain = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _graph(shown: Chosen, prefix: str) -> Iterator[str]:
    """Nodes in the clusters of their scopes, then edges."""
    open_scopes: list[str] = []
    count = 0
    by_scope = sorted(shown.nodes, key=lambda i: (shown.graph.nodes[i].scope.split("/"), i))
    for index in by_scope:
        node = shown.graph.nodes[index]
        parts = node.scope.split("/") if node.scope else []
        while open_scopes != parts[: len(open_scopes)]:
            open_scopes.pop()
            yield "  }"
        for part in parts[len(open_scopes) :]:
            open_scopes.append(part)
            count += 1
            yield f'  subgraph "cluster_{prefix}{count}" {{ label={quoted(part)};'
        what = node.name or subject(node)
        parts_of_label = filter(None, (node.op, what, types_text(node)))
        label = "\\n".join(quoted(text)[1:-1] for text in parts_of_label)
        yield (
            f'  {prefix}{index} [label="{label}", fillcolor={quoted(COLOURS[shown.kinds[index]])}];'
        )
    yield from ("  }" for _ in open_scopes)
    for index in shown.nodes:
        for source in shown.sources[index]:
            yield f"  {prefix}{source} -> {prefix}{index};"
        for source in shown.after[index]:
            yield f'  {prefix}{source} -> {prefix}{index} [style="dashed"];'


def _bodies(shown: Chosen) -> Iterator[str]:
    """A cluster for each small body, and a dotted edge to what calls it."""
    prefixes: dict[str, str] = {}
    edges = []
    waiting = deque((f"n{i}", name) for i in shown.nodes for name in shown.graph.nodes[i].calls)
    while waiting:
        caller, name = waiting.popleft()
        body = shown.graph.function(name).body
        if not 0 < len(body.nodes) <= LARGEST_BODY:
            continue
        if name not in prefixes:
            prefix = prefixes[name] = f"b{len(prefixes)}_"
            inside = chosen(body, None, LARGEST_BODY)
            yield f'  subgraph "cluster_{prefix}" {{ style="rounded"; label={quoted(name)};'
            yield from _graph(inside, prefix)
            yield "  }"
            waiting += [(f"{prefix}{i}", n) for i in inside.nodes for n in body.nodes[i].calls]
        last = f"{prefixes[name]}{len(body.nodes) - 1}"
        edges.append(f'  {last} -> {caller} [style="dotted", constraint="false"];')
    yield from edges
