"""What a device can do, as far as kernels ask; and less, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import pyopencl as cl

from staticad_schema.types import DType

from .discovery import Found

# The widest vector of OpenCL has 16 elements.
WIDEST = 16
POCL = "Portable Computing Language"
# PoCL prefers vectors of the processor's registers, but compiles for the newest processor that its
# LLVM knows, and aborts or never returns where that one's are shorter.
_POCL_BYTES = 32
_C_TYPES = MappingProxyType(
    {1: "char", 2: "short", 4: "int", 8: "long"},
)
_BYTES = MappingProxyType(
    {"char": 1, "short": 2, "half": 2, "int": 4, "float": 4, "long": 8, "double": 8}
)
_FLOATS = MappingProxyType({"float16": "half", "float32": "float", "float64": "double"})


@dataclass(frozen=True)
class Limits:
    """A device's limits and abilities.

    work_group: work-items of a group; work_items: the same along each axis.
    local_bytes: local memory of a group; has_local_memory: whether it is faster than global
    memory, and not a part of it.  global_bytes, allocation_bytes: memory, and the largest
    single buffer.  parameter_bytes: arguments of a kernel.  alignment: bytes, of buffers.
    units: groups that run at once.  fp64, fp16: whether kernels compute with doubles and halves.
    exact_division: whether 32-bit division and sqrt can be asked to be correctly rounded.
    fma: whether 32-bit fma is fast.  denormals: whether 32-bit numbers below the normal ones
    are kept, as the driver says.  int64_atomics: whether there are atomics on 64 bits.
    preferred, native: widths of vectors by C type.
    """

    kind: str
    work_group: int
    work_items: tuple[int, ...]
    local_bytes: int
    has_local_memory: bool
    global_bytes: int
    allocation_bytes: int
    parameter_bytes: int
    address_bits: int
    alignment: int
    units: int
    cache_bytes: int
    fp64: bool
    fp16: bool
    exact_division: bool
    fma: bool
    denormals: bool
    int64_atomics: bool
    preferred: Mapping[str, int]
    native: Mapping[str, int]

    def vector_width(self, *dtypes: DType) -> int:
        """Elements of an explicit vector in a kernel that computes with these dtypes.

        What the driver prefers, as far as it compiles that; 1 where it makes vectors of work-items
        itself.
        """
        widths = [self.preferred[c_type(dtype)] for dtype in dtypes]
        return max(1, min(WIDEST, *widths))

    def native_width(self, *dtypes: DType) -> int:
        """Elements of the hardware's vectors of the widest of these dtypes."""
        return max(1, min(self.native[c_type(dtype)] for dtype in dtypes))

    def supports(self, dtype: DType) -> bool:
        """Whether kernels can compute with it.  bfloat16 is held as 16 bits and computed in
        float32; complex numbers are pairs."""
        if dtype.name in ("float64", "complex128"):
            return self.fp64
        return self.fp16 if dtype.name == "float16" else True

    def restricted(
        self,
        work_group: int | None = None,
        local_bytes: int | None = None,
        fp64: bool | None = None,
        fp16: bool | None = None,
        allocation_bytes: int | None = None,
    ) -> Limits:
        """The same, with no more than this of what is given."""
        most = self.work_group if work_group is None else min(work_group, self.work_group)
        largest = self.allocation_bytes
        return replace(
            self,
            work_group=most,
            work_items=tuple(min(n, most) for n in self.work_items),
            local_bytes=min(
                self.local_bytes, self.local_bytes if local_bytes is None else local_bytes
            ),
            fp64=self.fp64 and fp64 is not False,
            fp16=self.fp16 and fp16 is not False,
            allocation_bytes=min(
                largest, largest if allocation_bytes is None else allocation_bytes
            ),
        )


def c_type(dtype: DType) -> str:
    """The C type that holds an element, whatever its sign; of complex numbers, one part."""
    if dtype.kind == "c":
        return "float" if dtype.itemsize == 8 else "double"
    return _FLOATS.get(dtype.name) or _C_TYPES[dtype.itemsize]


def limits_of(found: Found) -> Limits:
    """The limits that the driver tells."""
    handle = found.handle
    info = cl.device_info
    extensions = set(handle.extensions.split())
    fp = cl.device_fp_config
    single = int(handle.single_fp_config)
    fp64 = "cl_khr_fp64" in extensions or _number(handle, info.DOUBLE_FP_CONFIG) != 0
    fp16 = "cl_khr_fp16" in extensions
    names = tuple(_BYTES)
    return Limits(
        kind=found.kind,
        work_group=int(handle.max_work_group_size),
        work_items=tuple(map(int, handle.max_work_item_sizes)),
        local_bytes=int(handle.local_mem_size),
        has_local_memory=int(handle.local_mem_type) == int(cl.device_local_mem_type.LOCAL),
        global_bytes=int(handle.global_mem_size),
        allocation_bytes=int(handle.max_mem_alloc_size),
        parameter_bytes=int(handle.max_parameter_size),
        address_bits=int(handle.address_bits),
        alignment=max(1, int(handle.mem_base_addr_align) // 8),
        units=max(1, int(handle.max_compute_units)),
        cache_bytes=int(handle.global_mem_cache_size),
        fp64=fp64,
        fp16=fp16,
        exact_division=bool(single & int(fp.CORRECTLY_ROUNDED_DIVIDE_SQRT)),
        fma=bool(single & int(fp.FMA)),
        denormals=bool(single & int(fp.DENORM)),
        int64_atomics={"cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics"} <= extensions,
        preferred=_compiled(found, _widths(handle, "PREFERRED", names)),
        native=_widths(handle, "NATIVE", names),
    )


def _compiled(found: Found, widths: Mapping[str, int]) -> Mapping[str, int]:
    """The widths, as far as PoCL's compiler goes."""
    if found.platform != POCL or "avx512" in found.version:
        return widths
    return MappingProxyType(
        {name: min(width, _POCL_BYTES // _BYTES[name]) for name, width in widths.items()}
    )


def _widths(handle: cl.Device, which: str, names: tuple[str, ...]) -> Mapping[str, int]:
    return MappingProxyType(
        {
            name: _number(handle, getattr(cl.device_info, f"{which}_VECTOR_WIDTH_{name.upper()}"))
            for name in names
        }
    )


def _number(handle: cl.Device, parameter: cl.device_info) -> int:
    """A property, or 0 where the driver is older than it."""
    try:
        value: Any = handle.get_info(parameter)
        return int(value)
    except cl.Error:
        return 0
