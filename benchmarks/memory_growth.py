"""How much memory a run takes beyond the warmed process, beside what `session.memory` predicts.

    python benchmarks/memory_growth.py
    python benchmarks/memory_growth.py --workload gpt_train --threads 1
    python benchmarks/memory_growth.py --runner benchmarks.peers.torch_cpu --workload gpt_train

Each workload runs in a process of its own, which has run other graphs before, so that libraries,
threads and their buffers are there.  Growth is the highest resident size within three steps less
the one before feeds are made and variables set.  A peer's runner is a module with `BUILDERS`; its
growth is measured likewise, and there is no prediction.  Linux only.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# For a checkout that is not installed.
sys.path.extend(str(Path(__file__).parents[1] / part) for part in (".", "schema", "executor"))

import benchmarks
from benchmarks import measure
from benchmarks.yardstick import WORKLOADS

RUNNER = "benchmarks.peer_staticad"
MIB = 1 << 20
WARMING = ("mlp_train_small", "lenet_train")
STEPS = 3
MEASURED = ("resnet20_train", "gpt_train", "lstm_train", "softmax_ln", "wide_mlp")


def resident_bytes() -> int:
    """The present resident size of this process."""
    return _status("VmRSS")


def highest_bytes() -> int:
    """The highest since `forget_highest`."""
    return _status("VmHWM")


def forget_highest() -> None:
    """Let the highest resident size be the present one."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def growth(step: Callable[[], object]) -> int:
    """The bytes by which the process grows at its worst moment while a step runs a few times."""
    gc.collect()
    before = resident_bytes()
    forget_highest()
    for _ in range(STEPS):
        step()
    return highest_bytes() - before


def warm(builders: Any) -> None:
    """Run something else, so that libraries, threads and their buffers are there."""
    for name in WARMING:
        w = WORKLOADS[name]()
        step = builders[name](w)
        for k in range(STEPS):
            step(w.batch(k))


def record(name: str, runner: str, threads: int) -> measure.Record:
    """What is measured of a workload in this process."""
    module = importlib.import_module(runner)
    warm(module.BUILDERS)
    if runner == RUNNER:
        # Peers run where staticad is not installed.
        memory = importlib.import_module("benchmarks.on_staticad.memory")
        predicted, step = memory.predicted(name, threads)
        taken = growth(step)
        return {
            "workload": name,
            "predicted_mb": predicted / MIB,
            "growth_mb": taken / MIB,
            "ratio": taken / predicted,
        }
    w = WORKLOADS[name]()
    batches = [w.batch(k) for k in range(STEPS)]
    steps: list[Any] = []

    def first_builds() -> None:
        if not steps:
            steps.append(module.BUILDERS[name](w))
        steps[0](batches[0])

    return {"workload": name, "runner": runner, "growth_mb": growth(first_builds) / MIB}


def measured(name: str, runner: str = RUNNER, threads: int = benchmarks.THREADS) -> measure.Record:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--here", "--workload", name, "--runner", runner]
    command += ["--threads", str(threads)]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=measure.environment()
    )
    found: measure.Record = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--workload", nargs="+", default=list(MEASURED))
    parser.add_argument("--runner", default=RUNNER, help="a module with BUILDERS")
    parser.add_argument("--threads", type=int, default=benchmarks.THREADS)
    parser.add_argument("--here", action="store_true", help="in this process, which must be fresh")
    # A runner reads options of its own.
    options, _ = parser.parse_known_args()
    for name in options.workload:
        found = record if options.here else measured
        measure.say(found(name, options.runner, options.threads))


if __name__ == "__main__":
    main()
