"""The self-test: right devices pass, wrong answers are noticed, and each driver is asked once."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest

from staticad_executor.devices.opencl import known_answers, selftest
from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.device import OpenCLDevice, open_device
from staticad_executor.devices.opencl.discovery import Found
from staticad_executor.devices.opencl.known_answers import CHECKS, Probe
from staticad_executor.devices.opencl.runtime import Runtime
from staticad_executor.devices.opencl.selftest import SHARING, self_test
from staticad_schema.errors import ExecutionError


def test_M10_the_devices_here_know_the_answers(device: OpenCLDevice) -> None:
    limits = device.limits
    expected = {*CHECKS, SHARING}
    expected -= {
        name
        for name, kind in (("doubles", "float64"), ("halves", "float16"))
        if not limits.supports(np.dtype(kind))
    }
    if not device.runtime.shares_host:
        expected.discard(SHARING)
    assert device.self_test.failed == {}
    assert set(device.self_test.passed) == expected
    assert open_device(device.name) is device
    assert device.trim() >= 0


# What a driver might do, as a change of the kernels, and the check that notices.
WRONG = [
    ("max", "out[i] = (x > y || x != x) ? x : y;", "out[i] = x > y ? x : y;"),
    ("max", "isnan(x) ? 1 : 0", "0"),
    ("arithmetic", "a[i] * b[i] + c[i]", "fma(a[i], b[i], c[i])"),
    ("division", "a[i] / b[i]", "a[i] * (1.0f / b[i])"),
    ("sqrt", "sqrt(a[i])", "exp2(0.5f * log2(a[i]))"),
    ("casts", "(int)a[i]", "convert_int_rte(a[i])"),
    ("integers", "mul_hi(a[i], b[i])", "mul_hi(a[i], b[i] | 65536u)"),
    ("vectors", "LOAD(a + 1 + i)", "LOAD(a + i)"),
    ("reduce", "int sum = 0;", "int sum = 1;"),
    ("reduce", "float most = -INFINITY;", "float most = 0;"),
    ("scan", "max(v, a[item - step])", "min(v, a[item - step])"),
    ("barriers", "v = t[(item + round) % size];", "v = t[item];"),
    ("local atomics", "atomic_inc(part + x[i] % BINS);", "part[x[i] % BINS] = 1;"),
    ("global atomics", "atomic_max(out + 1, x[i]);", "atomic_max(out + 1, 0);"),
    ("scatter", "x[8 * i] = (int)(8 * i);", "x[8 * i] = (int)i;"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "wrong"), WRONG)
def test_M10_wrong_answers_are_noticed(
    found: Found, name: str, right: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert right in known_answers.SOURCE
    # As few kernels as the check runs: the others need not be built.
    kernels = known_answers.SOURCE.split("\nkernel ")
    companion = {"scatter": "void gather(", "reduce": "void total("}.get(name, right)
    changed = ["kernel " + k.replace(right, wrong) for k in kernels if right in k or companion in k]
    monkeypatch.setattr(known_answers, "SOURCE", "\n".join(changed))
    probe = Probe(Runtime(found, cache=DiskCache(None)))
    assert CHECKS[name](probe)


def test_each_driver_is_asked_once(
    runtime: Runtime, cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def check(probe: Probe) -> str:
        asked.append(probe.runtime.found.label)
        return "out of order" if len(asked) == 1 else ""

    def broken(probe: Probe) -> str:
        raise ExecutionError("it fails", found="in many words\nand lines")

    checks = {"scan": check, "reduce": broken, "max": CHECKS["max"]}
    monkeypatch.setattr(selftest, "CHECKS", checks)
    first = self_test(runtime)
    assert first.failed == {"scan": "out of order", "reduce": "it fails: in many words"}
    assert "max" in first.passed
    assert self_test(Runtime(runtime.found, cache=cache)) == first
    assert len(asked) == 1
    with pytest.warns(RuntimeWarning, match="gives wrong answers.*scan \\(out of order\\)"):
        OpenCLDevice(runtime.found, cache=cache)


def test_damaged_results_are_asked_for_again(runtime: Runtime, cache: DiskCache) -> None:
    result = self_test(runtime)
    assert cache.folder is not None
    (path,) = cache.folder.iterdir()
    for content in (b"", os.urandom(300), path.read_bytes()[:-1]):
        path.write_bytes(content)
        assert self_test(runtime) == result
        assert cache.load(path.name) is not None


def test_a_device_that_shares_nothing_is_separate(
    found: Found, cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not found.is_plain_cpu:
        pytest.skip("this device has memory of its own")
    monkeypatch.setattr(selftest, "CHECKS", {"max": CHECKS["max"]})
    monkeypatch.setattr(selftest, "_sharing", lambda probe: "it copies")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        device = OpenCLDevice(found, cache=cache)
    assert not device.runtime.shares_host
    assert "it copies" in str(caught[0].message)
