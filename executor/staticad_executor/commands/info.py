"""`info FILE`: what a graph takes, gives, holds and is made of."""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from staticad_schema.codec import load
from staticad_schema.errors import shown
from staticad_schema.graph import Graph
from staticad_schema.types import TensorType, nbytes

from . import sized
from .costs import costs


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "info",
        help="list inputs, outputs, signatures, variables, ops and sizes",
        description="Say what a graph takes, gives, holds and is made of.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    sized.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    """Print the description.  Raises StaticadError, OSError."""
    graph: Graph = load(options.file)
    description = {**describe(graph), "costs": _costs(graph, sized.given(options))}
    if options.json:
        print(json.dumps(description, indent=2))
    else:
        print("\n".join(_lines(description)))


def describe(graph: Graph) -> dict[str, Any]:
    """The graph as JSON data.  Outputs are the values of named nodes that no node uses."""
    used = {value for node in graph.nodes for value in node.inputs}
    constants = [n.types[0] for n in graph.nodes if n.op == "constant"]
    specs = graph.variable_specs.values()
    return {
        "inputs": {h.graph.value_name(h.id): _type(h.type) for h in graph.placeholders},
        "outputs": {
            graph.value_name(v): _type(graph.types[v])
            for node in graph.nodes
            if node.name is not None and node.op not in ("placeholder", "variable")
            for v in node.outputs
            if v not in used
        },
        "effects": [n.name for n in graph.nodes if n.name is not None and not n.types],
        "signatures": {
            signature.name: {
                "inputs": {k: _type(graph.types[v]) for k, v in signature.inputs.items()},
                "outputs": {k: _type(graph.types[v]) for k, v in signature.outputs.items()},
                "effects": [graph.node_name(index) for index in signature.effects],
            }
            for signature in graph.signatures.values()
        },
        "variables": {s.name: {**_type(s.type), "trainable": s.trainable} for s in specs},
        "functions": {name: len(f.body.nodes) for name, f in graph.functions.items()},
        "ops": dict(sorted(Counter(node.op for node in graph.nodes).items())),
        "sizes": {
            "nodes": len(graph.nodes),
            "values": len(graph.types),
            "constant_bytes": sum(filter(None, map(_bytes, constants))),
            "variable_bytes": sum(filter(None, (_bytes(s.type) for s in specs))),
            "trainable_elements": sum(
                math.prod(map(int, s.type.shape)) for s in specs if s.trainable and s.type.is_static
            ),
        },
    }


def _costs(graph: Graph, sizes: dict[str, int]) -> dict[str, Any]:
    """What a run of each signature takes; without any, of all outputs and effects."""
    if graph.signatures:
        return {
            s.name: costs(graph, list(s.outputs.values()), list(s.effects), sizes)
            for s in graph.signatures.values()
        }
    values = [graph.value(name) for name in describe(graph)["outputs"]]
    effects = [i for i, n in enumerate(graph.nodes) if n.name is not None and not n.types]
    return {"all outputs": costs(graph, values, effects, sizes)}


def _type(type_: TensorType) -> dict[str, Any]:
    return {
        "dtype": type_.dtype.name,
        "shape": [d if isinstance(d, int) else str(d) for d in type_.shape],
    }


def _bytes(type_: TensorType) -> int:
    """The bytes of a value, 0 where a size is symbolic."""
    return nbytes(type_) if type_.is_static else 0


def _lines(description: dict[str, Any]) -> list[str]:
    lines = []
    for title in ("inputs", "outputs", "variables"):
        lines.append(f"{title}:")
        lines += [f"  {shown(name)}  {_text(t)}" for name, t in description[title].items()]
    lines.append("effects:")
    lines += [f"  {shown(name)}" for name in description["effects"]]
    lines.append("signatures:")
    for name, signature in description["signatures"].items():
        lines.append(f"  {shown(name)}")
        for kind in ("inputs", "outputs"):
            lines += [f"    {kind[:-1]} {shown(k)}  {_text(t)}" for k, t in signature[kind].items()]
        lines += [f"    effect {shown(effect)}" for effect in signature["effects"]]
    if description["functions"]:
        lines.append("functions:")
        lines += [
            f"  {shown(name)}  {count} nodes" for name, count in description["functions"].items()
        ]
    lines.append("ops:")
    lines += [f"  {count:6d}  {name}" for name, count in description["ops"].items()]
    lines.append("sizes:")
    lines += [f"  {name.replace('_', ' ')}  {n:,}" for name, n in description["sizes"].items()]
    lines.append("costs:")
    for name, cost in description["costs"].items():
        if cost["unknown_sizes"]:
            known = f"known with {' '.join(f'--size {s}=N' for s in cost['unknown_sizes'])}"
        else:
            peak = cost["memory"]["peak_bytes"]
            known = f"{cost['operations']:,} operations, {peak:,} bytes at the worst moment"
        lines.append(f"  {shown(name)}  {known}")
    return lines


def _text(type_: dict[str, Any]) -> str:
    text = f"{type_['dtype']}[{', '.join(map(str, type_['shape']))}]"
    return text + ("" if type_.get("trainable", True) else "  not trainable")
