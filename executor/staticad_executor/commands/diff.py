"""`diff A B`: what changed from one graph to another, by the names of nodes."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from staticad_schema.attributes import identity
from staticad_schema.codec import load
from staticad_schema.errors import shown
from staticad_schema.graph import Graph
from staticad_schema.literal import value_text
from staticad_schema.node import Node

DIFFERENT = 1
"""The exit code where the graphs differ."""


class Change(NamedTuple):
    """change: "added", "removed" or "changed"; kind: of thing; detail: in words."""

    change: str
    kind: str
    name: str
    detail: str


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "diff",
        help="say what changed from one graph to another",
        description="Compare named nodes, variables, signatures and bodies; lines and the order "
        "of nodes do not count. The exit code is 1 where the graphs differ.",
    )
    parser.add_argument("old", type=Path, metavar="A", help="a .sad file")
    parser.add_argument("new", type=Path, metavar="B", help="another one")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print the changes; returns the exit code.  Raises FormatError, OSError."""
    found = list(changes(load(options.old), load(options.new)))
    if options.json:
        print(json.dumps([change._asdict() for change in found], indent=2))
    else:
        signs = {"added": "+", "removed": "-", "changed": "~"}
        for change in found:
            name = f" {shown(change.name)}" if change.name else ""
            print(f"{signs[change.change]} {change.kind}{name}: {change.detail}")
    return DIFFERENT if found else 0


def changes(old: Graph, new: Graph) -> Iterator[Change]:
    """What differs, in the order nodes, variables, signatures, bodies, seed."""
    keys: dict[Hashable, int] = {}
    yield from _nodes("node", _Keyed(old, keys), _Keyed(new, keys))
    yield from _compared("variable", _variables(old), _variables(new))
    yield from _compared("signature", _signatures(old), _signatures(new))
    for name in old.functions | new.functions:
        if name not in new.functions:
            yield Change("removed", "body", name, _count(old, name))
        elif name not in old.functions:
            yield Change("added", "body", name, _count(new, name))
        else:
            pair = [_Keyed(g.functions[name].body, keys) for g in (old, new)]
            kind = f"node of body {shown(name)}:"
            yield from _nodes(kind, *pair)
            results = [
                [k.key(v) for v in g.functions[name].outputs]
                for g, k in zip((old, new), pair, strict=True)
            ]
            if results[0] != results[1]:
                yield Change("changed", "body", name, "its outputs are computed otherwise")
    if old.seed != new.seed:
        yield Change("changed", "seed", "", f"{old.seed} -> {new.seed}")


class _Keyed:
    """A graph whose nodes have keys: equal for what is computed alike from equal names.

    A named node's value is known by the name, so that a change shows where it was made.
    """

    def __init__(self, graph: Graph, keys: dict[Hashable, int]) -> None:
        self.graph = graph
        self.keys: list[int] = []
        state = {spec.node for spec in graph.variable_specs.values()}
        for index, node in enumerate(graph.nodes):
            parts = (
                node.op,
                tuple((k, identity(v, sys.maxsize)) for k, v in node.attributes.items()),
                node.types,
                tuple(self.key(v) for v in node.inputs),
                tuple(self._reference(i) for i in node.after),
                node.device,
                index in state,
            )
            self.keys.append(keys.setdefault(parts, len(keys)))

    def key(self, value: int) -> Hashable:
        """What a value is known by."""
        index = self.graph.producers[value]
        return self._reference(index), value - self.graph.nodes[index].start

    def _reference(self, index: int) -> Hashable:
        name = self.graph.nodes[index].name
        return self.keys[index] if name is None else name

    def named(self) -> dict[str, int]:
        """Indices by name."""
        return {n.name: i for i, n in enumerate(self.graph.nodes) if n.name is not None}

    def unnamed(self) -> Counter[tuple[str, int]]:
        """Op and key of the nodes without names."""
        pairs = zip(self.graph.nodes, self.keys, strict=True)
        return Counter((node.op, key) for node, key in pairs if node.name is None)


def _nodes(kind: str, old: _Keyed, new: _Keyed) -> Iterator[Change]:
    before, after = old.named(), new.named()
    for name in before | after:
        if name not in after:
            yield Change("removed", kind, name, _text(old.graph.nodes[before[name]]))
        elif name not in before:
            yield Change("added", kind, name, _text(new.graph.nodes[after[name]]))
        elif old.keys[before[name]] != new.keys[after[name]]:
            one, other = old.graph.nodes[before[name]], new.graph.nodes[after[name]]
            yield Change("changed", kind, name, _difference(one, other))
    one_side, other_side = old.unnamed(), new.unnamed()
    for change, left in (("removed", one_side - other_side), ("added", other_side - one_side)):
        counts: Counter[str] = Counter()
        for (op, _), count in left.items():
            counts[op] += count
        if counts:
            text = ", ".join(f"{count} {op}" for op, count in sorted(counts.items()))
            yield Change(change, f"{kind.removesuffix(':')}s without names", "", text)


def _difference(old: Node, new: Node) -> str:
    parts = []
    if old.op != new.op:
        parts.append(f"{old.op} -> {new.op}")
    if old.types != new.types:
        parts.append(f"{_types(old)} -> {_types(new)}")
    if old.op == new.op:
        for name, value in new.attributes.items():
            before = old.attributes.get(name)
            if identity(before, sys.maxsize) != identity(value, sys.maxsize):
                was, now = value_text(before, short=True), value_text(value, short=True)
                parts.append(f"{name}={was} -> {now}" if was != now else f"{name}: other elements")
    if old.device != new.device:
        parts.append(f"device {old.device} -> {new.device}")
    return "; ".join(parts) or "computed from something else"


def _text(node: Node) -> str:
    return f"{node.op} : {_types(node)}" if node.types else node.op


def _types(node: Node) -> str:
    return ", ".join(map(str, node.types))


def _variables(graph: Graph) -> dict[str, str]:
    return {
        spec.name: str(spec.type) + ("" if spec.trainable else ", not trainable")
        for spec in graph.variable_specs.values()
    }


def _signatures(graph: Graph) -> dict[str, str]:
    def named(values: Mapping[str, int]) -> str:
        return ", ".join(f"{shown(k)}: {graph.types[v]}" for k, v in values.items())

    return {
        s.name: f"({named(s.inputs)}) -> ({named(s.outputs)})"
        + (f" with {len(s.effects)} effects" if s.effects else "")
        for s in graph.signatures.values()
    }


def _compared(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Change]:
    for name in {**old, **new}:
        if name not in new:
            yield Change("removed", kind, name, old[name])
        elif name not in old:
            yield Change("added", kind, name, new[name])
        elif old[name] != new[name]:
            yield Change("changed", kind, name, f"{old[name]} -> {new[name]}")


def _count(graph: Graph, name: str) -> str:
    return f"{len(graph.functions[name].body.nodes)} nodes"
