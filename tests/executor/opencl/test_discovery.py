"""Which devices there are and what their names are."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from staticad_executor.devices.opencl import discovery
from staticad_executor.devices.opencl.discovery import Found, found_devices, select
from staticad_schema.errors import PlanError

CPU, GPU, ACCELERATOR = 2, 4, 8


@dataclass
class Platform:
    """A platform as a driver tells it."""

    name: str
    version: str = "OpenCL 3.0"
    vendor: str = "Somebody"
    devices: list[Any] = field(default_factory=list)

    def add(self, name: str, kind: int = CPU, driver: str = "1.0", **others: object) -> Platform:
        told = {"available": True, "compiler_available": True, "endian_little": True} | others
        told |= {"name": name, "type": kind, "driver_version": driver, "version": "OpenCL 3.0"}
        self.devices.append(SimpleNamespace(**told, platform=self))
        return self

    def get_devices(self) -> list[Any]:
        return self.devices


def discovered(monkeypatch: pytest.MonkeyPatch, *platforms: Any) -> tuple[Found, ...]:
    monkeypatch.setattr(discovery, "_platforms", lambda: list(platforms))
    _, devices = discovery._discovered.__wrapped__()
    monkeypatch.setattr(discovery, "found_devices", lambda: devices)
    return devices


def machine() -> list[Platform]:
    return [
        Platform("Portable Computing Language", vendor="The pocl project").add(
            "cpu-Intel(R) Xeon", driver="3.0-rc2"
        ),
        Platform("NVIDIA CUDA", vendor="NVIDIA Corporation")
        .add("NVIDIA H200", GPU, "570.1")
        .add("NVIDIA H200", GPU, "570.1"),
        Platform("Portable Computing Language", "OpenCL 3.0 PoCL", "The pocl project").add(
            "cpu-Intel(R) Xeon", driver="3.1+debian"
        ),
        Platform("Intel(R) OpenCL", vendor="Intel(R) Corporation").add("Xeon", driver="2026.22"),
    ]


def test_the_order_is_not_the_loaders(monkeypatch: pytest.MonkeyPatch) -> None:
    platforms = machine()
    expected = ["570.1", "570.1", "2026.22", "3.1+debian", "3.0-rc2"]
    for turn in range(len(platforms)):
        devices = discovered(monkeypatch, *platforms[turn:], *platforms[:turn])
        assert [device.driver for device in devices] == expected
        assert [device.label for device in devices] == [f"opencl:{i}" for i in range(5)]
    assert devices[0].handle is platforms[1].devices[0]


def test_a_driver_that_is_reached_twice_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = discovered(monkeypatch, *machine(), *machine())
    # Two equal cards of one platform are two all the same.
    assert len(devices) == 5


def test_what_cannot_compile_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(Platform):
        def get_devices(self) -> list[Any]:
            raise discovery.binding().LogicError("no hardware")

    custom = 16
    platform = (
        Platform("P")
        .add("absent", available=False)
        .add("binaries only", compiler_available=False)
        .add("of the other order", endian_little=sys.byteorder != "little")
        .add("something else", custom)
        .add("good", ACCELERATOR)
    )
    (device,) = discovered(monkeypatch, Gone("Q"), platform)
    assert (device.name, device.kind, device.is_plain_cpu) == ("good", "accelerator", False)
    (everything,) = discovered(monkeypatch, Platform("P").add("simulator", CPU | GPU))
    assert (everything.kind, everything.is_plain_cpu) == ("gpu", False)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("opencl", 0),
        ("OpenCL:1", 1),
        ("opencl:intel", 2),
        ("opencl:pocl", 3),
        ("opencl:pocl 3.0", 4),
        ("opencl:cpu pocl", 3),
        ("opencl:h200", 0),
        ("opencl:gpu", 0),
    ],
)
def test_devices_are_selected(name: str, index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    devices = discovered(monkeypatch, *machine())
    assert select(name) is devices[index]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("opencl:5", None),
        ("opencl:pocll", "'opencl:pocl'"),
        ("opencl:nvida", "'opencl:nvidia'"),
        ("opencl1", "'opencl:1'"),
        ("opencl:", "'opencl'"),
        ("opencl:-1", None),
        ("opencl:²", None),
    ],
)
def test_no_such_device(name: str, hint: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    discovered(monkeypatch, *machine())
    with pytest.raises(PlanError, match="no such OpenCL device") as caught:
        select(name)
    text = str(caught.value)
    assert "opencl:4 (cpu-Intel(R) Xeon, Portable Computing Language, driver 3.0-rc2)" in text
    assert hint is None or hint in text
    assert repr(name) in text


def test_no_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    assert discovered(monkeypatch) == ()
    with pytest.raises(PlanError, match="there is no OpenCL device") as caught:
        select("opencl:0")
    assert "pip install" in str(caught.value)


def test_without_the_binding() -> None:
    code = (
        "import sys; sys.modules['pyopencl'] = None\n"
        "from staticad_executor.devices.opencl.discovery import select\n"
        "from staticad_schema.errors import PlanError\n"
        "try: select('opencl')\n"
        "except PlanError as error: print(error)"
    )
    path = ":".join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True
    )
    assert "OpenCL cannot be used" in done.stdout
    assert "pip install" in done.stdout


def test_what_is_found_here(found: Found) -> None:
    assert found_devices()[found.index] is found
    assert select(found.label) is found
    assert select(f"opencl:{found.platform.split()[0]} {found.driver}").driver == found.driver
    assert all(found.identity)


def _asked(queue: Any) -> None:
    try:
        queue.put(str(len(found_devices())))
    except PlanError as error:
        queue.put(error.problem)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_is_told_before_the_driver_hangs() -> None:
    found_devices()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_asked, args=(queue,))
    child.start()
    assert queue.get() == "OpenCL does not survive a fork"
    child.join()
