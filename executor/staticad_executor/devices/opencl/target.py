"""What the generation of source asks of a device.  Pure data: no driver is needed to write a
kernel's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from staticad_schema.types import BFLOAT16, BOOL, FLOAT16, FLOAT64, KINDS, DType

if TYPE_CHECKING:
    from .limits import Limits

WIDEST = 16
"""The longest vector that OpenCL has."""


class Target(NamedTuple):
    """A device as generated kernels see it.

    vector_bytes: the longest vector that the compiler takes.  work_group: the most work-items of
    a group.  local_bytes: local memory of a group.  units: groups that run at once.  fp64:
    whether there are doubles.  many_items: a GPU, on which neighbouring work-items take
    neighbouring elements; else one work-item takes many.  vector_sine: sines of vectors are
    computed by arithmetic here, where the driver's take longer.  alone: work-items do not work
    together on a row.
    """

    vector_bytes: int = 16
    work_group: int = 256
    local_bytes: int = 32768
    units: int = 8
    fp64: bool = True
    many_items: bool = True
    vector_sine: bool = False
    alone: bool = False

    @property
    def explicit_bytes(self) -> int:
        """The length of vectors that kernels for CPUs are written with, also for a device that
        says nothing of vectors."""
        return self.vector_bytes if self.vector_bytes >= 16 else 32

    def lanes(self, dtypes: frozenset[DType]) -> int:
        """Elements of a vector in a kernel that computes with these dtypes."""
        widest = max([4, *(compute_size(dtype) for dtype in dtypes)])
        return max(1, min(WIDEST, self.vector_bytes // widest))

    def holds(self, dtype: DType) -> bool:
        """Whether kernels compute with the dtype; complex numbers never are."""
        return KINDS[dtype] != "complex" and (self.fp64 or dtype != FLOAT64)


def target_of(limits: Limits, platform_version: str) -> Target:
    """The device of these limits, of a platform that calls itself so."""
    cpu = limits.kind == "cpu"
    width = limits.preferred["float"]
    if cpu and width <= 1:
        # Intel's runtime makes vectors of work-items, which take many elements each here.
        width = limits.native["float"]
    return Target(
        vector_bytes=4 * max(1, width),
        work_group=limits.work_group,
        local_bytes=limits.local_bytes,
        units=limits.units,
        fp64=limits.fp64,
        many_items=not cpu,
        vector_sine=cpu and "PoCL" in platform_version,
    )


def compute_size(dtype: DType) -> int:
    """The bytes of an element in registers: half floats are float32 there, bools 32-bit masks."""
    return 4 if dtype in (BOOL, FLOAT16, BFLOAT16) else dtype.itemsize
