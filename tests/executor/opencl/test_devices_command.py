"""`staticad-executor devices`, with and without OpenCL."""

from __future__ import annotations

import json
from typing import Any

import pytest

from staticad_executor.__main__ import main
from staticad_executor.commands import devices
from staticad_executor.devices.opencl import discovery
from staticad_executor.devices.opencl.discovery import Found
from staticad_schema.errors import PlanError


def test_devices_are_listed(found: Found, capsys: Any) -> None:
    assert main(["devices"]) == 0
    printed = capsys.readouterr().out
    sections = {part.split("\n")[0]: part for part in printed.split("\n\n")}
    assert "NumPy" in sections["numpy"]
    for told in (found.name, found.driver, found.platform, "checks passed", "fp16", "fp64"):
        assert told in sections[found.label]
    assert main(["devices", "--json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in described["devices"]] == list(sections)
    assert described["opencl"] is None


def test_without_any_platform(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "found_devices", lambda: ())
    assert main(["devices"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("numpy\n")
    assert "no OpenCL platform is installed" in printed


def test_without_the_binding(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> tuple[Found, ...]:
        raise PlanError("OpenCL cannot be used", found="ImportError: no pyopencl")

    monkeypatch.setattr(discovery, "found_devices", missing)
    assert devices.describe()["opencl"].startswith("OpenCL cannot be used")
    assert main(["devices"]) == 0
    assert "no pyopencl" in capsys.readouterr().out
