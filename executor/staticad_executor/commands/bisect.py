"""`bisect FILE`: find the first rewrite that changes a result beyond its class."""

from __future__ import annotations

import argparse
import io
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from staticad_schema.codec import load
from staticad_schema.errors import ExecutionError
from staticad_schema.graph import Graph

from ..compile.bisect import Run, Tried, Wrong, difference, evaluated, first_wrong
from ..compile.rewrite import DEFAULT, rewrite
from ..compile.select import select
from ..devices.numpy import NumpyDevice
from ..feeds import targets
from ..fetches import Fetches
from ..selection import select as needed_nodes
from ..session import Session
from . import asked

CLAIMED = NumpyDevice.claimed


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "bisect",
        help="find the first rewrite that changes a result beyond its class",
        description="Evaluate a graph with the first k applications of rewrites, and find the "
        "first after which a fetched value or a new value of a variable differs: in any bit after "
        "exact rewrites, by more than the tolerance after others. Without one, compare the plan.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    asked.add_arguments(parser)
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="restored first")
    parser.add_argument(
        "--rewrites",
        default=",".join(DEFAULT),
        metavar="NAMES",
        help='kinds and names of rules, separated by commas, "-NAME" to leave one out; by default '
        "exact,stable",
    )
    parser.add_argument(
        "--tolerance",
        type=_tolerance,
        metavar="T",
        help="how far results may be off after stable and fast rewrites, relative to their largest "
        "element",
    )
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> None:
    """Try the graph's rewrites.

    Raises ExecutionError for what changes a result, StaticadError, OSError; SystemExit for a wrong
    command line.
    """
    graph: Graph = load(options.file)
    wanted = asked.Asked(graph, options)
    chosen = tuple(filter(None, options.rewrites.split(",")))
    fetches = [*wanted.handles.values(), *map(graph.effect, wanted.effects)]
    with Session(graph, rewrites=chosen) as session:
        if options.checkpoint is not None:
            session.restore(options.checkpoint)
        resolved = Fetches(graph, fetches)
        fed = targets(graph, list(map(graph.handle, wanted.feeds)), "feed")
        feeds = {f.value: f.array(wanted.feeds[f.value]) for f in fed}
        reads = needed_nodes(graph, resolved.values, resolved.effects, feeds).reads
        held = session.variables.ready(reads)
        run = Run(graph, resolved.values, resolved.effects, feeds, held.arrays, held.run_number)
        # The graph is run many times: what it prints would be printed as often.
        with redirect_stdout(io.StringIO()):
            tried = first_wrong(run, chosen, CLAIMED, options.tolerance)
            if tried.wrong is not None:
                raise _failure(tried.wrong)
            _compare_plan(session, run, fetches, chosen)
    print(f"{options.file.name}: {_summary(tried)}")


def _compare_plan(session: Session, run: Run, fetches: list[Any], chosen: tuple[str, ...]) -> None:
    """Raises ExecutionError where the plan's results are not those of its rewritten program."""
    types = {value: run.graph.types[value] for value in run.feeds}
    program = select(run.graph, run.fetches, run.effects, types)
    expected = evaluated(rewrite(program, chosen, CLAIMED), run)
    feeds = {run.graph.handle(value): array for value, array in run.feeds.items()}
    found = [value for value in session.run(fetches, feeds) if value is not None]
    names = map(run.graph.value_name, run.fetches)
    for name, before, after in zip(names, expected, found, strict=False):
        text = difference(before, after, 0.0)
        if text is not None:
            raise ExecutionError(
                "the plan differs, but no rewrite does: a kernel is wrong",
                asked=f"bisect: {name}",
                expected="every bit of naive evaluation",
                found=text,
            )


def _failure(wrong: Wrong) -> ExecutionError:
    beyond = "in any bit" if wrong.kind == "exact" else "beyond rounding"
    name = f" {wrong.node.name!r}" if wrong.node.name else ""
    failure = ExecutionError(
        f"the {wrong.kind} rewrite {wrong.rule} changes {wrong.result}",
        asked=f"application {wrong.number:,} of {wrong.total:,}, to {wrong.node.op}{name}",
        expected=f"no difference {beyond}",
        found=wrong.difference,
        hint=f'rewrites=(…, "-{wrong.rule}") leaves it out',
    )
    failure.locate(site=wrong.site, forward_site=wrong.forward_site)
    return failure


def _summary(tried: Tried) -> str:
    if not tried.total:
        return "no rewrite applies"
    return (
        f"{tried.total:,} applications of {len(tried.rules):,} rewrites, "
        "and no result changes beyond its class"
    )


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number that is not negative, found {text!r}")
    return value
