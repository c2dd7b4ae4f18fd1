"""`run FILE`: feed arrays, run some steps, print or save what is fetched."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from staticad_schema.codec import load
from staticad_schema.errors import PlanError, shown
from staticad_schema.graph import Graph
from staticad_schema.types import Array

from ..session import Session
from . import arrays, asked
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
        type=_positive,
        metavar="N",
        help="run N times; an array one rank above what it is fed for is consumed along its "
        "first axis, item k modulo its length at step k; fetched values are stacked",
    )
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
    with Session(graph, device=options.device) as session:
        if options.checkpoint is not None:
            session.restore(options.checkpoint)
        fetches = [list(wanted.handles.values()), [graph.effect(index) for index in wanted.effects]]
        results = _steps(session, graph, fetches, wanted.feeds, options.steps)
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


def _steps(
    session: Session,
    graph: Graph,
    fetches: list[list[Any]],
    feeds: Mapping[int, Array],
    steps: int | None,
) -> list[Array | None]:
    """What is fetched; stacked over the steps, if their number is given."""
    step = session.callable(fetches, [graph.handle(value) for value in feeds])
    if steps is None:
        results: list[Array | None] = step(*feeds.values())[0]
        return results
    kept: list[list[Array | None]] = [[] for _ in fetches[0]]
    for k in range(steps):
        values = [
            a[k % len(a)] if a.ndim == graph.types[v].ndim + 1 and len(a) else a
            for v, a in feeds.items()
        ]
        for rows, value in zip(kept, step(*values)[0], strict=True):
            rows.append(value)
    return [_stacked(rows) for rows in kept]


def _stacked(rows: list[Array | None]) -> Array | None:
    arrays = [row for row in rows if row is not None]
    if len(arrays) < len(rows):
        return None
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1:
        raise PlanError(
            "a fetched value has another shape at another step, so that steps do not stack",
            asked="run --steps",
            expected="one shape",
            found=" and ".join(map(str, sorted(shapes)[:3])),
        )
    return np.stack(arrays)


def _positive(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, found {text!r}")
    return number
