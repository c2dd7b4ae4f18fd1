"""An OpenCL device, opened once in a process: tested, with its memory and the ways into it."""

from __future__ import annotations

import threading
import warnings

from .buffers import BufferPool
from .cache import DiskCache
from .discovery import Found, select
from .limits import Limits, limits_of
from .runtime import Runtime
from .selftest import SHARING, SelfTest, self_test
from .transfer import Staging


class OpenCLDevice:
    """A device that has taken its self-test.

    limits: what kernels may use, where that is less than the driver says.  separate: treat a
    processor as a device with memory of its own.  Warns, once, of what the self-test found wrong.
    Raises PlanError where the driver fails, MemoryError.
    """

    def __init__(
        self,
        found: Found,
        limits: Limits | None = None,
        *,
        separate: bool = False,
        cache: DiskCache | None = None,
    ) -> None:
        self.runtime = Runtime(found, limits, separate=separate, cache=cache)
        self.self_test: SelfTest = self_test(self.runtime)
        if SHARING in self.self_test.failed:
            self.runtime.shares_host = False
        self.buffers = BufferPool(self.runtime)
        self.staging = Staging(self.runtime)
        if self.self_test.failed:
            warnings.warn(
                f"{found} gives wrong answers, so NumPy runs what needs them: "
                + self.self_test.summary,
                RuntimeWarning,
                stacklevel=2,
            )

    @property
    def name(self) -> str:
        """The name by which hints ask for it."""
        return self.runtime.found.label

    @property
    def limits(self) -> Limits:
        """What its kernels may use."""
        return self.runtime.limits

    def trim(self) -> int:
        """Give idle memory back to the driver; return its bytes."""
        self.staging.trim()
        return self.buffers.trim()

    def __repr__(self) -> str:
        return f"OpenCLDevice({self.runtime.found})"


_devices: dict[Found, OpenCLDevice] = {}
_opening = threading.Lock()


def open_device(name: str) -> OpenCLDevice:
    """The device that the name means, the same object whenever it is asked for.

    Raises PlanError where there is none, or its driver fails.
    """
    found = select(name)
    with _opening:
        if found not in _devices:
            _devices[found] = OpenCLDevice(found)
        return _devices[found]


def restricted_device(
    name: str,
    *,
    work_group: int | None = None,
    local_bytes: int | None = None,
    fp64: bool | None = None,
    fp16: bool | None = None,
    allocation_bytes: int | None = None,
    separate: bool = False,
    cache: DiskCache | None = None,
) -> OpenCLDevice:
    """The device with a context of its own and no more than these limits, as if it were a lesser
    one: what tests of kernels run on.  Raises as `open_device` does."""
    found = select(name)
    limits = limits_of(found).restricted(work_group, local_bytes, fp64, fp16, allocation_bytes)
    return OpenCLDevice(found, limits, separate=separate, cache=cache)
