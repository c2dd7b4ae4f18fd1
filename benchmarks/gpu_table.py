"""The table that `gpu_check.sh` ends with, from the records that its steps have left."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import benchmarks.table as table
from benchmarks.measure import Record

HEADER = ("what", "on the device", "NumPy", "times faster", "GB/s", "GFLOP/s", "of limit", "")


def records(path: Path) -> list[Record]:
    """The lines of a file; none where the step that writes it has not come so far."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def compared(what: str, seconds: float, on_numpy: float | None, *more: str) -> list[str]:
    """A line with two times."""
    faster = "-" if on_numpy is None else f"{on_numpy / seconds:.1f}"
    return [what, table.duration(seconds), table.duration(on_numpy), faster, *more]


def step_rows(folder: Path) -> Iterator[list[str]]:
    """How each step went; of tests how many passed."""
    for line in (folder / "steps.tsv").read_text(encoding="utf-8").splitlines():
        name, seconds, said = line.split("\t")
        log = (folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        yield [name, f"{seconds} s", *["-"] * 5, ", ".join([said, *counted(log)])]


def counted(log: str) -> list[str]:
    """What pytest says at its end, or else what its dots say; nothing of other programs."""
    ends = re.findall(r"^[=\s]*(\d+ (?:passed|failed|error)[^=\n]*?) in ", log, re.MULTILINE)
    if ends:
        return ends[-1:]
    dots = "".join(re.findall(r"^([.sxFE]+)(?:\s+\[ *\d+%\])?$", log, re.MULTILINE))
    failed = dots.count("F") + dots.count("E")
    return [f"{dots.count('.')} passed and {failed} failed until then"] if dots else []


def kernel_rows(found: list[Record]) -> Iterator[list[str]]:
    """What `opencl_kernels` has measured."""
    for r in found:
        if r["part"] == "overhead" and "ratio" in r:
            said = f"{r['ratio']:.2f} times a bare one"
            yield ["a launch", f"{r['plan_us']:.2f} µs", *["-"] * 5, said]
        elif "seconds" in r:
            rate = f"{r['gflop_per_s']:.1f}" if r["gflop_per_s"] else "-"
            yield compared(
                r["kernel"], r["seconds"], r["numpy_seconds"],
                f"{r['gb_per_s']:.1f}", rate, f"{r['of_limit']:.1%}", r["told"],
            )  # fmt: skip
        elif not r.get("ok", True):
            yield [str(r.get("kernel", r["part"])), *["-"] * 6, r["told"]]


def workload_rows(found: list[Record]) -> Iterator[list[str]]:
    """Steps of the workloads, on the device and on NumPy."""
    right = {(r["peer"], r["workload"]): r["seconds_median"] for r in found if r["ok"]}
    for r in found:
        if r["peer"] == "staticad numpy":
            continue
        if "error" in r:
            yield [r["workload"], *["-"] * 6, r["error"]]
            continue
        on_numpy = right.get(("staticad numpy", r["workload"]))
        said = "" if r["ok"] else "WRONG NUMBERS"
        yield compared(r["workload"], r["seconds_median"], on_numpy, *["-"] * 3, said)


def main(folder: Path) -> int:
    """Print the table, and what failed; 1 if something did."""
    kernels = records(folder / "kernels.jsonl")
    workloads = records(folder / "workloads.jsonl")
    rows = [*step_rows(folder), *kernel_rows(kernels), *workload_rows(workloads)]
    print(*table.aligned(HEADER, rows), sep="\n")
    print(*[r["told"] for r in kernels if r["part"] == "limits"], sep="\n")
    failed = [row[0] for row in step_rows(folder) if row[-1].partition(",")[0] != "ok"]
    failed += [str(r.get("kernel", r["part"])) for r in kernels if not r.get("ok", True)]
    failed += [f"{r['workload']} ({r['peer']})" for r in workloads if not r["ok"]]
    print("failed: " + ", ".join(failed) if failed else "nothing failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
