"""The OpenCL devices that tests of sessions run on."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any

import pytest

from staticad_executor.devices.opencl.device import OpenCLDevice, open_device, restricted_device
from staticad_executor.devices.opencl.discovery import Found, found_devices

# What the package on PyPI says of itself, by which it is told from the system's own PoCL.
OF_PYPI = "PoCL 3.0"


def described(found: Found) -> str:
    """The words of a platform."""
    return f"{found.platform} {found.platform_version}"


@cache
def opencl_label() -> str:
    """The name of the device: of the platform whose description holds the words of an environment
    variable, else PoCL of PyPI, else the first."""
    devices = found_devices()
    if not devices:
        pytest.skip("no OpenCL platform is installed here")
    wanted = os.environ.get("STATICAD_TEST_OPENCL")
    if wanted is not None:
        devices = tuple(found for found in devices if wanted in described(found))
        if not devices:
            pytest.skip(f"no OpenCL platform has {wanted!r} in its description")
    of_pypi = [found for found in devices if OF_PYPI in described(found)]
    return (of_pypi or devices)[0].label


def opencl() -> OpenCLDevice:
    """The device, opened once in a process."""
    return open_device(opencl_label())


@cache
def lesser(**limits: Any) -> OpenCLDevice:
    """The same device with lower limits, or memory of its own, see `restricted_device`."""
    return restricted_device(opencl_label(), **limits)


@cache
def like_a_gpu(**limits: Any) -> OpenCLDevice:
    """The same device with memory of its own, and kernels in the form for very many work-items."""
    device = restricted_device(opencl_label(), separate=True, **limits)
    device.target = device.target._replace(many_items=True)
    return device


def others() -> list[str]:
    """The names of all other devices, unless the environment chooses one."""
    if "STATICAD_TEST_OPENCL" in os.environ:
        return []
    return [found.label for found in found_devices() if found.label != opencl_label()]


def without_a_reason(plan: str) -> set[str]:
    """The ops that a plan runs on NumPy and does not say why."""
    told = " ".join(part for part in plan.splitlines() if part.startswith("on numpy: "))
    found: set[str] = set()
    for ops in re.findall(r"^\d+ (?:region|kernel) @numpy (\S+)", plan, re.MULTILINE):
        found.update(re.findall(r"\w+", ops))
    return {op for op in found if not re.search(rf"\b{op}\b", told)}
