"""The self-test: whether a device gives the answers that are known, asked once for a driver.

What fails is named, so that whoever places nodes can keep those that need it on NumPy.
"""

from __future__ import annotations

import json
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
from .runtime import BUILD_VERSION, Runtime

VERSION = "1"
SHARING = "shared memory"


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
    result = tested(runtime)
    content = {
        "passed": result.passed,
        "failed": dict(result.failed),
        "denormals": result.denormals,
    }
    runtime.cache.store(key, json.dumps(content).encode())
    return result


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
