"""The options of a session and of a run, checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from staticad_schema.dims import Dim
from staticad_schema.errors import PlanError, near_miss

AUTO, OPENCL = "auto", "opencl"
DEVICES = (AUTO, "numpy", OPENCL)
Kind = Literal["exact", "stable", "fast"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The classes of rewrites."""


def is_opencl(name: str) -> bool:
    """Whether a name asks for an OpenCL device: "opencl", or "opencl:" and which one."""
    return name.strip().casefold().partition(":")[0].strip() == OPENCL


def check_options(
    device: object,
    threads: object,
    rewrites: object,
    memory_budget: object,
    check_numerics: object,
) -> None:
    """Raises PlanError for an option that has no meaning, or none in this version."""
    if not _is_device(device):
        raise PlanError(
            "no such device",
            asked="Session(device=…)",
            expected=" or ".join(map(repr, (*DEVICES, "opencl:N", "opencl:NAME"))),
            found=repr(device)[:200],
            hint=near_miss(device, DEVICES) if isinstance(device, str) else None,
        )
    if not isinstance(rewrites, list | tuple | set | frozenset) or not all(
        isinstance(r, str) for r in rewrites
    ):
        raise PlanError(
            "unknown class of rewrites",
            asked="Session(rewrites=…)",
            expected="some of " + ", ".join(map(repr, KINDS)) + ", or names of rewrites",
            found=repr(rewrites)[:200],
            hint=f"write ({rewrites!r},)" if rewrites in KINDS else None,
        )
    if threads is not None and not (_is_integer(threads) and threads >= 1):
        raise PlanError(
            "not a number of threads",
            asked="Session(threads=…)",
            expected="a positive integer, or None",
            found=repr(threads)[:200],
        )
    if memory_budget is not None:
        _check_budget(memory_budget, check_numerics)


def _is_device(device: object) -> bool:
    if isinstance(device, str):
        return device in DEVICES or is_opencl(device)
    # Devices of OpenCL's exist only where their module has been imported.
    module = sys.modules.get("staticad_executor.devices.opencl.device")
    return module is not None and isinstance(device, module.OpenCLDevice)


def _check_budget(budget: object, check_numerics: object) -> None:
    if not (_is_integer(budget) and budget >= 1):
        raise PlanError(
            "not a number of bytes",
            asked="Session(memory_budget=…)",
            expected="a positive integer, or None",
            found=repr(budget)[:200],
            hint=f"write {int(budget)}" if isinstance(budget, float) and budget >= 1 else None,
        )
    if check_numerics:
        raise PlanError(
            "a session that checks numbers interprets the graph and has no plan to save memory in",
            asked="Session(memory_budget=…)",
            expected="check_numerics=False",
            found="check_numerics=True",
        )


def missing_package(error: ModuleNotFoundError, asked: str) -> PlanError:
    """What to raise where a package that only this needs is not installed."""
    return PlanError(
        f"{asked} needs a package that is not installed",
        asked=asked,
        expected="pip install staticad[serve]",
        found=f"no {error.name}",
    )


def usable_cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_integer(value: object) -> TypeGuard[int | np.integer[Any]]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def checked_sizes(sizes: object) -> dict[str, int]:
    """Sizes of symbolic dimensions by name.  Raises PlanError."""
    entries: Any = sizes.items() if isinstance(sizes, Mapping) else [(None, None)]
    for name, size in entries:
        if not isinstance(name, str) or not _is_integer(size) or size < 0:
            raise PlanError(
                "these are no sizes",
                asked="sizes",
                expected="a dict from names of dimensions to integers of at least 0",
                found=repr(sizes)[:200],
                hint=f"write {{{str(name)!r}: …}}" if isinstance(name, Dim) else None,
            )
    return {str(name): int(size) for name, size in entries}


def checked_repeat(repeat: object) -> int:
    """How often to run, as an int.  Raises PlanError."""
    if not _is_integer(repeat) or repeat < 1:
        raise PlanError(
            "not a number of runs",
            asked="profile(repeat=…)",
            expected="an integer of at least 1",
            found=repr(repeat)[:200],
        )
    return int(repeat)


def checked_step(step: object) -> int:
    """The number of a run as an int.  Raises PlanError."""
    if not _is_integer(step) or not 0 <= step < 1 << 64:
        raise PlanError(
            "not a number of a run",
            asked="run(step=…)",
            expected="an integer from 0 to 2**64 - 1",
            found=repr(step),
        )
    return int(step)
