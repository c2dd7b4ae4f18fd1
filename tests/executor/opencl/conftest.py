"""Tests that ask for `found` run on every OpenCL device of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.device import OpenCLDevice, open_device
from staticad_executor.devices.opencl.discovery import Found, found_devices
from staticad_executor.devices.opencl.runtime import Runtime


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "found" not in metafunc.fixturenames:
        return
    devices = found_devices()
    names = [f"{each.index}-{each.platform.split()[0]}-{each.driver}" for each in devices]
    if devices:
        metafunc.parametrize("found", devices, ids=names)
    else:
        none = pytest.param(None, marks=pytest.mark.skip("no OpenCL platform is installed here"))
        metafunc.parametrize("found", [none])


@pytest.fixture
def device(found: Found) -> OpenCLDevice:
    """The device, opened once in a process."""
    return open_device(found.label)


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    """A cache of the test's own."""
    return DiskCache(tmp_path / "cache")


@pytest.fixture
def runtime(found: Found, cache: DiskCache) -> Runtime:
    """The device with a context and a cache of the test's own."""
    return Runtime(found, cache=cache)
