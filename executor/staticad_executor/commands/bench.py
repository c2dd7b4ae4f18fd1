"""`bench FILE`: how long runs take, and how many there are in a second."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from staticad_schema.codec import load
from staticad_schema.dims import symbols_of
from staticad_schema.errors import PlanError, shown
from staticad_schema.graph import Graph
from staticad_schema.shapes import bind_shape
from staticad_schema.types import KINDS, Array, TensorType

from ..predict import placeholders_for
from ..session import Session
from . import asked, sized

PERCENTILES = (50, 90, 99)


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "bench",
        help="measure latency and throughput",
        description="Run a graph many times. What is not fed is made up: numbers between 0 and 1, "
        "zeros where they are integers.",
    )
    parser.add_argument("file", type=Path, help="the graph's .sad file")
    asked.add_arguments(parser)
    sized.add_arguments(parser)
    parser.add_argument(
        "--runs", type=sized.positive, default=100, metavar="N", help="100 by default"
    )
    parser.add_argument(
        "--warmup", type=sized.positive, default=3, metavar="N", help="not measured; 3 by default"
    )
    parser.add_argument(
        "--concurrency", type=sized.positive, default=1, metavar="N", help="runs at a time"
    )
    parser.add_argument("--threads", type=sized.positive, metavar="N", help="of one run")
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="restored first")
    parser.add_argument("--device", default="auto", help='"auto", the default, or another')
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(execute=execute, refuse=parser.error)


def execute(options: argparse.Namespace) -> None:
    """Measure and print.  Raises StaticadError, OSError; SystemExit for a wrong command line."""
    graph: Graph = load(options.file)
    wanted = asked.Asked(graph, options)
    fetches = [*wanted.handles.values(), *map(graph.effect, wanted.effects)]
    feeds = made_up(graph, wanted, sized.given(options))
    with Session(graph, device=options.device, threads=options.threads) as session:
        if options.checkpoint is not None:
            session.restore(options.checkpoint)
        step = session.callable(fetches, [graph.handle(value) for value in feeds])
        arrays = list(feeds.values())
        first = _timed(step, arrays)
        for _ in range(options.warmup):
            step(*arrays)
        began = time.perf_counter()
        with ThreadPoolExecutor(options.concurrency) as pool:
            times = list(pool.map(lambda _: _timed(step, arrays), range(options.runs)))
        elapsed = time.perf_counter() - began
    measured = {
        "first_ms": 1e3 * first,
        "runs": options.runs,
        "concurrency": options.concurrency,
        "min_ms": 1e3 * min(times),
        "mean_ms": 1e3 * sum(times) / len(times),
        **{f"p{p}_ms": 1e3 * float(np.percentile(times, p)) for p in PERCENTILES},
        "max_ms": 1e3 * max(times),
        "runs_per_second": options.runs / elapsed,
    }
    if options.json:
        shapes = {graph.value_name(v): list(a.shape) for v, a in feeds.items()}
        print(json.dumps({**measured, "feeds": shapes}, indent=2))
        return
    for value, array in feeds.items():
        print(f"fed {shown(graph.value_name(value))} {array.dtype.name} {array.shape}")
    print(f"first run {measured['first_ms']:.3f} ms, with its plan")
    names = ("min", *(f"p{p}" for p in PERCENTILES), "max", "mean")
    print("latency " + ", ".join(f"{name} {measured[f'{name}_ms']:.3f}" for name in names) + " ms")
    print(f"throughput {measured['runs_per_second']:.1f} runs/s, {options.concurrency} at a time")


def _timed(step: Any, arrays: list[Array]) -> float:
    began = time.perf_counter()
    step(*arrays)
    return time.perf_counter() - began


def made_up(graph: Graph, wanted: asked.Asked, sizes: Mapping[str, int]) -> dict[int, Array]:
    """The feeds with arrays for the placeholders that are needed beside them.

    Raises PlanError for a size that nothing tells.
    """
    values = [handle.id for handle in wanted.handles.values() if hasattr(handle, "id")]
    effects = [h.node_index for h in wanted.handles.values() if not hasattr(h, "id")]
    known = dict(sizes)
    for value, array in wanted.feeds.items():
        for declared, size in zip(graph.types[value].shape, array.shape, strict=False):
            if not isinstance(declared, int) and declared.symbol():
                known.setdefault(str(declared.symbol()), size)
    draw = np.random.default_rng(0)
    feeds = dict(wanted.feeds)
    for value in placeholders_for(graph, values, [*effects, *wanted.effects]):
        if value not in feeds:
            feeds[value] = _array(graph, value, known, draw)
    return feeds


def _array(graph: Graph, value: int, sizes: Mapping[str, int], draw: np.random.Generator) -> Array:
    type_: TensorType = graph.types[value]
    unknown = sorted(set().union(*map(symbols_of, type_.shape)) - sizes.keys())
    if unknown:
        raise PlanError(
            f"the size of {', '.join(map(repr, unknown))} is not known",
            asked=f"the shape of {graph.value_name(value)!r}",
            expected=f"--size {unknown[0]}=N, or --feed",
            found=str(type_),
        )
    shape = bind_shape(type_.shape, sizes)
    if KINDS[type_.dtype] in ("float", "complex"):
        return draw.random(shape).astype(type_.dtype)
    return np.zeros(shape, type_.dtype)
