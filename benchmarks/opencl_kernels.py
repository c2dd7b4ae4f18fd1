"""Kernels on OpenCL devices: what a launch costs, how far they are from what the device could do,
and that they move no byte beyond what flows in and out.

    python benchmarks/opencl_kernels.py --devices opencl:0
    python benchmarks/opencl_kernels.py --only roofline --size gpu --numpy --json kernels.jsonl

Results are compared with NumPy's.  With STATICAD_OPENCL_SEPARATE=1 devices on the processor have
memory of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import numpy as np
import pyopencl as cl

import benchmarks.table as table
import staticad as sad
from benchmarks.definitions import Array
from benchmarks.devices import described, every_device, opened
from benchmarks.measure import Record
from benchmarks.on_opencl.cases import SIZES, Case, cases
from benchmarks.on_opencl.limits import limits_of
from benchmarks.on_opencl.planned import Moved, Planned, best, in_turn, seconds_of
from benchmarks.on_staticad import GRAPHS
from benchmarks.yardstick import WORKLOADS
from staticad_executor.compile import synchronize
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.machine import Limits, Work
from staticad_executor.profile import plan_work
from staticad_schema.types import nbytes

PARTS = ("overhead", "roofline", "traffic")
SHORT, LONG = 50, 400
MOST_OVERHEAD = 1.5
"""What a launch of a plan may take, over a bare one."""
ELEMENTWISE = ("eltwise_grad", "softmax_ln")
"""The workloads whose traffic is counted."""
MOST_SCRATCH, SMALL = 0.05, 1 << 16
"""Sums that are made in parts leave these in scratch memory: so much of what flows in and out, or
so many bytes."""


# --- What a launch costs --------------------------------------------------------------------------


def chain(length: int, device: OpenCLDevice) -> Planned:
    """So many products of small matrices, each of which needs the last one; each a launch of its
    own, since small launches are not merged here."""
    n = 8
    with sad.Graph(seed=0):
        x = sad.placeholder("float32", (n, n), name="x")
        w = sad.placeholder("float32", (n, n), name="w")
        y = x
        for _ in range(length):
            y = y @ w
    eye: Array = np.eye(n, dtype=np.float32)
    with patch.object(synchronize, "MOST_MERGED", 1):
        return Planned([y], {x: eye, w: eye[::-1].copy()}, device)


def overhead(device: OpenCLDevice, budget: float) -> Record:
    """Microseconds that a launch adds to a run, and that the same kernel adds to a bare loop of
    `enqueue_nd_range_kernel` over the kernels of the plan; two lengths, so that what a run costs
    without any launch is in neither."""
    seconds: dict[str, list[float]] = {"plan": [], "bare": []}
    for length in (SHORT, LONG):
        planned = chain(length, device)
        launches = planned.launches()
        if len(launches) != length:
            raise RuntimeError(f"{length} products are {len(launches)} launches")
        kernels = [(each.kernel, each.global_size, each.local_size) for each in launches]
        queue, finish = device.runtime.queue, device.runtime.finish

        def bare(
            kernels: Sequence[Any] = kernels, queue: cl.CommandQueue = queue, finish: Any = finish
        ) -> None:
            for kernel, whole, group in kernels:
                cl.enqueue_nd_range_kernel(queue, kernel, whole, group)
            finish()

        # In turn, so that what else happens on the machine touches both.
        for name, taken in zip(seconds, in_turn((planned.run, bare), budget), strict=True):
            seconds[name].append(taken)
    per_launch = {
        name: 1e6 * (long - short) / (LONG - SHORT) for name, (short, long) in seconds.items()
    }
    return {
        "plan_us": per_launch["plan"],
        "bare_us": per_launch["bare"],
        "ratio": per_launch["plan"] / per_launch["bare"],
        "whole_ratio": seconds["plan"][1] / seconds["bare"][1],
    }


# --- What kernels reach ---------------------------------------------------------------------------


def roofline(
    case: Case, device: OpenCLDevice, limits: Limits, budget: float, with_numpy: bool
) -> Record:
    """The time of a case's kernels, over and over on the same memory, and what that is of the
    device's limits; its work is that of its ops, with the bytes of operands and results."""
    planned = Planned(case.fetches, case.feeds, device)
    on_numpy = Planned(case.fetches, case.feeds, "numpy")
    right = all(map(close, planned.results(), on_numpy.results()))
    launches = planned.launches()
    elsewhere = {step.device for step in planned.plan.steps} - {device.name}
    done = list(plan_work(on_numpy.plan))
    traffic = sum(a.nbytes for a in case.feeds.values())
    traffic += sum(nbytes(y.type) for y in case.fetches)
    work = Work(sum(w.flops for w in done), sum(w.special for w in done), traffic)
    seconds = seconds_of(launches, device, budget)
    return {
        "kernel": case.name,
        "launches": len(launches),
        "seconds": seconds,
        "gb_per_s": work.traffic / seconds / 1e9,
        "gflop_per_s": work.flops / seconds / 1e9,
        "of_limit": limits.bound(work) / seconds,
        "numpy_seconds": best(on_numpy.run, budget / 2, 2) if with_numpy else None,
        "ok": right and not elsewhere,
        "told": "; ".join(planned.notes) if right else "WRONG NUMBERS",
    }


def close(mine: Array, right: Array) -> bool:
    """Whether two results are the same: whole numbers exactly, others to what sums in another order
    may differ by."""
    if mine.dtype.kind in "bui":
        return bool(np.array_equal(mine, right))
    scale = float(np.abs(right).max(initial=0.0))
    return bool(np.allclose(mine, right, rtol=1e-4, atol=1e-4 * scale, equal_nan=True))


# --- What regions move ----------------------------------------------------------------------------


def traffic(workload: str, device: OpenCLDevice) -> list[Moved]:
    """What each region of a workload moves.  Raises AssertionError where that is more than what
    flows in and out, or scratch is more than a small part of it."""
    w = WORKLOADS[workload]()
    built = GRAPHS[workload](w)
    moved = Planned(built.fetches, {}, device, w.params).moved()
    for each in moved:
        if each.touched > each.ends or each.scratch > MOST_SCRATCH * each.ends + SMALL:
            raise AssertionError(f"a region moves more than what flows in and out: {each}")
    return moved


# --- The tables -----------------------------------------------------------------------------------


def measured(name: str, part: str, options: argparse.Namespace) -> Iterator[Record]:
    """The records of a part on a device; a failure is one of them."""
    try:
        device = opened(name)
        if part == "overhead":
            yield {"device": name, "part": part, **overhead(device, options.budget)}
        elif part == "traffic":
            for workload in ELEMENTWISE:
                for each in traffic(workload, device):
                    yield {"device": name, "part": part, "workload": workload, **each._asdict()}
        else:
            limits = limits_of(device)
            yield {"device": name, "part": "limits", "told": str(limits)}
            for case in cases(options.size or ("gpu" if device.target.many_items else "processor")):
                try:
                    record = roofline(case, device, limits, options.budget, options.numpy)
                except Exception as error:  # what fails is a line of the table
                    record = {"kernel": case.name, "ok": False, "told": said(error)}
                yield {"device": name, "part": part, **record}
    except Exception as error:
        yield {"device": name, "part": part, "ok": False, "told": said(error)}


def said(error: Exception) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


ROOFLINE = (
    "kernel", "launches", "time", "GB/s", "GFLOP/s", "of limit", "NumPy", "times faster", ""
)  # fmt: skip


def roofline_row(r: Record) -> list[str]:
    """A line of the table of kernels."""
    if "seconds" not in r:
        return [str(r.get("kernel", "")), *["-"] * (len(ROOFLINE) - 2), r["told"]]
    on_numpy = r["numpy_seconds"]
    return [
        r["kernel"],
        str(r["launches"]),
        table.duration(r["seconds"]),
        f"{r['gb_per_s']:.1f}",
        f"{r['gflop_per_s']:.1f}" if r["gflop_per_s"] else "-",
        f"{r['of_limit']:.1%}",
        table.duration(on_numpy),
        f"{on_numpy / r['seconds']:.1f}" if on_numpy else "-",
        r["told"],
    ]


def told(records: Sequence[Record]) -> Iterator[str]:
    """The lines that say what was measured of a part on a device."""
    rows = [r for r in records if r["part"] == "roofline"]
    if rows:
        yield from table.aligned(ROOFLINE, list(map(roofline_row, rows)))
    regions = [r for r in records if r["part"] == "traffic" and "ops" in r]
    if regions:
        cells = [
            [r["workload"], str(len(r["ops"])), r["ops"][-1], f"{r['ends']:,}", f"{r['touched']:,}",
             f"{r['scratch']:,}"]
            for r in regions
        ]  # fmt: skip
        header = ["workload", "nodes", "last", "bytes in and out", "moved", "scratch"]
        yield from table.aligned(header, cells)
    for r in records:
        if r["part"] == "overhead" and "ratio" in r:
            yield (
                f"a launch: {r['plan_us']:.2f} µs in a plan, {r['bare_us']:.2f} µs bare: "
                f"{r['ratio']:.2f} times, at most {MOST_OVERHEAD}; a run of {LONG} with all that "
                f"belongs to it {r['whole_ratio']:.2f} times"
            )
        elif r["part"] == "limits" or (r["part"] != "roofline" and "told" in r):
            yield r["told"]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Kernels on OpenCL devices.")
    parser.add_argument("--devices", nargs="+", metavar="DEVICE", help="default: all of OpenCL's")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--size", choices=list(SIZES), help="of arrays; default: for the device")
    parser.add_argument("--budget", type=float, default=0.5, help="seconds of each timing")
    parser.add_argument("--numpy", action="store_true", help="time NumPy, too")
    parser.add_argument("--json", metavar="FILE", help="where to append each record as a line")
    options = parser.parse_args()
    failed = False
    for name in options.devices or [d for d in every_device() if d not in ("numpy", "auto")]:
        for part in options.only:
            records = []
            for record in measured(name, part, options):
                records.append(record)
                failed |= not record.get("ok", True)
                if options.json:
                    with Path(options.json).open("a", encoding="utf-8") as file:
                        file.write(json.dumps(record) + "\n")
            print(*described([name]), *told(records), sep="\n", end="\n\n", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
