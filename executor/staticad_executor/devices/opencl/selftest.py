"""The self-test: whether a device gives the answers that are known, asked once for a driver.

What fails is named, so that whoever places nodes can keep those that need it on NumPy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from staticad_schema.errors import StaticadError

from . import known_answers
from .buffers import share
from .cache import key_of
from .known_answers import CHECKS, Probe
from .launch import Launch
from .limits import limits_of
from .runtime import BUILD_VERSION, Runtime

VERSION = "1"
SHARING = "shared memory"
SURVIVAL = "survival"


@dataclass(frozen=True)
class SelfTest:
    """failed: what is wrong, by the name of the check; passed: names.  denormals: whether 32-bit
    numbers below the normal ones are kept, which is allowed either way."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]
    denormals: bool

    @property
    def summary(self) -> str:
        """One line."""
        text = f"{len(self.passed)} checks passed"
        if self.failed:
            text += "; failed: " + "; ".join(f"{k} ({v})" for k, v in self.failed.items())
        return text


def self_test(runtime: Runtime) -> SelfTest:
    """The result for the device with these limits, from the cache on disk if it is there.

    A driver that is new here is asked in a process of its own first: one that ends the process, as
    compilers do that meet what they do not know, fails the check `SURVIVAL`.

    Raises MemoryError where the device has no memory for it, which says nothing about it.
    """
    key = key_of(
        (
            *("self-test", VERSION, BUILD_VERSION),
            *runtime.found.identity,
            *(known_answers.SOURCE, known_answers.DOUBLES, known_answers.HALVES),
            repr(runtime.limits),
            str(runtime.shares_host),
        )
    )
    kept = _decoded(runtime.cache.load(key))
    if kept is not None:
        return kept
    died = _died(runtime) if runtime.limits == limits_of(runtime.found) else ""
    result = SelfTest((), {SURVIVAL: died}, False) if died else tested(runtime)
    content = {
        "passed": result.passed,
        "failed": dict(result.failed),
        "denormals": result.denormals,
    }
    runtime.cache.store(key, json.dumps(content).encode())
    return result


# The child takes the test with the same answers, so that what ends it ends nothing else.
_CHILD = """
import sys
from staticad_executor.devices.opencl.cache import DiskCache
from staticad_executor.devices.opencl.discovery import found_devices
from staticad_executor.devices.opencl.runtime import Runtime
from staticad_executor.devices.opencl.selftest import tested
found, separate = found_devices()[int(sys.argv[1])], sys.argv[2] == "True"
tested(Runtime(found, separate=separate, cache=DiskCache(None)))
"""
SECONDS = 300


def _died(runtime: Runtime) -> str:
    """How a process ends that takes the test; "" if it ends as it should, or cannot be started."""
    if not sys.executable:
        return ""
    given = [str(runtime.found.index), str(not runtime.shares_host)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, *given],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, timeout=SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"it does not end in {SECONDS} seconds"
    except OSError:
        return ""
    # What raises an error there raises it here, where it is told.
    return f"it ends the process by signal {-done.returncode}" if done.returncode < 0 else ""


def _decoded(content: bytes | None) -> SelfTest | None:
    if content is None:
        return None
    fields: dict[str, Any] = json.loads(content)
    return SelfTest(tuple(fields["passed"]), fields["failed"], fields["denormals"])


def tested(runtime: Runtime) -> SelfTest:
    """Run all checks that the limits allow.  Raises MemoryError."""
    probe = Probe(runtime)
    checks: dict[str, Any] = dict(CHECKS)
    if not runtime.limits.fp64:
        checks.pop("doubles", None)
    if not runtime.limits.fp16:
        checks.pop("halves", None)
    if runtime.shares_host:
        checks[SHARING] = _sharing
    failed = {}
    for name, check in checks.items():
        if problem := _problem(check, probe):
            failed[name] = problem
    denormals = not _problem(lambda p: "" if known_answers.denormals(p) else "flushed", probe)
    return SelfTest(tuple(name for name in checks if name not in failed), failed, denormals)


def _problem(check: Any, probe: Probe) -> str:
    try:
        text: str = check(probe)
    except StaticadError as error:
        # The first line; what compilers say can be long.
        return f"{error.problem}: {(error.found or '').partition(chr(10))[0]}"
    except ValueError as error:
        return str(error)
    return text


def _sharing(probe: Probe) -> str:
    """Both sides see what the other has written, with no more between than `finish`, and a buffer
    touches nothing beside it."""
    runtime = probe.runtime
    program = probe.program()
    whole = np.arange(5000, dtype=np.int32)
    part = whole[1001:4001]
    memory = share(runtime, part)
    launch = Launch(runtime, program, "increment", memory.arguments(part.itemsize), (part.size,))
    for _ in range(2):
        launch()
        runtime.finish()
        part *= 2
    expected = np.arange(5000, dtype=np.int32)
    expected[1001:4001] = ((expected[1001:4001] + 1) * 2 + 1) * 2
    return "" if (whole == expected).all() else "what one side writes, the other does not see"
