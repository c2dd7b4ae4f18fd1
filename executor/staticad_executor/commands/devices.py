"""`devices`: where graphs can run: NumPy, and every OpenCL device with its limits and self-test."""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from staticad_schema.errors import PlanError

from ..options import usable_cores

if TYPE_CHECKING:
    from ..devices.opencl.discovery import Found

MIB = 1 << 20


def add_parser(subparsers: Any) -> None:
    """Declare the command."""
    parser = subparsers.add_parser(
        "devices",
        help="list the devices, their limits, and what their self-tests say",
        description="List NumPy and the OpenCL devices.  The first time, each is tested.",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> None:
    """Print the list."""
    described = describe()
    if options.json:
        print(json.dumps(described, indent=2))
        return
    sections = [
        "\n".join(
            [
                entry.pop("name"),
                *(f"  {key.replace('_', ' '):<14} {value}" for key, value in entry.items()),
            ]
        )
        for entry in described["devices"]
    ]
    print("\n\n".join(sections))
    if described["opencl"] is not None:
        print(f"\n{described['opencl']}")


def describe() -> dict[str, Any]:
    """devices: a description of each.  opencl: why there is no OpenCL device, or None."""
    devices: list[dict[str, Any]] = [
        {
            "name": "numpy",
            "device": platform.processor() or platform.machine(),
            "driver": f"NumPy {np.__version__}",
            "cores": usable_cores(),
        }
    ]
    try:
        from ..devices.opencl.discovery import found_devices

        found = found_devices()
    except PlanError as error:
        return {"devices": devices, "opencl": str(error)}
    devices += [_described(device) for device in found]
    return {"devices": devices, "opencl": None if found else "no OpenCL platform is installed"}


def _described(found: Found) -> dict[str, Any]:
    from ..devices.opencl.limits import limits_of

    limits = limits_of(found)
    return {
        "name": found.label,
        "device": found.name,
        "kind": found.kind,
        "platform": f"{found.platform}, {found.platform_version}",
        "driver": found.driver,
        "memory": (
            f"{limits.global_bytes // MIB:,} MiB, {limits.allocation_bytes // MIB:,} in one buffer"
        ),
        "local_memory": f"{limits.local_bytes // 1024:,} KiB",
        "work_group": f"{limits.work_group:,}, {limits.units} at once",
        "vectors": ", ".join(
            f"{name} {limits.preferred[name]}"
            for name in ("int", "float", "double", "half")
            if limits.preferred[name]
        ),
        "fp16": "yes" if limits.fp16 else "no",
        "fp64": "yes" if limits.fp64 else "no",
        **_self_test(found),
    }


def _self_test(found: Found) -> dict[str, str]:
    from ..devices.opencl.device import open_device

    try:
        with warnings.catch_warnings():
            # What they say is in the list.
            warnings.simplefilter("ignore", RuntimeWarning)
            device = open_device(found.label)
    except (PlanError, MemoryError) as error:
        return {"self_test": f"not possible: {error}"}
    shared = "the host's" if device.runtime.shares_host else "its own"
    kept = "kept" if device.self_test.denormals else "flushed to 0"
    return {
        "memory_is": shared,
        "denormals": kept,
        "self_test": device.self_test.summary,
    }
