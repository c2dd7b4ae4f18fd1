"""An OpenCL device, opened once in a process: tested, with its memory and the ways into it."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from staticad_schema.types import Array, DType, TensorType

from ...residence import Resident
from ..base import HOST
from .buffers import BufferPool, Memory, share
from .cache import DiskCache
from .discovery import Found, select
from .limits import POCL, Limits, limits_of
from .native import why_not
from .runtime import Runtime
from .selftest import SHARING, SelfTest, self_test
from .target import Target, target_of
from .transfer import Staging
from .trust import ruled_out


class OpenCLDevice:
    """A device that has taken its self-test.

    limits: what kernels may use, where that is less than the driver says.  separate: treat a
    processor as a device with memory of its own.  Warns, once, of what the self-test found wrong.
    Raises PlanError where the driver fails, MemoryError.

    space: `HOST` where it works on the host's memory, else its name.  target: what kernels are
    generated for.  keeps_binaries: whether to store what was built on disk; PoCL keeps a cache of
    its own, and would compile twice.
    """

    claimed = frozenset(
        {"softmax", "log_softmax", "cross_entropy", "normalize", "matmul_transposed"}
    )

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
        self.space = HOST if self.runtime.shares_host else self.name
        self.target: Target = target_of(self.limits, found.platform_version)
        self.keeps_binaries = found.platform != POCL
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

    @property
    def allocation_bytes(self) -> int:
        """The largest buffer."""
        return self.limits.allocation_bytes

    @property
    def parameter_bytes(self) -> int:
        """The most bytes of a kernel's arguments."""
        return self.limits.parameter_bytes

    def why_not(
        self,
        op: str,
        attributes: Mapping[str, Any],
        operands: Sequence[TensorType],
        outputs: Sequence[TensorType],
    ) -> str | None:
        """Why it does not run a node, in a few words; None if it does."""
        if self.self_test.failed:
            why = ruled_out(self.self_test.failed, op, operands, outputs)
            if why is not None:
                return why
        return why_not(op, attributes, operands, outputs, self.target)

    def filled(self, array: Array) -> Memory:
        """Memory that holds these numbers for as long as it is held."""
        if self.runtime.shares_host:
            return share(self.runtime, array)
        memory = self.buffers.lend(max(1, array.nbytes)).memory
        if array.nbytes:
            self.staging.upload(array, memory)
        return memory

    def resident(self, shape: tuple[int, ...], dtype: DType) -> Resident:
        """Memory for a value that is to stay here.  Raises MemoryError."""
        nbytes = math.prod(shape) * dtype.itemsize
        memory = self.buffers.lend(max(1, nbytes)).memory
        return Resident(shape, dtype, self.space, memory, self.staging.download)

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
