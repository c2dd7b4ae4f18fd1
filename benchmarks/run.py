"""Time staticad on a workload, or everything beside the installed peers as one table.

    python benchmarks/run.py --workload mlp_train
    python benchmarks/run.py --workload mlp_train --devices numpy "opencl:pocl 3.0"
    python benchmarks/run.py --workload graph_scale --n 10000
    python benchmarks/run.py --table

A timed workload prints one JSON line a device.  `PEERS_HOME` names a folder with virtual
environments of peers; those of the present environment are found as well.  With
STATICAD_OPENCL_SEPARATE=1 OpenCL devices on the processor have memory of their own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from pathlib import Path

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import benchmarks.measure as measure
from benchmarks import callable_overhead, startup, table
from benchmarks.devices import every_device
from benchmarks.yardstick import WORKLOADS

RUNNER = str(Path(__file__).with_name("peer_staticad.py"))
OTHERS = ("graph_scale", "startup", "callable_overhead", "import_cost")
SIZES = (10_000, 100_000)


def lines_of(command: list[str]) -> list[measure.Record]:
    """The JSON lines of a process, printed as they are read."""
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=measure.environment()
    )
    print(done.stdout, end="", flush=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def graph_scale(sizes: list[int], runner: list[str]) -> None:
    """Each size in a process of its own, so that the peak memory is that size's; then how each
    phase grew from one size to the next."""
    measured = [lines_of([*runner, "--chain", str(n)]) for n in sizes]
    for small, large in itertools.pairwise(measured):
        for record in measure.growth(small, large):
            measure.say(record)


def run(workload: str, devices: list[str], budget: float, sizes: list[int]) -> None:
    """Print the lines of one workload, device after device."""
    if workload == "import_cost":
        measure.say(startup.import_cost())
        return
    for device in devices:
        runner = [sys.executable, RUNNER, "--device", device]
        if workload == "graph_scale":
            graph_scale(sizes, runner)
        elif workload == "startup":
            measure.say(startup.first_loss(f"staticad {device}", runner))
        elif workload == "callable_overhead":
            measure.say(callable_overhead.measure(device))
        else:
            lines_of([*runner, "--workload", workload, "--budget", str(budget)])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Timings of staticad, alone or beside its peers.")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--workload", choices=[*WORKLOADS, *OTHERS])
    what.add_argument("--table", action="store_true", help="everything, beside the peers")
    parser.add_argument(
        "--devices", nargs="+", metavar="DEVICE",
        help="where staticad runs (default: numpy, auto and every OpenCL device)",
    )  # fmt: skip
    parser.add_argument("--budget", type=float, default=2.0, help="seconds of timed steps")
    parser.add_argument("--rounds", type=int, default=3, help="of the table; the best counts")
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), help="of the table")
    parser.add_argument("--picture", metavar="FILE.svg", help="of the table, to be written")
    parser.add_argument("--n", type=int, nargs="*", default=list(SIZES), help="of graph_scale")
    options = parser.parse_args()
    devices = options.devices or every_device()
    if options.table:
        table.print_all(
            devices, options.budget, options.rounds, options.n, options.picture,
            options.only or list(WORKLOADS),
        )  # fmt: skip
    else:
        run(options.workload, devices, options.budget, options.n)


if __name__ == "__main__":
    main()
