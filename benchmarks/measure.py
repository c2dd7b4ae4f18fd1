"""How a workload is timed and checked; one JSON-able record a workload.

The fields are those of the peers' runners, so that lines of different programs go into one table.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.definitions import RTOL, Array, Build, Program, Report, Step, Workload
from benchmarks.yardstick import WORKLOADS
from benchmarks.yardstick.chain import chain_program

clock = time.perf_counter

Record = dict[str, Any]
Chain = Callable[[Program, Report], None]

MOST_STEPS = 20_000


def environment() -> dict[str, str]:
    """This process's environment; an interpreter in it finds what this checkout holds, and keeps
    compiled modules, as an installed package's are."""
    root = Path(__file__).parent.parent
    folders = [str(root / part) for part in (".", "schema", "executor")]
    path = os.pathsep.join([*folders, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}


def peak_rss_mb() -> float:
    """The highest resident set size of this process so far, in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Linux counts what the parent held before exec into ru_maxrss, but not into this.
        lines = status.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def norm(array: Array) -> float:
    """The Euclidean norm over all elements, summed in float64."""
    return float(np.linalg.norm(np.asarray(array, np.float64)))


def checked_numbers(w: Workload, result: Any) -> list[float]:
    """The numbers of one step's result that stand in `w.expected`."""
    if w.kind == "train":
        return [float(result)]
    if w.kind == "infer":
        return [norm(result)]
    value, gradients = result
    return [float(value), *map(norm, gradients)]


def agrees(numbers: Sequence[float], expected: Sequence[float]) -> bool:
    """Whether all numbers are there and right to RTOL."""
    return len(numbers) == len(expected) and bool(np.allclose(numbers, expected, rtol=RTOL, atol=0))


def time_steps(w: Workload, step: Step, budget: float) -> list[float]:
    """Seconds of single steps: at least 5, then until `budget` seconds are spent.

    The first steps, up to half a second of them, warm caches and clocks and do not count.
    """
    done, warm_until = w.k, clock() + min(0.2 * budget, 0.5)
    while done < w.k + 2 or clock() < warm_until:
        step(w.batch(done))
        done += 1
    times: list[float] = []
    start = clock()
    while len(times) < MOST_STEPS:
        batch = w.batch(done)
        began = clock()
        step(batch)
        now = clock()
        times.append(now - began)
        done += 1
        spent = now - start
        if spent > 5 * budget or (spent > budget and len(times) >= 5):
            break
    return times


def measure(peer: str, build: Build, w: Workload, budget: float) -> Record:
    """Build, check after `w.k` steps, time."""
    began = clock()
    step = build(w)
    result = step(w.batch(0))
    first = clock() - began
    for i in range(1, w.k):
        result = step(w.batch(i))
    numbers = checked_numbers(w, result)
    times = time_steps(w, step, budget)
    return {
        "peer": peer,
        "workload": w.name,
        "seconds_median": float(np.median(times)),
        "seconds_min": min(times),
        "first_call_seconds": first,
        "peak_rss_mb": peak_rss_mb(),
        "loss_after_k": numbers[0],
        "ok": agrees(numbers, w.expected),
        "steps": len(times),
    }


def graph_scale(peer: str, chain: Chain, n: int) -> None:
    """Print one line a phase of building, differentiating and running a chain of `n` ops.

    A line is written as soon as its phase is over: what is killed loses only the rest.
    """
    program = chain_program(n)
    last = clock()

    def report(phase: str, **more: Any) -> None:
        nonlocal last
        seconds = clock() - last
        say(
            {
                "peer": peer,
                "workload": "graph_scale",
                "n": n,
                "phase": phase,
                "seconds": seconds,
                "microseconds_per_op": seconds / n * 1e6,
                "peak_rss_mb": peak_rss_mb(),
                **more,
            }
        )
        last = clock()

    chain(program, report)


def growth(small: Sequence[Record], large: Sequence[Record]) -> list[Record]:
    """How many times longer each phase took on a graph than on a smaller one."""
    return [
        {
            "peer": b["peer"],
            "workload": "graph_scale",
            "growth": b["phase"],
            "from": a["n"],
            "to": b["n"],
            "times": b["seconds"] / a["seconds"],
        }
        for a, b in zip(small, large, strict=False)
    ]


def say(record: Record) -> None:
    """One JSON line on standard output, at once."""
    print(json.dumps(record), flush=True)


def failure(peer: str, workload: str, error: Exception) -> Record:
    """The record of a workload that did not come to its end."""
    return {
        "peer": peer,
        "workload": workload,
        "ok": False,
        "error": f"{type(error).__name__}: {error}",
    }


def main(peer: str, builders: Mapping[str, Build], chain: Chain | None = None) -> None:
    """The command line of a runner: workloads, `--startup`, `--chain N`, or `--list`."""
    parser = argparse.ArgumentParser(description=f"{peer} on the workloads")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--workload", nargs="+", choices=list(builders))
    what.add_argument("--startup", action="store_true", help="print mlp_train_small's first loss")
    what.add_argument("--chain", type=int, metavar="N", help="graph_scale with N ops")
    what.add_argument("--list", action="store_true", help="print the names of the workloads")
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of timed steps")
    # A runner reads options of its own, such as its mode or device, before it calls this.
    options, _ = parser.parse_known_args()
    if options.list:
        say({"peer": peer, "workloads": list(builders)})
    elif options.startup:
        w = WORKLOADS["mlp_train_small"]()
        say({"peer": peer, "workload": "startup", "loss": builders[w.name](w)(w.batch(0))})
    elif options.chain is not None:
        if chain is None:
            parser.error(f"{peer} has no graph_scale")
        graph_scale(peer, chain, options.chain)
    else:
        for name in options.workload:
            try:
                say(measure(peer, builders[name], WORKLOADS[name](), options.budget))
            except Exception as error:  # a peer's failure is a line of the table
                say(failure(peer, name, error))
