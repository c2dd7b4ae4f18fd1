"""`strip FILE`: what inference needs of a graph, without gradients, optimizers and their state."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from staticad_schema.codec import load, save
from staticad_schema.declarations import Signature, VariableSpec
from staticad_schema.errors import PlanError, shown
from staticad_schema.graph import Graph

from ..fetches import find
from ..session import Session


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "strip",
        help="keep what inference needs",
        description="Write a graph of what outputs need: without gradients, optimizers and their "
        "state. Outputs are those of signatures, or what is fetched, or else the named values that "
        "nothing uses; signatures lose the effects and outputs that need gradients.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="a .sad file")
    parser.add_argument(
        "--signature",
        action="append",
        default=[],
        metavar="NAME",
        help="keep it, with all its outputs, and no other",
    )
    parser.add_argument(
        "--fetch", action="append", default=[], metavar="NAME", help="keep this value too"
    )
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="a checkpoint of the graph")
    parser.add_argument(
        "--save-checkpoint", type=Path, metavar="FILE", help="one of what is kept goes there"
    )
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> None:
    """Write what is kept.  Raises StaticadError, OSError; SystemExit for a wrong command line."""
    if (options.checkpoint is None) != (options.save_checkpoint is None):
        options.refuse("--checkpoint and --save-checkpoint go together")
    graph: Graph = load(options.file)
    kept = stripped(graph, options.signature, options.fetch)
    save(kept, options.output)
    if options.checkpoint is not None:
        with Session(graph, device="numpy") as whole, Session(kept, device="numpy") as part:
            whole.restore(options.checkpoint)
            for name in kept.variable_specs:
                part.variables[name] = whole.variables[name]
            part.save(options.save_checkpoint)
    print(
        f"{options.output.name}: {len(kept.nodes)} of {len(graph.nodes)} nodes, "
        f"{len(kept.functions)} of {len(graph.functions)} functions, "
        f"{_of(kept.signatures, graph.signatures)} signatures, "
        f"{_of(kept.variable_specs, graph.variable_specs)} variables"
    )


def _of(kept: Collection[str], names: Collection[str]) -> str:
    """How many of how many, and which ones not."""
    dropped = [shown(name) for name in names if name not in kept]
    without = f"{', '.join(dropped[:5])}{', …' if dropped[5:] else ''}"
    return f"{len(kept)} of {len(names)}" + (f" (without {without})" if dropped else "")


def stripped(graph: Graph, signatures: Iterable[str] = (), fetches: Iterable[str] = ()) -> Graph:
    """A graph of what the outputs of signatures (none: of all), and fetched values, need.

    Raises PlanError for a name that is not there, or if there is no output.
    """
    chosen = list(signatures)
    for name in chosen:
        if name not in graph.signatures:
            raise PlanError(
                f"no signature {name!r}",
                asked="strip --signature",
                expected=", ".join(map(repr, graph.signatures)) or "a graph with signatures",
                found=repr(name),
            )
    training = _training(graph)
    parts: dict[str, Signature] = {}
    for name, signature in graph.signatures.items():
        left = {
            k: v
            for k, v in signature.outputs.items()
            if name in chosen or graph.producers[v] not in training
        }
        effects = tuple(i for i in signature.effects if i not in training)
        if (left or effects) and (name in chosen or not chosen):
            parts[name] = Signature(name, signature.inputs, left, effects)
    wanted = {graph.producers[v] for part in parts.values() for v in part.outputs.values()}
    wanted |= {i for part in parts.values() for i in part.effects}
    for name in fetches:
        value, _ = find(graph, name, "--fetch")
        if value is None:
            raise PlanError(
                "an effect is no value to keep",
                asked=f"strip --fetch {name}",
                expected="the name of a value",
                found=f"effect {name!r}",
            )
        wanted.add(graph.producers[value])
    if not wanted and not graph.signatures:
        wanted = _named_results(graph, training)
    if not wanted:
        raise PlanError(
            "nothing is left without gradients",
            asked="strip",
            expected="an output that needs none: give --fetch NAME",
            found=", ".join(map(repr, graph.signatures)) or "a graph without named results",
        )
    return _copy(graph, wanted, parts)


def _training(graph: Graph) -> set[int]:
    """Nodes that are of derivatives, or that need such a node."""
    found: set[int] = set()
    for index, node in enumerate(graph.nodes):
        needs = {*(graph.producers[v] for v in node.inputs), *node.after}
        if node.forward_site or not found.isdisjoint(needs):
            found.add(index)
    return found


def _named_results(graph: Graph, training: set[int]) -> set[int]:
    """Named nodes with values that nothing but training uses."""
    used = {v for i, node in enumerate(graph.nodes) if i not in training for v in node.inputs}
    used |= {spec.initial for spec in graph.variable_specs.values()}
    return {
        index
        for index, node in enumerate(graph.nodes)
        if index not in training
        and node.name is not None
        and node.types
        and node.op not in ("placeholder", "variable")
        and node.definition.effect != "writes"
        and used.isdisjoint(node.outputs)
    }


def _copy(graph: Graph, wanted: set[int], parts: dict[str, Signature]) -> Graph:
    """The wanted nodes with what they need: nodes, variables, bodies."""
    nodes, functions = _needed(graph, wanted)
    out = Graph(graph.seed)
    out.adopt_sites(graph)
    out.functions = {name: f for name, f in graph.functions.items() if name in functions}
    values: dict[int, int] = {}
    indices: dict[int, int] = {}
    for index in sorted(nodes):
        node = graph.nodes[index]
        indices[index] = len(out.nodes)
        start = len(out.types)
        inputs = tuple(values[v] for v in node.inputs)
        out.append_trusted(node.moved(inputs, start, tuple(indices[i] for i in node.after)))
        values |= {v: start + k for k, v in enumerate(node.outputs)}
    for spec in graph.variable_specs.values():
        if spec.node in nodes:
            out.add_variable(
                VariableSpec(
                    spec.name, spec.type, values[spec.initial], spec.trainable, indices[spec.node]
                )
            )
    for name, part in parts.items():
        roots = {*(graph.producers[v] for v in part.outputs.values()), *part.effects}
        needed, _ = _needed(graph, roots)
        out.signatures[name] = Signature(
            name,
            {k: values[v] for k, v in part.inputs.items() if graph.producers[v] in needed},
            {k: values[v] for k, v in part.outputs.items()},
            tuple(indices[i] for i in part.effects),
        )
    return out


def _needed(graph: Graph, wanted: Iterable[int]) -> tuple[set[int], set[str]]:
    """Indices of nodes and names of bodies, behind those nodes."""
    nodes = set(wanted)
    waiting = list(nodes)
    functions: set[str] = set()

    def need(indices: Iterable[int]) -> None:
        new = [i for i in indices if i not in nodes]
        nodes.update(new)
        waiting.extend(new)

    def need_state(name: str) -> None:
        spec = graph.variable_specs[name]
        need([spec.node, graph.producers[spec.initial]])

    while waiting:
        node = graph.nodes[waiting.pop()]
        need([*(graph.producers[v] for v in node.inputs), *node.after])
        if "variable" in node.attributes:
            need_state(node.attributes["variable"])
        called = [name for name in node.calls if name not in functions]
        while called:
            function = graph.function(called.pop())
            if function.name not in functions:
                functions.add(function.name)
                called += function.calls
                for name in function.reads:
                    need_state(name)
    return nodes, functions
