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
from staticad_schema.types import Array

from ..compile.bisect import Run, Tried, Wrong, difference, evaluated, first_wrong
from ..compile.rewrite import DEFAULT, rewrite
from ..compile.rules import SWITCHES, chosen_switch
from ..compile.select import select
from ..devices.numpy import NumpyDevice
from ..feeds import targets
from ..fetches import Fetches
from ..program import Program
from ..session import Session
from ..state import Snapshot
from . import asked

CLAIMED = NumpyDevice.claimed
BESIDE_RULES = ("hoist", "flat_updates", "python_scalars")
"""What a plan does beside rules that can be left out; the one that rounds comes last."""


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "bisect",
        help="find the first rewrite that changes a result beyond its class",
        description="Evaluate a graph with the first k applications of rewrites, and find the "
        "first after which a fetched value or a new value of a variable differs: in any bit after "
        "exact rewrites, by more than the tolerance after others. Without one, compare plans.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    asked.add_arguments(parser)
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="restored first")
    parser.add_argument(
        "--rewrites",
        default=",".join(DEFAULT),
        metavar="NAMES",
        help='classes and names of rewrites, separated by commas, "-NAME" to leave one out; by '
        "default exact,stable",
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
        held = session.snapshot()
        run = Run(graph, resolved.values, resolved.effects, feeds, held.arrays, held.run_number)
        # The graph is run many times: what it prints would be printed as often.
        with redirect_stdout(io.StringIO()):
            tried = first_wrong(run, chosen, CLAIMED, options.tolerance)
            if tried.wrong is not None:
                raise _failure(tried.wrong)
            _compare_plans(run, held, chosen, options.tolerance)
    print(f"{options.file.name}: {_summary(tried)}")


def _compare_plans(
    run: Run, start: Snapshot, chosen: tuple[str, ...], tolerance: float | None
) -> None:
    """Compare plans with the rewritten program: first one without what is done beside rules, then
    with one thing after the other.  Raises ExecutionError for what differs.

    start: the variables before the run.
    """
    graph = run.graph
    types = {value: graph.types[value] for value in run.feeds}
    program = rewrite(select(graph, run.fetches, run.effects, types), chosen, CLAIMED)
    expected = evaluated(program, run)
    names = [*map(graph.value_name, run.fetches), *(f"variable {n}" for n, _ in program.writes)]
    left_out = [name for name in BESIDE_RULES if chosen_switch(name, chosen)]
    tried: list[str | None] = [None, *left_out]
    for switch in tried:
        if switch is not None:
            left_out.remove(switch)
        found = _planned(run, start, (*chosen, *(f"-{name}" for name in left_out)), program)
        kind = "exact" if switch is None else SWITCHES[switch].kind
        bound = 0.0 if kind == "exact" else tolerance
        for name, before, after in zip(names, expected, found, strict=True):
            text = difference(before, after, bound)
            if text is None:
                continue
            raise ExecutionError(
                "the plan differs, but no rewrite does: a kernel is wrong"
                if switch is None
                else f"the {kind} rewrite {switch} changes {name}",
                asked=f"bisect: {name}",
                expected="every bit of naive evaluation" if kind == "exact" else _expected(kind),
                found=text,
                hint=None if switch is None else _left_out(switch),
            )


def _planned(
    run: Run, start: Snapshot, chosen: tuple[str, ...], program: Program
) -> list[Array]:  # fmt: skip
    """What a run by a plan fetches, and the variables that it writes."""
    graph = run.graph
    fetches = [*map(graph.handle, run.fetches), *map(graph.effect, run.effects)]
    with Session(graph, rewrites=chosen) as session:
        session.restore(start)
        feeds = {graph.handle(value): array for value, array in run.feeds.items()}
        found = session.run(fetches, feeds)[: len(run.fetches)]
        return [*found, *(session.variables[name] for name, _ in program.writes)]


def _failure(wrong: Wrong) -> ExecutionError:
    name = f" {wrong.node.name!r}" if wrong.node.name else ""
    failure = ExecutionError(
        f"the {wrong.kind} rewrite {wrong.rule} changes {wrong.result}",
        asked=f"application {wrong.number:,} of {wrong.total:,}, to {wrong.node.op}{name}",
        expected=_expected(wrong.kind),
        found=wrong.difference,
        hint=_left_out(wrong.rule),
    )
    failure.locate(site=wrong.site, forward_site=wrong.forward_site)
    return failure


def _expected(kind: str) -> str:
    return "no difference " + ("in any bit" if kind == "exact" else "beyond rounding")


def _left_out(name: str) -> str:
    return f'rewrites=(…, "-{name}") leaves it out'


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
