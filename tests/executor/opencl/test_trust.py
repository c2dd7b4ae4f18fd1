"""What a device is not trusted with runs on NumPy, and a driver that dies takes nobody along."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import staticad as sad
from staticad_executor.devices.opencl import selftest
from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.device import OpenCLDevice
from staticad_executor.devices.opencl.discovery import Found
from staticad_executor.devices.opencl.known_answers import CHECKS
from staticad_executor.devices.opencl.runtime import Runtime
from staticad_executor.devices.opencl.selftest import SURVIVAL, SelfTest, self_test
from staticad_executor.devices.opencl.trust import ruled_out
from staticad_schema.types import FLOAT32, FLOAT64, TensorType

FLOATS = [TensorType(FLOAT32, (8,))]
DOUBLES = [TensorType(FLOAT64, (8,))]


@pytest.mark.parametrize("check", [*CHECKS, SURVIVAL, "a check of the future"])
def test_M10_what_fails_rules_out_what_needs_it(check: str) -> None:
    failed = {check: "wrong"}
    out = {
        op
        for op in ("add", "max", "sum", "cumulative_sum", "take", "scatter_add", "matmul")
        if ruled_out(failed, op, FLOATS, FLOATS)
    }
    everything = {"add", "max", "sum", "cumulative_sum", "take", "scatter_add", "matmul"}
    expected = {
        "max": {"max"},
        "reduce": everything - {"add", "take"},
        "barriers": everything - {"add", "take"},
        "scan": {"cumulative_sum"},
        "local atomics": set(),
        "global atomics": {"take", "scatter_add"},
        "scatter": {"scatter_add"},
        "doubles": set(),
        "halves": set(),
    }
    assert out == expected.get(check, everything)
    if check == "doubles":
        assert ruled_out(failed, "add", DOUBLES, DOUBLES)
    assert ruled_out({}, "add", DOUBLES, DOUBLES) is None


def test_M10_a_device_that_fails_a_check_leaves_it_to_numpy_with_one_warning(
    found: Found, cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = SelfTest(("max",), {"scan": "3 instead of 4"}, True)
    monkeypatch.setattr("staticad_executor.devices.opencl.device.self_test", lambda runtime: wrong)
    with pytest.warns(RuntimeWarning, match="scan") as told:
        device = OpenCLDevice(found, cache=cache)
    assert len(told) == 1
    with sad.Graph() as graph:
        x = sad.placeholder("float32", ("n",), name="x")
        y = sad.cumulative_sum(x * 2)
    data = np.arange(50, dtype=np.float32)
    with sad.Session(graph, device) as session:
        np.testing.assert_array_equal(session.run(y, {x: data}), np.cumsum(data * 2))
        text = session.explain(y)
    assert "on numpy: 1 x cumulative_sum: its self-test failed: scan (3 instead of 4)" in text
    assert "multiply [1 generated kernel]" in text


@pytest.mark.parametrize(
    ("child", "words"),
    [("import os; os.abort()", "signal 6"), ("import time; time.sleep(60)", "does not end")],
)
def test_a_driver_that_ends_the_process_or_never_ends_is_found_in_another_one(
    found: Found, cache: DiskCache, monkeypatch: pytest.MonkeyPatch, child: str, words: str
) -> None:
    monkeypatch.setattr(selftest, "_CHILD", child)
    monkeypatch.setattr(selftest, "SECONDS", 2)
    runtime = Runtime(found, cache=cache)
    result = self_test(runtime)
    assert words in result.failed[SURVIVAL]
    # It is not asked again.
    monkeypatch.setattr(selftest, "_CHILD", "raise SystemExit(0)")
    assert self_test(runtime) == result
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        device = OpenCLDevice(found, cache=cache)
    with sad.Graph() as graph:
        x = sad.placeholder("float32", (3,), name="x")
        y = sad.exp(x)
    given: Any = {x: np.zeros(3, np.float32)}
    with sad.Session(graph, device) as session:
        assert session.run(y, given).tolist() == [1, 1, 1]
        assert "@opencl" not in session.explain(y)
