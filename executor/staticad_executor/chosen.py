"""The devices of a session: the one that it asks for, and those that its graph's nodes ask for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from staticad_schema.errors import PlanError

from .compile.place import NUMPY, Devices
from .devices.base import HOST
from .options import AUTO, is_opencl

if TYPE_CHECKING:
    from .devices.opencl.device import OpenCLDevice


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
    # Looked for by its name at that time, and not before there is something for it to do.
    auto = (lambda: _best()) if device == AUTO else None
    return Devices(default, elsewhere, meant, auto)


def _best() -> OpenCLDevice | None:
    """The first device with memory of its own, else the first one on the processor; None where
    OpenCL cannot be used, or gives wrong answers."""
    return _found(os.getpid())


@cache
def _found(process: int) -> OpenCLDevice | None:
    try:
        from .devices.opencl.device import open_device
        from .devices.opencl.discovery import found_devices

        devices = [open_device(found.label) for found in found_devices()]
    except (PlanError, MemoryError):
        return None
    devices = [device for device in devices if not device.self_test.failed]
    return next((d for d in devices if d.space != HOST), devices[0] if devices else None)


def _opened(name: str) -> OpenCLDevice:
    # Imported when an OpenCL device is first asked for.
    from .devices.opencl.device import open_device

    return open_device(name)
