"""The cache on disk: whole or nothing, whoever writes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from staticad_executor.devices.opencl.cache import DiskCache, default_cache, key_of
from staticad_executor.devices.opencl.discovery import Found

KEY = key_of(["some", "key"])


def test_what_is_stored_is_loaded(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path / "a" / "b")
    assert cache.load(KEY) is None
    for payload in (b"", b"x", os.urandom(100_000)):
        cache.store(KEY, payload)
        assert cache.load(KEY) == payload
        assert DiskCache(tmp_path / "a" / "b").load(KEY) == payload
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [KEY]
    cache.discard(KEY)
    assert cache.load(KEY) is None


def test_damaged_files_are_none(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    cache.store(KEY, b"payload")
    whole = (tmp_path / KEY).read_bytes()
    damaged = [whole[:n] for n in range(len(whole))]
    damaged += [
        whole[:n] + bytes([whole[n] ^ 1 << bit]) + whole[n + 1 :]
        for n in range(len(whole))
        for bit in (0, 7)
    ]
    for content in [*damaged, whole + b"more"]:
        (tmp_path / KEY).write_bytes(content)
        assert cache.load(KEY) is None
        # It is not asked again.
        assert not (tmp_path / KEY).exists()


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for cache in (DiskCache(tmp_path / "file"), DiskCache(None)):
        cache.store(KEY, b"payload")
        assert cache.load(KEY) is None
        cache.discard(KEY)


def test_the_oldest_go_first(tmp_path: Path) -> None:
    for i in range(10):
        DiskCache(tmp_path).store(str(i), b"x" * 1000)
        os.utime(tmp_path / str(i), (i, i))
    # Loading is using.
    assert DiskCache(tmp_path).load("2") is not None
    DiskCache(tmp_path, limit=4500).store("new", b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "7", "8", "9", "new"]


def test_keys_tell_lists_apart() -> None:
    lists = [[], [""], ["", ""], ["ab"], ["a", "b"], ["b", "a"], ["a", "b", ""]]
    assert len({key_of(parts) for parts in lists}) == len(lists)


def test_the_variable_moves_it_or_switches_it_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATICAD_CACHE", str(tmp_path / "here"))
    assert default_cache().folder == tmp_path / "here"
    for word in ("off", "", " OFF "):
        monkeypatch.setenv("STATICAD_CACHE", word)
        assert default_cache().folder is None
    monkeypatch.delenv("STATICAD_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache().folder == tmp_path / "staticad"


PROCESS = """
import sys
import numpy as np
import pyopencl as cl
from staticad_executor.devices.opencl.discovery import select
from staticad_executor.devices.opencl.launch import Launch
from staticad_executor.devices.opencl.runtime import Runtime

found = select(sys.argv[1])
sys.stdin.read(1)
runtime = Runtime(found)
x = np.arange(64, dtype=np.float32)
source = "kernel void twice(global float *x) { size_t i = get_global_id(0); x[i] = 2 * x[i]; }"
buffer = cl.Buffer(runtime.context, cl.mem_flags.COPY_HOST_PTR, hostbuf=x)
Launch(runtime, runtime.program(source), "twice", [buffer], (64,))()
cl.enqueue_copy(runtime.queue, x, buffer)
print(x.sum())
"""


def test_M9_eight_processes_start_at_once_on_an_empty_cache(found: Found, tmp_path: Path) -> None:
    (tmp_path / "driver").mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "STATICAD_CACHE": str(tmp_path / "ours"),
        # PoCL keeps a cache of its own.
        "POCL_CACHE_DIR": str(tmp_path / "driver"),
    }
    with ExitStack() as ends:
        processes = [
            ends.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", PROCESS, found.label],
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for _ in range(8)
        ]
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        ended = [(*process.communicate(), process.returncode) for process in processes]
    for printed, complaint, code in ended:
        assert (code, printed) == (0, "4032.0\n"), complaint
    kept = sorted(path.name for path in (tmp_path / "ours").iterdir())
    assert [len(name) for name in kept] == [len(KEY)]
    assert all(DiskCache(tmp_path / "ours").load(name) is not None for name in kept)
