"""What a process pays before its first result: imports, and the first loss of a small network."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks.measure import Record, environment

TRIES = 5
CACHES = ("STATICAD_CACHE", "POCL_CACHE_DIR")
"""Where what was built for OpenCL devices is kept."""

# Peak, not current, memory: what has to be there for the import to succeed.
_IMPORT = """
import time
began = time.perf_counter()
import numpy
numpy_seconds = time.perf_counter() - began
from benchmarks.measure import peak_rss_mb
memory, began = peak_rss_mb(), time.perf_counter()
import staticad
print(time.perf_counter() - began, peak_rss_mb() - memory, numpy_seconds)
"""


def import_cost() -> Record:
    """Seconds and MiB of `import staticad` in a process that has imported NumPy.

    The first try, which may have to compile the modules, does not count.
    """
    runs = []
    command = [sys.executable, "-c", _IMPORT]
    for _ in range(1 + TRIES):
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=True
        )
        runs.append([float(figure) for figure in done.stdout.split()])
    seconds, memory, numpy_seconds = map(statistics.median, zip(*runs[1:], strict=True))
    return {
        "peer": "staticad",
        "workload": "import_cost",
        "seconds_beyond_numpy": seconds,
        "mb_beyond_numpy": memory,
        "seconds_of_numpy": numpy_seconds,
    }


def wall(command: Sequence[str], kept: str) -> float | None:
    """Seconds from the start of a process to its first line; None if there is no JSON line.

    kept: the folder in which kernels are kept that were built.
    """
    environ = {**environment(), **dict.fromkeys(CACHES, kept)}
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        taken = time.perf_counter() - began
        process.communicate()
    return taken if line.startswith("{") and "error" not in json.loads(line) else None


def first_loss(peer: str, runner: Sequence[str]) -> Record:
    """Seconds until a fresh process has the first loss of mlp_train_small: first, when no kernel
    has been built yet and no device has been tested, and median."""
    with tempfile.TemporaryDirectory() as folder:
        times = [wall([*runner, "--startup"], folder) for _ in range(TRIES)]
    known = [taken for taken in times if taken is not None]
    return {
        "peer": peer,
        "workload": "startup",
        "first_loss_cold": times[0],
        "first_loss_warm": statistics.median(known[1:]) if len(known) == TRIES else None,
        "ok": len(known) == TRIES,
    }
