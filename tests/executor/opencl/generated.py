"""Regions run on a device, for the tests of generated kernels."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from staticad_executor.devices.opencl.region import (
    LocalBytes,
    Operand,
    Pointer,
    Recipe,
    Region,
    Step,
    Table,
    element_size,
    together,
)
from staticad_executor.devices.opencl.target import Target
from staticad_schema.op import OPS
from staticad_schema.types import Array, TensorType


def mostly_slow(*kinds: str, at_once: tuple[str, ...] = ("cpu", "gpu")) -> list[Any]:
    """Kinds of targets as parameters: a kernel is compiled for each, so that only some of them are
    for every run of the tests."""
    return [k if k in at_once else pytest.param(k, marks=pytest.mark.slow) for k in kinds]


GUARD = 64
"""Elements before and behind each result, which nothing may touch."""

INTERPRETED = 10_000
"""Elements that a kernel may have where oclgrind interprets it, a few thousand a second."""

PRELUDE = "#pragma OPENCL FP_CONTRACT OFF\n"


class Device:
    """A device with a queue; its programs are kept."""

    def __init__(self, handle: cl.Device) -> None:
        self.handle = handle
        self.interprets = "Oclgrind" in handle.platform.name
        self.context = cl.Context([handle])
        self.queue = cl.CommandQueue(self.context)
        self.program = cache(self._program)
        exact = int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)
        self.options = ["-cl-std=CL1.2"]
        if int(handle.single_fp_config) & exact:
            self.options.append("-cl-fp32-correctly-rounded-divide-sqrt")

    def _program(self, source: str) -> cl.Program:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            built: cl.Program = cl.Program(self.context, PRELUDE + source).build(self.options)
        return built


@cache
def device() -> Device:
    """The device that these tests run on: the first whose platform's version has the words of
    an environment variable."""
    wanted = os.environ.get("STATICAD_TEST_OPENCL", "PoCL")
    for platform in cl.get_platforms():
        if wanted in f"{platform.name} {platform.version}":
            return Device(platform.get_devices()[0])
    pytest.skip(f"no OpenCL platform has {wanted!r} in its version")


def target_here() -> Target:
    """The device as kernels see it."""
    handle = device().handle
    old = "PoCL 3.0" in handle.platform.version
    return Target(
        vector_bytes=32 if old else 4 * int(handle.preferred_vector_width_float),
        work_group=min(256, int(handle.max_work_group_size)),
        units=2,
        many_items=False,
        vector_sine=True,
        local_bytes=int(handle.local_mem_size),
        fp64=int(handle.double_fp_config) != 0,
    )


class Building:
    """A region under construction over arrays."""

    def __init__(self, *arrays: Array) -> None:
        self.arrays = list(arrays)
        self.steps: list[Step] = []
        self.types = [TensorType(a.dtype, a.shape) for a in arrays]

    def add(self, op: str, *inputs: int, **attributes: Any) -> int:
        """One more step; the number of its first output."""
        definition = OPS[op]
        complete = definition.attributes(attributes)
        types = definition.output_types([self.types[i] for i in inputs], complete)
        self.steps.append(Step(op, complete, inputs, types))
        self.types += types
        return len(self.types) - len(types)

    def region(self, *outputs: int) -> Region:
        return Region(tuple(map(Operand.of, self.arrays)), tuple(self.steps), outputs)


def run(
    region: Region, recipes: Sequence[Recipe], arrays: Sequence[Array], on: Device | None = None
) -> tuple[list[Array], int]:
    """The results of recipes for one region, built as one program; and the flag."""
    results, flag = run_many([(region, recipes, arrays)], on)[0]
    return results, flag


Case = tuple[Region, Sequence[Recipe], Sequence[Array]]


def run_many(cases: Sequence[Case], on: Device | None = None) -> list[tuple[list[Array], int]]:
    """The same for many regions in one program; names of kernels are made distinct."""
    here = on or device()
    shapes: list[Any] = [type_.shape for region, _, _ in cases for type_ in region.types]
    largest = max(int(np.prod(shape)) for shape in shapes)
    if here.interprets and largest > INTERPRETED:
        pytest.skip(f"{largest} elements are too many to interpret")
    if here.interprets:
        # A context of its own: oclgrind takes what memory was before it was freed for what it is.
        here = Device(here.handle)
    kernels = [k for _, recipes, _ in cases for recipe in recipes for k in recipe.kernels]
    source, names = together(kernels)
    program, name = here.program(source), iter(names)
    return [_run(case, program, name, here) for case in cases]


def _run(case: Case, program: Any, names: Iterator[str], here: Device) -> tuple[list[Array], int]:
    region, recipes, arrays = case
    context, queue, flags = here.context, here.queue, cl.mem_flags
    given = []
    for array in arrays:
        base, at = _whole(array)
        data = base if base.nbytes else np.zeros(1, np.uint8)
        given.append(
            (
                cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=data),
                at * array.itemsize,
            )
        )
    out = []
    for value in region.outputs:
        type_ = region.types[value]
        shape: Any = type_.shape
        host = np.full(int(np.prod(shape)) + 2 * GUARD, 7, type_.dtype)
        out.append((cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=host), host, shape))
    flag = np.zeros(1, np.uint32)
    flag_buffer = cl.Buffer(context, flags.COPY_HOST_PTR, hostbuf=flag)
    for recipe in recipes:
        scratch = [cl.Buffer(context, flags.READ_WRITE, max(1, n)) for n in recipe.scratch]
        for kernel in recipe.kernels:
            built = cl.Kernel(program, next(names))
            if 0 in kernel.global_size:
                continue
            memory: dict[str, list[tuple[cl.Buffer, int]]] = {
                "operand": given,
                "output": [(buffer, GUARD * host.itemsize) for buffer, host, _ in out],
                "scratch": [(buffer, 0) for buffer in scratch],
                "flag": [(flag_buffer, 0)],
            }
            given_to: list[Any] = []
            for argument in kernel.arguments:
                if isinstance(argument, Pointer):
                    buffer, offset = memory[argument.kind][argument.place]
                    size = element_size(kernel.parameters[len(given_to)])
                    given_to += [buffer, np.uint64(offset // size)]
                elif isinstance(argument, Table):
                    numbers = np.array(argument.values, np.int64)
                    flag_copy = flags.READ_ONLY | flags.COPY_HOST_PTR
                    given_to += [cl.Buffer(context, flag_copy, hostbuf=numbers), np.uint64(0)]
                elif isinstance(argument, LocalBytes):
                    given_to.append(cl.LocalMemory(argument.nbytes))
                else:
                    given_to.append(argument)
            for place, argument in enumerate(given_to):
                built.set_arg(place, argument)
            cl.enqueue_nd_range_kernel(queue, built, kernel.global_size, kernel.local_size)
    results = []
    for buffer, host, shape in out:
        cl.enqueue_copy(queue, host, buffer)
        assert (host[:GUARD] == host.dtype.type(7)).all(), "written before the result"
        assert (host[-GUARD:] == host.dtype.type(7)).all(), "written behind the result"
        results.append(host[GUARD : len(host) - GUARD].reshape(shape))
    cl.enqueue_copy(queue, flag, flag_buffer)
    return results, int(flag[0])


def _whole(array: Array) -> tuple[Array, int]:
    """The memory that a view looks at, and the place of its first element in it."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    if not base.flags.c_contiguous:
        base = np.asfortranarray(base).T if base.flags.f_contiguous else base
    assert base.flags.c_contiguous
    at = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return base.reshape(-1), (at // array.itemsize if array.size else 0)
