"""Programs: built once, kept on disk, built again where that is of no use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.device import restricted_device
from staticad_executor.devices.opencl.discovery import Found
from staticad_executor.devices.opencl.launch import Argument, Launch, group_limit
from staticad_executor.devices.opencl.limits import c_type, limits_of
from staticad_executor.devices.opencl.runtime import Runtime
from staticad_schema.errors import ExecutionError

SOURCE = """
kernel void add(global float *x, float by, ulong first)
{
    x[first + get_global_id(0)] += by;
}
"""


def added(runtime: Runtime, program: cl.Program | None = None) -> list[float]:
    """[1, 2, 3], the last two by the kernel."""
    x = np.array([1, 1, 2], np.float32)
    buffer = cl.Buffer(runtime.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    arguments: list[Argument] = [buffer, np.float32(1), np.uint64(1)]
    Launch(runtime, program or runtime.program(SOURCE), "add", arguments, (2,))()
    cl.enqueue_copy(runtime.queue, x, buffer)
    result: list[float] = x.tolist()
    return result


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that are compiled from now on."""
    compiled: list[str] = []
    original = Runtime._compiled

    def note(self: Runtime, source: str, flags: Any) -> cl.Program:
        compiled.append(source)
        return original(self, source, flags)

    monkeypatch.setattr(Runtime, "_compiled", note)
    return compiled


def test_programs_are_built_once(
    runtime: Runtime, cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compilations(monkeypatch)
    assert added(runtime) == [1, 2, 3]
    assert runtime.program(SOURCE) is runtime.program(SOURCE)
    again = Runtime(runtime.found, cache=cache)
    assert added(again) == [1, 2, 3]
    assert len(compiled) == 1
    assert again.program(SOURCE, ["-DOTHER"]) is not again.program(SOURCE)
    assert len(compiled) == 2


def test_what_drivers_refuse_is_built_again(
    runtime: Runtime, cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compilations(monkeypatch)
    runtime.program(SOURCE)
    assert cache.folder is not None
    (path,) = cache.folder.iterdir()
    binary = cache.load(path.name)
    assert binary is not None
    # Whole files, of a content that is none.  (Of a part of a binary, drivers crash; that a file is
    # whole is found before they see it.)
    for content in (b"", b"no program"):
        cache.store(path.name, content)
        assert added(Runtime(runtime.found, cache=cache)) == [1, 2, 3]
        assert len(cache.load(path.name) or b"") > len(content)
    assert len(compiled) == 3
    damaged = path.read_bytes()
    path.write_bytes(damaged[: len(damaged) // 2])
    assert added(Runtime(runtime.found, cache=cache)) == [1, 2, 3]
    assert len(compiled) == 4


def test_nothing_is_kept_where_the_cache_is_off(
    found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert added(Runtime(found, cache=DiskCache(None))) == [1, 2, 3]
    assert list(tmp_path.iterdir()) == []


def test_a_driver_that_has_lost_the_kernels_is_asked_again(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Runtime._compiled
    sources: list[str] = []

    def lose_first(self: Runtime, source: str, flags: Any) -> cl.Program:
        sources.append(source)
        lost = "kernel void other(global float *x) { x[0] = 0; }"
        return original(self, lost if len(sources) == 1 else source, flags)

    monkeypatch.setattr(Runtime, "_compiled", lose_first)
    assert added(runtime) == [1, 2, 3]
    assert len(set(sources)) == 2


def test_what_does_not_build_is_told_in_the_compilers_words(runtime: Runtime) -> None:
    with pytest.raises(ExecutionError, match="a kernel does not build") as caught:
        runtime.program("kernel void f(global float *x)\n{\n    x[0] = nonsense;\n}\n")
    text = str(caught.value)
    assert runtime.found.label in text
    assert "nonsense" in text.partition("   1  ")[0]
    assert "x[0] = nonsense;" in text.partition("   1  ")[2]
    with pytest.raises(ExecutionError, match="'absent'"):
        runtime.kernel(runtime.program(SOURCE), "absent")


def test_M7_no_option_gives_up_exactness(found: Found) -> None:
    for limits in (limits_of(found), limits_of(found).restricted(fp64=False)):
        runtime = Runtime(found, limits, cache=DiskCache(None))
        allowed = {"-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"}
        assert set(runtime.options) <= allowed
        assert "FP_CONTRACT OFF" in runtime.prelude
        assert ("fp64" in runtime.prelude) == limits.fp64


@pytest.mark.parametrize("work_group", [1, 12, 16])
def test_M5_groups_are_no_larger_than_device_kernel_and_local_memory_allow(
    found: Found, work_group: int
) -> None:
    device = restricted_device(
        found.label, work_group=work_group, local_bytes=1024, fp64=False, cache=DiskCache(None)
    )
    assert device.self_test.failed == {}
    assert "doubles" not in device.self_test.passed
    runtime = device.runtime
    kernel = runtime.kernel(runtime.program(SOURCE), "add")
    assert group_limit(runtime, kernel) == work_group
    assert group_limit(runtime, kernel, 512) == min(work_group, 2)
    assert group_limit(runtime, kernel, 4096) == 1
    buffer = cl.Buffer(runtime.context, cl.mem_flags.READ_WRITE, size=4096)
    arguments: list[Argument] = [buffer, np.float32(1), np.uint64(0)]
    for whole, group in ((48, 24), (48, 7), (48, 0)):
        with pytest.raises(ValueError, match=f"at most {work_group} a group"):
            Launch(runtime, runtime.program(SOURCE), "add", arguments, (whole,), (group,))
    Launch(runtime, runtime.program(SOURCE), "add", arguments, (48,), (work_group,))()
    runtime.finish()


def test_M2_nothing_is_launched_for_no_items(runtime: Runtime) -> None:
    x = np.zeros(1, np.float32)
    buffer = cl.Buffer(runtime.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    arguments: list[Argument] = [buffer, np.float32(1), np.uint64(0)]
    program = runtime.program(SOURCE)
    for sizes, groups in (((0,), None), ((3, 0), None), ((0,), (1,))):
        assert Launch(runtime, program, "add", arguments, sizes, groups)() is None
    cl.enqueue_copy(runtime.queue, x, buffer)
    assert x == 0


def test_arguments_stay_until_they_are_replaced(runtime: Runtime) -> None:
    x = np.zeros(4, np.float32)
    buffer = cl.Buffer(runtime.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
    arguments: list[Argument] = [buffer, np.float32(1), np.uint64(0)]
    launch = Launch(runtime, runtime.program(SOURCE), "add", arguments, (2,))
    launch()
    launch.bind(1, np.float32(0.5))
    launch.bind(2, np.uint64(1))
    launch()
    event = launch()
    assert event is not None
    runtime.wait(event)
    runtime.wait(runtime.mark())
    cl.enqueue_copy(runtime.queue, x, buffer)
    assert x.tolist() == [1, 2, 1, 0]
    with pytest.raises(ExecutionError, match="argument 7 of kernel 'add'"):
        launch.bind(7, np.uint64(1))
    with pytest.raises(ExecutionError, match="argument 1 of kernel 'add'"):
        launch.bind(1, np.float64(1))


def test_limits_tell_what_kernels_ask(found: Found) -> None:
    limits = limits_of(found)
    for name in ("bool", "int8", "uint8", "int16", "int32", "uint64", "float32"):
        dtype = np.dtype(name)
        assert limits.vector_width(dtype) in (1, 2, 4, 8, 16)
        assert limits.vector_width(dtype) <= max(1, limits.preferred[c_type(dtype)])
        assert limits.native_width(dtype) >= 1
        assert limits.supports(dtype)
    wide = limits.vector_width(np.dtype(np.float32), np.dtype(np.int64))
    assert wide == min(
        limits.vector_width(np.dtype(np.float32)), limits.vector_width(np.dtype(np.int64))
    )
    less = limits.restricted(work_group=12, local_bytes=1024, fp64=False, fp16=False)
    assert not less.supports(np.dtype(np.float64))
    assert not less.supports(np.dtype(np.complex128))
    assert not less.supports(np.dtype(np.float16))
    assert (less.work_group, less.local_bytes) == (12, 1024)
    assert max(less.work_items) <= 12
    # More than there is, it cannot be.
    assert limits.restricted(work_group=1 << 30, local_bytes=1 << 40) == limits
