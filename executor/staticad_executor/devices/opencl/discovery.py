"""Which OpenCL devices there are, in an order that does not change, and which one a name means.

The order is that of kinds (GPUs first), platforms and versions (newer first), not the order in
which the loader happens to read its folder, so that `opencl:1` means the same in every process.
A driver that is reached twice, by two entries of the loader, counts once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from staticad_schema.errors import PlanError, near_miss

if TYPE_CHECKING:
    import pyopencl as cl

KINDS = ("gpu", "accelerator", "cpu")
INSTALL = 'pip install "pyopencl[pocl]" brings one that runs on the processor'


@dataclass(frozen=True, eq=False)
class Found:
    """A device as its driver describes it.

    kind: "gpu", "accelerator" or "cpu"; what claims to be several of them is the first.
    is_plain_cpu: whether the processor is all that it claims to be.
    """

    index: int
    handle: cl.Device
    platform: str
    platform_version: str
    vendor: str
    name: str
    version: str
    driver: str
    kind: str
    is_plain_cpu: bool

    @property
    def label(self) -> str:
        """The name by which sessions ask for it."""
        return f"opencl:{self.index}"

    @property
    def identity(self) -> tuple[str, ...]:
        """What a binary that was built for it depends on."""
        return (
            self.platform,
            self.platform_version,
            self.vendor,
            self.name,
            self.version,
            self.driver,
        )

    def __str__(self) -> str:
        return f"{self.label} ({self.name}, {self.platform}, driver {self.driver})"


def binding() -> Any:
    """The binding.  Raises PlanError where it is not installed, or finds no loader."""
    try:
        import pyopencl
    except ImportError as error:
        raise PlanError(
            "OpenCL cannot be used",
            asked="device 'opencl'",
            expected="the package pyopencl, and a loader of OpenCL for it",
            found=f"{type(error).__name__}: {error}",
            hint=INSTALL,
        ) from error
    return pyopencl


def found_devices() -> tuple[Found, ...]:
    """All devices that can be used; none where no platform is installed.

    Raises PlanError: pyopencl is not installed; or this process is a fork of one that has asked
    already, and has none of the threads that drivers then start.
    """
    process, devices = _discovered()
    require_process(process)
    return devices


def require_process(process: int) -> None:
    """Raises PlanError unless this is the process of that number."""
    if process != os.getpid():
        raise PlanError(
            "OpenCL does not survive a fork",
            asked="device 'opencl'",
            expected="a process started afresh, or forked before OpenCL was used",
            found="a fork of a process that has used OpenCL",
            hint='multiprocessing.get_context("spawn") starts them afresh',
        )


@cache
def _discovered() -> tuple[int, tuple[Found, ...]]:
    """The devices, and the process that asked."""
    devices: list[tuple[tuple[object, ...], cl.Device, str]] = []
    seen: set[tuple[object, ...]] = set()
    for platform in _platforms():
        handles = _usable_devices(platform)
        description = (
            *(platform.name, platform.version, platform.vendor),
            *((handle.name, handle.version, handle.driver_version) for handle in handles),
        )
        if description in seen:
            continue
        seen.add(description)
        for handle in handles:
            kind = _kind(handle)
            order = (
                KINDS.index(kind),
                platform.name.casefold(),
                [-int(number) for number in re.findall(r"\d+", handle.driver_version)[:4]],
                platform.version,
                # Devices of one platform stay in its order.
                len(devices),
            )
            devices.append((order, handle, kind))
    devices.sort(key=lambda entry: entry[0])
    return os.getpid(), tuple(
        Found(
            index=index,
            handle=handle,
            platform=handle.platform.name.strip(),
            platform_version=handle.platform.version.strip(),
            vendor=handle.platform.vendor.strip(),
            name=" ".join(handle.name.split()),
            version=handle.version.strip(),
            driver=handle.driver_version.strip(),
            kind=kind,
            is_plain_cpu=_types(handle) == {"cpu"},
        )
        for index, (_, handle, kind) in enumerate(devices)
    )


def _platforms() -> list[cl.Platform]:
    opencl = binding()
    try:
        return list(opencl.get_platforms())
    except opencl.Error:
        # So the loader says that it has found none.
        return []


def _usable_devices(platform: cl.Platform) -> list[cl.Device]:
    """Devices that compile, with this machine's order of bytes.

    A platform that answers with an error is one without devices: drivers stay installed where
    the hardware is gone.
    """
    opencl = binding()
    try:
        return [
            handle
            for handle in platform.get_devices()
            if handle.available
            and handle.compiler_available
            and bool(handle.endian_little) == (sys.byteorder == "little")
            and _types(handle)
        ]
    except opencl.Error:
        return []


def _types(handle: cl.Device) -> set[str]:
    opencl = binding()
    return {kind for kind in KINDS if handle.type & int(getattr(opencl.device_type, kind.upper()))}


def _kind(handle: cl.Device) -> str:
    return min(_types(handle), key=KINDS.index)


def select(name: str) -> Found:
    """The device of that name: `opencl`, `opencl:1`, or `opencl:` and words of its description.

    Words are parts of the platform's name, its vendor, the driver's version and the kind
    ("opencl:pocl", "opencl:pocl 3.1", "opencl:gpu"), or else of the device's own name; the first
    device that has them all is meant.  Raises PlanError, which lists what there is.
    """
    devices = found_devices()
    if not devices:
        raise PlanError(
            "there is no OpenCL device",
            asked=f"device {name!r}",
            expected="an installed OpenCL platform",
            found="none",
            hint=INSTALL,
        )
    chosen = _chosen(name, devices)
    if chosen is None:
        raise PlanError(
            "no such OpenCL device",
            asked=f"device {name!r}",
            expected="'opencl', 'opencl:N', or 'opencl:' and a part of a platform's name",
            found="; ".join(map(str, devices)),
            hint=near_miss(name, _names(devices)),
        )
    return chosen


def _chosen(name: str, devices: Sequence[Found]) -> Found | None:
    prefix, _, wanted = name.strip().partition(":")
    if prefix.strip().casefold() != "opencl":
        return None
    words = wanted.casefold().split()
    if not words:
        return devices[0] if ":" not in name else None
    if len(words) == 1 and words[0].isdecimal():
        index = int(words[0])
        return devices[index] if index < len(devices) else None
    # A CPU's name holds its maker's, which is then not the platform's.
    for describe in (_platform_words, _all_words):
        for device in devices:
            if all(word in describe(device) for word in words):
                return device
    return None


def _platform_words(device: Found) -> str:
    return f"{device.platform} {device.vendor} {device.driver} {device.kind}".casefold()


def _all_words(device: Found) -> str:
    return f"{_platform_words(device)} {device.name.casefold()}"


def _names(devices: Iterable[Found]) -> list[str]:
    """Names that would have been understood."""
    names = ["opencl"]
    for device in devices:
        words = re.findall(r"[a-z]{3,}", _platform_words(device))
        names += [device.label, *(f"opencl:{word}" for word in words)]
    return list(dict.fromkeys(names))
