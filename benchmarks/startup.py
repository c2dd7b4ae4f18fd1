"""What a process pays before its first result: imports, and the first loss of a small network."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

from benchmarks.measure import Record

TRIES = 5

# Peak, not current, memory: what has to be there for the import to succeed.
_IMPORT = """
import resource, time
import numpy
memory, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
import staticad
seconds = time.perf_counter() - began
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
print(seconds, memory)
"""


def import_cost() -> Record:
    """Seconds and MiB of `import staticad` in a process that has imported NumPy."""
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    runs = []
    for _ in range(TRIES):
        command = [sys.executable, "-c", _IMPORT]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        taken, memory = done.stdout.split()
        runs.append((float(taken), float(memory) / unit))
    return {
        "peer": "staticad",
        "workload": "import_cost",
        "seconds_beyond_numpy": statistics.median(taken for taken, _ in runs),
        "mb_beyond_numpy": statistics.median(memory for _, memory in runs),
    }


def wall(command: Sequence[str], environment: dict[str, str] | None = None) -> float | None:
    """Seconds from the start of a process to its first line; None if there is no JSON line."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - began
        process.communicate()
    return taken if line.startswith("{") and "error" not in json.loads(line) else None


def first_loss(
    peer: str, runner: Sequence[str], environment: dict[str, str] | None = None
) -> Record:
    """Seconds until a fresh process has the first loss of mlp_train_small: first, and median."""
    times = [wall([*runner, "--startup"], environment) for _ in range(TRIES)]
    known = [taken for taken in times if taken is not None]
    return {
        "peer": peer,
        "workload": "startup",
        "first_loss_cold": times[0],
        "first_loss_warm": statistics.median(known[1:]) if len(known) == TRIES else None,
        "ok": len(known) == TRIES,
    }
