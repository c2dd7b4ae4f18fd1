"""`run FILE`: feed arrays, run some steps, print or save what is fetched."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from staticad_schema.codec import load
from staticad_schema.errors import shown
from staticad_schema.graph import Graph
from staticad_schema.types import Array

from ..session import Session
from . import arrays, asked, batches, sized
from .asked import Asked


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "run",
        help="run a graph on arrays from files",
        description="Run a graph. Without --output, prints name, dtype, shape and value.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    asked.add_arguments(parser)
    parser.add_argument(
        "--steps",
        type=sized.positive,
        metavar="N",
        help="run N times; an array one rank above what it is fed for is consumed along its "
        "first axis, item k modulo its length at step k; fetched values are stacked",
    )
    parser.add_argument(
        "--batch",
        type=sized.positive,
        metavar="N",
        help="run on N rows at a time of what has a symbolic first size; values with one are "
        "joined along it, others stacked. A folder instead of a file (--feed NAME=DIR, or "
        "--feed DIR of .npz files) is one run for each file in it",
    )
    parser.add_argument("--progress", action="store_true", help="show on stderr how far it is")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR|FILE.npz",
        help="where fetched values go: NAME.npy in a folder, or entries of one file",
    )
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="restored first")
    parser.add_argument("--save-checkpoint", type=Path, metavar="FILE", help="written at the end")
    parser.add_argument("--device", default="auto", help='"auto", the default, or "numpy"')
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> None:
    """Run the graph.  Raises StaticadError, OSError; SystemExit for a wrong command line."""
    graph: Graph = load(options.file)
    wanted = Asked(graph, options)
    many = [name for name in ("steps", "batch") if getattr(options, name) is not None]
    if len(many + ["folder"] * bool(wanted.folders)) > 1:
        options.refuse("--steps, --batch and folders exclude each other")
    with Session(graph, device=options.device) as session:
        if options.checkpoint is not None:
            session.restore(options.checkpoint)
        fetches = [list(wanted.handles.values()), [graph.effect(index) for index in wanted.effects]]
        results = _results(session, graph, fetches, wanted, options)
        fetched = {
            name: value
            for name, value in zip(wanted.handles, results, strict=True)
            if value is not None
        }
        if options.output is not None:
            arrays.save(options.output, fetched)
        else:
            for name, value in fetched.items():
                print(f"{shown(name)} {value.dtype.name} {value.shape}\n{value}")
        if options.save_checkpoint is not None:
            session.save(options.save_checkpoint)


def _results(
    session: Session,
    graph: Graph,
    fetches: list[list[Any]],
    wanted: Asked,
    options: argparse.Namespace,
) -> list[Array | None]:
    """What is fetched; of many runs, put together."""
    step = session.callable(fetches, [graph.handle(v) for v in (*wanted.feeds, *wanted.folders)])
    runs: Iterable[list[Array]]
    if options.steps is not None:
        runs, count = _steps(graph, wanted.feeds, options.steps), options.steps
    elif options.batch is not None or wanted.folders:
        parts = batches.Batches(graph, wanted.feeds, wanted.folders, options.batch)
        runs, count = parts, parts.count
    else:
        results: list[Array | None] = step(*wanted.feeds.values())[0]
        return results
    kept: list[list[Array | None]] = [[] for _ in fetches[0]]
    with batches.progress(options.progress, count) as bar:
        for values in runs:
            for rows, value in zip(kept, step(*values)[0], strict=True):
                rows.append(value)
            bar.advance()
    # Steps are stacked whatever they are; batches are parts of one.
    types = [None if options.steps is not None else getattr(h, "type", None) for h in fetches[0]]
    return [batches.joined(rows, type_) for rows, type_ in zip(kept, types, strict=True)]


def _steps(graph: Graph, feeds: Mapping[int, Array], steps: int) -> Iterator[list[Array]]:
    """The feeds of each step."""
    for k in range(steps):
        yield [
            a[k % len(a)] if a.ndim == graph.types[v].ndim + 1 and len(a) else a
            for v, a in feeds.items()
        ]
