"""The devices that staticad is timed on, by name.

With the environment variable STATICAD_OPENCL_SEPARATE set to 1, an OpenCL device on the processor
is used as if it had memory of its own, as a GPU has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from staticad_executor.options import is_opencl
from staticad_schema.errors import PlanError

if TYPE_CHECKING:
    from staticad_executor.devices.opencl.device import OpenCLDevice

SEPARATE = os.environ.get("STATICAD_OPENCL_SEPARATE") == "1"


def every_device() -> list[str]:
    """The names of all devices: NumPy, what sessions choose by themselves, each OpenCL device."""
    from staticad_executor.devices.opencl.discovery import found_devices

    try:
        found = [each.label for each in found_devices()]
    except PlanError:
        found = []
    return ["numpy", "auto", *found] if found else ["numpy"]


@cache
def opened(name: str) -> OpenCLDevice:
    """The OpenCL device of that name.  Raises PlanError."""
    # Whoever times a session on NumPy does not time this.
    from staticad_executor.devices.opencl.device import open_device, restricted_device

    return restricted_device(name, separate=True) if SEPARATE else open_device(name)


def given(name: str) -> str | OpenCLDevice:
    """What a session is given as its device.  Raises PlanError for an OpenCL device that is not
    there."""
    return opened(name) if is_opencl(name) else name


def described(names: Iterable[str]) -> list[str]:
    """A line for each OpenCL device among them."""
    lines = []
    for name in filter(is_opencl, names):
        device = opened(name)
        memory = "the host's" if device.runtime.shares_host else "its own"
        lines.append(f"{name}: {device.runtime.found}, memory: {memory}")
    return lines
