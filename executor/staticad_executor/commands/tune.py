"""`tune`: the tiles of matrix products timed on an OpenCL device, into a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "tune",
        help="time the tiles of matrix products on an OpenCL device",
        description=(
            "Time the tiles of matrix products and write the fastest ones to a file, which is used"
            " where the environment variable STATICAD_TUNING names it."
        ),
    )
    parser.add_argument("--device", default="opencl", help="opencl, opencl:N or opencl:NAME")
    parser.add_argument("--output", type=Path, required=True, help="the file, JSON")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    """Time, print and write.  Raises PlanError, ExecutionError, OSError."""
    from ..devices.opencl.device import open_device
    from ..devices.opencl.trials import best, operations, trials

    device = open_device(options.device)
    found = []
    for trial in trials(device):
        found.append(trial)
        rate = operations() / trial.seconds / 1e9
        print(
            f"{trial.form:<6} {trial.dtype:<8} {list(trial.tile)!s:<24}"
            f" {1e3 * trial.seconds:9.3f} ms {rate:9.1f} GFLOP/s",
            flush=True,
        )
    tiling = best(found, device, str(options.output))
    options.output.write_text(tiling.text(), encoding="utf-8")
    print(f"{options.output}: the fastest of {len(found)}, for {tiling.device}")
