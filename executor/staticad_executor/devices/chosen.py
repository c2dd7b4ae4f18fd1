"""The devices of a session: the one that it asks for, and those that its graph's nodes ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from staticad_schema.errors import PlanError

from ..compile.place import NUMPY, Devices

if TYPE_CHECKING:
    from .opencl.device import OpenCLDevice

OPENCL = "opencl"


def is_opencl(name: str) -> bool:
    """Whether a name asks for an OpenCL device: "opencl", or "opencl:" and which one."""
    return name.strip().casefold().partition(":")[0].strip() == OPENCL


def devices_for(device: str | OpenCLDevice, hints: Iterable[str]) -> Devices:
    """The devices for a session's `device` and the hints of nodes.

    Raises PlanError where the session asks for what is not there; a hint for what is not there
    means nothing.
    """
    elsewhere: dict[str, OpenCLDevice] = {}
    meant: dict[str, str] = {}
    default = NUMPY
    if not isinstance(device, str):
        default, elsewhere[device.name] = device.name, device
    elif is_opencl(device):
        opened = _opened(device)
        default, elsewhere[opened.name] = opened.name, opened
    for hint in hints:
        if is_opencl(hint):
            try:
                found = _opened(hint)
            except PlanError:
                continue
            elsewhere.setdefault(found.name, found)
            meant[hint] = found.name
    return Devices(default, elsewhere, meant)


def _opened(name: str) -> OpenCLDevice:
    # Imported when an OpenCL device is first asked for.
    from .opencl.device import open_device

    return open_device(name)
